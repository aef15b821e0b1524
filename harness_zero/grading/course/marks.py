"""Marks of record in nbgrader's gradebook, by its API.

A mark of ours is the automatic score of an exercise's check. What an instructor sets in
formgrader (a score by hand, extra credit, a comment, an extension) stays and counts before ours.
Where the mark under it changes, or something new was handed in, formgrader asks for a look.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness_zero.grading.course import copies, gradebook, settings
from harness_zero.grading.course.handed_in import HandedIn, others
from harness_zero.grading.course.places import places
from harness_zero.grading.record.submissions import submission

NOT_OF_RECORD = "Not of record: graded without isolation. "
NO_TIME = (
    "its timestamp.txt holds no time. Remove or mend that file: formgrader cannot list the lab"
    " while it is there, and nobody knows whether it is late."
)
LONGEST_TIME = 100  # characters
NO_NAME = "the name of the folder {!r} is not UTF-8, so the gradebook cannot hold it."
OTHER_LAB = "this is a notebook of lab {}"
Graded = Mapping[str, Any]  # a row, marks, and a page, as grading keeps them


class NoCourse(Exception):
    """This is no course directory; the sentence says why."""


def directory(folder: Path) -> Any:
    """The course directory that lies in this folder."""
    if not (folder / settings.FILE).is_file():
        cure = f"it holds no {settings.FILE}. Name the folder that `harness-zero course` made"
        raise NoCourse(f"{folder.resolve()} is no course directory: {cure}.")
    return settings.directory(folder.absolute())


def write(course: Any, handed: Iterable[HandedIn], graded: Iterable[Graded]) -> Iterator[str]:
    """Write marks into the gradebook and copies for formgrader; yield what is to be said."""
    for name in others(course):
        yield f"{name} is no lab of this course: what was handed in for it is left to nbgrader."
    options, written = settings.read(Path(course.root)), list[bool]()
    with gradebook.opened(course) as book:
        book.db().expire_on_commit = False  # or each of nbgrader's commits has all read again
        for given, grade in zip(handed, graded, strict=True):
            for name in given.aside:
                who = f"{given.student}, {given.assignment}"
                yield f"{who}: {name} is left out, {given.notebook.name} counts."
            written.append((yield from one(Record(course, options, book), given, grade)))
    of = "" if all(written) else f" of {len(written)}"
    yield f"{gradebook.place(course.db_url)} has the marks of {sum(written)}{of}."


@dataclass(frozen=True)
class Record:
    """Where marks go."""

    course: Any  # nbgrader's course directory
    options: Any  # all of nbgrader's settings
    book: Any  # its gradebook

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """A folder of the course directory."""
        return Path(self.course.format_path(step, student, assignment))


def one(record: Record, given: HandedIn, grade: Graded) -> Generator[str, None, bool]:
    """One submission's marks and its copy; whether the gradebook has them now."""
    from nbgrader.api import MissingEntry

    who = f"{given.student}, {given.assignment}"
    try:
        notebook = record.book.find_notebook(given.assignment, given.assignment)
    except MissingEntry:
        cure = f"`harness-zero course . {given.assignment}` makes it known"
        yield f"{who}: the gradebook knows no such lab; {cure}."
        return False
    if given.student != copies.writable(given.student):
        yield NO_NAME.format(given.student)
        return False
    if not has_student(record, given.student):
        if not record.options.Autograde.get("create_student", True):
            yield f"{who}: the gradebook knows no such student, and none is added (create_student)."
            return False
        record.book.add_student(given.student)
        yield f"{given.student} was not in the gradebook, and is added."
    fault = lab_fault(given, grade)
    if fault:
        yield f"{who}: {fault}."
    when, odd = handed_in_at(given.folder)
    if odd:
        yield f"{who}: {odd}"
    told = marked(record, given, grade, fault, when)
    lay_copy(record, given, told, grade["page"])
    yield from lateness(record, given)
    known = {cell.name for cell in notebook.grade_cells}
    for exercise, at in places(given.assignment).items():
        if at.check not in known:
            yield f"{who}: the gradebook has no cell {at.check}, so {exercise} has no place there."
    return True


def has_student(record: Record, name: str) -> bool:
    """Whether the gradebook knows a student."""
    from nbgrader.api import MissingEntry

    try:
        return bool(record.book.find_student(name))
    except MissingEntry:
        return False


def lab_fault(given: HandedIn, grade: Graded) -> str:
    """Why a submission has no marks for its assignment, or nothing."""
    lab = grade["row"]["lab"]
    if not lab:
        return grade["row"]["notes"] or "it cannot be graded"
    return "" if lab == given.assignment else OTHER_LAB.format(lab)


def handed_in_at(folder: Path) -> tuple[datetime | None, str]:
    """When it was handed in, as the exchange notes it; and what is odd about that."""
    from nbgrader.utils import parse_utc

    path = folder / "timestamp.txt"
    if not path.is_file():
        return None, ""
    try:
        with open(path, encoding="utf-8") as file:
            return parse_utc(file.read(LONGEST_TIME).strip()), ""
    except (ValueError, OverflowError, OSError):
        return None, NO_TIME


def marked(
    record: Record, given: HandedIn, grade: Graded, fault: str, when: datetime | None
) -> dict[str, str]:
    """Write the marks of a submission; what is told of each check, by its id."""
    book = record.book
    with book.db.no_autoflush:  # or SQLAlchemy warns of what nbgrader does
        submitted = book.update_or_create_submission(given.assignment, given.student)
    again = submitted.timestamp != when
    submitted.timestamp = when
    notebook = book.find_submission_notebook(given.assignment, given.assignment, given.student)
    grades = {each.name: each for each in notebook.grades}
    comments = {each.name: each for each in notebook.comments}
    before = NOT_OF_RECORD if not fault and grade["row"]["of_record"] != "yes" else ""
    told = {}
    for exercise, at in places(given.assignment).items():
        points, of, why = (0, 0, fault) if fault else grade["marks"].get(exercise, (0, 0, ""))
        reason = copies.writable(why)
        if at.answer in comments:
            comments[at.answer].auto_comment = f"{before}{reason}".strip() or None
        if at.check in grades:
            most = grades[at.check].max_score
            score = most * points / of if of else None
            scored(grades[at.check], score, again)
            of_all = f"{score:g} of {most:g} points" if score is not None else "no mark of record"
            told[at.check] = f"{before}{of_all}" + (f": {reason}" if reason else "")
    book.db.commit()
    return told


def scored(grade: Any, score: float | None, again: bool) -> None:
    """Write one mark; a score by hand stays, and is asked about again where ours changed."""
    changed = grade.auto_score != score or again
    grade.auto_score = score
    if grade.manual_score is None:
        grade.needs_manual_grade = score is None
    elif changed:
        grade.needs_manual_grade = True


def lay_copy(record: Record, given: HandedIn, told: Mapping[str, str], page: str) -> None:
    """Lay down what formgrader shows."""
    cells = submission(given.notebook).cells
    release = record.folder(record.course.release_directory, ".", given.assignment)
    lab = copies.lab_notebook(release, given.assignment)
    shown = copies.copy(lab, cells, told, page)
    step = record.course.autograded_directory
    folder = record.folder(step, given.student, given.assignment)
    copies.lay(folder, given.assignment, shown, given.folder)


def lateness(record: Record, given: HandedIn) -> Iterator[str]:
    """What is late, and the penalty by the rule that nbgrader is set to."""
    book = record.book
    submitted = book.find_submission(given.assignment, given.student)
    late = submitted.total_seconds_late
    if late <= 0 and not submitted.late_submission_penalty:
        return
    from nbformat.v4 import new_notebook
    from nbgrader.preprocessors import AssignLatePenalties

    asked = {"notebook": given.assignment, "assignment": given.assignment}
    asked |= {"student": given.student, "db_url": record.course.db_url}
    AssignLatePenalties(config=record.options).preprocess(new_notebook(), {"nbgrader": asked})
    book.db.expire_all()
    penalty = submitted.late_submission_penalty or 0
    if late > 0:
        who = f"{given.student}, {given.assignment}"
        yield f"{who}: {in_hours(late)} late, {penalty:g} points less."


def in_hours(seconds: float) -> str:
    """How late something is."""
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
