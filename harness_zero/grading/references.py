"""The reference solution of each exercise: its cell in solutions/, and the names it finds there.

The solutions are worked once, in the notebooks; whoever tries the checks takes them from here.
"""

import re
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from json import loads
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.holes import source_fault

COURSE = Path(__file__).parents[2]
NOT_PYTHON = re.compile(r"^(%.*| *### (BEGIN|END) SOLUTION *)(\n|$)", re.MULTILINE)
ASIDE = {"check", "run", "figure", "predict", "case"}  # cells that make no names for others


class NoReference(Exception):
    """An exercise whose reference solution cannot be had; the message says why."""


@dataclass(frozen=True)
class Reference:
    """A worked solution: its code, and the names that the cells before it make."""

    source: str
    names: dict[str, Any]


def reference(name: str, course: Path = COURSE) -> Reference:
    """The reference solution of the exercise of this name."""
    path = notebook(name, course)
    if fault := source_fault(path):
        raise NoReference(f"{path.as_posix()} {fault}")
    cells = [cell for cell in loads(path.read_text("utf-8"))["cells"] if is_code(cell)]
    at = next((at for at, cell in enumerate(cells) if solves(cell, name)), None)
    if at is None:
        wants = f"has no solution cell that defines {name}(); write one, marked for nbgrader"
        raise NoReference(f"{path.as_posix()} {wants}.")
    return Reference(code(cells[at]), names_made(cells[:at], path.parent))


def notebook(name: str, course: Path) -> Path:
    """The notebook of the lab that has an exercise of this name."""
    for lab in LABS.values():
        if name in [exercise.name for exercise in lab.exercises]:
            return course / "solutions" / lab.name / f"{lab.name}.ipynb"
    raise NoReference(f"There is no exercise {name!r}; there are {', '.join(EXERCISES)}.")


def solves(cell: dict, name: str) -> bool:
    """Whether this is the solution cell in which the function of this name is worked."""
    return is_solution(cell) and bool(re.search(rf"^def {name}\(", code(cell), re.MULTILINE))


def names_made(cells: list[dict], folder: Path) -> dict[str, Any]:
    """The names there are after these cells, which run quietly in a copy of their lab's folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with TemporaryDirectory() as scratch, redirect_stdout(StringIO()):
        copy = copytree(folder, Path(scratch) / folder.name)
        with chdir(copy):
            for cell in cells:
                if not ASIDE & tags(cell):
                    run(cell, names)
    return names


def run(cell: dict, names: dict[str, Any]) -> None:
    """Run one cell; an example may fail, but what a solution builds upon may not."""
    try:
        exec(code(cell), names)
    except (Exception, SetupFault) as error:
        if is_solution(cell) or "setup" in tags(cell):
            place = f"The cell that begins with `{code(cell).partition(chr(10))[0]}`"
            fault = f"raises {type(error).__name__}: {error}"
            raise NoReference(f"{place} {fault}; the solutions after it need it.") from error


def is_code(cell: dict) -> bool:
    """Whether this cell is code."""
    return cell["cell_type"] == "code"


def is_solution(cell: dict) -> bool:
    """Whether nbgrader knows this cell as a solution."""
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def tags(cell: dict) -> set[str]:
    """The tags of a cell."""
    return set(cell["metadata"].get("tags", []))


def code(cell: dict) -> str:
    """What a cell holds, as plain Python: without magics, and without the marks of a solution."""
    return NOT_PYTHON.sub("", "".join(cell["source"]))
