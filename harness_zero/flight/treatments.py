"""What a harness can make of a failing tool, and how much of a failure a model is told.

Ways to answer a call go into the loop of stages 2 and 3, which differ in nothing else. Stage 2
itself crashes, stage 3 tells the true error; here are the two treatments that lie between them.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from time import monotonic
from types import FunctionType
from typing import Any

from harness_zero.flight.pilots import Pilot, pilot, pilot_of
from harness_zero.messages import Block, Message, not_executed, said, tool_result, tool_uses, user
from harness_zero.stages import s2_brakes, s3_error_as_data

Tools = Mapping[str, Callable[..., Any]]
Answer = Callable[[Block, Tools], Block]


def swallowed(call: Block, tools: Tools) -> Block:
    """Whatever goes wrong, say nothing of it: the result is empty."""
    try:
        return s2_brakes.answer(call, tools)
    except Exception:
        return tool_result(call["id"], "")


def guessed(call: Block, tools: Tools) -> Block:
    """If a file is missing, read the one whose name is nearest; whoever asked is not told."""
    outcome = s3_error_as_data.answer(call, tools)
    if outcome.get("is_error") and (near := nearest(call, tools)):
        return s3_error_as_data.answer({**call, "input": {**call["input"], "path": near}}, tools)
    return outcome


def nearest(call: Block, tools: Tools) -> str:
    """The file that is nearest to the one that is missing, if one is near."""
    if call["name"] != "read_file":
        return ""
    path, there = str(call["input"].get("path")), tools["list_files"]().split("\n")
    near = get_close_matches(path, there, 1)
    return near[0] if near and path not in there else ""


def answering(answer: Answer, name: str = "") -> Pilot:
    """The loop of stages 2 and 3 with another way to answer a call, to be flown."""
    ours, own = s3_error_as_data.run, getattr(answer, "__name__", "an answer")
    names = {**vars(s3_error_as_data), "answer": answer}
    run = FunctionType(ours.__code__, names, own, ours.__defaults__)
    return pilot_of(name or own, run, f"answering({own})")


def bare(harness: Any) -> Pilot:
    """The same harness with tools whose failing results carry nothing but that they failed.

    The flag and the count stay. What is missing, what there is instead, and the line that
    failed are gone.
    """
    flown = pilot(harness)

    def run(model: Any, tools: Tools, prompt: str, **limits: Any) -> Any:
        poor = {name: without_particulars(function) for name, function in tools.items()}
        return flown.fly(model, poor, prompt, **limits)

    return pilot_of(f"bare {flown.name}", run, f"bare({flown.word})")


class ToolError(Exception):
    """A tool failed, and that is all there is to know."""


def without_particulars(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same tool; of what goes wrong it says that it did, of failing tests how many."""

    @wraps(function)
    def tool(**input: Any) -> str:
        try:
            output = str(function(**input))
        except Exception:
            raise ToolError("failed") from None
        return re.sub(r"(\d+ failed).*", r"\1", output)

    return tool


PLAN = "Make a plan of the steps that are left, then take the next one."
CHECK = "Check every step of your plan. If one is not done, go on."
TRIES, CHECKS = 3, 2


def smarter(
    model: Any,
    tools: Tools,
    prompt: str,
    max_rounds: int = 20,
    cap_usd: float = 2.0,
    seconds: float = 600,
    clock: Callable[[], float] = monotonic,
) -> list[Message]:
    """A loop that is smarter than ours: it tries a failing call three times by itself, asks for a
    plan at the start and after each failure, and sends every answer back twice to be checked."""
    messages, rounds, spent, checks, began = [user(prompt, PLAN)], 0, 0.0, 0, clock()
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds, spent, calls = rounds + 1, spent + reply["cost_usd"], tool_uses(reply)
        if not calls and (checks == CHECKS or not messages[-1]["content"]):
            return messages
        if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
            closing = [not_executed(call, "a limit was reached") for call in calls]
            return [*messages, user(*closing)] if closing else messages
        messages.append(acted(calls, tools) if calls else user(CHECK))
        checks += not calls


def acted(calls: list[Block], tools: Tools) -> Message:
    """The results of these calls, and the wish for a new plan if one of them failed."""
    results = [tried(call, tools) for call in calls]
    failed = any(result.get("is_error") for result in results)
    return user(*results, *([PLAN] if failed else []))


def tried(call: Block, tools: Tools) -> Block:
    """The result of a call that is made again while it fails."""
    for _ in range(TRIES):
        result = s3_error_as_data.answer(call, tools)
        if not result.get("is_error"):
            break
    return result
