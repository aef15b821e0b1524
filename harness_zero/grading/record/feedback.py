"""What a learner may see of a grade: a page that needs nothing else and tells no hidden flight."""

from hashlib import sha256
from html import escape
from pathlib import Path
from re import sub

from harness_zero.grading.record.grade import Grade, Mark
from harness_zero.grading.record.hidden import BROKEN, HIDDEN
from harness_zero.grading.record.plan import plan

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .25rem; }
dt { font-weight: 600; } dd { margin: 0 0 .25rem 1rem; overflow-wrap: anywhere; }
"""
LONGEST = 150  # bytes of a name
WHY = (
    "<p>The names, texts, numbers and moments in it are others than those that the checks use. So"
    " look for what in your answer goes by these: a name or a number that stands in it by itself,"
    " a case that is told apart by its words, a length that is taken for granted.</p>"
)
MAY_DIFFER = (
    "The grade of record runs your cells in a process of their own, without what stands in cells"
    " of your own. Cases and flights that are not shown are drawn by whoever grades. They ask for"
    " nothing but what an exercise promises, with other names, numbers and moments than the checks"
    " in the notebook have; so an exercise whose checks all pass there can earn less here."
)


def page(grade: Grade) -> str:
    """The page of a submission."""
    given = grade.submission
    title = f"Lab {given.lab.name[:2]} · {given.lab.title}" if given.lab else "Not graded"
    of = sum(mark.of for mark in grade.marks)
    total = f"<p><strong>{grade.total} of {of} points.</strong></p>" if given.lab else ""
    record = "" if grade.of_record else "<p>These marks are not of record.</p>"
    notes = "".join(f"<li>{escape(note)}</li>" for note in grade.notes)
    marks = "".join(section(grade, mark) for mark in grade.marks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        f"</title><style>{STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n"
        f"<p>{escape(given.learner)} · {escape(given.path.name)}</p>{total}{record}"
        f"{f'<ul>{notes}</ul>' if notes else ''}\n{marks}<p>{MAY_DIFFER}</p></body></html>\n"
    )


def section(grade: Grade, mark: Mark) -> str:
    """What became of one exercise."""
    assert grade.submission.lab
    exercise = plan(grade.submission.lab.name).exercise(mark.exercise)
    found = mark.findings[-1] if mark.findings else None
    told = f"<p>{escape(mark.reason)}</p>" if mark.reason else "<p>All promises kept.</p>"
    if mark.reason.startswith(BROKEN):
        told = f"<p>The promises that the notebook shows are kept; {escape(mark.reason)}.</p>{WHY}"
    elif mark.reason and found and found.state == "broken":
        parts = {"expected": found.expected, "got": found.got, "why": found.why}
        lines = "".join(
            f"<dt>{name}</dt><dd>{escape(each)}</dd>" for name, each in parts.items() if each
        )
        told = f"<p>Broken: {escape(found.promise)}</p><dl>{lines}</dl>"
    points = f"{mark.points} of {mark.of} points" if mark.of else "not of record yet"
    return f"<h2>{escape(exercise.title)}: {points}</h2>{told}{unseen(mark.exercise)}\n"


def unseen(exercise: str) -> str:
    """Whether an exercise is tried with more than the notebook shows."""
    trials = HIDDEN.get(exercise, ())
    if not trials:
        return "<p>It is tried with what the notebook shows, and nothing else.</p>"
    flights = " and flights" if any(trial.flown for trial in trials) else ""
    return f"<p>It is also tried in cases{flights} that are not shown.</p>"


def name_of(grade: Grade) -> str:
    """The file of a page: the learner, the lab, and a few letters that tell all files apart."""
    given = grade.submission
    lab = given.lab.name if given.lab else "not_graded"
    stem = sub(r"[^\w.-]+", "_", f"{given.learner}__{lab}__{given.path.stem}")
    short = stem.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")
    file = sha256(f"{given.path}\0{given.digest}".encode("utf-8", "surrogateescape"))
    return f"{short}__{file.hexdigest()[:8]}.html"


def write(folder: Path, name: str, text: str) -> None:
    """Write a page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", errors="replace")
