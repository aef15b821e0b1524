"""Mutants: the reference solutions with one thing wrong in each, which the checks have to catch.

A grader that lets a wrong answer through teaches it. `python -m harness_zero.grading.mutants
[EXERCISE...]` prints what was caught; what rightly is not stands in `equivalents`, with a reason.
"""

import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import takewhile
from multiprocessing import get_context
from typing import Any

import libcst as cst
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from harness_zero.containment import Hush
from harness_zero.faults import SetupFault
from harness_zero.grading.checks import PATIENCE, findings, passed
from harness_zero.grading.equivalents import EQUIVALENTS
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.mutations import KINDS, Mutations
from harness_zero.grading.references import NoReference, Reference, reference
from harness_zero.patience import within

COLOURS = {"-": "red", "+": "green"}


@dataclass(frozen=True)
class Mutant:
    """A solution with one thing wrong."""

    kind: str  # of KINDS
    source: str
    change: str  # the line that differs: if «asked == answered → True»:
    caught_by: str = ""  # once it was tried: the promise that it breaks; empty if none


@dataclass(frozen=True)
class Survey:
    """What became of all mutants of one solution, and which may survive for a reason."""

    name: str
    source: str
    mutants: list[Mutant]
    listed: dict[str, str]  # of EQUIVALENTS

    @property
    def survivors(self) -> list[Mutant]:
        """Those that earn full marks."""
        return [mutant for mutant in self.mutants if not mutant.caught_by]

    @property
    def unlisted(self) -> list[Mutant]:
        """The survivors for which no reason is given."""
        return [mutant for mutant in self.survivors if mutant.change not in self.listed]

    @property
    def stale(self) -> list[str]:
        """What is listed and did not survive: no such mutant is made, or it is caught."""
        changes = {mutant.change for mutant in self.survivors}
        return [change for change in self.listed if change not in changes]


def main(names: list[str]) -> int:
    """Print what became of the mutants of these exercises, or of all; 1 if a check is too weak."""
    console = Console(highlight=False, markup=False)
    found = attempts(names or [*(EXERCISES | EQUIVALENTS)])
    surveys = [each for each in found if isinstance(each, Survey)]
    console.print(matrix(surveys))
    for each in surveys:
        print_survivors(console, each)
    for fault in found:
        if isinstance(fault, NoReference):
            console.print(f"\n{fault}", style="red", soft_wrap=True)
    return 0 if all(map(holds, found)) else 1


def holds(found: Survey | NoReference) -> bool:
    """Whether every mutant is caught or listed, and every listed one is a survivor."""
    return isinstance(found, Survey) and not found.unlisted and not found.stale


def attempts(names: list[str]) -> list[Survey | NoReference]:
    """The survey of each exercise. Alarms ring in main threads alone, so each has a process."""
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        found = pool.map(attempt, names)
        return [
            *track(found, "mutants", len(names), disable=not sys.stdout.isatty(), transient=True)
        ]


def attempt(name: str) -> Survey | NoReference:
    """The survey of the exercise of this name, or why there is none."""
    try:
        solution = reference(name)
        return survey(EXERCISES[name], solution, EQUIVALENTS.get(name, {}))
    except NoReference as fault:
        return fault


def survey(exercise: Exercise, solution: Reference, listed: dict[str, str]) -> Survey:
    """Try every mutant of a solution, once the solution itself has proved right."""
    if broken := caught_by(exercise, solution.names, solution.source):
        raise NoReference(f"The solution of {exercise.name} is not right itself: {broken}.")
    tried = [
        replace(mutant, caught_by=caught_by(exercise, solution.names, mutant.source))
        for mutant in mutants(solution.source)
    ]
    return Survey(exercise.name, solution.source, tried, listed)


def caught_by(exercise: Exercise, names: dict[str, Any], source: str) -> str:
    """The promise that this code breaks, or that it does not run; empty if it keeps them all."""
    names = dict(names)
    with warnings.catch_warnings(), redirect_stdout(Hush()):
        warnings.simplefilter("ignore")  # Python has its doubts about many a mutant
        try:
            within(PATIENCE, lambda: exec(source, names))
        except (Exception, SetupFault) as fault:
            return f"it does not run, {type(fault).__name__}: {fault}"
        found = findings(exercise, names.get(exercise.name))
    return "" if passed(exercise, found) else found[-1].promise


def matrix(surveys: list[Survey]) -> Table:
    """For each exercise and each kind of mutant, how many of how many were caught."""
    table = Table(box=None, collapse_padding=True, pad_edge=False)
    table.add_column("exercise", no_wrap=True)
    for heading in (*KINDS, "all"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in surveys:
        table.add_row(each.name, *[cell(each, {kind}) for kind in KINDS], cell(each, {*KINDS}))
    return table


def cell(survey: Survey, kinds: set[str]) -> Text:
    """How many mutants of these kinds were caught; red if one got through for no reason."""
    mutants = [mutant for mutant in survey.mutants if mutant.kind in kinds]
    caught = [mutant for mutant in mutants if mutant.caught_by]
    weak = [mutant for mutant in survey.unlisted if mutant.kind in kinds]
    colour = "red" if weak else "green" if caught == mutants else "yellow"
    return Text(f"{len(caught)}/{len(mutants)}" if mutants else "", colour)


def print_survivors(console: Console, survey: Survey) -> None:
    """The equivalents under their reasons, then what has no reason, then what is stale."""
    for reason, changes in by_reason(survey).items():
        console.print(f"\n{survey.name}, equivalent: {reason}", soft_wrap=True)
        for change in changes:
            console.print(f"    {change}", style="dim", soft_wrap=True)
    for mutant in survey.unlisted:
        console.print(f"\n{survey.name}, NOT CAUGHT: {mutant.change}", style="bold", soft_wrap=True)
        for line in difference(survey.source, mutant.source):
            console.print(f"    {line}", style=COLOURS.get(line[0]), soft_wrap=True)
    for change in survey.stale:
        console.print(f"\n{survey.name}, STALE: {change}", style="bold", soft_wrap=True)
        console.print("    It is caught, or made no more: take it out of equivalents.py.")


def by_reason(survey: Survey) -> dict[str, list[str]]:
    """The changes that rightly survived, under the reason that they share."""
    found: dict[str, list[str]] = {}
    for mutant in survey.survivors:
        if reason := survey.listed.get(mutant.change):
            found.setdefault(reason, []).append(mutant.change)
    return found


def difference(old: str, new: str) -> list[str]:
    """What changed, as a diff with a line around it."""
    return [*unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)][3:]


def mutants(source: str) -> list[Mutant]:
    """Every mutant of this code, each one once."""
    module = cst.parse_module(source)
    mutations = Mutations()
    module.visit(mutations)
    kinds: dict[str, str] = {source: ""}
    for kind, old, new in mutations.found:
        kinds.setdefault(module.code_for_node(module.deep_replace(old, new)), kind)
    del kinds[source]
    return [*numbered(Mutant(kind, code, change(source, code)) for code, kind in kinds.items())]


def numbered(mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """The same mutants, where two changes that read alike are told apart by a number."""
    seen: Counter[str] = Counter()
    for mutant in mutants:
        seen[mutant.change] += 1
        again = f" (#{seen[mutant.change]})" if seen[mutant.change] > 1 else ""
        yield replace(mutant, change=mutant.change + again)


def change(old: str, new: str) -> str:
    """The line that differs, and in it «old → new»; of two that changed places, both."""
    _, ours, theirs, _ = apart(lines(old), lines(new))
    if sorted(ours) == sorted(theirs):
        return f"{ours[0]} ⇄ {theirs[0]}"
    begin, was, became, end = apart(words(ours), words(theirs))
    return "".join([*begin, "«", *was, " → ", *became, "»", *end])


def lines(code: str) -> list[str]:
    """The lines of some code, wherever they begin."""
    return [line.strip() for line in code.splitlines() if line.strip()]


def words(lines: list[str]) -> list[str]:
    """The words, operators and other signs of some lines."""
    return re.findall(r"\w+|[-+*/%<>=!&|^@]+|\W", " / ".join(lines))


def apart(old: list[str], new: list[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """What both begin with, what stands in the old one then, what in the new, and the same end."""
    begin = shared(old, new)
    end = shared(old[begin:][::-1], new[begin:][::-1])
    was, became = old[begin : len(old) - end], new[begin : len(new) - end]
    return old[:begin], was, became, old[len(old) - end :]


def shared(old: list[str], new: list[str]) -> int:
    """How many places from the beginning are the same in both."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
