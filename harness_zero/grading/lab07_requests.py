"""Requests to try an answer of lab 07 on: a run that grows, and what a cache makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from harness_zero.faults import hole
from harness_zero.messages import Block, Message, text, tool_result, tool_use, user
from harness_zero.models.claude import DEFAULT_MODEL
from harness_zero.ports import Request

if TYPE_CHECKING:
    from harness_zero.simulator.cache import Counted

MARK = "cache_control"
HOUSE = "You mend the tests of a small project. Say what you do in a sentence. "


def tool(name: str, *needs: str) -> dict[str, Any]:
    """The schema of a tool."""
    fields = {need: {"type": "string"} for need in needs}
    schema = {"type": "object", "properties": fields, "required": [*needs]}
    return {"name": name, "description": f"Use {name}.", "input_schema": schema}


TOOLS = [tool("read_file", "path"), tool("edit", "path", "old", "new"), tool("run_tests")]


def asked(number: int, said: str = "") -> list[Message]:
    """A round as it stands in the array: a call and what came back, some 400 tokens."""
    came = said or f"page {number}: " + f"a line of part {number}; " * 50
    call = tool_use(f"call_{number}", "read_file", path=f"part_{number}.txt")
    return [{"role": "assistant", "content": [call]}, user(tool_result(call["id"], came))]


def growing(rounds: int, head: bool = True, of: Callable[[int], list[Message]] = asked) -> Iterator:
    """The requests of a run: each begins with the one before, and a round of it stands behind."""
    fixed: Request = {"system": HOUSE * 40, "tools": TOOLS} if head else {}
    messages = [user("Read the parts and sum them up.")]
    for number in range(1, rounds + 1):
        yield deepcopy({"max_tokens": 1000, **fixed, "messages": messages})
        messages = [*messages, *of(number)]


def many(number: int) -> list[Message]:
    """A round with words between its calls: each is a position of its own for a cache."""
    ids = [f"call_{number}_{n}" for n in range(15)]
    pairs = [(text(f"Part {id}."), tool_use(id, "read_file", path=id)) for id in ids]
    calls = {"role": "assistant", "content": [block for pair in pairs for block in pair]}
    return [calls, user(*[tool_result(id, f"a line of {id}; " * 9) for id in ids])]


def served(requests: Iterable[Request], seconds: Sequence[float] = ()) -> list[Counted]:
    """What one cache reads and writes for these requests, sent at these seconds or one a second."""
    from harness_zero.simulator.cache import Cache  # every kernel of the course imports this file
    from harness_zero.simulator.catalogue import MODELS

    cache, facts = Cache(), MODELS[DEFAULT_MODEL]
    return [
        cache.serve(request, facts, at=seconds[at] if seconds else float(at))
        for at, request in enumerate(requests)
    ]


def bill(requests: Iterable[Request], seconds: Sequence[float] = ()) -> list[str]:
    """What each request read from the cache and wrote to it, as a table."""
    rows = [
        f"{at:>7}{seconds[at] if seconds else at:>8.0f} s"
        f"{counted.total:>8,}{counted.read:>8,}{counted.written:>9,}"
        for at, counted in enumerate(served(requests, seconds))
    ]
    return ["", "request        at  tokens    read  written", *rows]


def bill_of(mark: Callable[[Request], Request], rounds: int = 8) -> None:
    """Print what a run costs whose requests are marked like this."""
    try:
        print(*bill(map(mark, growing(rounds))), sep="\n")
    except NotImplementedError as error:
        print(f"not done yet: there is a hole in {hole(error)}.")


def marks(request: Request) -> list[Block]:
    """All blocks with a mark, in cache order, those inside a result included."""
    return [each for each in within(request) if MARK in each]


def within(value: Any) -> Iterator[dict[str, Any]]:
    """Every dict in a value that may bear a mark; a tool's schema or input may not."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from within(each)
    elif isinstance(value, dict):
        yield value
        for name in ("tools", "system", "messages", "content"):
            yield from within(value.get(name))
