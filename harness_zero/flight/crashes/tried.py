"""Every boundary, a hundred seeded instants, and instants that nobody chose: all tried by SIGKILL.

python -m harness_zero.flight.crashes.tried     tells what did not hold; nothing if all did
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from harness_zero.flight.crashes.judged import faults, in_doubt, name
from harness_zero.flight.crashes.killed import (
    APART,
    Death,
    Ending,
    Way,
    after,
    at,
    at_line,
    from_outside,
    lived,
)
from harness_zero.flight.crashes.moments import Moment, life, moments, ticks
from harness_zero.flight.crashes.office import NEVER

HUNDRED, OTHERS = range(100), range(40)
LINES, LONG = 11_000, 6_000  # a life in lines of Python and in microseconds, more or less
SOON = 30.0  # a deadline that holds after the invoice is paid


@dataclass(frozen=True)
class Tried:
    """One run that was killed and resumed, beside one without a journal that was begun anew."""

    ending: Ending
    anew: Ending | None
    faults: list[str]

    @property
    def doubt(self) -> str:
        """Which kind of step was in doubt at the first death; nothing if none was."""
        found = in_doubt(self.ending.left)
        return name(found) if found else ""

    @property
    def torn(self) -> bool:
        """Whether a line was cut off."""
        return not self.ending.left.endswith(b"\n")


def draw(number: int, question: str, below: int) -> int:
    """A number that is drawn once and for all."""
    drawn = sha256(f"crash {number}: {question}".encode()).digest()
    return int.from_bytes(drawn[:8], "big") % below


def tried(
    deaths: Sequence[Death], made: int | None = None, seconds: float = NEVER, way: Way = APART
) -> Tried:
    """Kill, resume and judge; and begin anew without a journal after as many effects."""
    with TemporaryDirectory() as folder:
        ending = lived(Path(folder), deaths, way, seconds=seconds)
    anew = None
    if made is not None:
        with TemporaryDirectory() as folder:
            anew = lived(Path(folder), [after(made)], way, journaled=False, seconds=seconds)
    return Tried(ending, anew, faults(ending, "finished" if seconds == NEVER else "deadline"))


def boundaries(way: Way = APART) -> list[tuple[Moment, Tried]]:
    """A death at every boundary of every step."""
    return [(moment, tried([at(moment.tick)], moment.made, way=way)) for moment in moments()]


def hundred() -> Iterator[Tried]:
    """A hundred deaths at seeded ticks; half of the runs have a deadline, half die once more."""
    for seed in HUNDRED:
        seconds = SOON if seed % 2 else NEVER
        first = draw(seed, "first", ticks(seconds))
        deaths = [at(first)]
        if seed % 4 < 2:
            deaths.append(at(draw(seed, "second", ticks(seconds) // 2)))
        yield tried(deaths, made_by(first, seconds), seconds)


def made_by(tick: int, seconds: float) -> int:
    """How many effects were made by then."""
    return sum(mark.kind == "after" and mark.tick <= tick for mark in life(seconds))


def traced(seeds: Sequence[int]) -> Iterator[Tried]:
    """Deaths at a seeded line of Python, wherever that is."""
    return (tried([at_line(draw(seed, "line", LINES))]) for seed in seeds)


def timed(seeds: Sequence[int]) -> Iterator[Tried]:
    """Deaths from outside at a seeded time, in the middle of the system's calls as well."""
    return (tried([from_outside(draw(seed, "time", LONG) / 1e6)]) for seed in seeds)


def told(runs: Sequence[Tried]) -> Counter[str]:
    """The faults of many runs."""
    return Counter(fault for run in runs for fault in run.faults)


def main() -> int:
    """Try instants that differ from machine to machine; 1 if something did not hold."""
    kinds = {"lines of Python": [*traced(OTHERS)], "times": [*timed(OTHERS)]}
    for kind, runs in kinds.items():
        died, found = sum(run.ending.deaths for run in runs), told(runs)
        print(f"{kind}: {len(runs)} runs, {died} deaths: {dict(found) or 'all held'}")
    return int(any(told(runs) for runs in kinds.values()))


if __name__ == "__main__":
    sys.exit(main())
