"""Controls: harnesses that must not do well here, and one that must do as well in other words.

A measure that a wrong harness does well by is not worth having.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from harness_zero.flight.pilots import pilot
from harness_zero.messages import (
    Block,
    Message,
    blocks,
    said,
    tool_result,
    tool_uses,
    user,
)
from harness_zero.rounds import quiet
from harness_zero.stages.s3_error_as_data import answer

Heard = dict[tuple[str, str], list[str]]  # what a tool said to a call, each time
Results = Callable[[list[Block], Any], list[Message]]


def finished_at_once(model: Any, tools: Any, prompt: str) -> tuple[list[Message], str]:
    """Says that it is finished, and does nothing."""
    return [user(prompt)], "finished"


def stop_at_once(model: Any, tools: Any, prompt: str) -> tuple[list[Message], str]:
    """Stops honestly, before anything was tried."""
    return [user(prompt)], "stuck"


def looping(results: Results) -> Callable[..., list[Message]]:
    """A loop whose act step is this one."""

    def run(model: Any, tools: Any, prompt: str) -> list[Message]:
        messages = [user(prompt)]
        while True:
            messages.append(said(reply := model(messages)))
            if not (calls := tool_uses(reply)):
                return messages
            messages += results(calls, tools)

    run.__name__, run.__doc__ = results.__name__, results.__doc__
    return run


@looping
def first_only(calls: list[Block], tools: Any) -> list[Message]:
    """Answers the first call of a reply, and no other."""
    return [user(answer(calls[0], tools))]


@looping
def backwards(calls: list[Block], tools: Any) -> list[Message]:
    """Answers all calls, the last one first."""
    return [user(*[answer(call, tools) for call in reversed(calls)])]


@looping
def mixing(calls: list[Block], tools: Any) -> list[Message]:
    """Gives each call the output of the next one."""
    outputs = [answer(call, tools)["content"] for call in calls]
    pairs = zip(calls, outputs[1:] + outputs[:1], strict=True)
    return [user(*[tool_result(call["id"], output) for call, output in pairs])]


@looping
def twice(calls: list[Block], tools: Any) -> list[Message]:
    """Makes every call twice, to be sure."""
    return [user(*[answer(call, tools) and answer(call, tools) for call in calls])]


@looping
def swallowing(calls: list[Block], tools: Any) -> list[Message]:
    """Tells the model nothing of a failure: the result is empty."""
    answers = [answer(call, tools) for call in calls]
    shown = [tool_result(a["tool_use_id"], "") if a.get("is_error") else a for a in answers]
    return [user(*shown)]


def orphaning(model: Any, tools: Any, prompt: str) -> tuple[list[Message], str]:
    """Has a brake that leaves the last calls without an answer."""
    messages = [user(prompt)]
    for rounds in range(1, 9):
        messages.append(said(reply := model(messages)))
        if not (calls := tool_uses(reply)):
            return messages, "finished"
        if rounds < 8:
            messages.append(user(*[answer(call, tools) for call in calls]))
    return messages, "max_rounds"


def scrambled(harness: Any) -> Callable[..., Any]:
    """The same harness, every word of its own garbled; flags, ids and the tools' words stay."""

    def run(model: Any, tools: Mapping[str, Any], prompt: str, **limits: Any) -> Any:
        heard: Heard = defaultdict(list)
        noted = {name: noting(name, function, heard) for name, function in tools.items()}

        def speak(sent: list[Message]) -> Any:
            return model(garbled(sent, heard))

        return pilot(harness).fly(speak, noted, prompt, **limits)

    return run


def noting(name: str, function: Callable[..., Any], heard: Heard) -> Callable[..., Any]:
    """The same tool; what it says, or raises, is noted."""

    def call(**input: Any) -> Any:
        try:
            value = function(**input)
        except Exception as error:
            heard[name, repr(input)].append(str(error))
            raise
        heard[name, repr(input)].append(str(value))
        return value

    return call


def garbled(sent: list[Message], heard: Heard) -> list[Message]:
    """The array with the harness's own words garbled."""
    calls = {c["id"]: (c["name"], repr(c["input"])) for m in sent for c in tool_uses(m)}

    def garble(block: Block) -> Block:
        if block["type"] == "text":
            said = [quiet(words) for each in heard.values() for words in each]
            return {**block, "text": around(block["text"], said)}
        return {**block, "content": around(block["content"], heard[calls[block["tool_use_id"]]])}

    return [
        user(*map(garble, blocks(message))) if at and message["role"] == "user" else message
        for at, message in enumerate(sent)
    ]


def around(content: str, own: list[str]) -> str:
    """A text with everything garbled around the longest of these words in it."""
    longest = max((words for words in own if words in content), key=len, default="")
    before, found, after = content.partition(longest) if longest else (content, "", "")
    return f"{'z' * len(before)}{found}{'z' * len(after)}"
