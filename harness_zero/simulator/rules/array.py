"""Rules on the array as a whole: how it begins, how it ends, what may stand in it once."""

from collections.abc import Iterator

from harness_zero.messages import blocks
from harness_zero.simulator.rule import Asked, Refusal, Rule, rule
from harness_zero.simulator.signature import waiting

REPORTS = "public issue reports"


@rule("the first message is the user's", "array", "second-hand wording", "2026-11-29", "reported")
def begins_with_the_user(asked: Asked, new: int) -> Iterator[Refusal]:
    if (role := asked.messages[0]["role"]) != "user":
        mend = f"The array begins with a message of the role {role}; put the user's before it."
        yield Refusal('messages: first message must use the "user" role', mend)


@rule(
    "a message is not empty, unless it is the model's and the last",
    "array",
    REPORTS,
    "2026-11-29",
    "reported",
)
def no_empty_messages(asked: Asked, new: int) -> Iterator[Refusal]:
    last = len(asked.messages) - 1
    for at in range(new, last + 1):
        message = asked.messages[at]
        if not message["content"] and not (at == last and message["role"] == "assistant"):
            said = "all messages must have non-empty content except for the optional final"
            who = "Leave it out" if message["role"] == "user" else "An empty reply is not appended"
            mend = f"Message {at} is empty. {who}; to nudge the model, send a message with words."
            yield Refusal(f"messages.{at}: {said} assistant message", mend)


@rule(
    "the array ends with the user's message: no words are put into the model's mouth",
    "array",
    "Claude documentation, api/errors",
)
def no_prefill(asked: Asked, new: int) -> Iterator[Refusal]:
    last = asked.messages[-1]
    if last["role"] == "assistant" and not asked.model.prefill and not paused(asked):
        said = "This model does not support assistant message prefill."
        mend = "The array ends with the model's own message: append the results, or what you ask."
        yield Refusal(f"{said} The conversation must end with a user message.", mend)


def paused(asked: Asked) -> bool:
    """Whether the model was only paused, among tools that the server runs: then it may go on."""
    content = blocks(asked.messages[-1])
    served = any(block["type"] == "server_tool_use" for block in content)
    return served or waiting(content) in asked.served.paused


@rule(
    "words put into the model's mouth do not end in space",
    "array",
    "tailcallhq/forgecode#1872",
    "2026-11-29",
    "reported",
)
def prefill_is_stripped(asked: Asked, new: int) -> Iterator[Refusal]:
    last = asked.messages[-1]
    words = blocks(last)[-1].get("text", "") if last["content"] else ""
    words = words if isinstance(words, str) else ""
    if last["role"] == "assistant" and words != words.rstrip() and not paused(asked):
        said = "messages: final assistant content cannot end with trailing whitespace"
        yield Refusal(said, "Strip the words that you put into the model's mouth.")


@rule(
    "a message has the role system only where the model knows it",
    "array",
    "Claude documentation, 2026-09; wording in CherryHQ/cherry-studio#12316",
    "2026-01-06",
)
def system_is_known(asked: Asked, new: int) -> Iterator[Refusal]:
    if asked.model.system_inside is not False:
        return
    for at in range(new, len(asked.messages)):
        if asked.messages[at]["role"] == "system":
            said = 'messages: Unexpected role "system". The Messages API accepts a top-level'
            mend = f"{asked.model.name} knows no system message at {at}; use the field system."
            yield Refusal(
                f'{said} `system` parameter, not "system" as an input message role.', mend
            )


RULES: tuple[Rule, ...] = (
    begins_with_the_user,
    system_is_known,
    no_empty_messages,
    no_prefill,
    prefill_is_stripped,
)


@rule("a call's id is used once", "array", REPORTS, "2026-11-29", "reported")
def ids_are_unique(asked: Asked, new: int) -> Iterator[Refusal]:
    seen: set[str] = set()
    for at in range(new, len(asked.messages)):
        for index, block in enumerate(blocks(asked.messages[at])):
            if block["type"] == "tool_use":
                if (id := block["id"]) in asked.ids or id in seen:
                    mend = (
                        f"The call in message {at} has the id {id}, and an earlier one has it too."
                    )
                    said = f"messages.{at}.content.{index}: `tool_use` ids must be unique"
                    yield Refusal(said, mend)
                seen.add(id)


ONCE = (ids_are_unique,)
