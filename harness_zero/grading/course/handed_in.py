"""What was collected into a course directory: of each learner and assignment one notebook."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape, glob
from os.path import relpath
from pathlib import Path
from typing import Any

from harness_zero.grading.exercises import LABS


@dataclass(frozen=True)
class HandedIn:
    """What a learner handed in for an assignment."""

    student: str
    assignment: str
    folder: Path
    notebook: Path  # the one that is graded; if there is none, where it should be
    aside: tuple[str, ...] = ()  # other notebooks that are there


def handed_in(directory: Any) -> Iterator[HandedIn]:
    """All that was collected of labs, in order, by names within the course directory.

    nbgrader collects the newest of each learner.
    """
    for student, assignment, path in collected(directory):
        if assignment in LABS and path.is_dir():
            yield one(student, assignment, Path(relpath(path, directory.root)))


def others(directory: Any) -> list[str]:
    """The assignments that something was collected of, and that are no labs of ours."""
    return sorted({assignment for _, assignment, _ in collected(directory)} - {*LABS})


def collected(directory: Any) -> Iterator[tuple[str, str, Path]]:
    """Student, assignment and folder of all that was collected, wherever the settings lay it."""
    step = directory.submitted_directory
    name = directory.format_path(step, "(?P<student>[^/]+)", "(?P<assignment>[^/]+)", escape=True)
    anywhere = escape(directory.format_path(step, ANY, ANY)).replace(ANY, "*")
    for path in sorted(glob(anywhere)):
        if found := re.fullmatch(name, path):
            yield found["student"], found["assignment"], Path(path)


ANY = "\0"  # in no path


def one(student: str, assignment: str, folder: Path) -> HandedIn:
    """The notebook of the lab's name; where there is only one, that one under any name."""
    there = sorted(folder.glob("*.ipynb"))
    due = folder / f"{assignment}.ipynb"
    notebook = there[0] if len(there) == 1 and due not in there else due
    aside = tuple(each.name for each in there if each != notebook)
    return HandedIn(student, assignment, folder, notebook, aside)
