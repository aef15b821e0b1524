"""Every way in which a call can end, to put into a script: stop reasons, errors, broken lines.

Each is one entry of a script, or what a function gives back for a reply.
"""

from typing import Any

from harness_zero.messages import Block, Reply, reply, tool_use
from harness_zero.simulator.exchange import Answer
from harness_zero.simulator.rule import kind_of

CATEGORIES = ("cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")


def cut_text(words: str) -> Reply:
    """A text that max_tokens cut off."""
    return reply(words, stop_reason="max_tokens")


def cut_call(id: str, name: str, **whole: Any) -> Reply:
    """A call that max_tokens cut off; its arguments are those that were complete by then."""
    return reply(tool_use(id, name, **whole), stop_reason="max_tokens")


def stopped_at(sequence: str, words: str = "") -> Reply:
    """A reply that ended at one of the request's own stop sequences."""
    blocks = (words,) if words else ()
    return {**reply(*blocks, stop_reason="stop_sequence"), "stop_sequence": sequence}


def refused(category: str = "general_harms", explanation: str = "") -> Reply:
    """A reply that the safety classifiers stopped; the status is 200."""
    if category not in CATEGORIES:
        raise ValueError(
            f"a refusal's category is one of {', '.join(CATEGORIES)}, not {category!r}"
        )
    details = {"type": "refusal", "category": category, "explanation": explanation or None}
    return {**reply(stop_reason="refusal"), "stop_details": details}


def paused(*blocks: Block | str) -> Reply:
    """A pause among the server's own tools: append it unchanged and call again."""
    return reply(*blocks, stop_reason="pause_turn")


def window_exceeded(words: str) -> Reply:
    """A reply that ended because the context window was full."""
    return reply(words, stop_reason="model_context_window_exceeded")


def nothing() -> Reply:
    """An empty reply that calls itself finished."""
    return reply(stop_reason="end_turn")


def unknown_reason(name: str = "tea_time", *blocks: Block | str) -> Reply:
    """A reply with a stop_reason that nobody knows yet."""
    return reply(*blocks, stop_reason=name)


def unknown_block(kind: str = "hologram", **fields: Any) -> Reply:
    """A reply with a block of a type that nobody knows yet."""
    return reply({"type": kind, **fields})


MESSAGES = {
    400: "invalid request",
    401: "invalid x-api-key",
    402: "Your credit balance is too low",
    403: "Your API key does not have permission to use the specified resource",
    404: "Not Found",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your rate limit",
    500: "Internal server error",
    529: "Overloaded",
}


def failed(
    status: int, retry_after: float | None = None, words: str = "", **headers: str
) -> Answer:
    """An error with this status; `retry_after` in seconds, if the answer is to say when."""
    told = {"type": kind_of(status), "message": words or MESSAGES.get(status, "it failed")}
    wait = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return Answer({"type": "error", "error": told}, status, {**wait, **headers})


def lost_before() -> Answer:
    """The connection breaks before the request arrived: nothing has happened."""
    return Answer(None, lost="before")


def lost_after(given: Reply) -> Answer:
    """The connection breaks after the reply was made: it has happened, and nobody hears of it."""
    return Answer(given, lost="after")


def slow(seconds: float, given: Reply) -> Answer:
    """The reply takes so long; a client that does not wait gives up before."""
    return Answer(given, seconds=seconds)
