"""What to say to a learner of one mark: how it stands, what broke, and what to think of next."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness_zero.brief import plural
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.record.grade import Grade, Mark
from harness_zero.grading.record.hidden import BROKEN as UNSEEN
from harness_zero.grading.record.plan import as_python, parsed, plan
from harness_zero.grading.record.reasons import NO_CELL, NO_FUNCTION, NOT_DONE, RAISED, WHY_GONE
from harness_zero.grading.record.remote import LATE

KEPT, BROKEN, OPEN = "kept", "broken", "open"  # how an exercise stands
NO_NAME = re.compile(r"NameError: (?:cannot access free variable|name) '(\w+)'")
UNKNOWN = (
    "nothing that is graded makes the name `{0}`: a cell that you added is left out, so import {0},"
    " or write it, in this exercise's own cell"
)
NOT_MADE = "`{0}` is an exercise of its own: look there first, for its cell does not make it here"
SYNTAX = "Python cannot read it: run the cell in your notebook, and it is marked there"
BRING_BACK = (
    "Only the cells that came with the lab are graded, not those that you add."
    " `harness-zero reset {}` brings the lab back with all of them, and keeps what you wrote beside"
    " it; put your answers into it and hand it in."
)
LOOK_FOR = (
    "That case has other names, texts, numbers and moments than the checks. So look for what your"
    " answer takes for granted: a name or a number that is written into it, a case that it knows by"
    " its words, a length."
)
LOOK_FOR_TIME = "What to think about: does it end, and without waiting, whatever it is given?"
FIRST_THERE = "It uses {}, where points were lost too: look there first."


@dataclass(frozen=True)
class Account:
    """How an exercise stands, in words."""

    state: str
    said: tuple[str, ...] = ()  # sentences
    details: dict[str, str] = field(default_factory=dict)  # expected, got, why
    then: tuple[str, ...] = ()  # what to think of next


def account(grade: Grade, mark: Mark, exercise: Exercise) -> Account:
    """What is to be said of a mark."""
    every = plural(len(exercise.promises), "promise")
    if not mark.reason:
        return Account(KEPT, (f"{'All ' if len(exercise.promises) > 1 else ''}{every} kept.",))
    if mark.reason == NOT_DONE:
        return Account(OPEN, not_done(mark))
    uses = [*begin_there(grade, mark)]
    first = (FIRST_THERE.format(named(uses)),) if uses else ()
    if mark.reason.startswith(UNSEEN):
        return not_shown(mark.reason, every, first)
    if mark.findings and mark.findings[-1].state == "broken":
        return broken(mark, first)
    return not_tried(grade, mark, first)


def named(names: list[str]) -> str:
    """Some names: `a`, `b` and `c`."""
    *others, last = [f"`{each}`" for each in names]
    return f"{', '.join(others)} and {last}" if others else last


def not_done(mark: Mark) -> tuple[str, ...]:
    """Where the hole is."""
    where = mark.findings[-1].got if mark.findings else ""
    if where in ("", "it", mark.exercise):
        return (f"Not done yet: the hole in `{mark.exercise}` is still there.",)
    return (f"Not done yet: it comes to the hole in `{where}`, which is still there.",)


def not_shown(reason: str, every: str, first: tuple[str, ...]) -> Account:
    """Of a case that is not shown: the promise that it is about, and nothing of the case."""
    said = f"{every} kept, as far as the notebook tries them."
    about = reason.removeprefix(UNSEEN).lstrip(":; ")
    if about == LATE:
        then = f"In a case that is not shown it was {LATE}."
        return Account(BROKEN, (said, then, *(first or (LOOK_FOR_TIME,))))
    then = "In a case that is not shown it does something else than it should."
    more = f" What to {about}." if about else ""
    return Account(BROKEN, (said, f"{then}{more}", *(first or (LOOK_FOR,))))


def broken(mark: Mark, first: tuple[str, ...]) -> Account:
    """Of a promise that broke: what the check in the notebook says of it."""
    found = mark.findings[-1]
    why = (found.raised and advice(found.got)) or found.why
    told = {"expected": found.expected, "got": found.got, "why": why}
    return Account(BROKEN, (), told, first)


def not_tried(grade: Grade, mark: Mark, first: tuple[str, ...]) -> Account:
    """Of an answer that was not there to be tried."""
    assert grade.submission.lab
    if mark.reason.endswith(NO_CELL):
        back = BRING_BACK.format(grade.submission.lab.name[:2])
        return Account(OPEN, ("Its cell is not in the notebook that you handed in.", back))
    if mark.reason.endswith(NO_FUNCTION):
        said = f"Its cell makes no function `{mark.exercise}`: is it empty, or is the name another?"
        return Account(OPEN, (said,))
    if mark.reason.startswith(RAISED):
        got = mark.reason.removeprefix(RAISED)
        said = "Its cell did not run to its end, so no promise could be tried."
        return Account(BROKEN, (said,), {"got": got, "why": advice(got)}, first)
    told = {"got": mark.reason, "why": WHY_GONE.get(mark.reason, "")}
    return Account(BROKEN, ("It could not be tried to its end.",), told, first)


def advice(error: str) -> str:
    """What to think of when an answer raised this, where it is another thing than in a notebook."""
    if found := NO_NAME.match(error):
        return (NOT_MADE if found[1] in EXERCISES else UNKNOWN).format(found[1])
    return SYNTAX if error.startswith(("SyntaxError", "IndentationError", "TabError")) else ""


def begin_there(grade: Grade, mark: Mark) -> Iterator[str]:
    """The other exercises that this one's cell uses, and that lost their points."""
    assert grade.submission.lab
    slots = plan(grade.submission.lab.name).slots
    cells = {slot.exercise: grade.submission.cells.get(slot.name, "") for slot in slots}
    used = taken(cells.get(mark.exercise, ""))
    for other in grade.marks:
        if other.reason and other.exercise != mark.exercise and other.exercise in used:
            yield other.exercise


def taken(source: str) -> set[str]:
    """The names that a cell uses and does not make itself."""
    nodes = [*ast.walk(tree)] if (tree := parsed(as_python(source))) else []
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {each.id for each in names} - made
