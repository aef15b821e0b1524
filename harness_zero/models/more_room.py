"""More room: a reply that was cut off is asked for again, as if it had not been said.

It wraps a model and keeps its signature, so neither the loop nor the policy knows of it:
the run holds one reply, whole, and the model never reads its own half sentence.
"""

from typing import Any

from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.ports import Model, Request


def more_room(model: Model, *limits: int) -> Model:
    """Ask the same request again with the next larger `max_tokens`, while the reply is cut off.

    What is cut off at the last limit, too, is handed on as it is. All attempts are paid for, so
    usage and cost of the reply are theirs together; a brake in money sees them after the last.
    """

    def speak(request: Request) -> Reply:
        reply = model(request)
        for limit in limits:
            if not cut_off(reply):
                break
            if limit > request.get("max_tokens", 0):
                reply = again(model, {**request, "max_tokens": limit}, reply)
        return reply

    return speak


def cut_off(reply: Reply) -> bool:
    """Whether a reply ran into the limit on its length."""
    return isinstance(reply, dict) and reply.get("stop_reason") == "max_tokens"


def again(model: Model, request: Request, cut: Reply) -> Reply:
    """The reply to a larger request; the cut one, which is paid for, if there is none."""
    try:
        return with_costs(model(request), cut)
    except ModelFailed:
        return cut


def with_costs(reply: Reply, earlier: Reply) -> Reply:
    """A reply with what an earlier one used and cost added to its own."""
    usage = together(earlier["usage"], reply["usage"])
    costs = earlier.get("cost_usd", 0.0), reply.get("cost_usd", 0.0)
    return {**reply, "usage": usage, "cost_usd": None if None in costs else sum(costs)}


def together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two usages as one, counter by counter, those inside a counter as well."""
    usage = {**one}
    for name, count in other.items():
        if isinstance(count, dict):
            usage[name] = together(usage.get(name) or {}, count)
        else:
            usage[name] = (usage.get(name) or 0) + (count or 0)
    return usage
