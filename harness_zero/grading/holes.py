"""From a solution to the lab it releases: nbgrader takes the worked parts out and leaves holes."""

import json
import re
from itertools import cycle
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

CODE_STUB = "# your code here\nraise NotImplementedError"
TEXT_STUB = "Your answer here."
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
REASONS = "reasons"  # the tag of what opens when an answer has passed
LEFT_BEHIND = (".ipynb_checkpoints", "__pycache__", "*.pyc")


class Refused(Exception):
    """No lab can be made of this solution; the message says which one and why."""


def release(solution: Path, course: Path) -> Path:
    """The folder of the lab that nbgrader makes of a solution's folder, inside a scratch course."""
    notebook = solution / f"{solution.name}.ipynb"
    if fault := source_fault(notebook):
        raise Refused(f"{notebook.as_posix()} {fault}")
    copy = course / "solutions" / solution.name
    copytree(solution, copy, ignore=ignore_patterns(*LEFT_BEHIND))
    worked = copy / notebook.name
    worked.write_bytes(without_reasons(worked.read_bytes()))
    if fault := nbgrader_fault(solution.name, course):
        raise Refused(f"{notebook.as_posix()} is refused by nbgrader: {fault}")
    return course / "labs" / solution.name


def without_reasons(content: bytes) -> bytes:
    """A notebook without the cells that a learner sees when their own answer has passed."""
    notebook = json.loads(content)
    kept = [cell for cell in notebook["cells"] if REASONS not in cell["metadata"].get("tags", [])]
    return (json.dumps({**notebook, "cells": kept}, indent=1, ensure_ascii=False) + "\n").encode()


def source_fault(path: Path) -> str | None:
    """What keeps a file from being the source of a lab, in words; None if nothing does."""
    if not path.is_file():
        return "does not exist; the notebook of a solution has the name of its folder"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as broken:
        return f"is not JSON: {broken}"
    return notebook_fault(notebook) or next(
        filter(None, map(region_fault, notebook["cells"])), None
    )


def notebook_fault(notebook: Any) -> str | None:
    """What a source lacks as a notebook, or as an assignment of nbgrader, in words."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(map(is_cell, cells)):
        return "is JSON, but no notebook"
    if any("id" not in cell for cell in cells):
        return "has cells without an id; open it in JupyterLab and save it, which gives them one"
    if not any(cell["metadata"].get("nbgrader", {}).get("solution") for cell in cells):
        return "has no cell that nbgrader knows as a solution, so its lab would have no hole"
    return None


def is_cell(cell: Any) -> bool:
    """Whether this has what every cell of a notebook has."""
    return isinstance(cell, dict) and cell.keys() >= {"cell_type", "metadata", "source"}


def region_fault(cell: dict) -> str | None:
    """A region that opens twice, closes unopened or never closes, in words."""
    for region in REGIONS:
        marks = re.findall(rf"(BEGIN|END) {region}", "".join(cell["source"]))
        if any(mark != due for mark, due in zip(marks, cycle(["BEGIN", "END"]), strict=False)):
            return f"has a BEGIN or END {region} out of turn in the cell {cell['id']!r}"
        if len(marks) % 2:
            return f"has a BEGIN {region} that is never closed in the cell {cell['id']!r}"
    return None


def nbgrader_fault(name: str, course: Path) -> str | None:
    """Have nbgrader write labs/name from solutions/name; what it objects to, in its own words."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    settings = Config()
    settings.CourseDirectory.root = str(course.resolve())
    settings.CourseDirectory.source_directory = "solutions"
    settings.CourseDirectory.release_directory = "labs"
    settings.ClearSolutions.code_stub = {"python": CODE_STUB}
    settings.ClearSolutions.text_stub = TEXT_STUB
    settings.GenerateAssignment.no_database = True  # these two are its own flag --no-db
    settings.SaveCells.enabled = False
    return objection(NbGraderAPI(config=settings).generate_assignment(name))


def objection(told: dict[str, Any]) -> str | None:
    """What nbgrader objected to, in its own words, from what it told; None if nothing."""
    if told["success"]:
        return None
    reason = re.search(r"^ +[\w.]+Error: (.+)", told["log"], re.MULTILINE)
    reason = reason or re.search(r"^\[ERROR\] (.+)", told["log"], re.MULTILINE)
    return reason[1].strip() if reason else "it gives no reason"
