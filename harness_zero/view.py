"""Views: what the model is sent. The plain one sends the run as it stands."""

from collections.abc import Sequence
from math import inf
from typing import Any

from harness_zero.ports import Request, View
from harness_zero.run import Run


def plain(system: str = "", tools: Sequence[dict[str, Any]] = ()) -> View:
    """Send the messages as they stand, with a system prompt and tools' schemas if there are any."""
    fixed: Request = {}
    if system:
        fixed["system"] = system
    if tools:
        fixed["tools"] = list(tools)

    def view(run: Run) -> Request:
        return {**fixed, "messages": run.messages}

    return view


def last_answer(view: View, spare: int = 0) -> View:
    """In the last round that a limit allows, the model may call no tool: it has to use words.

    The tools stay in the request, since they are the first part of what a provider caches. The
    turn ends as `finished` then: the model asked for nothing, since it could not. `spare` rounds
    are left for those who have to agree to the answer: a judge takes one.
    """

    def last(run: Run) -> Request:
        request = view(run)
        if "tools" in request and run.rounds + 1 + spare >= run.limits.get("rounds", inf):
            return {**request, "tool_choice": {"type": "none"}}
        return request

    return last
