"""The watchdog: slow, stalled and stuck are three things, and only the last is a reason to stop.

It looks at a run from outside and by the run's own clock: a policy is asked between messages,
so it never sees a step that does not come back.
"""

from enum import StrEnum

from harness_zero.labels import Label
from harness_zero.repetition import Patience, repeats
from harness_zero.run import Run


class Pace(StrEnum):
    """How a run is getting on."""

    MOVING = "moving"  # the last step came back a short while ago
    SLOW = "slow"  # a step takes long, which is no fault: wait
    STALLED = "stalled"  # a step may never come back: somebody should look, and may interrupt it
    STUCK = "stuck"  # steps come back, with nothing new in them: stop
    OVER = "over"  # the turn has ended


USUAL = Patience()


def pace(run: Run, slow: float = 60, stalled: float = 600, patience: Patience = USUAL) -> Pace:
    """How a run is getting on now. Time alone never makes it stuck, nor do quick steps save it."""
    if run.label is not None:
        return Pace.STUCK if run.label is Label.STUCK else Pace.OVER
    if any(repeat.times >= repeat.stop for repeat in repeats(run, patience)):
        return Pace.STUCK
    now = getattr(run.clock, "passing", run.clock)  # that of a journal stands still within a step
    quiet = now() - run.moved
    return Pace.STALLED if quiet >= stalled else Pace.SLOW if quiet >= slow else Pace.MOVING
