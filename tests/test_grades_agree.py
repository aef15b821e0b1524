"""Visible checks and grades of record agree: about every right answer, and every misconception.

Each answer is one cell (cells_of_answers.py), run in a notebook's names and in a process of the
grader's. A machine that is busy changes nothing here: the limits are generous.
"""

import linecache
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from answers import LABS as ANSWERS
from cells_of_answers import as_cell, known_in
from handed_in import filled, laid_down, solution

from harness_zero.grading.checks import findings, passed
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.record.grade import Room, Sitting, graded, laid
from harness_zero.grading.record.isolation import Limits, isolates
from harness_zero.grading.record.plan import WHOLE, plan
from harness_zero.grading.record.submissions import Submission, submission
from harness_zero.mine import lab_of
from harness_zero.notebook.check import lines

OF_RECORD = [*EXERCISES]
PARTS = 3


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, LABS)
    return Room(folder, Limits(seconds=30), isolated=not isolates(), secret=b"of sixteen bytes")


def answers(kind, name):
    """The cells of an exercise's answers, by their keys."""
    module = next(each for each in ANSWERS if name in each.RIGHT)
    there, of = plan(lab_of(EXERCISES[name])), getattr(module, kind)[name]
    known = {key: of for key, of in known_in(there).items() if key != name}
    keys = range(len(of)) if kind == "RIGHT" else of
    return {key: as_cell(module, kind, name, key, importable(there), known) for key in keys}


def importable(there):
    """What of ours a cell of a lab can import."""

    def may(module, name):
        shown = module in WHOLE or name in there.settings["shown"].get(module, ())
        return shown and name not in there.settings["hidden"].get(module, ())

    return may


def visible(name, cell):
    """What the check in the notebook says of an answer in its cell: its last finding, in lines."""
    names, exercise = {"__name__": "__main__"}, EXERCISES[name]
    linecache.cache["cell"] = (len(cell), None, cell.splitlines(True), "cell")
    with redirect_stdout(StringIO()):
        for slot in plan(lab_of(exercise)).slots:
            if slot.exercise == name:
                exec(compile(cell, "cell", "exec"), names)
                break
            with suppress(Exception):
                exec(slot.source, names)
        found = findings(exercise, names[name])
    return "" if passed(exercise, found) else found[-1].promise, "\n".join(lines(exercise, found))


def of_record(name, cell, room):
    """What the grade of record says of an answer in its cell: a promise, and the reason."""
    there = plan(lab_of(EXERCISES[name]))
    cells = {slot.name: slot.source for slot in there.slots if slot.exercise}
    cells |= {slot.name: cell for slot in there.slots if slot.exercise == name}
    sitting = Sitting(Submission(Path("it"), "ada", "", there.lab, cells), there, room)
    try:
        found, reason = sitting.together.judged(there.exercise(name), room.limits.seconds)
        reason = reason or sitting.unseen(there.exercise(name), room.limits.seconds)
    finally:
        sitting.leave()
    return found[-1].promise if found and reason else reason, reason


def disagreements(name, room):
    """A line for each answer that the two do not judge alike, or not as it is meant."""
    for key, cell in answers("RIGHT", name).items():
        (promise, told), (other, reason) = visible(name, cell), of_record(name, cell, room)
        if promise or other:
            yield f"right answer {key}: the check says {told}; of record: {reason or 'right'}"
    for key, cell in answers("WRONG", name).items():
        promise, told = visible(name, cell)
        late = "still running" in told  # then it is the time that tells, and not the promise
        if late and WORDS[name][key] not in told:  # a machine with much else to do
            promise, told = visible(name, cell)
            late = "still running" in told
        other, reason = of_record(name, cell, replace(room, limits=Limits()) if late else room)
        if WORDS[name][key] not in told or not other or (promise != other and not late):
            yield f"{key}: the check says {told}; of record: {reason or 'right'}"


WORDS = {
    name: {key: words for key, (_, words) in wrong.items()}
    for module in ANSWERS
    for name, wrong in module.WRONG.items()
}


class Agreement:
    """Every answer to an exercise of some labs; each class can have a process of its own."""

    def test_the_check_and_the_grade_of_record_say_the_same_of_every_answer(self, name, room):
        assert [*disagreements(name, room)] == []


def in_part(number):
    """Every so manyth exercise, so that each part takes about as long."""
    return pytest.mark.parametrize("name", OF_RECORD[number::PARTS])


@in_part(0)
class TestAThird(Agreement):
    pass


@in_part(1)
class TestAnotherThird(Agreement):
    pass


@in_part(2)
class TestTheLastThird(Agreement):
    pass


@pytest.mark.parametrize("lab", LABS)
def test_our_own_solution_earns_all_that_is_of_record(lab, room, tmp_path):
    grade = graded(submission(laid_down(solution(lab), tmp_path, lab=lab)), room)
    assert [(mark.exercise, mark.reason) for mark in grade.marks if mark.points < mark.of] == []
    assert all(mark.of for mark in grade.marks)


CHANGES_WHAT_IS_LENT = {
    "answer": (
        "def answer(call, tools):\n"
        "    tool = tools.pop(call['name'])\n"
        "    return tool_result(call['id'], str(tool(**call['input'])))\n"
    ),
    "next_array": (
        "def next_array(messages, reply, results):\n"
        "    messages += [said(reply), user(*results)]\n"
        "    return messages\n"
    ),
}


@pytest.mark.parametrize("name", CHANGES_WHAT_IS_LENT)
def test_what_an_answer_changes_in_what_it_was_lent_is_seen_from_outside(name, room, tmp_path):
    notebook = filled(solution(), **{name: CHANGES_WHAT_IS_LENT[name]})
    grade = graded(submission(laid_down(notebook, tmp_path)), room)
    (mark,) = [mark for mark in grade.marks if mark.exercise == name]
    assert mark.points == 0 and " stay" in mark.reason


def test_a_policy_that_writes_the_run_is_seen_from_outside(room, tmp_path):
    source = (
        "def window(size=5, times=3):\n"
        "    def policy(run):\n"
        "        run.pending.clear()\n"
        "        return None\n"
        "    return policy\n"
    )
    notebook = filled(solution("06_repetition_detector"), window=source)
    path = laid_down(notebook, tmp_path, lab="06_repetition_detector")
    mark = graded(submission(path), room).marks[0]
    assert mark.points == 0 and "run.pending to stay" in mark.reason
