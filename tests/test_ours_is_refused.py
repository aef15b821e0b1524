"""Answers that only import ours earn nothing, however they come by it, and are told in a sentence.

What a learner's process holds of the package is cut down to what serves there, so there is nothing
to be found by looking at functions, modules or files either.
"""

import ast
from contextlib import redirect_stdout
from io import StringIO

import pytest
from answers import LABS as ANSWERS
from cells_of_answers import expression, source
from test_grades_agree import of_record, room

from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.record.plan import plan
from harness_zero.grading.record.reasons import NOT_DONE
from harness_zero.mine import lab_of
from harness_zero.notebook.check import check

__all__ = ["room"]  # a fixture

NO_CASES = [name for name, exercise in EXERCISES.items() if not exercise.case]


def ours(name):
    """What of ours is an answer to an exercise: modules, and the names in them."""
    module = next(each for each in ANSWERS if name in each.RIGHT)
    imported, found = source(module.__name__).imported, set()
    for key in range(len(module.RIGHT[name])):
        node = expression(module, "RIGHT", name, key)
        if isinstance(node, ast.Name) and node.id in imported:
            found.add(imported[node.id])
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add((imported[node.value.id][0], node.attr))
    lab = plan(lab_of(EXERCISES[name])).lab.name[:2]
    return sorted({*found, (f"harness_zero.grading.lab{lab}", name)})


@pytest.mark.parametrize("name", NO_CASES)
def test_whoever_imports_ours_reads_that_it_is_not_there(name, room):
    for module, part in ours(name):
        for cell in (
            f"from {module} import {part} as {name}",
            f"import {module} as there\n{name} = there.{part}",
            f"import importlib\n{name} = importlib.import_module({module!r}).{part}",
        ):
            reason = of_record(name, cell, room)[1]
            assert "is not there when your work is graded" in reason, (cell, reason)


BORROWS = "from harness_zero.mine import ours\n({name},) = ours({piece!r})"


@pytest.mark.parametrize("name", [n for n in NO_CASES if EXERCISES[n].piece])
def test_whoever_borrows_ours_reads_that_it_is_not_there(name, room):
    cell = BORROWS.format(name=name, piece=EXERCISES[name].piece.name)
    reason = of_record(name, cell, room)[1]
    assert "is not there when your work" in reason or "not to be borrowed here" in reason


LOOKS = """
OTHER = "/contracts/veto.py"  # its verdict is what became of a hook

import builtins, gc, importlib, inspect, pathlib, pkgutil, sys, types

def found(names, own, id=builtins.id):
    own = {{id(each) for each in own}}
    for space in spaces():
        for name in names:
            try:
                each = space[name] if isinstance(space, dict) else getattr(space, name)
            except Exception:
                continue
            if isinstance(each, (types.FunctionType, type)) and id(each) not in own:
                if whose(each).startswith("/course/") and not whose(each).endswith(OTHER):
                    yield each

def whose(each):
    return getattr(getattr(each, "__code__", None), "co_filename", "") if is_plain(each) else ""

def spaces():
    yield {{each.__name__: each for each in gc.get_objects() if is_plain(each)}}
    for each in [each for each in [*globals().values()] if builtins.callable(each)]:
        yield getattr(each, "__globals__", {{}})
        yield inspect.getmodule(each)
    yield from [each for name, each in [*sys.modules.items()] if name != "__main__"]
    yield from [each for each in gc.get_objects() if type(each) is dict and "__doc__" in each]
    for path in pathlib.Path("/course").rglob("*.py"):
        space = {{"__name__": "a copy"}}
        try:
            exec(compile(path.read_text(), builtins.str(path), "exec"), space)
        except Exception:
            pass
        yield space
    for each in [each for each in sys.modules if each.startswith("harness_zero")]:
        del sys.modules[each]
    import harness_zero
    for each in pkgutil.walk_packages(harness_zero.__path__, "harness_zero."):
        try:
            yield importlib.import_module(each.name)
        except Exception:
            pass

def is_plain(each):
    return isinstance(each, types.FunctionType) and each.__name__ == each.__qualname__

for {name} in found({names}, [*globals().values()]):
    break
else:
    raise LookupError("none of ours is to be found")
"""


@pytest.mark.parametrize("name", NO_CASES)
def test_whoever_looks_for_ours_everywhere_finds_none(name, room):
    """Also not where the process keeps it for itself: what is found there has no body."""
    names = {part for _, part in ours(name)}
    reason = of_record(name, LOOKS.format(name=name, names=names), room)[1]
    left = ("none of ours is to be found", NOT_DONE, "a function of another form")
    assert any(each in reason for each in left), reason


NOT_IN_PYTHON = "import numpy\n"
HERE = (
    "import collections, copy, dataclasses, enum, functools, hashlib, itertools, json, re, time\n"
)


def test_what_python_brings_is_there_and_what_it_does_not_is_told(room):
    slot = next(each for each in plan("00_one_call").slots if each.exercise == "answer")
    assert of_record("answer", HERE + slot.source, room)[1] == ""
    assert (
        "numpy is not there when your work is graded"
        in of_record("answer", NOT_IN_PYTHON + slot.source, room)[1]
    )
    inside = slot.source.replace(":\n", ":\n    import numpy\n", 1)
    assert "numpy is not there when your work is graded" in of_record("answer", inside, room)[1]


def test_a_cell_may_try_its_answer_and_name_its_types(room):
    tries = (
        "from harness_zero.loop import ModelFailed\n"
        "from harness_zero.models.scripted import scripted\n"
        "from harness_zero.notebook import show, watch\n"
        "from harness_zero.ports import Model, Policy, Tool, View\n"
    )
    for lab in LABS:
        slot = next(each for each in plan(lab).slots if each.exercise)
        assert of_record(slot.exercise, tries + slot.source, room)[1] == "", lab


def told(name, cell):
    """What the check in the notebook prints of an answer in its cell."""
    names, exercise = {"__name__": "__main__"}, EXERCISES[name]
    with redirect_stdout(StringIO()) as out:
        for slot in plan(lab_of(exercise)).slots:
            exec(cell if slot.exercise == name else slot.source, names)
            if slot.exercise == name:
                break
    with redirect_stdout(StringIO()) as out:
        check(name, names[name])
    return out.getvalue()


@pytest.mark.parametrize("name", NO_CASES)
def test_the_check_in_the_notebook_says_nothing_of_an_answer_that_uses_what_is_there(name):
    slot = next(e for e in plan(lab_of(EXERCISES[name])).slots if e.exercise == name)
    assert "not there when your work is graded" not in told(name, slot.source)


@pytest.mark.parametrize("name", ["excerpt", "structural_stop", "first_of", "pairing_fault"])
def test_the_check_in_the_notebook_says_before_that_what_is_ours_is_not_there(name):
    module, part = next(of for of in ours(name) if "grading" not in of[0])
    for cell in (
        f"from {module} import {part} as {name}",
        f"from {module} import {part} as _it\ndef {name}(*args): return _it(*args)",
    ):
        said = told(name, cell)
        assert "all visible checks pass" in said
        assert f"But {part} of {module} is not there when your work is graded" in said
