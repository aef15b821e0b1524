"""A page of feedback, with what an instructor changed in formgrader put before it."""

from collections.abc import Iterator
from html import escape
from typing import Any

from harness_zero.grading.course.places import title_at

HEAD_ENDS = "</h1>"
COUNTS = "<p>This is what counts. Below stands what was found without your instructor.</p>"


def with_changes(page: str, notebook: Any) -> str:
    """The page of a submitted notebook; as it is, if the gradebook says nothing else."""
    told = [*changes(notebook)]
    if not told:
        return page
    late = notebook.late_submission_penalty or 0
    total = f"{max(notebook.score - late, 0):g} of {notebook.max_score:g} points"
    lines = "".join(f"<li>{escape(line)}</li>" for line in told)
    head = f"<h2>From your instructor: {total}</h2>"
    section = (
        f'\n<section class="instructor">{head}<ul class="notes">{lines}</ul>{COUNTS}</section>'
    )
    before, ends, after = page.partition(HEAD_ENDS)
    return f"{before}{ends}{section}{after}" if ends else f"{section}{page}"


def changes(notebook: Any) -> Iterator[str]:
    """What stands in the gradebook besides the marks of record, a line each."""
    for grade in sorted(notebook.grades, key=lambda each: each.name):
        title = title_at(notebook.name, grade.name)
        if grade.manual_score is not None and grade.manual_score != grade.auto_score:
            yield f"{title}: {grade.manual_score:g} of {grade.max_score:g} points"
        if grade.extra_credit:
            yield f"{title}: {grade.extra_credit:g} points of extra credit"
    for comment in sorted(notebook.comments, key=lambda each: each.name):
        if comment.manual_comment:
            yield f"{title_at(notebook.name, comment.name)}: {comment.manual_comment}"
    if notebook.late_submission_penalty:
        yield f"handed in late: {notebook.late_submission_penalty:g} points less"
