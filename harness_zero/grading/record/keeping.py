"""What an answer keeps of what it was lent: lists, dicts and sets that both sides have by then.

An answer may hold on to a list that it was given, and change it in a later call. So what it still
holds when its call is over is compared by both sides whenever something crosses, and what changed
on one side is changed on the other, until the answer lets go of it.
"""

from collections.abc import Callable
from sys import getrefcount
from threading import RLock
from typing import Any

from harness_zero.grading.record.lending import restore

MOST = 16  # things that are kept at once; the oldest is let go of for a new one
LARGEST = 100_000  # bytes of one
Exactly = Callable[[Any], bytes]  # a value to the letter, to be compared with what it is later


class Kept:
    """The things of one side that the other side has as well."""

    def __init__(self, exactly: Exactly) -> None:
        self.exactly = exactly
        self.things: dict[int, list[Any]] = {}  # by number: the thing, and what it was
        self.numbers: dict[int, int] = {}  # by id
        self.last = 0
        self.turn = RLock()

    def held(self, given: list[Any], elsewhere: int) -> list[list[int]]:
        """Which of what was given somebody holds on to, by place and number; kept from now on."""
        found = []
        for at in range(len(given)):  # no name for each, which would hold on to it as well
            if is_new_to(self.numbers, given[at]) and getrefcount(given[at]) > BARE + elsewhere:
                was = self.exactly(given[at])
                if len(was) <= LARGEST:
                    self.last += 1
                    self.keep(self.last, given[at], was)
                    found.append([at, self.last])
        return found

    def keep(self, number: int, thing: Any, was: bytes) -> None:
        """Have both sides keep this under a number."""
        with self.turn:
            self.things[number] = [thing, was]
            self.numbers[id(thing)] = number

    def share(self, number: int, thing: Any) -> None:
        """Keep what the other side keeps of what it was lent. ValueError if that cannot be."""
        if not isinstance(thing, list | dict | set | frozenset) or len(self.things) > 4 * MOST:
            raise ValueError("it keeps what it was not lent, or too much")
        self.keep(number, thing, self.exactly(thing))

    def changes(self) -> list[list[Any]]:
        """The numbers of what is another than both sides know, and what it is now."""
        found = []
        with self.turn:
            for number, there in self.things.items():
                if (now := self.exactly(there[0])) != there[1]:
                    there[1] = now
                    found.append([number, there[0]])
        return found

    def change(self, number: int, now: Any) -> None:
        """Change what is kept under a number here as it was changed there."""
        with self.turn:
            if there := self.things.get(number):
                restore(there[0], now)
                there[1] = self.exactly(there[0])

    def loose(self) -> list[int]:
        """The numbers of what nobody holds any more, and of the oldest of too much; let go of."""
        with self.turn:
            loose = [n for n, there in self.things.items() if getrefcount(there[0]) <= BARE]
            rest = [number for number in self.things if number not in loose]
            loose += rest[: max(0, len(rest) - MOST)]
            for number in loose:
                self.let_go(number)
        return loose

    def let_go(self, number: int) -> None:
        """Keep this no longer."""
        with self.turn:
            if there := self.things.pop(number, None):
                self.numbers.pop(id(there[0]), None)


def is_new_to(numbers: dict[int, int], thing: Any) -> bool:
    """Whether this can be changed and is not kept yet."""
    return type(thing) in (list, dict, set) and id(thing) not in numbers


def bare() -> int:
    """The references that there are to what a list alone holds, as `getrefcount` counts them."""
    given: list[Any] = [[]]
    return getrefcount(given[0])


BARE = bare()
