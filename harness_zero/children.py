"""A child: a turn of its own, played by a tool. Its array is its own, its label comes back as data."""

from collections.abc import Callable

from harness_zero.assembly import Harness
from harness_zero.labels import Label
from harness_zero.run import Clock, Run


def delegate(
    harness: Harness, clock: Clock, kept: Callable[[Run], None] = lambda run: None
) -> Callable[[str], str]:
    """A tool that hands a task to a child and brings back what it said, and how it ended."""

    def delegate(task: str) -> str:
        """Hand a task to a helper that starts with nothing but these words."""
        run = harness(Run(task, clock))
        kept(run)
        if run.label is Label.INTERRUPTED:
            raise KeyboardInterrupt
        return f"{run.label}: {run.why}\n\n{run.text}".strip()

    return delegate
