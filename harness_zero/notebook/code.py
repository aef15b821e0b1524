"""What the stepper is sent of code that was followed: the source, and what each step changed.

A step names the statement that ran and the values that it changed. Each text is sent once, so
what a loop does in every round costs a few numbers a round.
"""

import json
from collections.abc import Callable, Iterator
from itertools import accumulate
from textwrap import dedent
from typing import Any

from harness_zero.authored import NotFollowed, code_of
from harness_zero.follow import Followed
from harness_zero.keys import hidden, keys, without_keys
from harness_zero.listing import Part, Statement
from harness_zero.messages import Message
from harness_zero.notebook.faces import spelled_out, told_apart
from harness_zero.notebook.stepping import raw_blocks
from harness_zero.sightings import longest, same

KINDS = ("call", "resume", "line", "calls", "return", "yield", "raise")
BUDGET = 500_000  # bytes of values
LIMITS = (160, 100, 60, 30)  # characters of one value, where there are too many of them
LEFT_OUT = "[left out: there are too many values]"
SOURCE = 2_000  # lines of source in all
Put = Callable[[Any], int]  # stores a block, and gives back its number


def asked(followed: Followed | None, code: Any) -> Followed | None:
    """The lines to be shown with a run; NotFollowed if those that are asked for are not there."""
    if code is False or (code is None and followed is None):
        return None
    if followed is None:
        name = getattr(code, "__name__", "my_loop")
        raise NotFollowed(
            "this run was kept without the lines of its code, which can be followed only while it"
            f" is played: record({name}, model, tools, prompt, code=True), and step through that"
        )
    if callable(code):
        made = code_of(code)
        theirs = [part for part in followed.parts if stands_in(made, part)]
        if not theirs:
            names = ", ".join(part.name or "a lambda" for part in followed.parts) or "nothing"
            raise NotFollowed(f"{code.__name__} did not run here; followed was {names}")
    return followed


def stands_in(made: Any, part: Part) -> bool:
    """Whether some code was written in this part of a source."""
    return made.co_filename == part.file and part.first <= made.co_firstlineno <= part.last


class Once:
    """Things by number, each kept once."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}

    def put(self, thing: Any) -> int:
        """The number of a thing, which is kept if it is new."""
        return self.known.setdefault(thing, len(self.known))

    def all(self) -> list[Any]:
        """All of them in order."""
        return [*self.known]


def code_payload(followed: Followed, messages: list[Message], put: Put) -> dict[str, Any]:
    """All that the stepper needs of the code, as JSON; `put` stores a block of a message."""
    parts, calls, statements, names, texts = Once(), Once(), Once(), Once(), Once()
    steps = []
    for step in followed.steps:
        part = parts.put(followed.calls[step.call][0])
        at = statements.put((part, step.statement))
        told = texts.put(step.told) if step.told else -1
        entry = [calls.put(step.call), at, KINDS.index(step.kind), told]
        for name, text in step.values.items():
            entry += [names.put(name), -1 if text is None else texts.put(text)]
        steps.append(entry)
    secrets = keys()  # with those that came into the environment after a value was seen
    shown = [spelled_out(hidden(text, secrets)) for text in texts.all()]
    skipped = {str(at): step.skipped for at, step in enumerate(followed.steps) if step.skipped}
    return {
        "parts": [*sources([followed.parts[part] for part in parts.all()])],
        "statements": [sent(part, statement) for part, statement in statements.all()],
        "calls": [followed.calls[call][1] for call in calls.all()],
        "names": names.all(),
        "texts": within_budget(shown),
        "steps": steps,
        "skipped": skipped,
        "marks": [*marks(followed, messages, put)],
        "notes": followed.notes,
    }


def sources(parts: list[Part]) -> Iterator[dict[str, Any]]:
    """The functions with their lines in pieces; a very long source is cut, and says so."""
    left = SOURCE
    for part in parts:
        shown = dedent("\n".join(part.lines)).split("\n")[:left]
        cut = len(part.lines) - len(shown)
        left -= len(shown)
        lines = told_apart(spelled_out(without_keys("\n".join(shown)))) if shown else []
        pieces = [[text if not kind else [kind, text] for kind, text in line] for line in lines]
        entry = {"name": part.name or "lambda", "first": part.first, "lines": pieces}
        yield entry | ({"cut": cut} if cut else {})


def sent(part: int, statement: Statement) -> list[Any]:
    """A statement: where it stands, and the names that it reads and writes."""
    return [part, statement.first, statement.last, statement.reads, statement.writes]


def within_budget(texts: list[str]) -> list[str]:
    """The texts, cut no more than the budget asks for; what is cut says so."""
    for limit in LIMITS:
        if size(texts) <= BUDGET:
            return texts
        texts = [text if len(text) <= limit else f"{text[:limit]}… [cut]" for text in texts]
    room = accumulate(map(size, ([text] for text in texts)))
    return [t if used <= BUDGET else LEFT_OUT for t, used in zip(texts, room, strict=True)]


def size(texts: list[str]) -> int:
    """How many bytes texts take when they are sent."""
    return len(json.dumps(texts, ensure_ascii=False).encode())


def from_outside(followed: Followed) -> set[int]:
    """The steps at which the code was called again, after all that was called had returned."""
    waiting: list[int] = []
    found = set()
    for at, step in enumerate(followed.steps):
        if step.kind == "call":
            if at and not waiting:
                found.add(at)
            waiting.append(step.call)
        elif step.kind == "return" and step.call in waiting:
            del waiting[waiting.index(step.call) :]
    return found


def marks(followed: Followed, messages: list[Message], put: Put) -> Iterator[list[Any]]:
    """From which step on how much of the array was there, and how many replies.

    A fourth entry names the blocks of the last message that were others then than at the end.
    """
    final = [raw_blocks(message) for message in messages]
    starts = [0, *accumulate(map(len, final))]
    arrays = dict(followed.arrays)
    first = next((at for at in sorted(arrays) if longest(arrays[at], messages)), None)
    now: list[Any] = [0, 0]
    if first is None:  # an array that the code does not touch is there before it
        now = [starts[-1], 0]
        yield [-1, *now]
    elif first in from_outside(followed) and (found := longest(arrays[first], messages)):
        now = [
            starts[found.length - 1] + len(found.blocks),
            0,
        ]  # and so is one that was handed to a function it made
        yield [-1, *now]
    for at, step in enumerate(followed.steps):
        there = [*now[:1], step.replies, *now[2:]]
        found = longest(arrays.get(at, []), messages)
        if found and (end := starts[found.length - 1] + found.size) >= now[0]:
            start, last = starts[found.length - 1], final[found.length - 1]
            near = found.size - len(found.blocks)
            others = {
                start + n: put(block)
                for n, (block, later) in enumerate(
                    zip(found.blocks, last[near:], strict=False), near
                )
                if isinstance(block, dict) and not same(block, later)
            }
            there = [min(end, start + len(last)), step.replies, *([others] if others else [])]
        if there != now:
            now = there
            yield [at, *now]
