"""The messages of an array as they came, and which of another array's are the same, at C speed.

A conversation sends what it sent before again and again. So what is old is compared without
a line of Python for each message: as the same object that still holds what it held, else by
its bytes.
"""

import marshal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import compress, count, repeat
from operator import contains, is_not, ne, not_
from typing import Any

from harness_zero.prefix import MARK, frozen

WORD = MARK.encode()
FIXED = (str, int, float, bool, type(None))


@dataclass
class Seen:
    """Messages that were sent, in their order."""

    objects: list[Any] = field(default_factory=list)
    copies: list[Any] = field(default_factory=list)  # an object may be changed after it was sent
    lines: list[bytes] = field(default_factory=list)  # what each is, the order of keys included
    marked: set[int] = field(default_factory=set)  # the places of those that may bear marks

    def add(self, message: Any) -> bytes:
        """One message more, and its bytes."""
        self.put(len(self.lines), message)
        return self.lines[-1]

    def put(self, at: int, message: Any) -> None:
        """What stands in this place now."""
        self.objects[at : at + 1] = [message]
        self.copies[at : at + 1] = [copied(message)]
        self.lines[at : at + 1] = [frozen(message)]
        (self.marked.add if WORD in self.lines[at] else self.marked.discard)(at)

    def others(self, messages: list[Any]) -> Iterator[int]:
        """The places, as far as both go, in which another message stands."""
        moved = [*map(is_not, messages, self.objects)]
        stayed = [*compress(count(), map(not_, moved))]
        now, then = map(messages.__getitem__, stayed), map(self.copies.__getitem__, stayed)
        changed = compress(stayed, map(ne, now, then))
        suspects = sorted([*compress(count(), moved), *changed])
        return self.unlike(messages, suspects)

    def unlike(self, messages: list[Any], suspects: list[int]) -> Iterator[int]:
        """Those of the places in which the bytes are others."""
        now = all_frozen(map(messages.__getitem__, suspects))
        then = map(self.lines.__getitem__, suspects)
        return compress(suspects, map(ne, now, then))

    def fork(self, count: int) -> "Seen":
        """The first of them, apart."""
        marked = {at for at in self.marked if at < count}
        return Seen(self.objects[:count], self.copies[:count], self.lines[:count], marked)


def copied(message: Any) -> Any:
    """A message apart from its object; None, which is like no message, if it cannot be copied.

    What cannot change is shared, so that a text which stayed is not compared letter by letter.
    """
    try:
        return apart(message)
    except (TypeError, RecursionError):
        return None


def apart(value: Any) -> Any:
    """A value whose lists and dicts are its own. TypeError if it holds what is no JSON."""
    kind = type(value)
    if kind is dict:
        return {name: apart(each) for name, each in value.items()}
    if kind is list or kind is tuple:
        return kind(map(apart, value))
    if kind in FIXED:
        return value
    raise TypeError


def bearing(messages: list[Any]) -> Iterator[int]:
    """The messages in whose bytes the word cache_control stands, as a mark or as a word."""
    return compress(count(), map(contains, all_frozen(messages), repeat(WORD)))


def all_frozen(messages: Iterable[Any]) -> list[bytes]:
    """Each message as bytes that two share only if they render alike."""
    messages = [*messages]
    try:
        return [*map(marshal.dumps, messages, repeat(2))]
    except ValueError:  # an object that marshal does not know
        return [*map(frozen, messages)]
