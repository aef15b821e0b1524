"""Functions that stand for others: they look alike, and calling them calls what they stand for."""

from collections.abc import Callable
from inspect import (
    Parameter,
    Signature,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    signature,
)
from typing import Any

MARKS = ("is_brake", "limits")  # what a policy is marked with
ODD = {
    "coroutine": iscoroutinefunction,
    "generator": isgeneratorfunction,
    "asynchronous generator": isasyncgenfunction,
}
MOST = 100  # parameters
LONGEST = 80  # characters of a name
Kind: Any = type(Parameter.POSITIONAL_ONLY)


def form(function: Any) -> dict[str, Any]:
    """What can be said of a function without calling it: its name, parameters and marks."""
    marks = {name: getattr(function, name, None) for name in MARKS}
    return {
        "name": str(getattr(function, "__name__", "it"))[:LONGEST],
        "odd": next((name for name, is_so in ODD.items() if is_so(function)), None),
        "marks": {name: each for name, each in marks.items() if is_mark(each)},
        "parameters": parameters(function),
    }


def is_mark(value: Any) -> bool:
    """Whether this is what a brake is marked with: a yes, or its limits."""
    if isinstance(value, dict):
        return all(type(k) is str and type(v) in (int, float) for k, v in value.items())
    return value is True


def parameters(function: Any) -> list[list[Any]] | None:
    """Name, kind and whether there is a default, of each parameter; None if nobody knows."""
    try:
        found = signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[each.name, int(each.kind), each.default is not Parameter.empty] for each in found]


def proxy(about: dict, call: Callable[..., Any]) -> Callable[..., Any]:
    """A function of this form which does something else when it is called."""

    def proxy(*args: Any, **named: Any) -> Any:
        return call(*args, **named)

    proxy.__name__ = proxy.__qualname__ = str(about.get("name"))[:LONGEST]
    marks = about.get("marks")
    if isinstance(marks, dict):
        vars(proxy).update({name: marks[name] for name in MARKS if is_mark(marks.get(name))})
    if isinstance(found := about.get("parameters"), list):
        proxy.__signature__ = as_signature(found)  # type: ignore[attr-defined]
    proxy.odd = about.get("odd") in ODD and about["odd"]  # type: ignore[attr-defined]
    return proxy


def as_signature(found: list) -> Signature:
    """The parameters of a function, as its own side tells them."""
    given = [
        Parameter(str(name), Kind(kind), default=None if default else Parameter.empty)
        for name, kind, default in found[:MOST]
    ]
    return Signature(given)
