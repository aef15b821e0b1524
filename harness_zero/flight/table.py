"""Flights in a table: what share of them ended how, and what they cost. Never one number."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_zero.flight.outcome import KINDS

if TYPE_CHECKING:
    from harness_zero.flight.fly import Flown

MIX = "Shares describe our mix of flights, never the world's."


def table(flown: Sequence["Flown"]) -> str:
    """A column a harness, a line a kind of ending."""
    counts = [Counter(outcome.kind for outcome in each) for each in flown]
    lines = [(kind, [str(count[kind]) for count in counts]) for kind in KINDS]
    lines = [line for line in lines if any(cell != "0" for cell in line[1])]
    rows = [
        ("flights", [str(len(each)) for each in flown]),
        ("goal reached", [share(each, "reached") for each in flown]),
        ("safe end", [share(each, "safe") for each in flown]),
        *lines,
        ("refused by the API", [str(sum(o.refused > 0 for o in each)) for each in flown]),
        ("array left broken", [str(sum(bool(o.leftover) for o in each)) for each in flown]),
        ("effect lost", [str(sum(o.effects == "lost" for o in each)) for each in flown]),
        ("rounds, mean", [f"{mean([o.rounds for o in each]):.1f}" for each in flown]),
        ("rounds wasted, mean", [f"{mean([o.wasted for o in each]):.1f}" for each in flown]),
        ("$ a flight, mean", [f"{mean([o.usd for o in each]):.3f}" for each in flown]),
        ("$ a flight, 95th of 100", [f"{high([o.usd for o in each]):.3f}" for each in flown]),
        (
            "$ a flight, dearest",
            [f"{max([o.usd for o in each], default=0.0):.3f}" for each in flown],
        ),
    ]
    return "\n".join(
        [aligned("", [each.harness for each in flown]), *(aligned(*r) for r in rows), MIX]
    )


def aligned(name: str, cells: list[str]) -> str:
    """A line of the table."""
    return f"{name:<24}{''.join(f' {cell:>11}' for cell in cells)}".rstrip()


def share(flown: "Flown", what: str) -> str:
    """How many of a hundred flights."""
    return f"{100 * mean([getattr(outcome, what) for outcome in flown]):.0f} %"


def mean(numbers: Sequence[float]) -> float:
    """The mean; zero of nothing."""
    return sum(numbers) / len(numbers) if numbers else 0.0


def high(numbers: Sequence[float]) -> float:
    """The number that five of a hundred exceed."""
    return sorted(numbers)[(len(numbers) * 95 - 1) // 100] if numbers else 0.0
