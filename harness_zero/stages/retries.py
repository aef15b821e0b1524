"""Two drafts of a call that is asked again when its connection breaks: they differ in the moment
at which a tool is begun.

Chapter 10 runs both. A stream gives a reply block by block, and may break off at any of them.
"""

from collections.abc import Callable, Iterator

from harness_zero.messages import Block
from harness_zero.ports import Tool

Stream = Callable[[], Iterator[Block]]  # asks the model, and gives its blocks as they are whole


def eager(stream: Stream, tool: Tool, attempts: int = 3) -> list[Block]:
    """Begin each call as soon as its block is there; the results of the reply that came through."""
    for _ in range(attempts):
        try:
            return [tool(block) for block in stream() if block["type"] == "tool_use"]
        except ConnectionError:
            continue
    return []


def whole(stream: Stream, tool: Tool, attempts: int = 3) -> list[Block]:
    """Begin no call before the reply is whole; the results of the reply that came through."""
    for _ in range(attempts):
        try:
            blocks = [*stream()]
        except ConnectionError:
            continue
        return [tool(block) for block in blocks if block["type"] == "tool_use"]
    return []
