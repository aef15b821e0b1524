"""Every way in which a call can end, to put into a script: stop reasons, errors, broken lines.

Each is one entry of a script, or what a function gives back for a reply.
"""

from dataclasses import replace
from typing import Any

from harness_zero.messages import Block, Reply, reply
from harness_zero.simulator.exchange import Answer
from harness_zero.simulator.rule import kind_of

CATEGORIES = ("cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")


def cut_text(words: str) -> Reply:
    """A text that max_tokens cut off."""
    return reply(words, stop_reason="max_tokens")


def cut_call(id: str, name: str, /, **whole: Any) -> Reply:
    """A call that max_tokens cut off; its arguments are those that were complete by then."""
    call = {"type": "tool_use", "id": id, "name": name, "input": whole}
    return reply(call, stop_reason="max_tokens")


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


def unknown_reason(name: str | None = "tea_time", *blocks: Block | str) -> Reply:
    """A reply with a stop_reason that nobody knows yet, or with none."""
    return {**reply(*blocks), "stop_reason": name}


def unknown_block(kind: str = "hologram", /, **fields: Any) -> Reply:
    """A reply with a block of a type that nobody knows yet."""
    return reply({**fields, "type": kind})


MESSAGES = {
    400: "invalid request",
    401: "invalid x-api-key",
    402: "Your credit balance is too low",
    403: "Your API key does not have permission to use the specified resource",
    404: "Not Found",
    408: "Request timed out",
    409: "Conflict",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your rate limit",
    500: "Internal server error",
    503: "Service unavailable",
    504: "Gateway timed out",
    529: "Overloaded",
}


def failed(
    status: int, retry_after: float | None = None, words: str = "", **headers: str
) -> Answer:
    """An error with this status; `retry_after` in seconds, if the answer is to say when.

    Further headers by name, with _ for -: x_should_retry="false".
    """
    if type(status) is not int or not 400 <= status <= 599:
        raise ValueError(f"a failure has a status from 400 to 599, not {status!r}")
    told = {"type": kind_of(status), "message": words or MESSAGES.get(status, "it failed")}
    wait = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    others = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"type": "error", "error": told}, status, {**wait, **others})


def lost_before() -> Answer:
    """The connection breaks before the request arrived: nothing has happened."""
    return Answer(None, lost="before")


def lost_after(given: Reply | Answer | None = None) -> Answer:
    """The connection breaks after the reply was made: it has happened, and nobody hears of it."""
    return replace(as_answer(given), lost="after")


def slow(seconds: float, given: Reply | Answer) -> Answer:
    """The answer takes so long; a client that does not wait gives up before."""
    return replace(as_answer(given), seconds=seconds)


def as_answer(given: Reply | Answer | None) -> Answer:
    """A reply as an answer; an answer as it is."""
    return given if isinstance(given, Answer) else Answer(given)
