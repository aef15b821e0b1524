"""What the lens is sent: every line once, each request as what changes in the one beside it.

A request of the run is a splice of the one before it; a busted one is a splice of the sound
one of the same round. So a thousand rounds, busted in nine ways, cost small entries and no copies.
Long lines are cut, and say so, until the whole fits its budget.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import count, groupby
from typing import Any

from harness_zero.busters import LIFETIME
from harness_zero.keys import hidden, keys
from harness_zero.notebook.compared import Change, Lines, Rows, shared
from harness_zero.notebook.payload import Cutter
from harness_zero.notebook.priced import Course, Priced
from harness_zero.prefix import Difference

BUDGET = 450_000  # bytes of lines
LIMITS = (8_000, 4_000, 2_000, 1_000, 500, 250, 120, 60)  # characters of one line
AROUND = 32  # bytes before and after the first one that differs
MOST = 40  # lines a round, beyond which a course is told round by round
ROOM = 500  # bytes around those in which a key is looked for

Splice = list[int]  # where, how many lines go, and the numbers of those that come


def lens_payload(run: Priced) -> dict[str, Any]:
    """All that the lens needs, as JSON."""
    lines, unlike = shown_lines(run.lines)
    first, words = run.courses[0], Words(unlike)
    courses = [course_payload(each, first, words) for each in run.courses]
    return {
        "model": run.model,
        "notes": run.notes,
        "tiers": run.prices.tiers if run.prices else [],
        "labels": [Cutter(120).text(label) for label in run.lines.labels],
        "sizes": [*map(len, run.lines.lines)],
        "lines": lines,
        "sound": run.sound,
        "rounds": [splice(one.numbers, other.numbers) for one, other in pairs(first.rows)],
        "courses": courses,
        "words": [*words.known],
    }


class Words:
    """Names and pieces of text, each once, by number."""

    def __init__(self, unlike: set[int]) -> None:
        self.known: dict[str, int] = {}
        self.unlike = unlike  # the lines that are not shown byte for byte

    def put(self, words: str) -> int:
        """The number of these words."""
        return self.known.setdefault(words, len(self.known))

    def parts(self, change: Change, rows: Sequence[Rows], at: int) -> list[int]:
        """The byte that differs, and its block's name; what stands around it if a line is cut."""
        found = change.parts
        if not found:
            return []
        touched = {*line_at(rows[at], change.rows), *line_at(rows[at - 1], change.rows)}
        pieces = around(found) if touched & self.unlike else ()
        return [found.byte, *map(self.put, (found.block, *pieces))]


def pairs(rows: Sequence[Rows]) -> list[tuple[Rows, Rows]]:
    """Each request's rows, and those of the request before it; nothing stands before the first."""
    return [*zip([nothing(), *rows], rows, strict=False)]


def nothing() -> Rows:
    """A request without any line."""
    empty = Rows.__new__(Rows)
    empty.head, empty.body = [], []
    return empty


def course_payload(course: Course, first: Course, words: Words) -> dict[str, Any]:
    """One way to have sent the run, as what differs from the first one, or from round to round."""
    differing = zip(course.rows, first.rows, strict=False)  # a busted run may be shorter
    beside = {
        at: splice(there.numbers, here.numbers)
        for at, (here, there) in enumerate(differing)
        if here is not there and here.numbers != there.numbers
    }
    grows = sum(map(len, beside.values())) > MOST * len(course.rows)
    own = [splice(one.numbers, other.numbers) for one, other in pairs(course.rows)] if grows else []
    parts = {at: words.parts(each, course.rows, at) for at, each in enumerate(course.changes)}
    times = course.times
    return {
        "name": course.name,
        "does": course.does,
        "cure": course.cure,
        "declared": course.declared,
        "marked": course.marked,
        "tokens": [[c.read, c.written_5m, c.written_1h, c.fresh] for c in course.counted],
        "rounds": own,
        "splices": {} if grows else beside,
        "parts": {at: told for at, told in parts.items() if told},
        "beside": {at: each.beside for at, each in enumerate(course.changes) if each.beside},
        "waits": {
            n: round(times[n] - times[n - 1]) for n in range(1, len(times)) if gone(times, n)
        },
    }


def gone(times: Sequence[float], at: int) -> bool:
    """Whether an entry of five minutes is gone since the request before."""
    return times[at] - times[at - 1] >= LIFETIME


def splice(one: Sequence[int], other: Sequence[int]) -> Splice:
    """How one list becomes the other: where, how many go, and what comes."""
    begin = shared(one, other)
    most = min(len(one), len(other)) - begin
    same = shared(one[len(one) - most :][::-1], other[len(other) - most :][::-1]) if most else 0
    return [begin, len(one) - begin - same, *runs(other[begin : len(other) - same])]


def runs(numbers: Sequence[int]) -> Iterator[int]:
    """Numbers that follow one another, as the first of them and how many there are, negative."""
    step = count()
    for _, alike in groupby(numbers, key=lambda number: number - next(step)):
        first, *others = alike
        yield from [first, -1 - len(others)] if len(others) > 1 else [first, *others]


def shown_lines(lines: Lines) -> tuple[list[str], set[int]]:
    """Every line as it is shown, and which of them are not shown byte for byte."""
    whole = [line[:-1].decode("utf-8", "replace") for line in lines.lines]
    for limit in LIMITS:
        cutter = Cutter(limit)
        cut = [cutter.text(line) for line in whole]
        if len(json.dumps(cut)) <= BUDGET:
            break
    return cut, {at for at, line in enumerate(cut) if line != whole[at]}


def line_at(rows: Rows, row: int) -> list[int]:
    """The line in a row, if there is one."""
    inside = row - len(rows.head)
    body = rows.body[inside : inside + 1] if inside >= 0 else []
    return rows.head[row : row + 1] or body


def around(found: Difference) -> tuple[str, str]:
    """A short piece of both lines; none where a key stands near."""
    wide = found.around(AROUND + ROOM)
    secrets = keys()
    if any(hidden(piece, secrets) != piece for piece in wide):
        return "[a key stands here]", "[a key stands here]"
    return found.around(AROUND)
