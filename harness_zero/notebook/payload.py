"""What the stepper is sent: any run as steps over one array, each block stored once.

A step is a message that entered the array, or a reply that did not. It names the
blocks it adds, so a thousand rounds cost a thousand small entries and no copies.
Long texts are cut, and say so, until the whole fits its budget.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, Reply, array_fault, said, tokens
from harness_zero.run import Run
from harness_zero.watch import Recording

BUDGET = 800_000  # bytes of blocks
LIMITS = (20_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120)  # characters of one text
MANY, DEEP = 200, 20  # entries of one list or dict, and levels of them
SURROGATES = re.compile("[\ud800-\udfff]")


class NothingToStep(SetupFault):
    """What was handed to the stepper is no run."""


@dataclass(frozen=True)
class Account:
    """What can be told of a run, whichever loop played it."""

    messages: list[Message]
    head: list[Message] = field(default_factory=list)  # system and tools, if a request was given
    replies: list[Reply] = field(default_factory=list)
    spoken: list[tuple[int, str]] | None = None  # nothing if the loop does not tell
    limits: dict[str, float] = field(default_factory=dict)
    label: Any = None
    why: str = ""
    fault: str = ""


def account(run: Any) -> Account:
    """Any run, told in one way; NothingToStep if it is none."""
    if isinstance(run, Run):
        told = (run.replies, run.spoken, run.limits, run.label, run.why)
        return Account(checked(run.messages, run), [], *told)
    if isinstance(run, Recording):
        ended = (run.label, run.why, run.fault)
        return Account(checked(run.messages, run), [], run.replies, None, {}, *ended)
    if isinstance(run, tuple) and len(run) == 2 and not is_message(run[0]):
        inner = account(run[0])
        return Account(**{**vars(inner), "label": run[1] if run[1] is not None else inner.label})
    if isinstance(run, dict) and "messages" in run:
        return Account(checked(run["messages"], run), head(run))
    if not isinstance(run, list | tuple) and isinstance(getattr(run, "messages", None), list):
        label, why = getattr(run, "label", None), getattr(run, "why", "")
        return Account(checked(run.messages, run), label=label, why=str(why or ""))
    return Account(checked(run, run))


def checked(messages: Any, run: Any) -> list[Message]:
    """The messages, if that is what they are."""
    if isinstance(messages, list | tuple) and all(is_message(each) for each in messages):
        return list(messages)
    wanted = (
        "step() shows a Run, a Recording, a list of messages, or (messages, label); "
        f"this is {described(run)}."
    )
    if run is None:
        wanted += " Does the loop return its messages?"
    elif isinstance(messages, list | tuple):
        wanted += " A message is a dict with a role and its content."
    elif callable(run):
        wanted += " Hand it what the loop gave back, not the loop."
    raise NothingToStep(wanted)


def is_message(given: Any) -> bool:
    """Whether this looks like a message, be it a sound one or not."""
    return isinstance(given, Mapping) and isinstance(given.get("role"), str)


def described(run: Any) -> str:
    """What was given instead, in a few words that are the same on every machine."""
    if run is None:
        return "None"
    if isinstance(run, list | tuple):
        odd = next((each for each in run if not is_message(each)), None)
        return f"a {type(run).__name__} with {an(type(odd).__name__)} in it"
    return an(type(run).__name__)


def an(noun: str) -> str:
    """The noun with its article."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def head(request: dict[str, Any]) -> list[Message]:
    """What a request says before its messages, as two that have no number: tools and system."""
    tools = [{"type": "tool", **tool} for tool in request.get("tools") or []]
    parts = {"tools": tools, "system": request.get("system")}
    return [{"role": role, "content": content} for role, content in parts.items() if content]


@dataclass
class Step:
    """One thing that happened: a message entered the array, or a reply did not."""

    message: Message | None
    reply: Reply | None = None
    numbered: bool = True
    opens: bool = False  # whether a turn begins here
    words: list[str] = field(default_factory=list)  # what a policy said then


def steps(told: Account) -> list[Step]:
    """The run as steps, in order, with a policy's words where they were said."""
    taken = [Step(message, numbered=False) for message in told.head]
    taken += matched(told)
    if told.spoken is not None:
        let_speak(taken, told.spoken)
        mark_turns(taken, {text for _, text in told.spoken})
    return taken


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


class Cutter:
    """Makes blocks fit to be sent: plain JSON, no text longer than the limit, cuts told."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.longest = 0  # text met
        self.cuts = 0

    def block(self, given: Any) -> dict[str, Any]:
        """A block as a dict with a type, whatever stood in the message."""
        block = self.value(given)
        if isinstance(block, str):
            return {"type": "text", "text": block}
        if not isinstance(block, dict):
            return {"type": type(given).__name__, "value": block}
        return block if isinstance(block.get("type"), str) else {**block, "type": "no type"}

    def value(self, given: Any, depth: int = 0) -> Any:
        """Any value as JSON can carry it and a page can bear it."""
        if given is None or isinstance(given, bool):
            return given
        if isinstance(given, str):
            return self.text(given)
        if isinstance(given, int | float):
            return number(given)
        if depth > DEEP:
            return self.told("deeper than is shown")
        if isinstance(given, Mapping):
            return self.mapping(given, depth + 1)
        if isinstance(given, list | tuple):
            items = [self.value(item, depth + 1) for item in given[:MANY]]
            more = len(given) - len(items)
            return [*items, self.told(f"{more:,} more entries")] if more else items
        if hasattr(given, "model_dump"):  # a block of the SDK
            return self.value(given.model_dump(), depth + 1)
        return f"<{an(type(given).__name__)}>"

    def mapping(self, given: Mapping, depth: int) -> dict[str, Any]:
        """A dict with words for keys; the bytes of a picture are counted and left out."""
        shown = dict(list(given.items())[:MANY])
        if given.get("type") == "base64" and isinstance(given.get("data"), str):
            shown["data"] = f"[{len(given['data']):,} characters of base64, not shown]"
        plain = {self.text(str(key)): self.value(item, depth) for key, item in shown.items()}
        if more := len(given) - len(shown):
            plain["..."] = self.told(f"{more:,} more entries")
        return plain

    def text(self, given: str) -> str:
        """A text that is not too long; its beginning and its end stay."""
        self.longest = max(self.longest, len(given))
        if len(given) > self.limit:
            first, last = self.limit * 3 // 4, self.limit // 4
            word = self.told(f"{len(given) - first - last:,} of {len(given):,} characters cut here")
            given = f"{given[:first]}\n{word}\n{given[-last:]}"
        return SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", given)

    def told(self, what: str) -> str:
        """The words that stand where something was cut."""
        self.cuts += 1
        return f"[... {what} ...]"


def number(given: int | float) -> int | float | str:
    """A number that JSON and a browser can both hold, else its words."""
    if isinstance(given, int):
        if given.bit_length() <= 53:
            return int(given)
        return str(given) if given.bit_length() < 400 else f"<an int of {given.bit_length()} bits>"
    return given if given - given == 0 else str(given)


class Store:
    """Blocks, each once, by the number under which the steps know it."""

    def __init__(self, limit: int) -> None:
        self.cutter = Cutter(limit)
        self.blocks: list[dict[str, Any]] = []
        self.cut: list[int] = []  # the numbers of those that are not whole
        self.known: dict[str, int] = {}
        self.bytes = 0

    def put(self, given: Any) -> int:
        """Store a block, unless it is here; gives back its number."""
        cuts = self.cutter.cuts
        block = self.cutter.block(given)
        written = json.dumps(block, ensure_ascii=False)
        if written not in self.known:
            self.known[written] = len(self.blocks)
            self.bytes += len(written.encode())
            self.blocks.append(block)
            if self.cutter.cuts > cuts:
                self.cut.append(self.known[written])
        return self.known[written]


def stored(taken: list[Step]) -> tuple[Store, list[list[int]]]:
    """The blocks of all steps, cut no more than the budget asks for, and each step's numbers."""
    longest = LIMITS[0] + 1
    for limit in LIMITS:
        if limit >= longest and limit != LIMITS[-1]:
            continue
        store = Store(limit)
        contents = [raw_blocks(each.message) if each.message else [] for each in taken]
        numbers = [[store.put(block) for block in content] for content in contents]
        longest = min(store.cutter.longest, limit)
        if store.bytes <= BUDGET or longest <= LIMITS[-1]:
            break
    return store, numbers


def payload(told: Account) -> dict[str, Any]:
    """All that the stepper needs, as JSON: blocks, steps, limits and the end."""
    taken = steps(told)
    store, numbers = stored(taken)
    words = Cutter(LIMITS[3])
    return {
        "blocks": store.blocks,
        "cut": store.cut,
        "steps": [sent(s, add, words) for s, add in zip(taken, numbers, strict=True)],
        "limits": {name: words.value(limit) for name, limit in told.limits.items()},
        "tells": {"replies": bool(told.replies), "policy": told.spoken is not None},
        "end": {
            "label": None if told.label is None else str(words.value(told.label)),
            "why": words.text(told.why),
            "fault": words.text(told.fault),
            "array": words.text(broken(told.messages)),
        },
    }


def broken(messages: list[Message]) -> str:
    """Why the Messages API would not take the array, in words; nothing if it would."""
    if not messages:
        return ""
    try:
        return array_fault(messages) or ""
    except (AttributeError, KeyError, TypeError) as error:
        return f"a block lacks what its type asks for ({type(error).__name__}: {error})"


def sent(step: Step, add: list[int], words: Cutter) -> dict[str, Any]:
    """One step in as few bytes as it takes: what is absent is empty."""
    role = words.text(step.message["role"]) if step.message else "lost"
    entry: dict[str, Any] = {"role": role, "add": add}
    if not step.numbered:
        entry["head"] = True
    if step.message is None and step.reply and not kept(step.reply):
        entry["empty"] = True
    if step.opens:
        entry["opens"] = True
    if step.words:
        entry["says"] = [words.text(text) for text in step.words]
    return entry | spent(step.reply, words)


def spent(reply: Reply | None, words: Cutter) -> dict[str, Any]:
    """Why the model ended its reply, and what the reply cost."""
    if reply is None:
        return {}
    usage, cost = reply.get("usage"), reply.get("cost_usd")
    entry: dict[str, Any] = {"stop": str(words.value(reply.get("stop_reason")))}
    if isinstance(usage, Mapping):
        counted = {name: count for name, count in usage.items() if isinstance(count, int)}
        entry["tokens"] = number(tokens(counted))
    if isinstance(cost, int | float):
        entry["usd"] = number(round(cost, 9))
    return entry
