"""A run as steps: each is a message that entered the array, or a reply that did not."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from harness_zero.messages import Message, Reply, said
from harness_zero.notebook.account import Account


@dataclass
class Step:
    """One thing that happened: a message entered the array, or a reply did not."""

    message: Message | None
    reply: Reply | None = None
    numbered: bool = True
    opens: bool = False  # whether a turn begins here
    words: list[str] = field(default_factory=list)  # what a policy said then
    asides: list[Reply] = field(default_factory=list)  # what was said beside the array then


def steps(told: Account) -> list[Step]:
    """The run as steps, in order, with a policy's words where they were said."""
    taken = [Step(message, numbered=False) for message in told.head]
    taken += matched(told)
    if told.spoken is not None:
        let_speak(taken, told.spoken)
        mark_turns(taken, {text for _, text in told.spoken})
    speak_aside(taken, told.asides)
    return taken


def speak_aside(taken: list[Step], asides: list[tuple[int, Reply]]) -> None:
    """Put each reply beside the array on the last step that had as many messages by then."""
    had = accumulate(int(step.message is not None and step.numbered) for step in taken)
    last = dict(zip(had, taken, strict=True))
    for at, reply in asides:
        if step := last.get(at):
            step.asides.append(reply)


def matched(told: Account) -> Iterator[Step]:
    """Each message with the reply that it came from; replies that left no message stand alone."""
    replies = [reply for reply in told.replies if isinstance(reply, dict)]
    came_from, coming, before = origins(told.messages, replies), 0, None
    for at, message in enumerate(told.messages):
        if coming < len(replies) and answers_nothing(message, before, replies[coming]):
            yield Step(None, replies[coming])
            coming += 1
        before = message
        if at not in came_from:
            yield Step(message, message if "stop_reason" in message else None)
            continue
        yield from (Step(None, lost) for lost in replies[coming : came_from[at]])
        yield Step(message, replies[came_from[at]])
        coming = came_from[at] + 1
    yield from (Step(None, lost) for lost in replies[coming:])


def origins(messages: list[Message], replies: list[Reply]) -> dict[int, int]:
    """Which message came from which reply. The last ones first: a run can start from an array."""
    where: dict[tuple, list[int]] = defaultdict(list)
    for at, reply in enumerate(replies):
        where[signature(kept(reply))].append(at)
    found: dict[int, int] = {}
    bound = len(replies)
    for at in reversed(range(len(messages))):
        if messages[at]["role"] == "assistant":
            places = where.get(signature(raw_blocks(messages[at])), [])
            while places and places[-1] >= bound:
                places.pop()
            if places:
                found[at] = bound = places.pop()
    return found


def answers_nothing(message: Message, before: Message | None, reply: Reply) -> bool:
    """Whether an empty reply came between two messages: the user spoke twice because of it."""
    twice = before is not None and before["role"] == message["role"] == "user"
    return twice and not kept(reply) and not brings_results(message)


def brings_results(message: Message) -> bool:
    """Whether a message answers calls."""
    blocks = [block for block in raw_blocks(message) if isinstance(block, Mapping)]
    return any(block.get("type") == "tool_result" for block in blocks)


def kept(reply: Reply) -> list[Any]:
    """The blocks of a reply that an array keeps."""
    try:
        return said(reply)["content"]
    except (AttributeError, KeyError, TypeError):
        return raw_blocks(reply)


def signature(blocks: list[Any]) -> tuple:
    """Enough of a message to know it again by."""
    return tuple(
        (str(b.get("type")), str(b.get("id") or "") or str(b.get("text"))[:200])
        if isinstance(b, Mapping)
        else (type(b).__name__, "")
        for b in blocks
    )


def let_speak(taken: list[Step], spoken: list[tuple[int, str]]) -> None:
    """Put each of a policy's words on the last step that had as many messages by then."""
    count, at_count = 0, defaultdict(list)
    for step in taken:
        count += step.message is not None and step.numbered
        at_count[count].append(step)
    said_at = defaultdict(list)
    for count, text in spoken:
        said_at[count].append(text)
    for count, texts in said_at.items():
        places = at_count.get(count, [])[-len(texts) :]
        for at, text in enumerate(texts):
            if places:
                places[max(0, at - len(texts) + len(places))].words.append(text)


def mark_turns(taken: list[Step], words: set[str]) -> None:
    """A turn begins with a message of the user that brings no results and is no policy's words."""
    for step in taken:
        if step.message is None or step.message["role"] != "user":
            continue
        blocks = [block for block in raw_blocks(step.message) if isinstance(block, Mapping)]
        spoken = all(block.get("text") in words for block in blocks)
        step.opens = not brings_results(step.message) and not spoken


def raw_blocks(message: Mapping[str, Any]) -> list[Any]:
    """A message's content as a list, whatever it is."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list | tuple):
        return list(content)
    rest = {key: value for key, value in message.items() if key != "role" and value is not None}
    return [{"type": "message", **rest}] if rest else []
