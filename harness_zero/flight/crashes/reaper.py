"""The reaper: it kills at one tick of a run's life, and always at the same one.

A byte that is written into the journal is a tick. An effect has some ticks before it happens and
as many after it, so that one who draws a tick by chance meets effects as well as lines.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

EFFECT = 100  # ticks before an effect, and after it


@dataclass(frozen=True)
class Mark:
    """A stretch of a run's life: from which tick on, how many, and what happens in it."""

    tick: int
    ticks: int
    kind: str  # "line", or "before" or "after" an effect
    what: Any  # the line's bytes, or the effect's name


class Reaper:
    """Kills at a tick; at none if that is None. `marks` tell what happened at which one."""

    def __init__(self, at: int | None, kill: Callable[[], NoReturn]) -> None:
        self.at, self.kill, self.now = at, kill, 0
        self.marks: list[Mark] = []

    def start(self) -> None:
        """A process begins to live."""

    def effect(self, name: str, go: Callable[[], Any]) -> Any:
        """Let an effect happen, if nobody dies before."""
        if self.pass_by(EFFECT, "before", name) is not None:
            self.kill()
        value = go()
        if self.pass_by(EFFECT, "after", name) is not None:
            self.kill()
        return value

    def line(self, line: bytes, write: Callable[[bytes], Any]) -> None:
        """Let a line be written, or the beginning of it."""
        cut = self.pass_by(len(line), "line", line)
        if cut is None:
            write(line)
            return
        write(line[:cut])
        self.kill()

    def pass_by(self, ticks: int, kind: str, what: Any) -> int | None:
        """Live for so many ticks; how many of them are left to whoever dies in them."""
        self.marks.append(Mark(self.now, ticks, kind, what))
        since = None if self.at is None else self.at - self.now
        self.now += ticks
        return since if since is not None and 0 <= since < ticks else None


class Tracer(Reaper):
    """Kills at the n-th line of Python that is run, wherever that may be."""

    def __init__(self, lines: int, kill: Callable[[], NoReturn]) -> None:
        super().__init__(None, kill)
        self.lines = lines

    def start(self) -> None:
        """Count from here."""
        sys.settrace(self.trace)

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Count a line, and kill if it is the one."""
        self.lines -= event == "line"
        if self.lines < 0:
            self.kill()
        return self.trace
