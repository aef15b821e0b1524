"""Hidden cases and flights: drawn from the instructor's secret, and held against our own answers.

Whoever knows the promises by heart can write an answer that knows their inputs. Here the inputs
are others for each secret. What is told of a case that fails is which promise to think about.
"""

from functools import lru_cache
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.grading.record.hidden.drawing import Chance, drawn
from harness_zero.grading.record.hidden.ours import ours
from harness_zero.grading.record.hidden.table import HIDDEN, NONE, Trial
from harness_zero.grading.record.peer import Gone

BROKEN = "a case that is not shown comes out otherwise than it should"
FAILED = "it failed"


def unlike(exercise: str, answer: Any, secret: bytes) -> str:
    """What to say of an answer that does something else than ours in a hidden case, or nothing.

    Nothing of the case is in these words, and nothing that came from the answer.
    """
    for at, trial in enumerate(HIDDEN.get(exercise, ())):
        for number in range(trial.times):
            got = outcome(trial, drawn(secret, f"{exercise} {at}", number), answer)
            if got != expected(exercise, at, number, secret):
                return f"{BROKEN}; think about: {trial.promise.replace('_', ' ')}"
    return ""


def prepare(exercise: str, secret: bytes) -> None:
    """Find out what ours does in all cases of an exercise, before anybody's time is taken."""
    for at, trial in enumerate(HIDDEN.get(exercise, ())):
        for number in range(trial.times):
            expected(exercise, at, number, secret)


@lru_cache(2_000)
def expected(exercise: str, at: int, number: int, secret: bytes) -> Any:
    """What ours does in a case."""
    chance = drawn(secret, f"{exercise} {at}", number)
    return outcome(HIDDEN[exercise][at], chance, ours(exercise))


def outcome(trial: Trial, chance: Chance, answer: Any) -> Any:
    """What an answer does in a case, or that it did nothing that could be told."""
    try:
        return trial.case(chance, answer)
    except Gone:
        raise
    except (Exception, SetupFault):
        return FAILED


__all__ = ["BROKEN", "HIDDEN", "NONE", "prepare", "unlike"]
