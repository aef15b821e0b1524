"""What a learner may see of a grade: a page that needs nothing else and tells no hidden flight."""

from collections.abc import Iterable
from hashlib import sha256
from html import escape
from pathlib import Path
from re import sub

from harness_zero.brief import plural
from harness_zero.grading.checks import untried
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.record.account import BROKEN, Account, account
from harness_zero.grading.record.grade import Grade, Mark
from harness_zero.grading.record.hidden import HIDDEN
from harness_zero.grading.record.plan import plan
from harness_zero.watch import printable

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  --kept: #2da44e; --broken: #e5534b; --open: #8a8f98;
  --line: color-mix(in srgb, CanvasText 22%, transparent);
  --dim: color-mix(in srgb, CanvasText 78%, Canvas); }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; line-height: 1.35; margin: 0; }
p { margin: .4rem 0; } ul, dl { margin: .4rem 0; padding: 0; } dd { margin: 0; }
code, .value { font: .86em/1.5 ui-monospace, Menlo, Consolas, monospace; }
.quiet { color: var(--dim); font-size: .9rem; }
.total { font-size: 1.2rem; margin: 1rem 0 .4rem; }
.bar { display: flex; gap: 3px; margin-bottom: 1.5rem; }
.bar i { height: 8px; border-radius: 2px; background: var(--line); }
.bar .kept { background: var(--kept); }
section { margin: 0 0 .9rem; padding: .75rem 1rem; border: 1px solid var(--line);
  border-left: 4px solid var(--open); border-radius: 4px; }
section.kept { border-left-color: var(--kept); }
section.broken { border-left-color: var(--broken); }
section.instructor { margin-top: .75rem; border-left-color: #1976d2; }
section h2 { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; }
h2 span { font-weight: 400; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
:focus-visible { outline: 2px solid #1976d2; outline-offset: 2px; border-radius: 2px; }
.promises { list-style: none; } .promises li { padding-left: 1.5rem; text-indent: -1.5rem; }
.promises li > * { text-indent: 0; } .promises + p { margin-top: .6rem; }
.promises i { display: inline-block; width: 1.5rem; font-style: normal; font-weight: 700; }
li.kept i { color: color-mix(in srgb, var(--kept) 70%, CanvasText); }
li.broken i { color: color-mix(in srgb, var(--broken) 70%, CanvasText); }
.notes, .how { padding-left: 1.2rem; } .how li { margin-bottom: .3rem; }
dl { padding: .5rem .75rem; border-radius: 4px;
  background: color-mix(in srgb, CanvasText 5%, transparent); }
dl div { display: grid; grid-template-columns: 5.5rem 1fr; gap: 0 .5rem; }
dl div + div { margin-top: .25rem; } dt { color: var(--dim); }
.value { white-space: pre-wrap; unicode-bidi: isolate; padding-top: .1em; }
@media (max-width: 30rem) { dl div { display: block; } }
"""
LONGEST = 150  # bytes of a name
MISSING = " is not there"  # what is said of a cell; the exercise says it where the learner looks
HOW = (
    "An exercise earns its points when all its promises are kept. They are tried in order, up to"
    " the first that breaks.",
    "The check in your notebook mostly says the same, and there you can step through the case that"
    " broke.",
    "It can pass there and fail here. The grade of record runs the lab's own cells with your"
    " answers in them; what stands in cells that you added is left out. All promises of an exercise"
    " share two seconds. And some exercises are also tried in cases and flights that are not shown:"
    " they are drawn by whoever grades, and ask for nothing but what the exercise promises, with"
    " other names, numbers and moments than the notebook has.",
    "The same answer gets the same mark, whenever it is graded. If you think that a mark is wrong,"
    " show this page to whoever graded it.",
)
HAND_IN_AGAIN = (
    "So nothing in it could be looked at. Hand in the notebook of the lab itself, saved in Jupyter,"
    " under the name that it came with (such as 01_structural_stop.ipynb)."
)


def page(grade: Grade) -> str:
    """The page of a submission."""
    given = grade.submission
    title = f"Lab {given.lab.name[:2]} · {given.lab.title}" if given.lab else "Not graded"
    record = "" if grade.of_record else "<p>These marks are not of record.</p>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n"
        f'<p class="quiet">{text(given.learner)} · {text(given.path.name)}</p>'
        f"{record}\n{marked(grade) if given.lab else ungraded(grade)}</main></body></html>\n"
    )


def ungraded(grade: Grade) -> str:
    """What is told of a file in which there was nothing to grade."""
    ours = grade.submission.fault.startswith("the grader")
    said = "".join(f"<p>{words(sentence(note))}</p>" for note in grade.notes)
    return said if ours else f"{said}<p>{escape(HAND_IN_AGAIN)}</p>"


def marked(grade: Grade) -> str:
    """The points of a lab, all together and an exercise each."""
    of, full = sum(mark.of for mark in grade.marks), sum(not mark.reason for mark in grade.marks)
    bar = "".join(
        f'<i class="{"open" if mark.reason else "kept"}" style="flex:{mark.of}"></i>'
        for mark in grade.marks
    )
    notes = [note for note in grade.notes if not note.endswith(MISSING)]
    sections = "".join(section(grade, mark, at) for at, mark in enumerate(grade.marks, 1))
    return (
        f'<p class="total"><strong>{grade.total} of {of} points.</strong>'
        f" {full} of {plural(len(grade.marks), 'exercise')} done.</p>"
        f'<div class="bar" aria-hidden="true">{bar}</div>\n'
        f"{listed(map(sentence, notes), 'notes')}{sections}"
        f"<h2>How this was graded</h2>\n{listed(HOW, 'how')}"
    )


def listed(sentences: Iterable[str], name: str) -> str:
    """Some sentences as a list; nothing if there are none."""
    lines = "".join(f"<li>{words(each)}</li>" for each in sentences)
    return f'<ul class="{name}">{lines}</ul>' if lines else ""


def section(grade: Grade, mark: Mark, at: int) -> str:
    """What became of one exercise, under its title in the notebook."""
    assert grade.submission.lab
    exercise = plan(grade.submission.lab.name).exercise(mark.exercise)
    told = account(grade, mark, exercise)
    points = f"{mark.points} of {mark.of} points"
    said = "".join(f"<p>{words(each)}</p>" for each in told.said)
    then = "".join(f"<p>{words(each)}</p>" for each in told.then)
    return (
        f'<section class="{told.state}" id="{mark.exercise}">'
        f"<h2>Exercise {at} · {escape(exercise.title)} <span>{points}</span></h2>"
        f'<p class="quiet"><code>{mark.exercise}</code> · {unseen(mark.exercise)}</p>'
        f"{said}{promises(exercise, mark, told)}{then}</section>\n"
    )


def promises(exercise: Exercise, mark: Mark, told: Account) -> str:
    """The promises that were kept, behind a fold, and the one that broke."""
    kept = [each.promise for each in mark.findings if each.state == "kept"]
    if told.state != BROKEN or len(kept) == len(mark.findings):
        return details(told)
    tick = '<i aria-hidden="true">✓</i>'
    lines = "".join(f'<li class="kept">{tick}{text(each)}</li>' for each in kept)
    head = f"{len(kept)} of {plural(len(exercise.promises), 'promise')} kept"
    fold = f'<details><summary>{head}</summary><ul class="promises">{lines}</ul></details>'
    broken, rest = mark.findings[-1], untried(exercise, [*mark.findings])
    more = f'<p class="quiet">{plural(rest, "promise")} not tried yet</p>' if rest else ""
    return (
        f'{fold if kept else ""}<ul class="promises"><li class="broken">'
        f'<i aria-hidden="true">✗</i><span class="heard">Broken: </span>'
        f"{text(broken.promise)}{details(told)}</li></ul>{more}"
    )


def details(told: Account) -> str:
    """What was expected, what came and why it matters."""
    lines = "".join(
        f"<div><dt>{name}</dt>{described(name, each)}</div>"
        for name, each in told.details.items()
        if each
    )
    return f"<dl>{lines}</dl>" if lines else ""


def described(name: str, said: str) -> str:
    """A reason as a sentence; what was expected and what came as the notebook prints it."""
    return f"<dd>{words(said)}</dd>" if name == "why" else f'<dd class="value">{text(said)}</dd>'


def unseen(exercise: str) -> str:
    """Whether an exercise is tried with more than the notebook shows."""
    trials = HIDDEN.get(exercise, ())
    if not trials:
        return "tried with what the notebook shows, and nothing else"
    flights = " and flights" if any(trial.flown for trial in trials) else ""
    return f"also tried in cases{flights} that are not shown"


def words(sentence: str) -> str:
    """A sentence of ours for the page; what stands in backticks is code."""
    return sub(r"`([^`]+)`", r"<code>\1</code>", text(sentence))


def text(given: str) -> str:
    """A text for the page; what would not stand still there is spelled out."""
    return escape(printable(given), quote=False)


def sentence(note: str) -> str:
    """A note as a sentence of its own."""
    return f"{note[:1].upper()}{note[1:]}{'' if note.endswith(('.', '?', '!')) else '.'}"


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
