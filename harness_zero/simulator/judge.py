"""Judging a request by the rules, at a cost that grows with what is new in it.

An array that was judged is remembered. The next request of the same conversation begins with
it, and only what comes after is looked at, together with the last two messages before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from json import dumps
from typing import Any

from harness_zero.messages import Message, blocks
from harness_zero.prefix import listed
from harness_zero.simulator.exchange import Body
from harness_zero.simulator.rule import (
    Asked,
    Group,
    Refusal,
    Rule,
    Scope,
    grouped,
    parts,
)
from harness_zero.simulator.signature import link, plain, start, unmarked

KEPT = 32  # conversations that are remembered
FIRST = Group("", 0, ())  # what stands before the first message


@dataclass
class Known:
    """An array that broke no rule, and what the next judgement wants to know of it."""

    fixed: tuple[Any, ...]  # model, version, system, tools
    chain: str  # after its last message, where the model binds thinking blocks
    messages: list[Message] = field(default_factory=list)  # without cache marks
    ids: set[str] = field(default_factory=set)
    characters: int = 0
    settled: int = 0  # messages before the last two groups

    def begins(self, messages: list[Message]) -> bool:
        """Whether these messages begin with the known ones; cache marks may have moved."""
        count = len(self.messages)
        if count > len(messages):
            return False
        if messages[:count] == self.messages:
            return True
        pairs = zip(messages, self.messages, strict=False)
        return all(one == other or unmarked(one) == other for one, other in pairs)

    def take(self, asked: Asked) -> None:
        """Remember what is new in an array; words in the model's mouth are not settled yet."""
        ends = len(asked.messages) - (asked.messages[-1]["role"] == "assistant")
        for message in asked.messages[len(self.messages) : ends]:
            self.messages.append(unmarked(message))
            self.characters += written(message)
            self.ids.update(b["id"] for b in blocks(message) if b["type"] == "tool_use")
            if asked.model.binds:
                self.chain = link(self.chain, message)
        groups = grouped(self.messages, self.settled)
        self.settled = groups[-2].at if len(groups) > 1 else self.settled


class Judge:
    """Holds requests against the rules, and remembers the arrays that kept them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = {scope: [r for r in rules if r.scope == scope] for scope in SCOPES}
        self.known: list[Known] = []

    def fault(self, asked: Asked) -> tuple[Rule, Refusal] | None:
        """The first rule that a request breaks, and how it is refused; None if it breaks none."""
        for rule in self.rules["request"]:
            for refusal in rule.check(asked):
                return rule, refusal
        known = self.recall(asked)
        fault = next(self.faults(asked, known), None)
        if not fault:
            known.take(asked)
            self.known = [known, *(k for k in self.known if k is not known)][:KEPT]
        return fault

    def recall(self, asked: Asked) -> Known:
        """The longest known array with which this one begins, or an empty one."""
        body = asked.body
        fixed = (asked.model.name, asked.version, body.get("system"), body.get("tools"))
        fitting = [k for k in self.known if k.fixed == fixed and k.begins(asked.messages)]
        chain = start(body) if asked.model.binds else ""
        return max(fitting, key=lambda k: len(k.messages), default=Known(fixed, chain))

    def faults(self, asked: Asked, known: Known) -> Iterator[tuple[Rule, Refusal]]:
        """What is wrong with the messages: their form first, then what they say together."""
        new = len(known.messages)
        asked = replace(asked, ids=known.ids, chain=known.chain)
        for at, message in enumerate(asked.messages[new:], new):
            for rule in self.rules["message"]:
                yield from ((rule, refusal) for refusal in rule.check(asked, at, message))
            for part in parts(at, message):
                for rule in self.rules["block"]:
                    found = rule.check(asked, part, message["role"])
                    yield from ((rule, refusal) for refusal in found)
        for rule in self.rules["array"]:
            yield from ((rule, refusal) for refusal in rule.check(asked, new))
        groups: list[Group | None] = [*grouped(asked.messages, known.settled), None]
        for group, after in pairwise([FIRST, *groups] if known.settled == 0 else groups):
            for rule in self.rules["pair"]:
                yield from ((rule, refusal) for refusal in rule.check(asked, group, after))

    def chain(self, asked: Asked) -> str:
        """What the thoughts of a reply to the request just judged are bound to."""
        if not asked.model.binds or not self.known:
            return ""
        known = self.known[0]
        rest = asked.messages[len(known.messages) :]  # words in the model's mouth, or a pause
        return reduce(link, rest, known.chain)

    def size(self, body: Body) -> int:
        """How many characters the request just judged holds; only what is new is counted anew."""
        known = self.known[0]
        rest = body["messages"][len(known.messages) :]
        fixed = characters([bare(body.get("system")), bare(body.get("tools"))])
        return fixed + known.characters + sum(map(written, rest))


def written(message: Any) -> int:
    """How long a message is without cache marks; bare words are as long as one block of them."""
    return characters({**message, "content": bare(message.get("content"))})


def bare(given: Any) -> Any:
    """Tools, a system prompt or content without cache marks: blocks, or nothing."""
    return [plain(block) for block in listed(given)] or None


SCOPES: tuple[Scope, ...] = ("request", "message", "block", "pair", "array")


IMAGE = 4_000  # characters that an image counts for, whatever its size: a rough estimate


def characters(value: Any) -> int:
    """How long a JSON value is when it is written down; an image is not its base64."""
    return len(dumps(value, ensure_ascii=False)) - sum(map(excess, data(value)))


def data(value: Any) -> Iterator[str]:
    """The base64 data of images and documents, in a message or in the results it brings."""
    content = value.get("content") if isinstance(value, dict) else None
    for block in content if isinstance(content, list) else ():
        source = block.get("source") if isinstance(block, dict) else None
        if isinstance(source, dict) and isinstance(source.get("data"), str):
            yield source["data"]
        yield from data(block)


def excess(data: str) -> int:
    """How many characters too many some data would count for."""
    return len(data) - IMAGE
