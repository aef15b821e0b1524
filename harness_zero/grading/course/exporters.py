"""What nbgrader takes from here, by the course's settings: no autograding, and our feedback."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException

from harness_zero.grading.course import copies, feedback
from harness_zero.grading.exercises import LABS

NOT_HERE = (
    "{lab} is graded by `harness-zero grade --course .`:\n"
    "it judges answers from outside. Autograding would run them here, as you.\n"
    "Nothing was run, and nothing was changed."
)


class NotHere(NotebookExporter):
    """Refuses to autograde a lab of ours, before anything is run or removed."""

    def __init__(self, parent: Any = None, **given: Any) -> None:
        lab = parent.coursedir.assignment_id if parent else ""
        if lab in LABS:
            parent.log.error(NOT_HERE.format(lab=lab))
            raise NbGraderException(NOT_HERE.format(lab=lab))
        super().__init__(parent=parent, **given)


class Feedback(HTMLExporter):
    """Our page of feedback, with what the instructor changed; for anything else nbgrader's own."""

    def from_filename(self, filename: str, resources: Any = None, **given: Any) -> Any:
        page = copies.page_in(Path(filename))
        if not page or not resources:
            return super().from_filename(filename, resources, **given)
        asked = resources["nbgrader"]
        with Gradebook(asked["db_url"]) as book:
            which = asked["notebook"], asked["assignment"], asked["student"]
            page = feedback.with_changes(page, book.find_submission_notebook(*which))
        return page, {**resources, "output_extension": ".html"}
