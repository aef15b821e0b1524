"""Lab 01, the structural stop: its exercises and what an answer to each one promises."""

from collections.abc import Callable
from functools import wraps
from threading import Barrier, BrokenBarrierError, Event

from harness_zero import promises
from harness_zero.desk import Broken, Desk, Play, asking, kinds
from harness_zero.grading.checks import Exercise
from harness_zero.messages import (
    Message,
    Reply,
    reply,
    said,
    shape_fault,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
)

Act = Callable[[Reply, dict], Message]
Check = Callable[[Message, Message | None], str | None]


def around(act: Act) -> Play:
    """The loop of the chapter with the learner's act step in it."""

    def run(model, tools, prompt):
        messages = [user(prompt)]
        while True:
            spoken = model(messages)
            messages.append(said(spoken))
            if not tool_uses(spoken):
                return messages
            messages.append(act(spoken, tools))

    return run


def for_act(promise: Callable[[Play], None]) -> Callable[[Act], None]:
    """The same promise, asked of an act step instead of a whole loop."""

    @wraps(promise)
    def asked_of_act(act: Act) -> None:
        promise(around(act))

    return asked_of_act


def it_gives_back_one_message_of_the_user(act: Act) -> None:
    """A dict with the role user, not a list of results."""
    desk = Desk()
    got = act(asking("a", "b"), desk.tools)
    fault = shape_fault(got) or ("has the role assistant" if got["role"] != "user" else "")
    if fault:
        raise Broken(
            'a message: {"role": "user", "content": [...]}',
            f"what {fault}",
            "results travel to the model as a message, and only a message can be appended",
        )


def a_whole_pair_has_no_fault(check: Check) -> None:
    """Two calls, their two results, in order: nothing to say."""
    spoken = said(asking("a", "b"))
    expect_none(check, spoken, user(tool_result("a", "1"), tool_result("b", "2")), "a whole pair")
    also = user(tool_result("a", "1"), tool_result("b", "2"), "and hurry")
    expect_none(check, spoken, also, "a whole pair with words after the results")


def a_message_that_asks_for_nothing_needs_no_answer(check: Check) -> None:
    """Text alone may be followed by anything but a result, or by nothing."""
    expect_none(check, said(reply("hello")), user("and now?"), "a reply without calls")
    expect_none(check, said(reply("hello")), None, "a reply without calls, at the array's end")


def a_call_without_its_result_is_named(check: Check) -> None:
    """One of two is answered, or none is, or the array ends there."""
    spoken = said(asking("a", "b"))
    expect_named(check, spoken, user(tool_result("a", "1")), "b")
    expect_named(check, spoken, user("thank you"), "a", "b")
    expect_named(check, spoken, None, "a", "b")


def a_result_that_nobody_asked_for_is_named(check: Check) -> None:
    """A result needs its call in the message just before."""
    strange = user(tool_result("a", "1"), tool_result("z", "26"))
    expect_named(check, said(asking("a")), strange, "z")
    expect_named(check, said(reply("hello")), user(tool_result("y", "25")), "y")


def a_call_answered_twice_is_a_fault(check: Check) -> None:
    """Exactly one result a call."""
    twice = user(tool_result("a", "1"), tool_result("a", "1"))
    expect_named(check, said(asking("a")), twice)


def results_out_of_order_are_a_fault(check: Check) -> None:
    """The order of the calls is the order of the results."""
    swapped = user(tool_result("b", "2"), tool_result("a", "1"))
    expect_named(check, said(asking("a", "b")), swapped)


WHY_NAMED = "the API refuses the whole request; know which call it was, before it is sent"
WHY_ORDER = "one result a call, in the order of the calls: then the same run gives the same array"


def expect_none(check: Check, asking: Message, answering: Message | None, what: str) -> None:
    """The check must have nothing to say about this pair."""
    if (got := check(asking, answering)) is not None:
        raise Broken(f"None for {what}", repr(got), "a check that cries wolf is soon switched off")


def expect_named(check: Check, asking: Message, answering: Message | None, *ids: str) -> None:
    """The check must say a sentence about this pair; if ids are at fault, one of them is in it."""
    got = check(asking, answering)
    if not isinstance(got, str) or not got or (ids and not any(id in got for id in ids)):
        pair = ", ".join(kinds([m for m in (asking, answering) if m]))
        naming = f" that names {' or '.join(map(repr, ids))}" if ids else ""
        why = WHY_NAMED if ids else WHY_ORDER
        raise Broken(f"a sentence{naming} about {pair}", repr(got), why)


def the_calls_run_at_the_same_time(act: Act) -> None:
    """Three tools wait for each other: one after the other they would wait for ever."""
    meeting = Barrier(3, timeout=0.5)

    def meet(who: str) -> str:
        meeting.wait()
        return f"{who} was there"

    calls = [tool_use(id, "meet", who=id) for id in ("a", "b", "c")]
    try:
        act(reply(*calls), {"meet": meet})
    except BrokenBarrierError:
        raise Broken(
            "three calls under way at once",
            "the first one waited for the others in vain",
            "calls of one reply do not wait for each other; the slowest sets the pace",
        ) from None


def they_are_delivered_in_call_order_whatever_order_they_finish_in(act: Act) -> None:
    """The last one finishes first."""
    last_done = Event()

    def take(who: str) -> str:
        last_done.set() if who == "c" else last_done.wait(0.5)
        return f"{who} is done"

    calls = [tool_use(id, "take", who=id) for id in ("a", "b", "c")]
    got = act(reply(*calls), {"take": take})
    content = [(result["tool_use_id"], result["content"]) for result in tool_results(got)]
    if content != [(id, f"{id} is done") for id in ("a", "b", "c")]:
        expected, why = "the results of a, b, c in that order", "the same run gives the same array"
        raise Broken(expected, repr(content), why)


ACT = (
    it_gives_back_one_message_of_the_user,
    for_act(promises.all_calls_of_a_reply_are_answered_in_one_message_in_call_order),
    for_act(promises.a_tool_gets_the_arguments_it_was_asked_with_and_its_output_becomes_text),
    for_act(promises.each_call_is_made_once),
)

EXERCISES = (
    Exercise("act", "Answer every call", 10, 1, 3, ACT, "act(reply, tools)"),
    Exercise(
        "run",
        "Close the loop",
        15,
        8,
        5,
        tuple(promise for stage, promise in promises.PROMISES if stage == 1),
        "run(model, tools, prompt)",
    ),
    Exercise(
        "pairing_fault",
        "Check the newest pair",
        15,
        10,
        4,
        (
            a_whole_pair_has_no_fault,
            a_message_that_asks_for_nothing_needs_no_answer,
            a_call_without_its_result_is_named,
            a_result_that_nobody_asked_for_is_named,
            a_call_answered_twice_is_a_fault,
            results_out_of_order_are_a_fault,
        ),
        "pairing_fault(asking, answering)",
    ),
    Exercise(
        "act_at_once",
        "Run them at once, deliver them together",
        15,
        4,
        3,
        (
            *ACT,
            the_calls_run_at_the_same_time,
            they_are_delivered_in_call_order_whatever_order_they_finish_in,
        ),
        "act_at_once(reply, tools)",
    ),
)
