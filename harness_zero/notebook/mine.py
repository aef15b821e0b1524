"""The page of a learner's own harness: which pieces are theirs, and which are borrowed."""

from collections.abc import Mapping
from html import escape
from types import ModuleType

from harness_zero import kernel
from harness_zero.grading.exercise import Exercise
from harness_zero.mine import PACKAGE, lab_of, load, makers, owned, retired
from harness_zero.notebook.faces import Shown, coloured, fold
from harness_zero.progress import copy_around

HEADS = ("piece", "whose", "from")
LEFT = ' style="text-align: left"'


def mine() -> Shown:
    """Every piece of the harness: the learner's own with its source, ours until they write it."""
    copy = copy_around(kernel.folder())
    own = owned(copy) if copy else {}
    rows = [row(name, exercises, own) for name, exercises in makers().items()]
    sources = {
        name: (copy / PACKAGE / f"{name}.py").read_text("utf-8", errors="replace")
        for name in own
        if copy
    }
    return Shown(as_text(rows), page(rows, sources))


def my_harness() -> ModuleType:
    """The harness itself, to be flown: the learner's pieces, and ours in the place of the rest."""
    folder = kernel.folder()
    return load(copy_around(folder) or folder)


def row(
    name: str, exercises: list[Exercise], own: Mapping[str, Exercise | None]
) -> tuple[str, str, str]:
    """A piece: its name, whose it is, and the exercise that it comes from or waits for."""
    made = own.get(name, exercises[0]) or exercises[0]
    whose = "yours" if name in own else "retired" if name in retired(own) else "borrowed"
    return name, whose, f"lab {lab_of(made)[:2]}, {made.title}"


def as_text(rows: list[tuple[str, str, str]]) -> str:
    """The pieces as lines."""
    widths = [max(len(cells[at]) for cells in [HEADS, *rows]) for at in range(3)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        for cells in [HEADS, *rows]
    ]
    return "\n".join([*map(str.rstrip, lines), count(rows)])


def count(rows: list[tuple[str, str, str]]) -> str:
    """How many of the pieces are the learner's."""
    yours = sum(whose == "yours" for _, whose, _ in rows)
    return f"{yours} of {len(rows)} pieces are yours."


def page(rows: list[tuple[str, str, str]], sources: Mapping[str, str]) -> str:
    """The pieces as a table; the learner's own can be unfolded."""
    heads = "".join(f'<th scope="col"{LEFT}>{head}</th>' for head in HEADS)
    body = "".join(
        f"<tr><td{LEFT}>{name_of(name, sources)}</td><td{LEFT}>{whose}</td>"
        f"<td{LEFT}>{escape(origin)}</td></tr>"
        for name, whose, origin in rows
    )
    return (
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><p>{count(rows)}</p>"
    )


def name_of(name: str, sources: Mapping[str, str]) -> str:
    """The piece's name; of one that is the learner's, with its source behind a fold."""
    shown = f"<code>{name}</code>"
    if name not in sources:
        return shown
    source = "\n".join(coloured(sources[name].rstrip("\n")))
    return fold(shown, f'<div class="hz-code"><pre>{source}</pre></div>')
