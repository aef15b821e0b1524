"""Visible checks and grades of record agree about right answers and about misconceptions.

A sample for each exercise; HARNESS_ZERO_ALL_ANSWERS=1 tries every answer that there is.
"""

import os

import pytest
from answers import LABS as ANSWERS
from cells_of_answers import as_cell, known_in
from handed_in import filled, laid_down, solution

from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.record.grade import Room, Sitting, graded, laid
from harness_zero.grading.record.isolation import Limits, isolates
from harness_zero.grading.record.plan import NOT_YET, plan
from harness_zero.grading.record.submissions import submission

ALL = bool(os.environ.get("HARNESS_ZERO_ALL_ANSWERS"))
OF_RECORD = [name for name in EXERCISES if name not in NOT_YET]
ONLY_IN_THEIR_MODULE = {  # a name means something else in the notebook than where they are written
    ("broken_prefix", 2),
    ("output_type", 1),
    ("stop_hook", 1),
    ("with_news", 2),
}


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, LABS)
    return Room(folder, Limits(seconds=8), isolated=not isolates(), secret=b"of sixteen bytes")


def reason(kind, name, key, room, folder):
    """Why an answer, written into its cell, earns nothing; nothing if it earns its points."""
    lab = next(lab for lab in LABS.values() if name in [each.name for each in lab.exercises])
    module = next(each for each in ANSWERS if name in each.RIGHT)
    there = plan(lab.name)
    slot = next(slot for slot in there.slots if slot.exercise == name)
    cell = as_cell(module, kind, name, key, known_in(there) - {name})
    notebook = filled(solution(lab.name), **{slot.name.replace("-", "_"): cell})
    given = submission(laid_down(notebook, folder, lab=lab.name))
    sitting = Sitting(given, there, room)
    try:
        return sitting.together.judged(there.exercise(name), room.limits.seconds)[1]
    finally:
        sitting.leave()


def answers(kind, name):
    """The keys of the answers to an exercise."""
    module = next(each for each in ANSWERS if name in each.RIGHT)
    of = getattr(module, kind)[name]
    return [*range(len(of))] if kind == "RIGHT" else [*of]


def imports_ours(said):
    """Whether an answer was refused since it imports what is ours; some right ones in tests do."""
    return "ImportError" in said or "ModuleNotFoundError" in said


@pytest.mark.parametrize("lab", LABS)
def test_our_own_solution_earns_all_that_is_of_record(lab, room, tmp_path):
    grade = graded(submission(laid_down(solution(lab), tmp_path, lab=lab)), room)
    assert [(mark.exercise, mark.reason) for mark in grade.marks if mark.points < mark.of] == []
    assert {mark.exercise for mark in grade.marks if not mark.of} <= {*NOT_YET}


@pytest.mark.parametrize("name", OF_RECORD)
def test_right_answers_earn_their_points(name, room, tmp_path):
    tried = []
    for key in reversed(
        [k for k in answers("RIGHT", name) if (name, k) not in ONLY_IN_THEIR_MODULE]
    ):
        said = reason("RIGHT", name, key, room, tmp_path)
        if not imports_ours(said):
            tried.append(said)
            if not ALL:
                break
    assert {*tried} <= {""}


@pytest.mark.parametrize("name", OF_RECORD)
def test_misconceptions_earn_nothing(name, room, tmp_path):
    keys = answers("WRONG", name)
    for key in keys if ALL else keys[-1:]:
        assert reason("WRONG", name, key, room, tmp_path) != "", key


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
