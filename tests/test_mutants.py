"""Graders are tested: a solution with one thing wrong fails its own exercise's checks."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from harness_zero.grading.equivalents import EQUIVALENTS
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.mutants import (
    caught_by,
    cell,
    holds,
    mutants,
    print_survivors,
    survey,
)
from harness_zero.grading.references import NoReference, reference

ROOT = Path(__file__).parents[1]
ACT = EXERCISES["act"]


@cache
def surveyed(name):
    return survey(EXERCISES[name], reference(name), EQUIVALENTS.get(name, {}))


@pytest.mark.parametrize("name", EXERCISES)
def test_every_mutant_of_a_solution_is_caught_or_listed_with_the_reason_why_not(name):
    through = [mutant.change for mutant in surveyed(name).unlisted]
    assert through == [], f"make mutants EXERCISES={name} shows more; a promise has to catch them"


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_is_listed_that_is_caught_or_not_a_mutant_any_more(name):
    assert surveyed(name).stale == []


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_mutants_enough_to_tell_something(name):
    assert len(surveyed(name).mutants) >= 5


def test_every_reason_is_a_sentence_about_an_exercise_that_there_is():
    assert [name for name in EQUIVALENTS if name not in EXERCISES] == []
    reasons = [reason for listed in EQUIVALENTS.values() for reason in listed.values()]
    assert [reason for reason in reasons if len(reason.split()) < 5 or reason[-1] != "."] == []


# the tester, tested


def gives_something_back(act):
    """A promise that is too weak."""
    assert act({"content": []}, {})


FEEBLE = replace(ACT, promises=(gives_something_back,))


def test_a_weak_check_lets_a_mutant_through():
    tried = survey(FEEBLE, reference("act"), {})
    unlisted = [mutant.change for mutant in tried.unlisted]
    assert "«results.append(answer(call, tools)) → pass»" in unlisted
    assert "return «user(*results) → None»" not in unlisted
    assert not holds(tried)


def test_a_weak_check_is_red_in_the_matrix_and_one_with_equivalents_is_yellow():
    strict, feeble = survey(ACT, reference("act"), {}), survey(FEEBLE, reference("act"), {})
    excused = replace(feeble, listed={each.change: "A reason." for each in feeble.unlisted})
    surveys = strict, excused, feeble
    cells = [cell(each, {"left out"}) for each in surveys]
    assert [str(each) for each in cells] == ["3/3", "2/3", "2/3"]
    assert [each.style for each in cells] == ["green", "yellow", "red"]
    assert [holds(each) for each in surveys] == [True, True, False]


def test_what_gets_through_is_shown_as_a_difference(capsys):
    print_survivors(plain(), survey(FEEBLE, reference("act"), {}))
    said = capsys.readouterr().out
    assert "act, NOT CAUGHT: «results.append(answer(call, tools)) → pass»\n" in said
    assert "\n    -        results.append(answer(call, tools))\n    +        pass\n" in said


def test_an_equivalent_is_shown_under_its_reason(capsys):
    listed = {"«results.append(answer(call, tools)) → pass»": "The check never looks."}
    tried = survey(FEEBLE, reference("act"), listed)
    print_survivors(plain(), tried)
    said = capsys.readouterr().out
    assert f"act, equivalent: The check never looks.\n    {next(iter(listed))}\n" in said
    assert not [mutant for mutant in tried.unlisted if mutant.change in listed]


def test_a_listed_mutant_that_is_caught_or_gone_is_stale_and_told(capsys):
    listed = {"return «user(*results) → None»": "It is caught.", "return 5": "It is gone."}
    tried = survey(ACT, reference("act"), listed)
    print_survivors(plain(), tried)
    assert tried.stale == [*listed] and not holds(tried)
    assert "act, STALE: return 5\n    It is caught, or made no more" in capsys.readouterr().out


def test_a_solution_that_breaks_a_promise_itself_proves_nothing():
    wrong = replace(reference("act"), source="def act(reply, tools):\n    return None\n")
    with pytest.raises(NoReference, match="The solution of act is not right itself: it gives back"):
        survey(ACT, wrong, {})


def test_a_mutant_that_does_not_run_is_caught():
    assert caught_by(ACT, {}, "def act(:").startswith("it does not run, SyntaxError")
    assert caught_by(ACT, {}, "while True:\n    pass").startswith("it does not run, StillRunning")


def test_what_python_has_its_doubts_about_runs_nevertheless():
    doubtful = 'def act(reply, tools):\n    assert (reply, "always true")\n    return "a" is "a"\n'
    assert caught_by(FEEBLE, {}, doubtful) == ""


def test_what_a_mutant_does_to_names_does_not_reach_the_next_one():
    names = {}
    caught_by(ACT, names, "answer = None\ndef act(reply, tools):\n    return answer\n")
    assert names == {}


# what can go wrong in a solution

CODE = """
def walk(paths: list[str] | None, limit=3):
    "Read them all."
    seen = []
    while limit > 0:
        for path in paths:
            try:
                seen.append(read(path, limit))
            except OSError as error:
                seen += [f"{path}: {error}", "sorry"]
        limit -= 1
    if seen == []:
        return None
    return seen
"""
CHANGES = [
    ("left out", "«seen = [] → pass»"),
    ("left out", 'seen += [f"«{path} → »: {error}", "sorry"]'),
    ("left out", 'seen += [«f"{path}: {error}",  → »"sorry"]'),
    ("order", "seen = [] ⇄ while limit > 0:"),
    ("order", "seen.append(read(«path, limit → limit, path»))"),
    ("order", "for path in «paths → (paths)[::-1]»:"),
    ("rounds", "for path in «paths → (paths)[:1]»:"),
    ("rounds", "for path in «paths → (paths)[1:]»:"),
    ("rounds", "« → break»"),
    ("logic", "while «limit > 0 → not (limit > 0)»:"),
    ("logic", "while limit «> → >=» 0:"),
    ("logic", "if «seen == [] → True»:"),
    ("logic", "if «seen == [] → False»:"),
    ("logic", "except «OSError → BaseException» as error:"),
    ("returns", "return «seen → None»"),
    ("returns", 'return «None → ""»'),
    ("values", "while limit > «0 → 1»:"),
    ("values", "limit «-= → =» 1"),
    ("arguments", "seen.append(read(«path,  → »limit))"),
    ("arguments", 'seen.append(read(«path → "XX"», limit))'),
]


@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_this_can_go_wrong(kind, change):
    assert (kind, change) in [(mutant.kind, mutant.change) for mutant in mutants(CODE)]


def test_names_signatures_types_and_docstrings_stay_as_they_are():
    kept = "def walk(paths: list[str] | None, limit=", '    "Read them all."\n'
    assert not [m for m in mutants(CODE) if not all(part in m.source for part in kept)]


def test_no_mutant_is_made_twice_and_no_two_changes_read_alike():
    made = mutants("def twice():\n    one()\n    one()\n    two()\n")
    assert len({mutant.source for mutant in made}) == len(made)
    assert [m.change for m in made if "pass" in m.change] == [
        "«one() → pass»",
        "«one() → pass» (#2)",
        "«two() → pass»",
    ]


# where solutions come from

FIRST = """%%mine first
def first():
    ### BEGIN SOLUTION
    return given
    ### END SOLUTION"""
WORKED = """%%mine conversation
def conversation():
    ### BEGIN SOLUTION
    return first()
    ### END SOLUTION"""
BEFORE = [
    ("%load_ext x\nfrom pathlib import Path\ngiven = Path('beside.txt').read_text()", ["setup"]),
    ("print('an example that raises')\n1 / 0", []),
    ("def conversation():\n    return 'an example'", []),
    (FIRST, ["exercise"]),
    ("given = 'spoilt'", ["check"]),
]


def test_a_solution_is_plain_python_and_finds_what_the_cells_before_it_made(tmp_path, capsys):
    lay(tmp_path, [*BEFORE, (WORKED, ["exercise"]), ("given = 'too late'", [])])
    found = reference("conversation", tmp_path)
    assert found.source == "def conversation():\n    return first()\n"
    exec(found.source, names := dict(found.names))
    assert names["conversation"]() == "from a file"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "cells", "said"),
    [
        ("talk", [(WORKED, [])], "There is no exercise 'talk'; there are conversation, answer, "),
        ("conversation", [], "has no cell that nbgrader knows as a solution"),
        ("conversation", [(FIRST, [])], "has no solution cell that defines conversation(); "),
        ("conversation", [(WORKED[:-20], [])], "has a BEGIN SOLUTION that is never closed"),
        ("conversation", [("a = 1 / 0", ["setup"]), (WORKED, [])], "`a = 1 / 0` raises ZeroDiv"),
        ("conversation", [(f"{FIRST}\n1 / 0", []), (WORKED, [])], "`def first():` raises ZeroDiv"),
        ("answer", None, "does not exist"),
    ],
)
def test_a_solution_that_cannot_be_had_is_told_in_a_sentence(tmp_path, name, cells, said):
    if cells is not None:
        lay(tmp_path, cells)
    with pytest.raises(NoReference) as told:
        reference(name, tmp_path)
    assert said in str(told.value)


# the command


def test_the_command_prints_what_was_caught_of_each_kind():
    done = command("conversation", "act_at_once")
    heading, *rows = done.stdout.splitlines()
    assert heading.split()[-4:] == ["returns", "values", "arguments", "all"]
    assert [row.split()[0] for row in rows] == ["conversation", "act_at_once"]
    assert done.returncode == 0


def test_the_command_tells_a_name_that_no_exercise_has():
    done = command("conversations", "act_at_once")
    assert "There is no exercise 'conversations'; there are conversation, " in done.stdout
    assert "act_at_once  " in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def command(*names):
    program = [sys.executable, "-m", "harness_zero.grading.mutants", *names]
    return subprocess.run(program, cwd=ROOT, capture_output=True, text=True)


def plain():
    return Console(highlight=False, markup=False, color_system=None)


def lay(course, cells):
    """A course with one solution of these cells in it, and a file beside it."""
    folder = course / "solutions" / "00_one_call"
    folder.mkdir(parents=True)
    (folder / "beside.txt").write_text("from a file", encoding="utf-8")
    notebook = {"cells": [code(*each) for each in cells], "nbformat": 4, "nbformat_minor": 5}
    (folder / "00_one_call.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def code(source, tags):
    metadata = {"tags": tags, "nbgrader": {"solution": "SOLUTION" in source}}
    return {"cell_type": "code", "id": "one", "metadata": metadata, "source": source}
