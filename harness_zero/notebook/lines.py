"""Messages in lines of text, one a content block, the same on every machine."""

import json
from collections.abc import Iterator
from typing import Any

from harness_zero.messages import Message, blocks, shape_fault
from harness_zero.watch import as_call, clipped, printable


def show_messages(messages: list[Message], at: int = 0) -> None:
    """Print messages, one line a content block; `at` is the number of the first one.

    What is no message is shown as what it is, since that is what one wants to see.
    """
    if not isinstance(messages, list):
        print(clipped(f"no list of messages: {one_line(repr(messages))}"))
        return
    for number, message in enumerate(messages, at):
        for line in message_lines(message):
            print(clipped(f"{number:>3}  {line}".rstrip()))


def message_lines(message: Any) -> Iterator[str]:
    """A message as lines: its role and a block each, or what is wrong with it."""
    if fault := shape_fault(message):
        yield one_line(fault)
    else:
        yield from (f"{message['role']:<9}  {block_line(block)}" for block in blocks(message))


def block_line(block: dict) -> str:
    """One content block in one line: what kind it is, whose id it carries, what it says."""
    if block["type"] == "text":
        return f"text         {one_line(block['text'])}"
    if block["type"] == "tool_use":
        return f"tool_use     {block['id']}  {called(block)}"
    if block["type"] == "tool_result":
        return f"tool_result  {block['tool_use_id']}  {one_line(block.get('content', ''))}"
    return f"{block['type']}  {one_line(json.dumps(block))}"


def called(block: dict) -> str:
    """A call as one would write it; an input that is no object stands there as it is."""
    given = block["input"]
    return (
        as_call(block["name"], given) if isinstance(given, dict) else f"{block['name']}({given!r})"
    )


def one_line(content: object) -> str:
    """Any content on one line."""
    text = content if isinstance(content, str) else json.dumps(content, default=repr)
    return printable(" | ".join(" ".join(line.split()) for line in text.strip().splitlines()))
