"""The grade of one submission: each answer is held to its promises, from outside its process."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness_zero.grading.checks import Finding
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.record.clock import Deadline
from harness_zero.grading.record.hidden import HIDDEN, prepare
from harness_zero.grading.record.isolation import Limits, lay_inside
from harness_zero.grading.record.plan import Plan, plan
from harness_zero.grading.record.process import Judged, Process
from harness_zero.grading.record.reasons import CROWDED, NOT_DONE
from harness_zero.grading.record.stripped import stripped
from harness_zero.grading.record.submissions import Submission

FIRST = 0.6  # of an exercise's time; the rest, at least, is for a second try


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
        """What a learner's process sees of the package in this lab; it is laid down once."""
        place = self.folder / lab
        if not place.is_dir():
            laid(self.folder, [lab])
        return place


def laid(folder: Path, labs: Iterable[str]) -> None:
    """Lay down what the processes of these labs see. Several graders may do so at once."""
    mine = folder / f"by_{os.getpid()}"
    for lab in labs:
        lay_inside(mine / lab, stripped(plan(lab)), mine / "once")
        with suppress(OSError):  # another grader was quicker
            (mine / lab).rename(folder / lab)
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
            (found, reason), seconds = told[exercise.name]
            reason = reason or self.unseen(exercise, seconds)
            points = 0 if reason else exercise.points
            yield Mark(exercise.name, points, exercise.points, reason, tuple(found))

    def shown(self, exercise: Exercise) -> tuple[Judged, float]:
        """What became of an exercise's promises, and the seconds that are left of its time."""
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
        helps, self.used = self.helps(exercise), 0.0
        _, reason = self.together.unseen(exercise, seconds, wary=helps)
        if not reason or not helps:
            return reason
        rest = max(seconds - self.used, 0.0)
        _, again = self.alone(exercise, lambda alone: alone.unseen(exercise, rest))
        return again and (again if reason == CROWDED else reason)

    def helps(self, exercise: Exercise) -> bool:
        """Whether an answer may do better without the other cells."""
        needed = self.plan.needed(exercise.name, self.given.cells)
        return exercise.name not in self.together.ended and not needed >= self.plan.gaps()

    def alone(self, exercise: Exercise, judge: Callable[[Process], Judged]) -> Judged:
        """The same in a process with only the cells whose names the answer uses."""
        needed = self.plan.needed(exercise.name, self.given.cells)
        alone = Process(self, {slot.name for slot in self.plan.slots if not slot.exercise} | needed)
        try:
            return judge(alone)
        finally:
            alone.leave()
