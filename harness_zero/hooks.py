"""Hooks around a tool: one sees each call before it is judged, one each result at the end.

The order is hook, permission, run, hook. A hook before may change the call, so it stands outside
of the permission, which then judges what will really run. A hook after is told the call as it
ran and what really came, a denial included.
"""

from collections.abc import Callable

from harness_zero.layers import layer
from harness_zero.messages import Block, not_executed
from harness_zero.ports import Tool

Before = Callable[[Block], Block | str]  # the call, changed or not; or why it is refused
After = Callable[[Block, Block], Block]  # the call and its result: the result that counts


def before(tool: Tool, hook: Before) -> Tool:
    """A hook that sees each call first: it gives the call back, or refuses it in words."""

    def hooked(call: Block) -> Block:
        given = hook(call)
        if isinstance(given, str):
            return not_executed(call, given)
        return tool({**given, "id": call["id"]})

    return layer("a hook before", hooked, tool)


def after(tool: Tool, hook: After) -> Tool:
    """A hook that sees each result, with the call, and gives back the one that counts."""

    def hooked(call: Block) -> Block:
        return {**hook(call, tool(call)), "tool_use_id": call["id"]}

    return layer("a hook after", hooked, tool)
