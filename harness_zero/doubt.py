"""What a tool declares for the day on which nobody knows whether its call was made.

A process that dies between an effect and its record leaves a step **in doubt**. What may be done
then only the tool's author knows, so a tool says it, by a decorator on the plain function:

    @reads       running it again changes nothing, so it is run again
    @keyed       takes a key that is the same each time; whoever does the work knows it again
    @receipted   takes the path of a receipt, where its own process may leave the outcome

All others are never silently repeated: the model is told that the outcome is unknown. A key and
a receipt are given by the harness, so the model does not see them in the schema.
"""

import json
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from inspect import signature
from types import FunctionType
from typing import Any, TypeVar

from harness_zero.faults import SetupFault
from harness_zero.messages import Block

Function = TypeVar("Function", bound=Callable[..., Any])

GIVEN = ("key", "receipt")  # what the harness gives, and no model


def reads(function: Function) -> Function:
    """Declare that running it again changes nothing."""
    function = markable(function)
    function.again = True  # type: ignore[attr-defined]
    return function


def keyed(function: Function) -> Function:
    """Declare that it takes `key`: a call that is made twice has the same one both times."""
    function = markable(function)
    function.again = True  # type: ignore[attr-defined]
    return given(function, "key")


def receipted(function: Function) -> Function:
    """Declare that it takes `receipt`: a path at which the outcome may be left later."""
    return given(function, "receipt")


def markable(function: Function) -> Function:
    """The same function, able to carry a declaration: a method and a builtin are not."""
    if isinstance(function, FunctionType):
        return function

    @wraps(function)
    def plain(*values: Any, **named: Any) -> Any:
        return function(*values, **named)

    return plain  # type: ignore[return-value]


def given(function: Function, name: str) -> Function:
    """Hide a parameter that the harness gives from whoever reads the signature."""
    known, function = signature(function), markable(function)
    if name not in known.parameters:
        raise SetupFault(
            f"{function.__name__} is declared to take its {name}: give it a parameter `{name}: str`"
        )
    seen = [parameter for parameter in known.parameters.values() if parameter.name != name]
    function.__signature__ = known.replace(parameters=seen)  # type: ignore[attr-defined]
    function.takes = (*takes(function), name)  # type: ignore[attr-defined]
    return function


def takes(function: Callable[..., Any]) -> tuple[str, ...]:
    """What of the harness's a function takes."""
    return getattr(function, "takes", ())


def runs_again(function: Callable[..., Any] | None) -> bool:
    """Whether a call of it may be made again when nobody knows how the first one ended."""
    return getattr(function, "again", False)


def extras(function: Callable[..., Any], call: Block) -> dict[str, str]:
    """What the harness gives beside the model's input. Without a journal, a key alone."""
    wanted = takes(function)
    return {name: call.get(name) or (key_of("", call) if name == "key" else "") for name in wanted}


def asked(function: Callable[..., Any], input: dict[str, Any]) -> dict[str, Any]:
    """An input without what the harness gave."""
    hidden = takes(function)
    return {name: value for name, value in input.items() if name not in hidden}


def key_of(run: str, call: Block) -> str:
    """A call's key, from what it asks for and never from where it stands in the array."""
    return fingerprint([run, call["id"], call["input"]])


def fingerprint(value: Any) -> str:
    """JSON in 32 characters, the same on every machine."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()[:32]
