"""Notebooks run anew and written back clean: `python -m harness_zero.grading.notebooks [FILES]`.

What differs from run to run, or is this machine's alone, is left out, so that a
notebook that did not change shows no difference.
"""

import sys
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from harness_zero.grading import quick_nbformat  # noqa: F401  (comes before nbformat)
from harness_zero.grading.holes import Refused


def refresh(path: Path) -> None:
    """Run a notebook in a copy of its folder, and write it back with its outputs."""
    import nbformat

    from harness_zero.grading.rehearsal import clean, run

    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as scratch:
        run(notebook, copytree(path.parent, Path(scratch) / "here"), path.as_posix())
    clean(notebook)
    nbformat.write(notebook, path)


def main(names: list[str]) -> int:
    """Refresh these notebooks, or all chapters and solutions; 1 if one of them is refused."""
    course = [*Path("chapters").glob("*.ipynb"), *Path("solutions").glob("*/*.ipynb")]
    refused = 0
    for path in [Path(name) for name in names] or sorted(course):
        try:
            refresh(path)
            print(f"{path.as_posix()} run")
        except (Refused, OSError, ValueError) as reason:
            print(reason, file=sys.stderr)
            refused = 1
    return refused


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
