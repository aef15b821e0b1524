"""What formgrader shows of a submission: the lab as released, with the learner's code in it.

Nothing of it was run by nbgrader, and nothing else of what was handed in is in it: formgrader
shows a notebook's texts and outputs as they are, in the instructor's own browser.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from textwrap import fill
from typing import Any

from harness_zero.course import checkout, clear_outputs, put
from harness_zero.grading.record.submissions import grade_id

ABSENT = "# this cell is not in what was handed in"
WIDTH = 90  # characters of a line under a check
OF_THE_EXCHANGE = ("timestamp.txt", "submission_secret.txt")  # by which feedback finds its way


def copy(lab: Path, cells: Mapping[str, str], told: Mapping[str, str], page: str) -> bytes:
    """A lab's notebook with a learner's cells, what was told of each check, and their page."""
    notebook = json.loads(clear_outputs(lab.read_bytes()))
    for cell in notebook["cells"]:
        name, nbgrader = grade_id(cell), cell["metadata"].get("nbgrader", {})
        if nbgrader.get("solution"):
            cell["source"] = writable(cells.get(name, ABSENT))
        if name in told:
            said = fill(told[name], WIDTH) + "\n"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": said}]
    notebook["metadata"]["harness_zero"] = {"feedback": writable(page)}
    return (json.dumps(notebook, indent=1) + "\n").encode()


def writable(text: str) -> str:
    """Text that can be written as UTF-8: JSON may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def page_in(path: Path) -> str:
    """The page of feedback that a copy carries, or nothing."""
    kept: Any = json.loads(path.read_bytes())["metadata"].get("harness_zero")
    return kept["feedback"] if isinstance(kept, dict) else ""


def lab_notebook(release: Path, name: str) -> Path:
    """The notebook of a lab as the course released it, or else as it is shipped."""
    released = release / f"{name}.ipynb"
    return released if released.is_file() else checkout() / "labs" / name / f"{name}.ipynb"


def lay(folder: Path, name: str, content: bytes, submitted: Path) -> None:
    """Lay a copy down, with what the exchange says of the submission."""
    for file in OF_THE_EXCHANGE:
        (folder / file).unlink(missing_ok=True)
    put(folder / f"{name}.ipynb", content)
    for file in OF_THE_EXCHANGE:
        if (submitted / file).is_file():
            copyfile(submitted / file, folder / file)
