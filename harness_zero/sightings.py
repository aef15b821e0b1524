"""Arrays of messages as they were at some moment, told by their ends.

An array only grows, so what it was is told by how long it was, and by its last message, which
may have been filled or changed since.
"""

from types import FunctionType
from typing import Any, NamedTuple

from harness_zero.messages import Message
from harness_zero.snapshot import is_array

PLAIN = (str, bytes, int, float, list, tuple, set, type(None), FunctionType)  # hold no array


class Sighting(NamedTuple):
    """An array as it was: how many messages, its first and its last, and that one's blocks."""

    length: int
    first: Message
    last: Message
    blocks: list[Any]


def sighting(array: list[Message]) -> Sighting:
    """An array as it is now; a later change of its last message does not reach this."""
    content = array[-1].get("content") if isinstance(array[-1], dict) else None
    blocks = content if isinstance(content, list) else [content]
    now = [dict(block) if isinstance(block, dict) else block for block in blocks]
    return Sighting(len(array), array[0], array[-1], now)


def arrays_in(value: Any) -> list[list[Message]]:
    """The array of messages that a value is, or holds under this name."""
    if is_array(value):
        return [value]
    if issubclass(type(value), PLAIN):
        return []
    try:
        inside = value if type(value) is dict else object.__getattribute__(value, "__dict__")
        held = dict.get(inside, "messages")
    except (AttributeError, TypeError):
        return []
    return [held] if held and is_array(held) else []


def outline(array: list[Message]) -> tuple[int, ...]:
    """Enough of an array to see that something was added, or that its last message changed."""
    if not array or not isinstance(last := array[-1], dict):
        return (len(array),)
    content = last.get("content")
    if not isinstance(content, list):
        return (len(array), id(last), id(content))
    return (len(array), id(last), *(part for block in content for part in identity(block)))


def identity(block: Any) -> list[int]:
    """Which block this is, and what it holds."""
    return [id(block), *map(id, block.values())] if isinstance(block, dict) else [id(block)]


def longest(seen: list[Sighting], messages: list[Message]) -> Sighting | None:
    """The longest of some arrays that is a beginning of the array as it was at the end."""
    fit = [each for each in seen if begins(each, messages)]
    return max(fit, key=lambda each: (each.length, len(each.blocks)), default=None)


def begins(seen: Sighting, messages: list[Message]) -> bool:
    """Whether an array, told by its ends, is a beginning of another one."""
    if not 0 < seen.length <= len(messages):
        return False
    pairs = ((seen.first, messages[0]), (seen.last, messages[seen.length - 1]))
    return all(one is other or one == other for one, other in pairs)
