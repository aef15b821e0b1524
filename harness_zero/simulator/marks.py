"""Where a request is marked for the cache."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness_zero.messages import blocks
from harness_zero.prefix import MARK, SECTIONS
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.rule import is_blank
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
    def ttl(self) -> str:
        """How long what it writes is to live."""
        given = self.control.get("ttl") if isinstance(self.control, dict) else None
        return "5m" if given is None else str(given)


def marks(request: Body, within: Iterable[int] | None = None) -> list[Mark]:
    """All marks in cache order, the automatic one among them.

    The messages that may bear some are looked for, unless they are given.
    """
    explicit = [*explicit_marks(request, within)]
    added = automatic(request)
    here = [(m.section, m.at, m.index) for m in explicit]
    if not added or (added.section, added.at, added.index) in here:
        return explicit
    order = [(SECTIONS.index(s), at, index) for s, at, index in here]
    own = SECTIONS.index(added.section), added.at, added.index
    place = sum(other < own for other in order)
    return [*explicit[:place], added, *explicit[place:]]


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
        given = request.get(section) or []
        if given:
            last = given if isinstance(given, str) else given[-1]
            return Mark(
                section, 0 if last is given else len(given) - 1, 0, MARK, last, control, True
            )
    return None


def can_bear(block: Any) -> bool:
    """Whether a mark may stand on this block: on no thought, and on no empty text."""
    return not is_thought(block) and not (block["type"] == "text" and is_blank(block["text"]))
