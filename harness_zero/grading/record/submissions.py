"""What was handed in: a notebook, read with care, and who it is from.

Of a notebook only this is used: which lab it is of, and what stands in the cells that the learner
was to fill. All else in it (tests, metadata, outputs, cells of one's own) is left out.
"""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness_zero.brief import cut
from harness_zero.grading.exercise import Lab
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record.plan import plan

LARGEST = 20_000_000  # bytes of a notebook
LONGEST = 100_000  # characters of a cell
SURELY = 2  # cells of a lab that are known by their own ids alone; a chapter may have one


class Ungraded(Exception):
    """This cannot be graded; the sentence says why."""


@dataclass(frozen=True)
class Submission:
    """A notebook that was handed in."""

    path: Path
    learner: str
    digest: str  # of what the file holds
    lab: Lab | None = None
    cells: dict[str, str] = field(default_factory=dict)  # by grade_id
    notes: tuple[str, ...] = ()
    fault: str = ""  # why it cannot be graded


def submission(path: Path) -> Submission:
    """A submission, whatever the file is."""
    try:
        content = content_of(path)
    except Ungraded as fault:
        return Submission(path, learner(path), "", fault=str(fault))
    digest = sha256(content).hexdigest()
    try:
        cells = cells_of(content)
        lab = lab_of(path, cells)
    except Ungraded as fault:
        return Submission(path, learner(path), digest, fault=str(fault))
    found, notes = filled(cells, lab)
    if path.stem in LABS and path.stem != lab.name:
        notes = (f"what stands in it is {lab.name}", *notes)
    return Submission(path, learner(path), digest, lab, found, notes)


def content_of(path: Path) -> bytes:
    """The bytes of a file, unless there are too many."""
    try:
        if not path.is_file():
            there = "it is a folder" if path.is_dir() else "there is no such file"
            raise Ungraded(there)
        if (size := path.stat().st_size) > LARGEST:
            raise Ungraded(f"the file has {size:,} bytes, of {LARGEST:,} at most")
        return path.read_bytes()
    except OSError as fault:
        raise Ungraded(f"the file cannot be read ({fault.strerror})") from fault


def cells_of(content: bytes) -> list[dict]:
    """The code cells of a notebook."""
    if not content.strip():
        raise Ungraded("the file is empty")
    try:
        notebook = json.loads(content)  # in UTF-8, 16 or 32
    except (ValueError, RecursionError) as fault:
        raise Ungraded("the file is no notebook: it is not JSON") from fault
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Ungraded("the file is no notebook of format 4: it has no list of cells")
    codes = [c for c in cells if isinstance(c, dict) and c.get("cell_type") == "code"]
    if not codes:
        raise Ungraded("there is no code cell in it")
    return codes


def lab_of(path: Path, cells: list[dict]) -> Lab:
    """The lab whose cells stand in a notebook; where two fit, the one of the file's name."""
    graded = {*map(grade_id, cells)} - {""}
    there, least = (graded, 1) if graded else ({*map(own_id, cells)}, SURELY)
    fits = {name: len(there & gaps(lab)) for name, lab in LABS.items()}
    most = max(fits.values())
    if most < least:
        raise Ungraded("none of its cells is one of a lab's: is it a lab of this course?")
    best = [name for name, count in fits.items() if count == most]
    return LABS[path.stem if path.stem in best else best[0]]


def gaps(lab: Lab) -> set[str]:
    """The ids of the cells that a learner fills."""
    return plan(lab.name).gaps()


def filled(cells: list[dict], lab: Lab) -> tuple[dict[str, str], tuple[str, ...]]:
    """What stands in the learner's cells, by id, and what is to be said of the notebook."""
    known, found, notes = gaps(lab), dict[str, str](), list[str]()
    for cell in cells:
        name = grade_id(cell)
        if name in known and name in found:
            found[name] += f"\n{source_of(cell)}"
            notes.append(f"the cell {name} is there twice; they count as one, in their order")
        elif name in known:
            found[name] = source_of(cell)
    for cell in cells:  # some programs lose what nbgrader wrote into them
        if own_id(cell) in known - {*found} and not grade_id(cell):
            found[own_id(cell)] = source_of(cell)
    for name in [name for name in found if len(found[name]) > LONGEST]:
        notes.append(f"the cell {name} has {len(found[name]):,} characters, of {LONGEST:,}")
        found[name] = ""
    notes += [f"the cell {name} is not there" for name in sorted(known - {*found})]
    return found, tuple(dict.fromkeys(notes))


def grade_id(cell: dict) -> str:
    """The id under which nbgrader knows a cell; nothing for any other."""
    name = as_dict(as_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
    return name if isinstance(name, str) else ""


def own_id(cell: dict) -> str:
    """The id of a cell, which may stand in its metadata; in a lab it is the grade_id as well."""
    name = cell.get("id") or as_dict(cell.get("metadata")).get("id")
    return name if isinstance(name, str) else ""


def as_dict(given: Any) -> dict:
    """What is a dict in a notebook that is as it should be."""
    return given if isinstance(given, dict) else {}


def source_of(cell: dict) -> str:
    """What stands in a cell, in one piece or in lines."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def learner(path: Path) -> str:
    """Who handed it in: the folder of nbgrader (learner/lab/lab.ipynb), or the file's own name."""
    parents = [each.name for each in path.absolute().parents]
    if parents[0] in LABS and len(parents) > 1 and parents[1]:
        return cut(parents[1], 200)
    return cut(path.parent.name if path.stem in LABS else path.stem, 200)
