"""The grade of one submission: each answer is held to its promises, from outside its process.

A process that was ended, whoever ended it, costs the exercise that was at work; the next one has
a new process. A cell that ends its process is left out of the next.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness_zero.brief import cut
from harness_zero.faults import place
from harness_zero.grading.checks import (
    GIVES_NO_VALUE,
    Finding,
    findings,
    passed,
    uncallable,
)
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.record.clock import Deadline
from harness_zero.grading.record.errors import words_of
from harness_zero.grading.record.hidden import BROKEN, HIDDEN, prepare, unlike
from harness_zero.grading.record.isolation import Limits, lay_inside
from harness_zero.grading.record.peer import Gone
from harness_zero.grading.record.plan import NOT_YET, Plan, Slot, as_python, plan
from harness_zero.grading.record.remote import LATE, Missing, Remote
from harness_zero.grading.record.stripped import stripped
from harness_zero.grading.record.submissions import Submission
from harness_zero.patience import working

LONGEST = 300  # characters of a reason
FIRST = 0.6  # of an exercise's time; the rest, at least, is for a second try
NOT_DONE = "not done yet"
NO_FUNCTION = "its cell defines no such function"
NO_CELL = "its cell is not in what was handed in"
RAISED = "its cell raised "
CROWDED = "another cell has left something at work"
ENDED = "its process ended"
WHY_GONE = {  # what to think of where a process was ended
    LATE: "an exercise has two seconds for all its promises, and its cell has two: look for a loop"
    " without a way out, or for something that waits",
    ENDED: "an answer gives back what it found: nothing in it may end Python, or take all memory",
}
NO_PLACE = re.compile(r" \([\w-]+, line \d+\)$")  # where Python itself says it without the line
NOT_TO_TELL = (  # what is another one in each process, and the grader's own folders
    re.compile(r" at 0x[0-9a-f]+"),
    re.compile(r" \([^\s()]*/harness_zero/[^\s()]*\.py\)"),
    re.compile(r"[^\s'\"`(]*/(scratch|harness-zero-[0-9a-f]+)/\d+/"),
)
Judged = tuple[list[Finding], str]  # and why it earns nothing, if it does not


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
        lay_inside(folder / lab, stripped(plan(lab)), folder / "once")
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
    return Grade(given, marks, given.notes, room.isolated)


class Sitting:
    """One submission at work: all answers in one process, and what fails there once more alone.

    So a cell that spoils the process (it patches Python, it leaves a thread at work) costs the
    exercises that need it, and no others.
    """

    def __init__(self, given: Submission, plan: Plan, room: Room) -> None:
        self.given, self.plan, self.room = given, plan, room
        self.used = 0.0  # seconds, by the exercise that is at work
        self.together = Process(self, {slot.name for slot in plan.slots})

    def leave(self) -> None:
        """End the process, if there is one."""
        self.together.leave()

    def marks(self) -> Iterator[Mark]:
        """A mark an exercise, in order.

        What is not shown is tried when all that is shown is over: what a page tells of an answer
        cannot be of a hidden case then.
        """
        told = {each.name: self.shown(each) for each in self.plan.lab.exercises}
        for exercise in self.plan.lab.exercises:
            if exercise.name in NOT_YET:
                yield Mark(exercise.name, 0, 0, f"not of record yet: {NOT_YET[exercise.name]}")
                continue
            (found, reason), seconds = told[exercise.name]
            reason = reason or self.unseen(exercise, seconds)
            points = 0 if reason else exercise.points
            yield Mark(exercise.name, points, exercise.points, reason, tuple(found))

    def shown(self, exercise: Exercise) -> tuple[Judged, float]:
        """What became of an exercise's promises, and the seconds that are left of its time."""
        if exercise.name in NOT_YET:
            return ([], ""), 0.0
        seconds, self.used = self.room.limits.seconds, 0.0
        judged = self.judged(exercise)
        return judged, self.left(seconds)

    def left(self, seconds: float) -> float:
        """What is left of an exercise's time, for which some is set aside."""
        return max(seconds * (1 - FIRST), seconds - self.used)

    @contextmanager
    def counts(self, deadline: Deadline) -> Iterator[None]:
        """Have the exercise that is at work pay for the time that it uses meanwhile."""
        try:
            yield
        finally:
            self.used += deadline.used()

    def judged(self, exercise: Exercise) -> Judged:
        """What became of an exercise's promises, and why it earns nothing if it does not."""
        seconds = self.room.limits.seconds
        helps = self.helps(exercise)
        found, reason = self.together.judged(exercise, seconds * FIRST, wary=helps)
        if not reason or reason == NOT_DONE or not helps:
            return found, reason
        rest = self.left(seconds)
        again = self.alone(exercise, lambda alone: alone.judged(exercise, rest))
        return again if not again[1] or reason == CROWDED else (found, reason)

    def unseen(self, exercise: Exercise, seconds: float) -> str:
        """Why an answer that keeps its promises earns nothing all the same, or nothing."""
        if exercise.name not in HIDDEN:
            return ""
        prepare(exercise.name, self.room.secret)
        helps = self.helps(exercise)
        _, reason = self.together.unseen(exercise, seconds, wary=helps)
        if not reason or not helps:
            return reason
        _, again = self.alone(exercise, lambda alone: alone.unseen(exercise, seconds))
        return again and (again if reason == CROWDED else reason)

    def helps(self, exercise: Exercise) -> bool:
        """Whether an answer may do better without the other cells."""
        needed = self.plan.needed(exercise.name, self.given.cells)
        return exercise.name not in self.together.ended and not needed >= self.plan.gaps()

    def alone(self, exercise: Exercise, judge: Callable[["Process"], Judged]) -> Judged:
        """The same in a process with only the cells whose names the answer uses."""
        needed = self.plan.needed(exercise.name, self.given.cells)
        alone = Process(self, {slot.name for slot in self.plan.slots if not slot.exercise} | needed)
        try:
            return judge(alone)
        finally:
            alone.leave()


class Process:
    """A learner's process with some cells, begun anew whenever it was ended."""

    def __init__(self, sitting: Sitting, cells: set[str]) -> None:
        self.sitting, self.cells = sitting, cells
        self.remote: Remote | None = None
        self.faults: dict[str, str] = {}  # of the cells of exercises, by exercise
        self.ended: set[str] = set()  # the exercises whose cells ended it

    def leave(self) -> None:
        """End it, if it runs."""
        if self.remote:
            self.remote.close()
        self.remote = None

    def judged(self, exercise: Exercise, seconds: float, wary: bool = False) -> Judged:
        """What became of an exercise's promises here."""
        return self.tried(exercise, seconds, lambda answer: held(exercise, answer), wary)

    def unseen(self, exercise: Exercise, seconds: float, wary: bool = False) -> Judged:
        """Whether an answer does here what ours does, in cases that are not shown."""
        told = {"", LATE, CROWDED}  # words that are ours

        def judge(answer: Any) -> Judged:
            told.add(reason := unlike(exercise.name, answer, self.sitting.room.secret))
            return [], reason

        _, reason = self.tried(exercise, seconds, judge, wary)
        if reason in told:
            return [], f"{BROKEN}: {reason}" if reason == LATE else reason
        return [], BROKEN

    def tried(
        self, exercise: Exercise, seconds: float, judge: Callable[[Any], Judged], wary: bool
    ) -> Judged:
        """What became of an answer that is judged here, if it comes to that.

        Who is wary does not have it judged where others are at work at the same time.
        """
        found: list[Finding] = []
        try:
            remote = self.at_work()
            if wary and remote.crowded():
                return [], CROWDED
            with remote.within(seconds) as deadline, self.sitting.counts(deadline):
                found, reason = judge(remote.find(exercise.name))
        except Missing:
            return [], self.faults.get(exercise.name) or self.missing(exercise)
        except (Exception, KeyboardInterrupt) as error:
            reason = in_words(error)
        gone = self.remote.gone if self.remote else ""
        if gone and found and found[-1].raised:
            found[-1] = ended(found[-1], gone)
        if gone or (reason and (not found or found[-1].endless)):
            self.leave()
        return found, gone or reason

    def missing(self, exercise: Exercise) -> str:
        """Why there is nothing of an exercise's name."""
        names = {slot.name for slot in self.sitting.plan.slots if slot.exercise == exercise.name}
        there = names & {*self.sitting.given.cells}
        return f"{exercise.name} is not there: {NO_FUNCTION if there else NO_CELL}"

    def at_work(self) -> Remote:
        """A process in which all cells have run but those that end it."""
        while self.remote is None:
            room, plan = self.sitting.room, self.sitting.plan
            inside = room.inside(plan.lab.name)
            self.remote = Remote(inside, dict(plan.settings), room.limits, room.isolated)
            self.remote.begin()
            if ended := self.run_cells(self.remote):
                self.cells.discard(ended)
                self.leave()
        return self.remote

    def run_cells(self, remote: Remote) -> str:
        """Run the cells in order; the one in which the process ended, if one did."""
        for slot in self.sitting.plan.slots:
            if slot.name not in self.cells:
                continue
            fault = self.run(remote, slot)
            if slot.exercise and fault:
                self.faults[slot.exercise] = fault
            if remote.gone:
                self.ended.add(slot.exercise or "")
                return slot.name
        return ""

    def run(self, remote: Remote, slot: Slot) -> str:
        """Run a cell; what kept it from its end, in words, or nothing."""
        source = slot.source
        if slot.exercise:
            source = as_python(self.sitting.given.cells.get(slot.name, ""))
        try:
            with remote.within(self.sitting.room.limits.seconds):
                remote.cell(slot.name, source)
                if slot.exercise:
                    remote.cell("after it", "")  # it may have ended what serves, not itself
        except (Exception, KeyboardInterrupt) as error:
            said, where = in_words(error), place(error)
            said = NO_PLACE.sub("", said) if where else said
            return remote.gone or f"{RAISED}{said}{where}"
        return ""


def held(exercise: Exercise, answer: Any) -> Judged:
    """An answer held to its promises."""
    if getattr(answer, "odd", None):
        found = [uncallable(exercise, GIVES_NO_VALUE)]
    else:
        found = [settled(each) for each in findings(exercise, answer, working)]
    return found, "" if passed(exercise, found) else told(found[-1])


def ended(found: Finding, gone: str) -> Finding:
    """A finding about an answer whose process was ended meanwhile."""
    expected = "an end in time" if gone == LATE else "an answer"
    return replace(found, expected=expected, got=gone, why=WHY_GONE.get(gone, ""))


def settled(found: Finding) -> Finding:
    """A finding without what is another one in each process."""
    bare = [settled_text(each) for each in (found.expected, found.got, found.why)]
    return replace(found, expected=bare[0], got=bare[1], why=bare[2])


def settled_text(text: str) -> str:
    """A text without the addresses of objects and the folders of whoever grades."""
    for each in NOT_TO_TELL:
        text = each.sub("", text)
    return text


def in_words(error: BaseException) -> str:
    """An error in words that came from a learner's process, or on the way."""
    if isinstance(error, Gone):
        return words_of(error)
    return cut(f"{type(error).__name__}: {settled_text(words_of(error))}", LONGEST)


def told(found: Finding) -> str:
    """A finding in a line, without what is drawn anew in each grading."""
    if found.state == "not done yet":
        return NOT_DONE
    got = f"; got {found.got}" if found.got else ""
    return cut(f"{found.promise}: expected {found.expected}{got}", LONGEST)
