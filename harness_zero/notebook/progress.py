"""How far a learner has come, as the front page and the terminal show it, and what is next."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path

from harness_zero.course import NotLaid, checkout
from harness_zero.faults import SetupFault
from harness_zero.grading.exercise import Lab
from harness_zero.grading.exercises import LABS
from harness_zero.notebook.faces import Shown
from harness_zero.progress import (
    Progress,
    Step,
    chapters_in,
    copy_around,
    lost_record,
    next_step,
    note_read,
    steps,
    title,
)
from harness_zero.progress import progress as noted

HEAD = ("chapter", "read", "exercises", "points")
LEFT = ' style="text-align: left"'

Labs = Mapping[str, Lab]
Row = tuple[str, ...]


class NoSuchChapter(SetupFault):
    """The chapter that was named is not in the course."""


class NoCourse(SetupFault):
    """Neither a learner's copy nor the repository is there; the sentence says what to do."""


def progress() -> Shown:
    """How far you have come, chapter by chapter, and what is next."""
    copy = copy_around(Path.cwd())
    done, chapters = noted(copy), chapters_of(copy)
    if copy is None:
        done = replace(done, fault=lost_record(Path.cwd()))
    text = as_text(done, chapters, LABS, home=copy)
    return Shown(text, as_page(done, chapters, LABS, copy))


def chapter_read(name: str) -> Shown:
    """Note that a chapter was read to its end, and say what follows."""
    copy = copy_around(Path.cwd())
    chapters = chapters_of(copy)
    if name not in chapters:
        raise NoSuchChapter(f"no chapter {name!r}; there are {', '.join(chapters)}.")
    fault = note_read(copy, name) if copy else lost_record(Path.cwd())
    return followed(name, chapters, LABS, fault)


def chapters_of(copy: Path | None) -> list[str]:
    """The chapters of a copy; without one, those of the repository."""
    try:
        return chapters_in(copy or checkout())
    except NotLaid as reason:
        raise NoCourse(str(reason)) from None


def as_text(
    done: Progress,
    chapters: Collection[str],
    labs: Labs,
    folder: str = "",
    home: Path | None = None,
) -> str:
    """A line a chapter, what it comes to, and what is next.

    `folder` is where paths begin; what is gone from `home` is said.
    """
    table = [HEAD, *(row(name, done, chapters, labs) for name in names(chapters, labs))]
    table.append(total(done, chapters, labs))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
    ending = going_on(done, chapters, labs, folder, home).text
    return "\n".join([*lines, "", ending])


def as_page(done: Progress, chapters: Collection[str], labs: Labs, home: Path | None = None) -> str:
    """The same as a table with links."""
    rows = [linked(name, done, chapters, labs) for name in names(chapters, labs)]
    heads = "".join(f'<th scope="col"{LEFT}>{head}</th>' for head in HEAD)
    body = "\n".join(map(as_row, rows))
    foot = as_row(total(done, chapters, labs))
    ending = going_on(done, chapters, labs, home=home).page
    return (
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n"
        f"<tfoot>{foot}</tfoot>\n</table>\n{ending}"
    )


def as_row(cells: Row) -> str:
    """The cells of a row of the page, of which the first one names it."""
    first, *others = cells
    rest = "".join(f"<td{LEFT}>{cell}</td>" for cell in others)
    return f'<tr><th scope="row"{LEFT}>{first}</th>{rest}</tr>'


def names(chapters: Collection[str], labs: Labs) -> list[str]:
    """All chapters in their order, also those of which only the lab is there."""
    return sorted({*chapters, *labs})


def row(name: str, done: Progress, chapters: Collection[str], labs: Labs) -> Row:
    """What was done of a chapter and its lab, under HEAD; a stroke for what there is not."""
    read = ("yes" if name in done.read else "no") if name in chapters else "-"
    achieved = of_labs([labs[name]], done) if name in labs else ("-", "-")
    return (f"{name[:2]} {title(name, labs)}", read, *achieved)


def linked(name: str, done: Progress, chapters: Collection[str], labs: Labs) -> Row:
    """The same row for the page, with links to the chapter and its lab."""
    chapter, read, exercises, points = map(escape, row(name, done, chapters, labs))
    if name in chapters:
        chapter = link(Step(name), chapter)
    if name in labs:
        exercises = f"{exercises}, {link(Step(name, labs[name]), f'lab {name[:2]}')}"
    return chapter, read, exercises, points


def total(done: Progress, chapters: Collection[str], labs: Labs) -> Row:
    """What it all comes to."""
    read = sum(name in done.read for name in chapters)
    return ("in all", f"{read} of {len(chapters)}", *of_labs(labs.values(), done))


def of_labs(labs: Iterable[Lab], done: Progress) -> tuple[str, str]:
    """How many exercises of some labs have passed, and how many points that is."""
    exercises = [exercise for lab in labs for exercise in lab.exercises]
    passed = [exercise for exercise in exercises if exercise.name in done.passed]
    points, of = (sum(exercise.points for exercise in some) for some in (passed, exercises))
    return f"{len(passed)} of {len(exercises)}", f"{points} of {of}"


def going_on(
    done: Progress,
    chapters: Collection[str],
    labs: Labs,
    folder: str = "",
    home: Path | None = None,
) -> Shown:
    """Where to go on: the first chapter that is not read, or exercise that has not passed."""
    step = next_step(done, chapters, labs)
    if step is None:
        return paragraphs("All that there is so far is done.", done.fault)
    words = called(step, labs)
    if step.lab:
        left = [each.name not in done.passed for each in step.lab.exercises]
        at = left.index(True)
        words = f"lab {step.name[:2]}, exercise {at + 1}, {step.lab.exercises[at].title}"
    gone = home is not None and not (home / step.path).exists()
    cure = f"It is not there: harness-zero reset {step.name[:2]} brings it back." if gone else ""
    return paragraphs(done.fault, to=step, words=words, folder=folder, then=cure)


def followed(name: str, chapters: Collection[str], labs: Labs, fault: str = "") -> Shown:
    """What follows a chapter, whether that is done or not: its lab, or another chapter."""
    course = steps(chapters, labs)
    rest = course[course.index(Step(name)) + 1 :]
    read = f"Chapter {name[:2]} is read."
    if not rest:
        return paragraphs(f"{read} It is the last one so far.", fault)
    words = called(rest[0], labs)
    if lab := rest[0].lab:
        words += f", {sum(exercise.minutes for exercise in lab.exercises)} minutes"
    return paragraphs(read, fault, to=rest[0], words=words)


def called(step: Step, labs: Labs) -> str:
    """A part of the course by its kind, number and title."""
    return f"{'lab' if step.lab else 'chapter'} {step.name[:2]}, {title(step.name, labs)}"


def paragraphs(
    *sentences: str, to: Step | None = None, words: str = "", folder: str = "", then: str = ""
) -> Shown:
    """Sentences, under these words the way to what is next, and what is to be said of that."""
    text = [sentence for sentence in sentences if sentence]
    page = [escape(sentence) for sentence in text]
    if to:
        text.append(f"Next: {words}: {folder}{to.path}")
        page.append(f"Next: {link(to, escape(words))}")
    if then:
        text.append(then)
        page.append(escape(then))
    return Shown("\n".join(text), "\n".join(f"<p>{sentence}</p>" for sentence in page))


def link(to: Step, words: str) -> str:
    """A link from a notebook in chapters/ to another one of the course."""
    folder, _, name = to.path.partition("/")
    return f'<a href="{name if folder == "chapters" else f"../{to.path}"}">{words}</a>'
