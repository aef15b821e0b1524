"""The journal: what a run did, written down so that running again does none of it twice.

A **step** is one effect with one outcome: a model call, a tool call, or whatever else is made
one by `Journal.step`. Its **intent** is written before the effect and its outcome after it. To
**resume** is to run again with the same journal: as long as steps are recorded their outcomes
stand in place of the effects, and what comes after that is done and written down.

An intent without an outcome is **in doubt**: the process died in between, and nobody knows
whether the effect happened. What is done then is told by `Journal.doubts`.

A replay is held to what was asked: a model call by the number of its messages and the last one, a
tool's call by its name, id and input, a turn by its prompt. Another system prompt and other tools
are no divergence, since what was done stands: that they have changed is told in a sentence.

The file holds prompts, replies, the tools' inputs and their results, in clear. Keys are masked
as in a recording, so a resumed run has a mask where the first one had a key.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from harness_zero.brief import brief
from harness_zero.doubt import fingerprint, key_of, runs_again, takes
from harness_zero.faults import SetupFault
from harness_zero.journal_file import Busy, Line, NoJournal, Sync, as_json
from harness_zero.journal_steps import Effect, Scribe, Tell
from harness_zero.journal_words import (
    AGAIN,
    LATE,
    LEFT,
    LOST_KEY,
    OTHER_HEAD,
    PAID,
    STANDS_IN,
    UNKNOWN,
    Doubt,
    diverged,
    gist,
    in_doubt,
    unmarked,
    unmarked_head,
)
from harness_zero.keys import MASK
from harness_zero.labels import End, Label, Say
from harness_zero.late import found, news
from harness_zero.layers import layer
from harness_zero.messages import Block, Reply, reply_fault, tool_result, tool_uses, words
from harness_zero.models.recorded import Diverged
from harness_zero.past import Entry
from harness_zero.ports import Model, Policy, Request, Tool
from harness_zero.run import Clock, Run, refuse_unless_words

Harness = Callable[[Run], Run]
Function = Callable[..., Any]

JOURNALED = "the journal of the model"  # the layer
HEAD = ("system", "tools")  # of a request


class InDoubt(SetupFault):
    """A step of one's own is in doubt, and nobody has said what to do then."""


def nobody(sentence: str) -> None:
    """Nobody is told."""


class Journal:
    """A run's journal. It is opened by the first turn, or by `with`; one run holds it at a time.

    `run` names a new journal's run, for the keys of its calls; unless given it is drawn. `tell`
    hears in a sentence what was left out of the file, and what is done about a step in doubt.
    `place` is noted in a new journal: where its effects happen.
    """

    def __init__(
        self,
        path: str | Path,
        sync: Sync = "flush",
        run: str = "",
        tell: Tell = nobody,
        place: str | Path = "",
    ) -> None:
        if not isinstance(run, str):
            raise SetupFault(f"a journal's run is named by a word, not {run!r:.80}")
        self.path = Path(path)
        self.scribe = Scribe(self.path, sync, run, tell, str(place))
        self.taken = 0  # prompts of the queue
        self.unseen: dict[int, Block] = {}  # calls told as unknown, whose receipt may still come
        self.keyless: set[str] = set()  # calls whose input lost a key on the way into the file
        self.open_turns: set[int] = set()  # by how many steps they are played in
        self.other_head = False  # whether it was said that system prompt or tools have changed
        self.arriving = Lock()

    def open(self) -> "Journal":
        """Take the file and read it. Busy if another run has it, NoJournal if it is none."""
        self.scribe.open()
        return self

    def close(self) -> None:
        """Let the file go. What was recorded is passed again by whoever opens it next."""
        self.scribe.close()

    def __enter__(self) -> "Journal":
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaying(self) -> bool:
        """Whether what comes next was recorded."""
        return not self.scribe.past.over

    @property
    def steps(self) -> int:
        """How many steps were begun."""
        return self.scribe.past.steps

    @property
    def place(self) -> str:
        """Where its effects happened, if that was noted."""
        return self.scribe.place

    @property
    def label(self) -> str | None:
        """How the last recorded turn ended; nothing if it was cut off or there is none."""
        return self.scribe.past.label

    @property
    def prompts(self) -> list[str]:
        """The prompts of the recorded turns of the user."""
        return self.scribe.past.asked

    @property
    def doubts(self) -> list[Doubt]:
        """The steps that were in doubt when this process came to them, and what was done."""
        return self.scribe.doubts

    @property
    def note(self) -> str:
        """What of the file was left out; nothing if nothing was."""
        return self.scribe.note

    # what is made a step

    def model(self, model: Model) -> Model:
        """The same model; each call is a step. One that is in doubt is asked again."""

        def speak(request: Request) -> Reply:
            self.scribe.look_up_keys()
            ask, recorded = partial(model, request), self.scribe.past.next
            asks, head = {"model": self.sent(request)}, self.head(request)
            reply = self.scribe.perform(
                asks, ask, lambda entry: self.scribe.again(entry, ask, PAID), **head
            )
            if recorded and recorded.line.get("head") != head.get("head"):
                self.note_other_head(recorded)
            if recorded and (recorded.outcome or {}).get("masked") and not reply_fault(reply):
                self.keyless |= {call["id"] for call in tool_uses(reply) if MASK in str(call)}
            return reply

        return layer(JOURNALED, speak, model)

    def sent(self, request: Request) -> Line:
        """A request as it is known again: how many messages, and the last one of them."""
        if not isinstance(request, dict) or not request.get("messages"):
            what = f"a model is sent a request with messages, not {brief(request)}"
            raise SetupFault(f"{what}; for one that takes the messages alone: of_messages(model)")
        messages = request["messages"]
        last = self.scribe.without_keys(unmarked(messages[-1]))
        return {"messages": len(messages), "last": fingerprint(last)[:16], "says": gist(last)}

    def head(self, request: Request) -> Line:
        """The system prompt and the tools of a request, in short; nothing if it has none."""
        head = {name: unmarked_head(request[name]) for name in HEAD if request.get(name)}
        return {"head": fingerprint(self.scribe.without_keys(head))[:16]} if head else {}

    def note_other_head(self, recorded: Entry) -> None:
        """Say once that the model is told something else than it was, or has other tools."""
        if not self.other_head:
            self.other_head = True
            self.scribe.tell(OTHER_HEAD.format(path=self.path, number=recorded.line["begin"]))

    def tool(self, tool: Tool, functions: Mapping[str, Function] | None = None) -> Tool:
        """The same tool; each call is a step. What the functions declare decides in doubt."""
        known = functions or {}

        def answer(call: Block) -> Block:
            function, key = known.get(call["name"]), key_of(self.scribe.run, call)
            make = partial(tool, {**call, "key": key, "receipt": str(self.receipt(key))})
            if call["id"] in self.keyless:
                make = partial(tool_result, call["id"], LOST_KEY, is_error=True)
            asks = {"tool": call["name"], "id": call["id"], "input": call["input"]}
            recorded = self.scribe.past.next
            result = self.scribe.perform(
                asks, make, lambda entry: self.unsure(entry, call, make, function), key=key
            )
            if recorded and (recorded.outcome or {}).get("unknown"):
                self.await_receipt(recorded, call, function)
            return result

        return layer("the journal of tools", answer, tool)

    def unsure(self, entry: Entry, call: Block, make: Effect, function: Function | None) -> Block:
        """The result of a call of which nobody saw the end."""
        if (left := found(self.receipt(entry.line["key"]))) is not None:
            return self.scribe.leave(entry, tool_result(call["id"], left), LATE)
        if runs_again(function) and call["id"] not in self.keyless:
            return self.scribe.again(entry, make, AGAIN)
        result = tool_result(call["id"], UNKNOWN.format(name=call["name"]), is_error=True)
        return self.scribe.leave(entry, result, LEFT, unknown=True)

    def step(self, name: str, effect: Function, unknown: Function | None = None) -> Function:
        """Any function of JSON as a step. In doubt it is made again if it declares that it may be.

        Else `unknown` gives an outcome in its place; without it, InDoubt is raised. What it gives
        back is what a replay reads from the file: a tuple is a list, and names are words.
        """
        if not isinstance(name, str) or not callable(effect):
            raise SetupFault(f"a step is a name and a function, not {name!r:.80}, {effect!r:.80}")

        def made(*given: Any) -> Any:
            make = partial(effect, *given)

            def unsure(entry: Entry) -> Any:
                if runs_again(effect):
                    return self.scribe.again(entry, make, AGAIN)
                if unknown is None:
                    raise InDoubt(in_doubt(entry.line))
                return self.scribe.leave(entry, unknown(*given), STANDS_IN)

            asks = {"step": name, "given": as_json([*given])}
            return as_json(self.scribe.perform(asks, make, unsure))

        return made

    def clock(self, clock: Clock = monotonic) -> Clock:
        """A clock that reads the same in a replay. It stands still between steps."""
        self.scribe.clock.follow(clock)
        return self.scribe.clock

    # turns

    def harness(self, harness: Harness) -> Harness:
        """The same harness, its turns journaled. It ends as `busy` if another run has the file."""

        def play(run: Run) -> Run:
            try:
                self.open()
            except Busy as busy:
                return run.close(End(Label.BUSY, str(busy)))
            self.begin_turn(run)
            return self.end_turn(harness(run))

        return play

    def begin_turn(self, run: Run) -> None:
        """Note that a turn begins, and let the run go by the journal's clock."""
        past, depth = self.scribe.past, len(self.scribe.inside)
        if run.clock is not self.scribe.clock:  # a child goes by the clock of its parent
            run.clock = self.scribe.clock if depth else self.clock(run.clock)
        asks = self.scribe.without_keys({"prompt": words(run.messages[-1])})
        if entry := past.next:
            self.pass_or_diverge(entry, "prompt", asks)
        else:
            if depth in self.open_turns:
                self.scribe.write_place({"ended": Label.INTERRUPTED, "why": "by the user"})
            past.turns += 1
            self.scribe.write_place({"turn": past.turns, **asks})
        self.open_turns = {turn for turn in self.open_turns if turn < depth} | {depth}
        run.began = run.moved = run.clock()

    def end_turn(self, run: Run) -> Run:
        """Note how a turn ended. One that was interrupted is still open: it can be resumed."""
        entry = self.scribe.past.next
        ended = self.scribe.without_keys({"ended": str(run.label), "why": str(run.why)})
        if run.label is Label.INTERRUPTED and not (entry and entry.kind == "ended"):
            return run
        if entry:
            self.pass_or_diverge(entry, "ended", ended)
        else:
            self.scribe.write_place(ended)
        self.open_turns.discard(len(self.scribe.inside))
        return run

    def pass_or_diverge(self, entry: Entry, name: str, asks: Line) -> None:
        """Pass the beginning or the end of a turn, if this is the recorded one."""
        if entry.line.get(name) != asks[name]:
            raise Diverged(diverged(self.path, entry.line, asks))
        self.scribe.passed(entry)

    # what arrives from outside: prompts, and outcomes that come late

    def put(self, prompt: str) -> None:
        """Put a prompt that arrives during the run into the queue; from any thread."""
        refuse_unless_words(prompt)
        with self.arriving:
            line = self.scribe.write(self.scribe.without_keys({"put": prompt}))
            self.scribe.past.prompts.append(line["put"])

    def take(self) -> str | None:
        """The next prompt of the queue; nothing if none waits. It is taken once, crash or not."""
        prompts = self.scribe.past.prompts
        waits = self.taken < len(prompts)
        if not self.scribe.look("take", lambda: {"take": self.taken + 1} if waits else None):
            return None
        self.taken += 1
        return prompts[self.taken - 1]

    @property
    def waiting(self) -> list[str]:
        """The prompts of the queue that no turn was opened with."""
        past = self.scribe.past
        to_take = sum(entry.kind == "take" for entry in past.entries[past.cursor :])
        return past.prompts[self.taken + to_take :]

    def policy(self, stop: Policy) -> Policy:
        """The same stop; outcomes that come late are told first, and the model may act on them."""

        def policy(run: Run) -> Say | End | None:
            word = stop(run)
            if isinstance(word, End) and word.label is not Label.FINISHED:
                return word
            late = self.scribe.look("late", self.arrived)
            if late is None:
                return word
            told = news(self.unseen.pop(late["late"]), late["gave"])
            return Say(f"{word.text}\n\n{told}" if isinstance(word, Say) else told)

        return policy

    def receipt(self, key: str) -> Path:
        """Where the process of a call may leave its outcome."""
        return self.path.with_name(f"{self.path.name}.receipts") / key

    def await_receipt(self, recorded: Entry, call: Block, function: Function | None) -> None:
        """Look out for the outcome of an unknown call, if its process can leave one."""
        if function and "receipt" in takes(function):
            self.unseen[recorded.line["begin"]] = {**call, "key": recorded.line["key"]}

    def arrived(self) -> Line | None:
        """A late outcome that has come since, if one has."""
        for number, call in self.unseen.items():
            if (gave := found(self.receipt(call["key"]))) is not None:
                return {"late": number, "gave": gave}
        return None


__all__ = ["Busy", "Diverged", "Doubt", "InDoubt", "Journal", "NoJournal"]
