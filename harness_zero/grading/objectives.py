"""Where the course settles its objectives, and the four questions that its first source ends on.

Exercises name their own objectives; here stand the cells of the chapters, by chapter and id.
"""

from collections.abc import Iterator

from harness_zero.grading.exercise import OBJECTIVES
from harness_zero.grading.exercises import LABS

Cell = tuple[str, str]  # a chapter, and the id of a cell in it

ONE, STOPS, LABELS, HALVES = (
    "01_structural_stop",
    "02_brakes",
    "04_termination_labels",
    "05_two_halves",
)
CONTRACT, CRASH = "08_stopping_is_a_contract", "09_what_survives_a_crash"
AGAIN, WHO = "10_try_again", "11_who_may_and_who_pays"

SETTLED: dict[int, tuple[Cell, ...]] = {
    1: ((ONE, "checkpoint"), (LABELS, "question")),
    2: ((CONTRACT, "checkpoint"), (WHO, "checkpoint")),
    3: ((STOPS, "checkpoint"), (HALVES, "checkpoint")),
    4: ((AGAIN, "checkpoint"), (WHO, "checkpoint")),
    5: ((CRASH, "checkpoint"), (WHO, "checkpoint")),
}

QUESTIONS: dict[str, tuple[Cell, ...]] = {
    "Why is it not enough to stop when no tool is called?": (
        (STOPS, "checkpoint"),
        (LABELS, "question"),
        (CONTRACT, "checkpoint"),
    ),
    "The same call five times: which two kinds of defence notice, and what?": (
        ("06_repetition_detector", "checkpoint"),
    ),
    "The process died: what must have been written down?": ((CRASH, "checkpoint"),),
    "Two retries: why does only one of them need idempotent tools?": ((AGAIN, "checkpoint"),),
}


def page() -> str:
    """Both tables, as Markdown."""
    return "\n".join([*objectives(), "", *questions(), ""])


def objectives() -> Iterator[str]:
    """Each objective with its checkpoints and its exercises."""
    yield "| objective | settled in | exercises |"
    yield "|---|---|---|"
    for number, told in OBJECTIVES.items():
        yield f"| {number}. {told} | {places(SETTLED[number])} | {exercises(number)} |"


def questions() -> Iterator[str]:
    """Each of the four questions with the checkpoints that answer it."""
    yield '| question of "The turn that would not end", in short | answered in |'
    yield "|---|---|"
    for question, cells in QUESTIONS.items():
        yield f"| {question} | {places(cells)} |"


def places(cells: tuple[Cell, ...]) -> str:
    """The chapters of these cells, as links."""
    return ", ".join(f"[{chapter[:2]}](../chapters/{chapter}.ipynb)" for chapter, _ in cells)


def exercises(objective: int) -> str:
    """How many exercises of each lab practise an objective."""
    counted = {
        lab.name[:2]: sum(objective in exercise.objectives for exercise in lab.exercises)
        for lab in LABS.values()
    }
    return ", ".join(f"{count} in lab {lab}" for lab, count in counted.items() if count)
