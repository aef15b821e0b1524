"""A lab run once as a learner finds it, and cleaned so that running it again changes no byte."""

import os
from pathlib import Path
from shutil import copytree
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from harness_zero.grading.holes import Refused

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "pygments_lexer": "ipython3",
}
LIVE_VIEW = "application/vnd.jupyter.widget-view+json"
OURS_ALONE = ("ANTHROPIC_", "HARNESS_ZERO_")  # what an author may have set and no learner has
SECONDS_A_CELL = 60


def rehearse(lab: Path) -> Path:
    """Run the notebooks in a lab's folder, in a copy of it, and write them back with outputs."""
    for path in sorted(lab.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with TemporaryDirectory() as scratch:
            run(notebook, copytree(lab, Path(scratch) / lab.name), f"labs/{lab.name}/{path.name}")
        clean(notebook)
        nbformat.write(notebook, path)
    return lab


def run(notebook: Any, folder: Path, name: str) -> None:
    """Execute a notebook in a folder, or refuse it with the cell and the error's first line."""
    begun: list[str] = []
    client = NotebookClient(
        notebook,
        timeout=SECONDS_A_CELL,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(folder)}},
        on_cell_execute=lambda cell, cell_index: begun.append(cell.source),
        coalesce_streams=True,
    )
    try:
        client.execute(env=learner_environment(folder), stderr=DEVNULL)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as fault:
        line = begun[-1].strip().split("\n")[0]
        place = f"{name}, code cell {len(begun)} ({line})"
        raise Refused(f"{place} {what_happened(fault)}") from None


def what_happened(fault: Exception) -> str:
    """Why a cell did not run to its end, in words that follow the cell's name."""
    if isinstance(fault, CellExecutionError):
        return f"raises {fault.ename}: {fault.evalue}".split("\n")[0]
    if isinstance(fault, CellTimeoutError):
        return f"is not done after {SECONDS_A_CELL} seconds"
    return "ends its kernel"


def learner_environment(folder: Path) -> dict[str, str]:
    """The environment without an author's own keys, settings and start-up files."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS_ALONE)}
    return {**kept, "IPYTHONDIR": str(folder.parent / "ipython")}


def clean(notebook: Any) -> None:
    """Leave out of a notebook what differs between two runs of it, or between two machines."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            clean_output(output)


def clean_output(output: Any) -> None:
    """A traceback without its frames, whose paths are this machine's; no view of a lost widget."""
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    output.get("data", {}).pop(LIVE_VIEW, None)
