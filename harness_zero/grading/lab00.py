"""Lab 00, one call: its exercises and what an answer to each one promises."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from harness_zero.brief import brief, plural
from harness_zero.desk import (
    Broken,
    as_blocks,
    as_text,
    asking,
    instead,
    kinds,
    list_fault,
    message_fault,
    note,
    result_fault,
    surplus,
)
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
    the_roles_take_turns,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    blocks,
    reply,
    said,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
)
from harness_zero.models.scripted import scripted
from harness_zero.stages import s1_structural_stop
from harness_zero.watch import Recording, record

Answer = Callable[[Block, dict[str, Callable]], Block]
NextArray = Callable[[list[Message], Reply, list[Block]], list[Message]]


CONVERSATION_MEANT = [
    user("what is 2 + 3?"),
    said(reply(tool_use("a", "add", x=2, y=3))),
    user(tool_result("a", "5")),
    said(reply("It is 5.")),
]


def messages_of(conversation: Callable[[], Any]) -> list[Message]:
    """What the learner wrote down, once it is a list of messages at all."""
    got = conversation()
    if not isinstance(got, list):
        why = "an array is a list of dicts, each with a role and a content"
        raise Broken("a list of messages", list_fault(got) or brief(got, 120), why)
    for at, message in enumerate(got):
        if fault := fault_but_the_role(message):
            why = "a message is a dict with a role and a content: words, or a list of blocks"
            raise Broken("a list of messages", f"a list whose message {at} {fault}", why)
    return got


def fault_but_the_role(message: Any) -> str | None:
    """What is wrong with the form of a message, whoever is said to speak in it."""
    return message_fault({**message, "role": "user"} if isinstance(message, dict) else message)


def the_roles_alternate(conversation: Callable[[], Any]) -> None:
    """Four messages: user, assistant, user, assistant."""
    messages = messages_of(conversation)
    got = [str(message.get("role", "none")) for message in messages]
    expected = ["user", "assistant", "user", "assistant"]
    if got != expected:
        why = "to the model, everything that is not its own word comes from the user"
        roles = ", ".join(got) or "no message"
        raise Broken(f"the roles {', '.join(expected)}", roles, why, case=messages)


def the_array_has_no_hole(conversation: Callable[[], Any]) -> None:
    """The call and its result carry the same id."""
    messages = messages_of(conversation)
    if fault := array_fault(messages) or surplus(messages):
        got = f"{fault}, in {', '.join(kinds(messages))}"
        why = "it refuses the whole array otherwise"
        raise Broken("an array that the API takes", got, why, case=messages)


def every_message_says_what_was_said(conversation: Callable[[], Any]) -> None:
    """The question, the call, the result and the answer, word by word, and nothing besides."""
    messages = messages_of(conversation)
    pairs = zip(CONVERSATION_MEANT, messages, strict=True)
    for at, (meant, message) in enumerate(pairs):
        if exact(meant) != exact(message):
            why = "the model reads the array to the letter"
            expected, got = brief(meant["content"], 200), brief(message["content"], 300)
            raise Broken(f"message {at} to hold {expected}", got, why, case=messages)


def exact(message: Message) -> str:
    """What a message says, in one form: bare words or a block, an absent is_error or a False."""
    return json.dumps([bare(block) for block in blocks(message)], sort_keys=True, default=brief)


def bare(block: Block) -> Block:
    """A block; of a result what it holds as text, and is_error only where it says so."""
    if block["type"] != "tool_result":
        return block
    rest = {key: value for key, value in block.items() if (key, value) != ("is_error", False)}
    return {**rest, "content": as_text(block)}


def answered(answer: Answer, call: Block, tools: dict[str, Callable]) -> Block:
    """What the learner's function gives back, once it is a result block at all."""
    got = answer(call, tools)
    if not isinstance(got, dict) or got.get("type") != "tool_result":
        why = "a call is answered by a block, and the block goes into a message later"
        raise Broken("a tool_result block", instead(got), why)
    if fault := result_fault(got):
        why = "a result holds text, or a list of blocks which each have a type"
        raise Broken("a tool_result block", f"one that {fault}", why)
    return got


def among_others(name: str, function: Callable) -> dict[str, Callable]:
    """A tool in the middle of others that nobody asks for."""
    return {"first": lambda **_: "first", name: function, "last": lambda **_: "last"}


def shown(call: Block, result: Block) -> list[Message]:
    """The array in which a call and its result would stand."""
    return [user("go"), said(reply(call)), user(result)]


def the_tool_runs_once_with_the_arguments_it_was_asked_with(answer: Answer) -> None:
    """By name, whatever the order, and no other tool."""
    seen: list[Any] = []

    def note(x: int, y: int) -> None:
        seen.append((x, y))

    def noted(other: str) -> Callable:
        return lambda x, y: seen.append(other)

    note.__qualname__ = "note"  # as an error would name it
    tools = {"first": noted("first"), "note": note, "last": noted("last")}
    answered(answer, tool_use("a", "note", y=2, x=1), tools)
    if seen != [(1, 2)]:
        why = "an effect happens as it was asked for, once"
        raise Broken("note called once with x=1, y=2", brief(seen, 200), why)


def the_result_carries_the_id_of_the_call(answer: Answer) -> None:
    """Whatever the id is, and whichever tool was asked for."""
    for id, name in (("a", "note"), ("toolu_42", "look"), ("toolu_01XyZ", "note")):
        call = tool_use(id, name)
        got = answered(answer, deepcopy(call), among_others(name, lambda: "noted"))
        if got.get("tool_use_id") != id:
            why = "a reply may ask for several tools; the id tells which one this answers"
            found = brief(got.get("tool_use_id"), 120)
            raise Broken(f"tool_use_id {id!r}", found, why, shown(call, got))


TALE = "  'Who?'\n\t\"I,\" said {she}: it's 5 \\ 2.\n "
TEXTS: tuple[Any, ...] = (5, 2.5, "five", TALE, TALE * 99)  # each one as str() writes it
VALUES: tuple[tuple[Any, tuple[str, ...]], ...] = (  # and what is in any text of them
    (None, ()),
    ({"total": 42}, ("total", "42")),
)
WHY_TEXT = "a result holds text (or blocks), and of the output the model knows what stands there"


def what_it_holds_is_text(answer: Answer) -> None:
    """All of it, as it came; also for a number, a dict and nothing."""
    for output in TEXTS:
        got, case = held(answer, output)
        if got != (expected := str(output)):
            whole = f"{len(expected):,} characters, " if len(expected) > 80 else ""
            came = f"{len(got):,} characters, " if whole and isinstance(got, str) else ""
            wanted = f"{whole}{brief(expected, 60)}"
            raise Broken(wanted, f"{came}{brief(got, 60)}", WHY_TEXT, case)
    for output, parts in VALUES:
        got, case = held(answer, output)
        if not isinstance(got, str) or not got or any(part not in got for part in parts):
            raise Broken(f"a text that tells {output!r}", brief(got, 120), WHY_TEXT, case)


def held(answer: Answer, output: Any) -> tuple[Any, list[Message]]:
    """What the result of a tool that returns this holds, and the array that shows it."""
    call = tool_use("a", "tell")
    got = answered(answer, deepcopy(call), among_others("tell", lambda: deepcopy(output)))
    return as_text(got), shown(call, got)


def a_result_that_worked_is_no_error(answer: Answer) -> None:
    """The model reads is_error, and tries something else."""
    call = tool_use("a", "note")
    got = answered(answer, deepcopy(call), {"note": lambda: "noted"})
    if got.get("is_error"):
        why = "a model that is told of an error looks for another way, though this one worked"
        raise Broken("a result without is_error", brief(got, 120), why, shown(call, got))


def it_is_a_result_and_no_more(answer: Answer) -> None:
    """A type, the id and what came out; the name and the input are the call's."""
    call = tool_use("a", "note", what="tea")
    got = answered(answer, deepcopy(call), {"note": lambda what: f"noted {what}"})
    if more := sorted(map(str, {*got} - {"type", "tool_use_id", "content", "is_error"})):
        expected = "a block with a type, a tool_use_id and a content"
        why = "the API refuses a result with anything else in it"
        raise Broken(expected, f"one with {', '.join(more)} besides", why, shown(call, got))
    if got.get("is_error", False) is not False:
        why = "is_error says yes or no; a result that worked needs none"
        found = f"is_error {brief(got['is_error'])}"
        raise Broken("no is_error, or False", found, why, shown(call, got))


def the_call_and_the_tools_stay_as_they_are(answer: Answer) -> None:
    """They are lent: the call stands in the array, and the tools are needed again."""
    call, tools = tool_use("a", "note", what="tea"), among_others("note", lambda what: "noted")
    lent, names = deepcopy(call), [*tools]
    got = answered(answer, lent, tools)
    if lent != call:
        why = "the same dict stands in the array; what is changed here is changed there"
        raise Broken(f"the call to stay {call}", brief(lent, 200), why, shown(call, got))
    if [*tools] != names:
        why = "the next call may ask for the same tool"
        raise Broken(f"the tools {', '.join(names)} still there", brief([*tools], 200), why)


Given = tuple[list[Message], Reply, list[Block]]


def moment(before: int, *ids: str) -> Given:
    """A moment in a run: what was said in so many rounds, the newest reply, and its results."""
    so_far = [user("go")]
    for number in range(before):
        id = f"toolu_{number}"
        so_far += [said(asking(id)), user(tool_result(id, f"noted {number}"))]
    spoken = reply("Now these.", *[note(id) for id in ids])
    return so_far, spoken, [tool_result(id, f"noted {id}") for id in ids]


MOMENTS = [moment(1, "b", "d", "c"), moment(0, "e"), moment(3, "g", "f")]


def nexts(next_array: NextArray) -> Iterator[tuple[list[Message], Given]]:
    """At each moment, the array that the learner's function gives back, and what it was given."""
    for each in MOMENTS:
        got = next_array(*deepcopy(each))
        if fault := list_fault(got):
            why = "the next call sends an array of messages; stop_reason and usage stay with us"
            raise Broken("a list of messages", fault, why)
        yield got, each


def it_holds_everything_that_was_said_before(next_array: NextArray) -> None:
    """A model knows what it is sent, and nothing else."""
    for got, (so_far, _, _) in nexts(next_array):
        if got[: len(so_far)] != so_far:
            expected = f"the messages so far ({len(so_far)}), unchanged, first"
            why = "what is not in the array did not happen"
            raise Broken(expected, ", ".join(kinds(got)), why, got)


def it_goes_on_with_what_the_model_said(next_array: NextArray) -> None:
    """The request is part of the conversation, words included; the bookkeeping is not."""
    for got, (so_far, spoken, _) in nexts(next_array):
        at = len(so_far)
        if len(got) <= at or got[at] != said(spoken):
            found = brief(got[at], 200) if len(got) > at else plural(len(got), "message")
            why = "a result needs its call in front of it; stop_reason and usage stay with us"
            raise Broken(f"the reply's role and whole content as message {at}", found, why, got)


def it_ends_with_all_results_in_one_message(next_array: NextArray) -> None:
    """And the API would take it."""
    for got, (so_far, spoken, results) in nexts(next_array):
        whole = [*so_far, said(spoken), user(*results)]
        fault = array_fault(got) or surplus(got)
        if fault or as_blocks(got) != as_blocks(whole):
            ids = ", ".join(result["tool_use_id"] for result in results)
            expected = f"{len(whole)} messages, the last one of the user with the results of {ids}"
            why = "all calls of a reply are answered together, in the next message"
            found = "; ".join(filter(None, [", ".join(kinds(got)), fault]))
            raise Broken(expected, found, why, got)


def what_it_was_given_stays_as_it_is(next_array: NextArray) -> None:
    """A new list, not the old one made longer; the reply and the results are lent, too."""
    for each in MOMENTS:
        lent = deepcopy(each)
        next_array(*lent)
        names = ("messages", "reply", "results")
        for name, was, now in zip(names, each, lent, strict=True):
            if was != now:
                got = f"{name} with {len(now)} messages" if name == "messages" else brief(now, 200)
                why = "somebody else may still read it"
                raise Broken(f"{name} to stay as it was", got, why)


def each_result_is_what_its_own_call_returned(run: Recording) -> int | None:
    """Make the calls once more, and compare."""
    made = {call["id"]: str(SUMS[call["name"]](**call["input"])) for call in calls_of(run)}
    for at, message in enumerate(run.messages):
        if any(as_text(each) != made[each["tool_use_id"]] for each in tool_results(message)):
            return at
    return None


def calls_of(run: Recording) -> list[Block]:
    """All calls of a run, in order."""
    return [call for message in run.messages for call in tool_uses(message)]


SUMS = {"add": lambda x, y: x + y, "divide": lambda x, y: x / y}


def exchanged(model: Callable, tools: dict, prompt: str) -> list[Message]:
    """A harness that puts the right results under the wrong ids."""
    messages = [user(prompt)]
    spoken = model(messages)
    calls = tool_uses(spoken)
    outputs = [str(tools[call["name"]](**call["input"])) for call in calls][::-1]
    results = [tool_result(call["id"], out) for call, out in zip(calls, outputs, strict=True)]
    messages += [said(spoken), user(*results)]
    return [*messages, said(model(messages))]


def two_sums() -> Recording:
    """A run in which both answers come out wrong."""
    calls = tool_use("a", "add", x=2, y=3), tool_use("b", "divide", x=10, y=4)
    script = scripted(reply(*calls), reply("2 + 3 is 2.5, and 10 / 4 is 5."))
    return record(exchanged, script, SUMS, "What is 2 + 3, and what is 10 / 4?")


TWO_SUMS = Case(
    two_sums,
    {
        "a": the_roles_take_turns,
        "b": every_call_is_answered_in_the_next_message,
        "c": the_array_holds_what_the_model_said,
        "d": each_result_is_what_its_own_call_returned,
    },
)

CONVERSATION = Exercise(
    name="conversation",
    title="An array by hand",
    minutes=10,
    difficulty="easy",
    lines=4,
    points=3,
    objectives=(1,),
    takes="conversation()",
    promises=(the_roles_alternate, the_array_has_no_hole, every_message_says_what_was_said),
)

ANSWER = Exercise(
    name="answer",
    title="Answer a tool call",
    minutes=10,
    difficulty="easy",
    lines=2,
    points=3,
    objectives=(1,),
    takes="answer(call, tools)",
    promises=(
        the_tool_runs_once_with_the_arguments_it_was_asked_with,
        the_result_carries_the_id_of_the_call,
        what_it_holds_is_text,
        a_result_that_worked_is_no_error,
        it_is_a_result_and_no_more,
        the_call_and_the_tools_stay_as_they_are,
    ),
    piece=Piece("answer", borrowed=lambda: s1_structural_stop.answer),
)

NEXT_ARRAY = Exercise(
    name="next_array",
    title="What is sent next?",
    minutes=10,
    difficulty="medium",
    lines=3,
    points=4,
    objectives=(1,),
    takes="next_array(messages, reply, results)",
    promises=(
        it_holds_everything_that_was_said_before,
        it_goes_on_with_what_the_model_said,
        it_ends_with_all_results_in_one_message,
        what_it_was_given_stays_as_it_is,
    ),
)

WRONG_SUMS = Exercise(
    name="wrong_sums",
    title="Two sums, both wrong",
    minutes=5,
    difficulty="easy",
    lines=1,
    points=2,
    objectives=(1,),
    takes="wrong_sums()",
    promises=TWO_SUMS.promises(),
    case=TWO_SUMS,
)

LAB = Lab(
    "00_one_call", "One call remembers nothing", (CONVERSATION, ANSWER, NEXT_ARRAY, WRONG_SUMS)
)
