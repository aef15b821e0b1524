"""Harnesses with a contract about stopping, to be flown beside the library that has none."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness_zero.contracts import output_type, stop_hook, verifier
from harness_zero.flight.pilots import Contract, with_contract
from harness_zero.flight.place import POLLERS
from harness_zero.flight.steps import GAVE_UP
from harness_zero.messages import Message, Reply, text, tool_results, tool_uses, words
from harness_zero.ports import Policy
from harness_zero.repetition import repetition
from harness_zero.run import Run

Tools = Mapping[str, Callable[..., Any]]

REPORT = {
    "type": "object",
    "properties": {"done": {"type": "boolean"}, "report": {"type": "string"}},
    "required": ["done", "report"],
}
NONE_SENT = "none"


def check_of(tools: Tools, prompt: str) -> Callable[[], str | None] | None:
    """What whoever wrote the task could check without knowing the solution; nothing in some."""
    if "run_tests" in tools:
        return lambda: unless(tools["run_tests"](), lambda said: said.startswith("0 failed"))
    if "list_sent" in tools:
        return lambda: unless(tools["list_sent"](), lambda said: said != NONE_SENT)
    if into := re.search(r"into (\w+\.txt)", prompt):
        return lambda: unless(tools["read_file"](path=into[1]), bool)
    return None


def unless(said: str, good: Callable[[str], bool]) -> str | None:
    """What a tool said, unless that is good."""
    return None if good(said) else said


def in_form(model: Callable[[list[Message]], Reply]) -> Callable[[list[Message]], Reply]:
    """A model that puts its answers into the form of a report once it was told of it."""

    def speak(messages: list[Message]) -> Reply:
        reply = model(messages)
        told = any(m["role"] == "user" and not tool_results(m) for m in messages[1:])
        claim = words(reply)
        if not told or tool_uses(reply) or not claim or reply["stop_reason"] != "end_turn":
            return reply
        report = {"done": not claim.startswith(GAVE_UP), "report": claim}
        return {**reply, "content": [text(json.dumps(report))]}

    return speak


def in_a_report(stop: Policy, tools: Tools, prompt: str) -> Policy:
    """The stop under an output type."""
    return output_type(stop, REPORT)


def checked(stop: Policy, tools: Tools, prompt: str) -> Policy:
    """The stop under a verifier, in a world in which there is something to run or to look at."""
    check = check_of(tools, prompt)
    return stop_hook(stop, verifier(check, name="the check")) if check else stop


def checked_report(stop: Policy, tools: Tools, prompt: str) -> Policy:
    """The stop under both: the check is run once there is a report."""
    return checked(in_a_report(stop, tools, prompt), tools, prompt)


def reporting(contract: Contract, name: str) -> Callable[..., Run]:
    """The library under a contract that wants a report, with a model that can write one."""
    flown = with_contract(contract, DETECTOR, name=name)

    def run(model: Any, tools: Any, prompt: str, **limits: Any) -> Run:
        return flown(in_form(model), tools, prompt, **limits)

    run.__name__ = name
    return run


DETECTOR = repetition(pollers=POLLERS)
typed = reporting(in_a_report, "typed")
verified = with_contract(checked, DETECTOR, name="verified")
both = reporting(checked_report, "both")
