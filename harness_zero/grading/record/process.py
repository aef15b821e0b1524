"""A learner's process with the cells of a submission, in which answers are tried from outside.

A process that was ended, whoever ended it, costs the exercise that was at work; the next one has
a new process. A cell that ends its process is left out of the next.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness_zero.faults import place
from harness_zero.grading.checks import GIVES_NO_VALUE, Finding, findings, passed, uncallable
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.record.hidden import BROKEN, unlike
from harness_zero.grading.record.plan import Slot, as_python
from harness_zero.grading.record.reasons import (
    CROWDED,
    NO_CELL,
    NO_FUNCTION,
    NO_PLACE,
    RAISED,
    ended,
    in_words,
    settled,
    told,
)
from harness_zero.grading.record.remote import LATE, Missing, Remote
from harness_zero.patience import working

if TYPE_CHECKING:
    from harness_zero.grading.record.grade import Sitting

Judged = tuple[list[Finding], str]  # and why it earns nothing, if it does not


class Process:
    """A learner's process with some cells, begun anew whenever it was ended."""

    def __init__(self, sitting: "Sitting", cells: set[str]) -> None:
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
