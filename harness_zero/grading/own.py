"""What an answer that passed here takes from the course and will not find when it is graded."""

import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from harness_zero.grading.checks import Finding, passed
from harness_zero.grading.exercise import Exercise

OURS = "harness_zero"
MOST = 200  # functions that are looked into


def beyond(exercise: Exercise, found: list[Finding], answer: Any) -> Iterator[str]:
    """A line about it where there is any: it passes here, and would not where it is graded."""
    with suppress(Exception):  # an answer can be anything, and this is by the way
        if passed(exercise, found) and (names := sorted({*taken(exercise, answer)})):
            listed = ", ".join(names)
            are = "are" if len(names) > 1 else "is"
            yield (
                f"But {listed} {are} not there when your work is graded: write what you need of"
                f" {'them' if len(names) > 1 else 'it'} in your cell."
            )


def taken(exercise: Exercise, answer: Any) -> Iterator[str]:
    """What of ours an answer uses, itself or by its own functions, that is not there."""
    from harness_zero.grading.record.plan import plan
    from harness_zero.mine import lab_of

    there = plan(lab_of(exercise))
    known, todo, seen = there.known(), [("", answer)], set[int]()
    while todo and len(seen) < MOST:
        name, each = todo.pop()
        if id(each) in seen or (name in known and each is not answer):
            continue
        seen.add(id(each))
        if (of := module_of(each)) and not there.has(*of):
            yield f"{of[1]} of {of[0]}" if of[1] else of[0]
        elif isinstance(each, types.FunctionType) and not of:
            todo += used(each)


def module_of(value: Any) -> tuple[str, str] | None:
    """The module of ours that something stands in, and its name there; None if it is no part."""
    if isinstance(value, types.ModuleType):
        return (value.__name__, "") if value.__name__.partition(".")[0] == OURS else None
    if not isinstance(value, types.FunctionType | type):
        return None
    top = value.__qualname__.partition(".")[0]
    return (value.__module__, top) if value.__module__.partition(".")[0] == OURS else None


def used(function: types.FunctionType) -> list[tuple[str, Any]]:
    """What a function uses: the names of its notebook, and what it closes over."""
    codes, names = [function.__code__], set[str]()
    for code in codes:
        names |= {*code.co_names}
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    globals_ = function.__globals__
    held = [("", each.cell_contents) for each in function.__closure__ or ()]
    return [*held, *((name, globals_[name]) for name in names if name in globals_)]
