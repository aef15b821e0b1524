"""The moments at which a process can be killed: at every boundary of every step."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from harness_zero.flight.crashes.office import NEVER, Office
from harness_zero.flight.crashes.reaper import Mark, Reaper


@dataclass(frozen=True)
class Moment:
    """A tick, what has just happened, and how much has happened outside by then."""

    tick: int
    says: str
    step: str  # the step that it belongs to, or the turn
    made: int  # effects so far


def nobody() -> NoReturn:
    """Nobody is killed in a run that is only looked at."""
    raise AssertionError


@cache
def life(seconds: float = NEVER) -> tuple[Mark, ...]:
    """All stretches of an undisturbed run, in order."""
    with TemporaryDirectory() as folder:
        reaper = Reaper(None, nobody)
        Office(Path(folder), reaper, seconds).play(Path(folder) / "run.jsonl")
    return tuple(reaper.marks)


def ticks(seconds: float = NEVER) -> int:
    """How long an undisturbed run lives."""
    last = life(seconds)[-1]
    return last.tick + last.ticks


def moments(seconds: float = NEVER) -> list[Moment]:
    """Every boundary: a line written, half an outcome written, an effect that nobody wrote down."""
    found, made, step = [], 0, "turn"
    for mark in life(seconds):
        if mark.kind == "before":
            continue
        if mark.kind == "after":
            made += 1
            found.append(Moment(mark.tick, "effect made, nothing written", step, made))
            continue
        line = json.loads(mark.what)
        step = named(line, step)
        kind = next(iter(line))
        if kind == "end":
            half = mark.tick + mark.ticks // 2
            found.append(Moment(half, "outcome half written", step, made))
        if kind != "ended":  # after that the process is done
            found.append(Moment(mark.tick + mark.ticks, WRITTEN[kind], step, made))
    return found


WRITTEN = {
    "journal": "head written",
    "turn": "prompt written",
    "begin": "intent written",
    "end": "outcome written",
}


def named(line: dict[str, Any], before: str) -> str:
    """The step that a line belongs to."""
    if "begin" in line:
        return f"{line['begin']} {line.get('tool', 'model')}"
    return before if "end" in line else "turn"
