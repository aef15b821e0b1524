"""nbgrader's settings for a course: as they are laid down, and as nbgrader reads them there."""

from contextlib import chdir
from pathlib import Path
from typing import Any

from harness_zero.grading.holes import CODE_STUB, TEXT_STUB

FILE = "nbgrader_config.py"


class Unreadable(Exception):
    """nbgrader's settings cannot be read; the sentence says why."""


TEXT = """\
# nbgrader's settings for this course, laid down by `harness-zero course`. They are yours to
# change: what you changed is never overwritten; a newer version of ours is laid beside it.
c = get_config()  # noqa: F821

c.CourseDirectory.course_id = {course_id!r}
{exchange}
# What stands in a lab where the solution was: the same as in the labs that learners have already.
c.ClearSolutions.code_stub = {{"python": {code!r}}}
c.ClearSolutions.text_stub = {text!r}

# Marks of record come from `harness-zero grade --course .`, which judges answers from outside.
# Autograding would run them here, as you, and believe what they say of themselves.
c.Autograde.exporter_class = "harness_zero.grading.course.exporters.NotHere"

# `nbgrader generate_feedback` gives our pages, with what you changed in formgrader.
c.GenerateFeedback.exporter_class = "harness_zero.grading.course.exporters.Feedback"

# For what nbgrader does run: an assignment of your own, or `nbgrader validate`.
c.Execute.timeout = 60  # seconds a cell
c.OverwriteCells.add_missing_cells = True  # a deleted check is put back
"""


def text(course_id: str, exchange: str) -> str:
    """The settings as they are laid down."""
    where = f"c.Exchange.root = {exchange!r}\n" if exchange else ""
    stubs = {"code": CODE_STUB, "text": TEXT_STUB}
    return TEXT.format(course_id=course_id, exchange=where, **stubs)


def read(folder: Path) -> Any:
    """All settings that nbgrader has in a course directory, the user's and the machine's too."""
    from harness_zero.grading import quick_nbformat  # noqa: F401, I001  (comes before nbformat)
    from nbgrader.apps.baseapp import NbGrader

    app = NbGrader(raise_config_file_errors=True)
    try:
        with chdir(folder):
            app.load_config_file()
    except (Exception, SystemExit) as fault:
        why = f"{type(fault).__name__}: {fault}"
        raise Unreadable(f"The settings in {folder / FILE} cannot be read ({why}).") from fault
    settings = app.config
    settings.CourseDirectory.setdefault("root", str(folder.absolute()))
    return settings


def directory(folder: Path) -> Any:
    """The course directory as nbgrader sees it."""
    settings = read(folder)
    from nbgrader.coursedir import CourseDirectory
    from traitlets import TraitError

    try:
        return CourseDirectory(config=settings)
    except TraitError as fault:
        raise Unreadable(f"The settings in {folder / FILE} do not fit: {fault}") from fault
