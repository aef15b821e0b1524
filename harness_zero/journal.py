"""The journal: what a run did, written down so that running again does none of it twice.

A **step** is one effect with one outcome: a model call, a tool call, or whatever else is made
one by `Journal.step`. Its **intent** is written before the effect and its outcome after it. To
**resume** is to run again with the same journal: as long as steps are recorded their outcomes
stand in place of the effects, and what comes after that is done and written down.

An intent without an outcome is **in doubt**: the process died in between, and nobody knows
whether the effect happened. What then is done is told by `Journal.doubts`.

A file holds prompts, replies, the tools' inputs and their results, in clear; keys are masked.
"""

from collections.abc import Callable, Mapping
from functools import partial
from os import urandom
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from harness_zero.doubt import fingerprint, key_of, runs_again, takes
from harness_zero.faults import SetupFault
from harness_zero.journal_clock import Ticking
from harness_zero.journal_file import VERSION, Busy, JournalFile, Line, NoJournal, Sync, encoded
from harness_zero.journal_words import (
    AGAIN,
    LATE,
    LEFT,
    LOST_KEY,
    PAID,
    UNKNOWN,
    Doubt,
    cut_off,
    diverged,
    gist,
    in_doubt,
    told,
    unmarked,
)
from harness_zero.keys import MASK, Kept, within
from harness_zero.labels import End, Label, Say
from harness_zero.late import found, news
from harness_zero.messages import Block, Reply, tool_result, tool_uses, words
from harness_zero.models.recorded import Diverged, as_error, as_failure
from harness_zero.past import Entry, Past
from harness_zero.ports import Model, Policy, Request, Tool
from harness_zero.run import Clock, Run

Harness = Callable[[Run], Run]
Effect = Callable[[], Any]
Settle = Callable[[Entry], Any]  # what becomes of a step in doubt
Tell = Callable[[str], None]


def silent(sentence: str) -> None:
    """Tell nobody."""


Functions = Mapping[str, Callable[..., Any]]


class InDoubt(SetupFault):
    """A step of one's own is in doubt, and nobody has said what to do then."""


class Journal:
    """A run's journal. It is opened by the first turn, or by `with`; one run holds it at a time.

    `run` names a new journal's run, for the keys of its calls; unless given it is drawn. `tell`
    hears in a sentence what was left out of the file, and what is done about a step in doubt.
    """

    def __init__(
        self, path: str | Path, sync: Sync = "flush", run: str = "", tell: Tell = silent
    ) -> None:
        self.path, self.sync, self.run, self.tell = Path(path), sync, run, tell
        self.file: JournalFile | None = None
        self.past = Past()
        self.ticking = Ticking()
        self.doubts: list[Doubt] = []
        self.note = ""  # what of the file was left out
        self.in_vain = 0  # how often since the last line somebody looked and nothing had arrived
        self.taken = 0  # prompts of the queue
        self.unseen: dict[int, Block] = {}  # calls told as unknown, whose receipt may still come
        self.keyless: set[str] = set()  # calls whose input lost a key on the way into the file
        self.kept, self.secrets = Kept(), list[str]()
        self.in_turn = False
        self.arriving = Lock()

    def open(self) -> "Journal":
        """Take the file and read it. Busy if another run has it, NoJournal if it is none."""
        if self.file is None:
            self.file = JournalFile(self.path, self.sync)
            self.secrets = self.kept.now()
            if note := cut_off(self.file.cut):
                self.note = f"{self.path}: {note}"
                self.tell(self.note)
            head, *lines = self.file.lines or [self.begin_file()]
            self.run, self.past = head["run"], Past.of(lines)
        return self

    def begin_file(self) -> Line:
        """Write the head of a new journal."""
        head = {"journal": VERSION, "run": self.run or urandom(8).hex()}
        self.write(head)
        if self.file:
            self.file.settle_name()
        return head

    def close(self) -> None:
        """Let the file go. What was recorded is passed again by whoever opens it next."""
        if self.file:
            self.file.close()

    def __enter__(self) -> "Journal":
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaying(self) -> bool:
        """Whether what comes next was recorded."""
        return not self.past.over

    @property
    def label(self) -> str | None:
        """How the last recorded turn ended; nothing if it was cut off or there is none."""
        return self.past.label

    @property
    def prompts(self) -> list[str]:
        """The prompts of the recorded turns."""
        return [entry.line["prompt"] for entry in self.past.entries if entry.kind == "turn"]

    def without_keys(self, value: Any) -> Any:
        """JSON as it is written down: where a key stands there is a mask."""
        try:
            return within(value, self.secrets)
        except RecursionError as error:
            raise NoJournal(f"a value cannot be written, it is no JSON: {error}") from error

    def write(self, line: Line) -> Line:
        """Append a line that holds no key."""
        if self.file is None:
            raise SetupFault(f"the journal {self.path} is not open: use it in a `with`")
        try:
            self.file.append(encoded(line))
        except (TypeError, ValueError, RecursionError) as error:
            kind = next(iter(line))
            raise NoJournal(f"a line {kind!r} cannot be written, it is no JSON: {error}") from error
        return line

    def write_place(self, line: Line) -> Line:
        """Append a line that stands for a place in the run, with the time."""
        self.in_vain = 0
        return self.write({**line, "at": self.ticking.stamp()})

    def passed(self, entry: Entry) -> Line:
        """Pass an entry of the recorded run."""
        self.past.cursor += 1
        self.ticking.at, self.in_vain = entry.line["at"], 0
        return entry.line

    # one step

    def perform(
        self, asks: Line, effect: Effect, doubt: Callable[[Entry], Any], **more: Any
    ) -> Any:
        """One step: its recorded outcome, or the effect between its intent and its outcome."""
        entry, asks = self.past.next, self.without_keys(asks)
        if entry is None:
            number = self.past.steps = self.past.steps + 1
            self.write_place({"begin": number, **asks, **more})
            return self.carry_out(number, effect)
        self.hold(entry, asks)
        self.passed(entry)
        if entry.outcome is None:
            return self.settle(entry, doubt)
        self.past.cursor, self.ticking.at = entry.behind, entry.outcome["at"]
        return recalled(entry.outcome)

    def hold(self, entry: Entry, asks: Line) -> None:
        """Diverged unless this is the recorded step. A recorded interrupt comes again."""
        if entry.line.get("ended") == Label.INTERRUPTED:
            raise KeyboardInterrupt
        if entry.kind != "begin" or entry.asks != asks:
            raise Diverged(diverged(self.path, entry.line, asks))

    def carry_out(self, number: int, effect: Effect) -> Any:
        """Let an effect happen, and write down what came of it."""
        try:
            outcome = effect()
        except Exception as error:
            self.write_place({"end": number, "failed": as_failure(error)})
            raise
        self.put_down(number, outcome)
        return outcome

    def put_down(self, number: int, outcome: Any, **more: Any) -> Line:
        """Write an outcome down; where a key was masked in it, that is said."""
        gave = self.without_keys(outcome)
        masked = {"masked": True} if gave != outcome else {}
        return self.write_place({"end": number, "gave": gave, **masked, **more})

    def settle(self, entry: Entry, doubt: Settle) -> Any:
        """What is done about a step in doubt. An interrupt that ended its turn comes again."""
        if (follows := self.past.next) and follows.line.get("ended") == Label.INTERRUPTED:
            raise KeyboardInterrupt
        return doubt(entry)

    def again(self, entry: Entry, effect: Effect, done: str) -> Any:
        """Make a step in doubt once more."""
        number = self.note_doubt(entry, done)
        self.ticking.start()
        self.write({"again": number})
        return self.carry_out(number, effect)

    def note_doubt(self, entry: Entry, done: str) -> int:
        """Say what is in doubt and what is done about it; gives back the number of the step."""
        doubt = Doubt(entry.line["begin"], told(entry.line), done)
        self.doubts.append(doubt)
        self.tell(str(doubt))
        return doubt.number

    def leave(self, entry: Entry, outcome: Any, done: str, **more: Any) -> Any:
        """Give a step in doubt an outcome without making it again."""
        number = self.note_doubt(entry, done)
        self.past.skip_inside()
        entry.outcome = self.put_down(number, outcome, **more)
        return outcome

    # what is made a step

    def model(self, model: Model) -> Model:
        """The same model; each call is a step. One that is in doubt is asked again."""

        def speak(request: Request) -> Reply:
            self.secrets = self.kept.now()
            ask = partial(model, request)
            asks, recorded = {"model": self.sent(request)}, self.past.next
            reply = self.perform(asks, ask, lambda entry: self.again(entry, ask, PAID))
            if recorded and (recorded.outcome or {}).get("masked"):
                self.keyless |= {call["id"] for call in tool_uses(reply) if MASK in str(call)}
            return reply

        return speak

    def sent(self, request: Request) -> Line:
        """A request as it is known again: how many messages, and the last one of them."""
        messages = request["messages"]
        last = self.without_keys(unmarked(messages[-1]))
        return {"messages": len(messages), "last": fingerprint(last)[:16], "says": gist(last)}

    def tool(self, tool: Tool, functions: Functions | None = None) -> Tool:
        """The same tool; each call is a step. What the functions declare decides in doubt."""
        known = functions or {}

        def answer(call: Block) -> Block:
            function, key = known.get(call["name"]), key_of(self.run, call)
            asks = {"tool": call["name"], "id": call["id"], "input": call["input"]}
            given = {"key": key, "receipt": str(self.receipt(key))}
            make = partial(tool, {**call, **given})
            if call["id"] in self.keyless:
                make = partial(tool_result, call["id"], LOST_KEY, is_error=True)
            recorded = self.past.next
            result = self.perform(
                asks, make, lambda entry: self.unsure(entry, call, make, function), key=key
            )
            if recorded and (recorded.outcome or {}).get("unknown"):
                self.await_receipt(recorded, call, function)
            return result

        return answer

    def await_receipt(
        self, recorded: Entry, call: Block, function: Callable[..., Any] | None
    ) -> None:
        """Look out for the outcome of an unknown call, if its process can leave one."""
        if function and "receipt" in takes(function):
            self.unseen[recorded.line["begin"]] = {**call, "key": recorded.line["key"]}

    def unsure(
        self, entry: Entry, call: Block, make: Effect, function: Callable[..., Any] | None
    ) -> Block:
        """The result of a call of which nobody saw the end."""
        if (left := found(self.receipt(entry.line["key"]))) is not None:
            return self.leave(entry, tool_result(call["id"], left), LATE)
        if runs_again(function) and call["id"] not in self.keyless:
            return self.again(entry, make, AGAIN)
        result = tool_result(call["id"], UNKNOWN.format(name=call["name"]), is_error=True)
        return self.leave(entry, result, LEFT, unknown=True)

    def receipt(self, key: str) -> Path:
        """Where the process of a call may leave its outcome."""
        return self.path.with_name(f"{self.path.name}.receipts") / key

    def step(
        self, name: str, effect: Callable[..., Any], unknown: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """Any function of JSON as a step. In doubt it is made again if it declares that it may be.

        Else `unknown` gives an outcome in its place; without it, InDoubt is raised.
        """

        def made(*given: Any) -> Any:
            again = partial(effect, *given)

            def doubt(entry: Entry) -> Any:
                if runs_again(effect):
                    return self.again(entry, again, AGAIN)
                if unknown is None:
                    raise InDoubt(in_doubt(entry.line))
                return self.leave(entry, unknown(*given), "given what stands for unknown")

            return self.perform({"step": name, "given": [*given]}, again, doubt)

        return made

    def clock(self, clock: Clock = monotonic) -> Clock:
        """A clock that reads the same in a replay. It stands still between steps."""
        self.ticking.source = clock
        return self.ticking

    # turns, and what arrives from outside

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
        if run.clock is not self.ticking:
            run.clock = self.clock(run.clock)
        asks = self.without_keys({"prompt": words(run.messages[-1])})
        if entry := self.past.next:
            if entry.line.get("prompt") != asks["prompt"]:
                raise Diverged(diverged(self.path, entry.line, asks))
            self.passed(entry)
        else:
            if self.in_turn:
                self.write_place({"ended": Label.INTERRUPTED, "why": "by the user"})
            self.past.turns += 1
            self.write_place({"turn": self.past.turns, **asks})
        self.in_turn = True
        run.began = run.moved = run.clock()

    def end_turn(self, run: Run) -> Run:
        """Note how a turn ended. One that was interrupted is still open: it can be resumed."""
        if run.label is Label.INTERRUPTED:
            if self.past.next_is("ended"):
                self.passed(self.past.entries[self.past.cursor])
                self.in_turn = False
            return run
        ended = self.without_keys({"ended": str(run.label), "why": run.why})
        if entry := self.past.next:
            if entry.line.get("ended") != run.label:
                raise Diverged(diverged(self.path, entry.line, ended))
            self.passed(entry)
        else:
            self.write_place(ended)
        self.in_turn = False
        return run

    def put(self, prompt: str) -> None:
        """Put a prompt that arrives during the run into the queue; from any thread."""
        with self.arriving:
            self.past.prompts.append(self.write(self.without_keys({"put": prompt}))["put"])

    def take(self) -> str | None:
        """The next prompt of the queue; nothing if none waits. It is taken once, crash or not."""
        waits = self.taken < len(self.past.prompts)
        if not self.look("take", lambda: {"take": self.taken + 1} if waits else None):
            return None
        self.taken += 1
        return self.past.prompts[self.taken - 1]

    @property
    def waiting(self) -> int:
        """How many prompts wait in the queue."""
        to_come = self.past.entries[self.past.cursor :]
        return len(self.past.prompts) - self.taken - sum(e.kind == "take" for e in to_come)

    def policy(self, stop: Policy) -> Policy:
        """The same stop; outcomes that come late are told first, and the model may act on them."""

        def policy(run: Run) -> Say | End | None:
            word = stop(run)
            if isinstance(word, End) and word.label is not Label.FINISHED:
                return word
            late = self.look("late", self.arrived)
            if late is None:
                return word
            call = self.unseen.pop(late["late"])
            spoken = [word.text] if isinstance(word, Say) else []
            return Say("\n\n".join([*spoken, news(call, late["gave"])]))

        return policy

    def arrived(self) -> Line | None:
        """A late outcome that has come since, if one has."""
        for number, call in self.unseen.items():
            if (gave := found(self.receipt(call["key"]))) is not None:
                return {"late": number, "gave": gave}
        return None

    def look(self, kind: str, arrived: Callable[[], Line | None]) -> Line | None:
        """Look whether something has arrived; a replay finds it at the same look as then."""
        if entry := self.past.next:
            if entry.kind == kind and entry.line["after"] == self.in_vain:
                return self.passed(entry)
        elif line := arrived():
            return self.write_place({**self.without_keys(line), "after": self.in_vain})
        self.in_vain += 1
        return None


def recalled(outcome: Line) -> Any:
    """A recorded outcome; a failure is raised again."""
    if "failed" in outcome:
        raise as_error(outcome["failed"]["kind"], outcome["failed"]["words"])
    return outcome["gave"]


__all__ = ["Busy", "Diverged", "Doubt", "InDoubt", "Journal", "NoJournal"]
