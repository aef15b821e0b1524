"""Show code and messages as text, the same on every machine."""

import inspect
import json
from collections.abc import Callable
from textwrap import dedent

from harness_zero.messages import Message
from harness_zero.watch import as_call, clipped, printable


def show(*code: Callable) -> None:
    """Print the source of functions or classes, one under the other."""
    print("\n\n\n".join(dedent(inspect.getsource(each)).rstrip() for each in code))


def show_messages(messages: list[Message], at: int = 0) -> None:
    """Print messages, one line a content block; `at` is the number of the first one."""
    for number, message in enumerate(messages, at):
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            line = f"{number:>3}  {message['role']:<9}  {block_line(block)}"
            print(clipped(line))


def block_line(block: dict) -> str:
    """One content block in one line: what kind it is, whose id it carries, what it says."""
    if block["type"] == "text":
        return f"text         {one_line(block['text'])}"
    if block["type"] == "tool_use":
        return f"tool_use     {block['id']}  {as_call(block['name'], block['input'])}"
    if block["type"] == "tool_result":
        return f"tool_result  {block['tool_use_id']}  {one_line(block.get('content', ''))}"
    return f"{block['type']}  {one_line(json.dumps(block))}"


def one_line(content: object) -> str:
    """Any content on one line."""
    text = content if isinstance(content, str) else json.dumps(content)
    return printable(" | ".join(" ".join(line.split()) for line in text.strip().splitlines()))
