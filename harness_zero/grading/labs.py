"""Labs are made of solutions: holes where something is worked, and each run once untouched.

`python -m harness_zero.grading.labs` writes labs/ from solutions/, and `--check` says which
labs are stale. A lab is never edited by hand, so the two cannot come apart.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory

from harness_zero.grading import quick_nbformat  # noqa: F401  (comes before nbformat)
from harness_zero.grading.holes import Refused, release
from harness_zero.grading.rubric import rubric
from harness_zero.grading.staleness import staleness

NEEDS = ("nbformat", "nbclient", "nbgrader")


def main(arguments: list[str] | None = None) -> int:
    """Write the labs, or say which are stale; 1 if anything is not as it should be."""
    parser = ArgumentParser("python -m harness_zero.grading.labs", description="Labs of solutions.")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder of labs/")
    options = parser.parse_args(arguments)
    faults = unready(options.course) or list(update(options.course, options.check))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def unready(course: Path) -> list[str]:
    """Why nothing can be made here at all, in a sentence."""
    if lacking := ", ".join(name for name in NEEDS if not find_spec(name)):
        return [f"Labs are made with {lacking}; `pip install -e '.[authors]'` brings it."]
    if not folders(course / "solutions"):
        return [f"{(course / 'solutions').as_posix()} holds no folder to make a lab of."]
    return []


def update(course: Path, check: bool) -> Iterator[str]:
    """Make every lab in a scratch course and settle it with the one in labs/; yield the faults."""
    yield from strays(course)
    with TemporaryDirectory() as scratch:
        for lab in made(course, Path(scratch)):
            fault = str(lab) if isinstance(lab, Refused) else settle(lab, course, check)
            if fault:
                yield fault
    if fault := settle_rubric(course / "docs" / "rubric.md", check):
        yield fault


def strays(course: Path) -> list[str]:
    """The labs that no solution stands behind."""
    names = sorted({*folders(course / "labs")} - {*folders(course / "solutions")})
    return [f"labs/{name} has no solution: remove it, or write solutions/{name}." for name in names]


def made(course: Path, scratch: Path) -> list[Path | Refused]:
    """A lab for each solution, or the reason why there is none. Kernels run side by side."""
    from harness_zero.grading.rehearsal import rehearse

    solutions = [course / "solutions" / name for name in folders(course / "solutions")]
    labs = [attempt(release, solution, scratch) for solution in solutions]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partial(attempt, rehearse), labs))


def attempt(work: Callable[..., Path], on: Path | Refused, *given: Path) -> Path | Refused:
    """What the work gives back, or why it is refused; what was refused before stays so."""
    if isinstance(on, Refused):
        return on
    try:
        return work(on, *given)
    except Refused as refused:
        return refused


def settle(lab: Path, course: Path, check: bool) -> str:
    """Put a lab where it belongs, or say why the one that is there is stale."""
    there = course / "labs" / lab.name
    difference = staleness(lab, there)
    if difference and check:
        return f"labs/{lab.name} is stale: {difference}. `make labs` writes it anew."
    if difference:
        rmtree(there, ignore_errors=True)
        copytree(lab, there)
    print(f"labs/{lab.name} {'written' if difference else 'is up to date'}")
    return ""


def settle_rubric(page: Path, check: bool) -> str:
    """Write the rubric anew, or say that it is stale; a course without docs/ has none."""
    if not page.parent.is_dir() or (page.exists() and page.read_text("utf-8") == rubric()):
        return ""
    if check:
        return "docs/rubric.md is stale. `make labs` writes it anew."
    page.write_text(rubric(), encoding="utf-8")
    return ""


def folders(parent: Path) -> list[str]:
    """The names of the folders in a folder, in order; none if there is no such folder."""
    found = parent.iterdir() if parent.is_dir() else []
    return sorted(path.name for path in found if path.is_dir() and path.name[0] not in "._")


if __name__ == "__main__":
    sys.exit(main())
