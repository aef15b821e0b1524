"""Luck without a random object: a draw is a hash of its name, and depends on nothing else.

So a flight that is flown alone, in another process, or after a world was added is the same
flight. Only whole numbers decide, which are the same on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
RANGE = 2**56


@dataclass(frozen=True)
class Luck:
    """Draws under one name; each asks for something, and asked again it is the same."""

    name: str

    def draw(self, *what: object) -> int:
        """A whole number below RANGE."""
        asked = "\0".join(map(str, (self.name, *what)))
        return int.from_bytes(blake2b(asked.encode(), digest_size=7).digest(), "big")

    def chance(self, percent: int, *what: object) -> bool:
        """Whether it happens, in so many of a hundred cases."""
        return self.draw(*what) * 100 < percent * RANGE

    def whole(self, low: int, high: int, *what: object) -> int:
        """A whole number from low to high, each as likely."""
        return low + self.draw(*what) * (high - low + 1) // RANGE

    def tail(self, low: int, high: int, *what: object) -> int:
        """Mostly small and sometimes large: every doubling of low is as likely as the next."""
        doublings = (high // low).bit_length() - 1
        bottom = low << self.whole(0, doublings, "doubling", *what)
        return self.whole(bottom, min(high, 2 * bottom - 1), *what)

    def pick(self, things: Sequence[T], *what: object) -> T:
        """One of some things."""
        return things[self.whole(0, len(things) - 1, *what)]
