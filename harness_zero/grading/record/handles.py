"""Handles: numbers for what stays on its side, of which the other side has something like it.

A handle lives as long as somebody at the other side holds what stands for it, so that a file which
an answer left open is closed when it would be without a wire.
"""

from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import ref

from harness_zero.grading.record.proxies import form
from harness_zero.run import Run

KINDS = {"call", "run", "thing"}
Proxy = Callable[[int, str, dict], Any]  # what stands for a number of the other side


class Handles:
    """What one side has lent, and what the other side has lent it."""

    def __init__(self, proxy: Proxy, weakly: bool) -> None:
        self.proxy, self.weakly = proxy, weakly  # weakly: until nobody holds what stands for it
        self.lent: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}  # of what was lent, by id
        self.free = count()  # the next number
        self.times: dict[int, int] = {}  # how often a handle was sent, by number
        self.borrowed: dict[int, Callable[[], Any]] = {}  # by number; perhaps nobody holds it now
        self.theirs: dict[int, int] = {}  # the numbers of what was borrowed, by id
        self.seen: dict[int, int] = {}  # how often a handle came, by number
        self.dropped: list[list[int]] = []  # numbers that nobody holds, and how often they came

    def lend(self, value: Any) -> Any:
        """A handle, and what can be said of what it stands for."""
        kind = "run" if isinstance(value, Run) else "call" if callable(value) else "thing"
        about = form(value) if kind == "call" else {"name": type(value).__name__}
        number = self.number(value)
        self.times[number] = self.times.get(number, 0) + 1
        return {"$": "handle", "of": number, "kind": kind, "about": about}

    def number(self, value: Any) -> int:
        """The number of what is lent, the same whenever it is lent again."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = number = next(self.free)
            self.lent[number] = value
        return self.numbers[id(value)]

    def borrow(self, number: int, kind: str, about: dict) -> Any:
        """What stands for something of the other side, the same whenever it comes again."""
        if type(number) is not int or kind not in KINDS or not isinstance(about, dict):
            raise ValueError("a handle that is none")
        self.seen[number] = self.seen.get(number, 0) + 1
        value = self.standing_for(number)
        if value is None:
            value = self.proxy(number, kind, about)
            self.keep(number, value, self.weakly)
        return value

    def standing_for(self, number: int) -> Any:
        """What stands here for a number of the other side; None if nothing does."""
        return self.borrowed.get(number, nothing)()

    def keep(self, number: int, value: Any, weakly: bool = False) -> None:
        """Remember what stands for a number of the other side; weakly, until nobody holds it."""
        at = id(value)
        self.theirs[at] = number
        if weakly:
            self.borrowed[number] = ref(value, lambda dead: self.drop(number, at, dead))
        else:
            self.borrowed[number] = lambda: value

    def drop(self, number: int, at: int, dead: Any) -> None:
        """Nobody here holds what stood for this number: the other side may let go of it."""
        if self.theirs.get(at) == number:
            del self.theirs[at]
        if self.borrowed.get(number) is dead:
            del self.borrowed[number]
            self.dropped.append([number, self.seen[number]])

    def let_go(self, number: int, times: int) -> None:
        """The other side holds this no longer, unless a handle of it is on its way."""
        if self.times.get(number) == times:
            del self.times[number]
            self.numbers.pop(id(self.lent.pop(number)), None)

    def leaving(self, named: set[int]) -> list[list[int]]:
        """What the other side may let go of, but for what a frame on its way still names."""
        dropped, self.dropped = self.dropped, []
        self.dropped += [each for each in dropped if each[0] in named]
        return [each for each in dropped if each[0] not in named]


def nothing() -> None:
    """What stands for a number that stands for nothing yet."""
