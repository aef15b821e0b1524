"""Pilots that outlive their process, with a journal and without; and one that finds it busy."""

import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from harness_zero import policy
from harness_zero.assembly import assemble, of_messages
from harness_zero.flight.faults import Killed
from harness_zero.flight.place import POLLERS
from harness_zero.journal import Journal
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.repetition import repetition
from harness_zero.run import Run

STARTS = 10  # how often a process that was killed is started again


def resumed(
    model: Any,
    tools: Any,
    prompt: str,
    max_rounds: int = 50,
    cap_usd: float = 2.0,
    seconds: float = 600,
    clock: Any = monotonic,
) -> Run:
    """The library with a journal. Nothing but the file is left of a process that was killed."""
    brakes = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(STARTS):
            try:
                return journaled(model, tools, prompt, brakes, clock, Path(folder))
            except Killed:
                continue
    raise Killed


def journaled(model: Any, tools: Any, prompt: str, brakes: Any, clock: Any, folder: Path) -> Run:
    """One process of it."""
    stop, detectors = recover(nudge(structural_stop)), [repetition(pollers=POLLERS)]
    with Journal(folder / "run.jsonl", run="flight") as journal:
        parts = of_messages(model), tools, stop, brakes, None, detectors, journal
        return assemble(*parts)(Run(prompt, clock))


def restarted(
    model: Any, tools: Any, prompt: str, max_rounds: int = 50, clock: Any = monotonic
) -> Run:
    """The library without a journal, begun anew whenever its process is killed."""
    stop, detectors = recover(nudge(structural_stop)), [repetition(pollers=POLLERS)]
    brakes = [policy.max_rounds(max_rounds)]
    for _ in range(STARTS):
        try:
            parts = of_messages(model), tools, stop, brakes, None, detectors
            return assemble(*parts)(Run(prompt, clock))
        except Killed:
            continue
    raise Killed


def second(model: Any, tools: Any, prompt: str) -> Run:
    """The second run on a journal that another one holds, of which nothing is changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        with Journal(path):
            before = path.read_bytes()
            run = assemble(of_messages(model), tools, journal=Journal(path))(Run(prompt))
            touched = path.read_bytes() != before
    if touched:
        run.why = "the journal of the first run was touched"
    return run
