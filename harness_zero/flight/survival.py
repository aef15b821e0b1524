"""What a patch is worth: the same flights before and after it, never in one number.

Goals and safe ends that were rescued and lost are known by name. A null result is one.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import comb

from harness_zero.faults import SetupFault
from harness_zero.flight.fly import Flown
from harness_zero.flight.outcome import KINDS, Outcome
from harness_zero.flight.table import MIX, high, mean

SURE = 0.05  # a change that a coin would make more often than this is no change
LEAST = 0.0005  # USD: a flight that costs less more, or less less, costs the same
EXAMPLES = 3

Judge = Callable[[Outcome], bool]


class NotComparable(SetupFault):
    """These are not the same flights before and after."""


@dataclass(frozen=True)
class Change:
    """The flights that something rescued, and those that it lost, by name."""

    what: str
    rescued: list[str]
    lost: list[str]

    @property
    def by_chance(self) -> float:
        """How often a coin would fall so much on one side: the sign test."""
        flips, fewer = len(self.rescued) + len(self.lost), min(len(self.rescued), len(self.lost))
        return min(1.0, 2 * sum(comb(flips, n) for n in range(fewer + 1)) / 2**flips)

    def __str__(self) -> str:
        rescued, lost = len(self.rescued), len(self.lost)
        if not rescued and not lost:
            return f"{self.what}: none rescued, none lost"
        null = "; no more than chance would do" if self.by_chance > SURE else ""
        return f"{self.what}: {rescued or 'none'} rescued, {lost or 'none'} lost{null}"


@dataclass(frozen=True)
class Survival:
    """Two harnesses in the same flights."""

    before: Flown
    after: Flown

    @property
    def pairs(self) -> list[tuple[Outcome, Outcome]]:
        """Each flight before and after."""
        return [*zip(self.before, self.after, strict=True)]

    @property
    def kinds(self) -> list[tuple[str, int, int]]:
        """Every way to end that came up, and how often it did before and after."""
        counts = [Counter(outcome.kind for outcome in flown) for flown in (self.before, self.after)]
        counted = [(kind, counts[0][kind], counts[1][kind]) for kind in KINDS]
        return [each for each in counted if each[1] or each[2]]

    @property
    def goals(self) -> Change:
        """Goals rescued and lost."""
        return self.change("goals", lambda outcome: outcome.reached)

    @property
    def safe(self) -> Change:
        """Safe ends rescued and lost."""
        return self.change("safe ends", lambda outcome: outcome.safe)

    def change(self, what: str, good: Judge) -> Change:
        """The flights that were good on one side only."""
        rescued = [a.flight for b, a in self.pairs if good(a) and not good(b)]
        return Change(what, rescued, [a.flight for b, a in self.pairs if good(b) and not good(a)])

    @property
    def money(self) -> list[tuple[str, float, float]]:
        """What a flight costs before and after: on average, in the middle, at the dear end."""
        usd = [[outcome.usd for outcome in flown] for flown in (self.before, self.after)]
        measures: dict[str, Callable[[list[float]], float]] = {
            "mean": mean,
            "median": lambda each: sorted(each)[len(each) // 2],
            "95th of 100": high,
            "dearest": max,
        }
        return [(name, measure(usd[0]), measure(usd[1])) for name, measure in measures.items()]

    @property
    def dearer(self) -> list[tuple[str, float]]:
        """The flights that cost more now, and by how much, the most first."""
        return self.by_price(+1)

    @property
    def cheaper(self) -> list[tuple[str, float]]:
        """The flights that cost less now, and by how much, the most first."""
        return self.by_price(-1)

    def by_price(self, sign: int) -> list[tuple[str, float]]:
        """The flights whose price changed that way."""
        changes = [(a.flight, sign * (a.usd - b.usd)) for b, a in self.pairs]
        return sorted([c for c in changes if c[1] > LEAST], key=lambda change: -change[1])

    def call(self, name: str, after: bool) -> str:
        """What to type to step through a flight."""
        return f'step(flight("{name}", {(self.after if after else self.before).pilot.word}))'


def compare(before: Flown, after: Flown) -> Survival:
    """The two side by side; NotComparable unless flights and limits are the same."""
    for each in (before, after):
        if not isinstance(each, Flown):
            wants = "survival() compares what fly(harness, flights) gave back"
            raise NotComparable(f"{wants}; this is {each!r:.80}")
    if [o.flight for o in before] != [o.flight for o in after] or not len(before):
        counted = first_difference(before, after)
        raise NotComparable(f"a comparison needs the same flights on both sides; here: {counted}")
    if before.limits != after.limits:
        told = f"{before.limits} before, {after.limits} after"
        raise NotComparable(f"a comparison needs the same limits on both sides; here: {told}")
    return Survival(before, after)


def first_difference(before: Flown, after: Flown) -> str:
    """Where two lists of flights part, in words."""
    if len(before) != len(after) or not len(before):
        return f"{len(before)} flights before and {len(after)} after"
    one, other = next(
        (b.flight, a.flight) for b, a in zip(before, after, strict=True) if b.flight != a.flight
    )
    return f"{one} before, where {other} is after"


def heading(both: Survival) -> str:
    """What is compared with what, in a line."""
    limits = both.after.limits
    held = f"{limits['max_rounds']:g} rounds, ${limits['cap_usd']:g}, {limits['seconds']:g} s"
    names = f"{both.before.harness} -> {both.after.harness}"
    return f"{names}: {len(both.after)} flights; limits, if it has any: {held}"


def outcomes_text(both: Survival) -> str:
    """The outcomes before and after, as text."""
    lines = [heading(both), line("", both.before.harness, both.after.harness)]
    lines += [line(kind, str(b), str(a), delta(b, a)) for kind, b, a in both.kinds]
    lines += [str(both.goals), *examples(both, both.goals)]
    return "\n".join([*lines, str(both.safe), MIX])


def examples(both: Survival, change: Change) -> list[str]:
    """The calls that step through some of the flights that changed."""
    rescued = [f"  rescued: {both.call(name, True)}" for name in change.rescued[:EXAMPLES]]
    return rescued + [f"  lost:    {both.call(name, True)}" for name in change.lost[:EXAMPLES]]


def money_text(both: Survival) -> str:
    """What flights cost before and after, as text."""
    lines = [heading(both), line("$ a flight", both.before.harness, both.after.harness)]
    lines += [line(name, *priced(b, a)) for name, b, a in both.money]
    counted = f"{len(both.cheaper)} flights are cheaper, {len(both.dearer)} dearer"
    extremes = [(both.cheaper, "saves"), (both.dearer, "costs more by")]
    lines.append(counted)
    for flights, words in extremes:
        lines += [f"  {words} ${usd:.3f}: {both.call(name, True)}" for name, usd in flights[:2]]
    return "\n".join([*lines, str(both.goals), MIX])


def line(name: str, before: str, after: str, change: str = "") -> str:
    """A line of the text face."""
    return f"{name:<18} {before:>11} {after:>11}{change:>9}".rstrip()


def delta(before: int, after: int) -> str:
    """A change, with its sign; nothing if there is none."""
    return f"{after - before:+}" if after != before else ""


def priced(before: float, after: float) -> tuple[str, str, str]:
    """Two amounts and their difference, as text."""
    change = f"{after - before:+.3f}" if abs(after - before) >= LEAST else ""
    return f"{before:.3f}", f"{after:.3f}", change
