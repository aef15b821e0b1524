"""What is said of an exercise anywhere is what the course's own list says of it."""

import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from answers import RIGHT
from nbgrader.utils import determine_grade

from harness_zero.grading import labs
from harness_zero.grading.exercise import OBJECTIVES
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.objectives import QUESTIONS, SETTLED
from harness_zero.grading.rubric import rubric
from harness_zero.notebook.check import NotAllKept, check

ROOT = Path(__file__).parents[1]


def cells(lab, folder="solutions"):
    path = ROOT / folder / lab / f"{lab}.ipynb"
    return json.loads(path.read_text("utf-8"))["cells"]


def text(cell):
    return "".join(cell["source"])


def tagged(lab, tag):
    return [cell for cell in cells(lab) if tag in cell["metadata"].get("tags", [])]


def checks():
    """Each exercise that is checked in a notebook: its name, its points there, and its text."""
    for lab in LABS:
        before = ""
        for cell in cells(lab):
            if cell["metadata"].get("nbgrader", {}).get("grade"):
                name = text(cell).split('"')[1]
                yield name, cell["metadata"]["nbgrader"]["points"], before
            before = text(cell) if text(cell).startswith("## Exercise") else before


@pytest.mark.parametrize(("name", "points", "head"), list(checks()))
def test_the_notebook_says_title_head_and_points_of_the_list(name, points, head):
    exercise = EXERCISES[name]
    assert exercise.title in head.split("\n")[0] and f"\n*{exercise.head()}*\n" in head
    assert points == exercise.points


def test_the_notebooks_check_every_exercise_once_in_the_order_of_the_list():
    assert [name for name, _, _ in checks()] == [*EXERCISES]


@pytest.mark.parametrize("lab", LABS.values(), ids=LABS)
def test_a_lab_says_its_title_and_how_long_it_takes(lab):
    minutes = sum(exercise.minutes for exercise in lab.exercises)
    assert text(cells(lab.name)[0]).startswith(f"# Lab {lab.name[:2]} · {lab.title}\n")
    assert f"*About {minutes} minutes." in text(cells(lab.name)[0])


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_serves_objectives_that_there_are(name):
    assert {*EXERCISES[name].objectives} <= {*OBJECTIVES} and EXERCISES[name].objectives


@pytest.mark.parametrize("name", EXERCISES)
def test_hints_come_in_tiers_and_the_first_is_a_question(name):
    head = next(head for checked, _, head in checks() if checked == name)
    hints = re.findall(r"<summary>Hint (\d): (.*?)</summary>\n\n(.*?)\n</details>", head, re.S)
    assert [int(number) for number, _, _ in hints] == [*range(1, len(hints) + 1)]
    assert len(hints) >= 2 and hints[0][1] == "a question" and hints[0][2].endswith("?")


@pytest.mark.parametrize("lab", LABS)
def test_each_solution_gives_its_reasons_and_the_lab_does_not(lab):
    order = [
        "check" if "check" in cell["metadata"]["tags"] else "reasons"
        for cell in cells(lab)
        if {"check", "reasons"} & {*cell["metadata"].get("tags", [])}
    ]
    assert order == ["check", "reasons"] * len(LABS[lab].exercises)
    shipped = json.dumps(cells(lab, "labs"))
    assert not any(text(cell)[:60] in shipped for cell in tagged(lab, "reasons"))


@pytest.mark.parametrize("lab", LABS)
def test_the_cells_of_pieces_begin_with_the_magic(lab):
    named = [text(cell).split("\n")[0] for cell in tagged(lab, "exercise")]
    pieces = [f"%%my_harness {each.name}" for each in LABS[lab].exercises if each.piece]
    assert [line for line in named if line.startswith("%%")] == pieces


def test_the_rubric_is_that_of_the_list_and_a_stale_one_is_refused(tmp_path):
    assert (ROOT / "docs/rubric.md").read_text("utf-8") == rubric()
    page = tmp_path / "rubric.md"
    page.write_text("# Rubric")
    assert "make labs" in labs.settle_rubric(page, check=True)
    assert labs.settle_rubric(page, check=False) == "" and page.read_text("utf-8") == rubric()


def chapter_cell(chapter, id):
    """The words of a cell of a chapter."""
    written = json.loads((ROOT / f"chapters/{chapter}.ipynb").read_text("utf-8"))["cells"]
    return next(text(cell) for cell in written if cell["id"] == id)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_is_settled_in_a_checkpoint_and_practised(objective):
    assert all("<summary>" in chapter_cell(*place) for place in SETTLED[objective])
    assert any(objective in exercise.objectives for exercise in EXERCISES.values())


@pytest.mark.parametrize(
    ("question", "asks"),
    [*zip(QUESTIONS, ("not enough|work is done", "defence", "died", "retried"), strict=True)],
)
def test_every_verification_question_is_asked_in_a_checkpoint(question, asks):
    folds = [chapter_cell(*place).split("<details>")[1:] for place in QUESTIONS[question]]
    assert all(any(re.search(asks, fold.split("</summary>")[0]) for fold in each) for each in folds)


@pytest.mark.parametrize("lab", LABS)
def test_nbgrader_gives_an_untouched_lab_nothing_where_it_runs_it(lab, monkeypatch):
    assert os.environ.get("NBGRADER_EXECUTION") is None
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    for exercise in LABS[lab].exercises:

        def hole(*arguments):
            raise NotImplementedError

        with pytest.raises(NotAllKept, match="no points"):
            check(exercise.name, hole)
        check(exercise.name, RIGHT[exercise.name][0])
    error = nbformat.v4.new_output("error", ename="NotAllKept", evalue="", traceback=[])
    graded = {"grade": True, "grade_id": "x", "points": 3, "schema_version": 3, "locked": True}
    cell = nbformat.v4.new_code_cell(outputs=[error], metadata={"nbgrader": graded})
    assert determine_grade(cell) == (0, 3)
