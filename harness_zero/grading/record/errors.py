"""Exceptions that cross: their kind, what they were made with, and what they tell besides."""

import builtins
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from types import ModuleType
from typing import Any

PLAIN = {type(None), bool, int, float, str}  # what JSON holds as it is
LONGEST = 10_000  # characters of what an error says
LONGEST_NAME = 80
MOST_TOLD = 20  # arguments of an error, and what it tells besides
HUGE = 1 << 64
OURS = ("harness_zero.run", "harness_zero.loop", "harness_zero.models.recorded")  # with errors


class Raised(Exception):
    """An exception of a kind that only the learner's process knows."""


def told(error: BaseException) -> dict[str, Any]:
    """What crosses of an exception."""
    made_with = error.args
    if isinstance(error, OSError) and error.filename is not None:
        made_with = (error.errno, error.strerror, error.filename)
    if isinstance(error, SyntaxError):
        made_with = (str(error),)
    return {
        "kinds": [[kind.__name__, kind.__module__] for kind in kinds(error)],
        "args": [each if is_plain(each) else words_of(each) for each in made_with[:MOST_TOLD]],
        "beyond": not isinstance(error, Exception),
        "tells": told_by(vars(error)),
    }


def kinds(error: BaseException) -> list[type]:
    """The class of an error and those above it, the nearest first."""
    above = [each for each in type(error).__mro__ if each not in (object, BaseException, Exception)]
    return above[:MOST_TOLD] or [type(error)]


def made(
    given: dict, args: list[Any], modules: Mapping[str, ModuleType], trusting: bool
) -> BaseException:
    """An exception of the kind that was told, looked up in these modules.

    One of a kind that this side does not know is of the nearest kind above it that it knows.
    """
    told = [(str(name)[:LONGEST_NAME], str(module)) for name, module in given["kinds"][:MOST_TOLD]]
    found = (known(*each, modules, trusting) for each in told)
    kind = next(filter(None, found), BaseException if trusting and given["beyond"] else Raised)
    name = told[0][0]
    error = made_of(kind if kind.__name__ == name else type(name, (kind,), {}), args)
    vars(error).update(told_by(given["tells"]))
    return error


def known(
    name: str, module: str, modules: Mapping[str, ModuleType], trusting: bool
) -> type[BaseException] | None:
    """The class of an error; of a learner's process only an Exception is taken as it is."""
    kind: Any = None
    if module == "builtins":
        kind = getattr(builtins, name, None)
    elif module in OURS or (trusting and module.startswith("harness_zero.")):
        kind = getattr(modules.get(module), name, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        return None
    return kind if trusting or issubclass(kind, Exception) or module != "builtins" else None


def made_of(kind: type[BaseException], args: list[Any]) -> BaseException:
    """An error made with these arguments, as far as its class takes them."""
    with suppress(TypeError, ValueError):
        if kind.__module__ == "builtins":  # some of them tell their words apart
            return kind(*args)
    error = kind.__new__(kind, *args)
    error.args = tuple(args)
    return error


def is_plain(value: Any) -> bool:
    """Whether an argument of an exception crosses as it is: a plain value, and no huge one."""
    if type(value) is int:
        return abs(value) < HUGE
    return type(value) in PLAIN and (type(value) is not str or len(value) <= LONGEST)


def told_by(tells: dict[str, Any]) -> dict[str, Any]:
    """What an exception tells whoever catches it, such as the status of an answer."""
    plain = (pair for pair in tells.items() if is_told(*pair))
    return dict(islice(plain, MOST_TOLD))


def is_told(name: Any, value: Any) -> bool:
    """Whether an exception tells this: a plain value under a name of its own."""
    named = type(name) is str and len(name) <= LONGEST_NAME and name.isidentifier()
    return named and not name.startswith("_") and is_plain(value)


def words_of(value: Any) -> str:
    """A value in words, even one that cannot tell."""
    try:
        return f"{value!s:.400}"
    except BaseException:
        return f"a {type(value).__name__}"
