"""The recorded part of a run: what was done, in order, and how far a replay has come in it.

Lines that stand for a place in the run (a turn, a step, a prompt that was taken, an end) are
passed one after the other. An outcome belongs to the step that was begun. What was done inside of a
step names it, `in`, and is passed over with it. So a step whose outcome is missing is in doubt, and
what came after it still stands.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from harness_zero.journal_file import Line

PLACES = ("turn", "begin", "take", "late", "ended")
KEPT_APART = ("begin", "at", "key", "head", "in")  # of an intent: not what was asked for


@dataclass
class Entry:
    """A place in the recorded run. A step knows its outcome, if it has one."""

    line: Line
    outcome: Line | None = None
    behind: int = 0  # the number of the entry that comes after it, and after all inside of it

    @property
    def kind(self) -> str:
        """What it is: turn, begin, take, late or ended."""
        return next(iter(self.line))

    @property
    def asks(self) -> dict[str, Any]:
        """What a step asked for."""
        return {name: it for name, it in self.line.items() if name not in KEPT_APART}


@dataclass
class Past:
    """All entries, and the one that comes next."""

    entries: list[Entry] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)  # the queue, in the order of arrival
    steps: int = 0  # the number of the last step
    turns: int = 0
    cursor: int = 0

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Past":
        """What these lines tell, read once from the first to the last."""
        past, begun, around = cls(), dict[int, Entry](), list[Entry]()
        for line in lines:
            kind = next(iter(line))
            if kind in PLACES:
                past.entries.append(Entry(line, behind=len(past.entries) + 1))
                while around and around[-1].line["begin"] != line.get("in"):
                    around.pop().behind = len(past.entries) - 1
            if kind == "begin":
                past.steps = line["begin"]
                begun[past.steps] = past.entries[-1]
                around.append(past.entries[-1])
            elif kind == "end":
                begun[line["end"]].outcome = line
            elif kind == "put":
                past.prompts.append(line["put"])
            past.turns += kind == "turn"
        for entry in around:
            entry.behind = len(past.entries)
        return past

    @property
    def over(self) -> bool:
        """Whether all of it was passed: what comes now is new."""
        return self.cursor == len(self.entries)

    @property
    def next(self) -> Entry | None:
        """The entry that comes next; none where what comes is new."""
        return None if self.over else self.entries[self.cursor]

    def to_interrupt(self, where: Line) -> bool:
        """Go to where the turn that is played here was interrupted, if others came after it."""
        for number in range(self.cursor, len(self.entries)):
            line = self.entries[number].line
            if line.get("ended") == "interrupted" and line.get("in") == where.get("in"):
                self.cursor = number
                return True
        return False

    @property
    def label(self) -> str | None:
        """How the user's last turn ended; nothing if it has not."""
        last = self.entries[-1].line if self.entries else {}
        return None if "in" in last else last.get("ended")

    @property
    def asked(self) -> list[str]:
        """The prompts of the user's turns."""
        turns = [entry.line for entry in self.entries if entry.kind == "turn"]
        return [line["prompt"] for line in turns if "in" not in line]
