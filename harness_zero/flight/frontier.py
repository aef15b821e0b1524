"""The frontier: goals kept against rounds wasted, of some harnesses under several limits of rounds.

A limit is the plainest detector there is, so it is what any other one has to beat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.flight.fly import Flown, fly
from harness_zero.flight.table import MIX, mean

LIMITS = (10, 25, 50, 100, 200)


class NoFrontier(SetupFault):
    """A frontier cannot be drawn of this."""


@dataclass(frozen=True)
class Point:
    """A harness under one limit."""

    harness: str
    limit: int
    goals: int
    kept: float  # of a hundred goals that any point of the frontier reaches
    wasted: float  # rounds a flight
    usd: float  # a flight

    def beats(self, other: "Point") -> bool:
        """Whether it keeps as many goals and wastes no more, and is better in one of the two."""
        as_good = self.goals >= other.goals and self.wasted <= other.wasted
        return as_good and (self.goals, self.wasted) != (other.goals, other.wasted)


@dataclass(frozen=True)
class Frontier:
    """A curve a harness, with a point a limit."""

    flights: int
    within: int  # goals that somebody here reaches
    curves: list[list[Point]]

    def beaten_by(self, point: Point) -> Point | None:
        """The point of another harness that beats this one; nothing if none does."""
        others = [each for curve in self.curves for each in curve if each.harness != point.harness]
        better = [each for each in others if each.beats(point)]
        return min(better, key=lambda each: (-each.goals, each.wasted), default=None)

    def verdicts(self) -> list[str]:
        """How many points of each harness are beaten by another one's."""
        counts = [(curve, sum(map(bool, map(self.beaten_by, curve)))) for curve in self.curves]
        return [
            f"{curve[0].harness}: {beaten or 'none'} of {len(curve)} points beaten by another's"
            for curve, beaten in counts
        ]


def frontier(
    harnesses: Sequence[Any], flights: Any = 0, limits: Sequence[int] = LIMITS
) -> Frontier:
    """Fly each harness in the same flights under each limit."""
    if len(harnesses) < 2 or not limits:
        raise NoFrontier("a frontier compares two harnesses or more, under one limit or more")
    pilots = [each.pilot if isinstance(each, Flown) else each for each in harnesses]
    flown = [[fly(each, flights, max_rounds=n) for n in sorted(limits)] for each in pilots]
    reached = [{o.flight for o in each if o.reached} for curve in flown for each in curve]
    within = len(set[str]().union(*reached))
    curves = [[point(each, within) for each in curve] for curve in flown]
    return Frontier(len(flown[0][0]), within, curves)


def point(flown: Flown, within: int) -> Point:
    """What became of a harness under one limit."""
    goals = sum(outcome.reached for outcome in flown)
    wasted, usd = mean([o.wasted for o in flown]), mean([o.usd for o in flown])
    limit = int(flown.limits["max_rounds"])
    return Point(flown.harness, limit, goals, 100 * goals / max(1, within), wasted, usd)


def heading(drawn: Frontier) -> str:
    """What is compared, in a line."""
    names = ", ".join(curve[0].harness for curve in drawn.curves)
    return f"{names}: {drawn.flights} flights, {drawn.within} goals within reach of one of them"


def cells(drawn: Frontier, each: Point) -> tuple[str, ...]:
    """A point as the cells of a table."""
    better = drawn.beaten_by(each)
    beaten = f"{better.harness} at {better.limit}" if better else ""
    numbers = f"{each.kept:.0f} %", f"{each.wasted:.1f}", f"{each.usd:.3f}"
    return each.harness, str(each.limit), str(each.goals), *numbers, beaten


HEAD = ("harness", "limit", "goals", "kept", "wasted", "$ a flight", "beaten by")


def text(drawn: Frontier) -> str:
    """The frontier, as text."""
    rows = [HEAD, *(cells(drawn, each) for curve in drawn.curves for each in curve)]
    lines = [
        f"{name:<18}{''.join(f'{cell:>11}' for cell in numbers)}  {beaten}".rstrip()
        for name, *numbers, beaten in rows
    ]
    return "\n".join([heading(drawn), *lines, *drawn.verdicts(), MIX])
