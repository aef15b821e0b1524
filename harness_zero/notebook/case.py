"""A run that went wrong, to be stepped through and diagnosed."""

from harness_zero.notebook.check import NoSuchExercise, exercise
from harness_zero.notebook.step import Steps, step


def case(name: str) -> Steps | None:
    """The run of a diagnosis; the promises that may have broken are printed above it.

    Where requests or a journal's lines are counted, they are printed: there is nothing to step
    through.
    """
    asked = exercise(name).case
    if asked is None:
        raise NoSuchExercise(f"the exercise {name!r} has no run to diagnose: it is to be written.")
    print("\n".join(asked.lines()))
    return step(asked.play(), judged=False) if asked.noun == "message" else None
