"""Messages and content blocks, in the shape in which the Messages API sends them.

They are plain dicts, so what you print is what travels on the wire. A reply
carries more than the wire wants back (stop_reason, usage, cost_usd); `said` keeps the
part that becomes a message.
"""

from collections import Counter
from itertools import groupby, pairwise
from typing import Any

from harness_zero.brief import brief

Block = dict[str, Any]  # {"type": "text" | "tool_use" | "tool_result", ...}
Message = dict[str, Any]  # {"role": "user" | "assistant", "content": [Block, ...]}
Reply = dict[str, Any]  # {"content": [...], "stop_reason": str, "usage": {}, "cost_usd": USD}


def user(*blocks: Block | str) -> Message:
    """A message to the model: a prompt, or the results of the tools it called."""
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def text(words: str) -> Block:
    """Words, as a content block."""
    return {"type": "text", "text": words}


def tool_use(id: str, name: str, **input: Any) -> Block:
    """A tool call: the model asks for the tool `name` with these arguments."""
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(id: str, content: str, is_error: bool = False) -> Block:
    """The answer to the tool call with this id."""
    result: Block = {"type": "tool_result", "tool_use_id": id, "content": content}
    if is_error:
        result["is_error"] = True
    return result


def not_executed(call: Block, why: str) -> Block:
    """The result of a call that was never made: the model must not guess that it was."""
    return tool_result(call["id"], f"not executed: {why}", is_error=True)


def outcome_unknown(call: Block) -> Block:
    """The result of a call that was begun, until it has one of its own."""
    return tool_result(call["id"], "interrupted, outcome unknown", is_error=True)


def with_words(result: Block, words: str) -> Block:
    """The same result with words from the harness at its end."""
    content = result.get("content") or ""
    if isinstance(content, list):
        return {**result, "content": [*content, text(words)]}
    return {**result, "content": f"{content}\n\n{words}" if content else words}


def reply(*blocks: Block | str, stop_reason: str = "", tokens: int = 0, cost: float = 0.0) -> Reply:
    """A model's reply, with what it declares to have cost in USD.

    Its stop_reason follows from its blocks unless it is given.
    """
    content = user(*blocks)["content"]
    asks = any(block["type"] == "tool_use" for block in content)
    stop_reason = stop_reason or ("tool_use" if asks else "end_turn")
    usage = {"input_tokens": 0, "output_tokens": tokens}
    return {"content": content, "stop_reason": stop_reason, "usage": usage, "cost_usd": cost}


def said(reply: Reply) -> Message:
    """What a reply leaves in the array. The API takes no blank text back, so none is kept."""
    try:
        content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
    except (TypeError, KeyError, AttributeError):
        wants = "said() takes a reply, as a model gives it and reply('...') makes it"
        raise TypeError(f"{wants}; it was given {brief(reply)}") from None
    return {"role": "assistant", "content": content}


def reply_fault(reply: Any) -> str | None:
    """Why this is no reply, in words; None if it is one."""
    if not isinstance(reply, dict) or not isinstance(reply.get("content"), list):
        return f"the reply has no list of content blocks but is {brief(reply, 200)}"
    for block in reply["content"]:
        if fault := block_fault(block):
            return f"the reply {fault}"
    if not isinstance(reply.get("stop_reason", 0), str | None):
        return f"the reply has no stop_reason but {brief(reply.get('stop_reason'))}"
    usage, cost = reply.get("usage"), reply.get("cost_usd", 0.0)
    if not isinstance(usage, dict):
        return f"the reply has no usage but {brief(usage)}"
    if not (cost is None or (isinstance(cost, int | float) and cost >= 0)):
        return f"the reply has no cost in USD but {brief(cost)}"
    return None


def tokens(usage: dict[str, Any]) -> int:
    """All tokens of a reply: read and written, from the cache or not."""
    counters = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(name) or 0 for name in (*counters, "output_tokens"))


def blocks(message: Message | Reply) -> list[Block]:
    """A message's content as blocks; the API takes a bare string for one text block."""
    content = message["content"]
    return [text(content)] if isinstance(content, str) else content


def tool_uses(message: Message | Reply) -> list[Block]:
    """The tool calls that a message asks for, in order."""
    return [block for block in blocks(message) if block["type"] == "tool_use"]


def tool_results(message: Message) -> list[Block]:
    """The results that a message brings, in order."""
    return [block for block in blocks(message) if block["type"] == "tool_result"]


def words(message: Message | Reply) -> str:
    """What a message says in text, without its calls and results."""
    return "\n".join(block["text"] for block in blocks(message) if block["type"] == "text")


def pairing_fault(asking: Message, answering: Message | None) -> str | None:
    """What is wrong between a message and the next one, in words; None if nothing is.

    Every call is answered once, in the message right after it, in the order of
    the calls, and before any text. Only the two messages are looked at, so a
    loop that checks each new pair does the same work in round 5 and in round 5,000.
    """
    asked = [call["id"] for call in tool_uses(asking)]
    answered = [result["tool_use_id"] for result in tool_results(answering)] if answering else []
    if missing := [id for id in asked if id not in answered]:
        return f"{', '.join(missing)} asked for and not answered in the next message"
    if strangers := [id for id in answered if id not in asked]:
        return f"{', '.join(strangers)} answered but not asked for in the message before"
    if len(answered) > len(asked):
        return f"{', '.join(asked)} answered more than once"
    if answered != asked:
        return f"answered in the order {', '.join(answered)}, asked in the order {', '.join(asked)}"
    leading = blocks(answering)[: len(answered)] if answering else []
    if any(block["type"] != "tool_result" for block in leading):
        return "text stands before the results; results come first"
    return None


def request_fault(messages: list[Message]) -> str | None:
    """What keeps an array from being sent, in words; None if it can be."""
    if fault := array_fault(messages):
        return fault
    return None if messages[-1]["role"] == "user" else "the array ends with the model's own message"


def array_fault(messages: list[Message]) -> str | None:
    """What is wrong with an array, whoever spoke last, in words; None if nothing is.

    Messages of one role in a row are one message to the API, so they are here.
    """
    if not isinstance(messages, list):
        return f"an array is a list of messages, not {brief(messages)}"
    if not messages:
        return "the array is empty; it begins with a message of the user"
    for at, message in enumerate(messages):
        if fault := shape_fault(message):
            return f"message {at} {fault}"
    merged = merge(messages)
    if merged[0]["role"] != "user":
        return f"message 0 has the role {merged[0]['role']!r}; an array begins with the user"
    numbered = numbers(messages)
    for number, message in zip(numbered, merged, strict=True):
        if fault := content_fault(message):
            return f"message {number} {fault}"
    if fault := pairing_fault({"content": []}, merged[0]):
        return f"message {numbered[0]}: {fault}"
    for (one, other), (message, after) in zip(pairwise(numbered), pairwise(merged), strict=True):
        if fault := pairing_fault(message, after):
            return f"messages {one} and {other}: {fault}"
    if fault := pairing_fault(merged[-1], None):
        return f"message {numbered[-1]}: {fault}"
    if again := repeated([call["id"] for message in merged for call in tool_uses(message)]):
        return f"the id {again} is used by two calls"
    return None


def numbers(messages: list[Message]) -> list[str]:
    """The numbers of the messages that are one to the API: 0, or 1-2 for two neighbours."""
    groups = [[*group] for _, group in groupby(range(len(messages)), lambda n: messages[n]["role"])]
    return [str(g[0]) if len(g) == 1 else f"{g[0]}-{g[-1]}" for g in groups]


def repeated(ids: list[str]) -> str | None:
    """The first id that stands there twice."""
    return next((id for id, times in Counter(ids).items() if times > 1), None)


def shape_fault(message: Any) -> str | None:
    """What is wrong with the form of one message, before what it says."""
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return f"is no dict with the role user or assistant: {brief(message)}"
    content = message.get("content")
    if isinstance(content, str):
        return None
    if not isinstance(content, list):
        return f"has no list of content blocks: {brief(content)}"
    return next((fault for block in content if (fault := block_fault(block))), None)


TEXTS = {"text": ("text",), "tool_use": ("id", "name"), "tool_result": ("tool_use_id",)}


def block_fault(block: Any) -> str | None:
    """What is wrong with the form of one content block."""
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return f"holds something that is no content block: {brief(block)}"
    for name in TEXTS.get(block["type"], ()):
        if not isinstance(block.get(name), str):
            return f"holds a {block['type']} whose {name} is no text: {brief(block)}"
    if block["type"] == "tool_use" and "input" not in block:
        return f"holds a tool_use without input: {brief(block)}"
    return None


def content_fault(message: Message) -> str | None:
    """What is wrong inside one message of the right form."""
    if not blocks(message):
        return "has no content"
    for block in blocks(message):
        if block["type"] == "text" and not str(block["text"]).strip():
            return "holds a blank text block"
        if block["type"] == "tool_result" and not isinstance(block.get("content", ""), str | list):
            return f"holds a result that is no text: {brief(block['content'])}"
    return None


def merge(messages: list[Message]) -> list[Message]:
    """Neighbours of one role joined into one message, as the API reads them."""
    return [
        {"role": role, "content": [block for message in group for block in blocks(message)]}
        for role, group in groupby(messages, key=lambda message: message["role"])
    ]
