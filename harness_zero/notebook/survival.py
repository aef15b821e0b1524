"""The survival figure: the same flights before and after a patch, as bars, a table and names.

Every bar stands in the table too, by its letter, so nothing is told by colour alone. Each
rescued or lost flight is named with the call that steps through it; the first ones are there.
"""

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.flight.fly import Flown, fly
from harness_zero.flight.fly import flight as flown_again
from harness_zero.flight.frontier import LIMITS, frontier
from harness_zero.flight.outcome import KINDS, Outcome
from harness_zero.flight.survival import (
    Change,
    Survival,
    compare,
    delta,
    heading,
    money_text,
    outcomes_text,
    priced,
)
from harness_zero.flight.table import MIX
from harness_zero.notebook.faces import Shown, fold
from harness_zero.notebook.frontier import faces as frontier_faces
from harness_zero.notebook.step import step

STATIC = Path(__file__).parent / "static"
WIDE, HIGH, GAP, LEFT = 720, 30, 12, 110  # of the picture: a bar, and what stands beside it
PROBE = "diligent/login-bug/calm#0"  # a flight that shows whether a harness has a hole in it
NAMED, OPENED = 20, 3  # flights that are named at once, and those that can be unfolded
TONES = {"good": 2, "honest": 2, "doubtful": 3, "bad": 5}  # how many kinds of ending, in order
TONE = dict(zip(KINDS, [tone for tone, times in TONES.items() for _ in range(times)], strict=True))

HOLE = "not done yet: "  # what every flight of an unfilled harness says

Show = Callable[[Survival], tuple[str, str]]


class NoSuchFigure(SetupFault):
    """There is no figure of this name."""


def survival(
    before: Any,
    after: Any,
    *others: Any,
    show: str = "outcomes",
    flights: Any = range(2),
    limits: Sequence[int] = LIMITS,
) -> Shown:
    """What a patch is worth: harnesses in the same flights. `show`: outcomes, money or frontier.

    Outcomes and money compare two: each is what `fly` gave back, or a harness, which is then
    flown in `flights`. The frontier takes two harnesses or more, and flies each under all
    `limits` of rounds.
    """
    if show == "frontier":
        harnesses = [before, after, *others]
        tried = [each if isinstance(each, Flown) else fly(each, PROBE) for each in harnesses]
        if undone := next(filter(None, map(not_done, tried)), ""):
            return shown(undone, f"<p>{escape(undone)}</p>")
        return shown(*frontier_faces(frontier(harnesses, flights, limits)))
    if show not in FIGURES or others:
        there = f"survival shows {', '.join(FIGURES)} of two harnesses, or frontier of several"
        raise NoSuchFigure(f"{there}; this is {show!r:.80} of {2 + len(others)}")
    flights = flights if isinstance(flights, int | str) else [*flights]
    sides = [each if isinstance(each, Flown) else fly(each, flights) for each in (before, after)]
    if undone := next(filter(None, map(not_done, sides)), ""):
        return shown(undone, f"<p>{escape(undone)}</p>")
    return shown(*FIGURES[show](compare(*sides)))


def shown(words: str, page: str) -> Shown:
    """A figure with its two faces."""
    return Shown(words, f'<style>{stylesheet()}</style><div class="hz-survival">{page}</div>')


def not_done(flown: Flown) -> str:
    """Where the hole is, if a harness with a hole in it was flown; else nothing."""
    broke = flown[0].broke
    return broke[broke.index(HOLE) :] + "." if HOLE in broke else ""


@cache
def stylesheet() -> str:
    """The looks of the figure."""
    return (STATIC / "survival.css").read_text("utf-8").strip()


def outcomes(both: Survival) -> tuple[str, str]:
    """How flights ended before and after."""
    letters = dict(zip([kind for kind, _, _ in both.kinds], ascii_uppercase, strict=False))
    bars = [
        bar(flown.harness, row, [(letters[k], k, counts[row]) for k, *counts in both.kinds])
        for row, flown in enumerate((both.before, both.after))
    ]
    rows = [
        (letters[kind], kind, str(b), str(a), delta(b, a), KINDS[kind]) for kind, b, a in both.kinds
    ]
    head = ("", "ending", both.before.harness, both.after.harness, "change", "what that is")
    said = outcomes_text(both)
    named = changed(both, both.goals) + changed(both, both.safe)
    return said, "".join(
        [titled(both), picture(bars, f"{both.goals}; {both.safe}"), grid(head, rows), named, note()]
    )


def money(both: Survival) -> tuple[str, str]:
    """What flights cost before and after."""
    means, highs = both.money[0][1:], both.money[2][1:]
    top = max(*means, *highs) or 1.0
    bars = [
        price_bar(flown.harness, row, means[row] / top, highs[row] / top, f"${highs[row]:.3f}")
        for row, flown in enumerate((both.before, both.after))
    ]
    rows = [(name, *priced(b, a)) for name, b, a in both.money]
    head = ("$ a flight", both.before.harness, both.after.harness, "change")
    lists = "".join(
        fold(f"{len(flights)} flights are {word}", names([n for n, _ in flights], both))
        for word, flights in (("cheaper", both.cheaper), ("dearer", both.dearer))
        if flights
    )
    told = "Bar: the mean. Line, with its amount: the 95th of 100."
    page = [titled(both), picture(bars, told), f"<p>{told}</p>", grid(head, rows)]
    return money_text(both), "".join([*page, f"<p>{both.goals}.</p>", lists, note()])


FIGURES: dict[str, Show] = {"outcomes": outcomes, "money": money}


def titled(both: Survival) -> str:
    """The heading of a figure."""
    return f"<p><b>{escape(heading(both))}</b></p>"


def note() -> str:
    """What every figure has to say of itself."""
    return f"<p><i>{MIX}</i></p>"


def picture(bars: Sequence[str], told: str) -> str:
    """The bars, one under the other."""
    size = f'viewBox="0 0 {WIDE + LEFT} {len(bars) * (HIGH + GAP)}"'
    return f'<svg role="img" aria-label="{escape(told)}" {size}>{"".join(bars)}</svg>'


def bar(name: str, row: int, parts: Sequence[tuple[str, str, int]]) -> str:
    """A stacked bar: each part is as wide as its share, and has its letter where there is room."""
    total, x, drawn = sum(count for _, _, count in parts), float(LEFT), [label(name, row)]
    for at, (letter, kind, count) in enumerate(parts):
        width = WIDE * count / total
        place = f'x="{x:.1f}" y="{row * (HIGH + GAP)}" width="{width:.1f}" height="{HIGH}"'
        shade = f"{TONE[kind]} {'odd' if at % 2 else 'even'}"
        title = f"<title>{letter}, {kind}: {count} of {total}</title>"
        drawn.append(f'<rect class="{shade}" {place}>{title}</rect>' if count else "")
        drawn.append(caption(letter, x + width / 2, row) if width > 14 else "")
        x += width
    return "".join(drawn)


def price_bar(name: str, row: int, mean: float, high: float, told: str) -> str:
    """A bar for the mean, and a line to where five of a hundred flights are dearer."""
    y, middle = row * (HIGH + GAP), row * (HIGH + GAP) + HIGH / 2
    room = WIDE - 60
    box = f'x="{LEFT}" y="{y}" width="{room * mean:.1f}" height="{HIGH}"'
    ends = f'x1="{LEFT}" y1="{middle}" x2="{LEFT + room * high:.1f}" y2="{middle}"'
    where = max(LEFT + room * high, LEFT + room * mean) + 30
    drawn = f'<rect class="honest even" {box}></rect><line {ends}></line>'
    return label(name, row) + drawn + caption(told, where, row)


def label(name: str, row: int) -> str:
    """The name beside a bar."""
    y = row * (HIGH + GAP) + HIGH / 2
    return f'<text class="name" x="{LEFT - 8}" y="{y}">{escape(name[:16])}</text>'


def caption(words: str, x: float, row: int) -> str:
    """Words in the middle of a part."""
    y = row * (HIGH + GAP) + HIGH / 2
    return f'<text x="{x:.1f}" y="{y}" aria-hidden="true">{escape(words)}</text>'


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """All numbers, in a table."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def changed(both: Survival, change: Change) -> str:
    """What was rescued and lost, by name; the first ones unfold into their runs."""
    word = change.what
    parts = [(change.rescued, f"{word} rescued", False), (change.lost, f"{word} lost", True)]
    folds = [
        fold(f"{len(flights)} {said}", names(flights, both) + opened(flights[:OPENED], both, after))
        for flights, said, after in parts
        if flights
    ]
    return f"<p>{change}.</p>{''.join(folds)}"


def names(flights: Sequence[str], both: Survival) -> str:
    """The calls that step through some flights, all of them; many are folded."""
    calls = [f"<li><code>{escape(both.call(n, True))}</code></li>" for n in flights]
    first, rest = calls[:NAMED], calls[NAMED:]
    more = fold(f"{len(rest)} more", f"<ul>{''.join(rest)}</ul>") if rest else ""
    return f"<ul>{''.join(first)}</ul>{more}"


def opened(flights: Sequence[str], both: Survival, after: bool) -> str:
    """The runs of some flights: of those rescued as they went wrong, of those lost as they do."""
    side = both.after if after else both.before
    limits = side.limits
    known = {outcome.flight: outcome for outcome in side}
    return "".join(
        fold(
            escape(f"{name} with {side.harness}: {how(known[name])}"),
            step(flown_again(name, side.pilot, **limits)).page(),
        )
        for name in flights
    )


def how(outcome: Outcome) -> str:
    """How a flight ended, and what broke first."""
    return f"{outcome.kind}. {outcome.broke}" if outcome.broke else outcome.kind
