"""Recorded flights that are known to be healthy or stuck, to try a detector on.

In a stuck one nothing new comes from a known round on, for as long as it is recorded: somebody
has to stop it. A healthy one reaches its goal and ends by itself. They are recorded without a
detector, and who tries one hears the same replies whatever is said to the model.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from harness_zero.flight.fly import flight
from harness_zero.flight.pilots import limits_alone
from harness_zero.messages import Block, Message, Reply, tool_results
from harness_zero.run import Run


@dataclass(frozen=True)
class Trace:
    """A flight, what is healthy or stuck about it, and for how many rounds it is recorded."""

    what: str
    flight: str
    stuck_from: int = 0  # the first round of what is then repeated; 0 if it is healthy
    rounds: int = 40

    @property
    def healthy(self) -> bool:
        """Whether it reaches its goal and ends by itself."""
        return not self.stuck_from


TRACES = (
    Trace("the same test, over and over", "stubborn/login-bug/calm#0", 1),
    Trace("the same test, which tells how long it took", "stubborn/murky-bug/calm#1", 3),
    Trace("the same write, and each is ok", "stubborn/many-files/calm#2", 3),
    Trace("the same edit, and each is ok", "stubborn/murky-bug/calm#4", 2),
    Trace("the same file, read again", "stubborn/shelves/calm#1", 2),
    Trace("two files, read by turns", "alternating/shelves/calm#3", 2),
    Trace("test and edit by turns, the edit the same", "alternating/murky-bug/calm#7", 1),
    Trace("Wednesday: test, another edit, the same failure", "diligent/murky-bug/calm#2", 1),
    Trace("Wednesday, with durations in the results", "diligent/murky-bug/calm#5", 1),
    Trace("Wednesday, every test run twice", "double-checking/murky-bug/calm#0", 1),
    Trace("Wednesday, many tests in one reply", "stuttering/murky-bug/calm#3", 1),
    Trace("Wednesday, another file read along", "spending/murky-bug/calm#11", 1),
    Trace("another key each time, the same error", "diligent/locked/calm#4", 1),
    Trace("done, and reads on in a circle of twelve", "rambling/lost-config/calm#0", 4, 60),
    Trace("test and edit, one failure less each time", "diligent/login-bug/calm#0"),
    Trace("the same, every test run twice", "double-checking/login-bug/calm#1"),
    Trace("the same, many tests in one reply", "stuttering/login-bug/calm#9"),
    Trace("the same failure until the edit that mends it", "diligent/murky-bug/calm#9"),
    Trace("looks eight times whether something changed", "polling/lost-config/calm#15"),
    Trace("waits for a build that tells how far it is", "diligent/build/calm#6"),
    Trace("waits for a build that only says: running", "polling/build/calm#5", rounds=60),
    Trace("writes one file after the other", "diligent/many-files/calm#3", rounds=60),
    Trace("writes files, another one read along", "spending/many-files/calm#1"),
    Trace("turns pages: the same call, another page", "diligent/many-pages/calm#6", rounds=60),
    Trace("turns pages, another file read along", "spending/many-pages/calm#3"),
    Trace("asks for tools that do not exist", "dreaming/lost-config/calm#10"),
    Trace("sends again after a lost connection", "diligent/one-mail/lost-before@2#0"),
    Trace("writes smaller pieces after two cut replies", "windy/big-file/calm#5"),
)


@dataclass(frozen=True)
class Recorded:
    """What was said in a trace: the replies in order, and the result of each call."""

    prompt: Message
    replies: list[Reply]
    results: dict[str, Block]

    def model(self) -> Iterator[Reply]:
        """The replies, once more."""
        return iter(self.replies)


@cache
def recorded(trace: Trace) -> Recorded:
    """Fly a trace and keep what was said."""
    run = flight(trace.flight, limits_alone, max_rounds=trace.rounds)
    assert isinstance(run, Run)
    results = {r["tool_use_id"]: r for message in run.messages for r in tool_results(message)}
    return Recorded(run.messages[0], run.replies, results)
