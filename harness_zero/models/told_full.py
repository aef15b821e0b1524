"""Told full: the API's refusal of a request that is too long, as a reply that says so.

It wraps a model and keeps its signature. A window that is full then shows in one way, whether
the request did not fit or the reply did not.
"""

import re

from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.ports import Model, Request

# No kind of error stands for it, so it is told by its words, as far as they are known.
REFUSED = re.compile(r"prompt is too long", re.IGNORECASE)


def told_full(model: Model) -> Model:
    """The same model; a prompt that is too long ends as `model_context_window_exceeded`."""

    def speak(request: Request) -> Reply:
        try:
            return model(request)
        except ModelFailed as failure:
            if REFUSED.search(str(failure)):
                return no_room()
            raise

    return speak


def no_room() -> Reply:
    """A reply without a word in it. What is refused is not billed."""
    usage = {"input_tokens": 0, "output_tokens": 0}
    reason = "model_context_window_exceeded"
    return {"content": [], "stop_reason": reason, "usage": usage, "cost_usd": 0.0}
