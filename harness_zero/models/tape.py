"""A recording's file: one line a call, with the request, and the reply or the failure.

A request that goes on where the one before ended is written as what is new: how many
messages are kept, which fields are the same, and the rest. So the file grows with the
array, and not with its square. Nothing else is in it: no time, no header, no key.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from harness_zero.faults import SetupFault
from harness_zero.ports import Request

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

VERSION = 1
START = b'{"version":'  # every line begins with it
FIRST = b'%b%d,"request":{' % (START, VERSION)  # and the first line with this
LOCKS: dict[str, Lock] = {}  # of this process, one a file


class NoRecording(SetupFault):
    """A file cannot be read as a recording, or not be written: which line, and what to do."""

    reply: Any = None  # what the model said, if it has been asked and the reply has no place


@dataclass(frozen=True)
class Call:
    """One line: what is new in the request, and what came of it."""

    new: Request
    kept: int  # messages of the request before
    same: tuple[str, ...]  # fields of the request before
    outcome: dict[str, Any]  # {"reply": ...}, or {"failure": {"kind": ..., "words": ...}}

    def after(self, request: Request) -> Request:
        """This call's request, made of the one before; the list of messages is taken over."""
        messages = request.get("messages", [])
        messages[self.kept :] = self.new["messages"]
        fields = {name: request[name] for name in self.same}
        return {**fields, **self.new, "messages": messages}


@dataclass(frozen=True)
class Tape:
    """What a file holds."""

    calls: list[Call]
    sound: int  # bytes of whole lines
    cut: int  # bytes of a last line that was cut off while it was written
    ended: bool = True  # whether the last whole line has its end

    @property
    def note(self) -> str:
        """What was left out, in words; nothing if nothing was."""
        if not self.cut:
            return ""
        lost = f"its last line was cut off after {self.cut} bytes, and is left out"
        return f"{lost}; whole calls before it: {len(self.calls)}"

    def last_request(self) -> Request:
        """The request of the last call, rebuilt."""
        request: Request = {"messages": []}
        for call in self.calls:
            request = call.after(request)
        return request


def line(call: Call) -> bytes:
    """A call as a line, its end included. TypeError or ValueError if it is no JSON."""
    written: dict[str, Any] = {"version": VERSION}
    if call.kept:
        written["kept"] = call.kept
    if call.same:
        written["same"] = call.same
    written |= {"request": call.new, **call.outcome}
    text = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
    # half of a surrogate pair has no UTF-8; JSON's own way to write it is \udxxx
    return text.encode("utf-8", "backslashreplace") + b"\n"


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold a file, so that nobody else reads its end and writes behind it in between.

    It keeps out the other threads, and the other processes where the system can lock a file.
    """
    with LOCKS.setdefault(str(file.resolve()), Lock()), opened(file) as held:
        if fcntl:
            with suppress(OSError):  # a file system that knows no locks
                fcntl.flock(held, fcntl.LOCK_EX)  # until it is closed
        yield


def opened(file: Path) -> BinaryIO:
    """A file, to be written at its end."""
    try:
        return file.open("ab")
    except OSError as error:
        raise NoRecording(f"{file} cannot be written: {error.strerror}.") from error


def append(file: Path, written: bytes) -> None:
    """Write a line behind the others, at once."""
    try:
        with opened(file) as recording:
            recording.write(written)
    except OSError as error:
        raise NoRecording(f"{file} cannot be written: {error.strerror}.") from error


def read(file: Path) -> Tape:
    """What a recording holds, without a last line that was cut off."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise NoRecording(f"{file} cannot be read: {error.strerror}.") from error
    *lines, tail = content.split(b"\n")
    calls = [*parsed(file, lines)]
    if is_torn(tail, first=not calls):
        return Tape(calls, len(content) - len(tail), len(tail))
    if tail:
        calls = [*parsed(file, [*lines, tail])]
    return Tape(calls, len(content), 0, ended=not tail)


def mended(file: Path) -> Tape:
    """What a recording holds, made fit to be written on: its last line is whole and ended."""
    tape = read(file)
    if tape.cut:
        os.truncate(file, tape.sound)
    if not tape.ended:
        append(file, b"\n")
    return tape


def parsed(file: Path, lines: list[bytes]) -> Iterator[Call]:
    """The calls of all lines, each held against the one before."""
    messages, fields = 0, set[str]()
    for number, written in enumerate(lines, start=1):
        if not written.strip():
            continue
        call = one_call(file, number, written)
        if call.kept > messages or not fields.issuperset(call.same):
            lacks = "goes on from a request that the lines before do not hold"
            raise NoRecording(f"{file}, line {number} {lacks}; was a line taken out?")
        messages, fields = call.kept + len(call.new["messages"]), {*call.same, *call.new}
        yield call


def one_call(file: Path, number: int, written: bytes) -> Call:
    """One line as a call; NoRecording if it is none."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        found = None
    version = found.get("version") if isinstance(found, dict) else None
    if type(version) is int and version != VERSION:
        other = f"is a recording of version {version}, and this course reads version {VERSION}"
        raise NoRecording(f"{file}, line {number} {other}.")
    if type(version) is not int or not is_call(found):
        raise NoRecording(strange(file, written) if number == 1 else damaged(file, number, written))
    outcome = {name: found[name] for name in ("reply", "failure") if name in found}
    return Call(found["request"], found.get("kept", 0), tuple(found.get("same", ())), outcome)


def is_json(written: bytes) -> bool:
    """Whether this is whole: an object that was cut off never is."""
    try:
        json.loads(written)
    except (ValueError, RecursionError):
        return False
    return True


def is_torn(tail: bytes, first: bool) -> bool:
    """Whether this was being written when it ended. What no line goes before may be nobody's."""
    if not tail.strip() or is_json(tail):
        return False
    return not first or tail.startswith(FIRST)


def is_call(found: dict[str, Any]) -> bool:
    """Whether a line has all that a call needs, in the right shape."""
    request, failure = found.get("request"), found.get("failure")
    kept, same = found.get("kept", 0), found.get("same", [])
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
        return False
    if not isinstance(kept, int) or kept < 0 or not isinstance(same, list):
        return False
    if not all(isinstance(name, str) for name in same):
        return False
    if "reply" in found:
        return "failure" not in found
    return isinstance(failure, dict) and all(
        isinstance(failure.get(name), str) for name in ("kind", "words")
    )


def strange(file: Path, written: bytes) -> str:
    """A sentence about a file that is something else."""
    return f"{file} is no recording: it begins with {written[:40].decode('utf-8', 'replace')!r}."


def damaged(file: Path, number: int, written: bytes) -> str:
    """A sentence about a line between sound ones."""
    begins = written[:40].decode("utf-8", "replace")
    cure = "the lines before it are whole; a copy of those alone can be replayed"
    return f"{file}, line {number} is damaged ({begins!r}); {cure}."
