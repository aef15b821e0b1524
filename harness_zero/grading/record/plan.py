"""What runs in a learner's process: the instructor's cells in their order, and the learner's gaps.

A learner's cell is known by its grade_id, and is taken for what stands under it; every other cell
is ours. Cells that only show or check something do not run.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from json import loads
from typing import Any

from harness_zero.course import checkout
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record.isolation import SERVING
from harness_zero.grading.references import ASIDE, code, is_code, is_solution, solves, tags

NOT_PYTHON = re.compile(r"^[%!?].*$", re.MULTILINE)  # what only a notebook understands
FROM = re.compile(r"^from (harness_zero\.\S+) import ([^\n(]+|\([^)]*\))", re.MULTILINE)
WHOLE = {"harness_zero.brief", "harness_zero.labels", "harness_zero.messages", "harness_zero.run"}
BESIDE = {  # modules that a lab's own cells need, with what these need
    "03_errors_as_data": ("toolbox",),
    "04_termination_labels": ("stages/__init__", "stages/s3_error_as_data"),
    "05_two_halves": ("stages/__init__", "stages/s3_error_as_data", "policy"),
    "06_repetition_detector": ("policy", "rounds"),
    "07_order_is_load_bearing": ("prefix",),
    "08_stopping_is_a_contract": ("policy", "rounds"),
    "09_what_survives_a_crash": ("models/recorded", "models/tape", "prefix"),
}
OURS = {  # names of ours that are the answer to an exercise of these labs
    "01_structural_stop": {"harness_zero.messages": ("pairing_fault", "array_fault")},
}


FILES = "it writes a journal into a file, and files do not cross yet"
NOT_YET = {  # exercises that only the visible checks grade so far, and why
    "entries": FILES,
    "journal": FILES,
    "journaled": FILES,
}
VISIBLE_ONLY = {  # promises that only the visible checks try, and why
    "in_flights_it_has_not_seen_it_keeps_the_goals_and_saves_rounds": (
        "72 flights take as long from outside as an exercise has in all"
    ),
}


@dataclass(frozen=True)
class Slot:
    """A cell that runs: ours, or the learner's for an exercise."""

    name: str  # its grade_id, or its id
    source: str  # ours
    exercise: str | None  # which one the learner fills here


@dataclass(frozen=True)
class Plan:
    """How a lab is graded."""

    lab: Lab
    slots: tuple[Slot, ...]
    settings: Mapping[str, Any]  # what there is to import

    def exercise(self, name: str) -> Exercise:
        """The exercise of this name, with the promises that are tried for the record."""
        exercise = next(each for each in self.lab.exercises if each.name == name)
        of_record = [each for each in exercise.promises if each.__name__ not in VISIBLE_ONLY]
        return replace(exercise, promises=tuple(of_record))

    def in_order(self) -> list[Exercise]:
        """The exercises as they are tried for the record."""
        return [self.exercise(each.name) for each in self.lab.exercises]

    def gaps(self) -> set[str]:
        """The names of the cells that a learner fills."""
        return {slot.name for slot in self.slots if slot.exercise}

    def needed(self, exercise: str, cells: Mapping[str, str]) -> set[str]:
        """The learner's cells that an answer needs: its own, and those whose names it uses."""
        by_exercise = {slot.exercise: slot.name for slot in self.slots if slot.exercise}
        found, new = set[str](), {exercise}
        while new:
            found |= {by_exercise[each] for each in new if each in by_exercise}
            used = {name for cell in found for name in names_in(cells.get(cell, ""))}
            new = {each for each in used if by_exercise.get(each, "") not in {"", *found}}
        return found


@cache
def plan(name: str) -> Plan:
    """The plan of the lab of this name, from its solution."""
    lab = LABS[name]
    path = checkout() / "solutions" / lab.name / f"{lab.name}.ipynb"
    cells = [cell for cell in loads(path.read_text("utf-8"))["cells"] if is_code(cell)]
    slots = tuple(slot(cell, lab) for cell in cells if not ASIDE & tags(cell))
    return Plan(lab, slots, settings(name, [each.source for each in slots if not each.exercise]))


def slot(cell: dict, lab: Lab) -> Slot:
    """A cell of our notebook as a place in the plan."""
    solved = [e.name for e in lab.exercises if is_solution(cell) and solves(cell, e.name)]
    name = cell["metadata"].get("nbgrader", {}).get("grade_id") or cell["id"]
    return Slot(name, code(cell), solved[0] if solved else None)


def settings(name: str, sources: list[str]) -> dict[str, Any]:
    """What can be imported: some modules whole, of others what our own cells need, no more."""
    needed: dict[str, set[str]] = {}
    for module, names in (found for source in sources for found in FROM.findall(source)):
        asked = {each.split(" as ")[0].strip() for each in names.strip("()").split(",")}
        needed.setdefault(module, set()).update(filter(None, asked))
    there = [as_module(each) for each in (*SERVING, *BESIDE.get(name, ()))]
    parts = [each for each in there if each not in WHOLE and ".record" not in each]
    shown = {module: sorted(needed.get(module, ())) for module in parts if is_leaf(module, there)}
    absent = sorted({*needed} - {*there})
    return {"shown": shown, "absent": absent, "hidden": OURS.get(name, {})}


def as_module(file: str) -> str:
    """The module of a file of the package."""
    return f"harness_zero.{file.replace('/', '.')}".removesuffix(".__init__")


def is_leaf(module: str, there: list[str]) -> bool:
    """Whether a module holds no others."""
    return not any(each.startswith(f"{module}.") for each in there)


def names_in(source: str) -> set[str]:
    """The names that stand in a cell; none in one that is no Python."""
    try:
        tree = ast.parse(as_python(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def as_python(source: str) -> str:
    """What stands in a learner's cell, without the lines that only a notebook understands."""
    return NOT_PYTHON.sub("", source.replace("\r\n", "\n"))
