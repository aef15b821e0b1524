"""Lab 11 in a learner's copy: all pieces together, theirs and borrowed, in any mixture."""

import json
from pathlib import Path

import pytest
from test_lab_05 import NEW, cells, with_pieces
from test_mine import as_before, copy

from harness_zero import kernel
from harness_zero.flight.fly import fly
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab11 import TOGETHER, WHO_LET_IT_CASE
from harness_zero.mine import PAGE, lab_of, load, makers, ours
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

ROOT = Path(__file__).parents[1]
PIECES = ("verdict", "permission", "pool", "all_together")
LATE = ("repetition", "marked", "stop_hook", "entries", "journal", "in_doubt", "journaled")
ALL = [made[-1].name for made in makers().values()]
MIXTURES = {
    "nothing is written": (),
    "the rules are theirs": ("verdict",),
    "the permission is theirs": ("permission",),
    "the purse is theirs": ("pool",),
    "the run is theirs": ("all_together",),
    "all of this lab is theirs": PIECES,
    "the halves are theirs, and the run is": (*NEW[:-1], "all_together"),
    "the late ones are theirs": LATE,
    "all is theirs": tuple(ALL),
}


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_the_run_keeps_all_its_promises(copy, names):
    run = (with_pieces(copy, *names) if names else load(copy)).run
    for promise in TOGETHER.promises:
        promise(run)


@pytest.mark.parametrize("missing", sorted({*ALL} - {"all_together"}))
def test_with_any_one_of_the_others_missing_it_flies(copy, missing):
    package = with_pieces(copy, *[name for name in ALL if name != missing])
    assert [o.kind for o in fly(package, "diligent/login-bug/calm#0")] == ["reached"]


def test_it_reaches_what_the_run_of_lab_05_reaches_beside_the_same_detector(copy):
    flights = [f"{who}/login-bug/calm#{n}" for who in ("diligent", "stubborn") for n in range(4)]
    before = [o.kind for o in fly(with_pieces(copy, *NEW), flights)]
    (copy / "my_harness/run.py").unlink()
    assert [o.kind for o in fly(with_pieces(copy, *PIECES), flights)] == before


def test_what_the_run_takes_in_itself_is_not_put_around_it_once_more(copy):
    with_pieces(copy, *PIECES)
    page = (copy / "my_harness/__init__.py").read_text("utf-8")
    assert "beside" not in page and "marking" not in page
    with_pieces(copy, *ALL)
    page = (copy / "my_harness/__init__.py").read_text("utf-8")
    assert "harness_zero" not in page.removeprefix(PAGE)
    load(copy)
    assert not (copy / "my_harness/earlier").exists()


def test_the_answers_become_pieces_that_stand_alone(copy):
    space, lab = {"__name__": "__main__"}, lab_of(TOGETHER)
    made = [f"def {each.name}(" for each in LABS[lab].exercises if not each.case]
    helpers = ("import ", "from ", "class Spent", "USER", "def asked_at", "answer, ")
    for cell in cells(lab):
        if cell.startswith((*helpers, *made)):
            kept = cell.partition("\n\n\nask = ")[0].partition("\n\n\nprint")[0]
            exec(kept, space)
            kernel.CELLS.append(kept)
    for name in PIECES:
        kernel.WRITTEN[name] = space[name]
        piece = EXERCISES[name].piece.name
        assert f"my_harness/{piece}.py is yours now." in take(copy, EXERCISES[name], space[name])
    source = (copy / "my_harness/run.py").read_text("utf-8")
    assert "def with_user(" in source and "def asked_at(" in source
    assert "class Spent(" in (copy / "my_harness/pool.py").read_text("utf-8")


def test_our_own_pieces_are_given_by_name_whatever_the_learner_has_written(copy):
    with_pieces(copy, "verdict")
    verdict, run = ours("verdict", "run")
    assert verdict.__module__ == "harness_zero.grading.lab11" and callable(run)


def test_the_draft_went_where_a_rule_denies_it_and_no_rule_was_asked_about_that():
    run = WHO_LET_IT_CASE.play()
    assert WHO_LET_IT_CASE.right() == ("c", 8)
    assert "news@press.example" in str(run.messages[8])
    assert "press.example" not in str(run.messages[7])


def test_the_chapter_says_of_its_errands_what_they_show():
    told = json.loads((ROOT / "chapters/11_who_may_and_who_pays.ipynb").read_text("utf-8"))
    words = "".join("".join(cell["source"]) for cell in told["cells"])
    cell = next(cell for cell in told["cells"] if cell["id"] == "measured-run")
    head, *rows = "".join(cell["outputs"][0]["text"]).splitlines()
    found = {row[:14].strip(): row[14:].split() for row in rows}
    assert head.split() == ["goals", "over", "the", "cap", "most", "spent", "calls", "over"]
    reached, *_, over, most, calls = found["shared"]
    assert f"{over} errands cost more than a dollar" in words and calls == "0"
    assert float(most) == 1.09 and "at most nine cents more" in words
    assert found["copied"][0] == reached and f"it is {found['copied'][-1]} calls" in words
    assert f"they lost {60 - int(reached)} of 60" in words
