"""Record a model once, and replay it for nothing.

`recorded` keeps the signature of the model that it wraps, and a replay has the same one. A
replay answers only what was asked when it was recorded: a request that differs is a
fault of the set-up, named by block and byte.
"""

import builtins
from ast import literal_eval
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_zero.brief import brief, told_by
from harness_zero.faults import SetupFault
from harness_zero.keys import masked, without_keys
from harness_zero.layers import layer
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.models.tape import Call, NoRecording, alone, append, line, mended, read
from harness_zero.ports import Request
from harness_zero.prefix import Difference, first_difference

Asked = Any  # a request, or the messages alone in the shape of a stage
UNWRITTEN = ("extra_headers", "headers", "api_key", "auth_token")
NO_JSON = (TypeError, ValueError, RecursionError)


class Diverged(SetupFault):
    """A replay is asked for something else than was recorded: which request, block and byte."""


class RecordingEnded(SetupFault):
    """A replay is asked once more than the recording has calls."""


def recorded(model: Callable[[Asked], Reply], file: str | Path) -> "Recorded":
    """The same model, with every call of it appended to a file."""
    return layer("a recording", Recorded(model, Path(file)), model)


def replay(file: str | Path) -> "Replay":
    """A model that gives the recorded replies again, and fails where the recorded one failed."""
    return Replay(Path(file))


@dataclass(frozen=True)
class Sent:
    """The request that was written down last: a copy that no later change can reach."""

    request: Request
    size: int  # of the file up to and with its line

    def kept(self, messages: list[Any]) -> int:
        """How many messages from the beginning on are those of this request."""
        mine = self.request["messages"]
        most = min(len(mine), len(messages))
        if mine[:most] == messages[:most]:  # the usual case, and at C speed
            return most
        return next(at for at in range(most) if mine[at] != messages[at])

    def detached(self, request: Request) -> Request:
        """The same request as a copy. What this one holds is not copied again."""
        kept = self.kept(request["messages"])
        known = self.request["messages"][:kept]
        copy = {name: deepcopy(value) for name, value in request.items() if name != "messages"}
        return {**copy, "messages": [*known, *deepcopy(request["messages"][kept:])]}

    def whats_new(self, request: Request, outcome: dict[str, Any]) -> Call:
        """What a request has beyond this one, and what came of it. Keys are masked."""
        kept, mine = self.kept(request["messages"]), self.request
        others = {name: value for name, value in request.items() if name != "messages"}
        written = masked(dict.fromkeys(others)).keys() & mine.keys()  # no name that is masked
        same = tuple(sorted(name for name in written if mine[name] == others.get(name)))
        new = {name: value for name, value in others.items() if name not in same}
        return Call(masked({**new, "messages": request["messages"][kept:]}), kept, same, outcome)


NOTHING = Sent({"messages": []}, 0)


class Recorded:
    """A model that is written down. `note` says what the recording lacks.

    That is a last line that was cut off before this one went on, or a reply that is no JSON.

    A call is one line, appended when the model has answered. If something else has
    written to the file in between, it is read again, so that every line fits the one before.
    """

    def __init__(self, model: Callable[[Asked], Reply], file: Path) -> None:
        self.model, self.file = model, file
        self.last, self.note = NOTHING, ""
        if not file.parent.is_dir():
            raise NoRecording(f"{file} cannot be written: there is no folder {file.parent}.")
        if file.exists():
            with alone(file):
                self.catch_up()

    def __call__(self, asked: Asked) -> Reply:
        """Ask the model, and write down what it was sent and what it said."""
        request = self.tried(as_request(asked))
        try:
            reply = self.model(asked)
        except Exception as error:
            self.write(request, {"failure": as_failure(error)})
            raise
        try:
            self.keep(request, reply)
        except NoRecording as fault:
            fault.reply = reply
            raise
        return reply

    def keep(self, request: Request, reply: Any) -> None:
        """Write down a reply. The run goes on with one that is no JSON; a replay stops there."""
        try:
            self.write(request, {"reply": as_outcome(reply)})
        except NO_JSON as error:
            why = told_by(str, error)
            self.note = f"a reply was given back, but could not be recorded: {why}."
            self.write(request, {"failure": {"kind": NoRecording.__name__, "words": self.note}})

    def tried(self, request: Request) -> Request:
        """A copy of a request that can be written. It is tried before the call costs anything."""
        try:
            copy = self.last.detached(request)
            line(self.last.whats_new(copy, {}))
        except NO_JSON as error:
            raise NoRecording(f"the request cannot be recorded, it is no JSON: {error}.") from error
        return copy

    def write(self, request: Request, outcome: dict[str, Any]) -> None:
        """Append one line that fits the last one."""
        with alone(self.file):
            self.catch_up()
            written = line(self.last.whats_new(request, outcome))
            append(self.file, written)
            self.last = Sent(request, self.last.size + len(written))

    def catch_up(self) -> None:
        """Know the file's last request, whoever wrote it."""
        size = self.file.stat().st_size if self.file.exists() else 0
        if size == self.last.size:
            return
        self.last = NOTHING
        if size:
            tape = mended(self.file)
            self.last = Sent(tape.last_request(), self.file.stat().st_size)
            self.note = tape.note or self.note


class Replay:
    """A recorded model. `note` says whether a line that was cut off had to be left out."""

    def __init__(self, file: Path) -> None:
        tape = read(file)
        self.calls, self.note, self.made = tape.calls, tape.note, 0
        self.request: Request = {}  # of the call that comes next

    def __call__(self, asked: Asked) -> Reply:
        """The reply of the next call, if this is what it was asked."""
        hold(self.made + 1, self.upcoming(), as_request(asked))
        outcome = self.calls[self.made].outcome
        self.made += 1
        if "failure" in outcome:
            raise as_error(outcome["failure"]["kind"], outcome["failure"]["words"])
        return outcome["reply"]

    def upcoming(self) -> Request:
        """The request of the next call. RecordingEnded if there is none."""
        if self.made == len(self.calls):
            raise RecordingEnded(ended(self.made, self.note))
        self.request = self.calls[self.made].after(self.request)
        return self.request


def hold(number: int, recorded: Request, sent: Request) -> None:
    """Diverged if what is sent is not what was recorded. Keys are masked, and do not count."""
    if first_difference(recorded, sent, loose=True) is None:
        return
    if found := first_difference(masked(recorded), masked(sent), loose=True):
        raise Diverged(diverged(number, found))


def as_request(asked: Asked) -> Request:
    """What a model was asked, in the shape of a request, without what no file may hold."""
    request = {"messages": asked} if isinstance(asked, list | tuple) else asked
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list | tuple):
        raise NoRecording(f"a model is sent a request or a list of messages, not {brief(asked)}")
    for name in request:
        if not isinstance(name, str):
            raise NoRecording(f"fields of a request are named by words, and not {brief(name)}")
    fields = {name: value for name, value in request.items() if name not in UNWRITTEN}
    return {**fields, "messages": [*request["messages"]]}


def as_outcome(reply: Any) -> Any:
    """A reply as it is written down."""
    if isinstance(reply, dict):
        reply = {name: value for name, value in reply.items() if name not in UNWRITTEN}
    return masked(reply)


def as_failure(error: Exception) -> dict[str, str]:
    """A failure as it is written down: its kind, and its words."""
    return {"kind": type(error).__name__, "words": without_keys(told_by(str, error))}


def as_error(kind: str, words: str) -> BaseException:
    """A recorded failure, to be raised again: of its own kind, if that is one of Python's."""
    if kind == NoRecording.__name__:
        return NoRecording(words)
    known = getattr(builtins, kind, None)
    if isinstance(known, type) and issubclass(known, Exception):
        for read_as in (str, meant):
            with suppress(TypeError):  # a kind that wants more than words
                again = known(read_as(words))
                if str(again) == words:
                    return again
    return ModelFailed(words if kind == ModelFailed.__name__ else f"{kind}: {words}")


def meant(words: str) -> Any:
    """What was written like this: a KeyError's words are its key as Python writes it."""
    try:
        return literal_eval(words)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return words


def diverged(number: int, found: Difference) -> str:
    """Which request differs from the recorded one, and where."""
    then, now = (repr(words) for words in found.around())
    if not found.one:
        what = f"{found.block} is sent, and there was none: {now}"
    elif not found.other:
        what = f"{found.block} is missing; recorded is {then}"
    else:
        what = f"{found.block} differs at byte {found.byte}; recorded is {then}, sent is {now}"
    cure = "Send what was sent then, or record anew into another file."
    return f"request {number} is not the recorded one: {what}. {cure}"


def ended(calls: int, note: str = "") -> str:
    """That there is nothing more to replay, and the likely reason."""
    why = note or "what goes on longer than the recorded run has to be recorded anew"
    return f"request {calls + 1} finds the recording at its end (calls in it: {calls}); {why}."
