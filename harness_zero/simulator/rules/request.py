"""Rules on the fields of a request, its messages apart."""

from collections.abc import Iterator
from typing import Any

from harness_zero.brief import brief
from harness_zero.simulator.rule import Asked, Refusal, is_blank, rule

SDK = "anthropic SDK 2.10.0, message_create_params.py"
REPORTS = "public issue reports"

FIELDS: dict[str, Any] = {
    "model": str,
    "max_tokens": int,
    "messages": list,
    "system": (str, list),
    "tools": list,
    "tool_choice": dict,
    "stop_sequences": list,
    "stream": bool,
    "thinking": dict,
    "metadata": dict,
    "cache_control": dict,
    "output_config": dict,
    "service_tier": str,
    "temperature": (int, float),
    "top_p": (int, float),
    "top_k": int,
    "speed": str,
    "diagnostics": dict,
    "container": (str, dict),
    "inference_geo": str,
    "user_profile_id": str,
    "workspace_id": str,
    "context_management": dict,
    "mcp_servers": list,
    "thread": dict,
    "compaction": dict,
    "fallbacks": (str, list),
    "billing_policy": (str, dict),
    "fallback_credit_token": str,
}
DEMANDED = ("model", "max_tokens", "messages")
WORDS = {list: "list", dict: "dictionary", str: "string", int: "integer", bool: "boolean"}


@rule(
    "a request names a model, max_tokens and messages",
    "request",
    "anthropic SDK 2.10.0; wording in tickernelz/opencode-mem#50",
    "2026-03-03",
)
def required(asked: Asked) -> Iterator[Refusal]:
    counting = () if asked.counting else ("max_tokens",)
    for name in ("model", *counting, "messages"):
        if name not in asked.body:
            yield Refusal(f"{name}: Field required", f"The request has no {name}; add it.")


@rule(
    "a request holds fields that the API knows, each of its type",
    "request",
    "wording in anthropics/claude-code#14135 (fields) and in the style of pydantic (types)",
    "2025-12-16",
    "reported",
)
def known_fields(asked: Asked) -> Iterator[Refusal]:
    for name, value in asked.body.items():
        if name not in FIELDS or (asked.counting and name == "max_tokens"):
            mend = f"The API knows no field {brief(name)} here; is it a slip? Else leave it out."
            yield Refusal(f"{name}: Extra inputs are not permitted", mend)
        elif not fits(value, FIELDS[name]) and not (value is None and name not in DEMANDED):
            kinds = FIELDS[name] if isinstance(FIELDS[name], tuple) else (FIELDS[name],)
            wanted = WORDS.get(kinds[-1], "number")
            message = f"{name}: Input should be a valid {wanted}"
            yield Refusal(message, f"The field {name} is {brief(value)}, and no {wanted}.")


def fits(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of a type; true is no number."""
    return isinstance(value, kind) and (not isinstance(value, bool) or kind is bool)


@rule("the model exists", "request", "wording in public issue reports", "2026-08-21", "reported")
def model_exists(asked: Asked) -> Iterator[Refusal]:
    if not asked.model.name:
        name = asked.body["model"]
        mend = f"There is no model {brief(name)}; GET /v1/models lists those that there are."
        yield Refusal(f"model: {name}", mend, 404)


@rule("messages is not empty", "request", REPORTS, "2026-11-29", "reported")
def some_messages(asked: Asked) -> Iterator[Refusal]:
    if not asked.messages:
        message = "messages: at least one message is required"
        yield Refusal(message, "The array is empty; it begins with a message of the user.")


@rule(
    "max_tokens is no more than the model can say",
    "request",
    "anthropic SDK 2.10.0; wording in public issue reports",
    "2026-11-29",
)
def max_tokens_fit(asked: Asked) -> Iterator[Refusal]:
    asks = asked.body.get("max_tokens", 1)
    most = asked.model.longest or asked.model.window  # no reply is longer than the window
    if asks < 0:
        message = "max_tokens: Input should be greater than or equal to 0"
        yield Refusal(message, f"max_tokens is {asks}; give the longest reply that you want.")
    elif asks > most:
        limit = f"which is the maximum allowed number of output tokens for {asked.model.name}"
        mend = f"{asked.model.name} says {most} tokens at most; ask for no more."
        yield Refusal(f"max_tokens: {asks} > {most}, {limit}", mend)


SAMPLING = ("temperature", "top_p", "top_k")


@rule(
    "sampling parameters are gone since API version 2026-10-21",
    "request",
    "Claude documentation, api/migration-2026-10-21",
    "2026-11",
    wording="ours",
)
def no_sampling(asked: Asked) -> Iterator[Refusal]:
    if asked.version < "2026-10-21":
        return
    for name in SAMPLING:
        if name in asked.body:
            message = f"{name}: Extra inputs are not permitted"
            mend = f"Since API version 2026-10-21 there is no {name}, at its default neither."
            yield Refusal(message, f"{mend} Leave it out.")


@rule("system is a text or text blocks, and none is blank", "request", SDK, wording="ours")
def system_is_text(asked: Asked) -> Iterator[Refusal]:
    system = asked.body.get("system") or []
    for index, block in enumerate([] if isinstance(system, str) else system):
        if not (isinstance(block, dict) and block.get("type") == "text"):
            message = f"system.{index}: Input should be a valid text block"
            yield Refusal(message, f"Block {index} of system is no text block: {brief(block)}.")
        elif not isinstance(block.get("text"), str):
            message = f"system.{index}.text: Input should be a valid string"
            yield Refusal(message, f"Block {index} of system has no text: {brief(block)}.")
        elif is_blank(block["text"]):
            message = "system: text content blocks must be non-empty"
            yield Refusal(message, f"Block {index} of system is blank; leave it out.")


@rule(
    "a message thread is refused in the way on which the SDK sends the whole history instead",
    "request",
    "anthropic SDK 2.10.0, tool runner; not offered by this offline API",
    "2026-11-17",
    wording="ours",
)
def no_threads(asked: Asked) -> Iterator[Refusal]:
    if asked.body.get("thread") is not None:
        message = "thread: this request cannot be served as a thread"
        mend = (
            "This offline API keeps no threads; the SDK's tool runner sends all messages instead."
        )
        yield Refusal(message, mend, code="thread_unsupported_request")


@rule(
    "stop sequences are texts, and not blank",
    "request",
    SDK,
    confidence="assumed",
    wording="ours",
)
def stops_are_texts(asked: Asked) -> Iterator[Refusal]:
    for index, sequence in enumerate(asked.body.get("stop_sequences") or ()):
        if not isinstance(sequence, str) or is_blank(sequence):
            message = f"stop_sequences.{index}: Input should be a valid string with a word in it"
            yield Refusal(message, f"Stop sequence {index} is {brief(sequence)}.")


THINKING = "Claude documentation, extended and adaptive thinking"
THINKS = ("enabled", "adaptive", "disabled", "between_tools")


@rule("thinking is set to what the model can do", "request", THINKING)
def thinking_fits(asked: Asked) -> Iterator[Refusal]:
    thinking = asked.body.get("thinking")
    if thinking is None:
        return
    kind, model = thinking.get("type"), asked.model
    if kind not in THINKS:
        tags = ", ".join(f"'{name}'" for name in THINKS)
        message = f"thinking: Input tag '{kind}' found using 'type' does not match any of: {tags}"
        yield Refusal(message, f"thinking is set to {kind!r}; there are {tags}.")
    elif kind not in model.thinks:
        yield Refusal(UNFIT[kind], f"{model.name} takes {' or '.join(model.thinks)} for thinking.")


UNFIT = {
    "enabled": (
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.'
    ),
    "adaptive": "adaptive thinking is not supported on this model",
    "disabled": '"thinking.type.disabled" is not supported for this model.',
    "between_tools": '"thinking.type.between_tools" is not supported for this model.',
}


@rule("a thinking budget is at least 1,024 tokens, and less than max_tokens", "request", THINKING)
def thinking_budget(asked: Asked) -> Iterator[Refusal]:
    thinking = asked.body.get("thinking") or {}
    budget, most = thinking.get("budget_tokens"), asked.body.get("max_tokens")
    if thinking.get("type") != "enabled":
        return
    if budget is not None and not fits(budget, int):
        message = "thinking.enabled.budget_tokens: Input should be a valid integer"
        yield Refusal(message, f"The budget for thinking is {brief(budget)}; it is a whole number.")
    elif budget is None:
        message = "thinking.enabled.budget_tokens: Field required"
        yield Refusal(message, "Thinking is enabled and has no budget_tokens.")
    elif budget < 1024:
        message = "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        yield Refusal(message, f"The budget for thinking is {budget}; 1024 is the least.")
    elif most is not None and budget >= most:
        message = "`max_tokens` must be greater than `thinking.budget_tokens`."
        mend = f"Thinking may take {budget} tokens and the whole reply {most}: nothing is left."
        yield Refusal(message, mend)


RULES = (
    required,
    known_fields,
    model_exists,
    some_messages,
    no_threads,
    max_tokens_fit,
    no_sampling,
    system_is_text,
    stops_are_texts,
)
THINKING_RULES = (thinking_fits, thinking_budget)
