"""Repetition: telling work from going in circles, by what came back.

A policy beside the loop. It looks no further back than a pattern reaches, so round 5,000 costs
what round 5 did.
"""

from collections.abc import Collection, Iterator
from itertools import islice, takewhile
from math import inf
from typing import Any, NamedTuple

from harness_zero.labels import End, Label, Say
from harness_zero.policy import brake
from harness_zero.ports import Policy
from harness_zero.rounds import DETAILS, OURS, Round, Tail, alike, unchanged
from harness_zero.run import Run

LONGEST = 4  # rounds in a circle, and from one try to the next
LATELY = 16  # rounds in which one word about copies in a reply is enough
HINT = "Try another way, or say what keeps you from it. If you are waiting, wait longer."

REPEATING = "{times:g} times in a row the same call with the same result ({tools})"
CIRCLING = "{times:g} times in a row the same circle of {rounds}, with the same results ({tools})"
RETRYING = "{times:g} times the same result, whatever was done in between ({tools})"
FAILING = "{times:g} times in a row the same failure, whatever was asked for ({tools})"
STUTTERING = "{times:g} times the same call in one reply, and the same result ({tools})"


class Patience(NamedTuple):
    """How often something may repeat: at the first count we speak, at the second we stop.

    Words are cheap and a wrong stop costs the goal, so there are some rounds between the two.
    """

    repeating: tuple[float, float] = (3, 9)  # one round over and over; it may be waiting
    circling: tuple[float, float] = (3, 5)  # two to four rounds by turns; nobody waits in circles
    retrying: tuple[float, float] = (6, 12)  # the same result, with other things tried in between
    failing: tuple[float, float] = (3, 6)  # the same failure, whatever is asked for
    pollers: Collection[str] = ()  # tools that are asked again in order to wait
    waiting: float = 8  # while there is one of them, so many times the patience


def repetition(**patience: Any) -> Policy:
    """Speak when rounds repeat, and end the turn when they go on. It takes what Patience takes.

    There is no stop without a word before it, and no second word while the first one stands.
    """
    patient = Patience(**patience)

    @brake
    def policy(run: Run) -> Say | End | None:
        if run.last_word is not None:
            return None  # the model has spoken since the last results came
        found = [*repeats(run, patient)]
        if found and not any(repeat.told for repeat in found):
            return Say(f"{OURS}{found[0]}. {HINT}".strip())
        over = [repeat for repeat in found if repeat.times >= repeat.stop]
        return End(Label.STUCK, str(over[0])) if over else None

    return policy


class Repeat(NamedTuple):
    """Something that repeats often enough to be spoken about."""

    what: str
    times: float
    speak: float
    stop: float
    rounds: list[Round]  # since it began, the newest first
    lap: int = 1  # how many of them are once through

    @property
    def told(self) -> bool:
        """Whether the model was told since it began."""
        return any(each.told for each in self.rounds)

    def __str__(self) -> str:
        once_through = reversed(self.rounds[: self.lap])
        tools = ", ".join(name for each in once_through for name, _ in each.calls)
        return self.what.format(times=self.times, rounds=self.lap, tools=tools)


def repeats(run: Run, patience: Patience) -> Iterator[Repeat]:
    """What repeats at the end of a run."""
    return (each for each in patterns(Tail(run), patience) if each.times >= each.speak)


def patterns(tail: Tail, patience: Patience) -> Iterator[Repeat]:
    """What may repeat, and how often it did. Most rounds bring something new and end here."""
    near = [*islice(tail.since(0), 1 + LONGEST)]
    waits = any(name in patience.pollers for each in near for name, _ in each.calls)
    slack = patience.waiting if waits else 1
    if any(near[0].calls == each.calls for each in near[1:]):
        length, lap = circle(tail)
        what, counts = (CIRCLING, patience.circling) if lap > 1 else (REPEATING, patience.repeating)
        yield Repeat(what, length / lap, *times(slack, counts), tail.read[:length], lap)
        tries, length = retries(tail)
        yield Repeat(RETRYING, tries, *times(slack, patience.retrying), tail.read[:length])
    if near and near[0].failed:
        length = failures(tail)
        yield Repeat(FAILING, length, *patience.failing, tail.read[:length])
    if near and near[0].copies > 1:
        lately = [*islice(tail.since(0), LATELY)]
        yield Repeat(STUTTERING, near[0].copies, patience.repeating[0], inf, lately)


def times(slack: float, counts: tuple[float, float]) -> tuple[float, float]:
    """So many times the counts."""
    return slack * counts[0], slack * counts[1]


def circle(tail: Tail) -> tuple[int, int]:
    """How many of the last rounds go in a circle, and of how many rounds it is."""
    length, period = 1, 1
    for longer in range(1, LONGEST + 1):
        reached = reach(tail, longer)
        if reached // longer > length // period:
            length, period = reached, longer
        if length >= 2 * LONGEST:  # so far that no longer circle goes further
            break
    return length, period


def reach(tail: Tail, period: int) -> int:
    """How many of the last rounds repeat what was done so many rounds before."""
    pairs = zip(tail.since(0), tail.since(period), strict=False)
    return period + sum(1 for _ in takewhile(lambda pair: alike(*pair), pairs))


def retries(tail: Tail) -> tuple[int, int]:
    """How often the newest round was tried with other things in between, and in how many rounds."""
    newest, tries, length, between = tail.read[0], 1, 1, 0
    for older in tail.since(1):
        if alike(older, newest):
            tries, length, between = tries + (between > 0), length + between + 1, 0
        elif older.calls == newest.calls or (between := between + 1) == LONGEST:
            break
    return tries, length


def failures(tail: Tail) -> int:
    """How often in a row the same tools failed in the same way, whatever they were asked for.

    Asked for something else an error counts and quotes something else, so that is noise here.
    """
    newest = tail.read[0]

    def likewise(each: Round) -> bool:
        tools = [[name for name, _ in one.calls] for one in (each, newest)]
        pairs = zip(each.results, newest.results, strict=False)
        return tools[0] == tools[1] and all(unchanged(*pair, DETAILS) for pair in pairs)

    return sum(1 for _ in takewhile(likewise, tail.since(0)))
