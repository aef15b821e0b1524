"""Summaries: what stands in place of messages that are left out."""

import json
from collections.abc import Callable
from typing import Any

from harness_zero.brief import excerpt
from harness_zero.layers import layer
from harness_zero.messages import Block, Message, Reply, blocks, tool_results, user, words
from harness_zero.ports import Model

HEADING = "The middle of this conversation is left out here. A summary of it:"
LONGEST = 120  # characters of a call or a result in the plain summary
WHOLE = 20_000  # and of all of it
TASK = (
    "Below is the record of work that an agent has done so far. Write the notes that it needs"
    " to go on without the record: what the user asked for, in their words; what was done and"
    " found, with paths, names and numbers; what failed and why; what is left to do."
)


def gist(messages: list[Message]) -> str:
    """A summary without a model: what the user said, and a line for each call and each result.

    What grows too long is cut in its middle: it begins with the prompt and ends with the newest.
    """
    return excerpt("\n".join(line for message in messages for line in told(message)), WHOLE)


def written_by(model: Model, task: str = TASK) -> Callable[[list[Message]], Reply]:
    """A summary by a model, which is sent the record as text and no tools."""

    def summary(messages: list[Message]) -> Reply:
        return model({"messages": [user(f"{task}\n\n{transcript(messages)}")]})

    return layer("a summary", summary, asks=model)


def transcript(messages: list[Message]) -> str:
    """Messages as text, whole; what the model thought is left out."""
    return "\n".join(line(m["role"], b) for m in messages for b in blocks(m) if not hidden(b))


def told(message: Message) -> list[str]:
    """The lines of one message in the plain summary; the user's words are not cut.

    A summary that stands there already is told as the user's words, and goes on whole.
    """
    if message["role"] == "user" and not tool_results(message):
        return [words(message).removeprefix(f"{HEADING}\n")]
    shown = [line(message["role"], block) for block in blocks(message) if not hidden(block)]
    return [excerpt(each, LONGEST).replace("\n", " ") for each in shown]


def line(role: str, block: Block) -> str:
    """One block as text."""
    if block["type"] == "text":
        return f"{role}: {block['text']}"
    if block["type"] == "tool_use":
        return (
            f"call {block['name']}({json.dumps(block['input'], ensure_ascii=False, default=str)})"
        )
    if block["type"] == "tool_result":
        return f"{'error' if block.get('is_error') else 'result'}: {content_of(block)}"
    return f"{role}: [{block['type']}]"


def content_of(result: Block) -> str:
    """What a result says in text."""
    content = result.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(map(shown, content))


def shown(block: Any) -> str:
    """A block of a result as text; of what is no text only that it was there."""
    if not isinstance(block, dict):
        return str(block)
    return str(block.get("text") or f"[{block.get('type')}]")


def hidden(block: Block) -> bool:
    """Whether a block is the model's thinking."""
    return "thinking" in block["type"]
