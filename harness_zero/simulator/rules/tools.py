"""Rules on the tools that a request offers, and on the choice among them."""

import re
from collections.abc import Iterator
from typing import Any

from harness_zero.brief import brief
from harness_zero.messages import repeated
from harness_zero.simulator.rule import Asked, Refusal, rule

NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
SERVED = re.compile(r"[a-z_]+_\d{8}|mcp_toolset")  # web_search_20260209
DEFINING = "Claude documentation, tool use"


def offered(asked: Asked) -> list[dict[str, Any]]:
    """The tools of the request."""
    return asked.body.get("tools") or []


@rule(
    "a tool has a name and the schema of an object",
    "request",
    "anthropic SDK 2.10.0, tool_param.py",
    "2026-11-17",
    wording="ours",
)
def tools_are_whole(asked: Asked) -> Iterator[Refusal]:
    for at, tool in enumerate(offered(asked)):
        if not isinstance(tool, dict):
            message = f"tools.{at}: Input should be a valid dictionary"
            yield Refusal(message, f"Tool {at} is no dict but {brief(tool)}.")
            continue
        kind = tool.get("type") or "custom"
        theirs = kind != "custom"  # a tool that the server runs
        if theirs and not (isinstance(kind, str) and SERVED.fullmatch(kind)):
            message = f"tools.{at}: Input tag '{kind}' found using 'type' does not match any"
            yield Refusal(message, f"Tool {at} has the type {brief(kind)}; yours need none.")
        for name in ("name",) if theirs else ("name", "input_schema"):
            if name not in tool:
                message = f"tools.{at}.custom.{name}: Field required"
                yield Refusal(message, f"Tool {at} has no {name}: {brief(tool)}.")
        schema = tool.get("input_schema", {"type": "object"})
        if not isinstance(schema, dict) or schema.get("type") != "object":
            message = f"tools.{at}.custom.input_schema.type: Input should be 'object'"
            yield Refusal(message, f"The schema of tool {at} is no object's: {brief(schema)}.")


@rule(
    "a tool's name has 1 to 128 letters, digits, hyphens and underscores",
    "request",
    "wording in reports of 2026; the documentation says 64 at most, and so should you",
    "2026-11-29",
    "reported",
)
def tool_names(asked: Asked) -> Iterator[Refusal]:
    for at, tool in enumerate(offered(asked)):
        if not isinstance(tool["name"], str) or not NAME.fullmatch(tool["name"]):
            message = f"tools.{at}.custom.name: String should match pattern '{NAME.pattern}'"
            mend = "Letters, digits, - and _ only, 64 at most to be safe"
            yield Refusal(message, f"Tool {at} is called {brief(tool['name'])}. {mend}.")


@rule("tools have names of their own", "request", "microsoft/vscode#278073", "2025-11", "reported")
def tools_differ(asked: Asked) -> Iterator[Refusal]:
    if again := repeated([tool["name"] for tool in offered(asked)]):
        yield Refusal("tools: Tool names must be unique.", f"Two tools are called {again!r}.")


CHOICES = ("auto", "any", "tool", "none")


@rule("tool_choice is auto, any, tool or none", "request", DEFINING, wording="ours")
def choice_is_known(asked: Asked) -> Iterator[Refusal]:
    choice = asked.body.get("tool_choice")
    if choice is None:
        return
    names = [tool["name"] for tool in offered(asked)]
    if choice.get("type") not in CHOICES:
        message = "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'"
        yield Refusal(message, f"tool_choice is {brief(choice)}; its type is one of {CHOICES}.")
    elif not names and choice["type"] != "none":
        message = "tool_choice may only be specified while providing tools"
        yield Refusal(message, "There is a tool_choice, and no tool to choose from.")
    elif choice["type"] == "tool" and choice.get("name") not in names:
        message = f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"
        yield Refusal(message, f"tool_choice names none of the tools {', '.join(names)}.")


@rule(
    "the newest models cannot be forced to call a tool",
    "request",
    "Claude documentation, model pages",
    "2026-10",
)
def choice_is_free(asked: Asked) -> Iterator[Refusal]:
    choice = asked.body.get("tool_choice") or {}
    if choice.get("type") in ("any", "tool") and asked.model.forced is False:
        message = 'tool_choice: type "tool" and "any" are not supported for this model.'
        mend = f"{asked.model.name} decides by itself; ask for the call in words."
        yield Refusal(message, mend)


RULES = (tools_are_whole, tool_names, tools_differ, choice_is_known, choice_is_free)
