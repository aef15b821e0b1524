"""A run's requests, each held against the one before on the canonical rendering of the prefix.

Every line of the rendering is kept once, under a number; a request is a list of numbers. So
a thousand requests are compared in work that grows with what is new in them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from harness_zero.ports import Request
from harness_zero.prefix import (
    SECTIONS,
    Difference,
    beside_the_prefix,
    first_byte,
    first_difference,
    frozen,
    kind,
    listed,
    parts,
    rendered,
)

BESIDE = ("tool_choice", "thinking", "output_config", "speed", "model")  # and a cache reads them


class Lines:
    """Every line that was ever sent, once."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.labels: list[str] = []  # what each is: tools, role, text, tool_result of call_1
        self.known: dict[tuple[str, bytes], int] = {}
        self.messages: dict[int, tuple[Any, list[int]]] = {}  # the message is held for its id
        self.copies: dict[bytes, list[int]] = {}  # the same for messages that are equal

    def put(self, label: str, line: bytes) -> int:
        """The number of a line."""
        key = label, line
        if key not in self.known:
            self.known[key] = len(self.lines)
            self.lines.append(line + b"\n")
            self.labels.append(label)
        return self.known[key]

    def head(self, request: Request) -> list[int]:
        """The lines before the messages: tools, system."""
        found = []
        for section in SECTIONS[:2]:
            found.append(self.put(section, section.encode()))
            for block in listed(request.get(section)):
                label = block.get("name") if isinstance(block, dict) and section == "tools" else ""
                found.append(self.put(str(label or kind(block)[2:-1] or "text"), rendered(block)))
        return [*found, self.put(SECTIONS[2], SECTIONS[2].encode())]

    def message(self, message: Any) -> list[int]:
        """The lines of a message: its role, then its blocks."""
        if id(message) not in self.messages:
            alike = frozen(message)
            if alike not in self.copies:
                role, *blocks = parts(message)
                labels = [kind(block)[2:-1] or "block" for block in blocks]
                found = [self.put("role", rendered(role))]
                found += [
                    self.put(*each) for each in zip(labels, map(rendered, blocks), strict=True)
                ]
                self.copies[alike] = found
            self.messages[id(message)] = message, self.copies[alike]
        return self.messages[id(message)][1]

    def sizes(self, numbers: Sequence[int]) -> list[int]:
        """How many bytes each of these has."""
        return [len(self.lines[at]) for at in numbers]


class Rows:
    """One request as numbers of lines, made from the one before as far as that goes."""

    head: list[int]
    head_ends: list[int]  # bytes up to each of its rows
    body: list[int]
    ends: list[int]
    starts: list[int]  # where each message begins in the body, and where the last one ends

    def __init__(self, lines: Lines, request: Request, before: "Rows | None" = None) -> None:
        messages = request["messages"]
        self.ids = [*map(id, messages)]  # a message that is the same object is not looked into
        kept = shared(self.ids, before.ids) if before else 0
        self.head = lines.head(request)
        if before and self.head == before.head:
            self.head, self.head_ends = before.head, before.head_ends
        else:
            self.head_ends = [*accumulate(lines.sizes(self.head))]
        rows = before.starts[kept] if before else 0
        self.starts = before.starts[: kept + 1] if before else [0]
        self.body = before.body[:rows] if before else []
        self.ends = before.ends[:rows] if before else []
        size = self.ends[-1] if self.ends else 0
        for message in messages[kept:]:
            numbers = lines.message(message)
            self.body += numbers
            self.starts.append(len(self.body))
            for at in numbers:
                size += len(lines.lines[at])
                self.ends.append(size)

    @property
    def numbers(self) -> list[int]:
        """All lines, in order."""
        return self.head + self.body

    def bytes_to(self, row: int) -> int:
        """How many bytes stand before a row."""
        head = len(self.head)
        if row <= head:
            return self.head_ends[row - 1] if row else 0
        return self.head_ends[-1] + self.ends[row - head - 1]

    @property
    def size(self) -> int:
        """Bytes of the whole prefix."""
        return self.bytes_to(len(self.head) + len(self.body))

    def rows_shared(self, other: "Rows") -> int:
        """How many rows from the beginning on are those of another request as well."""
        if self.head is not other.head and self.head != other.head:
            return shared(self.head, other.head)
        return len(self.head) + shared(self.body, other.body)


def shared(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items these have in common from the beginning on, compared at C speed."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:  # the usual case
        return most
    return first_byte(one, other)  # type: ignore[arg-type]  # any two sequences can be halved


@dataclass(frozen=True)
class Change:
    """How one request stands to the one before it."""

    size: int  # bytes of its prefix
    shared: int  # bytes that are those of the one before
    rows: int  # lines that are
    parts: Difference | None  # where it parts from the one before; nothing if it goes on there
    beside: str = ""  # a field beside the prefix that is another one now

    @property
    def busted(self) -> bool:
        """Whether something that was sent before is not sent again as it was."""
        return bool(self.parts or self.beside)


def changes(lines: Lines, requests: Sequence[Request]) -> Iterator[tuple[Rows, Change]]:
    """Each request under the one before; the first one stands alone."""
    before, then = None, None
    for request in requests:
        rows = Rows(lines, request, before)
        yield rows, change(before, rows, then, request)
        before, then = rows, request


def change(before: Rows | None, rows: Rows, then: Request | None, now: Request) -> Change:
    """What changed from one request to the next."""
    if before is None or then is None:
        return Change(rows.size, 0, 0, None)
    same = rows.rows_shared(before)
    goes_on = same == len(before.head) + len(before.body)
    found = None if goes_on else first_difference(then, now)
    known = rows.bytes_to(same) + (found.byte if found else 0)
    return Change(rows.size, known, same, found, beside(then, now))


def beside(then: Request, now: Request) -> str:
    """Which of the fields beside the prefix that a cache reads has changed; nothing if none."""
    one, other = ({name: r[name] for name in BESIDE if name in r} for r in (then, now))
    if one == other:
        return ""
    found = beside_the_prefix(one, other, loose=False)
    return found.section if found else ""
