"""Lab 07 in a learner's copy: their marks go along with whatever their harness sends."""

import pytest
from test_lab_05 import NEW, OLD, cells, with_pieces
from test_mine import as_before, copy

from harness_zero import busters, kernel, view
from harness_zero.desk import Desk, asking
from harness_zero.flight.billed import billed
from harness_zero.flight.fly import fly
from harness_zero.flight.pilots import library
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab07 import LONG, PAUSES, TRIMMED, broken_prefix
from harness_zero.grading.lab07_requests import bill_of, growing, marks, served
from harness_zero.messages import reply
from harness_zero.mine import lab_of, load
from harness_zero.notebook import my_harness
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

MIXTURES = {
    "nothing is written": (),
    "the loop is theirs": (*OLD, *NEW),
    "the marks are theirs": ("marked",),
    "both are": (*OLD, *NEW, "marked"),
}


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_what_the_model_is_sent_bears_marks_and_the_array_none(copy, names):
    package = with_pieces(copy, *names) if names else load(copy)
    desk = Desk(asking("a"), asking("b"), reply("done"))
    given = package.run(desk.model, desk.tools, "go")
    messages = given[0] if isinstance(given, tuple) else given
    assert [len(marks({"messages": sent})) for sent in desk.sent] == [1, 2, 2]
    assert marks({"messages": messages}) == []


def test_a_harness_with_marks_flies_as_one_without(copy):
    flight = "diligent/many-pages/calm#6"
    assert fly(load(copy), flight)[0].rounds == 40


def test_the_answer_becomes_a_piece_and_brings_its_helpers_along(copy):
    assert "my_harness/marked.py is yours now." in taken(copy, "marked")
    source = (copy / "my_harness/marked.py").read_text("utf-8")
    assert "def bare(" in source and "def mark_last(" in source
    page = copy / "my_harness/__init__.py"
    assert "marking" not in page.read_text("utf-8")  # the borrowed run takes the marks in itself
    with_pieces(copy, "two_halves")
    both = "\nrun = beside(run, repetition)\nrun = marking(run, marked)\n"
    assert page.read_text("utf-8").endswith(both)


@pytest.mark.parametrize("name", ["first_change", "with_news", "compact"])
def test_the_other_answers_stay_in_the_notebook(copy, name):
    assert taken(copy, name) == "This exercise is no piece of a harness, so it stays here."


def taken(copy, name):
    """Check the worked answer to an exercise as a learner would."""
    space, lab = {"__name__": "__main__"}, lab_of(EXERCISES[name])
    made = [f"def {each.name}(" for each in LABS[lab].exercises if not each.case]
    for cell in cells(lab):
        if cell.startswith(("import ", "from ", "def bare", "def mark_last", *made)):
            exec(cell, space)
            kernel.CELLS.append(cell)
    kernel.WRITTEN[name] = space[name]
    return take(copy, EXERCISES[name], space[name])


def test_a_notebook_flies_the_harness_of_the_copy_that_it_lies_in(copy, monkeypatch):
    taken(copy, "marked")
    monkeypatch.setattr(kernel, "STARTED", [copy / "chapters"])
    assert my_harness().marked.__module__ == "my_harness.marked"


def test_outside_of_a_copy_it_flies_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "STARTED", [tmp_path])
    assert my_harness().marked is view.marked and not [*tmp_path.iterdir()]


def test_of_the_dear_run_one_request_alone_reads_less_than_the_one_before_had():
    run = broken_prefix()
    found = served(run.requests, run.seconds)
    lost = [at for at in range(1, len(found)) if found[at].read < found[at - 1].total]
    assert lost == [TRIMMED]


def test_the_dear_run_tempts_with_a_long_result_and_with_a_pause_that_is_not_too_long():
    run = broken_prefix()
    found = served(run.requests, run.seconds)
    assert max(found[1:], key=lambda each: each.written) is found[LONG]
    assert 240 < max(PAUSES) < 300


def test_a_hole_in_marked_is_said_and_no_traceback(capsys):
    def marked(request):
        raise NotImplementedError

    bill_of(marked)
    assert capsys.readouterr().out == "not done yet: there is a hole in marked.\n"


@pytest.mark.parametrize("buster", busters.BUSTERS[:5], ids=lambda buster: buster.name)
def test_no_mark_saves_a_prefix_that_changes(buster):
    plain = [*growing(10)]
    busted, _ = buster.bust(plain, [20.0 * at for at in range(10)])
    kept = sum(each.read for each in served(map(view.marked, plain)))
    assert sum(each.read for each in served(map(view.marked, busted))) < kept


def test_flights_are_the_same_under_another_bill():
    names = ["diligent/login-bug/calm#0", "refusing/one-mail/calm#0"]
    plain, cached = billed(library, names), billed(library, names, mark=view.marked)
    assert [each.kind for each in plain] == [each.kind for each in fly(library, names)]
    assert [each.rounds for each in plain] == [each.rounds for each in cached]


def test_many_rounds_get_cheaper_and_a_single_one_dearer():
    names = ["diligent/login-bug/calm#0", "refusing/one-mail/calm#0"]
    plain, cached = billed(library, names), billed(library, names, mark=view.marked)
    assert cached[0].usd < plain[0].usd / 3
    assert plain[1].rounds == 1 and cached[1].usd > plain[1].usd
