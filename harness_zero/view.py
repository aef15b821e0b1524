"""Views: what the model is sent. The plain one sends the run as it stands."""

from collections.abc import Sequence
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
