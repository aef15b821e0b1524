"""A page of feedback, with what an instructor changed in formgrader put before it."""

from collections.abc import Iterator
from html import escape
from typing import Any

from mistune import create_markdown

from harness_zero.grading.course.places import places, title_at
from harness_zero.grading.exercises import EXERCISES, LABS

HEAD_ENDS = "</h1>"
COUNTS = "<p>This is what counts. Below stands what was found without your instructor.</p>"
MARKDOWN = create_markdown(escape=True)


def with_changes(page: str, notebook: Any) -> str:
    """The page of a submitted notebook; as it is, if the gradebook says nothing else."""
    told = [*changes(notebook)]
    if not told:
        return page
    late = notebook.late_submission_penalty or 0
    total = f"{max(notebook.score - late, 0):g} of {notebook.max_score:g} points"
    lines = "".join(f"<li>{line}</li>" for line in told)
    head = f"<h2>From your instructor: {total}</h2>"
    section = (
        f'\n<section class="instructor">{head}<ul class="notes">{lines}</ul>{COUNTS}</section>'
    )
    before, ends, after = page.partition(HEAD_ENDS)
    return f"{before}{ends}{section}{after}" if ends else f"{section}{page}"


def changes(notebook: Any) -> Iterator[str]:
    """What stands in the gradebook besides the marks of record, in HTML, a line each."""
    points = points_of(notebook.name)
    for grade in sorted(notebook.grades, key=lambda each: each.name):
        title = escape(title_at(notebook.name, grade.name))
        ours = points.get(grade.name, grade.max_score)
        if grade.max_score != ours:
            yield f"{title}: counts {grade.max_score:g} points in place of {ours:g}"
        if grade.manual_score is not None and grade.manual_score != grade.auto_score:
            yield f"{title}: {grade.manual_score:g} of {grade.max_score:g} points"
        if grade.extra_credit:
            yield f"{title}: {grade.extra_credit:g} points of extra credit"
    for comment in sorted(notebook.comments, key=lambda each: each.name):
        if comment.manual_comment:
            title = escape(title_at(notebook.name, comment.name))
            yield f"{title}: {in_html(comment.manual_comment)}"
    if notebook.late_submission_penalty:
        yield f"handed in late: {notebook.late_submission_penalty:g} points less"


def points_of(lab: str) -> dict[str, int]:
    """What the checks of a lab count with us, by the ids of their cells."""
    found = places(lab).items() if lab in LABS else []
    return {at.check: EXERCISES[name].points for name, at in found}


def in_html(comment: str) -> str:
    """A comment, which formgrader takes as Markdown; a single paragraph stands in its line."""
    page = str(MARKDOWN(comment)).strip()
    return page[3:-4] if page.startswith("<p>") and page.count("<p>") == 1 else page
