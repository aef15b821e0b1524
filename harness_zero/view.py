"""Views: what the model is sent. The plain one sends the run as it stands.

A provider keeps what stands before a mark, and finds it again only where an earlier request
had a mark. The cached view marks so that every round reads what the round before wrote.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.layers import layer
from harness_zero.marks import LIVES, MARK, unmarked, without_mark
from harness_zero.messages import Block, Message, blocks, text
from harness_zero.ports import Request, View
from harness_zero.run import Run

THOUGHTS = ("thinking", "redacted_thinking")  # no mark can stand on these


def plain(system: str = "", tools: Sequence[dict[str, Any]] = ()) -> View:
    """Send the messages as they stand, with a system prompt and tools' schemas if there are any."""
    fixed: Request = {}
    if system:
        fixed["system"] = system
    if tools:
        fixed["tools"] = list(tools)

    def view(run: Run) -> Request:
        return {**fixed, "messages": run.messages}

    return view


def last_answer(view: View, spare: int = 0) -> View:
    """In the last round that a limit allows, the model may call no tool: it has to use words.

    The tools stay in the request, since they are the first part of what a provider caches. The
    turn ends as `finished` then: the model asked for nothing, since it could not. `spare` rounds
    are left for those who have to agree to the answer: a judge takes one.

    It costs the cache of the messages: under another tool_choice tools and system are still read,
    and nothing behind them. So the whole array is paid for once more, at the full price or,
    marked, at that of writing it.
    """

    def last(run: Run) -> Request:
        request = view(run)
        if "tools" in request and run.rounds + 1 + spare >= run.limits.get("rounds", inf):
            return {**request, "tool_choice": {"type": "none"}}
        return request

    return last


def cached(view: View, ttl: str = "5m") -> View:
    """The same view with its marks set. A run carries none, so only what is marked is touched."""
    kept = known(ttl)
    return layer("a cached view", lambda run: placed(view(run), kept), view)


def marked(request: Request, ttl: str = "5m") -> Request:
    """A request whose prefix is kept for `ttl` (5m or 1h); marks that it had are taken off first.

    At most three marks are set: on the last block, where the next round will look; on the last
    block of the request before, since a look goes back 20 positions and a round may add more;
    and on the head (tools and system), which outlives a compaction. None is set on thinking or
    on blank text, which the API refuses to mark.
    """
    return placed({**request, "messages": [unmarked(m) for m in request["messages"]]}, known(ttl))


def known(ttl: str) -> str:
    """How long something is to be kept, if it is one of the two that there are."""
    if ttl not in LIVES:
        raise SetupFault(f"what is marked is kept for {' or '.join(LIVES)}, and ttl is {ttl!r}")
    return ttl


def placed(request: Request, ttl: str) -> Request:
    """Set the marks in a request whose messages have none. What is not marked is not copied."""
    mark = {"type": "ephemeral", "ttl": ttl}
    given = {name: value for name, value in request.items() if name != MARK}
    messages = [*request["messages"]]
    for end in {len(messages), before_last_reply(messages)}:
        mark_last(messages, end, mark)
    return {**given, **marked_head(given, mark), "messages": messages}


def before_last_reply(messages: Sequence[Message]) -> int:
    """How many messages the request before this one had, as far as its reply is in the array."""
    places = range(len(messages) - 1, -1, -1)
    return next((at for at in places if messages[at]["role"] == "assistant"), 0)


def mark_last(messages: list[Message], end: int, mark: dict[str, str]) -> None:
    """Mark the last block before `end` that can be; its message and no other is made anew."""
    for at in range(end - 1, -1, -1):
        content = blocks(messages[at])
        if content := with_mark(content, mark):
            messages[at] = {**messages[at], "content": content}
            return


def marked_head(request: Request, mark: dict[str, str]) -> Request:
    """The tools and the system prompt, with a mark on the last block of the two."""
    given = {name: request.get(name) for name in ("system", "tools")}
    head = {
        name: bare(content) for name, content in given.items() if content and is_listed(content)
    }
    for name, content in head.items():
        if content_with_mark := with_mark(content, mark):
            return {**head, name: content_with_mark}
    return head


def is_listed(content: Any) -> bool:
    """Whether these are words or blocks; anything else is left for the API to refuse."""
    return isinstance(content, str | list | tuple)


def with_mark(content: list[Block], mark: dict[str, str]) -> list[Block]:
    """The same blocks with the last that can be marked; nothing if none can."""
    for at in range(len(content) - 1, -1, -1):
        if can_be_marked(content[at]):
            return [*content[:at], {**content[at], MARK: mark}, *content[at + 1 :]]
    return []


def can_be_marked(block: Block) -> bool:
    """Whether the API takes a mark on this block. What is none is left for it to refuse."""
    if not isinstance(block, dict) or block.get("type") in THOUGHTS:
        return False
    return block.get("type") != "text" or bool(str(block.get("text") or "").strip())


def bare(content: Iterable[Block] | str) -> list[Block]:
    """Blocks without marks; words as one block."""
    if isinstance(content, str):
        return [text(content)]
    return [without_mark(block) for block in content]
