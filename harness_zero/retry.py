"""Trying again: three layers that share a name. The innermost, the call, is here.

    the call    the provider did not answer: asked again inside of the step      retried
    the step    its process died, or its connection: nobody knows how it ended   journal, persistent
    the task    it ended, and a check does not pass: all of it once more         task.until

Each layer repeats what lies below it, so two that do the same multiply. The SDK asks again by
itself, and says so of no failure that it hands on; `retried` repeats only a failure that tells
what it was. So around `claude` it does nothing, and around a model without an SDK it does it all.
"""

from collections.abc import Callable
from random import random
from time import monotonic
from time import sleep as real_sleep
from typing import Any

from harness_zero.brief import plural
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.ports import Model, Request
from harness_zero.run import Clock

Sleep = Callable[[float], Any]
Chance = Callable[[], float]  # from 0 to 1

ATTEMPTS = 3
PASSING = (408, 409, 429)  # and all from 500 on
FIRST, LONGEST, JITTER = 0.5, 8.0, 0.25  # seconds, seconds, and a part of them
BROKEN = (ConnectionError, TimeoutError)


def call_failed(
    words: str, status: int | None = None, retry_after: float | None = None, **more: Any
) -> ModelFailed:
    """A failure that tells what it was. Without a status no answer came at all.

    `retry_after` are seconds; `should_retry`, if the server says that, outweighs the status.
    """
    failure = ModelFailed(words)
    vars(failure).update(status=status, retry_after=retry_after, **more)
    return failure


def may_pass(failure: Exception) -> bool:
    """Whether the same request may be answered later. What a failure does not tell is a no."""
    if isinstance(failure, BROKEN):
        return True
    if (told := getattr(failure, "should_retry", None)) is not None:
        return bool(told)
    status = getattr(failure, "status", 0)
    return status is None or status in PASSING or status >= 500


def pause(failure: Exception, attempt: int, chance: Chance = random) -> float:
    """Seconds to wait after this attempt: what the server asks for, or twice as long each time.

    Up to a quarter is taken off by chance, so that all who failed at once do not come back at once.
    """
    asked = getattr(failure, "retry_after", None)
    if asked is not None:
        return max(0.0, float(asked))
    return min(FIRST * 2.0 ** (attempt - 1), LONGEST) * (1 - JITTER * chance())


def retried(
    model: Model,
    attempts: int = ATTEMPTS,
    within: float = 300.0,
    sleep: Sleep = real_sleep,
    clock: Clock = monotonic,
    chance: Chance = random,
    tell: Callable[[str], Any] = lambda words: None,
) -> Model:
    """The same model; a call whose failure may pass is made again, `attempts` times in all.

    All attempts are one step, so it stands inside of a journal. A wait that would end later than
    `within` seconds after the first attempt is not begun. The last failure is handed on as one
    that tells nothing more: whoever stands outside does not begin anew.
    """

    def speak(request: Request) -> Reply:
        began, attempt = clock(), 1
        while True:
            try:
                return model(request)
            except (ModelFailed, *BROKEN) as failure:
                if not may_pass(failure):
                    raise
                wait = pause(failure, attempt, chance)
                if attempt >= attempts or clock() + wait - began > within:
                    raise given_up(failure, attempt) from failure
                tell(f"{failure}; asked again in {wait:.1f} s")
                sleep(wait)
                attempt += 1

    return speak


def given_up(failure: Exception, attempts: int) -> ModelFailed:
    """That it was asked so often, in vain."""
    return ModelFailed(f"{failure}; asked {plural(attempts, 'time')}")
