"""A course directory for nbgrader: laid down once, brought up to date, never overwritten."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero import course
from harness_zero.grading import holes
from harness_zero.grading.course import gradebook, settings
from harness_zero.grading.exercises import LABS

RECORD = Path(course.OURS) / "course.json"
SEED = "seed"
FIT = re.compile(r"[\w.-]+")  # an id of a course, which becomes a folder's name
NEXT = (
    "Next: `nbgrader generate_assignment LAB` in that folder; docs/teaching.md has all of the way."
)
OWN_EXCHANGE = (
    "Labs pass through nbgrader's own exchange, unless your nbgrader knows another;"
    " --exchange FOLDER names one."
)
NEW_SEED = (
    "A new seed was drawn, since there was none: hidden cases are others now, and marks may change."
    " Put the old one back if you have a copy."
)
ELSEWHERE = "Name a new folder, or an empty one."


class NotPrepared(Exception):
    """The course directory could not be made; the sentence says why, and what to do."""


@dataclass
class Record:
    """What a course directory remembers: how it was asked for, and what was laid down."""

    course_id: str
    exchange: str = ""
    laid: dict[str, course.Entry] = field(default_factory=dict)


def prepare(
    folder: Path, labs: Iterable[str], course_id: str | None, exchange: str | None
) -> Iterator[str]:
    """Make a course directory or bring one up to date; yield what was done, line by line."""
    folder = folder.absolute()
    refuse_unfit(folder)
    record = remembered(folder) or Record(id_of(folder))
    record.course_id = record.course_id if course_id is None else course_id
    record.exchange = record.exchange if exchange is None else exchange
    if not FIT.fullmatch(record.course_id):
        raise NotPrepared(f"{record.course_id!r} is no id of a course: use letters and digits.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # solutions and marks lie in it
        laid = lay(folder, [*labs], record)
        drawn = lay_seed(folder / SEED)
    except OSError as fault:
        raise NotPrepared(course.in_words(fault, folder, ELSEWHERE, ELSEWHERE)) from fault
    except course.NotLaid as fault:
        raise NotPrepared(str(fault)) from fault
    yield course.told(laid, f"{folder}/")
    if folder.stat().st_mode & 0o007:
        yield f"Everybody on this machine can look into it: chmod 700 {folder}"
    if drawn and not laid.first:
        yield NEW_SEED
    yield from registered(folder, record, laid)
    if laid.first and not record.exchange:
        yield OWN_EXCHANGE
    if laid.first:
        yield NEXT


def refuse_unfit(folder: Path) -> None:
    """Say in a sentence why this folder cannot be a course directory."""
    if folder.exists() and not folder.is_dir():
        raise NotPrepared(f"{folder} is a file. {ELSEWHERE}")
    source = course.checkout()
    place = folder.resolve()
    inside = place.relative_to(source).parts[:1] if place.is_relative_to(source) else None
    if inside is not None and (not inside or inside[0] in course.THE_COURSE):
        raise NotPrepared(f"{folder} is where the course itself lies. {ELSEWHERE}")
    try:
        there = sorted(each.name for each in folder.iterdir()) if folder.exists() else []
    except OSError as fault:
        raise NotPrepared(f"{folder} cannot be read ({fault.strerror}). {ELSEWHERE}") from fault
    if there and settings.FILE not in there and not (folder / RECORD).exists():
        raise NotPrepared(f"{folder} holds something else ({there[0]}). {ELSEWHERE}")


def id_of(folder: Path) -> str:
    """The id of a course whose folder has this name."""
    return re.sub(r"[^\w.-]+", "_", folder.name).strip("_") or "harness_zero"


def remembered(folder: Path) -> Record | None:
    """What a course directory remembers; nothing, if it is a new one or has lost it."""
    try:
        return Record(**json.loads((folder / RECORD).read_bytes()))
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
        return None


def lay(folder: Path, labs: list[str], record: Record) -> course.Laid:
    """Lay down the settings and the sources of labs, each file that is not the instructor's."""
    laid = course.Laid(first=not record.laid)
    content = {settings.FILE: settings.text(record.course_id, record.exchange).encode()}
    for lab in labs or known(record) or LABS:
        content |= sources(lab)
    try:
        for name, text in content.items():
            if name not in record.laid or labs or (folder / name).exists():
                course.lay_one(name, text, folder, record.laid, laid)
    finally:
        course.put(folder / RECORD, json.dumps(vars(record), indent=1).encode())
    return laid


def known(record: Record) -> list[str]:
    """The labs that were laid down before."""
    return [lab for lab in LABS if f"source/{lab}/{lab}.ipynb" in record.laid]


def sources(lab: str) -> Iterator[tuple[str, bytes]]:
    """The files of which nbgrader makes a lab, by their names in a course directory."""
    solution = course.checkout() / "solutions" / lab
    for path in sorted(each for each in solution.rglob("*") if each.is_file()):
        name = path.relative_to(solution)
        if not any(part.startswith((".", "__")) for part in name.parts):
            content = path.read_bytes()
            if path.name == f"{lab}.ipynb":
                content = holes.without_reasons(content)
            yield f"source/{lab}/{name.as_posix()}", content


def lay_seed(path: Path) -> bool:
    """Make the secret from which hidden cases are drawn, if there is none; whether it was made."""
    if path.exists():
        return False
    path.touch(mode=0o600)  # for nobody else to read
    path.write_text(token_hex(32) + "\n", encoding="utf-8")
    return True


def registered(folder: Path, record: Record, laid: course.Laid) -> Iterator[str]:
    """Make labs known to the gradebook, with their checks and points, where they are not."""
    fresh = {Path(name).parent.name for name in [*laid.new, *laid.updated]}
    try:
        directory = settings.directory(folder)
        with gradebook.opened(directory, new=True) as book:
            there = {each.name for each in book.assignments if each.notebooks}
        new = [lab for lab in known(record) if lab in fresh or lab not in there]
        faults = [*generated(folder, new)]
        with gradebook.opened(directory) as book:
            found = {each.name: each.max_score for each in book.assignments if each.name in LABS}
    except (gradebook.Unusable, settings.Unreadable) as fault:
        raise NotPrepared(str(fault)) from fault
    yield from faults
    labs, points = len(found), sum(found.values())
    place = gradebook.place(directory.db_url)
    yield f"{place} knows {labs} lab{'' if labs == 1 else 's'} with {points:g} points."


def generated(folder: Path, labs: list[str]) -> Iterator[str]:
    """Have nbgrader note the cells of labs, as when it generates them; yield what it objects to."""
    from nbgrader.apps import NbGraderAPI

    if not labs:
        return
    with TemporaryDirectory() as scratch:
        options: Any = settings.read(folder)
        options.CourseDirectory.release_directory = scratch
        nbgrader = NbGraderAPI(config=options)
        for lab in labs:
            fault = holes.objection(nbgrader.generate_assignment(lab))
            if fault:
                yield f"{lab}: the gradebook keeps what it knew ({fault})."
