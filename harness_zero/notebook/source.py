"""The source of a piece of code, wherever it was written, or a sentence that says why not."""

import ast
import inspect
import linecache
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.notebook.faces import spelled_out

Code = Callable[..., Any] | type | ModuleType

APART = "\n\n\n"  # between two pieces of code


class NoSource(SetupFault):
    """This cannot be shown as code; the sentence says why, and what can."""


def source(code: Any) -> str:
    """The source of a function, a class or a module, from its own margin. NoSource says why not."""
    if fault := source_fault(code):
        raise NoSource(fault)
    try:
        lines = inspect.getsource(code).rstrip().split("\n")
    except (OSError, TypeError, ValueError, SyntaxError):
        lines = lines_of_class(code) if inspect.isclass(code) else []
    if not lines:
        raise NoSource(f"Python keeps no source of {code.__name__}{whereabouts(code)}")
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return spelled_out("\n".join(line.removeprefix(margin) for line in lines))


def source_fault(code: Any) -> str | None:
    """Why this has no source to show, in words; None if it may have one."""
    if isinstance(code, partial):
        name = getattr(code.func, "__name__", "its func")
        return f"a partial has no source of its own; show the function that it calls, {name}"
    if not (inspect.isroutine(code) or inspect.isclass(code) or inspect.ismodule(code)):
        if not hasattr(code, "__wrapped__"):
            return f"only a function, a class or a module has source; this is of type {kind(code)}"
    elif getattr(code, "__name__", "") == "<lambda>":
        return "a lambda has no source of its own; write it with def, and it can be shown"
    elif inspect.isbuiltin(code) or getattr(code, "__module__", "") == "builtins":
        return f"{code.__name__} is built into Python and has no source in Python"
    return None


def kind(thing: object) -> str:
    return type(thing).__name__


def whereabouts(code: Any) -> str:
    """Why Python may keep no source of something, for the end of a sentence."""
    if inspect.isclass(code) and code.__module__ == "__main__":
        return ": it is a class of this notebook without a method, and only methods lead back to it"
    return ": it is empty, is not written in Python, or its file is gone"


def lines_of_class(cls: type) -> list[str]:
    """The lines of a class that was written in a cell, found through one of its methods."""
    members = [getattr(each, "__func__", each) for each in vars(cls).values()]
    methods = [getattr(each, "fget", each) for each in members]
    for made in [inspect.unwrap(each).__code__ for each in methods if inspect.isfunction(each)]:
        lines = linecache.getlines(made.co_filename)
        for node in ast.walk(parsed(lines)):
            if not isinstance(node, ast.ClassDef) or node.name != cls.__name__:
                continue
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= made.co_firstlineno <= (node.end_lineno or 0):
                return [line.rstrip("\n") for line in lines[first - 1 : node.end_lineno]]
    return []


def parsed(lines: list[str]) -> ast.Module:
    """A cell's code as a tree; an empty one if it is more than Python."""
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return ast.Module([], [])
