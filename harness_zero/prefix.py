"""The prefix of a request: what a provider's cache compares, and where two requests part.

A cache reads tools, then system, then messages, and is lost from the first byte
that differs. So a request is rendered in that order, one line a block, with
cache_control left out. The rendering is open-ended: a request that goes on where
another ended begins with all of the other's bytes. The fields of a block are sorted
(the SDK writes them in an order of its own); inside a tool's input and schema the order
is kept, because there it counts.

Sources: Claude documentation, prompt caching, 2026-08-21. The whitespace between fields
cannot count after parsing; that is inferred.
"""

import json
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from harness_zero.brief import told_by
from harness_zero.marks import MARK
from harness_zero.messages import text

SECTIONS = ("tools", "system", "messages")  # in cache order
ABSENT = object()  # where one of two lists is at its end


@dataclass(frozen=True)
class Difference:
    """The first block in which two requests differ, and the first byte inside its rendering."""

    section: str  # tools, system, messages; or a field that is no part of the prefix
    block: str  # "message 4, block 1 (tool_result of call_2)"; both count from 0, as the API does
    byte: int
    one: bytes  # the block's rendering in the one request; empty if it has no such block
    other: bytes  # and in the other

    def around(self, width: int = 24) -> tuple[str, str]:
        """A short piece of both, with the difference in its middle."""
        return piece(self.one, self.byte, width), piece(self.other, self.byte, width)


def first_difference(one: Any, other: Any, loose: bool = False) -> Difference | None:
    """Where two requests, or two JSON values, first differ in cache order; None if nowhere.

    Fields beside the prefix (model, max_tokens) come last. Loose, two values are the same
    if Python says so: neither the order of keys nor the type of a number counts.
    """
    if not (is_request(one) and is_request(other)):
        return between("", "the value", one, other, loose)
    found = in_blocks(one, other, loose) or in_messages(one["messages"], other["messages"], loose)
    return found or beside_the_prefix(one, other, loose)


def rendering(request: dict[str, Any]) -> bytes:
    """The prefix of a request, byte for byte."""
    return b"".join(line for _, line in lines(request))


def lines(request: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Every block of the prefix by name, with its line of the rendering."""
    for section in SECTIONS[:2]:
        yield section, f"{section}\n".encode()
        for at, block in enumerate(listed(request.get(section))):
            yield named(section, at, block), rendered(block) + b"\n"
    yield SECTIONS[2], b"messages\n"
    for at, message in enumerate(request["messages"]):
        for place, part in enumerate(parts(message)):
            yield part_named(at, place, part), rendered(part) + b"\n"


def is_request(value: Any) -> bool:
    """Whether this is a request and no other JSON value."""
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def in_blocks(one: dict[str, Any], other: dict[str, Any], loose: bool) -> Difference | None:
    """The first difference in the tools, else in the system prompt."""
    for section in SECTIONS[:2]:
        pairs = zip_longest(listed(one.get(section)), listed(other.get(section)), fillvalue=ABSENT)
        for at, (here, there) in enumerate(pairs):
            name = named(section, at, there if here is ABSENT else here)
            if found := between(section, name, here, there, loose):
                return found
    return None


def in_messages(one: list[Any], other: list[Any], loose: bool) -> Difference | None:
    """The first difference in the messages. Equal ones are passed over as whole objects."""
    if loose and one == other:
        return None
    for at, (here, there) in enumerate(zip_longest(one, other, fillvalue=ABSENT)):
        if same(here, there, loose):
            continue
        if here is ABSENT or there is ABSENT:
            return Difference(SECTIONS[2], f"message {at}", 0, whole(here), whole(there))
        pairs = zip_longest(parts(here), parts(there), fillvalue=ABSENT)
        for place, (this, that) in enumerate(pairs):
            name = part_named(at, place, that if this is ABSENT else this)
            if found := between(SECTIONS[2], name, this, that, loose):
                return found
    return None


def beside_the_prefix(one: dict[str, Any], other: dict[str, Any], loose: bool) -> Difference | None:
    """The first difference, by name, in the fields that are no part of the prefix."""
    for name in sorted({*one, *other} - {*SECTIONS, MARK}, key=str):
        here, there = one.get(name, ABSENT), other.get(name, ABSENT)
        if found := between(name, name, here, there, loose):
            return found
    return None


def between(section: str, name: str, one: Any, other: Any, loose: bool) -> Difference | None:
    """Where the renderings of two blocks part; None if they are the same."""
    if same(one, other, loose):
        return None
    here, there = rendered(one, loose), rendered(other, loose)
    if here == there:
        return None
    return Difference(section, name, first_byte(here, there), here, there)


def first_byte(one: bytes, other: bytes) -> int:
    """The first byte in which these differ, found by halving: a slice is compared at C speed."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def same(one: Any, other: Any, loose: bool) -> bool:
    """Whether two values are so plainly the same that they need not be rendered."""
    return one is other or (one == other if loose else frozen(one) == frozen(other))


def frozen(value: Any) -> bytes:
    """Bytes that two values share only if they render alike, made ten times as fast as JSON.

    Version 2 of marshal has no references in it, so it writes equal values alike,
    whichever objects they are made of. The bytes are compared and forgotten.
    """
    try:
        return marshal.dumps(value, 2)
    except ValueError:  # an object that marshal does not know
        return rendered(value)


def rendered(block: Any, loose: bool = False) -> bytes:
    """One block as canonical JSON, nothing if it is absent; what is no JSON as Python writes it."""
    if block is ABSENT:
        return b""
    value = unmarked(block)
    if loose:  # as JSON gives it back: every name is a text, two halves are one character
        value = json.loads(json.dumps(value, default=as_python))
    line = json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), sort_keys=loose, default=as_python
    )
    return line.encode("utf-8", "surrogatepass")


def as_python(thing: Any) -> str:
    """What is no JSON, as Python writes it."""
    return told_by(repr, thing)


def unmarked(block: Any) -> Any:
    """A block with its fields in order and without cache marks, the blocks inside it as well."""
    if not isinstance(block, dict):
        return block
    fields = {name: block[name] for name in sorted(block, key=str) if name != MARK}
    if isinstance(fields.get("content"), list):
        fields["content"] = [unmarked(inner) for inner in fields["content"]]
    return fields


def listed(content: Any) -> list[Any]:
    """Tools, a system prompt or a message's content as blocks; bare words are one text block."""
    if isinstance(content, str):
        return [text(content)]
    if isinstance(content, list | tuple):
        return [*content]
    return [] if content is None else [content]


def parts(message: Any) -> list[Any]:
    """A message as its role, and then its blocks.

    The role stands in brackets, so that no line of a block begins as this one does.
    """
    if message is ABSENT:
        return []
    if not isinstance(message, dict):
        return [message]
    around = {name: value for name, value in message.items() if name not in ("role", "content")}
    head = [message.get("role"), *([around] if around else [])]
    return [head, *listed(message.get("content"))]


def whole(message: Any) -> bytes:
    """All lines of a message."""
    return b"\n".join(rendered(part) for part in parts(message))


def part_named(at: int, place: int, part: Any) -> str:
    """The name of a message's part: its role, or one of its blocks."""
    if place == 0:
        return f"message {at} (its role)"
    return f"message {at}, block {place - 1}{kind(part)}"


def named(section: str, at: int, block: Any) -> str:
    """The name of a tool, or of a block of the system prompt."""
    if section == "tools":
        return f"tool {at} ({block.get('name')})" if isinstance(block, dict) else f"tool {at}"
    return f"system, block {at}{kind(block)}"


def kind(block: Any) -> str:
    """What kind of block this is, and which call it belongs to."""
    if not isinstance(block, dict) or not block.get("type"):
        return ""
    if "tool_use_id" in block:
        return f" ({block['type']} of {block['tool_use_id']})"
    return f" ({block['type']} {block['id']})" if "id" in block else f" ({block['type']})"


def piece(line: bytes, byte: int, width: int) -> str:
    """What stands around a byte, with dots where something is left out."""
    begin, end = max(0, byte - width), byte + width
    words = line[begin:end].decode("utf-8", "ignore")
    return f"{'...' if begin else ''}{words}{'...' if end < len(line) else ''}"
