"""The grade of one submission: each answer is held to its promises, from outside its process.

A process that was ended, whoever ended it, costs the exercise that was at work; the next one has
a new process. A cell that ends its process is left out of the next.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness_zero.brief import cut
from harness_zero.grading.checks import Finding, findings, passed
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.record.hidden import BROKEN, unlike
from harness_zero.grading.record.isolation import Limits, lay_inside
from harness_zero.grading.record.peer import Gone
from harness_zero.grading.record.plan import BESIDE, NOT_YET, Plan, as_python, plan
from harness_zero.grading.record.protocol import words_of
from harness_zero.grading.record.remote import Missing, Remote
from harness_zero.grading.record.submissions import Submission

LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class Mark:
    """What one exercise earned, and why."""

    exercise: str
    points: int
    of: int
    reason: str = ""  # why not all
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Grade:
    """What a submission earned."""

    submission: Submission
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    of_record: bool = True

    @property
    def total(self) -> int:
        """All points together."""
        return sum(mark.points for mark in self.marks)


@dataclass(frozen=True)
class Room:
    """Where submissions are graded: what is seen inside, the limits, and whether they hold."""

    folder: Path  # holds a folder for each lab
    limits: Limits = field(default_factory=Limits)
    isolated: bool = True
    secret: bytes = b""  # from which hidden cases are drawn

    def inside(self, lab: str) -> Path:
        """What a learner's process sees of the package in this lab."""
        return self.folder / lab


def laid(folder: Path, labs: Iterable[str]) -> None:
    """Lay down what the processes of these labs see."""
    for lab in labs:
        lay_inside(folder / lab, BESIDE.get(lab, ()))
    folder.chmod(0o755)


def graded(given: Submission, room: Room) -> Grade:
    """The grade of a submission."""
    if given.lab is None:
        return Grade(given, notes=(given.fault,), of_record=room.isolated)
    sitting = Sitting(given, plan(given.lab.name), room)
    try:
        marks = tuple(sitting.marks())
    finally:
        sitting.leave()
    return Grade(given, marks, (*given.notes, *sitting.notes), room.isolated)


class Sitting:
    """One submission at work, in as many processes as it takes."""

    def __init__(self, given: Submission, plan: Plan, room: Room) -> None:
        self.given, self.plan, self.room = given, plan, room
        self.remote: Remote | None = None
        self.faults: dict[str, str] = {}  # of the cells of exercises, by exercise
        self.left_out: set[str] = set()
        self.notes: list[str] = []

    def leave(self) -> None:
        """End the process, if there is one."""
        if self.remote:
            self.remote.close()
        self.remote = None

    def marks(self) -> Iterator[Mark]:
        """A mark an exercise, in order."""
        for exercise in self.plan.lab.exercises:
            if exercise.name in NOT_YET:
                yield Mark(exercise.name, 0, 0, f"not of record yet: {NOT_YET[exercise.name]}")
                continue
            found, reason = self.tried(exercise)
            full = not reason and passed(exercise, found)
            points = exercise.points if full else 0
            yield Mark(exercise.name, points, exercise.points, reason, tuple(found))

    def tried(self, exercise: Exercise) -> tuple[list[Finding], str]:
        """What became of an exercise's promises, and why it earns nothing if it does not."""
        try:
            remote = self.at_work()
            if exercise.name in self.faults:
                return [], self.faults[exercise.name]
            with remote.within(self.room.limits.seconds):
                answer = remote.find(exercise.name)
                if odd := getattr(answer, "odd", None):
                    return [], f"{exercise.name} is a function with async or yield in it ({odd})"
                found = findings(exercise, answer)
                other = passed(exercise, found) and unlike(exercise.name, answer, self.room.secret)
        except Missing:
            return [], f"{exercise.name} is not there: its cell defines no such function"
        except (Exception, KeyboardInterrupt) as error:
            found, reason = [], in_words(error)
        else:
            reason = "" if passed(exercise, found) else told(found[-1])
            reason = BROKEN if other else reason
        gone = self.remote.gone if self.remote else ""
        if gone or (reason and (not found or found[-1].endless)):
            self.leave()
        reason = gone or reason
        return found, reason

    def at_work(self) -> Remote:
        """A process in which all cells have run but those that end it."""
        while self.remote is None:
            room = self.room
            inside = room.inside(self.plan.lab.name)
            settings = {**self.plan.settings}
            self.remote = Remote(inside, settings, room.limits, room.isolated)
            if ended := self.run_cells(self.remote):
                self.left_out.add(ended)
                self.leave()
        return self.remote

    def run_cells(self, remote: Remote) -> str:
        """Run the cells in order; the one in which the process ended, if one did."""
        for slot in self.plan.slots:
            if slot.name in self.left_out:
                continue
            source = slot.source
            if slot.exercise:
                source = as_python(self.given.cells.get(slot.name, ""))
            fault = self.run(remote, slot.name, source)
            if slot.exercise and fault:
                self.faults[slot.exercise] = fault
            if remote.gone:
                return slot.name
        return ""

    def run(self, remote: Remote, name: str, source: str) -> str:
        """Run a cell; what kept it from its end, in words, or nothing."""
        try:
            with remote.within(self.room.limits.seconds):
                remote.cell(name, source)
        except (Exception, KeyboardInterrupt) as error:
            return remote.gone or f"its cell raised {in_words(error)}"
        return ""


def in_words(error: BaseException) -> str:
    """An error in words that came from a learner's process, or on the way."""
    if isinstance(error, Gone):
        return words_of(error)
    return cut(f"{type(error).__name__}: {words_of(error)}", LONGEST)


def told(found: Finding) -> str:
    """A finding in a line, without what is drawn anew in each grading."""
    if found.state == "not done yet":
        return "not done yet"
    return cut(f"{found.promise}: expected {found.expected}; got {found.got}", LONGEST)
