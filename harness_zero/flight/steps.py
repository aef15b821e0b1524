"""What a persona does next, and how that becomes a reply of the API."""

from collections.abc import Callable
from itertools import count
from typing import Any

from harness_zero.flight.luck import Luck
from harness_zero.flight.seen import Seen
from harness_zero.messages import Block, Reply, reply, text, tool_use

Ask = tuple[str, dict[str, Any]]  # a tool, and its arguments
Step = list[str | Ask] | str | Reply  # words and calls; words alone, which end the turn; a reply
Skill = Callable[[Seen, Luck], Step]  # the next sensible step in a world
Persona = Callable[[Seen, Skill, Luck], Step]  # a manner over any skill

DONE, GAVE_UP = "Done.", "I could not do it."  # the two claims that a model can end on
LONGEST = 3_000  # characters of one reply, unless the request leaves it more room
TOKEN = 4  # characters
USD = {"read": 3e-6 / TOKEN, "written": 15e-6 / TOKEN}  # a character


def as_reply(step: Step, ids: count, room: int = LONGEST) -> Reply:
    """The step as a reply, cut where the API would cut it."""
    if isinstance(step, dict):
        return step
    parts = [step] if isinstance(step, str) else step
    content = [
        text(part) if isinstance(part, str) else tool_use(f"call_{next(ids)}", part[0], **part[1])
        for part in parts
    ]
    return cut(reply(*[block for block in content if block != text("")]), room)


def priced(said: Reply, read: int) -> Reply:
    """The reply with what it used and cost, at so many characters read."""
    usage = {"input_tokens": read // TOKEN, "output_tokens": size(said) // TOKEN}
    cost = read * USD["read"] + size(said) * USD["written"]
    return {**said, "usage": usage, "cost_usd": round(cost, 9)}


def size(said: Reply) -> int:
    """How many characters the model wrote."""
    return sum(map(length, said["content"]))


def length(block: Block) -> int:
    """How many characters a block takes; a call takes some for its name."""
    if block["type"] == "text":
        return len(block["text"])
    return 20 + sum(len(str(value)) for value in block["input"].values())


def cut(said: Reply, limit: int, whole: bool = False) -> Reply:
    """The reply up to so many characters, with the stop_reason that tells of it.

    The last argument of the call in which the limit falls is lost, or is half there if `whole`
    is what the call has to look like.
    """
    kept: list[Block] = []
    for block in said["content"]:
        if length(block) > limit:
            kept += [half] if (half := half_of(block, limit, whole)) else []
            return {**said, "content": kept, "stop_reason": "max_tokens"}
        kept.append(block)
        limit -= length(block)
    return said


def half_of(block: Block, limit: int, whole: bool) -> Block | None:
    """What is there of a block that was cut; nothing if the cut fell into its name."""
    if block["type"] == "text":
        return text(block["text"][:limit]) if limit > 0 else None
    if limit <= 20 or not block["input"]:
        return None
    *names, last = block["input"]
    left = {name: block["input"][name] for name in names}
    half = {**block, "input": left}
    if whole:
        left[last] = str(block["input"][last])[: max(0, limit - length(half))]
    return half
