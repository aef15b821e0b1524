"""Which line put which message into the array: for the faces without a stepper, and for checks."""

from collections import defaultdict
from collections.abc import Iterator
from html import escape
from itertools import accumulate
from typing import Any

from harness_zero.brief import plural
from harness_zero.messages import Message, array_fault
from harness_zero.notebook.code import KINDS
from harness_zero.notebook.lines import one_line
from harness_zero.notebook.stepping import raw_blocks

LINES = 12  # that the text face names
NAMED = 4  # messages that one line names


def entered(run: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """For each message by number the step at which it entered the array, if it came by the code."""
    messages = [each for each in run["steps"] if each["role"] != "lost" and "head" not in each]
    starts = [0, *accumulate(len(each["add"]) for each in messages)]
    number = 0
    for at, end, *_ in run["code"]["marks"]:
        at -= at >= 0 and KINDS[run["code"]["steps"][at][2]] == "call"  # nothing of it ran yet
        while number < len(messages) and starts[number] < end:
            if at >= 0:
                yield number, at
            number += 1


def written(run: dict[str, Any]) -> dict[tuple[int, int], list[int]]:
    """Which messages entered the array by which statement, told by its part and first line."""
    code = run["code"]
    by: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, at in entered(run):
        part, first, *_ = code["statements"][code["steps"][at][1]]
        by[part, first].append(number)
    return dict(sorted(by.items()))


def breaks_at(run: dict[str, Any], messages: list[Message]) -> int:
    """The step at which a run went wrong: it raised, broke its array, or ended as it should not."""
    kinds = [KINDS[kind] for _, _, kind, *_ in run["code"]["steps"]]
    last = len(kinds) - 1
    if kinds[last] != "raise":
        return dict(entered(run)).get(first_fault(messages), last)
    while last and kinds[last - 1] == "raise":  # where it came from, before it passed the callers
        last -= 1
    return last


def first_fault(messages: list[Message]) -> int:
    """The number of the message with which an array broke; -1 if it did not, or only ended."""
    for count in range(1, len(messages) + 1):
        fault = array_fault(messages[:count])
        if fault and not asks(messages[count - 1]):
            return count - 1
    return -1


def asks(message: Message) -> bool:
    """Whether a message asks for tools, so that it waits for the next one."""
    blocks = [block for block in raw_blocks(message) if isinstance(block, dict)]
    return any(block.get("type") == "tool_use" for block in blocks)


def code_lines(run: dict[str, Any]) -> Iterator[str]:
    """For the text face: the lines of code by which messages entered the array."""
    parts, by = run["code"]["parts"], written(run)
    for (part, first), numbers in [*by.items()][:LINES]:
        where = f"line {first} of {parts[part]['name']}"
        yield f"{where}: {messages_in_words(numbers)}  {one_line(line_of(parts[part], first))}"
    if len(by) > LINES:
        yield f"... {plural(len(by) - LINES, 'more line')} ..."


def messages_in_words(numbers: list[int]) -> str:
    """Messages by number; of many the first ones and the last."""
    told = [f"{n:,}" for n in numbers]
    if len(told) > NAMED:
        told = [*told[: NAMED - 1], f"... {told[-1]}"]
    return f"message{'' if len(numbers) == 1 else 's'} {', '.join(told)}"


def line_of(part: dict[str, Any], number: int) -> str:
    """A line of a part as plain text; empty if it was cut."""
    at = number - part["first"]
    pieces = part["lines"][at] if at < len(part["lines"]) else []
    return "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)


def code_page(run: dict[str, Any]) -> str:
    """For the HTML face: the source, and beside a line the messages that entered by it."""
    by = written(run)
    told = []
    for at, part in enumerate(run["code"]["parts"]):
        lines = []
        for n in range(part["first"], part["first"] + len(part["lines"])):
            entered = f"  ← {messages_in_words(by[at, n])}" if (at, n) in by else ""
            said = f"<b>{entered}</b>" if entered else ""
            lines.append(f"{n:>4}  {escape(line_of(part, n))}{said}")
        lines += [f"      ... {plural(part['cut'], 'more line')} ..."] if "cut" in part else []
        told.append("\n".join(lines))
    notes = "".join(f"<p>{escape(note)}</p>" for note in run["code"]["notes"])
    style = "text-align:left;overflow-x:auto"
    return f'<pre dir="ltr" style="{style}">{chr(10).join(told)}</pre>{notes}' if told else notes
