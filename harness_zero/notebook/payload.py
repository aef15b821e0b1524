"""What the stepper is sent: any run as steps over one array, each block stored once.

A step is a message that entered the array, or a reply that did not. It names the
blocks it adds, so a thousand rounds cost a thousand small entries and no copies.
Long texts are cut, and say so, until the whole fits its budget."""

import json
import re
from collections.abc import Mapping
from typing import Any

from harness_zero.keys import hidden, keys
from harness_zero.messages import Message, Reply, array_fault, tokens
from harness_zero.notebook.account import Account, an
from harness_zero.notebook.code import code_payload
from harness_zero.notebook.stepping import Step, kept, raw_blocks, steps
from harness_zero.notebook.written import asks

BUDGET = 800_000  # bytes of blocks
LIMITS = (20_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120)  # characters of one text
MANY, DEEP = 200, 20  # entries of one list or dict, and levels of them
SURROGATES = re.compile("[\ud800-\udfff]")


KEYS_ROOM = 500  # characters around a cut in which a key of a known shape is looked for


class Cutter:
    """Makes blocks fit to be sent: plain JSON, no text longer than the limit, cuts told."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.secrets = keys()
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
        if len(given) <= self.limit:
            given = hidden(given, self.secrets)
        else:
            first, last = self.limit * 3 // 4, self.limit // 4
            word = self.told(f"{len(given) - first - last:,} of {len(given):,} characters cut here")
            room = KEYS_ROOM + max(map(len, self.secrets), default=0)  # half a key is hard to tell
            begin = hidden(given[: first + room], self.secrets)[:first]
            end = hidden(given[-last - room :], self.secrets)[-last:]
            given = f"{begin}\n{word}\n{end}"
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
    code = told.followed and code_payload(told.followed, told.messages, store.put)
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
            "array": words.text(broken(judged(told))),
        }
        | ({"open": True} if told.under_way else {}),
    } | ({"code": code} if code else {})


def judged(told: Account) -> list[Message]:
    """The messages that can be judged: while a turn is under way its last calls may wait."""
    waits = told.under_way and told.messages and asks(told.messages[-1])
    return told.messages[:-1] if waits else told.messages


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
    entry |= spent(step.reply, words)
    for each in step.asides:
        cost = spent(each, words)
        entry["asides"] = entry.get("asides", 0) + 1
        entry |= {name: entry.get(name, 0) + cost.get(name, 0) for name in ("tokens", "usd")}
    return entry


def spent(reply: Reply | None, words: Cutter) -> dict[str, Any]:
    """Why the model ended its reply, and what the reply cost."""
    if reply is None:
        return {}
    usage, cost = reply.get("usage"), reply.get("cost_usd")
    entry: dict[str, Any] = {"stop": str(words.value(reply.get("stop_reason")))}
    if isinstance(usage, Mapping):
        counted = {name: count for name, count in usage.items() if isinstance(count, int)}
        entry["tokens"] = number(tokens(counted))
        if any(prefix := prefix_of(counted)):
            entry["prefix"] = [number(count) for count in prefix]
    if isinstance(cost, int | float):
        entry["usd"] = number(round(cost, 9))
    return entry


def prefix_of(usage: Mapping[str, int]) -> tuple[int, int, int]:
    """What the API declared of a request: tokens read, written, and not cached."""
    read, written = usage.get("cache_read_input_tokens", 0), usage.get(WRITTEN, 0)
    return read, written, usage.get("input_tokens", 0)


WRITTEN = "cache_creation_input_tokens"
