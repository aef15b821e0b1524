"""The detector bench as a figure: a row a detector, then each trace with what all of them said.

Marks stand in the cells as characters; colour only repeats them.
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from harness_zero.faults import hole
from harness_zero.flight.bench import HEAD, LEGEND, Row, Verdict, bench
from harness_zero.flight.table import MIX
from harness_zero.notebook.faces import Shown

STATIC = Path(__file__).parent / "static"
MARKS = {"!": "wrong", "x": "missed", "?": "word", "E": "wrong"}


def detector_bench(**mine: Any) -> Shown:
    """What detectors say to 28 recorded flights, half of them healthy.

    Yours stand first, under the names that you give them: `detector_bench(mine=my_policy)`. One
    that keeps a state is given as the function that makes it, and made anew for each trace.
    """
    try:
        rows = bench({name.replace("_", " "): detector for name, detector in mine.items()})
    except NotImplementedError as error:
        undone = f"not done yet: there is a hole in {hole(error)}"
        return Shown(undone, f"<p>{escape(undone)}</p>")
    return Shown(
        text(rows), f'<style>{stylesheet()}</style><div class="hz-bench">{page(rows)}</div>'
    )


@cache
def stylesheet() -> str:
    """The looks of the bench."""
    return (STATIC / "bench.css").read_text("utf-8").strip()


def lettered(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """The rows with the letters under which they stand in the table of traces."""
    return [*zip(ascii_uppercase, rows, strict=False)]


def traces(rows: Sequence[Row]) -> list[tuple[Verdict, list[Verdict]]]:
    """What was said to each trace, by all detectors; the first verdict knows the trace."""
    columns = zip(*(row.verdicts for row in rows), strict=True)
    return [(verdicts[0], [*verdicts]) for verdicts in columns]


def faults(rows: Sequence[Row]) -> list[str]:
    """What took a detector down, once each."""
    told = [f"{row.name}: {v.fault}" for row in rows for v in row.verdicts if v.fault]
    return [f"E: {fault}" for fault in dict.fromkeys(told)]


def text(rows: Sequence[Row]) -> str:
    """The bench, as text."""
    lines = [aligned(f"  {HEAD[0]}", HEAD[1:])]
    lines += [aligned(f"{letter} {row.name}", row.numbers) for letter, row in lettered(rows)]
    lines += ["", f"{'':<50}{''.join(f'{letter:>7}' for letter, _ in lettered(rows))}"]
    kinds = {False: "stuck", True: "healthy"}
    for first, said in traces(rows):
        kind = kinds.pop(first.trace.healthy, "")
        lines += [kind] if kind else []
        lines.append(f"  {first.trace.what:<48}{''.join(f'{verdict!s:>7}' for verdict in said)}")
    return "\n".join([*lines, "", *LEGEND, *faults(rows), MIX])


def aligned(name: str, cells: Sequence[str]) -> str:
    """A line of the table of detectors."""
    return f"{name:<20}{''.join(f'{cell:>20}' for cell in cells)}".rstrip()


def page(rows: Sequence[Row]) -> str:
    """The bench, as a page."""
    detectors = [
        cells(f"{letter} {row.name}", row.numbers, escape(row.source))
        for letter, row in lettered(rows)
    ]
    heads = [f'<abbr title="{escape(row.name)}">{letter}</abbr>' for letter, row in lettered(rows)]
    said = [trace_row(first, verdicts) for first, verdicts in traces(rows)]
    notes = [*LEGEND, *faults(rows)]
    return "".join(
        [
            table([*map(escape, HEAD), "its numbers are from"], detectors),
            table(["what happens in it", *heads, "flight"], said),
            f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>",
            f"<p><i>{MIX}</i></p>",
        ]
    )


def trace_row(first: Verdict, verdicts: Sequence[Verdict]) -> str:
    """A trace, and what was said to it."""
    trace = first.trace
    told = "".join(
        f'<td class="said {MARKS.get(verdict.mark, "right")}">{escape(str(verdict))}</td>'
        for verdict in verdicts
    )
    kind = "healthy" if trace.healthy else "stuck"
    name = f'<th scope="row">{kind}: {escape(trace.what)}</th>'
    return f"<tr>{name}{told}<td><code>{escape(trace.flight)}</code></td></tr>"


def cells(name: str, numbers: Sequence[str], last: str) -> str:
    """A detector and its numbers."""
    middle = "".join(f"<td>{escape(number)}</td>" for number in numbers)
    return f'<tr><th scope="row">{escape(name)}</th>{middle}<td>{last}</td></tr>'


def table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """A table of rows that are made already."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
