"""Killed and resumed: what one process leaves, and what the ones after it make of that.

A process lives `HERE`, where an exception that nobody catches stands for its death, so that a
notebook can show it; or `APART`, in a process of its own that ends by SIGKILL.
"""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from harness_zero.flight.crashes.office import NEVER, Office, effects
from harness_zero.flight.crashes.reaper import EFFECT, Reaper, Tracer

Kill = Callable[[], NoReturn]


@dataclass(frozen=True)
class Death:
    """How a process is to die: by a reaper, or from outside after some seconds."""

    reaper: Callable[[Kill], Reaper]
    wait: float | None = None


class Killed(BaseException):
    """The process is gone."""


def die() -> NoReturn:
    """Die as far as one can without ending the process."""
    raise Killed


def end_process() -> NoReturn:
    """Die as by `kill -9`: nothing is closed, nothing is written any more."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def here(live: Callable[[], None], wait: float | None) -> None:
    """One life in this process; nobody comes from outside."""
    with suppress(Killed):
        live()


def apart(live: Callable[[], None], wait: float | None) -> None:
    """One life in a process of its own, which begins with what is imported here."""
    if (child := os.fork()) == 0:
        try:
            live()
        finally:
            os._exit(0)
    if wait is not None:
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)  # until it is waited for, the number is its own
    os.waitpid(child, 0)


@dataclass(frozen=True)
class Way:
    """How processes live, and how they die."""

    live: Callable[[Callable[[], None], float | None], None]
    kill: Kill


HERE, APART = Way(here, die), Way(apart, end_process)


def at(tick: int) -> Death:
    """Death at a tick."""
    return Death(lambda kill: Reaper(tick, kill))


def after(made: int) -> Death:
    """Death after so many effects, in a run whose only ticks are those of its effects."""
    return at(EFFECT * (2 * made - 1) if made else 0)


def at_line(number: int) -> Death:
    """Death at the n-th line of Python."""
    return Death(lambda kill: Tracer(number, kill))


def from_outside(wait: float) -> Death:
    """Death after some seconds, in the middle of whatever the process is at."""
    return Death(lambda kill: Reaper(None, kill), wait)


NEVER_DIES = Death(lambda kill: Reaper(None, kill))


@dataclass(frozen=True)
class Ending:
    """What a run came to, after all, and what stood in the folder when it died first."""

    deaths: int
    label: str
    messages: list[dict[str, Any]]
    invalid: list[str]
    doubts: list[str]  # and what was done about them, in all lives
    left: bytes  # the journal when the first process died; its last line may be torn
    journal: bytes  # and at the end
    before: Counter[str]  # effects by then
    effects: Counter[str]  # and at the end


def lived(
    folder: Path, deaths: Sequence[Death], way: Way, journaled: bool = True, seconds: float = NEVER
) -> Ending:
    """Begin a run, let its processes die, and begin it again until it ends."""
    path = folder / "run.jsonl" if journaled else None

    def live(death: Death) -> None:
        office = Office(folder, death.reaper(way.kill), seconds)
        try:
            run = office.play(path)
            told = {"label": run.label, "messages": run.messages, "invalid": office.invalid}
            (folder / "ending.json").write_text(json.dumps(told), encoding="utf-8")
        finally:
            note(folder / "doubts.txt", office.doubts)

    left, before, died = b"", Counter[str](), 0
    for number, death in enumerate([*deaths, NEVER_DIES]):
        (folder / "ending.json").unlink(missing_ok=True)
        way.live(partial(live, death), death.wait)
        died += not (folder / "ending.json").exists()
        if number == 0:
            left, before = content(folder / "run.jsonl"), effects(folder / "effects.jsonl")
    told = {"deaths": died, **json.loads(content(folder / "ending.json"))}
    doubts = content(folder / "doubts.txt").decode().splitlines()
    journal = content(folder / "run.jsonl")
    return Ending(
        **told,
        doubts=doubts,
        left=left,
        journal=journal,
        before=before,
        effects=effects(folder / "effects.jsonl"),
    )


def note(path: Path, sentences: list[str]) -> None:
    """Add sentences to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{sentence}\n" for sentence in sentences)


def content(path: Path) -> bytes:
    """What a file holds, as far as there is one."""
    return path.read_bytes() if path.exists() else b""
