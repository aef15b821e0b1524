"""A real model behind the Messages API. The only file that knows the SDK."""

from __future__ import annotations

import os
from typing import Any

from harness_zero.brief import cut
from harness_zero.keys import without_keys
from harness_zero.loop import ModelFailed
from harness_zero.messages import Reply
from harness_zero.models.prices import cost_usd
from harness_zero.ports import Model, Request

DEFAULT_MODEL = "claude-sonnet-5"
MAX_TOKENS = 8192  # of one reply
RETRIES = 2  # by the SDK, inside of a call; nobody else asks again
LONGEST = 300  # characters of what a server says
REACH = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")


def reachable() -> bool:
    """Whether the environment names a key or an endpoint."""
    return any(os.environ.get(name) for name in REACH)


def model_name() -> str:
    """The model that HARNESS_ZERO_MODEL names, or the default."""
    return os.environ.get("HARNESS_ZERO_MODEL") or DEFAULT_MODEL


def claude(offline: Any = None, client: Any = None) -> Model:
    """A model that sends each request to the Messages API. Raises ModelFailed.

    With a key or an endpoint in the environment that is a real one; without, the same
    code and the real SDK talk to `offline` in this process: a model of ours, a script,
    or an `Api` of the simulator whose log you want to read.
    """
    import anthropic

    from harness_zero.simulator.api import Api

    api = offline if isinstance(offline, Api) or offline is None else Api(offline)
    try:
        client = client or connect(api)
    except ModelFailed:
        raise
    except Exception as error:
        raise ModelFailed(f"no client can be made: {masked(str(error))}") from error

    def speak(request: Request) -> Reply:
        asked = {"model": model_name(), "max_tokens": MAX_TOKENS, **request}
        try:
            # raw, so that a block of a kind that this SDK does not know stays as it came
            raw = client.messages.with_raw_response.create(**asked).http_response
        except anthropic.APIError as error:
            line = api.line(getattr(error, "request_id", None)) if api else None
            if line and line.fault:
                raise line.fault from error
            told = f"{line.status}: {line.words}" if line and line.status >= 500 else ""
            words = f"the API answered {told}" if told else advice(error, asked["model"])
            raise ModelFailed(masked(words)) from error
        except (TypeError, ValueError) as error:
            raise ModelFailed(f"the request cannot be sent: {masked(str(error))}") from error
        try:
            answer = raw.json()
        except ValueError as error:
            raise ModelFailed(f"the answer is no JSON; is {REACH[2]} a Messages API?") from error
        if not isinstance(answer, dict):
            raise ModelFailed(f"the answer is no message: {masked(repr(answer))}")
        return as_reply(answer, asked["model"])

    return speak


def connect(offline: Any) -> Any:
    """The SDK's client: of the real API if it can be reached, else of the one in this process."""
    import anthropic

    if reachable():
        # A local server wants no key, and the SDK will not speak without one.
        keyless = not (os.environ.get(REACH[0]) or os.environ.get(REACH[1]))
        return anthropic.Anthropic(api_key="none" if keyless else None, max_retries=RETRIES)
    if offline is None:
        raise ModelFailed(f"nobody is there to answer: set {REACH[0]}, or {REACH[2]}.")
    import httpx2

    from harness_zero.simulator.transport import transport

    served = httpx2.Client(transport=transport(offline))
    return anthropic.Anthropic(
        api_key="offline",
        base_url="http://offline",
        http_client=served,
        max_retries=RETRIES,
    )


def as_reply(answer: dict[str, Any], model: str) -> Reply:
    """The API's answer in our shape: plain dicts, and what it cost."""
    usage = counters(answer.get("usage"))
    known = {"input_tokens", "output_tokens"} <= usage.keys()
    return {
        "content": answer.get("content") or [],
        "stop_reason": answer.get("stop_reason"),
        "usage": usage,
        "cost_usd": cost_usd(usage, model) if known else None,
    }


def counters(given: Any) -> dict[str, Any]:
    """The counts of tokens that a server gives, and how long what was written is to live."""
    if not isinstance(given, dict):
        return {}
    inner = {"cache_creation": counts} if (counts := counters(given.get("cache_creation"))) else {}
    return {name: n for name, n in given.items() if isinstance(n, int) and n >= 0} | inner


def masked(words: str) -> str:
    """Words without a key in them, and not a page of them."""
    return cut(without_keys(words), LONGEST)


def advice(error: Any, model: str) -> str:
    """What went wrong with a call, and what to do about it."""
    status = getattr(error, "status_code", None)
    if status in (401, 403):
        return f"the key was refused ({status}); look at {REACH[0]}."
    if status == 404:
        return f"there is no model {model!r} here (404); HARNESS_ZERO_MODEL names another."
    if status is None:
        return f"no answer came back; is the network up, are {REACH[2]} and the key well formed?"
    return f"the API answered {status}: {getattr(error, 'api_message', None) or error}"
