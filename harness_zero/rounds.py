"""Rounds, read off a run: what was asked for and what came back, without noise.

A round is never known by the model's words, nor by what changes without meaning anything: ids,
durations, the time of day. Rounds are read from the end of the array and only as far back as
somebody looks, so there is nothing to remember and nothing that a resume could forget.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

from harness_zero.messages import Block, tool_results, tool_uses, words
from harness_zero.run import Run

OURS = "\n\nNothing new: "  # begins what a detector says in a result, after all that the tool said
LATELY = 9  # words of the harness among which a message is looked up

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
DETAILS = re.compile(r"""\d+|'[^']*'|"[^"]*\"""")  # what an error counts, and what it quotes


def quiet(text: str) -> str:
    """A text with three dots for each bit of noise: what is said twice reads the same twice."""
    return NOISE.sub("...", text)


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
            elif (at, words(message)) not in run.spoken[-LATELY:]:
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
    return f"\n\n{said(result)}".partition(OURS)[0].removeprefix("\n\n")


def alike(one: Round, other: Round) -> bool:
    """Whether the same was asked for and the same came back."""
    return one.calls == other.calls and all(map(unchanged, one.results, other.results))


def unchanged(one: Block, other: Block, noise: re.Pattern[str] = NOISE) -> bool:
    """Whether two results say the same, line by line and but for noise."""
    if bool(one.get("is_error")) != bool(other.get("is_error")):
        return False
    a, b = outcome(one), outcome(other)
    lines = () if a == b else zip_longest(a.split("\n"), b.split("\n"), fillvalue="")
    return all(x == y or bare(x, noise) == bare(y, noise) for x, y in lines)


@lru_cache(256)
def bare(line: str, noise: re.Pattern[str]) -> str:
    """A line without noise."""
    return noise.sub("#", line)
