"""Lab 01, the structural stop: its exercises and what an answer to each one promises."""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from threading import Barrier, BrokenBarrierError, Event

from harness_zero import promises
from harness_zero.brief import brief
from harness_zero.desk import (
    Broken,
    Desk,
    Play,
    as_text,
    asking,
    kinds,
    no_message_of_the_user,
    note,
)
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    results_stand_in_the_order_of_their_calls,
    the_array_holds_what_the_model_said,
    the_last_word_is_an_answer,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    pairing_fault,
    reply,
    said,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
)
from harness_zero.models.scripted import scripted
from harness_zero.watch import Recording, record

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


def act_with(answer: Callable[[Block, dict], Block]) -> Act:
    """An act step around the learner's way to answer one call."""

    def act(reply: Reply, tools: dict) -> Message:
        return user(*[answer(call, tools) for call in tool_uses(reply)])

    return act


def for_act(promise: Callable[[Play], None]) -> Callable[[Act], None]:
    """The same promise, asked of an act step instead of a whole loop."""

    @wraps(promise)
    def asked_of_act(act: Act) -> None:
        promise(around(act))

    return asked_of_act


def message_of(act: Act, asked: Reply, tools: dict[str, Callable]) -> Message:
    """What the learner's act step gives back, once it is a message of the user at all."""
    got = act(asked, tools)
    if fault := no_message_of_the_user(got):
        raise Broken(
            'a message: {"role": "user", "content": [...]}',
            fault,
            "results travel to the model as a message, and only a message can be appended",
        )
    return got


def it_gives_back_one_message_of_the_user(act: Act) -> None:
    """A dict with the role user, not a list of results."""
    message_of(act, asking("a", "b"), Desk().tools)


ROUNDS = 60  # more than anyone would count


def it_counts_no_rounds(play: Play) -> None:
    """The model asks sixty times before it answers."""
    desk = Desk(*[asking(f"toolu_{n}") for n in range(ROUNDS)], reply("done"))
    desk.play(play)
    if len(desk.sent) != ROUNDS + 1:
        why = "a number of rounds in the loop cuts off whoever needs one more"
        raise Broken(f"{ROUNDS + 1} calls of the model", f"{len(desk.sent)} calls", why)


def pair(asked: str, answered: str) -> tuple[Message, Message]:
    """A message that asks for these ids, and one that answers those."""
    results = [tool_result(id, f"noted {id}") for id in ids(answered)]
    return said(reply("Now these.", *map(note, ids(asked)))), user(*results)


def ids(numbers: str) -> list[str]:
    """Ids of which none is part of a word or of another one."""
    return [f"toolu_{number}" for number in numbers.split()]


def a_whole_pair_has_no_fault(check: Check) -> None:
    """One call or several, their results, in order: nothing to say."""
    for numbers in ("31", "58 17", "62 94 25 71"):
        expect_none(check, *pair(numbers, numbers), "a whole pair")
    spoken, results = pair("43 29", "43 29")
    also = user(*results["content"], "and hurry")
    expect_none(check, spoken, also, "a whole pair with words after the results")


def a_message_that_asks_for_nothing_needs_no_answer(check: Check) -> None:
    """Text alone may be followed by anything but a result, or by nothing."""
    expect_none(check, said(reply("hello")), user("and now?"), "a reply without calls")
    expect_none(check, said(reply("hello")), None, "a reply without calls, at the array's end")


def a_call_without_its_result_is_named(check: Check) -> None:
    """Any one of several is missing, or all are, or the array ends there."""
    expect_named(check, *pair("12 34", "12"), "34")
    expect_named(check, *pair("85 46 77", "46 77"), "85")
    expect_named(check, *pair("59 16 38", "59 38"), "16")
    expect_named(check, *pair("97 63 20", "20"), "97 63")
    spoken, _ = pair("14 51", "")
    expect_named(check, spoken, user("thank you"), "14 51")
    expect_named(check, spoken, None, "14 51")


def a_result_that_nobody_asked_for_is_named(check: Check) -> None:
    """A result needs its call in the message just before."""
    expect_named(check, *pair("12", "12 98"), "98")
    expect_named(check, *pair("64 23", "64 87 23"), "87")
    expect_named(check, *pair("36", "72"), "36 72")
    expect_named(check, said(reply("hello")), pair("", "97")[1], "97")


def a_call_answered_twice_is_a_fault(check: Check) -> None:
    """Exactly one result a call, whichever call it is."""
    expect_named(check, *pair("12", "12 12"), "12")
    expect_named(check, *pair("81 35", "81 35 35"), "35")
    expect_named(check, *pair("67 42 19", "67 42 42 19"), "42")
    expect_named(check, *pair("26 93", "26 93 26"), "26")


def results_out_of_order_are_a_fault(check: Check) -> None:
    """The order of the calls is the order of the results."""
    for asked, answered in SWAPPED:
        expect_named(check, *pair(asked, answered))


SWAPPED = (
    ("12 34", "34 12"),
    ("44 92 61", "92 61 44"),
    ("58 17 93", "58 93 17"),
    ("58 17 93", "17 58 93"),
    ("44 92 61", "61 92 44"),
    ("73 15 86 30", "73 86 15 30"),
    ("30 86 15 73", "86 30 73 15"),
)


WHY_NAMED = "the API refuses the whole request; know which call it was, before it is sent"
WHY_ORDER = "one result a call, in the order of the calls: then the same run gives the same array"


def expect_none(check: Check, asking: Message, answering: Message | None, what: str) -> None:
    """The check must have nothing to say about this pair."""
    if (got := check(asking, answering)) is not None:
        why, case = "a check that cries wolf is soon switched off", array_of(asking, answering)
        raise Broken(f"None for {what}", brief(got, 200), why, case)


def expect_named(
    check: Check, asking: Message, answering: Message | None, numbers: str = ""
) -> None:
    """The check must say a sentence about this pair; if ids are at fault, one of them is in it."""
    got = check(asking, answering)
    if not isinstance(got, str) or not got or (numbers and not any(i in got for i in ids(numbers))):
        _, *messages = case = array_of(asking, answering)
        naming = f" that names {' or '.join(map(repr, ids(numbers)))}" if numbers else ""
        expected = f"a sentence{naming} about {', '.join(kinds(messages))}"
        raise Broken(expected, brief(got, 200), WHY_NAMED if numbers else WHY_ORDER, case)


def array_of(asking: Message, answering: Message | None) -> list[Message]:
    """The array in which this pair would stand."""
    return [user("go"), asking, *([answering] if answering else [])]


def the_calls_run_at_the_same_time(act: Act) -> None:
    """Five tools wait for each other: one after the other they would wait for ever."""
    meeting, waiting, met = Barrier(len(CALLERS), timeout=0.5), [], []

    def meet(who: str) -> str:
        waiting.append(meeting.n_waiting + 1)
        meeting.wait()
        met.append(who)
        return f"{who} was there"

    came = ""
    with suppress(BrokenBarrierError):  # whether it comes through or is caught: they did not meet
        calls = [tool_use(id, "meet", who=id) for id in CALLERS]
        came = brief(act(reply(*calls), {"meet": meet}), 200)
    if len(met) != len(CALLERS):
        waited = f"{max(waiting, default=0)} at most, which waited for the others in vain"
        got = f"{waited}; it gave back {came}" if came else waited
        why = "calls of one reply do not wait for each other; the slowest sets the pace"
        raise Broken("five calls under way at once", got, why)


CALLERS = "bdaec"  # five: a pool of threads has no more of them on the smallest machine


def they_are_delivered_in_call_order_whatever_order_they_finish_in(act: Act) -> None:
    """The last one finishes first, then the second, then the first."""
    done = {who: Event() for who in "acb"}
    before = {"c": "a", "b": "c"}

    def take(who: str) -> str:
        if who in before:
            done[before[who]].wait(0.3)
        done[who].set()
        return f"{who} is done"

    asked = reply(*[tool_use(id, "take", who=id) for id in ("b", "c", "a")])
    got = message_of(act, asked, {"take": take})
    content = [(result["tool_use_id"], as_text(result)) for result in tool_results(got)]
    if content != [(id, f"{id} is done") for id in ("b", "c", "a")]:
        expected, why = "the results of b, c, a in that order", "the same run gives the same array"
        raise Broken(expected, brief(content, 200), why, [user("go"), said(asked), got])


ANSWERED_IN_ORDER = (
    it_gives_back_one_message_of_the_user,
    for_act(promises.all_calls_of_a_reply_are_answered_in_one_message_in_call_order),
    for_act(promises.a_tool_gets_the_arguments_it_was_asked_with_and_its_output_becomes_text),
    for_act(promises.a_result_that_worked_is_no_error),
    for_act(promises.what_enters_the_array_is_a_message_and_no_more),
    for_act(promises.each_call_is_made_once),
    for_act(promises.two_calls_that_look_alike_are_both_made),
)


def last_first(model: Callable, tools: dict, prompt: str) -> list[Message]:
    """A loop that hands over results as they arrive, here the last one first."""
    messages = [user(prompt)]
    while True:
        spoken = model(messages)
        messages.append(said(spoken))
        if not tool_uses(spoken):
            return messages
        results = [
            tool_result(call["id"], str(tools[call["name"]](**call["input"])))
            for call in tool_uses(spoken)
        ]
        messages.append(user(*results[::-1]))


def three_reports() -> Recording:
    """A run that reads three reports at once, after two rounds of one call each."""
    files = {"may.txt": "12 orders", "june.txt": "15 orders", "july.txt": "9 orders"}
    tools: dict[str, Callable] = {
        "list_files": lambda: "\n".join(files),
        "read_file": lambda path: files[path],
    }
    script = scripted(
        reply(tool_use("c1", "list_files")),
        reply("I begin with May.", tool_use("c2", "read_file", path="may.txt")),
        reply(*[tool_use(f"c{at}", "read_file", path=path) for at, path in enumerate(files, 3)]),
        reply("June had the most orders: 15."),
    )
    return record(last_first, script, tools, "Which month had the most orders?")


THREE_REPORTS = Case(
    three_reports,
    {
        "a": the_last_word_is_an_answer,
        "b": every_call_is_answered_in_the_next_message,
        "c": results_stand_in_the_order_of_their_calls,
        "d": the_array_holds_what_the_model_said,
    },
)

ACT = Exercise(
    name="act",
    title="Answer every call",
    minutes=10,
    difficulty="easy",
    lines=1,
    points=3,
    objectives=(1, 3),
    takes="act(reply, tools)",
    promises=ANSWERED_IN_ORDER,
    piece=Piece("act", needs=("answer",), borrowed=act_with),
)

RUN = Exercise(
    name="run",
    title="Close the loop",
    minutes=15,
    difficulty="medium",
    lines=8,
    points=5,
    objectives=(1, 3),
    takes="run(model, tools, prompt)",
    promises=(
        *[promise for stage, promise in promises.PROMISES if stage == 1],
        it_counts_no_rounds,
    ),
    piece=Piece("run", needs=("act",), borrowed=around),
)

PAIRING_FAULT = Exercise(
    name="pairing_fault",
    title="Check the newest pair",
    minutes=15,
    difficulty="medium",
    lines=10,
    points=4,
    objectives=(1,),
    takes="pairing_fault(asking, answering)",
    promises=(
        a_whole_pair_has_no_fault,
        a_message_that_asks_for_nothing_needs_no_answer,
        a_call_without_its_result_is_named,
        a_result_that_nobody_asked_for_is_named,
        a_call_answered_twice_is_a_fault,
        results_out_of_order_are_a_fault,
    ),
    piece=Piece("pairing_fault", borrowed=lambda: pairing_fault),
)

ACT_AT_ONCE = Exercise(
    name="act_at_once",
    title="Run them at once, deliver them together",
    minutes=15,
    difficulty="hard",
    lines=4,
    points=3,
    objectives=(3,),
    takes="act_at_once(reply, tools)",
    promises=(
        *ANSWERED_IN_ORDER,
        the_calls_run_at_the_same_time,
        they_are_delivered_in_call_order_whatever_order_they_finish_in,
    ),
)

LATE_RESULTS = Exercise(
    name="late_results",
    title="The same run twice, two different arrays",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="late_results()",
    promises=THREE_REPORTS.promises(),
    case=THREE_REPORTS,
)

LAB = Lab(
    "01_structural_stop",
    "The structural stop",
    (ACT, RUN, PAIRING_FAULT, LATE_RESULTS, ACT_AT_ONCE),
)
