"""A toolbox: plain functions lifted to the tool port, their failures turned into data."""

import json
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any

from harness_zero.brief import brief, excerpt, told_by
from harness_zero.doubt import extras
from harness_zero.messages import Block, tool_result
from harness_zero.ports import Tool

LONGEST = 100_000  # characters of one result


def toolbox(functions: Mapping[str, Callable[..., Any]]) -> Tool:
    """Answer a call with the function of that name; a failure is a result that the model can read.

    A function that is declared to take a key or a receipt is given it beside its input.
    An `Exception` becomes text. What is none, an interrupt or a fault of the set-up,
    is nobody's data and passes through.
    """

    def tool(call: Block) -> Block:
        function = functions.get(call["name"])
        if function is None:
            return failed(call, f"no tool named {call['name']!r}; there are {', '.join(functions)}")
        try:
            output = function(**call["input"], **extras(function, call))
        except TypeError as error:  # of the call itself, or from inside the function
            return failed(call, input_fault(function, call["input"]) or told(error))
        except Exception as error:
            return failed(call, told(error))
        return tool_result(call["id"], as_text(output))

    return tool


def failed(call: Block, why: str) -> Block:
    """The result of a call that went wrong."""
    return tool_result(call["id"], excerpt(why, LONGEST), is_error=True)


def told(error: Exception) -> str:
    """What a model reads of an exception: its kind and its words."""
    return f"{type(error).__name__}: {told_by(str, error)}"


def as_text(output: Any) -> str:
    """What a model reads of an output: all of it, or how much is missing; of bytes their number."""
    if isinstance(output, bytes | bytearray):
        return f"binary output of {len(output):,} bytes; it is not shown"
    return excerpt(told_by(str, output), LONGEST)


def input_fault(function: Callable[..., Any], input: Any) -> str | None:
    """Why a function cannot be called with this input, in words that no Python version changes."""
    if not isinstance(input, dict):
        return f"the input is no object with named arguments but {input!r}"
    try:
        parameters = signature(function).parameters
    except ValueError:  # a few builtins do not tell
        return None
    required = [name for name, p in parameters.items() if is_required(p)]
    if missing := [name for name in required if name not in input]:
        return f"missing: {', '.join(missing)}; it takes {', '.join(parameters)}"
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    if unknown := [name for name in input if name not in parameters and not takes_any]:
        return f"unknown: {', '.join(unknown)}; it takes {', '.join(parameters) or 'nothing'}"
    return None


def is_required(parameter: Parameter) -> bool:
    """Whether a parameter has to be given."""
    many = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return parameter.default is Parameter.empty and parameter.kind not in many


def arguments(written: str) -> dict[str, Any]:
    """The arguments that a model wrote as JSON; a ValueError says where they break.

    Nothing is mended: what would be called then is nothing that the model asked for.
    """
    try:
        given = json.loads(written)
    except json.JSONDecodeError as error:
        good = written[: error.pos].rstrip(" \t\r\n,")  # Python's versions differ at a last comma
        rest = written[len(good) :].lstrip(" \t\r\n")
        comes = f"comes {brief(rest, 60)}" if rest else "nothing comes"
        if error.msg.startswith("Unterminated string"):
            comes += ", and the text ends in the middle of this string"
        raise ValueError(f"the arguments are no JSON: after {good[-60:]!r} {comes}") from None
    if not isinstance(given, dict):
        raise ValueError(f"the arguments are no JSON object but {brief(given)}")
    return given
