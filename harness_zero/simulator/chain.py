"""The prefix of a conversation, line by line, each with the digest of all up to it.

The lines are those of the canonical rendering, so that what the cache finds and what the
lens shows agree. A chain grows with its conversation: the next request that begins with the
same messages pays for its new ones only.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from harness_zero.prefix import listed, named, part_named, parts, rendered
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.judge import bare, characters, written
from harness_zero.simulator.seen import Seen
from harness_zero.simulator.signature import plain

RUNS = ("tool_use", "tool_result")  # a run of one of these is one position
FRAME = len('{"content": []}')
Weigh = Callable[[Any], int]


class Line(NamedTuple):
    """One line of the prefix. Digest, size and position are of all up to it."""

    name: str  # "message 4, block 1 (tool_result of call_2)"
    digest: bytes
    size: int  # characters, or tokens that were declared
    position: int
    kind: str  # of the last block up to here


@dataclass(frozen=True)
class Part:
    """A message's role, or one of its blocks, wherever the message stands."""

    given: Any
    digest: bytes  # of its line
    size: int
    kind: str | None  # of a block

    @cached_property
    def pictured(self) -> bool:
        """Whether it holds an image."""
        return any(map(is_image, within(self.given)))

    @cached_property
    def cited(self) -> bool:
        """Whether it holds a document that is to be cited."""
        return any(map(is_cited, within(self.given)))


class Edges(NamedTuple):
    """The lines at which the parts of a prefix begin."""

    system: int  # its heading: here the tools end
    texts: int  # its first block; before it stands the server's search, if that is offered
    messages: int  # their heading: here the system prompt ends


HEADLESS = Edges(0, 0, 0)


@dataclass
class Chain:
    """The lines of a conversation. What a request took of them never changes; it only grows."""

    declared: Weigh | None = None  # a block's tokens; without it, characters are counted
    lines: list[Line] = field(default_factory=list)
    tool_at: list[int] = field(default_factory=list)  # the line of each tool
    edges: Edges = HEADLESS
    seen: Seen = field(default_factory=Seen)  # the messages as they came
    starts: list[int] = field(default_factory=list)  # the line of each message's role
    made: dict[bytes, list[Part]] = field(default_factory=dict)  # the forks share it
    pictured: int | None = None  # the first message with an image
    cited: int | None = None  # the first message with a document that is to be cited

    def head(self, request: Body) -> "Chain":
        """With the lines of a request's tools and system prompt."""
        tools, system = request.get("tools"), request.get("system")
        offered, texts = listed(tools), listed(system)
        around = 0 if self.declared else len("[, ]")
        self.add("tools", b"tools", around + self.frame(tools, offered))
        own = [at for at, tool in enumerate(offered) if not is_web_search(tool)]
        search = [at for at, tool in enumerate(offered) if is_web_search(tool)]
        self.tool_at = [0] * len(offered)
        self.offer(own, offered)
        heading = len(self.lines)
        self.add("system", b"system", self.frame(system, texts))
        self.offer(search, offered)
        self.edges = Edges(heading, len(self.lines), len(self.lines) + len(texts))
        for at, text in enumerate(texts):
            self.block(named("system", at, text), text)
        self.add("messages", b"messages", 0)
        return self

    def offer(self, numbers: list[int], tools: list[Any]) -> None:
        """The lines of some of the tools."""
        for at in numbers:
            self.tool_at[at] = len(self.lines)
            self.block(named("tools", at, tools[at]), tools[at])

    def grow(self, message: Any) -> None:
        """One message more. What was rendered once is not rendered again after another head."""
        at = len(self.starts)
        frozen = self.seen.add(message)
        self.starts.append(len(self.lines))
        if not (made := self.made.get(frozen)):
            made = self.made[frozen] = self.make(message)
        for place, part in enumerate(made):
            self.add(part_named(at, place, part.given), part.digest, part.size, part.kind)
            if part.pictured and self.pictured is None:
                self.pictured = at
            if part.cited and self.cited is None:
                self.cited = at

    def make(self, message: Any) -> list[Part]:
        """The parts of a message: its role, and its blocks."""
        role, *content = parts(message)
        sizes = [self.weigh(block) for block in content]
        frame = 0 if self.declared else written(message) - sum(sizes)
        sized = zip(content, sizes, strict=True)
        return [
            Part(role, of_line(role), frame, None),
            *(Part(block, of_line(block), size, kind_of(block)) for block, size in sized),
        ]

    def block(self, name: str, block: Any) -> None:
        """A line that is a block, and so has a position, unless it goes on with a run."""
        self.add(name, of_line(block), self.weigh(block), kind_of(block))

    def add(self, name: str, line: bytes, size: int, kind: str | None = None) -> None:
        """One line more, by its digest; without a kind it is a heading or a role."""
        before = self.lines[-1] if self.lines else Line("", b"", 0, 0, "")
        runs = kind is None or (kind in RUNS and kind == before.kind)
        digest = sha256(before.digest + line).digest()
        position = before.position if runs else before.position + 1
        kind = before.kind if kind is None else kind
        self.lines.append(Line(name, digest, before.size + size, position, kind))

    def weigh(self, block: Any) -> int:
        """What a block adds to the size."""
        if self.declared:
            return self.declared(block)
        return characters({"content": [plain(block)]}) - FRAME

    def frame(self, given: Any, content: list[Any]) -> int:
        """What a field of the request adds to the size beside its blocks."""
        if self.declared:
            return 0
        return characters(bare(given)) - sum(map(self.weigh, content))

    def line(self, section: str, at: int, index: int) -> int:
        """The line of a tool, of a block of the system prompt, or of a block of a message."""
        if section == "tools":
            return self.tool_at[at]
        return self.edges.texts + at if section == "system" else self.starts[at] + 1 + index

    def until(self, messages: int) -> int:
        """How many lines there are up to the end of so many messages."""
        return self.starts[messages] if messages < len(self.starts) else len(self.lines)

    def fork(self, messages: int) -> "Chain":
        """A chain of its own that begins as this one does."""
        return replace(
            self,
            lines=self.lines[: self.until(messages)],
            seen=self.seen.fork(messages),
            starts=self.starts[:messages],
            pictured=self.pictured if self.has(self.pictured, messages) else None,
            cited=self.cited if self.has(self.cited, messages) else None,
        )

    def has(self, first: int | None, messages: int) -> bool:
        """Whether what first stands in this message is among so many messages."""
        return first is not None and first < messages

    def begins(self, messages: list[Any]) -> int:
        """With how many of its messages an array begins. Marks may have moved."""
        for at in self.seen.others(messages):
            if not self.alike(at, messages[at]):
                return at
            self.seen.put(at, messages[at])
        return min(len(messages), len(self.starts))

    def alike(self, at: int, message: Any) -> bool:
        """Whether a message that came otherwise is rendered as the one in this place."""
        digest = self.lines[self.starts[at] - 1].digest
        for part in parts(message):
            digest = sha256(digest + of_line(part)).digest()
        start, end = self.starts[at], self.until(at + 1)
        return len(parts(message)) == end - start and digest == self.lines[end - 1].digest


def parting(one: list[Line], other: list[Line], ends: int) -> int:
    """The first line in which two chains differ, before `ends`; found by halving."""
    if one[ends - 1].digest == other[ends - 1].digest:
        return ends
    return bisect_left(range(ends), True, key=lambda at: one[at].digest != other[at].digest)


def of_line(part: Any) -> bytes:
    """The digest of a line, which is made once for whatever stands before it."""
    return sha256(rendered(part)).digest()


def kind_of(block: Any) -> str:
    """The type of a block, if it has one."""
    return str(block.get("type")) if isinstance(block, dict) else ""


def within(block: Any) -> Iterator[Any]:
    """A block, and the blocks inside it."""
    yield block
    inner = block.get("content") if isinstance(block, dict) else None
    yield from inner if isinstance(inner, list) else ()


def is_image(block: Any) -> bool:
    """Whether this is a picture."""
    return isinstance(block, dict) and block.get("type") == "image"


def is_cited(block: Any) -> bool:
    """Whether this is a document that the model is to cite."""
    cited = block.get("citations") if isinstance(block, dict) else None
    return isinstance(cited, dict) and bool(cited.get("enabled"))


def is_web_search(tool: Any) -> bool:
    """Whether this tool is the server's search, which counts with the system prompt."""
    kind = tool.get("type") if isinstance(tool, dict) else None
    return isinstance(kind, str) and kind.startswith("web_search_")
