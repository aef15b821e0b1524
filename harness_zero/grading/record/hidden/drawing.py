"""Drawing: what nobody can know beforehand, and is always the same for one secret."""

import hmac
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any, TypeVar

from harness_zero.messages import Block, Reply, reply, tool_use

T = TypeVar("T")
LETTERS = "abcdefghijklmnoprstuvwxyz"
Draws = Callable[["Chance"], T]


class Chance(Random):
    """The chance of one case."""

    def word(self) -> str:
        """A word that nobody knows."""
        return "".join(self.choice(LETTERS) for _ in range(8))

    def words(self, most: int, least: int = 1) -> list[str]:
        """Some words, no two alike."""
        return [*dict.fromkeys(self.word() for _ in range(self.randint(least, most)))]

    def shuffled(self, things: list[T]) -> list[T]:
        """The same things in some order."""
        return self.sample(things, len(things))

    def usd(self, most: int = 8) -> float:
        """Some money, in parts that a float holds exactly, so that nobody's sum is rounded."""
        return self.randint(1, most) / 8

    def value(self) -> Any:
        """A plain value."""
        return self.choice([self.word(), self.randint(10, 10**6), {self.word(): self.word()}])

    def input(self, most: int = 3) -> dict[str, Any]:
        """The arguments of a call."""
        return {name: self.value() for name in self.words(most)}

    def call(self, name: str = "", **input: Any) -> Block:
        """A call of some tool."""
        given = input or self.input()
        return {**tool_use(f"toolu_{self.word()}", name or self.word()), "input": given}

    def asking(self, name: str = "", most: int = 4, **more: Any) -> Reply:
        """A reply with some calls of one tool, and perhaps words before them."""
        return asking(self, lambda: self.call(name), most, **more)


def asking(
    chance: Chance, call: Callable[[], Block], most: int, least: int = 1, **more: Any
) -> Any:
    """A reply with some of these calls, and perhaps words before them."""
    calls = [call() for _ in range(chance.randint(least, most))]
    return reply(*chance.choice([[], [chance.word()]]), *calls, **more)


def drawn(secret: bytes, exercise: str, number: int) -> Chance:
    """The chance of one case of an exercise."""
    digest = hmac.new(secret, f"{exercise} {number}".encode(), sha256).digest()
    return Chance(int.from_bytes(digest))
