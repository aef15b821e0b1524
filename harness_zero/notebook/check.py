"""Check a learner's answer where they wrote it: expected, got, why."""

import difflib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero.faults import SetupFault, hole
from harness_zero.flight.personas import fixer
from harness_zero.flight.worlds import PROMPT, World, world
from harness_zero.grading.checks import Exercise, Finding, findings
from harness_zero.grading.exercises import EXERCISES
from harness_zero.watch import play
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
    last = found[-1]
    if last.state == "not done yet":
        print(f"{tried.title}: not done yet. {unfilled(last.got)}")
        return
    for each in found:
        print(told(each))
    kept = sum(each.state == "kept" for each in found)
    rest = len(tried.promises) - kept
    verdict = "all visible checks pass" if not rest else "mend the broken one and check again"
    print(f"{tried.title}: {kept} of {len(tried.promises)} promises kept; {verdict}.")


def unfilled(function: str) -> str:
    """Where the hole is, and what to do."""
    return f"There is a hole in {function}: fill it, run its cell, then run this one again."


def told(found: Finding) -> str:
    """One promise in a line; what was expected, what came and why it matters under it."""
    if found.state == "kept":
        return f"kept    {found.promise}"
    details = {"expected": found.expected, "got": found.got, "why": found.why}
    details["printed"] = repr(found.printed) if found.printed else ""
    lines = [f"        {label + ':':<{WIDTH}} {said}" for label, said in details.items() if said]
    return "\n".join([f"BROKEN  {found.promise}", *lines])


def repair(run: Callable, name: str = "cart") -> None:
    """Let a loop repair a shipped project, in a folder that is thrown away; print what it did."""
    project = world(name)
    with TemporaryDirectory() as folder:
        tools = workspace(project.lay(folder))
        try:
            play(run, fixer(project), tools, PROMPT)
        except NotImplementedError as error:
            print(f"     not done yet. {unfilled(hole(error))}")
            return
        changed = changes(project, Path(folder))
        print("\n".join(changed) if changed else "nothing was changed.")
        passed = project.reached(folder)
        print(f"\nthe tests of {name} {'pass' if passed else 'still fail'}.")
    broken = [each.promise for each in findings(exercise("run"), run) if each.state != "kept"]
    if passed and broken:
        print(f'but a promise of the loop is broken: {broken[0]}. Run check("run", run).')


def changes(project: World, folder: Path) -> list[str]:
    """What a run changed in the files of a project, as removed and added lines."""
    lines = []
    for name, shipped in project.files.items():
        before = shipped.read_text("utf-8").splitlines()
        try:
            after = (folder / name).read_text("utf-8").splitlines()
        except (OSError, ValueError):
            lines.append(f"\n{name} is gone, or no text any more")
            continue
        changed = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
        lines += [f"\n{name}", *changed] if changed else []
    return lines
