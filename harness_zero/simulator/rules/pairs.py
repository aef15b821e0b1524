"""Rules on one message and the next, neighbours of one role joined: every call finds its result."""

from collections.abc import Iterator

from harness_zero.simulator.rule import Asked, Group, Part, Refusal, rule

HANDLING = "Claude documentation, handle tool calls; wording in anthropics/claude-code#5060, #5989"
NONE = Group("", 0, ())
MUST = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."


def ids(parts: list[Part]) -> list[str]:
    """The ids of calls, or of the calls that results answer."""
    name = {"tool_use": "id", "tool_result": "tool_use_id"}
    return [part.block[name[part.block["type"]]] for part in parts]


@rule("every call is answered in the next message, before any text", "pair", HANDLING)
def every_call_is_answered(asked: Asked, group: Group, after: Group | None) -> Iterator[Refusal]:
    calls = group.of("tool_use")
    leading = set(ids(leading_results(after or NONE)))
    if missing := [call for call in calls if call.block["id"] not in leading]:
        at, names = missing[0].at, ", ".join(ids(missing))
        found = "`tool_use` ids were found without `tool_result` blocks immediately after"
        late = set(ids(missing)) & set(ids((after or NONE).of("tool_result")))
        why = "the results come first, then the text" if late else "answer each of them, run or not"
        mend = (
            f"Message {at} asks for {names}, and the next message does not begin with the results"
        )
        yield Refusal(f"messages.{at}: {found}: {names}. {MUST}", f"{mend}: {why}.")


def leading_results(group: Group) -> list[Part]:
    """The results with which a message begins."""
    first = next((n for n, p in enumerate(group.parts) if p.block["type"] != "tool_result"), None)
    return list(group.parts[:first])


@rule(
    "every result answers a call in the message just before",
    "pair",
    "anthropics/claude-code#18947, #13460",
    "2026-11-29",
    "reported",
)
def every_result_was_asked_for(
    asked: Asked, group: Group, after: Group | None
) -> Iterator[Refusal]:
    calls = set(ids(group.of("tool_use")))
    for result in (after or NONE).of("tool_result"):
        if (id := result.block["tool_use_id"]) not in calls:
            found = "unexpected `tool_use_id` found in `tool_result` blocks"
            must = "Each `tool_result` block must have a corresponding `tool_use` block"
            mend = f"Message {result.at} answers {id}, and the message before does not ask for it"
            yield Refusal(
                f"{result.path}: {found}: {id}. {must} in the previous message.",
                f"{mend}: was a message cut away, or the reply not appended?",
            )


@rule("a call has one result", "pair", "Claude documentation, handle tool calls; public reports")
def one_result_each(asked: Asked, group: Group, after: Group | None) -> Iterator[Refusal]:
    seen: set[str] = set()
    for result in (after or NONE).of("tool_result"):
        if (id := result.block["tool_use_id"]) in seen:
            found = "each tool_use must have a single result. Found multiple `tool_result` blocks"
            mend = f"Message {result.at} answers {id} twice; keep one of the results."
            yield Refusal(f"{result.path}: {found} with id: {id}", mend)
        seen.add(id)


@rule(
    "a tool that the server ran has its result in the same message",
    "pair",
    "public issue reports",
    "2026-11-29",
    "reported",
)
def served_tools_are_answered(asked: Asked, group: Group, after: Group | None) -> Iterator[Refusal]:
    results = {str(part.block.get("tool_use_id")) for part in group.parts}
    for call in group.of("server_tool_use") if after else ():
        if (id := call.block["id"]) not in results:
            name = call.block["name"]
            found = f"`{name}` tool use with id `{id}` was found without a corresponding"
            mend = f"Message {call.at} holds {id} of the server's tool {name} without its result"
            said = f"messages.{call.at}: {found} `{name}_tool_result` block"
            yield Refusal(said, f"{mend}: send it back as it came, with nothing after it.")


INSIDE = "Claude documentation, system messages inside the conversation"


@rule(
    "a system message follows the user's and is last, or the model's follows it",
    "pair",
    INSIDE,
    "2026-09",
    wording="ours",
)
def system_has_its_place(asked: Asked, group: Group, after: Group | None) -> Iterator[Refusal]:
    if after and after.role == "system" and group.role != "user" and not served(group):
        said = f"messages.{after.at}: `system` messages must follow a `user` message"
        yield Refusal(said, f"Message {after.at} has the role system, and no user's is before it.")
    if group.role == "system" and after and after.role != "assistant":
        said = f"messages.{group.at}: `system` messages must be last or before `assistant` messages"
        mend = f"Message {group.at} has the role system, and the user's message follows it"
        yield Refusal(said, f"{mend}; put it behind that one.")


def served(group: Group) -> bool:
    """Whether a message of the model ends in what one of the server's own tools brought."""
    return bool(group.parts) and group.parts[-1].block["type"].endswith("_tool_result")


RULES = (
    every_result_was_asked_for,
    every_call_is_answered,
    one_result_each,
    served_tools_are_answered,
    system_has_its_place,
)
