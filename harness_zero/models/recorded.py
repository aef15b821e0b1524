"""Record a model once, and replay it for nothing.

`recorded` keeps the signature of the model that it wraps, and a replay has the same one. A
replay answers only what was asked when it was recorded: a request that differs is a
fault of the set-up, named by block and byte.
"""

import builtins
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

from harness_zero.brief import brief, told_by
from harness_zero.faults import SetupFault
from harness_zero.keys import masked, without_keys
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.models.tape import Call, NoRecording, append, line, mended, read
from harness_zero.ports import Request
from harness_zero.prefix import Difference, first_difference, frozen

Asked = Any  # a request, or the messages alone in the shape of a stage
UNWRITTEN = ("extra_headers", "headers", "api_key", "auth_token")


class Diverged(SetupFault):
    """A replay is asked for something else than was recorded: which request, block and byte."""


class RecordingEnded(SetupFault):
    """A replay is asked once more than the recording has calls."""


def recorded(model: Callable[[Asked], Reply], file: str | Path) -> "Recorded":
    """The same model, with every call of it appended to a file."""
    return Recorded(model, Path(file))


def replay(file: str | Path) -> "Replay":
    """A model that gives the recorded replies again, and fails where the recorded one failed."""
    return Replay(Path(file))


@dataclass(frozen=True)
class Sent:
    """A request as it was sent, in bytes that no later change can reach."""

    messages: tuple[bytes, ...] = ()
    fields: tuple[tuple[str, bytes], ...] = ()
    size: int = 0  # of the file up to and with its line

    def whats_new(self, request: Request, now: "Sent") -> Call:
        """What a request, whose bytes are `now`, has beyond this one. Keys are masked."""
        pairs = enumerate(zip(self.messages, now.messages, strict=False))
        least = min(len(self.messages), len(now.messages))
        kept = next((at for at, (old, new) in pairs if old != new), least)
        same = tuple(sorted(name for name, _ in {*self.fields} & {*now.fields}))
        new = {name: value for name, value in request.items() if name not in same}
        return Call(masked({**new, "messages": request["messages"][kept:]}), kept, same, {})


def sent(request: Request, size: int = 0) -> Sent:
    """The bytes of a request."""
    messages = tuple(frozen(message) for message in request.get("messages", ()))
    fields = tuple((name, frozen(request[name])) for name in request if name != "messages")
    return Sent(messages, fields, size)


class Recorded:
    """A model that is written down. `note` says what a recording had lost when it was gone on with.

    A call is one line, appended when the model has answered. If something else has
    written to the file in between, it is read again, so that every line fits the one before.
    """

    def __init__(self, model: Callable[[Asked], Reply], file: Path) -> None:
        self.model, self.file, self.lock = model, file, Lock()
        self.last, self.note = Sent(), ""
        if not file.parent.is_dir():
            raise NoRecording(f"{file} cannot be written: there is no folder {file.parent}.")
        self.catch_up()

    def __call__(self, asked: Asked) -> Reply:
        """Ask the model, and write down what it was sent and what it said."""
        request = as_request(asked)
        now = sent(request)
        self.written(request, now, {})  # tried before the call costs anything
        try:
            reply = self.model(asked)
        except Exception as error:
            self.write(request, now, {"failure": as_failure(error)})
            raise
        self.write(request, now, {"reply": as_outcome(reply)})
        return reply

    def write(self, request: Request, now: Sent, outcome: dict[str, Any]) -> None:
        """Append one line."""
        with self.lock:
            self.catch_up()
            written = self.written(request, now, outcome)
            append(self.file, written)
            self.last = replace(now, size=self.last.size + len(written))

    def written(self, request: Request, now: Sent, outcome: dict[str, Any]) -> bytes:
        """A call as a line that fits the last one."""
        try:
            return line(replace(self.last.whats_new(request, now), outcome=outcome))
        except (TypeError, ValueError, RecursionError) as error:
            what = "the reply" if outcome else "the request"
            raise NoRecording(f"{what} cannot be recorded, it is no JSON: {error}.") from error

    def catch_up(self) -> None:
        """Know the file's last request, whoever wrote it."""
        size = self.file.stat().st_size if self.file.exists() else 0
        if size == self.last.size:
            return
        if not size:
            self.last = Sent()
            return
        tape = mended(self.file)
        self.note = tape.note
        self.last = sent(tape.last_request(), self.file.stat().st_size)


class Replay:
    """A recorded model. `note` says whether a line that was cut off had to be left out."""

    def __init__(self, file: Path) -> None:
        tape = read(file)
        self.calls, self.note, self.made = tape.calls, tape.note, 0
        self.request: Request = {}  # of the call that comes next

    def __call__(self, asked: Asked) -> Reply:
        """The reply of the next call, if this is what it was asked."""
        self.expect(as_request(asked))
        outcome = self.calls[self.made].outcome
        self.made += 1
        if "failure" in outcome:
            raise as_error(outcome["failure"]["kind"], outcome["failure"]["words"])
        return outcome["reply"]

    def expect(self, request: Request) -> None:
        """Diverged if this is not the request of the next call."""
        upcoming = self.upcoming()
        if first_difference(upcoming, request, loose=True) is None:
            return
        if found := first_difference(upcoming, masked(request), loose=True):
            raise Diverged(diverged(self.made + 1, found))

    def upcoming(self) -> Request:
        """The request of the next call. RecordingEnded if there is none."""
        if self.made == len(self.calls):
            raise RecordingEnded(ended(self.made, self.note))
        self.request = self.calls[self.made].after(self.request)
        return self.request


def as_request(asked: Asked) -> Request:
    """What a model was asked, in the shape of a request, without what no file may hold."""
    request = {"messages": asked} if isinstance(asked, list | tuple) else asked
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list | tuple):
        raise NoRecording(f"a model is sent a request or a list of messages, not {brief(asked)}")
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


def as_error(kind: str, words: str) -> Exception:
    """A recorded failure, to be raised again: of its own kind, if that is one of Python's."""
    if kind == ModelFailed.__name__:
        return ModelFailed(words)
    known = getattr(builtins, kind, None)
    try:
        again = known(words) if isinstance(known, type) and issubclass(known, Exception) else None
    except TypeError:  # a kind that wants more than words
        again = None
    return again if again and str(again) == words else ModelFailed(f"{kind}: {words}")


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


def ended(calls: int, note: str) -> str:
    """That there is nothing more to replay, and the likely reason."""
    why = note or "a run that goes on longer than the recorded one has to be recorded anew"
    return f"request {calls + 1} finds the recording at its end, after {calls} calls; {why}."
