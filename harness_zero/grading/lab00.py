"""Lab 00, one call: its exercises and what an answer to each one promises."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero.desk import Broken, as_blocks, as_text, asking, kinds, list_fault
from harness_zero.grading.checks import Exercise
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    blocks,
    said,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
    words,
)

Answer = Callable[[Block, dict[str, Callable]], Block]
NextArray = Callable[[list[Message], Reply, list[Block]], list[Message]]


def messages_of(conversation: Callable[[], Any]) -> list[Message]:
    """What the learner wrote down, once it is a list of messages at all."""
    got = conversation()
    if not isinstance(got, list) or not all(is_message(message) for message in got):
        why = "an array is a list of dicts, each with a role and a content"
        raise Broken("a list of messages", list_fault(got) or f"{got!r:.120}", why)
    return got


def is_message(message: Any) -> bool:
    """Whether this has the form of a message."""
    return isinstance(message, dict) and "content" in message


def the_roles_take_turns(conversation: Callable[[], Any]) -> None:
    """Four messages: user, assistant, user, assistant."""
    got = [message.get("role", "none") for message in messages_of(conversation)]
    expected = ["user", "assistant", "user", "assistant"]
    if got != expected:
        why = "to the model, everything that is not its own word comes from the user"
        raise Broken(f"the roles {', '.join(expected)}", ", ".join(got) or "no message", why)


def the_array_has_no_hole(conversation: Callable[[], Any]) -> None:
    """The call and its result carry the same id."""
    if fault := array_fault(messages_of(conversation)):
        raise Broken("an array that the API takes", fault, "it refuses the whole array otherwise")


def every_message_says_what_was_said(conversation: Callable[[], Any]) -> None:
    """The question, the call, the result and the answer, word by word."""
    asked, asking, answering, told = messages_of(conversation)
    call = [(c["id"], c["name"], c["input"]) for c in tool_uses(asking)]
    result = [as_text(result) for result in tool_results(answering)]
    got = (words(asked), call, result, words(told))
    expected = ("what is 2 + 3?", [("a", "add", {"x": 2, "y": 3})], ["5"], "It is 5.")
    for this, that in zip(expected, got, strict=True):
        if this != that:
            raise Broken(repr(this), repr(that), "the model reads the array to the letter")


def answered(answer: Answer, call: Block, tools: dict[str, Callable]) -> Block:
    """What the learner's function gives back, once it is a result block at all."""
    got = answer(call, tools)
    if not isinstance(got, dict) or got.get("type") != "tool_result":
        why = "a call is answered by a block, and the block goes into a message later"
        raise Broken("a tool_result block", f"{got!r:.120}", why)
    return got


def the_tool_runs_once_with_the_arguments_it_was_asked_with(answer: Answer) -> None:
    """By name, whatever the order."""
    seen: list[Any] = []
    tools = {"note": lambda x, y: seen.append((x, y)), "other": lambda x, y: seen.append("other")}
    answered(answer, tool_use("a", "note", y=2, x=1), tools)
    if seen != [(1, 2)]:
        why = "an effect happens as it was asked for, once"
        raise Broken("note called once with x=1, y=2", repr(seen), why)


def the_result_carries_the_id_of_the_call(answer: Answer) -> None:
    """Whatever the id is."""
    for id in ("a", "toolu_42"):
        got = answered(answer, tool_use(id, "note"), {"note": lambda: "noted"})
        if got.get("tool_use_id") != id:
            why = "a reply may ask for several tools; the id tells which one this answers"
            raise Broken(f"tool_use_id {id!r}", repr(got.get("tool_use_id")), why)


def what_it_holds_is_text(answer: Answer) -> None:
    """Also for a number and for nothing."""
    for output, expected in ((5, "5"), ("five", "five"), (None, "None")):
        got = as_text(answered(answer, tool_use("a", "note"), {"note": lambda out=output: out}))
        if got != expected:
            raise Broken(repr(expected), repr(got), "a result holds text (or blocks), no objects")


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
        raise Broken("the messages so far, unchanged, first", ", ".join(kinds(got)), why)


def it_goes_on_with_what_the_model_said(next_array: NextArray) -> None:
    """The request is part of the conversation; the bookkeeping is not."""
    got, _ = given(next_array)
    if len(got) < 4 or got[3] != said(asking("b", "c")):
        fourth = f"{got[3]!r:.120}" if len(got) > 3 else f"{len(got)} messages"
        why = "a result needs its call in the message before; stop_reason and usage stay with us"
        raise Broken("the reply's role and content as the fourth message", fourth, why)


def it_ends_with_all_results_in_one_message(next_array: NextArray) -> None:
    """And the API would take it."""
    got, _ = given(next_array)
    if (
        len(got) != 5
        or got[4].get("role") != "user"
        or blocks(got[4]) != RESULTS
        or array_fault(got)
    ):
        fault = f"; {fault}" if (fault := array_fault(got)) else ""
        expected = "five messages, the last one of the user with the results of b and c"
        why = "all calls of a reply are answered together, in the next message"
        raise Broken(expected, f"{', '.join(kinds(got))}{fault}", why)


def the_list_it_was_given_stays_as_it_is(next_array: NextArray) -> None:
    """A new list, not the old one made longer."""
    _, messages = given(next_array)
    if messages != SO_FAR:
        got, why = f"it has {len(messages)} messages now", "somebody else may still read it"
        raise Broken("the given list to keep its 3 messages", got, why)


EXERCISES = (
    Exercise(
        "conversation",
        "An array by hand",
        10,
        4,
        3,
        (the_roles_take_turns, the_array_has_no_hole, every_message_says_what_was_said),
        "conversation()",
    ),
    Exercise(
        "answer",
        "Answer a tool call",
        10,
        2,
        3,
        (
            the_tool_runs_once_with_the_arguments_it_was_asked_with,
            the_result_carries_the_id_of_the_call,
            what_it_holds_is_text,
        ),
        "answer(call, tools)",
    ),
    Exercise(
        "next_array",
        "What is sent next?",
        10,
        3,
        4,
        (
            it_holds_everything_that_was_said_before,
            it_goes_on_with_what_the_model_said,
            it_ends_with_all_results_in_one_message,
            the_list_it_was_given_stays_as_it_is,
        ),
        "next_array(messages, reply, results)",
    ),
)
