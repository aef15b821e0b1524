"""A real model behind the Messages API. The only file that knows the SDK."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from harness_zero.messages import Message, Reply
from harness_zero.models.scripted import Model
from harness_zero.tools import schemas

DEFAULT_MODEL = "claude-sonnet-5"
MAX_TOKENS = 8192  # of one reply


class ModelFailed(Exception):
    """The model gave no reply: what is the matter, and what to do."""


def reachable() -> bool:
    """Whether the environment names a key or a local endpoint."""
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
    return any(os.environ.get(name) for name in names)


def model_name() -> str:
    """The model that HARNESS_ZERO_MODEL names, or the default."""
    return os.environ.get("HARNESS_ZERO_MODEL") or DEFAULT_MODEL


def claude(tools: Mapping[str, Callable[..., Any]], client: Any = None) -> Model:
    """A model that sends the array to the Messages API, with these tools. Raises ModelFailed."""
    import anthropic

    if client is None:
        local = os.environ.get("ANTHROPIC_BASE_URL") and not os.environ.get("ANTHROPIC_API_KEY")
        client = anthropic.Anthropic(api_key="local" if local else None)
    asked: dict[str, Any] = {
        "model": model_name(),
        "max_tokens": MAX_TOKENS,
        "tools": schemas(tools),
    }

    def speak(messages: list[Message]) -> Reply:
        try:
            message = client.messages.create(messages=messages, **asked)
        except anthropic.APIError as error:
            raise ModelFailed(advice(error)) from error
        return {
            "content": [block.to_dict() for block in message.content],
            "stop_reason": message.stop_reason,
            "usage": message.usage.to_dict(),
        }

    return speak


def advice(error: Any) -> str:
    """What went wrong with a call, and what to do about it."""
    status = getattr(error, "status_code", None)
    if status in (401, 403):
        return f"the key was refused ({status}); look at ANTHROPIC_API_KEY."
    if status == 404:
        return f"there is no model {model_name()!r} here (404); HARNESS_ZERO_MODEL names another."
    if status is None:
        return "no answer came back; is the network up, and ANTHROPIC_BASE_URL right if it is set?"
    return f"the API answered {status}: {getattr(error, 'api_message', '') or error}"
