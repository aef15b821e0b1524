"""Rules on one message, and on one block of it."""

import re
from collections.abc import Iterator
from typing import Any

from harness_zero.brief import brief
from harness_zero.simulator.rule import Asked, Part, Refusal, is_blank, rule

SDK = "anthropic SDK 2.10.0, types of messages and blocks"
ROLES = ("user", "assistant", "system")
ID = re.compile(r"^[a-zA-Z0-9_-]+$")
RESULTS = {  # of tools that the server runs
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
    "tool_search_tool_result", "advisor_tool_result", "mcp_tool_result",
}  # fmt: skip
TYPES = RESULTS | {
    "text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use",
    "tool_result", "server_tool_use", "mcp_tool_use", "container_upload", "compaction", "fallback",
    "tool_addition", "tool_removal", "tool_reference",
}  # fmt: skip
FIELDS = {
    "text": ("text",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "server_tool_use": ("id", "name", "input"),
    "image": ("source",),
    "document": ("source",),
}
MORE: dict[str, tuple[str, ...]] = {  # what else may stand there
    "text": ("cache_control", "citations"),
    "tool_use": ("cache_control", "caller", "toolset_name"),
    "tool_result": ("cache_control", "content", "is_error", "toolset_name"),
    "thinking": (),
    "redacted_thinking": (),
}
TEXTS = ("text", "id", "name", "tool_use_id", "thinking", "signature", "data")
THE_MODELS = ("tool_use", "thinking", "redacted_thinking", "server_tool_use", *RESULTS)
INSIDE = ("text", "image", "document", "search_result", "tool_reference")  # a result


@rule("a message has a role and content", "message", SDK, "2026-11-17", wording="ours")
def message_is_whole(asked: Asked, at: int, message: Any) -> Iterator[Refusal]:
    if not isinstance(message, dict):
        said = f"messages.{at}: Input should be a valid dictionary"
        yield Refusal(said, f"Message {at} is no dict but {brief(message)}.")
        return
    for name in ("role", "content"):
        if name not in message:
            yield Refusal(f"messages.{at}.{name}: Field required", f"Message {at} has no {name}.")
    for name in sorted(message.keys() - {"role", "content"}):
        said = f"messages.{at}.{name}: Extra inputs are not permitted"
        mend = f"Message {at} holds {name!r}: send role and content, and keep the rest to yourself."
        yield Refusal(said, mend)
    if message.get("role", "user") not in ROLES:
        said = f"messages.{at}.role: Input should be 'user' or 'assistant'"
        yield Refusal(said, f"Message {at} has the role {brief(message['role'])}.")
    if not isinstance(message.get("content", ""), str | list):
        said = f"messages.{at}.content: Input should be a valid list"
        yield Refusal(said, f"Message {at} has {brief(message['content'])} for content.")


@rule("a block has a type and its fields", "block", SDK, "2026-11-17", wording="ours")
def block_is_whole(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    block, where = part.block, f"Block {part.index} of message {part.at}"
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        what = "Field required" if isinstance(block, dict) else "Input should be a valid dictionary"
        path = f"{part.path}.type" if isinstance(block, dict) else part.path
        yield Refusal(f"{path}: {what}", f"{where} is no content block: {brief(block)}.")
        return
    kind = block["type"]
    if kind not in TYPES | asked.served.kinds:
        said = f"Input tag '{kind}' found using 'type' does not match any of the expected tags"
        yield Refusal(f"{part.path}: {said}", f"{where} has a type that the API does not know.")
    for name in FIELDS.get(kind, ()):
        if name not in block:
            yield Refusal(f"{part.path}.{kind}.{name}: Field required", f"{where} has no {name}.")
        elif name in TEXTS and not isinstance(block[name], str):
            said = f"{part.path}.{kind}.{name}: Input should be a valid string"
            yield Refusal(said, f"{where} has {brief(block[name])} for {name}; it is a text.")


@rule(
    "a block holds no fields but its own",
    "block",
    "anthropics/claude-code#4378; fields of anthropic SDK 2.14.0",
    "2025-07-25",
    "reported",
)
def no_fields_more(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    kind = part.block["type"]
    if kind not in MORE:
        return
    for name in sorted(part.block.keys() - {"type", *FIELDS[kind], *MORE[kind]}):
        mend = f"Block {part.index} of message {part.at} holds {brief(name)}, which no {kind} has"
        said = f"{part.path}.{kind}.{name}: Extra inputs are not permitted"
        yield Refusal(said, f"{mend}; keep it to yourself.")


@rule(
    "the arguments of a call are an object",
    "block",
    "wording in public issue reports",
    "2026-11-30",
    "reported",
)
def input_is_an_object(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    if part.block["type"] == "tool_use" and not isinstance(part.block["input"], dict):
        said = f"{part.path}.tool_use.input: Input should be a valid dictionary"
        mend = f"The call in message {part.at} has {brief(part.block['input'])} for arguments"
        yield Refusal(said, f"{mend}; put an object there, and what was wrong in the result.")


@rule("a call's id has letters, digits, - and _", "block", "HKUDS/nanobot#4356", "2026", "reported")
def id_is_plain(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    if part.block["type"] == "tool_use" and not ID.fullmatch(part.block["id"]):
        said = f"{part.path}.tool_use.id: String should match pattern '{ID.pattern}'"
        yield Refusal(said, f"The call in message {part.at} has the id {brief(part.block['id'])}.")


@rule(
    "a result holds text, or blocks of text, image, document or search result",
    "block",
    "anthropic SDK 2.10.0, tool_result_block_param.py",
    "2026-11-17",
    wording="ours",
)
def result_is_readable(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    if part.block["type"] != "tool_result":
        return
    content, flag = part.block.get("content", ""), part.block.get("is_error", False)
    where = f"The result of {part.block['tool_use_id']} in message {part.at}"
    if not isinstance(content, str | list):
        said = f"{part.path}.tool_result.content: Input should be a valid list"
        yield Refusal(said, f"{where} is {brief(content)}; turn it into text.")
    for index, inner in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(inner, dict) or inner.get("type") not in INSIDE:
            said = f"{part.path}.tool_result.content.{index}: Input should be a content block"
            yield Refusal(said, f"{where} holds {brief(inner)}; it may hold {', '.join(INSIDE)}.")
        elif inner["type"] == "text" and not isinstance(inner.get("text"), str):
            said = (
                f"{part.path}.tool_result.content.{index}.text.text: Input should be a valid string"
            )
            yield Refusal(said, f"{where} holds {brief(inner.get('text'))} for a text.")
    if not isinstance(flag, bool):
        said = f"{part.path}.tool_result.is_error: Input should be a valid boolean"
        yield Refusal(said, f"{where} has {brief(flag)} for is_error; it is true or false.")


@rule(
    "a text block is not empty, and not only space",
    "block",
    "anthropics/claude-code#59812 and #23440",
    "2026-11-29",
    "reported",
)
def text_says_something(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    if part.block["type"] == "text" and is_blank(part.block["text"]):
        what = "contain non-whitespace text" if part.block["text"] else "be non-empty"
        mend = f"Block {part.index} of message {part.at} is a text without a word. Leave it out"
        yield Refusal(f"messages: text content blocks must {what}", f"{mend}.")


@rule(
    "calls stand in the model's messages, results in the user's",
    "block",
    SDK,
    "2026-11-17",
    "assumed",
    "ours",
)
def each_in_its_place(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    kind = part.block["type"]
    belongs = {**dict.fromkeys(THE_MODELS, "assistant"), "tool_result": "user"}
    if belongs.get(kind, role) != role:
        said = f"{part.path}: `{kind}` blocks can only be in `{belongs[kind]}` messages"
        yield Refusal(said, f"Message {part.at} is of the {role}, and holds a {kind}.")


@rule(
    "since API version 2026-10-21 some blocks have only one place",
    "block",
    "Claude documentation, api/migration-2026-10-21",
    "2026-11",
    wording="ours",
)
def only_there(asked: Asked, part: Part, role: str) -> Iterator[Refusal]:
    block = part.block
    if asked.version < "2026-10-21":
        return
    if block["type"] == "document" and role == "assistant":
        said = f"{part.path}: `document` blocks are not allowed in `assistant` messages"
        yield Refusal(
            said, f"Message {part.at} of the model holds a document; the user gives those."
        )
    if block["type"] == "text" and block.get("citations") and role == "user":
        said = f"{part.path}.text.citations: not allowed in `user` messages"
        yield Refusal(
            said, f"Message {part.at} of the user holds citations; the model gives those."
        )


MESSAGE_RULES = (message_is_whole,)
FORM = (
    block_is_whole,
    no_fields_more,
    input_is_an_object,
    id_is_plain,
    result_is_readable,
)
SAYING = (
    text_says_something,
    each_in_its_place,
    only_there,
)
