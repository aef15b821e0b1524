"""Forms: what an answer did, told in one way, so that only what is promised is compared."""

from collections.abc import Callable, Iterable
from typing import Any

from harness_zero.desk import as_text
from harness_zero.labels import End, Say
from harness_zero.messages import Block, Message, blocks

NOT_MADE = "not executed"
Form = Callable[[Block], Any]


def plain(block: Block) -> Any:
    """A block in one form: a result's text may be bare or in a block, and need not say is_error."""
    if block["type"] != "tool_result":
        return block
    return block["tool_use_id"], as_text(block), bool(block.get("is_error"))


def loosely(block: Block) -> Any:
    """The same, where the reason why a call was not made is in the learner's own words."""
    form = plain(block)
    if isinstance(form, tuple) and str(form[1]).startswith(NOT_MADE):
        return form[0], NOT_MADE, form[2]
    return form


def alike(messages: Iterable[Message], form: Form = plain) -> list[Any]:
    """Messages in one form, whichever of the API's forms they came in."""
    return [(message["role"], [form(block) for block in blocks(message)]) for message in messages]


def word(said: Any, *needles: str) -> Any:
    """What a policy says: its label, or which of these are in its words, in order."""
    if isinstance(said, End):
        return "end", str(said.label)
    if isinstance(said, Say):
        return "say", holds(said.text, *needles)
    return said


def holds(text: Any, *needles: str) -> list[bool]:
    """Which of these stand in a text, each behind the one before."""
    found, rest = [], str(text)
    for needle in needles:
        found.append(needle in rest)
        rest = rest[rest.find(needle) + len(needle) :] if needle in rest else rest
    return found
