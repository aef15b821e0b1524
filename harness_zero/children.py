"""Children: turns of their own, played by a tool. An array is a child's own, its label is data.

What a child spends is not in the parent's `run.cost_usd`, which counts the parent's calls: only
a pool that both draw from adds them up.
"""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from time import monotonic
from typing import Any

from harness_zero.brief import brief
from harness_zero.interrupts import at_once
from harness_zero.labels import Label
from harness_zero.run import Clock, Run

Harness = Callable[[Run], Run]
Kept = Callable[[Run], None]  # is given each child's run when it is over

AT_ONCE = 8


def nobody(run: Run) -> None:
    """Nobody keeps the runs."""


def delegate(
    harness: Harness, clock: Clock = monotonic, kept: Kept = nobody
) -> Callable[[str], str]:
    """A tool that hands a task to a child and brings back how it ended and what it said."""

    def delegate(task: str) -> str:
        """Hand a task to a helper that knows nothing but these words."""
        refuse_no_words(task)
        run = harness(Run(task, clock))
        kept(run)
        return told(run)

    return delegate


def delegate_all(
    harness: Harness, clock: Clock = monotonic, kept: Kept = nobody
) -> Callable[[list[str]], str]:
    """A tool that hands tasks to children who work at once, in threads, and keep no journal."""

    def delegate_all(tasks: list[str]) -> str:
        """Hand several tasks to helpers that work at the same time and know nothing else."""
        if not isinstance(tasks, list):
            raise ValueError(f"tasks are a list, one text for each helper; not {brief(tasks)}")
        for task in tasks:
            refuse_no_words(task)
        if len(tasks) > AT_ONCE:
            raise ValueError(f"{AT_ONCE} tasks at once are the most; these are {len(tasks)}")
        runs = [Run(task, clock) for task in tasks]
        try:
            play_all(harness, runs)
        finally:
            for run in runs:
                kept(run)
        return "\n\n".join(f"{n}. {told(run)}" for n, run in enumerate(runs, 1))

    return delegate_all


def refuse_no_words(task: Any) -> None:
    """Raise what the parent's model reads: a task is its data, and no fault of the set-up."""
    if not isinstance(task, str) or not task.strip():
        raise ValueError(f"a task is words, not {brief(task)}")


def told(run: Run) -> str:
    """What the parent's model reads of a child. An interrupt was meant for the parent as well."""
    if run.label is Label.INTERRUPTED:
        raise KeyboardInterrupt
    return f"{run.label}: {run.why}\n{run.text}".strip()


def play_all(harness: Harness, runs: Sequence[Run]) -> None:
    """Play turns at once. An interrupt, or a fault in one of them, ends them all before it passes.

    The first to be interrupted interrupts the others.
    """
    stop, faults = Event(), list[BaseException]()

    def play(run: Run) -> None:
        try:
            harness(run)
        except BaseException as fault:
            faults.append(fault)
        if faults or run.label is Label.INTERRUPTED:
            stop.set()

    at_once(stop, [partial(play, run) for run in runs])
    if faults:
        raise faults[0]
