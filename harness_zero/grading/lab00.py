"""Lab 00, one call: its exercises and what an answer to each one promises."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.brief import brief
from harness_zero.desk import Broken, as_blocks, as_text, asking, kinds, list_fault
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
    words,
)
from harness_zero.models.scripted import scripted
from harness_zero.stages import s1_structural_stop
from harness_zero.watch import Recording, record

Answer = Callable[[Block, dict[str, Callable]], Block]
NextArray = Callable[[list[Message], Reply, list[Block]], list[Message]]


def messages_of(conversation: Callable[[], Any]) -> list[Message]:
    """What the learner wrote down, once it is a list of messages at all."""
    got = conversation()
    if not isinstance(got, list) or not all(is_message(message) for message in got):
        why = "an array is a list of dicts, each with a role and a content"
        raise Broken("a list of messages", list_fault(got) or brief(got, 120), why)
    return got


def is_message(message: Any) -> bool:
    """Whether this has the form of a message."""
    return isinstance(message, dict) and "content" in message


def the_roles_alternate(conversation: Callable[[], Any]) -> None:
    """Four messages: user, assistant, user, assistant."""
    messages = messages_of(conversation)
    got = [message.get("role", "none") for message in messages]
    expected = ["user", "assistant", "user", "assistant"]
    if got != expected:
        why = "to the model, everything that is not its own word comes from the user"
        roles = ", ".join(got) or "no message"
        raise Broken(f"the roles {', '.join(expected)}", roles, why, case=messages)


def the_array_has_no_hole(conversation: Callable[[], Any]) -> None:
    """The call and its result carry the same id."""
    messages = messages_of(conversation)
    if fault := array_fault(messages):
        got = f"{fault}, in {', '.join(kinds(messages))}"
        why = "it refuses the whole array otherwise"
        raise Broken("an array that the API takes", got, why, case=messages)


def every_message_says_what_was_said(conversation: Callable[[], Any]) -> None:
    """The question, the call, the result and the answer, word by word."""
    asked, asking, answering, told = messages = messages_of(conversation)
    call = [(c["id"], c["name"], c["input"]) for c in tool_uses(asking)]
    result = [(as_text(r), bool(r.get("is_error"))) for r in tool_results(answering)]
    got = (words(asked), call, result, words(told))
    expected = ("what is 2 + 3?", [("a", "add", {"x": 2, "y": 3})], [("5", False)], "It is 5.")
    for this, that in zip(expected, got, strict=True):
        if this != that:
            why = "the model reads the array to the letter"
            raise Broken(repr(this), repr(that), why, case=messages)


def answered(answer: Answer, call: Block, tools: dict[str, Callable]) -> Block:
    """What the learner's function gives back, once it is a result block at all."""
    got = answer(call, tools)
    if not isinstance(got, dict) or got.get("type") != "tool_result":
        why = "a call is answered by a block, and the block goes into a message later"
        raise Broken("a tool_result block", brief(got, 120), why)
    return got


def the_tool_runs_once_with_the_arguments_it_was_asked_with(answer: Answer) -> None:
    """By name, whatever the order."""
    seen: list[Any] = []

    def note(x: int, y: int) -> None:
        seen.append((x, y))

    def other(x: int, y: int) -> None:
        seen.append("other")

    note.__qualname__, other.__qualname__ = "note", "other"  # as an error would name them
    answered(answer, tool_use("a", "note", y=2, x=1), {"note": note, "other": other})
    if seen != [(1, 2)]:
        why = "an effect happens as it was asked for, once"
        raise Broken("note called once with x=1, y=2", repr(seen), why)


def the_result_carries_the_id_of_the_call(answer: Answer) -> None:
    """Whatever the id is."""
    for id in ("a", "toolu_42"):
        call = tool_use(id, "note")
        got = answered(answer, call, {"note": lambda: "noted"})
        if got.get("tool_use_id") != id:
            why = "a reply may ask for several tools; the id tells which one this answers"
            case = [said(reply(call)), user(got)]
            raise Broken(f"tool_use_id {id!r}", repr(got.get("tool_use_id")), why, case)


def what_it_holds_is_text(answer: Answer) -> None:
    """Also for a number and for nothing."""
    for output, expected in ((5, "5"), ("five", "five"), (None, "None")):
        call = tool_use("a", "note")
        result = answered(answer, call, {"note": lambda out=output: out})
        if as_text(result) != expected:
            why, case = (
                "a result holds text (or blocks), no objects",
                [said(reply(call)), user(result)],
            )
            raise Broken(repr(expected), repr(as_text(result)), why, case)


def a_result_that_worked_is_no_error(answer: Answer) -> None:
    """The model reads is_error, and tries something else."""
    call = tool_use("a", "note")
    got = answered(answer, call, {"note": lambda: "noted"})
    if got.get("is_error"):
        why = "a model that is told of an error looks for another way, though this one worked"
        case = [said(reply(call)), user(got)]
        raise Broken("a result without is_error", brief(got, 120), why, case)


SO_FAR = [user("go"), said(asking("a")), user(tool_result("a", "noted a"))]
RESULTS = [tool_result("b", "noted b"), tool_result("c", "noted c")]


def given(next_array: NextArray) -> tuple[list[Message], list[Message]]:
    """The array the learner's function gives back, and the one that it was given, afterwards."""
    messages = deepcopy(SO_FAR)
    got = next_array(messages, asking("b", "c"), deepcopy(RESULTS))
    if fault := list_fault(got):
        why = "the next call sends an array of messages; stop_reason and usage stay with us"
        raise Broken("a list of messages", fault, why)
    return got, messages


def it_holds_everything_that_was_said_before(next_array: NextArray) -> None:
    """A model knows what it is sent, and nothing else."""
    got, _ = given(next_array)
    if as_blocks(got[:3]) != as_blocks(SO_FAR):
        why = "what is not in the array did not happen"
        raise Broken("the messages so far, unchanged, first", ", ".join(kinds(got)), why, got)


def it_goes_on_with_what_the_model_said(next_array: NextArray) -> None:
    """The request is part of the conversation; the bookkeeping is not."""
    got, _ = given(next_array)
    if len(got) < 4 or got[3] != said(asking("b", "c")):
        fourth = brief(got[3], 120) if len(got) > 3 else f"{len(got)} messages"
        why = "a result needs its call in the message before; stop_reason and usage stay with us"
        raise Broken("the reply's role and content as the fourth message", fourth, why, got)


def it_ends_with_all_results_in_one_message(next_array: NextArray) -> None:
    """And the API would take it."""
    got, _ = given(next_array)
    if (
        len(got) != 5
        or got[4].get("role") != "user"
        or got[4].keys() != {"role", "content"}
        or blocks(got[4]) != RESULTS
        or array_fault(got)
    ):
        fault = f"; {fault}" if (fault := array_fault(got)) else ""
        expected = "five messages, the last one of the user with the results of b and c"
        why = "all calls of a reply are answered together, in the next message"
        raise Broken(expected, f"{', '.join(kinds(got))}{fault}", why, got)


def the_list_it_was_given_stays_as_it_is(next_array: NextArray) -> None:
    """A new list, not the old one made longer."""
    _, messages = given(next_array)
    if messages != SO_FAR:
        got, why = f"it has {len(messages)} messages now", "somebody else may still read it"
        raise Broken("the given list to keep its 3 messages", got, why)


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
        the_list_it_was_given_stays_as_it_is,
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
