"""Check a learner's answer where they wrote it: expected, got, why, and what follows from it."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness_zero import kernel
from harness_zero.faults import SetupFault
from harness_zero.grading.checks import Finding, findings, passed, untried
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.own import beyond
from harness_zero.progress import copy_around

WIDTH = 9  # of the labels before expected, got, why
FOLDED = "Step through the case that broke"


class NoSuchExercise(SetupFault):
    """The check names an exercise that is not in the course."""


class NotAllKept(SetupFault):
    """Told to nbgrader, which gives points for a cell unless it raises."""


def exercise(name: str) -> Exercise:
    """The exercise of this name."""
    if name not in EXERCISES:
        raise NoSuchExercise(f"no exercise {name!r}; there are {', '.join(EXERCISES)}.")
    return EXERCISES[name]


def check(name: str, answer: Any) -> None:
    """Run the visible checks of an exercise on an answer, and print what became of each.

    A broken promise can be stepped through. In a learner's copy of the course the result is
    kept, and an answer that keeps all promises goes into my_harness/ and opens our solution.
    """
    tried = exercise(name)
    found = findings(tried, answer)
    if fault := kernel.FAILED.get(name):
        print(f"Your cell with {name} ended in {fault}, so {name} is checked as it was before.")
    told = [*lines(tried, found), *beyond(tried, found, answer)]
    print("\n".join(told), flush=True)  # what comes now may take a second
    show_case(tried, found, answer)
    if copy := copy_around(kernel.folder()):
        follow_up(copy, tried, found, answer)
    if "NBGRADER_EXECUTION" in os.environ and not passed(tried, found):
        raise NotAllKept(f"{tried.title}: no points by the visible checks")


AGAIN = "run its cell and check again"


def lines(tried: Exercise, found: list[Finding], then: str = AGAIN) -> Iterator[str]:
    """What became of each promise, and how the exercise stands; what to do about a hole."""
    last = found[-1]
    if last.state == "not done yet":
        yield f"{tried.title}: not done yet. {unfilled(last.got, then)}"
        return
    yield from map(told, found)
    kept = sum(each.state == "kept" for each in found)
    of_all = f"{tried.title}: {kept} of {len(tried.promises)} promises kept"
    if passed(tried, found):
        yield f"{of_all}; all visible checks pass."
        return
    rest = untried(tried, found)
    and_more = f" ({rest} not tried yet)" if rest else ""
    yield f"{of_all}{and_more}; mend what is broken and check again."


def unfilled(function: str, then: str = AGAIN) -> str:
    """Where the hole is, and what to do."""
    return f"Fill the hole in {function}, {then}."


def told(found: Finding) -> str:
    """One promise in a line; what was expected, what came and why it matters under it."""
    if found.state == "kept":
        return f"kept    {found.promise}"
    details = {"expected": found.expected, "got": found.got, "why": found.why}
    details["printed"] = repr(found.printed) if found.printed else ""
    shown = [f"        {label + ':':<{WIDTH}} {said}" for label, said in details.items() if said]
    return "\n".join([f"BROKEN  {found.promise}", *shown])


def show_case(tried: Exercise, found: list[Finding], answer: Any) -> None:
    """Offer to step through the case that broke a promise, where there is one and a notebook."""
    last = found[-1]
    if last.case is None or not in_notebook():
        return
    from IPython.display import display

    from harness_zero.grading.again import followed

    with suppress(Exception, SetupFault):  # the verdict is said, and what follows on it must come
        last = followed(tried.promises[len(found) - 1], answer, last)
    with suppress(Exception, SetupFault):
        display(case_of(last))


def case_of(broken: Finding) -> Any:
    """The case of a broken promise, at the line where it broke if its lines were followed."""
    from harness_zero.notebook.step import step
    from harness_zero.notebook.written import breaks_at

    steps = step(broken.case, folded=FOLDED)
    if code := steps.payload.get("code"):
        code["opens"] = breaks_at(steps.payload, broken.case.messages)
    return steps


def in_notebook() -> bool:
    """Whether whoever reads this can see more than lines."""
    from harness_zero.containment import notebook_shell

    return hasattr(notebook_shell(), "kernel")


def follow_up(copy: Path, tried: Exercise, found: list[Finding], answer: Callable) -> None:
    """What a check leads to in a learner's copy: progress, a piece of theirs, our solution."""
    from harness_zero.notebook.solution import show_solution
    from harness_zero.progress import note_checked
    from harness_zero.taking import take

    kept = sum(each.state == "kept" for each in found)
    said = [note_checked(copy, tried.name, kept, len(tried.promises))]
    if passed(tried, found):
        said.append(take(copy, tried, answer))
    print("\n".join(filter(None, said)), end="\n" if any(said) else "")
    if passed(tried, found) and in_notebook():
        show_solution(tried)
