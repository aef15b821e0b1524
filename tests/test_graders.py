"""Graders are tested themselves: on untouched labs, on right answers and on wrong ones."""

import sys
import time
from inspect import getsource
from itertools import product
from types import FunctionType

import pytest
from answers import RIGHT, WRONG

from harness_zero.course import checkout, lay
from harness_zero.grading.answers import check_lab
from harness_zero.grading.checks import finding, findings, passed, untried
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.messages import array_fault
from harness_zero.notebook.check import lines
from harness_zero.run import Run

DIAGNOSES = [name for name, exercise in EXERCISES.items() if exercise.case]


def told(name, answer):
    """What the check prints of an answer."""
    return "\n".join(lines(EXERCISES[name], findings(EXERCISES[name], answer)))


@pytest.mark.parametrize("lab", LABS.values(), ids=LABS)
def test_an_untouched_lab_earns_nothing(lab, tmp_path):
    lay(checkout(), tmp_path / "copy")
    said = []
    assert check_lab(tmp_path / "copy", lab, said.append) is False
    assert f"0 of {lab.points} points" in said[-1]


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_three_right_answers_of_different_shapes_at_least(name):
    assert len({getsource(answer) for answer in RIGHT[name]}) == len(RIGHT[name]) >= 3


@pytest.mark.parametrize(
    ("name", "answer"), [(name, answer) for name in RIGHT for answer in RIGHT[name]]
)
def test_a_right_answer_earns_full_points_whatever_its_shape(name, answer):
    assert passed(EXERCISES[name], findings(EXERCISES[name], answer))
    assert "all visible checks pass" in told(name, answer)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_knows_what_people_get_wrong(name):
    assert len(WRONG[name]) >= 2


@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name in WRONG for wrong in WRONG[name]]
)
def test_a_misconception_is_met_with_its_own_words_within_two_seconds(name, wrong):
    answer, words = WRONG[name][wrong]
    began = time.monotonic()
    said = told(name, answer)
    assert time.monotonic() - began < 2.5  # on a machine that is busy
    assert "BROKEN" in said and words in said


@pytest.mark.parametrize("name", EXERCISES)
def test_no_two_misconceptions_are_told_the_same(name):
    said = {told(name, answer): wrong for wrong, (answer, _) in WRONG[name].items()}
    assert [*said.values()] == [*WRONG[name]]


@pytest.mark.parametrize("name", EXERCISES)
def test_a_hole_is_not_done_yet_and_earns_nothing(name):
    def hole(*arguments):
        raise NotImplementedError

    parameters = EXERCISES[name].takes.partition("(")[2].rstrip(")")
    answer = eval(f"lambda {parameters}: hole()", {"hole": hole, "time": time})
    assert "not done yet" in told(name, answer)
    assert not passed(EXERCISES[name], findings(EXERCISES[name], answer))


@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name in WRONG for wrong in WRONG[name]]
)
def test_what_is_told_can_be_read(name, wrong):
    found = findings(EXERCISES[name], WRONG[name][wrong][0])
    assert max(map(len, told(name, WRONG[name][wrong][0]).splitlines())) < 1_000
    assert "what is no" not in found[-1].got and "string indices" not in found[-1].got


@pytest.mark.parametrize(
    ("name", "wrong"), [(name, wrong) for name in WRONG for wrong in WRONG[name]]
)
def test_a_case_that_is_handed_over_has_no_fault_but_the_answers_own(name, wrong):
    case = findings(EXERCISES[name], WRONG[name][wrong][0])[-1].case
    if name in ("answer", "pairing_fault", "act_at_once") and isinstance(case, list):
        assert "begins with the user" not in (array_fault(case) or "")


def test_what_was_not_tried_is_counted_also_where_nothing_was():
    act = EXERCISES["act"]
    assert untried(act, findings(act, 5)) == len(act.promises)
    assert untried(act, findings(act, RIGHT["act"][0])) == 0
    assert untried(act, findings(act, WRONG["act"]["in reverse"][0])) == len(act.promises) - 2


@pytest.mark.parametrize("name", DIAGNOSES)
def test_of_the_promises_that_a_case_offers_exactly_one_broke(name):
    case = EXERCISES[name].case
    broken = [broke for broke in case.choices.values() if broke(case.play()) is not None]
    assert len(broken) == 1 and len(case.choices) >= 4


@pytest.mark.parametrize("name", DIAGNOSES)
def test_every_other_diagnosis_is_wrong(name):
    case = EXERCISES[name].case
    every = product(case.choices, range(-1, case.numbers()[-1] + 3))
    right = [each for each in every if passed(EXERCISES[name], findings_of(name, each))]
    assert right == [case.right()]


def findings_of(name, diagnosis):
    return findings(EXERCISES[name], lambda: diagnosis)


@pytest.mark.parametrize("name", DIAGNOSES)
def test_a_case_is_the_same_run_every_time(name):
    assert EXERCISES[name].case.play() == EXERCISES[name].case.play()


def kept(value, lent):
    """What is lent, or comes from what is lent, as it is; it is kept, to be spoiled later."""
    lent.append(value)
    if isinstance(value, dict) and any(map(callable, value.values())):
        return {name: kept(each, lent) for name, each in value.items()}
    if not callable(value) or isinstance(value, type):
        return value

    def stands(*args, **named):
        given = [kept(each, lent) for each in args]
        return kept(value(*given, **{name: kept(each, lent) for name, each in named.items()}), lent)

    vars(stands).update(getattr(value, "__dict__", {}))
    return stands


def spoil(value, done):
    """Change all that can be changed in a value."""
    if id(value) in done:
        return
    done[id(value)] = value
    inside = vars(value) if isinstance(value, Run) else value
    if isinstance(inside, list | tuple | dict):
        for each in [*(inside.values() if isinstance(inside, dict) else inside)]:
            spoil(each, done)
    if isinstance(value, list):
        value.append("spoiled")
    if isinstance(value, dict):
        value["spoiled"] = True


def constants():
    """What the modules of the course hold, in words."""
    held = {}
    for module in [each for name, each in sys.modules.items() if name.startswith("harness_zero")]:
        for name, value in vars(module).items():
            if isinstance(value, FunctionType):
                held[module.__name__, name] = repr(value.__defaults__)
            elif isinstance(value, list | tuple | dict) and not name.startswith("__"):
                held[module.__name__, name] = repr(value)
    return held


@pytest.mark.parametrize("name", EXERCISES)
def test_what_an_answer_spoils_is_whole_for_the_next_one(name):
    for promise in EXERCISES[name].promises:
        lent = []
        finding(promise, kept(RIGHT[name][0], lent))
        spoil(lent, {})
        assert {key for key, words in constants().items() if "spoiled" in words} == set()
