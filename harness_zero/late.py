"""Receipts: an outcome that comes late is found, written down and told to the model.

A tool that is declared with `@receipted` starts something that can outlive the harness, and hands
it a path. There its own process leaves how it ended, in words, in one instant (written beside
and renamed, as `leave` does). Whoever resumes looks there before the step is called unknown, and
goes on looking after that.
"""

import os
from pathlib import Path

from harness_zero.messages import Block

TOLD = "Late news of {name} (call {id}), whose outcome was unknown: {gave}"


def leave(receipt: str | Path, outcome: str) -> None:
    """Leave an outcome at the place of a receipt, all of it or nothing."""
    place = Path(receipt)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f"{place.name}.{os.getpid()}.tmp")
    draft.write_text(outcome, encoding="utf-8")
    os.replace(draft, place)


def found(receipt: Path) -> str | None:
    """What was left there; nothing if nothing was."""
    try:
        return receipt.read_text("utf-8", "replace")
    except OSError:
        return None


def news(call: Block, gave: str) -> str:
    """A late outcome, in words for the model."""
    return TOLD.format(name=call["name"], id=call["id"], gave=gave)
