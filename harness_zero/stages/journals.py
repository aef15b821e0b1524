"""Two drafts of a journal: what was done, and what was begun as well.

Chapter 09 builds them and kills a process around each. `harness_zero/journal.py` is what the
second one grows into.
"""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from harness_zero.models.recorded import Diverged

Effect = Callable[[], Any]


def append(path: Path, line: dict[str, Any]) -> None:
    """Write a line behind the others. The file is closed, so a killed process does not lose it."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def entries(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal; none if there is no file yet."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def of_outcomes(path: Path) -> Callable[..., Any]:
    """A step is written down when it is done, and is not done again."""
    lines, numbers = entries(path), count(1)
    done = {line["step"]: line["done"] for line in lines if "done" in line}

    def step(asked: Any, effect: Effect, in_doubt: Effect | None = None) -> Any:
        number = next(numbers)
        if number in done:
            return done[number]
        outcome = effect()
        append(path, {"step": number, "done": outcome})
        return outcome

    return step


def of_intents(path: Path) -> Callable[..., Any]:
    """A step is written down before it is begun, and when it is done."""
    lines, numbers = entries(path), count(1)
    begun = {line["step"]: line["begun"] for line in lines if "begun" in line}
    done = {line["step"]: line["done"] for line in lines if "done" in line}

    def step(asked: Any, effect: Effect, in_doubt: Effect | None = None) -> Any:
        number = next(numbers)
        if begun.get(number, asked) != asked:
            raise Diverged(f"step {number} was {begun[number]}, and now it is {asked}")
        if number in done:
            return done[number]
        if number in begun:
            effect = in_doubt or effect
        else:
            append(path, {"step": number, "begun": asked})
        outcome = effect()
        append(path, {"step": number, "done": outcome})
        return outcome

    return step
