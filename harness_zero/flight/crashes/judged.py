"""What must hold of every run that was killed and resumed, judged by what stands in its folder."""

import json
from collections import Counter
from typing import Any

from harness_zero.flight.crashes.killed import Ending
from harness_zero.messages import array_fault

NAMES = ("model", "read_file", "list_sent", "pay", "send_mail")
AGAIN = ("model", "read_file", "list_sent", "pay")  # what may be done again in doubt


def faults(ending: Ending, expected: str) -> list[str]:
    """What did not hold, in words. `expected` is the label of the undisturbed run."""
    whole = ending.left[: ending.left.rfind(b"\n") + 1]
    array = array_fault(ending.messages)
    found = {
        "a recorded line was lost": not ending.journal.startswith(whole),
        "something recorded was done again": done_again(ending),
        "the mail went out twice": ending.effects["send_mail"] > 1,
        "the invoice was paid twice": ending.effects["paid"] > 1,
        "a doubt was not told to the model": untold(ending),
        f"the label is {ending.label}, not {expected}": ending.label != expected,
        f"the API would have refused {ending.invalid}": bool(ending.invalid),
        f"the array that is left is broken: {array}": bool(array),
    }
    return [fault for fault, holds in found.items() if holds]


def lines(journal: bytes) -> list[dict[str, Any]]:
    """The whole lines of a journal behind its head."""
    return [json.loads(line) for line in journal[: journal.rfind(b"\n") + 1].splitlines()[1:]]


def name(line: dict[str, Any]) -> str:
    """What a step does."""
    return line.get("tool", "model")


def done_again(ending: Ending) -> bool:
    """Whether more was done than was begun, and begun again because it was in doubt."""
    written = lines(ending.journal)
    begun = {line["begin"]: name(line) for line in written if "begin" in line}
    allowed = Counter(begun.values())
    allowed.update(begun[line["again"]] for line in written if "again" in line)
    again = {begun[line["again"]] for line in written if "again" in line}
    too_often = any(ending.effects[each] > allowed[each] for each in NAMES)
    return too_often or not again <= {*AGAIN}


def in_doubt(journal: bytes) -> dict[str, Any] | None:
    """The intent without an outcome that a process left."""
    written = lines(journal)
    ended = {line["end"] for line in written if "end" in line}
    open_ = [line for line in written if "begin" in line and line["begin"] not in ended]
    return open_[-1] if open_ else None


def untold(ending: Ending) -> bool:
    """Whether a mail was in doubt and nobody told the model so."""
    doubt = in_doubt(ending.left)
    if doubt is None or name(doubt) in AGAIN:
        return False
    return not any(
        block.get("tool_use_id") == doubt["id"] and "outcome unknown" in str(block["content"])
        for message in ending.messages
        for block in message["content"]
    )
