"""A journal's file: JSON lines that are only ever appended, under a head that names the version.

One run holds the file at a time. A last line that was cut off while it was written is dropped:
nobody has acted on it. A broken line between sound ones is a fault that says where.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, Literal
from weakref import WeakSet

from harness_zero.faults import SetupFault
from harness_zero.lock import Held, lock

VERSION = 1
START = b'{"journal":'  # the head begins with it
OURS = START + f'{VERSION},"run":"'.encode()  # and one of ours, as far as it was written, with this
BINARY = getattr(os, "O_BINARY", 0)  # of Windows
WARY = getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody reads is not waited for
TIME = {"at": (int, float)}
KINDS: dict[str, tuple[type, dict[str, Any]]] = {  # what a line is, by its first name, and holds
    "turn": (int, {"prompt": str, **TIME}),
    "begin": (int, TIME),
    "end": (int, TIME),
    "again": (int, {}),
    "ended": (str, {"why": str, **TIME}),
    "put": (str, {}),
    "take": (int, {"after": int, **TIME}),
    "late": (int, {"gave": str, "after": int, **TIME}),
}
STEPS: dict[str, tuple[type, dict[str, Any]]] = {  # what is begun beside a model call, as well
    "tool": (str, {"id": str, "input": object, "key": str}),
    "step": (str, {"given": list}),
}

Line = dict[str, Any]
Sync = Literal["none", "flush", "fsync"]


class NoJournal(SetupFault):
    """A file cannot be read as a journal, or not be written: which line, and what to do."""


class Busy(Exception):
    """Another run holds the journal. Its file was not touched."""


class JournalFile:
    """The file, held by this run alone until it is closed.

    What `sync` promises of a line, once `append` has come back:
    none    nothing: it stands in this process, and a crash may take the last lines
    flush   the system has it: it outlives this process, `kill -9` too, and no loss of power
    fsync   the disk has it: it outlives a loss of power, as far as the disk keeps its word
    """

    def __init__(self, path: Path, sync: Sync) -> None:
        if sync not in ("none", "flush", "fsync"):
            raise SetupFault(f"sync is 'none', 'flush' or 'fsync', not {sync!r}")
        self.path, self.sync = path, sync
        self.file, self.writing = held(path), Lock()
        try:
            self.lines, sound, self.cut = read(path)
            if self.cut:
                self.file.truncate(sound)
        except BaseException:
            self.file.close()
            raise
        HELD_HERE.add(self)

    def is_at(self, file: IO[bytes]) -> bool:
        """Whether this is open, and the same file."""
        return not self.file.closed and os.path.sameopenfile(self.file.fileno(), file.fileno())

    def append(self, line: bytes) -> None:
        """Write a line behind the others. NoJournal if that fails, and after that for good."""
        with self.writing:
            if self.file.closed:
                why = "is closed: no more can be written into it; Journal(...) opens it again"
                raise NoJournal(f"{self.path} {why}.")
            try:
                self.file.write(line)
                if self.sync != "none":
                    self.file.flush()
                if self.sync == "fsync":
                    os.fsync(self.file.fileno())
            except OSError as error:
                self.close()  # behind half a line nothing may stand
                raise NoJournal(f"{self.path} cannot be written: {error.strerror}.") from error

    def close(self) -> None:
        """Let the file go."""
        with suppress(OSError):
            self.file.close()

    def settle_name(self) -> None:
        """With fsync, make sure that the name of a new file outlives a loss of power as well."""
        if self.sync == "fsync" and hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


HELD_HERE: WeakSet[JournalFile] = WeakSet()  # by this program


def held(path: Path) -> IO[bytes]:
    """The file, opened to be written at its end, and locked. A new one is its owner's alone."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | BINARY | WARY, 0o600)
    except OSError as error:
        raise NoJournal(f"{path} cannot be written: {error.strerror}.") from error
    file = os.fdopen(number, "ab")
    if not stat.S_ISREG(os.fstat(number).st_mode):
        file.close()
        raise NoJournal(f"{path} is a pipe or a device, which keeps nothing: name a file.")
    try:
        lock(file)
    except Held:
        mine = any(each.is_at(file) for each in HELD_HERE)
        file.close()
        here = ", or a journal was opened in this program and not closed" if mine else ""
        raise Busy(f"another run is at work on {path}{here}") from None
    except OSError as error:
        file.close()
        cure = "put the journal on a local disk"
        raise NoJournal(f"{path} cannot be locked ({error.strerror}): {cure}.") from error
    return file


def encoded(line: Line) -> bytes:
    """A line as it is written. TypeError or ValueError if it is no JSON."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # half of a surrogate pair has no UTF-8; JSON's own way to write it is \udxxx
    return text.encode("utf-8", "backslashreplace") + b"\n"


def as_json(value: Any) -> Any:
    """A value as it is read back when it was written; itself if it is no JSON."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return value


def read(path: Path) -> tuple[list[Line], int, int]:
    """The lines of a journal, the bytes of those that are whole, and of one that was cut off."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NoJournal(f"{path} cannot be read: {error.strerror}.") from error
    *whole, tail = content.split(b"\n")
    start = START if whole else OURS  # what is dropped as cut off has to be ours
    if not content.startswith(start[: len(content)]):
        begins = content[:40].decode("utf-8", "replace")
        raise NoJournal(f"{path} is no journal: it begins with {begins!r}.")
    return [*parsed(path, whole)], len(content) - len(tail), len(tail)


def parsed(path: Path, whole: list[bytes]) -> Iterator[Line]:
    """Every line, the head first; NoJournal at the first that is none, or not in its place."""
    begun = dict[int, bool]()  # the steps, and whether they have an outcome
    for number, written in enumerate(whole, start=1):
        try:
            line = json.loads(written)
        except (ValueError, RecursionError):
            line = None
        if number == 1 and (fault := head_fault(line)):
            raise NoJournal(f"{path} {fault}.")
        if number > 1 and (what := line_fault(line, begun)):
            begins = written[:40].decode("utf-8", "replace")
            cure = "the lines before it are whole; a copy of those alone can be resumed"
            raise NoJournal(f"{path}, line {number} {what} ({begins!r}); {cure}.")
        yield line


def head_fault(head: Any) -> str | None:
    """Why a first line does not open a journal that can be read here."""
    if not isinstance(head, dict) or type(head.get("journal")) is not int:
        return "is no journal: its first line is no head"
    if head["journal"] != VERSION:
        return f"is a journal of version {head['journal']}, and this course reads {VERSION}"
    if not isinstance(head.get("run"), str):
        return "has a head that names no run"
    return None if isinstance(head.get("place", ""), str) else "has a head that names no place"


def line_fault(line: Any, begun: dict[int, bool]) -> str | None:
    """Why a line cannot follow on those before it, by the steps that they tell of."""
    if not is_sound(line):
        return "is damaged"
    kind, number = next(iter(line.items()))
    if kind not in ("begin", "end"):
        return None
    last = next(reversed(begun), 0)
    fits = number > last if kind == "begin" else begun.get(number) is False
    begun[number] = kind == "end"
    return None if fits else "is not in its place"


def is_sound(line: Any) -> bool:
    """Whether a line is of a known kind and has what this kind needs."""
    kind = next(iter(line), "") if isinstance(line, dict) else ""
    if kind not in KINDS or not has(line, kind, *KINDS[kind]):
        return False
    if kind == "begin":
        if isinstance(sent := line.get("model"), dict):
            return {"messages", "last", "says"} <= sent.keys()
        return any(name in line and has(line, name, *STEPS[name]) for name in STEPS)
    return kind != "end" or "gave" in line or failed(line.get("failed"))


def has(line: Line, name: str, kind: type, needs: dict[str, Any]) -> bool:
    """Whether a line has a name of this kind, and with it what that needs."""
    return isinstance(line[name], kind) and all(
        each in line and isinstance(line[each], kinds) for each, kinds in needs.items()
    )


def failed(failure: Any) -> bool:
    """Whether this tells of a failure, as `as_failure` writes it."""
    return isinstance(failure, dict) and {"kind", "words"} <= failure.keys()
