"""Trying a task again: a turn has ended, a check does not pass, and all of it is done once more."""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness_zero.labels import Label
from harness_zero.retry import ATTEMPTS
from harness_zero.run import Run

FINAL = {Label.INTERRUPTED, Label.BUSY, Label.COST_CAP, Label.MODEL_ERROR, Label.REFUSED}


@dataclass
class Tried:
    """A task that was tried until a check passed, or often enough."""

    runs: list[Run] = field(default_factory=list)  # one for each conversation
    attempts: int = 0
    fault: str | None = None  # what the check said last; nothing if it passed

    @property
    def passed(self) -> bool:
        """Whether the check passed in the end."""
        return self.fault is None

    @property
    def cost_usd(self) -> float:
        """What all attempts cost together. A brake in money sees one conversation of them."""
        return sum(run.cost_usd for run in self.runs)

    @property
    def tokens(self) -> int:
        """The tokens of all attempts."""
        return sum(run.tokens for run in self.runs)


def until(
    check: Callable[[], str | None],
    harness: Callable[[Run], Run],
    prompt: str,
    attempts: int = ATTEMPTS,
    keep: bool = False,
    start: Callable[[str], Run] = Run,
) -> Tried:
    """Play the task until the check passes (it gives back nothing), `attempts` times at most.

    Each attempt begins a conversation of its own, or goes on in the one that is kept, with what
    the check said. What was done outside of the conversation stays done in both. A turn that
    somebody or something outside has ended is not played again.
    """
    tried = Tried()
    while tried.attempts < attempts:
        if keep and tried.runs:
            tried.runs[-1] = harness(tried.runs[-1].ask(f"You are not done: {tried.fault}"))
        else:
            tried.runs.append(harness(start(prompt)))
        tried.attempts, tried.fault = tried.attempts + 1, check()
        if tried.passed or tried.runs[-1].label in FINAL:
            break
    return tried
