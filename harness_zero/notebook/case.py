"""A run that went wrong, to be stepped through and diagnosed; a journal's lines are to be read."""

import json

from harness_zero.brief import cut
from harness_zero.notebook.check import NoSuchExercise, exercise
from harness_zero.notebook.step import Steps, step

COLUMNS = 84  # of a line


def case(name: str) -> Steps | None:
    """The run of a diagnosis; the promises that may have broken are printed above it."""
    asked = exercise(name).case
    if asked is None:
        raise NoSuchExercise(f"the exercise {name!r} has no run to diagnose: it is to be written.")
    print("\n".join(asked.lines()))
    if asked.unit == "message":
        return step(asked.play(), judged=False)
    written = [cut(json.dumps(line), COLUMNS) for line in asked.play()]
    print("", *(f"{number:>3}  {line}" for number, line in enumerate(written, 1)), sep="\n")
    return None
