"""Where a request is marked for the cache."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness_zero.messages import blocks
from harness_zero.prefix import MARK, SECTIONS, listed
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.seen import bearing
from harness_zero.simulator.signature import is_thought

SECONDS = {"5m": 300, "1h": 3_600}  # how long what is written lives, by ttl


@dataclass(frozen=True)
class Mark:
    """One cache_control, and the block that it stands on or in."""

    section: str  # tools, system or messages
    at: int  # the tool's, block's or message's number
    index: int  # the block's number in a message
    path: str  # of the block that bears it, as the API says it
    block: Any
    control: Any  # {"type": "ephemeral", "ttl": "1h"}
    automatic: bool = False  # from the field at the top of the request

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands, in cache order."""
        return SECTIONS.index(self.section), self.at, self.index

    @property
    def ttl(self) -> str:
        """How long what it writes is to live."""
        given = self.control.get("ttl") if isinstance(self.control, dict) else None
        return "5m" if given is None else str(given)


def marks(request: Body, within: Iterable[int] | None = None) -> list[Mark]:
    """All marks in cache order, the automatic one among them.

    The messages that may bear some are looked for, unless they are given.
    """
    return joined([*explicit_marks(request, within)], automatic(request))


def joined(explicit: list[Mark], added: Mark | None) -> list[Mark]:
    """The marks and the automatic one in its place, unless one stands there already."""
    if not added or any(mark.place == added.place for mark in explicit):
        return explicit
    return sorted([*explicit, added], key=lambda mark: mark.place)


def explicit_marks(request: Body, within: Iterable[int] | None = None) -> Iterator[Mark]:
    """The marks that stand on blocks, or on blocks inside a result."""
    for section in SECTIONS[:2]:
        given = request.get(section)
        for at, block in enumerate(given if isinstance(given, list) else ()):
            kind = ".custom" if section == "tools" else ""
            yield from marked(section, at, 0, f"{section}.{at}{kind}", block)
    messages = request["messages"]
    for at in bearing(messages) if within is None else within:
        content = messages[at].get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            kind_of = block.get("type") if isinstance(block, dict) else ""
            path = f"messages.{at}.content.{index}.{kind_of}"
            yield from marked(SECTIONS[2], at, index, path, block)


def marked(section: str, at: int, index: int, path: str, block: Any) -> Iterator[Mark]:
    """The marks inside a block, and on it. One inside stands, for the cache, where the block ends.

    No more than one of them counts as a breakpoint, and each as one of the four.
    """
    if not isinstance(block, dict):
        return
    inside = block.get("content") if block.get("type") == "tool_result" else None
    for number, inner in enumerate(inside if isinstance(inside, list) else ()):
        if isinstance(inner, dict) and inner.get(MARK) is not None:
            where = f"{path}.content.{number}.{inner.get('type')}"
            yield Mark(section, at, index, where, inner, inner[MARK])
    if block.get(MARK) is not None:
        yield Mark(section, at, index, path, block, block[MARK])


def automatic(request: Body) -> Mark | None:
    """The mark that the field at the top of the request stands for: on the last block that can.

    None without that field, and where no block can bear a mark.
    """
    control = request.get(MARK)
    if control is None:
        return None
    for at in range(len(request["messages"]) - 1, -1, -1):
        content = blocks(request["messages"][at]) if request["messages"][at]["content"] else []
        for index in range(len(content) - 1, -1, -1):
            if can_bear(content[index]):
                return Mark(SECTIONS[2], at, index, MARK, content[index], control, True)
    for section in ("system", "tools"):
        if given := listed(request.get(section)):
            return Mark(section, len(given) - 1, 0, MARK, given[-1], control, True)
    return None


def can_bear(block: Any) -> bool:
    """Whether a mark may stand on this block: on no thought, and on no empty text."""
    return not is_thought(block) and not (block["type"] == "text" and not block["text"].strip())
