"""Lab 09 in a learner's copy: a journal of their own, around any run; and what the lab says."""

import json
from pathlib import Path

import pytest
from test_lab_05 import cells, with_pieces
from test_mine import as_before, copy

from harness_zero import kernel
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab09 import (
    HARNESSES,
    INSTANTS,
    World,
    die,
    in_file,
    is_mail,
    play,
    survived,
    two_mails,
)
from harness_zero.mine import lab_of, load
from harness_zero.notebook import case
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

ROOT = Path(__file__).parents[1]
PIECES = ("entries", "in_doubt", "journal", "journaled")
MIXTURES = {
    "nothing is written": (),
    "reading is theirs": ("entries",),
    "the doubt is theirs": ("in_doubt",),
    "the journal is theirs": ("journal",),
    "the wrappers are theirs": ("journaled",),
    "all is theirs": PIECES,
}


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_a_killed_run_goes_on(copy, tmp_path, names):
    journaled = (with_pieces(copy, *names) if names else load(copy)).journaled
    for at, kill in enumerate(INSTANTS):
        world, path = World(), tmp_path / f"{at}.jsonl"
        die(journaled, path, world, kill)
        assert play(journaled, path, world).label == "finished"
        assert world.sent == ["ana@example.org: 548"]


def test_the_answers_become_pieces_that_stand_alone(copy):
    space, lab = {"__name__": "__main__"}, lab_of(EXERCISES["journal"])
    for cell in cells(lab):
        made = [f"def {each.name}(" for each in LABS[lab].exercises if not each.case]
        if cell.startswith(("import ", "def append", *made)):
            exec(cell.partition("\n\n\ntorn")[0], space)
            kernel.CELLS.append(cell)
    for name in PIECES:
        kernel.WRITTEN[name] = space[name]
        assert f"my_harness/{name}.py is yours now." in take(copy, EXERCISES[name], space[name])
    assert "from . import entries" in (copy / "my_harness/journal.py").read_text("utf-8")
    assert "def append(" in (copy / "my_harness/journal.py").read_text("utf-8")


def test_the_case_is_the_journal_of_a_harness_that_really_mailed_twice(capsys):
    lines = two_mails()
    assert not [line for line in lines if is_mail(line.get("begun"))]
    assert case("missing_line") is None
    told = capsys.readouterr().out
    assert "at which line?" in told and f"{len(lines):>3}  " in told
    assert max(map(len, told.splitlines())) < 120


def test_no_harness_without_a_key_has_one_mail_whenever_it_is_killed():
    both = [name for name in HARNESSES if survived(name)[:2] == (1, 1)]
    assert both == ["ours, with a key"]


def test_the_lab_tells_the_facts_by_which_the_check_judges():
    lab = next(name for name in LABS if name.startswith("09"))
    notebook = json.loads((ROOT / "solutions" / lab / f"{lab}.ipynb").read_text("utf-8"))
    words = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert all(f"| `{name}` |" in words for name in HARNESSES)


def test_a_journal_can_be_read_by_the_eye(copy, tmp_path):
    path = tmp_path / "journal.jsonl"
    play(load(copy).journaled, path, World())
    assert in_file(path)[0] == {"step": 1, "begun": "clock"}
