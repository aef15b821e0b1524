"""What stands over an exercise in a notebook is what the course's own list says of it."""

import json
from pathlib import Path

import pytest

from harness_zero.grading.exercises import EXERCISES

ROOT = Path(__file__).parents[1]
SOLUTIONS = sorted(ROOT.glob("solutions/*/*.ipynb"))


def cells():
    """All cells of all solutions, with the text that stands before each."""
    for path in SOLUTIONS:
        before = ""
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            yield cell, source, before
            before = source if cell["cell_type"] == "markdown" else before


def checks():
    """Each exercise that is checked in a notebook: its name, its points there, and its text."""
    for cell, source, before in cells():
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            name = source.split('"')[1]
            yield name, cell["metadata"]["nbgrader"]["points"], before


@pytest.mark.parametrize(("name", "points", "text"), list(checks()))
def test_title_minutes_lines_and_points_are_those_of_the_list(name, points, text):
    exercise = EXERCISES[name]
    lines = f"about {exercise.lines} line{'' if exercise.lines == 1 else 's'}"
    head = f"*{exercise.minutes} minutes · {lines} · {exercise.points} points*"
    assert exercise.title in text and head in text
    assert points == exercise.points


def test_every_exercise_is_checked_in_a_notebook_once():
    assert sorted(name for name, _, _ in checks()) == sorted(EXERCISES)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_first_hint_is_a_question(name):
    text = next(text for checked, _, text in checks() if checked == name)
    hint = text.split("Hint 1: a question</summary>")[1].split("</details>")[0]
    assert hint.strip().endswith("?")
