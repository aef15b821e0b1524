"""Check a learner's answer where they wrote it: expected, got, why."""

import difflib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.flight.personas import fixer
from harness_zero.flight.worlds import PROMPT, World, world
from harness_zero.grading.checks import Exercise, Finding, findings
from harness_zero.grading.exercises import EXERCISES
from harness_zero.watch import UNFILLED, play
from harness_zero.workspace import workspace

WIDTH = 9  # of the labels before expected, got, why


class NoSuchExercise(SetupFault):
    """The check names an exercise that is not in the course."""


def exercise(name: str) -> Exercise:
    """The exercise of this name."""
    if name not in EXERCISES:
        raise NoSuchExercise(f"no exercise {name!r}; there are {', '.join(EXERCISES)}.")
    return EXERCISES[name]


def check(name: str, answer: Any) -> None:
    """Run the visible checks of an exercise on an answer, and print what became of each."""
    tried = exercise(name)
    found = findings(tried, answer)
    if found[0].state == "not done yet":
        print(f"{tried.title}: not done yet. Fill the holes above and run this again.")
        return
    for at, each in enumerate(found):
        print(told(each, again=each.got in [earlier.got for earlier in found[:at]]))
    kept = sum(each.state == "kept" for each in found)
    verdict = "all visible checks pass" if kept == len(found) else "mend the first broken one first"
    print(f"{tried.title}: {kept} of {len(tried.promises)} promises kept; {verdict}.")


def told(found: Finding, again: bool) -> str:
    """One promise in a line; what was expected, what came and why it matters under it."""
    if found.state == "kept":
        return f"kept    {found.promise}"
    if again:
        return f"BROKEN  {found.promise}, as above"
    details = {"expected": found.expected, "got": found.got, "why": found.why}
    lines = [f"        {label + ':':<{WIDTH}} {said}" for label, said in details.items() if said]
    return "\n".join([f"BROKEN  {found.promise}", *lines])


def repair(run: Callable, name: str = "cart") -> None:
    """Let a loop repair a shipped project, in a folder that is thrown away; print what it did."""
    project = world(name)
    with TemporaryDirectory() as folder:
        tools = workspace(project.lay(folder))
        try:
            play(run, fixer(project), tools, PROMPT)
        except NotImplementedError:
            print(f"     {UNFILLED}")
            return
        changed = changes(project, Path(folder))
        print("\n".join(changed) if changed else "nothing was changed.")
        passed = project.reached(folder)
        print(f"\nthe tests of {name} {'pass' if passed else 'still fail'}.")


def changes(project: World, folder: Path) -> list[str]:
    """What a run changed in the files of a project, as removed and added lines."""
    lines = []
    for name, shipped in project.files.items():
        before, after = (path.read_text("utf-8").splitlines() for path in (shipped, folder / name))
        changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
        lines += [f"\n{name}", *changed] if changed else []
    return lines
