"""Hooks around a tool: one sees each call before it is judged, one each result at the end.

The order is hook, permission, run, hook. A hook before may change the call, so it stands outside
of the permission, which then judges what will really run. A hook after is told the call as it
ran and what really came, a denial included. It is given a copy of the call: the call itself
stands in the array, as the model wrote it.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.brief import brief
from harness_zero.faults import SetupFault, raised
from harness_zero.layers import layer
from harness_zero.loop import ModelFailed
from harness_zero.messages import Block, block_fault, not_executed
from harness_zero.ports import Tool

Before = Callable[[Block], Block | str]  # the call, changed or not; or why it is refused
After = Callable[[Block, Block], Block]  # the call and its result: the result that counts


def before(tool: Tool, hook: Before) -> Tool:
    """A hook that sees each call first: it gives the call back, or refuses it in words."""

    def hooked(call: Block) -> Block:
        given = heard(hook, deepcopy(call))
        if isinstance(given, str):
            return not_executed(call, given)
        refuse_no("tool_use", given, "a hook before gives back the call, or why it is refused")
        return tool({**given, "id": call["id"]})

    return layer("a hook before", hooked, tool)


def after(tool: Tool, hook: After) -> Tool:
    """A hook that sees each result, with the call, and gives back the one that counts."""

    def hooked(call: Block) -> Block:
        given = heard(hook, deepcopy(call), tool(call))
        refuse_no("tool_result", given, "a hook after gives back the result that counts")
        return {**given, "tool_use_id": call["id"]}

    return layer("a hook after", hooked, tool)


def heard(asked: Callable[..., Any], *given: Any) -> Any:
    """What somebody says who is asked about a call. One who raises has said neither yes nor no."""
    try:
        return asked(*given)
    except ModelFailed:
        raise
    except Exception as error:
        raise SetupFault(f"who was asked about a call raised {raised(error)}") from error


def refuse_no(kind: str, given: Any, wants: str) -> None:
    """Raise unless a hook gave back a block of this kind. None is mostly a forgotten `return`."""
    if not isinstance(given, dict) or given.get("type") != kind or block_fault(given):
        raise SetupFault(f"{wants}; this one gave back {brief(given)}")
