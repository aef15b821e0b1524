"""The run so far. Policies read it; only the loop writes it.

A call's answer is written before the call is made, as "outcome unknown", and
replaced by the outcome. So an interrupt at any line leaves a run that `close`
can make whole by going over the last message alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

from harness_zero.faults import SetupFault
from harness_zero.labels import End, Label
from harness_zero.marks import unmarked
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    not_executed,
    outcome_unknown,
    reply_fault,
    said,
    tokens,
    tool_uses,
    user,
    with_words,
    words,
)

Clock = Callable[[], float]  # seconds; only differences count


class BrokenArray(SetupFault):
    """A run cannot start from this array: which message, which id, and how to mend it."""


class Misused(SetupFault):
    """A run was written in a way that it does not take; the sentence says which one it takes."""


def refuse_unless_words(prompt: object) -> None:
    """Raise unless a turn can be opened with this."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise SetupFault(f"a prompt is words, not {prompt!r:.80}")


class Run:
    """Wire messages, full replies, and totals that cost the same in round 5 and round 5,000.

    A turn goes from a user's message to its end, a run is the whole array over all
    its turns. `rounds` and `elapsed` count for the turn, `tokens` and `cost_usd` for the run.
    """

    def __init__(self, prompt: str, clock: Clock = monotonic) -> None:
        self.start([], clock)
        self.ask(prompt)

    @classmethod
    def of(cls, messages: list[Message], clock: Clock = monotonic) -> Run:
        """A run that goes on from these messages. BrokenArray if they are; nothing is repaired.

        Cache marks, which belong to the request that they came from, are left out.
        """
        if fault := array_fault(messages):
            raise BrokenArray(f"{fault}. Mend the array, then start from it again.")
        run = cls.__new__(cls)
        run.start([unmarked(message) for message in messages], clock)
        run.open_turn()
        return run

    def start(self, messages: list[Message], clock: Clock) -> None:
        """Begin with these messages and nothing spent."""
        self.messages = messages
        self.replies: list[Reply] = []
        self.spoken: list[tuple[int, str]] = []  # a policy's words, and at how many messages
        self.asides: list[tuple[int, str, Reply]] = []  # at how many messages, who asked, the reply
        self.limits: dict[str, float] = {}  # what the brakes of the last turn hold to
        self.clock = clock
        self.tokens = 0
        self.cost_usd = 0.0
        self.unpriced = 0  # replies whose price nobody knows; cost_usd leaves them out

    def open_turn(self) -> None:
        """Rounds and time count from here."""
        self.label: Label | None = None
        self.why = ""
        self.rounds = 0  # how often a model was asked in this turn, beside the array too
        self.earlier = len(self.replies)  # the replies of the turns before
        self.idle_from = len(self.spoken)  # the words from here on followed the last call
        self.began = self.moved = self.clock()  # the turn; and the last step that came back
        self.last_word: Reply | None = None  # the reply that nobody has answered yet
        self.pending: list[Block] = []  # its calls that have not been begun, in order
        self.results: list[Block] = []  # the answers to its calls so far
        self.held: list[str] = []  # words that wait for a place where they do no harm

    def ask(self, prompt: str) -> Run:
        """Open a turn with the user's message."""
        refuse_unless_words(prompt)
        self.open_turn()
        self.messages.append(user(prompt))
        return self

    @property
    def elapsed(self) -> float:
        """Seconds since the turn began."""
        return self.clock() - self.began

    @property
    def text(self) -> str:
        """What the model said last in words; nothing if its last message has none."""
        last = next((m for m in reversed(self.messages) if m["role"] == "assistant"), None)
        return words(last) if last else ""

    @property
    def paused(self) -> bool:
        """Whether the server paused and wants the same array again, with nothing in between."""
        return self.last_word is not None and self.last_word["stop_reason"] == "pause_turn"

    def last(self, count: int) -> list[Reply]:
        """The last replies of this turn, `count` at most."""
        return self.replies[max(self.earlier, len(self.replies) - count) :]

    def backwards(self) -> Iterator[Reply]:
        """The replies of this turn, the newest first."""
        return (self.replies[n] for n in range(len(self.replies) - 1, self.earlier - 1, -1))

    def hear(self, reply: Reply) -> None:
        """Take in a reply. Only one that ended in order to call tools has them run."""
        message, self.moved = said(reply), self.clock()
        self.pending, self.results = tool_uses(message), []
        self.replies.append(reply)
        self.count(reply)
        if message["content"]:  # an empty reply is never sent back
            self.messages.append(message)
        if self.pending and reply["stop_reason"] != "tool_use":
            self.decline(self.pending, f"the reply ended with {reply['stop_reason']}")
        self.last_word = reply
        if self.held and not self.pending and not self.paused:
            self.speak_held()

    def count(self, reply: Reply) -> None:
        """Add a reply to the totals."""
        self.rounds += 1
        self.tokens += tokens(reply["usage"])
        cost = reply.get("cost_usd", 0.0)
        self.unpriced += cost is None
        self.cost_usd += cost or 0.0

    def aside(self, reply: Reply, asked_by: str = "") -> None:
        """Count a call of a model that leaves the array alone: a judge's, say."""
        fault = reply_fault(reply)
        if fault or not isinstance(asked_by, str) or not asked_by:
            takes = "run.aside takes a reply and who asked for it: run.aside(reply, 'the judge')"
            raise Misused(f"{takes}; {fault or 'it was not told who asked'}")
        self.asides.append((len(self.messages), asked_by, reply))
        self.moved = self.clock()
        self.count(reply)

    def begin(self) -> Block:
        """Take the next pending call, and write down that its outcome is not known yet."""
        if not self.pending:
            raise Misused("run.begin() hands out the next call that waits, and none does")
        call = self.pending.pop(0)
        self.results.append(outcome_unknown(call))
        self.idle_from = len(self.spoken)
        return call

    def answer(self, result: Block) -> None:
        """Put an outcome in its place; with the last one the results become a message."""
        takes = "run.answer takes the result of the call that run.begin() handed out last"
        if not self.results:
            raise Misused(f"{takes}, and none was handed out")
        expected, given = self.results[-1]["tool_use_id"], result.get("tool_use_id")
        if given != expected:
            raise Misused(
                f"{takes}: expected that of {expected}, got that of {given}. "
                "Each begin is followed by its answer"
            )
        self.results[-1], self.moved = result, self.clock()
        if not self.pending:
            self.settle()

    def settle(self) -> None:
        """All calls are answered: the results are the user's next message."""
        self.messages.append({"role": "user", "content": self.results})
        self.last_word = None
        self.speak_held()

    def say(self, text: str) -> None:
        """Let words in where they do no harm.

        They enter the last result while the model has not read it, since text after
        results teaches a model to answer nothing; they wait while calls are pending
        or the server has paused; else they are a message of the user.
        """
        if not isinstance(text, str):
            kind = type(text).__name__
            meant = "its text: run.say(word.text)" if hasattr(text, "text") else "a text"
            raise Misused(f"run.say was given a {kind}, not {meant}")
        self.spoken.append((len(self.messages), text))
        self.let_in(text)

    def let_in(self, text: str) -> None:
        """Put words where they do no harm now, or hold them until there is such a place."""
        if self.pending or self.paused:
            self.held.append(text)
        elif self.results:
            self.results[-1] = with_words(self.results[-1], text)
            self.last_word = None
        else:
            self.messages.append(user(text))
            self.last_word = None

    def speak_held(self) -> None:
        """Say what had to wait."""
        held, self.held = self.held, []
        for text in held:
            self.let_in(text)

    def decline(self, calls: list[Block], why: str) -> None:
        """Answer calls that will not be made."""
        self.pending = []
        self.results += [not_executed(call, why) for call in calls]
        self.settle()

    def close(self, end: End) -> Run:
        """Leave no call unanswered, and say how the turn ended."""
        if not isinstance(end, End):
            raise Misused(f"run.close takes an End, and was given {end!r:.80}")
        last = self.messages[-1]
        if last["role"] == "assistant" and (calls := tool_uses(last)):
            self.decline(calls[len(self.results) :], end.label)
        self.label, self.why = end.label, end.why
        return self
