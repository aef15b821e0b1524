"""Arrays of messages as they were at some moment, told by their ends.

An array only grows, so what it was is told by how long it was, and by its last message, which
may have been filled or changed since.
"""

from types import FunctionType
from typing import Any, NamedTuple

from harness_zero.messages import Message
from harness_zero.snapshot import attributes, is_a, is_array

PLAIN = (str, bytes, int, float, list, tuple, set, type(None), FunctionType)  # hold no array
NEAR = 40  # the last blocks of a message, which are looked at closely


class Sighting(NamedTuple):
    """An array as it was: how many messages, its first and its last; of that one its blocks.

    Of very many blocks the last ones are kept as they were; of the others, that they were there.
    """

    length: int
    first: Message
    last: Message
    size: int  # of its blocks
    blocks: list[Any]  # the last of them


def sighting(array: list[Message]) -> Sighting:
    """An array as it is now; a later change of its last message does not reach this."""
    first, last = (list.__getitem__(array, at) for at in (0, -1))
    content = content_of(last)
    blocks = content if is_a(content, list) else [content]
    count = list.__len__(blocks)
    now = [dict.copy(block) if is_a(block, dict) else block for block in near(blocks)]
    return Sighting(list.__len__(array), first, last, count, now)


def content_of(message: Any) -> Any:
    """What a message holds, if it is one."""
    return dict.get(message, "content") if is_a(message, dict) else None


def near(blocks: list[Any]) -> list[Any]:
    """The last blocks of a message."""
    return list.__getitem__(blocks, slice(-NEAR, None))


def arrays_in(value: Any) -> list[list[Message]]:
    """The array of messages that a value is, or holds under this name."""
    if is_array(value):
        return [value]
    if is_a(value, PLAIN):
        return []
    inside = value if type(value) is dict else attributes(value)
    held: Any = dict.get(inside, "messages")
    return [held] if is_array(held) else []


def outline(array: list[Message]) -> tuple[int, ...]:
    """Enough of an array to see that something was added, or that its last message changed."""
    length = list.__len__(array)
    if not length or not is_a(last := list.__getitem__(array, -1), dict):
        return (length,)
    content = content_of(last)
    if not is_a(content, list):
        return (length, id(last), id(content))
    parts = (part for block in near(content) for part in identity(block))
    return (length, id(last), list.__len__(content), *parts)


def identity(block: Any) -> list[int]:
    """Which block this is, and what it holds."""
    return [id(block), *map(id, dict.values(block))] if is_a(block, dict) else [id(block)]


def longest(seen: list[Sighting], messages: list[Message]) -> Sighting | None:
    """The longest of some arrays that is a beginning of the array as it was at the end."""
    fit = [each for each in seen if begins(each, messages)]
    return max(fit, key=lambda each: (each.length, each.size), default=None)


def begins(seen: Sighting, messages: list[Message]) -> bool:
    """Whether an array, told by its ends, is a beginning of another one."""
    if not 0 < seen.length <= len(messages):
        return False
    pairs = ((seen.first, messages[0]), (seen.last, messages[seen.length - 1]))
    return all(same(one, other) for one, other in pairs)


def same(one: Any, other: Any) -> bool:
    """Whether two things are equal; where that cannot be told, as of arrays of numbers, not."""
    try:
        return one is other or bool(one == other)
    except Exception:
        return False
