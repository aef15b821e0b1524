"""What a model says, held to what the request allows: its length, its stop words, its tools."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from harness_zero.messages import Block, Reply, text
from harness_zero.simulator.catalogue import Facts
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.judge import characters


def tokens(count: int, model: Facts) -> int:
    """About how many tokens so many characters are; no tokenizer of the real models is public."""
    return ceil(count / model.characters)


def weight(block: Block) -> int:
    """How many characters of a block the model wrote."""
    if block["type"] == "text":
        return len(block["text"])
    if block["type"] == "tool_use":
        return len(block["name"]) + characters(block["input"])
    return characters(block)


def held(reply: Reply, body: Body, model: Facts) -> Reply:
    """The reply as this request would have it: a call that it forbids, or words beyond its end."""
    reply = {**reply, "content": list(reply.get("content") or [])}
    return within(stopped(chosen(reply, body.get("tool_choice") or {}), body), body, model)


def chosen(reply: Reply, choice: dict[str, Any]) -> Reply:
    """Without what tool_choice does not allow: calls, or words before a call that was forced."""
    calls = [block for block in reply["content"] if block["type"] == "tool_use"]
    kept = [call for call in calls if choice.get("name") in (None, call["name"])]
    kept = [] if choice.get("type") == "none" else kept
    kept = kept[:1] if choice.get("disable_parallel_tool_use") else kept
    forced = choice.get("type") in ("any", "tool") and kept
    left = [b for b in reply["content"] if b in kept or b["type"] != "tool_use"]
    content = [b for b in left if not (forced and b["type"] == "text")]
    if content == reply["content"]:
        return reply
    content = content or [text("I was not allowed to use a tool.")]
    return {**reply, "content": content, **({} if kept else {"stop_reason": "end_turn"})}


def stopped(reply: Reply, body: Body) -> Reply:
    """Cut at the first of the request's own stop sequences, if one is said."""
    for at, block in enumerate(reply["content"]):
        if block["type"] != "text":
            continue
        found = [(block["text"].find(s), s) for s in body.get("stop_sequences") or () if s]
        for place, sequence in sorted(pair for pair in found if pair[0] >= 0):
            left = [text(block["text"][:place])] if place else []
            content = [*reply["content"][:at], *left]
            return {
                **reply,
                "content": content,
                "stop_reason": "stop_sequence",
                "stop_sequence": sequence,
            }
    return reply


def within(reply: Reply, body: Body, model: Facts) -> Reply:
    """Cut where max_tokens ends: in the midst of a text, or of a call's arguments."""
    most = body.get("max_tokens")
    room = int((most or 0) * model.characters)
    if most is None or (most and sum(map(weight, reply["content"])) <= room):
        return reply
    return {**reply, "content": [*cut(reply["content"], room)], "stop_reason": "max_tokens"}


def cut(content: list[Block], room: int) -> Iterator[Block]:
    """The blocks that fit into so many characters, the last one cut."""
    for block in content:
        if weight(block) > room:
            yield from shortened(block, room)
            return
        room -= weight(block)
        yield block


def shortened(block: Block, room: int) -> Iterator[Block]:
    """What is left of a block that is cut off: some words, or the arguments that were whole."""
    if block["type"] == "text" and room:
        yield text(block["text"][:room])
    if block["type"] == "tool_use" and room > len(block["name"]):
        yield {**block, "input": dict(whole_arguments(block["input"], room - len(block["name"])))}


def whole_arguments(given: dict[str, Any], room: int) -> Iterator[tuple[str, Any]]:
    """The arguments that are complete where the text ends, as a lenient parser reads them."""
    for name, value in given.items():
        room -= characters({name: value})
        if room < 0:
            return
        yield name, value
