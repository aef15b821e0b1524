"""What a journal's lines and faults say in words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_zero.brief import brief, cut, plural
from harness_zero.marks import without_mark
from harness_zero.messages import Message, blocks

UNKNOWN = (
    "outcome unknown: the process died while {name} was at work, and nobody saw how it ended."
    " It may have happened or not. Check first, before you do it again."
)
LOST_KEY = (
    "not executed: the input held a key, which no journal keeps, and the process died before the"
    " call was made. Ask for it again."
)
PAID = "asked again; a reply that was under way is paid for and lost"
AGAIN = "made again, as its declaration allows"
LEFT = "told to the model as unknown, and not made again"
OTHER_HEAD = (
    "{path}: at step {number} the system prompt or the tools were others. What is recorded stands;"
    " what comes now goes by these"
)
STANDS_IN = "given what stands for unknown, and not made again"
LATE = "its own process had left the outcome"


@dataclass(frozen=True)
class Doubt:
    """A step that was begun and has no outcome: which one, and what was done about it."""

    number: int
    what: str
    done: str

    def __str__(self) -> str:
        return f"step {self.number}, {self.what}, was in doubt: {self.done}"


def told(line: dict[str, Any]) -> str:
    """A step, a turn or an end, in words."""
    if "model" in line:
        sent = line["model"]
        return f"a model call on {plural(sent['messages'], 'message')}, the last {sent['says']!r}"
    if "tool" in line:
        return f"the tool {line['tool']}({brief(line['input'], 100)}), call {line['id']}"
    if "step" in line:
        return f"the step {line['step']}({', '.join(brief(it) for it in line['given'])})"
    if "prompt" in line:
        return f"a turn with the prompt {brief(line['prompt'])}"
    if "ended" in line:
        return f"the end of the turn as {line['ended']}"
    return f"a line {next(iter(line))!r}"


def diverged(path: Path, expected: dict[str, Any], got: dict[str, Any]) -> str:
    """What was recorded, and what was asked for instead."""
    cure = "Run what ran then, or begin another journal; this one is as it was"
    return f"{path} cannot be replayed: expected {told(expected)}; got {told(got)}. {cure}."


def in_doubt(line: dict[str, Any]) -> str:
    """That nobody knows the outcome of a step of one's own."""
    cure = "declare it with @reads or @keyed, or give step(..., unknown=...)"
    return f"{told(line)} was begun and has no outcome: {cure}."


def cut_off(size: int) -> str:
    """That a last line was left out; nothing if none was."""
    return f"its last line was cut off after {size} bytes, and is left out" if size else ""


def unmarked(message: Message) -> Message:
    """A message without the marks of a cache, which move on from request to request."""
    content = [{n: it for n, it in b.items() if n != "cache_control"} for b in blocks(message)]
    return {"role": message["role"], "content": content}


def unmarked_head(given: Any) -> Any:
    """A system prompt or a list of tools, without the marks of a cache."""
    return [without_mark(each) for each in given] if isinstance(given, list | tuple) else given


def gist(message: Message) -> str:
    """What a message says last, in a few words."""
    last = blocks(message)[-1] if blocks(message) else {}
    said = str(last.get("text") or last.get("content") or last.get("type", ""))
    return cut(" ".join(said[:200].split()), 60)
