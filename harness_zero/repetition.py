"""Repetition: telling work from going in circles, by what came back.

A round is known by its calls and by what came back for them, never by the model's words. All of
it is read off the array, from its end and only as far back as a pattern reaches: there is no
state that a resume could forget, and round 5,000 costs what round 5 did.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import islice, takewhile, zip_longest
from math import inf
from typing import Any, NamedTuple

from harness_zero.labels import End, Label, Say
from harness_zero.messages import Block, tool_results, tool_uses, words
from harness_zero.policy import brake
from harness_zero.ports import Policy
from harness_zero.run import Run

LONGEST = 4  # rounds in a circle, and from one try to the next
LATELY = 16  # rounds in which a word about copies in one reply holds
OURS = "\n\nNothing new: "  # begins our words in a result, after all that the tool said
HINT = "Try another way, or say what keeps you from it. If you are waiting, wait longer."

REPEATING = "{times:g} times in a row the same call with the same result ({tools})"
CIRCLING = "{times:g} times in a row the same circle of {rounds}, with the same results ({tools})"
RETRYING = "{times:g} times the same result, whatever was done in between ({tools})"
FAILING = "{times:g} times in a row the same failure, whatever was asked for ({tools})"
STUTTERING = "{times:g} times the same call in one reply, and the same result ({tools})"

NOISE = re.compile(
    r"""\d+(\.\d+)?\s?(ms|s|sec|seconds|minutes)\b       # how long it took
    | \d{4}-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?   # when it was
    | \b\d\d:\d\d:\d\d([.,]\d+)?
    | \b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b      # under which id
    | \b0x[0-9a-f]+\b                                    # where in memory
    | (?<=sh:\ line\ )\d+                                # a shell counts all it was ever told
    """,
    re.VERBOSE | re.IGNORECASE,
)
DETAILS = re.compile(r"""\d+|'[^']*'|"[^"]*\"""")  # of an error: what it counts and what it quotes


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
        if run.last_word is not None or not tool_results(run.messages[-1]):
            return None  # nothing came back since we were asked last
        found = [*repeats(run, patient)]
        if found and not any(repeat.told for repeat in found):
            return Say(f"{OURS}{found[0]}. {HINT}".strip())
        over = [repeat for repeat in found if repeat.times >= repeat.stop]
        return End(Label.STUCK, str(over[0])) if over else None

    return policy


class Round(NamedTuple):
    """The calls of one reply and what came back, each call but once."""

    calls: list[tuple[str, Any]]
    results: list[Block]
    copies: int = 1  # how often that call was there that was there most often
    after: bool = False  # whether we spoke in a message of its own after it

    @property
    def told(self) -> bool:
        """Whether the model was told that it repeats itself."""
        return self.after or any(is_ours(said(result)) for result in self.results)

    @property
    def failed(self) -> bool:
        """Whether nothing but errors came back."""
        return all(result.get("is_error") for result in self.results)


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


def patterns(tail: "Tail", patience: Patience) -> Iterator[Repeat]:
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


class Tail:
    """The rounds of a turn, the newest first; each is read when somebody looks that far back."""

    def __init__(self, run: Run) -> None:
        self.read: list[Round] = []
        self.unread = rounds(run)

    def at(self, back: int) -> Round | None:
        """The round so far back; nothing if the turn does not reach there."""
        while len(self.read) <= back:
            if (older := next(self.unread, None)) is None:
                return None
            self.read.append(older)
        return self.read[back]

    def since(self, back: int) -> Iterator[Round]:
        """The round so far back, and those before it."""
        while (older := self.at(back)) is not None:
            yield older
            back += 1


def rounds(run: Run) -> Iterator[Round]:
    """The rounds of this turn in which tools were called, the newest first."""
    after = False
    for at in range(len(run.messages) - 1, 0, -1):
        message = run.messages[at]
        if message["role"] == "user":
            if results := tool_results(message):
                if calls := tool_uses(run.messages[at - 1]):
                    each = once(calls, results)
                    yield each._replace(after=True) if after else each
                    after = False
            elif is_ours(words(message)):
                after = True
            elif (at, words(message)) not in run.spoken[-9:]:
                return  # the user spoke: what was before is another story


def once(calls: list[Block], results: list[Block]) -> Round:
    """The round of these calls and results; copies of a call with the same result are one."""
    asked = [(call["name"], call["input"]) for call in calls]
    if len(asked) == 1:
        return Round(asked, results)
    kept: list[Round] = []
    for call, result in zip(asked, results, strict=False):
        copy = Round([call], [result])
        known = [at for at, each in enumerate(kept) if alike(copy, each)]
        if known:
            kept[known[0]] = copy._replace(copies=kept[known[0]].copies + 1)
        else:
            kept.append(copy)
    return Round(
        [call for each in kept for call in each.calls],
        [result for each in kept for result in each.results],
        max(each.copies for each in kept),
    )


def is_ours(text: str) -> bool:
    """Whether the detector speaks in a text."""
    return OURS in f"\n\n{text}"


def said(result: Block) -> str:
    """All that a result says."""
    content = result.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n\n".join(str(block.get("text", block)) for block in content)


def outcome(result: Block) -> str:
    """What the tool said in a result, without what we said after it."""
    return f"\n\n{said(result)}".partition(OURS)[0]


def alike(one: Round, other: Round) -> bool:
    """Whether the same was asked for and the same came back."""
    return one.calls == other.calls and all(map(unchanged, one.results, other.results))


def unchanged(one: Block, other: Block) -> bool:
    """Whether two results say the same, line by line and but for noise."""
    failed = bool(one.get("is_error"))
    a, b = outcome(one), outcome(other)
    if a == b or failed != bool(other.get("is_error")):
        return failed == bool(other.get("is_error"))
    lines = [*zip_longest(a.split("\n"), b.split("\n"), fillvalue="")]
    return all(bare(x, failed) == bare(y, failed) for x, y in lines if x != y)


@lru_cache(256)
def bare(text: str, failed: bool) -> str:
    """A text without noise. In an error every number is noise, and so is what it quotes."""
    return (DETAILS if failed else NOISE).sub("#", text)


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
    """How often in a row the same tools failed in the same way, whatever they were asked for."""
    newest = tail.read[0]

    def likewise(each: Round) -> bool:
        tools = [[name for name, _ in one.calls] for one in (each, newest)]
        return tools[0] == tools[1] and all(map(unchanged, each.results, newest.results))

    return sum(1 for _ in takewhile(likewise, tail.since(0)))
