"""Trying a step again: its connection breaks while a tool is at work, and nobody died.

After a crash the journal does the same, by the same declarations.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from random import random
from time import sleep as real_sleep
from typing import Any

from harness_zero.doubt import runs_again, takes
from harness_zero.retry import ATTEMPTS, BROKEN, Chance, Sleep, pause

Function = Callable[..., Any]

UNKNOWN = (
    "outcome unknown: the connection broke while {name} was at work. It may have happened or not."
    " Check first, before you do it again."
)


def persistent(
    functions: Mapping[str, Function],
    attempts: int = ATTEMPTS,
    sleep: Sleep = real_sleep,
    chance: Chance = random,
) -> dict[str, Function]:
    """The same tools, for the case that a connection breaks while one is at work.

    One that is declared to be safe (`@reads`, `@keyed`) is called again, with the same key. Of
    the others nobody knows whether they happened, and that is what the model is told.
    """

    def insisting(name: str, function: Function) -> Function:
        times = attempts if runs_again(function) else 1
        changes = not runs_again(function) or "key" in takes(function)

        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            for attempt in range(1, times + 1):
                try:
                    return function(*given, **named)
                except BROKEN as broke:
                    if attempt == times:
                        raise type(broke)(
                            UNKNOWN.format(name=name) if changes else broke
                        ) from broke
                    sleep(pause(broke, attempt, chance))

        return call

    return {name: insisting(name, function) for name, function in functions.items()}
