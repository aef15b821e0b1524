"""Resume: play a journal's turns again, go on where the process died, then with what waits."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

from harness_zero.journal import Journal
from harness_zero.labels import Label
from harness_zero.run import Clock, Run


class NothingToResume(Exception):
    """The run in this journal has ended with this label, and the prompt is not a new one."""

    def __init__(self, path: Path, label: str) -> None:
        super().__init__(
            f"nothing to resume: the run in {path} ended as {label}."
            " Another prompt opens its next turn"
        )
        self.label = label


def resume(
    harness: Callable[[Run], Run], journal: Journal, prompt: str, clock: Clock = monotonic
) -> Run:
    """Play a prompt as the journal has it: begun anew, gone on with, or after what is there.

    A prompt that the journal does not know waits in its queue until the turn is over that was
    cut off. NothingToResume if it is known, and no turn is open and none waits.
    """
    turns = journal.open().prompts
    if turns and journal.scribe.without_keys(prompt) not in (*turns, *journal.waiting):
        journal.put(prompt)
    elif journal.label and not journal.waiting:
        raise NothingToResume(journal.path, journal.label)
    run = harness(Run(turns[0] if turns else prompt, clock))
    while goes_on(run, journal) and (following := journal.take()) is not None:
        harness(run.ask(following))
    return run


def goes_on(run: Run, journal: Journal) -> bool:
    """Whether the next prompt is played. Whoever interrupts a turn now wants none after it."""
    return run.label is not Label.INTERRUPTED or journal.replaying
