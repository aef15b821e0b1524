"""A rule of the Messages API: what it says, how we know, and how breaking it is answered."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from harness_zero.messages import Block, Message, Reply, blocks
from harness_zero.simulator.catalogue import Facts
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.marks import Mark, explicit_marks
from harness_zero.simulator.signature import apart, waiting

# documented: in the provider's documentation or SDK; reported: seen in public reports of real
# answers; assumed: nobody we know of has seen it, and it would be odd otherwise.
Confidence = Literal["documented", "reported", "assumed"]
REMEMBERED = 4_096  # replies
ALIKE = 9  # replies that say the same with other thoughts; at so many, nobody can tell

Scope = Literal["request", "message", "block", "pair", "array"]


@dataclass(frozen=True)
class Refusal:
    """The answer to a request that breaks a rule."""

    message: str  # as the API words it
    mend: str  # for a learner: what is wrong, where, and what to do
    status: int = 400
    code: str = ""  # error_code, where the API gives one


@dataclass
class Served:
    """What this API has said so far, as far as a rule asks for it."""

    kinds: set[str] = field(default_factory=set)  # types of blocks
    paused: dict[str, None] = field(default_factory=dict)  # digests of replies that wait to go on
    thoughts: dict[str, list[str]] = field(default_factory=dict)  # of what was said: its thoughts

    def remember(self, reply: Reply) -> None:
        """Keep what the rules will ask of this reply when it comes back."""
        content = reply["content"]
        self.kinds.update(block["type"] for block in content)
        if reply.get("stop_reason") == "pause_turn":
            keep(self.paused, waiting(content), None)
        if any(block["type"] == "tool_use" for block in content):
            spoken, thought = apart(content)
            known = self.thoughts.get(spoken, [])
            keep(self.thoughts, spoken, known if thought in known else [*known, thought][:ALIKE])


def keep(known: dict[str, Any], name: str, value: Any) -> None:
    """Remember something, and forget what was remembered longest ago."""
    known[name] = value
    if len(known) > REMEMBERED:
        del known[next(iter(known))]


@dataclass(frozen=True)
class Asked:
    """One request, as the rules see it."""

    body: Body
    model: Facts
    version: str
    served: Served = field(default_factory=Served)
    counting: bool = False  # tokens are to be counted, nothing is to be said
    ids: frozenset[str] | set[str] = frozenset()  # of calls in messages that are not new
    chain: str = ""  # what signatures of new thinking blocks are bound to
    marked: bool = True  # might it bear marks? A look at its bytes saves one at its messages

    @property
    def messages(self) -> list[Message]:
        """The array."""
        return self.body["messages"]

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks that stand on its blocks, looked for once."""
        return [*explicit_marks(self.body)] if self.marked else []


@dataclass(frozen=True)
class Part:
    """One content block and where it stands in the array."""

    at: int  # the message's number
    index: int  # the block's number in it
    block: Block

    @property
    def path(self) -> str:
        """Where it stands, as the API says it."""
        return f"messages.{self.at}.content.{self.index}"


@dataclass(frozen=True)
class Group:
    """Neighbours of one role, which are one message to the API."""

    role: str
    at: int  # the first message's number
    parts: tuple[Part, ...]

    def of(self, kind: str) -> list[Part]:
        """The blocks of this type, in order."""
        return [part for part in self.parts if part.block["type"] == kind]


def grouped(messages: list[Message], start: int = 0) -> list[Group]:
    """The array from message `start` on as the API reads it: neighbours of one role are one."""
    numbered = enumerate(messages[start:], start)
    return [
        Group(
            role, group[0][0], tuple(part for at, message in group for part in parts(at, message))
        )
        for role, pairs in groupby(numbered, key=lambda pair: pair[1]["role"])
        if (group := list(pairs))
    ]


def parts(at: int, message: Message) -> Iterator[Part]:
    """The blocks of one message with their places."""
    for index, block in enumerate(blocks(message) if message["content"] else ()):
        yield Part(at, index, block)


Check = Callable[..., Iterator[Refusal]]


@dataclass(frozen=True)
class Rule:
    """One rule, and how sure we are of it."""

    name: str  # a sentence
    scope: Scope
    check: Check
    source: str
    date: str  # of the source
    confidence: Confidence
    wording: Literal["known", "ours"]  # whose words its refusal is in


def rule(
    name: str,
    scope: Scope,
    source: str,
    date: str = "2026-08-21",
    confidence: Confidence = "documented",
    wording: Literal["known", "ours"] = "known",
) -> Callable[[Check], Rule]:
    """Make a check, which yields a refusal for each breach, into a rule."""
    return lambda check: Rule(name, scope, check, source, date, confidence, wording)


def kind_of(status: int) -> str:
    """The error type that goes with a status."""
    return KINDS.get(status, "api_error")


KINDS: dict[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def is_blank(words: Any) -> bool:
    """Whether a text has no character that one could see."""
    return isinstance(words, str) and not words.strip()
