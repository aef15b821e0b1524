"""Fly a harness: as many flights as you like, each the same whenever and wherever it is flown."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from harness_zero.brief import told_by
from harness_zero.containment import Hush, contained
from harness_zero.faults import SetupFault, hole, place
from harness_zero.flight.cockpit import Cockpit, Misbuilt, OutOfFuel
from harness_zero.flight.names import Flight, NoSuchFlight, block, named
from harness_zero.flight.outcome import Ending, Outcome, judged
from harness_zero.flight.pilots import LIMITS, Pilot, patient, pilot, pilot_of
from harness_zero.labels import Label
from harness_zero.patience import Alarm, StillRunning
from harness_zero.run import Run
from harness_zero.watch import Recording

PATIENCE = 2.0  # seconds between two calls
ENOUGH = 3  # flights in which a harness hung, after which no more are flown

Flights = int | str | Flight | Iterable[int | str | Flight]


class Hangs(SetupFault):
    """A harness that hangs again and again is not flown for ever."""


@dataclass(frozen=True)
class Flown:
    """What became of a harness in some flights."""

    harness: str
    outcomes: list[Outcome]
    limits: dict[str, float]
    pilot: Pilot = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __getitem__(self, at: int) -> Outcome:
        return self.outcomes[at]

    def __repr__(self) -> str:
        from harness_zero.flight.table import table

        return str(self.outcomes[0]) if len(self) == 1 else table([self])


def fly(harness: Any, flights: Flights = 0, **limits: float) -> Flown:
    """Fly a harness in these flights: a block by its number, a flight by its name, or many.

    `limits` replace those that all flights have, for a harness that takes them.
    """
    flown, held, names = pilot(harness), limits_of(limits), chosen(flights)
    if not names:
        raise NoSuchFlight("no flight was named, so there is nothing to fly")
    outcomes = [*flights_of(flown, names, held)]
    return Flown(flown.name, outcomes, held, flown)


def flight(name: str, harness: Any, **limits: float) -> Run | Recording:
    """Fly one flight and give back its run, to be stepped through."""
    cockpit = Cockpit(named(name))
    ending = flown_out(cockpit, pilot(harness), limits_of(limits))
    outcome = judged(cockpit, ending, partial(within_reach, name))
    cockpit.place.tidy()
    if isinstance(ending.given, Run):
        return ending.given
    given = ending.given[0] if isinstance(ending.given, tuple) else ending.given
    messages = given if not ending.fault and isinstance(given, list) else cockpit.array()
    why = outcome.kind if outcome.label else ""
    fault = ending.fault or (outcome.broke if outcome.kind == "crashed" else "")
    return Recording(messages, cockpit.replies, outcome.label, why, fault)


def limits_of(given: dict[str, float]) -> dict[str, float]:
    """The limits of a flight; NoSuchFlight if one of those given is none."""
    if strange := [name for name in given if name not in LIMITS]:
        raise NoSuchFlight(f"{strange[0]} is no limit; there are {', '.join(LIMITS)}")
    return {**LIMITS, **given}


def chosen(flights: Flights) -> list[Flight]:
    """The flights that are meant: blocks by number, flights by name."""
    if isinstance(flights, Flight):
        return [flights]
    if isinstance(flights, int):
        return block(flights)
    if isinstance(flights, str):
        return [named(flights)]
    if isinstance(flights, bytes) or not isinstance(flights, Iterable):
        wants = "the number of a block, the name of a flight, or a list of them"
        raise NoSuchFlight(f"what to fly is {wants}; this is {flights!r:.80}")
    return [each for some in flights for each in chosen(some)]


def flights_of(flown: Pilot, flights: list[Flight], limits: dict[str, float]) -> Iterator[Outcome]:
    """Fly one after the other. What a harness prints is not heard, and nobody answers it."""
    hung: list[str] = []
    for each in flights:
        cockpit = Cockpit(each)
        ending = flown_out(cockpit, flown, limits)
        hung += [str(each)] if "StillRunning" in ending.fault else []
        yield judged(cockpit, ending, partial(within_reach, str(each)))
        cockpit.place.tidy()
        if len(hung) == ENOUGH and flights[-1] != each:
            raise Hangs(f"{flown.name} hangs, in {', '.join(hung)}; no more flights are flown")


def flown_out(cockpit: Cockpit, flown: Pilot, limits: dict[str, float]) -> Ending:
    """Let the harness play its turn, and come back whatever it does."""
    parts = cockpit.model, cockpit.tools(), cockpit.place.task
    offered: dict[str, Any] = {**limits, "clock": cockpit.clock, "sleep": cockpit.clock.sleep}
    try:
        with unattended(), Alarm(PATIENCE) as cockpit.alarm:
            given = flown.fly(*parts, **offered)
    except KeyboardInterrupt as error:
        if not cockpit.pressed:
            raise  # by whoever sits at the keyboard
        return Ending(fault=told(error))
    except NotImplementedError as error:
        return Ending(fault=f"not done yet: there is a hole in {hole(error)}")
    except Misbuilt:
        raise
    except BaseException as error:  # whatever it is, the flights after it are flown
        return Ending(fault=told(error))
    if not isinstance(given, list) and labelled(given) == Label.INTERRUPTED and not cockpit.pressed:
        raise KeyboardInterrupt
    return Ending(given)


def labelled(given: Any) -> Any:
    """The label that came back, if one did."""
    return given[-1] if isinstance(given, tuple) and given else getattr(given, "label", None)


def told(error: BaseException) -> str:
    """What took a run down, in a line, with the place in the learner's own code."""
    return f"{type(error).__name__}: {told_by(str, error)}{place(error)}".rstrip(": ")


@cache
def within_reach(name: str) -> bool:
    """Whether a patient reference reaches the goal in this flight."""
    cockpit = Cockpit(named(name))
    flown_out(cockpit, pilot_of("reference", patient), {})
    reached = cockpit.place.goal() and len(cockpit.place.effects) < 2
    cockpit.place.tidy()
    return reached


@contextmanager
def unattended() -> Iterator[None]:
    """Nobody reads what is printed, nobody types, and exit() ends nothing."""
    with redirect_stdout(Hush()), contained():
        yield


__all__ = ["Flown", "OutOfFuel", "StillRunning", "block", "flight", "fly"]
