"""The picture of a frontier: a curve a harness, a mark a limit, and all numbers in a table.

Curves are told apart by the shape of their marks and by their names, not by colour.
"""

from collections.abc import Sequence
from functools import cache
from html import escape
from math import ceil, floor
from pathlib import Path

from harness_zero.flight.frontier import HEAD, Frontier, Point, cells, heading, text
from harness_zero.flight.table import MIX

STATIC = Path(__file__).parent / "static"
WIDE, HIGH, LEFT, LOW = 700, 300, 60, 40  # the plot, and the room for what stands at its axes
MARKS = (  # drawn around (0, 0)
    '<circle r="6"></circle>',
    '<rect x="-5.5" y="-5.5" width="11" height="11"></rect>',
    '<path d="M0 -8 L8 6 L-8 6 Z"></path>',
    '<path d="M0 -8 L8 0 L0 8 L-8 0 Z"></path>',
)


def faces(drawn: Frontier) -> tuple[str, str]:
    """The text and the page of a frontier."""
    verdicts = "".join(f"<li>{escape(verdict)}</li>" for verdict in drawn.verdicts())
    parts = [
        f"<style>{stylesheet()}</style><p><b>{escape(heading(drawn))}</b></p>",
        picture(drawn),
        f"<ul>{verdicts}</ul>",
    ]
    return text(drawn), "".join([*parts, table(drawn), f"<p><i>{MIX}</i></p>"])


@cache
def stylesheet() -> str:
    """The looks of the curves; the rest is as in the other figures."""
    return (STATIC / "frontier.css").read_text("utf-8").strip()


def picture(drawn: Frontier) -> str:
    """Goals kept upwards, rounds wasted to the right: the best place is top left."""
    points = [each for curve in drawn.curves for each in curve]
    right = ceil(max(each.wasted for each in points)) or 1
    bottom = 10 * floor(min(each.kept for each in points) / 10)

    def place(each: Point) -> tuple[float, float]:
        up = (each.kept - bottom) / max(1, 100 - bottom)
        return LEFT + WIDE * each.wasted / right, 10 + HIGH * (1 - up)

    curves = "".join(
        curve(n, each, [place(p) for p in each]) for n, each in enumerate(drawn.curves)
    )
    size = f'viewBox="0 0 {WIDE + LEFT + 40} {HIGH + LOW + 10 + 22 * len(drawn.curves)}"'
    said = f"Goals kept against rounds wasted. {heading(drawn)}. {'; '.join(drawn.verdicts())}"
    return f'<svg role="img" aria-label="{escape(said)}" {size}>{axes(right, bottom)}{curves}</svg>'


def axes(right: int, bottom: int) -> str:
    """The two axes, with what they count."""
    floor_, middle = 10 + HIGH, LEFT + WIDE / 2
    lines = f'<path class="axis" d="M{LEFT} 10 V{floor_} H{LEFT + WIDE}"></path>'
    words = [
        (LEFT - 22, 16, "100 %"),
        (LEFT - 22, floor_, f"{bottom} %"),
        (LEFT, floor_ + 16, "0"),
        (LEFT + WIDE, floor_ + 16, str(right)),
        (middle, floor_ + 16, "rounds wasted a flight; upwards, goals kept"),
    ]
    return lines + "".join(f'<text x="{x}" y="{y}">{said}</text>' for x, y, said in words)


def curve(number: int, points: Sequence[Point], places: Sequence[tuple[float, float]]) -> str:
    """A harness: a line through its limits, a mark at each, and its name in the key."""
    mark = MARKS[number % len(MARKS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    drawn = [f'<polyline class="dash{number % len(MARKS)}" points="{path}"></polyline>']
    for each, (x, y) in zip(points, places, strict=True):
        title = f"{each.harness}, limit {each.limit}: {each.kept:.0f} %, {each.wasted:.1f} wasted"
        drawn.append(
            f'<g class="mark" transform="translate({x:.1f} {y:.1f})">'
            f"<title>{escape(title)}</title>{mark}"
            f'<text x="12" y="0" class="limit">{each.limit}</text></g>'
        )
    y = 10 + HIGH + LOW + 22 * number
    key = f'<g class="mark" transform="translate({LEFT} {y})">{mark}'
    name = escape(points[0].harness)
    return f'{"".join(drawn)}{key}<text class="limit" x="14" y="0">{name}</text></g>'


def table(drawn: Frontier) -> str:
    """All numbers of the picture."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells(drawn, each)) + "</tr>"
        for line in drawn.curves
        for each in line
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
