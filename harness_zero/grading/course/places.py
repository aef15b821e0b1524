"""Where exercises stand in the notebooks of labs, by the ids that nbgrader knows."""

from dataclasses import dataclass
from functools import cache
from json import loads
from re import search

from harness_zero.course import checkout
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.record.plan import plan
from harness_zero.grading.record.submissions import grade_id


@dataclass(frozen=True)
class Place:
    """Where an exercise stands in a lab's notebook, by the ids of its cells."""

    answer: str
    check: str


@cache
def places(lab: str) -> dict[str, Place]:
    """The cells of each exercise of a lab."""
    path = checkout() / "solutions" / lab / f"{lab}.ipynb"
    checks = {}
    for cell in loads(path.read_text("utf-8"))["cells"]:
        checked = search(r'^check\("(\w+)"', "".join(cell["source"]))
        if checked and cell["metadata"].get("nbgrader", {}).get("grade"):
            checks[checked[1]] = grade_id(cell)
    slots = [each for each in plan(lab).slots if each.exercise]
    return {str(each.exercise): Place(each.name, checks[str(each.exercise)]) for each in slots}


def title_at(lab: str, cell: str) -> str:
    """The title of the exercise that a cell is of; of any other cell its id."""
    found = places(lab).items() if lab in LABS else []
    titles = [EXERCISES[name].title for name, at in found if cell in (at.answer, at.check)]
    return titles[0] if titles else cell
