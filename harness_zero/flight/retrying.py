"""Pilots that try again: the library with a model that is asked again, and persistent tools."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from harness_zero import policy
from harness_zero.assembly import assemble, of_messages
from harness_zero.flight.place import POLLERS
from harness_zero.persistent import persistent
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.repetition import repetition
from harness_zero.retry import retried
from harness_zero.run import Run


def half() -> float:
    """A chance that is the same in every flight."""
    return 0.5


def trying_again(tools_too: bool, name: str) -> Callable[..., Run]:
    """The library; it asks a model again that did not answer, and makes tools persistent."""

    def run(
        model: Any,
        tools: Any,
        prompt: str,
        max_rounds: int = 50,
        cap_usd: float = 2.0,
        seconds: float = 600,
        clock: Any = monotonic,
        sleep: Any = None,
    ) -> Run:
        brakes = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
        again = retried(of_messages(model), sleep=sleep, clock=clock, chance=half)
        used = persistent(tools, sleep=sleep, chance=half) if tools_too else tools
        stop, detectors = recover(nudge(structural_stop)), [repetition(pollers=POLLERS)]
        return assemble(again, used, stop, brakes, detectors=detectors)(Run(prompt, clock))

    run.__name__ = name
    return run


asking_again = trying_again(False, "asking_again")  # the model alone
retrying = trying_again(True, "retrying")
