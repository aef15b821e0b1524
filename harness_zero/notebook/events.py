"""The event tree: what happened in a run, in order, as one looks at it for the first time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from harness_zero.brief import plural
from harness_zero.faults import SetupFault
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    blocks,
    said,
    shape_fault,
    tool_results,
    words,
)
from harness_zero.notebook.faces import Shown, fold, spelled_out
from harness_zero.notebook.lines import one_line
from harness_zero.watch import as_call, clipped

FIRST, LAST = 6, 3  # rounds of a long turn that are shown; those between are folded


class NotARun(SetupFault):
    """There is no tree of this; the sentence says why."""


@dataclass
class Event:
    """Something that happened: what it is called, what it says, what happened inside of it."""

    kind: str  # turn, prompt, round, reply, call, result, words, more, end
    name: str = ""  # the number of a round, the stop_reason of a reply, the id of a call
    says: str = ""
    failed: bool = False
    inside: list[Event] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}".strip()


def event_tree(run: Any) -> Shown:
    """Show a recording, a run, or a list of messages as a tree of what happened in order."""
    messages, label = run if is_pair(run) else (getattr(run, "messages", run), None)
    if fault := array_shape_fault(messages):
        raise NotARun(f"{fault}; a tree is drawn of a recording, a run, or a list of messages")
    turns = turns_of(messages, getattr(run, "replies", []), getattr(run, "spoken", []))
    turns[-1].inside.append(ending(run, label))
    lines = "\n".join(line for turn in turns for line in [turn.title, *branches(turn)])
    page = "".join(page_of(turn) for turn in turns)
    return Shown(lines, f'<div class="hz-tree"><ul>{page}</ul></div>')


def is_pair(run: Any) -> bool:
    """Whether this is what stage 4 gives back: the messages, and the label."""
    return isinstance(run, tuple) and len(run) == 2


def array_shape_fault(messages: Any) -> str | None:
    """Why no tree can be drawn of this, in words; None if one can."""
    if not isinstance(messages, list):
        return f"this is of type {type(messages).__name__}"
    faults = ((at, shape_fault(message)) for at, message in enumerate(messages))
    found = next((f"message {at} {fault}" for at, fault in faults if fault), None)
    return found if messages else "there is no message in this"


def turns_of(messages: list[Message], replies: list[Reply], spoken: list) -> list[Event]:
    """The turns of an array. A user's words open one, unless a policy said them."""
    turns: list[Event] = []
    at = 0
    for message, reply in with_replies(messages, replies):
        is_prompt = opens_turn(message, at, spoken)
        if is_prompt or not turns:
            turns.append(Event("turn", str(len(turns) + 1)))
        if message and is_prompt:
            turns[-1].inside.append(Event("prompt", says=line(words(message))))
        elif message is None or message["role"] == "assistant":
            turns[-1].inside.append(round_of(1 + len(rounds(turns[-1])), message, reply))
        else:
            answer(turns[-1], message)
        at += message is not None
    for call_round in (each for turn in turns for each in rounds(turn)):
        call_round.inside = with_gaps(call_round.inside)
    return turns


def with_replies(
    messages: list[Message], replies: list[Reply]
) -> Iterator[tuple[Message | None, Reply | None]]:
    """Each message with the reply that it comes from, if known; an empty reply left no message."""
    spoke = sum(message["role"] == "assistant" for message in messages)
    left = [at for at, reply in enumerate(replies) if said(reply)["content"]]
    known = left[len(left) - min(spoke, len(left)) :]  # an array may be older than its replies
    queue = replies[known[0] if len(left) > spoke and known else 0 :]
    older = spoke - len(known)
    for message in messages:
        if message["role"] == "assistant" and older:
            older -= 1
            yield message, None
        elif message["role"] == "assistant":
            yield message, queue.pop(0)
        else:
            yield message, None
            if queue and not older and not said(queue[0])["content"]:
                yield None, queue.pop(0)
    yield from ((None, reply) for reply in queue)


def opens_turn(message: Message | None, at: int, spoken: list) -> bool:
    """Whether this is the user's own message: it brings no results, and no policy said it."""
    if message is None or message["role"] != "user" or tool_results(message):
        return False
    return (at, words(message)) not in spoken


def rounds(turn: Event) -> list[Event]:
    return [event for event in turn.inside if event.kind == "round"]


def round_of(number: int, message: Message | None, reply: Reply | None) -> Event:
    """One reply and the calls that it asks for; their results are yet to come."""
    content = blocks(message) if message else []
    stop_reason = str(reply.get("stop_reason") or "") if reply else ""
    spoke = Event("reply", stop_reason, line(words(message)) if message else "empty")
    asked = [event_of(block) for block in content if block["type"] != "text"]
    return Event("round", str(number), inside=[spoke, *asked])


def event_of(block: Block) -> Event:
    """What a block other than the model's words is."""
    if block["type"] == "tool_use":
        call = as_call(str(block.get("name")), dict(block.get("input") or {}))
        return Event("call", spelled_out(str(block.get("id"))), call)
    if block["type"] == "tool_result":
        failed = bool(block.get("is_error"))
        says = f"{'error: ' if failed else ''}{line(block.get('content') or '')}"
        return Event("result", spelled_out(str(block.get("tool_use_id"))), says, failed)
    return Event("words", says=line(block["text"])) if "text" in block else Event(block["type"])


def answer(turn: Event, message: Message) -> None:
    """Put each result after its call, and words where they were said."""
    events = rounds(turn)[-1].inside if rounds(turn) else turn.inside
    for result in map(event_of, blocks(message)):
        calls = [at for at, event in enumerate(events) if asks_for(event, result)]
        if result.kind == "result" and not calls:
            result.says = f"answers no call: {result.says}"
        events.insert(calls[-1] + 1 if calls else len(events), result)


def asks_for(event: Event, result: Event) -> bool:
    """Whether this is the call that the result answers."""
    return (event.kind, event.name, result.kind) == ("call", result.name, "result")


def with_gaps(events: list[Event]) -> list[Event]:
    """The same events; that a call has no result is an event too."""
    answered = {event.name for event in events if event.kind == "result"}
    full: list[Event] = []
    for event in events:
        full.append(event)
        if event.kind == "call" and event.name not in answered:
            full.append(Event("result", event.name, "none", failed=True))
    return full


def ending(run: Any, label: Any) -> Event:
    """How the last turn ended, as far as it is told."""
    if isinstance(run, list):
        return Event("end", says="of the array")
    label, why = label or getattr(run, "label", None), getattr(run, "why", "")
    if fault := getattr(run, "fault", ""):
        return Event("end", says=line(f"lost: {fault}"), failed=True)
    return Event("end", says=line(f"{label or 'without a label'}{why and ': '}{why}"))


def line(content: object) -> str:
    """Any content on one line that fits the page."""
    return spelled_out(clipped(one_line(content)))


def shortened(events: list[Event]) -> list[Event]:
    """The same events, the middle rounds of a long turn folded into one."""
    all_rounds = [at for at, event in enumerate(events) if event.kind == "round"]
    if len(all_rounds) <= FIRST + LAST + 1:
        return events
    begin, end = all_rounds[FIRST], all_rounds[-LAST]
    count = plural(len(all_rounds) - FIRST - LAST, "more round")
    return [*events[:begin], Event("more", says=count, inside=events[begin:end]), *events[end:]]


def branches(event: Event) -> Iterator[str]:
    """What happened inside of an event, as the lines of a tree."""
    inside = shortened(event.inside)
    for part in inside:
        fork, rail = ("└─ ", "   ") if part is inside[-1] else ("├─ ", "│  ")
        if part.kind == "more":
            yield f"{fork}... {part.says} ..."
        else:
            yield f"{fork}{part.title}{part.says and ': '}{part.says}".rstrip()
            yield from (rail + below for below in branches(part))


def page_of(event: Event) -> str:
    """An event and what happened inside of it, as an item of a list."""
    inside = listed(page_of(part) for part in shortened(event.inside))
    if event.kind == "more":
        return f"<li>{fold(event.says, inside)}</li>"
    name = f" <code>{escape(event.name)}</code>" if event.name else ""
    says = f" <span>{escape(event.says, quote=False)}</span>" if event.says else ""
    kind = f"{event.kind} failed" if event.failed else event.kind
    return f'<li class="{escape(kind)}"><b>{escape(event.kind)}</b>{name}{says}{inside}</li>'


def listed(items: Iterable[str]) -> str:
    """Items as a list; nothing if there are none."""
    page = "".join(items)
    return f"<ul>{page}</ul>" if page else ""
