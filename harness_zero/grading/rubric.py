"""The rubric: what every exercise is worth, and what an answer to it promises, on one page."""

from collections.abc import Iterator

from harness_zero.grading import objectives
from harness_zero.grading.diagnosis import sentence
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.grading.exercises import LABS

OPENING = """# Rubric

Every exercise, what it is worth, and the promises that an answer keeps. Full points are for an
answer that keeps all of them. The checks in the notebooks are *visible* checks of the same
promises.

This page is made by `make labs` from the course's own list of exercises.
"""


def rubric() -> str:
    """The page, as Markdown."""
    parts = [OPENING, f"## Objectives\n\n{objectives.page()}", *map(of_lab, LABS.values())]
    return "\n".join(parts)


def of_lab(lab: Lab) -> str:
    """A lab with its exercises."""
    title = f"## Lab {lab.name[:2]}: {lab.title}\n\n{lab.points} points\n"
    return "\n".join([title, *(of_exercise(exercise) for exercise in lab.exercises)])


def of_exercise(exercise: Exercise) -> str:
    """An exercise with its head and its promises."""
    lines = "\n".join(promises(exercise))
    return f"### {exercise.title}\n\n`{exercise.takes}` · {exercise.head()}\n\n{lines}\n"


def promises(exercise: Exercise) -> Iterator[str]:
    """Each promise in words, and what its own text adds to them."""
    for promise in exercise.promises:
        more = (promise.__doc__ or "").split("\n")[0]
        yield f"- {sentence(promise)}" + (f" ({more.rstrip('.')})" if more else "")
