"""How far a learner has come: noted in their own copy of the course, and nowhere else.

An event is a line, appended at one go: several kernels can write at once, and a crash costs
one line at most. What a line says counts for ever; a check that fails later takes nothing away.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_zero.course import OURS, remembered

if TYPE_CHECKING:
    from harness_zero.grading.exercise import Lab

FILE = "progress.jsonl"
CHAPTER = re.compile(r"\d\d_\w+")
# Nobody waits for a pipe, and a link is not followed. Windows knows neither.
CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

Clock = Callable[[], datetime]
Labs = Mapping[str, "Lab"]


def utc_now() -> datetime:
    return datetime.now(UTC)


def copy_around(folder: Path) -> Path | None:
    """The learner's copy of the course that a folder lies in; None outside of every copy."""
    place = Path(os.path.abspath(folder))
    return next(filter(is_copy, [place, *place.parents]), None)


def is_copy(folder: Path) -> bool:
    """Whether the course was laid down in this folder."""
    with suppress(OSError):
        return (folder / OURS / "laid.json").is_file()
    return False


def lost_record(folder: Path) -> str:
    """Which folder around this one is a copy whose record is gone, in a sentence, or nothing."""
    place = Path(os.path.abspath(folder))
    lost = next(filter(is_copy_without_record, [place, *place.parents]), None)
    if lost is None:
        return ""
    cure = f"harness-zero start --to {shlex.quote(str(lost))} brings it back"
    return f"{lost}/ has lost its {OURS}/laid.json: {cure}, and changes nothing of yours."


def is_copy_without_record(folder: Path) -> bool:
    """Whether the course lies here, neither as a copy that knows of itself nor as a clone."""
    with suppress(OSError):
        lies = (folder / "chapters/start.ipynb").is_file() and (folder / "labs").is_dir()
        return lies and not is_copy(folder) and not (folder / "harness_zero").exists()
    return False


# noting


def note_read(copy: Path | None, chapter: str, now: Clock = utc_now) -> str:
    """Note that a chapter was read; why it could not be noted, in a sentence, or nothing."""
    return note(copy, {"read": chapter}, now)


def note_checked(copy: Path | None, exercise: str, kept: int, of: int, now: Clock = utc_now) -> str:
    """Note how many promises an answer keeps; why it could not be noted, or nothing."""
    return note(copy, {"checked": exercise, "kept": kept, "of": of}, now)


def note(copy: Path | None, event: dict[str, Any], now: Clock) -> str:
    """Append an event to what is noted in the copy; without a copy nothing is done."""
    if copy is None:
        return ""
    try:
        append(copy, json.dumps({**event, "at": now().isoformat(timespec="seconds")}))
    except OSError as fault:
        reason = fault.strerror or fault
        return f"Not noted in your progress: {OURS}/{FILE} cannot be written ({reason})."
    return ""


def append(copy: Path, line: str) -> None:
    """Write a line of its own at one go, also behind one that was torn by a crash."""
    with opened(copy, os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
        entry = f"{line}\n" if ends_a_line(file) else f"\n{line}\n"
        if os.write(file, entry.encode()) < len(entry):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def ends_a_line(file: int) -> bool:
    """Whether what is written next begins a line."""
    if not os.lseek(file, 0, os.SEEK_END):
        return True
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"


@contextmanager
def opened(copy: Path, flags: int) -> Iterator[int]:
    """The file of the events, open, if it is a plain file that no link leads to."""
    path = copy / OURS / FILE
    for place in (path.parent, path):
        if place.is_symlink():
            raise OSError(errno.ELOOP, f"{place.relative_to(copy)} is a link")
    file = os.open(path, flags | CAREFULLY, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "it is no file")
        yield file
    finally:
        os.close(file)


# what is noted


@dataclass(frozen=True)
class Progress:
    """What was done, and when first; chapters and exercises that are no more may be among it."""

    read: Mapping[str, str] = field(default_factory=dict)  # chapters
    passed: Mapping[str, str] = field(default_factory=dict)  # exercises
    tries: Mapping[str, int] = field(default_factory=dict)  # checks of an exercise
    fault: str = ""  # why it cannot be read, in a sentence


def progress(copy: Path | None) -> Progress:
    """All that was noted in a copy; a line that is no event of ours is passed over."""
    if copy is None:
        return Progress()
    try:
        with opened(copy, os.O_RDONLY) as file, open(file, "rb", closefd=False) as lines:
            return folded(events(lines))
    except FileNotFoundError:
        return Progress()
    except OSError as fault:
        reason = fault.strerror or fault
        return Progress(fault=f"{OURS}/{FILE} cannot be read ({reason}): move it away.")


def events(lines: Iterable[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """What the lines say, each with how often; torn and foreign ones say nothing.

    Lines that differ in their time alone are taken apart once.
    """
    often: Counter[bytes] = Counter()
    said: dict[bytes, dict[str, Any]] = {}
    for line in lines:
        what, _, when = line.partition(b', "at": ')
        if what in said and when.endswith(b'"}\n'):
            often[what] += 1
            continue
        with suppress(ValueError, RecursionError):
            if isinstance(event := json.loads(line), dict):
                said.setdefault(what, event)
                often[what] += 1
    return ((event, often[what]) for what, event in said.items())


def folded(events: Iterable[tuple[dict[str, Any], int]]) -> Progress:
    """What the events come to."""
    read: dict[str, str] = {}
    passed: dict[str, str] = {}
    tries: Counter[str] = Counter()
    for event, times in events:
        match event:
            case {"read": str(chapter)}:
                read.setdefault(chapter, str(event.get("at", "")))
            case {"checked": str(exercise), "kept": int(kept), "of": int(of)}:
                tries[exercise] += times
                if kept == of > 0:
                    passed.setdefault(exercise, str(event.get("at", "")))
    return Progress(read, passed, tries)


# against the course


@dataclass(frozen=True)
class Step:
    """A part of the course that is done or not: a chapter to read, or its lab."""

    name: str  # 01_structural_stop
    lab: Lab | None = None  # None: the chapter

    @property
    def path(self) -> str:
        """Where its notebook lies, in a copy as in the repository."""
        return f"labs/{self.name}/{self.name}.ipynb" if self.lab else f"chapters/{self.name}.ipynb"

    def is_done(self, done: Progress) -> bool:
        """A lab is done when all its exercises have passed."""
        if self.lab is None:
            return self.name in done.read
        return all(exercise.name in done.passed for exercise in self.lab.exercises)


def chapters_in(home: Path) -> list[str]:
    """The course's chapters that lie in a copy or in the repository; notebooks of others do not."""
    there = sorted(path.stem for path in (home / "chapters").glob("*.ipynb"))
    laid: Mapping[str, Any] = {}
    with suppress(OSError):
        laid = remembered(home)
    ours = [name for name in there if not laid or f"chapters/{name}.ipynb" in laid]
    return [name for name in ours if CHAPTER.fullmatch(name)]


def steps(chapters: Iterable[str], labs: Labs) -> list[Step]:
    """The course in its order: chapter 00, lab 00, chapter 01, ..."""
    known, found = {*chapters}, []
    for name in sorted({*known, *labs}):
        found += [Step(name)] if name in known else []
        found += [Step(name, labs[name])] if name in labs else []
    return found


def next_step(done: Progress, chapters: Iterable[str], labs: Labs) -> Step | None:
    """The first part of the course that is not done."""
    return next((step for step in steps(chapters, labs) if not step.is_done(done)), None)


def title(name: str, labs: Labs) -> str:
    """A chapter's title, which is its lab's; without a lab, its name in words."""
    return labs[name].title if name in labs else name[3:].replace("_", " ").capitalize()
