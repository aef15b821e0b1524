"""Whether a lab is still what its solution makes of it, and if not, where it differs first."""

import json
from fnmatch import fnmatch
from itertools import zip_longest
from pathlib import Path
from typing import Any

from harness_zero.grading.holes import LEFT_BEHIND


def staleness(fresh: Path, there: Path) -> str:
    """The first difference between a lab's folder as it should be and as it is; empty if none."""
    if not there.is_dir():
        return "it has not been written yet"
    due, found = contents(fresh), contents(there)
    if missing := sorted(due - found):
        return f"{missing[0]} is missing"
    if strange := sorted(found - due):
        return f"{strange[0]} does not come from its solution"
    return next(filter(None, (file_difference(fresh, there, name) for name in sorted(due))), "")


def contents(folder: Path) -> set[str]:
    """The names of all files below a folder, without what tools leave behind."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {path.as_posix() for path in files if not any(map(is_left_behind, path.parts))}


def is_left_behind(name: str) -> bool:
    """Whether this is the name of a file or folder that a tool leaves among ours."""
    return any(fnmatch(name, pattern) for pattern in LEFT_BEHIND)


def file_difference(fresh: Path, there: Path, name: str) -> str:
    """Where a file of a lab differs from what it should be."""
    new, old = (fresh / name).read_bytes(), (there / name).read_bytes()
    if new == old or not name.endswith(".ipynb"):
        return "" if new == old else f"{name} differs"
    try:
        return notebook_difference(json.loads(new), json.loads(old))
    except ValueError as broken:
        return f"{name} is not JSON: {broken}"


def notebook_difference(fresh: Any, old: Any) -> str:
    """The first cell that differs and in which of its parts, or that the metadata does."""
    for due, cell in zip_longest(fresh["cells"], old.get("cells", [])):
        if not due or not cell:
            return "a cell is missing" if due else "it has a cell too many"
        if parts := [part for part in due if due[part] != cell.get(part)]:
            return f"the cell {due['id']!r} differs in {', '.join(parts)}"
    return "" if fresh == old else "the metadata of the notebook differs"
