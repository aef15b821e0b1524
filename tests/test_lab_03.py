"""Lab 03 in a notebook: pieces of a harness, and what an answer is worth."""

import sys

import pytest
from answers.lab03 import answer_in_full

from harness_zero import kernel
from harness_zero.course import checkout, lay
from harness_zero.flight.fly import fly
from harness_zero.flight.treatments import answering
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.references import reference
from harness_zero.mine import load, owned
from harness_zero.notebook import survival
from harness_zero.taking import take


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A learner's copy, in which the two pieces of the lab were written under the magic."""
    monkeypatch.setattr(kernel, "WRITTEN", {})
    monkeypatch.setattr(kernel, "CELLS", [])
    lay(checkout(), tmp_path / "copy")
    yield tmp_path / "copy"
    for name in [name for name in sys.modules if name.split(".")[0] == "my_harness"]:
        del sys.modules[name]


def written(*names):
    """The lab's solutions, as the kernel remembers their cells."""
    space = {"__name__": "__main__"}
    setup = (
        "from harness_zero.messages import tool_result\n"
        "from harness_zero.toolbox import input_fault"
    )
    for cell in [setup, *(reference(name).source for name in names)]:
        exec(cell, space)
        kernel.CELLS.append(cell)
    kernel.WRITTEN.update({name: space[name] for name in names})
    return space


def test_the_new_answer_takes_its_report_along_and_uses_the_packages_cut(copy):
    answer = written("report", "excerpt", "answer_or_report")["answer_or_report"]
    said = take(copy, EXERCISES["answer_or_report"], answer)
    assert said == "my_harness/answer.py is yours now. It uses the package's excerpt (borrowed)."
    source = (copy / "my_harness/answer.py").read_text()
    assert "from . import excerpt" in source and "def report(call, error):" in source
    page = (copy / "my_harness/__init__.py").read_text()
    assert "from .answer import answer_or_report as answer  # yours" in page
    assert owned(copy) == {"answer": EXERCISES["answer_or_report"]}


def test_a_harness_with_the_new_answer_flies_as_stage_3_does_where_tools_fail(copy):
    answer = written("report", "excerpt", "answer_or_report")["answer_or_report"]
    take(copy, EXERCISES["answer_or_report"], answer)
    name = "diligent/moved-config/calm#11"
    assert fly(load(copy), name)[0].kind == fly(3, name)[0].kind == "reached"


def test_an_answer_to_lab_00_does_not_take_the_place_of_the_one_that_does_more(copy):
    space = written("report", "excerpt", "answer_or_report", "answer")
    take(copy, EXERCISES["answer_or_report"], space["answer_or_report"])
    said = take(copy, EXERCISES["answer"], space["answer"])
    assert "stays: it is your answer to lab 03_errors_as_data, which does more" in said


def test_the_figure_shows_what_an_answer_is_worth_and_where_a_hole_is():
    names = ["diligent/moved-config/calm#11", "dreaming/shelves/calm#0"]

    def unfilled(call, tools):
        raise NotImplementedError

    assert "goals: 1 rescued" in repr(
        survival(2, answering(answer_in_full, "yours"), flights=names)
    )
    assert repr(survival(2, answering(unfilled), flights=names)) == (
        "not done yet: there is a hole in unfilled."
    )
