"""Try a broken promise once more, now with the lines of the answer followed.

Nothing is followed while an answer is checked: it takes longer. Only where a promise broke, and
somebody can step through it, is that one tried again.
"""

from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import wraps
from typing import Any

from harness_zero.authored import NotFollowed
from harness_zero.containment import Hush
from harness_zero.desk import Desk, desks
from harness_zero.follow import Follower
from harness_zero.grading.checks import PATIENCE, Finding, no_noise, recording, tried
from harness_zero.messages import Message
from harness_zero.watch import Recording

IMPATIENCE = 0.4  # seconds; an endless loop has been waited for already


def followed(promise: Callable[[Any], None], answer: Any, found: Finding) -> Finding:
    """The same finding with the lines in its case; as it was, if it does not break alike again."""
    with redirect_stdout(Hush()), no_noise(), desks() as used:
        try:
            follower = Follower(answer, lambda: at_desk(used))
        except NotFollowed:
            return found
        with follower as lines:
            seconds = IMPATIENCE if found.endless else PATIENCE
            again = tried(promise, last_of(answer, follower, used), used, seconds)
    if not lines.steps or not alike(found, again):
        return found
    case = recording(found, used[-1]) if used and used[-1].sent else as_recording(again.case)
    return replace(found, case=replace(case, followed=lines)) if case else found


def alike(one: Finding, other: Finding) -> bool:
    """Whether a promise broke in the same way twice."""
    return all(getattr(one, n) == getattr(other, n) for n in ("state", "expected", "raised"))


def at_desk(used: list[Desk]) -> tuple[int, list[Message]]:
    """What a desk has seen by now: how many replies, and the array as it was last sent."""
    desk = used[-1] if used else None
    return (len(desk.replies), desk.sent[-1]) if desk and desk.sent else (0, [])


def last_of(answer: Callable[..., Any], follower: Follower, used: list[Desk]) -> Callable[..., Any]:
    """The answer, followed anew at each desk; where there is none, in each call."""
    last = [0]

    @wraps(answer)
    def called(*given: Any, **named: Any) -> Any:
        if not used or len(used) != last[0]:
            follower.begin_again()
            last[0] = len(used)
        return answer(*given, **named)

    return called


def as_recording(case: Any) -> Recording | None:
    """A case as a recording: it may be the array alone."""
    if isinstance(case, list):
        return Recording(case, [], None)
    return case if isinstance(case, Recording) else None
