"""What a change between two requests costs: which levels of the cache are lost, tried out."""

from collections.abc import Callable
from typing import Any

from harness_zero.messages import reply, said, text, tool_result, tool_use, user
from harness_zero.prefix import MARK, SECTIONS
from harness_zero.simulator.cache import Cache
from harness_zero.simulator.catalogue import MODELS
from harness_zero.simulator.exchange import Body

MODEL = "claude-sonnet-5"
LARGE = 5_000  # tokens of each block, so that every level is worth caching
SEARCH = {"type": "web_search_20260209", "name": "web_search"}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
}
DOCUMENT = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "a"},
}


def base(*more: Any) -> Body:
    """A request with something at every level; `more` blocks end its last message."""
    result = tool_result("toolu_1", "5")
    call = said(reply(tool_use("toolu_1", "add", x=2, y=3)))
    return {
        "model": MODEL,
        "max_tokens": 100,
        "tools": [{"name": "add", "input_schema": {"type": "object"}}],
        "system": [text("You add.")],
        "messages": [user("go", DOCUMENT), call, user(result, *more)],
    }


def with_tool(request: Body, **fields: Any) -> Body:
    """With other fields of its tool."""
    return {**request, "tools": [{**request["tools"][0], **fields}]}


def with_citations(request: Body) -> Body:
    """With its document to be cited."""
    cited = {**DOCUMENT, "citations": {"enabled": True}}
    return {**request, "messages": [user("go", cited), *request["messages"][1:]]}


CHANGES: dict[str, Callable[[Body], Body]] = {
    "a tool's description": lambda r: with_tool(r, description="Add."),
    "the server's web search on or off": lambda r: {**r, "tools": [*r["tools"], SEARCH]},
    "citations on or off": with_citations,
    "`speed`": lambda r: {**r, "speed": "fast"},
    "the system prompt": lambda r: {**r, "system": [text("You sum.")]},
    "`tool_choice`": lambda r: {**r, "tool_choice": {"type": "any"}},
    "`disable_parallel_tool_use`": lambda r: {
        **r,
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    },
    "a first image": lambda r: {**r, "messages": [*r["messages"], user(IMAGE)]},
    "`thinking`": lambda r: {**r, "thinking": {"type": "adaptive"}},
    "`output_config.effort`": lambda r: {**r, "output_config": {"effort": "low"}},
    "a message": lambda r: {**r, "messages": [user("come"), *r["messages"][1:]]},
    "the model": lambda r: {**r, "model": "claude-opus-5"},
    "`max_tokens`": lambda r: {**r, "max_tokens": 200},
    "a mark more": lambda r: marked(r, "messages", {"messages": r["messages"][:1]}),
    "messages at the end": lambda r: {**r, "messages": [*r["messages"], user("more")]},
}


def lost(change: Callable[[Body], Body]) -> dict[str, bool]:
    """By level, whether what was written there is read no more after a change."""
    return {level: not read(change, level) for level in SECTIONS}


def read(change: Callable[[Body], Body], level: str) -> int:
    """The tokens read at one level, once a request is sent again with a change."""
    cache = Cache(clock=lambda: 0.0, declared=lambda block: LARGE)
    before, after = base(), change(base())
    cache.serve(marked(before, level), MODELS[before["model"]])
    return cache.serve(marked(after, level, before), MODELS[after["model"]]).read


def marked(request: Body, level: str, where: Body | None = None) -> Body:
    """With a mark on the block of a level that is the last in `where`, or in the request."""
    at = len((where or request)[level]) - 1
    if level != SECTIONS[2]:
        return {**request, level: put(request[level], at)}
    message = request[level][at]
    content = put(message["content"], len(message["content"]) - 1)
    messages = [*request[level]]
    messages[at] = {**message, "content": content}
    return {**request, level: messages}


def put(blocks: list[Any], at: int) -> list[Any]:
    """Blocks, one of them marked."""
    kept = {**blocks[at], MARK: {"type": "ephemeral"}}
    return [*blocks[:at], kept, *blocks[at + 1 :]]
