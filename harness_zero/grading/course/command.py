"""`harness-zero course`: a course directory for nbgrader."""

from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness_zero.grading.record.many import Graded


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option("--id", "course_id", help="The course's name in the exchange; the folder's if not.")
@click.option("--exchange", help="The folder through which labs and submissions pass.")
def course(
    folder: Path, labs: tuple[str, ...], course_id: str | None, exchange: str | None
) -> None:
    """Prepare a course directory for nbgrader in FOLDER, or bring one up to date.

    It holds nbgrader's settings, the sources of the labs (all, or those named), a gradebook that
    knows their points, and the seed of hidden cases. What you changed is never overwritten.
    """
    from harness_zero.cli import lab_called, spell_out, tell
    from harness_zero.course import NotLaid
    from harness_zero.grading.exercises import LABS

    spell_out()
    refuse_without_nbgrader()
    from harness_zero.grading.course.prepare import NotPrepared, prepare

    refuse_a_lab_as_folder(folder)
    named = [lab_called(lab, LABS.values()).name for lab in labs]
    place = str(Path(exchange).absolute()) if exchange else exchange
    try:
        for line in prepare(folder, named, course_id, place):
            tell(line)
    except (NotPrepared, NotLaid) as reason:
        raise click.ClickException(str(reason)) from reason


def graded_into(
    folder: Path, secret: Path | None, out: Path | None, pages: Path | None, jobs: int
) -> None:
    """Grade what was collected into a course directory, into its gradebook too."""
    refuse_without_nbgrader()
    from harness_zero.cli import spell_out
    from harness_zero.grading.course import marks
    from harness_zero.grading.course.gradebook import Unusable
    from harness_zero.grading.course.settings import Unreadable

    spell_out()
    book, key = (
        (given or folder / name).absolute() for given, name in ((out, BOOK), (secret, SEED))
    )
    at = pages.absolute() if pages else None
    try:
        course = marks.directory(folder)
        with chdir(course.root):
            grade_collected(course, key, book, at, jobs)
    except (marks.NoCourse, Unreadable, Unusable) as reason:
        raise click.ClickException(str(reason)) from reason
    except OSError as fault:
        raise click.ClickException(f"{fault.filename}: {fault.strerror}.") from fault


def grade_collected(course: Any, secret: Path, out: Path, pages: Path | None, jobs: int) -> None:
    """Grade what was collected into this folder."""
    from harness_zero.cli import tell
    from harness_zero.grading.course import marks
    from harness_zero.grading.course.gradebook import file_of, refuse_unfit
    from harness_zero.grading.course.handed_in import handed_in
    from harness_zero.grading.record.command import graded, read_secret, refuse_to_overwrite

    refuse_unfit(course.db_url)
    given = {str(each.notebook): each for each in handed_in(course)}
    if not given:
        raise click.ClickException(f"Nothing of a lab was collected into {course.root}: {COLLECT}")
    files = tuple(each.notebook for each in given.values())
    refuse_to_overwrite(out, (*files, *filter(None, [file_of(course.db_url)])), secret)

    def into_gradebook(grades: "Iterator[Graded]") -> None:
        for line in marks.write(course, (given[name] for name in sorted(given)), grades):
            tell(line)

    graded(files, read_secret(secret), out, pages, (1, 1), jobs, into_gradebook)


def refuse_a_lab_as_folder(folder: Path) -> None:
    """Whoever forgets the folder has a lab in its place."""
    from harness_zero.grading.exercises import LABS

    if str(folder) in {*LABS, *(lab[:2] for lab in LABS)} and not folder.exists():
        raise click.UsageError(f"{folder} is a lab: name the folder before it.")


def refuse_without_nbgrader() -> None:
    """Who teaches installs nbgrader besides what a learner needs."""
    from importlib.util import find_spec

    if not find_spec("nbgrader"):
        raise click.ClickException(WITHOUT)


BOOK = "marks_of_record.csv"  # `nbgrader export` writes a grades.csv of its own
SEED = "seed"
COLLECT = "`nbgrader collect LAB` brings what was handed in."
WITHOUT = (
    "nbgrader is not installed here; `pip install -c constraints.txt -e '.[teaching]'` brings it."
)
