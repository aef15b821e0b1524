"""Ways to lose a cached prefix: each takes a run's requests and gives them back busted.

Five change what was sent before: a clock at the top, tools in another order, a system prompt
that is improved in mid-session, a status that is updated in place, old messages trimmed from
the middle. The others leave every byte of the prefix: a parameter beside it changes, a round has
more positions than a cache looks back, a tool works longer than an entry lives.

No request is changed in place. Messages that stay are the same objects, so that a long run is
busted, compared and priced in work that grows with what is new.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness_zero.messages import Message, text
from harness_zero.ports import Request

PACE = 20.0  # seconds from request to request, unless they are told
START = 14 * 3600 + 32 * 60 + 7  # the clock at the top begins at 14:32:07
MARK = "cache_control"
MANY = 24  # blocks of one reply: more than the 20 positions that a cache looks back
LIFETIME = 300  # seconds of an entry, unless it is written for an hour
ONE_CALL = {"disable_parallel_tool_use": True}
IMPROVEMENT = "The user seems to be in a hurry: be brief."

Requests = Sequence[Request]
Times = Sequence[float]


def at_pace(requests: Requests, seconds: float = PACE) -> list[float]:
    """When each request is sent if the rounds are equally long."""
    return [seconds * at for at in range(len(requests))]


def clock_at_the_top(requests: Requests, times: Times | None = None) -> list[Request]:
    """The time to the second as the first thing in the system prompt."""
    when = at_pace(requests) if times is None else times
    return [
        {**request, "system": [text(f"Current time: {clock(at)}"), *blocks(request.get("system"))]}
        for request, at in zip(requests, when, strict=True)
    ]


def tools_reordered(requests: Requests) -> list[Request]:
    """The same tools in another order each time, as if every round built them from a set."""
    return [
        {**request, "tools": rotated(request["tools"], at)} if request.get("tools") else request
        for at, request in enumerate(requests)
    ]


def system_prompt_improved(requests: Requests, at: int | None = None) -> list[Request]:
    """One sentence more in the system prompt from request `at` on; half-way unless given."""
    begin = len(requests) // 2 if at is None else at
    return [
        {**request, "system": improved(request.get("system"))} if n >= begin else request
        for n, request in enumerate(requests)
    ]


def status_near_the_top(requests: Requests) -> list[Request]:
    """A status section before the user's first words, brought up to date in each round."""
    return [
        with_first(request, text(f"Current status: round {n}, {len(request['messages'])} messages"))
        for n, request in enumerate(requests, start=1)
    ]


def middle_trimmed(requests: Requests, keep: int | None = None) -> list[Request]:
    """The first message and the last `keep` rounds; half of the run's rounds unless given.

    A call and its result go together, so each array is one that the API takes.
    """
    most = max((len(spoken(request)) for request in requests), default=0)
    kept = max(1, most // 2) if keep is None else keep
    return [trimmed(request, kept) for request in requests]


def tool_choice_changed(requests: Requests, at: int | None = None) -> list[Request]:
    """One call at a time, asked for in mid-run: tool_choice stands beside the prefix."""
    begin = len(requests) // 2 if at is None else at
    return [
        {**r, "tool_choice": {**(r.get("tool_choice") or {"type": "auto"}), **ONE_CALL}}
        if n >= begin
        else r
        for n, r in enumerate(requests)
    ]


def thinking_changed(requests: Requests, at: int | None = None) -> list[Request]:
    """Thinking set to something else in mid-run: it stands beside the prefix as well."""
    begin = len(requests) // 2 if at is None else at
    return [
        {**request, "thinking": other_thinking(request.get("thinking"))} if n >= begin else request
        for n, request in enumerate(requests)
    ]


def many_positions(requests: Requests, more: int = MANY) -> list[Request]:
    """Replies in so many blocks that the last write is out of a cache's sight.

    What was sent before stays byte for byte, and yet it is not found.
    """
    known: dict[int, tuple[Message, Message]] = {}  # the original is held, so that its id stays its

    def padded(message: Message) -> Message:
        if message.get("role") != "assistant":
            return message
        if id(message) not in known:
            said = [text(f"Part {n} of {more}.") for n in range(1, more + 1)]
            content = [*said, *blocks(message.get("content"))]
            known[id(message)] = message, {**message, "content": content}
        return known[id(message)][1]

    return [{**request, "messages": [*map(padded, request["messages"])]} for request in requests]


def only_last_marked(requests: Requests) -> list[Request]:
    """The same requests without a mark on any message but the last one."""
    known: dict[int, tuple[Message, Message]] = {}

    def bare(message: Message) -> Message:
        if id(message) not in known:
            known[id(message)] = message, without_marks(message)
        return known[id(message)][1]

    return [
        {**request, "messages": [*map(bare, request["messages"][:-1]), *request["messages"][-1:]]}
        for request in requests
    ]


def slow_tool(times: Times, at: int | None = None, seconds: float = LIFETIME + 10) -> list[float]:
    """The times of a run in which a tool works so long that the entries are gone meanwhile.

    Request `at`, the one in the middle unless given, and all after it come that much later.
    """
    begin = len(times) // 2 if at is None else at
    return [when + seconds if n >= begin else when for n, when in enumerate(times)]


@dataclass(frozen=True)
class Buster:
    """A way to lose the prefix: what it is called, what it does, what mends it."""

    name: str
    does: str
    cure: str
    bust: Callable[[Requests, Times], tuple[Requests, Times]]


def of_requests(change: Callable[[Requests], Requests]) -> Any:
    """A change of the requests alone, in the shape of all busters."""
    return lambda requests, times: (change(requests), times)


BUSTERS = (
    Buster(
        "clock at the top",
        "The system prompt begins with the time to the second.",
        "Say the date, or say the time at the bottom.",
        lambda requests, times: (clock_at_the_top(requests, times), times),
    ),
    Buster(
        "tools reordered",
        "The tools come in another order in each request.",
        "Keep one order, whichever it is.",
        of_requests(tools_reordered),
    ),
    Buster(
        "system prompt improved",
        "From the middle of the run on, the system prompt has one sentence more.",
        "Say it at the bottom, or with the next session.",
        of_requests(system_prompt_improved),
    ),
    Buster(
        "status near the top",
        "A status stands before the user's first words, and is brought up to date in place.",
        "Let it enter at the bottom, as a new message.",
        of_requests(status_near_the_top),
    ),
    Buster(
        "middle trimmed",
        "Each request leaves out one more of the oldest rounds.",
        "Cut rarely, and much at a time.",
        of_requests(middle_trimmed),
    ),
    Buster(
        "tool_choice changed",
        "From the middle of the run on, tool_choice asks for one call at a time.",
        "Decide it before the run.",
        of_requests(tool_choice_changed),
    ),
    Buster(
        "thinking changed",
        "From the middle of the run on, thinking is set to something else.",
        "Decide it before the run.",
        of_requests(thinking_changed),
    ),
    Buster(
        "too many positions",
        f"Each reply has {MANY} short blocks more, and only the end is marked: 20 are looked back.",
        "Mark the last block of the request before as well.",
        of_requests(lambda requests: many_positions(only_last_marked(requests))),
    ),
    Buster(
        "slow tool",
        f"In the middle of the run a tool works for {LIFETIME + 10} seconds more.",
        "Write for an hour where tools are slow.",
        lambda requests, times: (requests, slow_tool(times)),
    ),
)


def clock(seconds: float) -> str:
    """The time of day, so many seconds after the run began."""
    whole = int(START + seconds) % 86_400
    return f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def blocks(content: Any) -> list[Any]:
    """A system prompt or a message's content as a list of blocks."""
    if isinstance(content, str):
        return [text(content)] if content else []
    return [*content] if isinstance(content, list | tuple) else []


def rotated(tools: Sequence[Any], by: int) -> list[Any]:
    """The tools moved on by some places. A mark stays at the place at which it stood."""
    turn = by % len(tools)
    moved = [*tools[turn:], *tools[:turn]]
    return [with_mark_of(place, tool) for place, tool in zip(tools, moved, strict=True)]


def with_mark_of(place: Any, tool: Any) -> Any:
    """A tool, marked as the one that stood at its place was."""
    if not isinstance(place, dict) or not isinstance(tool, dict):
        return tool
    plain = {name: value for name, value in tool.items() if name != MARK}
    return {**plain, MARK: place[MARK]} if MARK in place else plain


def without_marks(message: Message) -> Message:
    """A message without marks on its blocks; the very same if it has none."""
    content = message.get("content")
    if not isinstance(content, list) or not any(isinstance(b, dict) and MARK in b for b in content):
        return message
    plain = [
        {k: v for k, v in b.items() if k != MARK} if isinstance(b, dict) else b for b in content
    ]
    return {**message, "content": plain}


def improved(system: Any) -> Any:
    """A system prompt with one sentence more at its end."""
    if not isinstance(system, list | tuple):
        return f"{system} {IMPROVEMENT}" if system else IMPROVEMENT
    last = system[-1] if system else text("")
    said = f"{last.get('text', '')} {IMPROVEMENT}".strip()
    return [*system[:-1], {**last, "text": said}]


def with_first(request: Request, block: Any) -> Request:
    """A request whose first message begins with a block more."""
    first, *others = request["messages"]
    return {
        **request,
        "messages": [{**first, "content": [block, *blocks(first.get("content"))]}, *others],
    }


def spoken(request: Request) -> list[int]:
    """Where the model spoke."""
    return [at for at, m in enumerate(request["messages"]) if m.get("role") == "assistant"]


def trimmed(request: Request, keep: int) -> Request:
    """A request without the rounds between its first message and its last `keep` rounds."""
    replies = spoken(request)
    if len(replies) <= keep:
        return request
    messages = request["messages"]
    start = replies[-keep] if keep else len(messages)
    return {**request, "messages": [messages[0], *messages[start:]]}


def other_thinking(now: Any) -> dict[str, Any]:
    """Another setting than this one."""
    adaptive = isinstance(now, dict) and now.get("type") == "adaptive"
    return {"type": "disabled"} if adaptive else {"type": "adaptive"}
