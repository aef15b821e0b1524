"""A learner's loop repairs a shipped project: files are written, and pytest runs."""

import difflib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from harness_zero.faults import hole
from harness_zero.flight.personas import fixer
from harness_zero.flight.worlds import PROMPT, World, world
from harness_zero.grading.checks import findings
from harness_zero.notebook.check import exercise, unfilled
from harness_zero.watch import play
from harness_zero.workspace import workspace


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
