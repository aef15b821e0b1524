"""What stands around a call of an answer, and is there also where the answer runs elsewhere.

A promise may call an answer while an error is handled, or as if in another process.
"""

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

usual = hash


def of_another_process(given: Any) -> int:
    """What `hash` would give in a process whose texts are hashed otherwise."""
    return usual(("another process", given))


@contextmanager
def another_process() -> Iterator[None]:
    """In another process `hash` gives other numbers; so it does here, for a while."""
    vars(builtins)["hash"] = of_another_process
    try:
        yield
    finally:
        vars(builtins)["hash"] = usual


def around(args: tuple, named: Mapping[str, Any]) -> dict[str, Any]:
    """What stands around a call with these arguments, as far as it is not usual."""
    handled, given = sys.exc_info()[1], [*args, *named.values()]
    at = next((at for at, each in enumerate(given) if handled and each is handled), None)
    found = {} if at is None else {"handled": at}
    return {**found, "elsewhere": True} if builtins.hash is of_another_process else found


def called(function: Callable[..., Any], args: list, named: Mapping[str, Any], what: dict) -> Any:
    """Call a function with the same around it."""
    with another_process() if what.get("elsewhere") else nullcontext():
        if "handled" not in what:
            return function(*args, **named)
        try:
            raise [*args, *named.values()][what["handled"]].with_traceback(None)
        except BaseException:
            return function(*args, **named)
