"""The four ports. Whatever has one of these signatures fits the loop, and a wrapper keeps it."""

from collections.abc import Callable
from typing import Any

from harness_zero.labels import End, Say
from harness_zero.messages import Block, Reply
from harness_zero.run import Run

Request = dict[str, Any]  # {"messages": [...]}, and whatever else the model is to be sent

Policy = Callable[[Run], Say | End | None]  # reads the run: nothing, words, or the end
View = Callable[[Run], Request]  # what the model is sent
Model = Callable[[Request], Reply]  # what it says to that
Tool = Callable[[Block], Block]  # a tool_use, and the tool_result to it


def limits(policy: Policy) -> dict[str, float]:
    """What a policy holds to, by name, as far as it tells: rounds, usd, seconds."""
    return getattr(policy, "limits", {})
