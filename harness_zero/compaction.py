"""Compaction: a run that grew long is sent with a summary in place of its middle.

Every cut moves the prefix, and all behind it is written anew. So there is one deliberate jump
at a time: between two of them requests only grow. Where the cuts are follows from the messages
alone, so that a run which goes on from them is cut at the same places.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import ceil
from weakref import WeakKeyDictionary

from harness_zero.brief import brief, plural
from harness_zero.faults import SetupFault
from harness_zero.full import only_says_full, says_full
from harness_zero.layers import layer
from harness_zero.messages import Message, Reply, blocks, reply_fault, user, words
from harness_zero.ports import Request, View
from harness_zero.run import Run
from harness_zero.summary import HEADING, gist, transcript

Summary = Callable[[list[Message]], str | Reply]  # of the messages that are left out

CHARACTERS = 2.5  # per token: an estimate, Claude documentation, context windows, 2026-08-21
LAST = "The last rounds before this, word for word:"


def compacted(view: View, summary: Summary = gist, at: float = 100_000, keep: int = 4) -> View:
    """The same view; once its messages pass `at` tokens, by estimate, the middle is a summary.

    The prompt and the last `keep` rounds stay, a call stays with its result, and at least half
    of `at` must be new before the next cut. Where the harness said that the context is full
    (`when_full`) it is cut as well, if need be down to two rounds. The summary is written once
    a cut, by a function or by a model (`written_by`), whose call counts on the run.
    """
    if not isinstance(keep, int) or keep < 1:
        raise SetupFault(f"at least the last round stays, and keep is {keep}")
    if not isinstance(at, int | float) or not at > 0:
        raise SetupFault(f"a view is compacted at a number of tokens, and at is {at!r}")
    known: WeakKeyDictionary[Run, Cuts] = WeakKeyDictionary()

    def compact(run: Run) -> Request:
        request = view(run)
        cuts = known.get(run)
        if cuts is None or cuts.seen > len(request["messages"]):
            cuts = known[run] = Cuts(at, keep)
        cuts.read(request["messages"])
        if not cuts.made:
            return request
        cuts.summarise(request["messages"], partial(counted, run, summary))
        return {**request, "messages": cuts.applied(request["messages"])}

    return layer("a compacted view", compact, view, summary)


def counted(run: Run, summary: Summary, left_out: list[Message]) -> str:
    """The summary's words; if a model wrote them its call counts, and if it had none, the gist."""
    told = summary(left_out)
    if isinstance(told, str):
        return told
    if reply_fault(told):
        raise SetupFault(f"a summary is words, or a model's reply, and not {brief(told)}")
    run.aside(told, "summary")
    return words(told) or gist(left_out)


@dataclass
class Cut:
    """One jump: what stands from `start` on is kept, and it was made behind `end` messages."""

    start: int
    end: int
    forced: bool
    words: str = ""  # the summary, once it is written
    opening: list[Message] = field(default_factory=list)  # what is sent of all up to `end`


class Cuts:
    """Where an array is cut. Each message is looked at once, in order, and nothing else counts."""

    def __init__(self, at: float, keep: int) -> None:
        self.at, self.keep = at, keep
        self.head = 0  # the prompt: the messages before the first reply
        self.sizes = [0.0]  # of so many messages
        self.rounds: list[int] = []  # where each began
        self.made: list[Cut] = []
        self.written = 0  # how many of them have their summary

    @property
    def seen(self) -> int:
        """How many messages were looked at."""
        return len(self.sizes) - 1

    def read(self, messages: list[Message]) -> None:
        """Look at the messages that came since."""
        for end in range(self.seen + 1, len(messages) + 1):
            last = messages[end - 1]
            self.sizes.append(self.sizes[-1] + size(last))
            if last["role"] == "user":
                self.head = end if not self.rounds else self.head
                self.cut(end, says_full(last))
            elif end == 1 or messages[end - 2]["role"] == "user":
                self.rounds.append(end - 1)

    def cut(self, end: int, forced: bool) -> None:
        """Cut here if it is time, and if there is something to leave out."""
        if not (forced or self.due(end)):
            return
        again = bool(forced and self.made and self.made[-1].forced)
        before = self.made[-1].start if self.made else self.head
        few = min(2, self.keep)
        for keep in (few,) if again else (self.keep, few) if forced else (self.keep,):
            if len(self.rounds) > keep and self.rounds[-keep] > before:
                self.made.append(Cut(self.rounds[-keep], end, forced))
                return

    def due(self, end: int) -> bool:
        """Whether what is sent has grown too long, and enough of it is new."""
        start, last = (self.made[-1].start, self.made[-1].end) if self.made else (self.head, 0)
        sent = self.sizes[self.head] + self.sizes[end] - self.sizes[start]
        return sent > self.at and self.sizes[end] - self.sizes[last] > self.at / 2

    def summarise(self, messages: list[Message], write: Callable[[list[Message]], str]) -> None:
        """Have the summaries written that are not there yet, each from the one before it."""
        while self.written < len(self.made):
            cut, earlier = self.made[self.written], self.made[: self.written][-1:]
            start = earlier[0].start if earlier else self.head
            left_out = [m for m in messages[start : cut.start] if not only_says_full(m)]
            told = write([*(user(each.words) for each in earlier), *left_out])
            cut.words = f"{HEADING}\n{told}"
            cut.opening = [*messages[: self.head], *shortened(messages, cut)]
            self.written += 1

    def applied(self, messages: list[Message]) -> list[Message]:
        """The prompt, the summary, the last rounds before the cut, and all since."""
        return [*self.made[-1].opening, *messages[self.made[-1].end :]]


def shortened(messages: list[Message], cut: Cut) -> list[Message]:
    """The summary, and the rounds that are kept behind it.

    Where they hold thinking they are told in words: the newest models take it in its own
    place alone, and no model takes it changed.
    """
    kept = settled(messages[cut.start - 1 : cut.end])
    if any(map(thought, kept)):
        return [user(f"{cut.words}\n\n{LAST}\n{transcript(kept)}")]
    return [user(cut.words), *kept]


def settled(messages: list[Message]) -> list[Message]:
    """All but the first, without the sign to cut where it would stand behind unread results."""
    return [
        message
        for before, message in pairwise(messages)
        if not (before["role"] == "user" and only_says_full(message))
    ]


def thought(message: Message) -> bool:
    """Whether there is thinking in a message."""
    return any("thinking" in block["type"] for block in blocks(message))


def size(message: Message) -> float:
    """How many tokens a message is, by estimate."""
    return len(json.dumps(message, ensure_ascii=False, default=str)) / CHARACTERS


@dataclass(frozen=True)
class Payback:
    """After how many rounds a compaction has paid for itself; None if it never does."""

    rounds: int | None
    words: str

    def __str__(self) -> str:
        return self.words


def payback(
    left_out: float,
    kept: float,
    summary: float,
    read: float = 0.1,
    write: float = 1.25,
    output: float = 5.0,
    by_model: bool = True,
) -> Payback:
    """What a compaction costs and saves, in tokens at the price of input.

    `left_out` is read no more; `summary` and `kept` behind it are written anew. A model that
    writes the summary reads what is left out, and its words are output. The multipliers are
    those of a model against its price of input.
    """
    asked = left_out + summary * output if by_model else 0.0
    once = asked + (summary + kept) * (write - read)
    each = (left_out - summary) * read
    if each <= 0:
        told = "It never pays: the summary is as long as what it replaces."
        return Payback(None, told)
    rounds = ceil(once / each)
    told = (
        f"The jump costs {once:,.0f} tokens at the price of input and saves {each:,.0f} a round:"
        f" it has paid after {plural(rounds, 'round')}."
    )
    return Payback(rounds, told)
