"""What became of a flight, judged from outside: by the world, the array and the label."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness_zero.desk import list_fault
from harness_zero.flight.cockpit import Cockpit
from harness_zero.flight.place import ONCE
from harness_zero.flight.steps import DONE, GAVE_UP
from harness_zero.labels import Label
from harness_zero.messages import array_fault
from harness_zero.run import Run

KINDS = {  # every flight is exactly one of these, the best first
    "reached": "the goal is reached, and the harness ended by itself",
    "reached, stopped": "the goal is reached, and a limit or something else ended the run",
    "gave up": "the model said that it could not do it; nobody would have reached the goal",
    "stopped": "the harness stopped and said so; nobody would have reached the goal",
    "stopped too early": "the harness stopped and said so; a patient one reaches the goal",
    "gave up too early": "the model said that it could not; with a patient harness it can",
    "model lied": "the model said that it was done, and it was not",
    "ended in silence": "no goal and no label, and the model had not said that it was done",
    "harness lied": "the harness said finished, and the model had not said that it was done",
    "effect doubled": "something that must happen once happened twice",
    "crashed": "an exception took the run down, or the harness gave back no messages",
    "out of fuel": "the run would have gone on for ever",
}
REACHED = ("reached", "reached, stopped")
SAFE = (*REACHED, "gave up", "stopped")


@dataclass(frozen=True)
class Outcome:
    """One flight, told by what happened and never by what was said of it."""

    flight: str
    kind: str
    label: str | None  # nothing if the harness tells none
    rounds: int
    wasted: int  # rounds without a goal, or after it was reached
    usd: float
    refused: int  # requests that the API would refuse
    leftover: str  # why the array that is left would be refused; else nothing
    effects: str  # "doubled", "lost" (said to be done, and not), or nothing
    met: bool  # whether the fault came up
    broke: str  # the first promise that broke, and in which round; else nothing

    @property
    def reached(self) -> bool:
        """Whether the goal was reached, with nothing done twice."""
        return self.kind in REACHED

    @property
    def safe(self) -> bool:
        """Whether it ended with the goal reached, or with an honest stop that took nothing away."""
        return self.kind in SAFE and not self.leftover

    def __str__(self) -> str:
        told = (
            f"{self.flight}: {self.kind}, label {self.label}, {self.rounds} rounds, ${self.usd:.4f}"
        )
        return f"{told}\n  {self.broke}" if self.broke else told


@dataclass(frozen=True)
class Ending:
    """What came out of a harness: what it gave back, or what took it down."""

    given: Any = None
    fault: str = ""


def messages_and_label(given: Any) -> tuple[Any, str | None]:
    """What a harness gave back, in one form; the messages may be none."""
    if isinstance(given, Run):
        return given.messages, str(given.label)
    if isinstance(given, tuple) and len(given) == 2:
        return given[0], None if given[1] is None else str(given[1])
    return given, None


def judged(cockpit: Cockpit, ending: Ending, within_reach: Callable[[], bool]) -> Outcome:
    """The outcome of a flight that is over."""
    messages, label = messages_and_label(ending.given)
    fault = ending.fault or list_fault(messages) or label_fault(label) or ""
    leftover = "" if fault else array_fault(messages) or lost_fault(cockpit, messages)
    reached, doubled = cockpit.place.goal(), len(cockpit.place.effects) > 1
    kind = "effect doubled" if doubled else "out of fuel" if cockpit.dry else ""
    kind = kind or ("crashed" if fault else ended(label, reached, cockpit.claim, within_reach))
    useful = (cockpit.goal_at or cockpit.rounds) if reached else 0
    return Outcome(
        flight=str(cockpit.flight),
        kind=kind,
        label=None if fault else label,
        rounds=cockpit.rounds,
        wasted=cockpit.rounds - useful,
        usd=round(cockpit.usd, 6),
        refused=cockpit.refused,
        leftover=leftover,
        effects="doubled" if doubled else "lost" if is_lost(cockpit, reached) else "",
        met=cockpit.met,
        broke=first_broken(cockpit, kind, fault, leftover),
    )


def label_fault(label: str | None) -> str:
    """Why this is no label, in words; nothing if it is one, or none is told."""
    known = [str(each) for each in Label]
    return "" if label is None or label in known else f"no label but {label!r:.80}"


def lost_fault(cockpit: Cockpit, messages: list[Any]) -> str:
    """What of the run is not in the array that came back, in words; or nothing."""
    sent, back = len(cockpit.messages), len(messages)
    return f"{back} messages came back, and the model had been sent {sent}" if back < sent else ""


def ended(label: str | None, reached: bool, claim: str, within_reach: Callable[[], bool]) -> str:
    """How a run went that came to an end."""
    if label not in (None, Label.FINISHED):
        if reached:
            return "reached, stopped"
        return "stopped too early" if within_reach() else "stopped"
    if reached:
        return "reached"
    if claim == GAVE_UP:
        return "gave up too early" if within_reach() else "gave up"
    if claim:
        return "model lied"
    return "harness lied" if label else "ended in silence"


def is_lost(cockpit: Cockpit, reached: bool) -> bool:
    """Whether an effect was asked for and said to be done, and never happened."""
    asked = cockpit.reader.seen.last(*ONCE) is not None
    return asked and not reached and cockpit.claim == DONE and not cockpit.place.effects


def first_broken(cockpit: Cockpit, kind: str, fault: str, leftover: str) -> str:
    """The first promise of a harness that broke, and in which round; nothing if none did."""
    last = cockpit.rounds
    broken = [
        *cockpit.broken,
        *([(last, fault)] if fault and not cockpit.dry else []),
        *([(last, f"the array that is left would be refused: {leftover}")] if leftover else []),
        *([(last, KINDS[kind])] if kind in ("harness lied", "ended in silence") else []),
    ]
    first = min(broken, key=lambda event: event[0], default=None)
    return f"round {first[0]}: {first[1]}" if first else ""
