"""What each stage promises: sentences that take a way to play a turn, and hold it to the promise.

A stage keeps its own promises and all earlier ones. `play(model, tools, prompt)`
gives the messages, alone or with a label. The same list holds the stages, the library and
learners.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness_zero.brief import brief, plural
from harness_zero.desk import (
    Broken,
    Desk,
    Play,
    as_blocks,
    as_text,
    asking,
    kinds,
    note,
    results_in,
    surplus,
)
from harness_zero.messages import (
    Message,
    array_fault,
    blocks,
    repeated,
    reply,
    request_fault,
    tool_results,
    tool_use,
    words,
)

Promise = Callable[[Play], None]

PROMISES: list[tuple[int, Promise]] = []  # (the stage that makes it, the promise), in order


def since(stage: int) -> Callable[[Promise], Promise]:
    """Mark a promise that every stage from this one on keeps."""

    def mark(promise: Promise) -> Promise:
        PROMISES.append((stage, promise))
        return promise

    return mark


@since(1)
def the_array_begins_with_the_prompt(play: Play) -> None:
    """What the user asked is the first message."""
    messages = Desk(asking("a"), reply("42")).play(play)
    if not messages or messages[0].get("role") != "user" or words(messages[0]) != "go":
        first = brief(messages[0]) if messages else "no message"
        why = "the model is told what it is to do, in the user's words"
        raise Broken("the prompt 'go' as the first message, of the user", first, why)


@since(1)
def a_reply_that_asks_for_nothing_ends_the_run(play: Play) -> None:
    """The structural stop."""
    messages = Desk(reply("42")).play(play)
    said = [message["role"] for message in messages]
    if said != ["user", "assistant"] or words(messages[-1]) != "42":
        raise Broken(
            "a prompt and the reply to it",
            f"{plural(len(messages), 'message')}: {', '.join(said)}",
            "a reply without a tool call is the answer; the loop keeps it and ends",
        )


@since(1)
def a_reply_without_a_call_ends_the_run_whatever_its_stop_reason(play: Play) -> None:
    """The stop is structural: it goes by what the reply asks for."""
    messages = Desk(reply("4", stop_reason="max_tokens")).play(play)
    if len(messages) != 2 or words(messages[-1]) != "4":
        got = f"{plural(len(messages), 'message')}: {', '.join(kinds(messages))}"
        why = "a reply that asks for nothing leaves nothing to do, however it ended"
        raise Broken("a prompt and the reply to it", got, why)


@since(1)
def the_run_goes_on_as_long_as_the_model_asks(play: Play) -> None:
    """Twelve calls, one after the other."""
    desk = Desk(*[asking(str(n)) for n in range(12)], reply("done"))
    messages = desk.play(play)
    if len(desk.sent) != 13 or words(messages[-1]) != "done":
        got = f"{len(desk.sent)} calls of the model; the last message is {kinds(messages)[-1]}"
        why = "only the model knows how many rounds it needs"
        raise Broken("13 calls of the model, and its last word at the end", got, why)


@since(1)
def the_model_is_sent_all_that_was_said(play: Play) -> None:
    """The array is the only memory."""
    script = asking("a"), reply("I think", note("b")), reply("done")
    desk = Desk(*script)
    messages = desk.play(play)
    spoken = [("assistant", line["content"]) for line in script]
    for at, request in enumerate([*desk.sent, messages]):
        so_far = messages[: 2 * at + 1]
        heard = as_blocks(request)[1::2]
        if as_blocks(request) != as_blocks(so_far) or heard != spoken[: len(heard)]:
            which = f"request {at + 1}" if at < len(desk.sent) else "the array at the end"
            raise Broken(
                f"{which} to hold all {len(so_far)} messages so far, as they were said",
                f"{plural(len(request), 'message')}: {', '.join(kinds(request))}",
                "a model remembers nothing: what is not in the array did not happen",
            )


@since(1)
def all_calls_of_a_reply_are_answered_in_one_message_in_call_order(play: Play) -> None:
    """Three calls, one message, three results, and nothing else in it."""
    desk = Desk(asking("b", "c", "a"), reply("done"))  # in an order that no sorting makes
    messages = desk.play(play)
    results = tool_results(messages[2]) if len(messages) > 2 else []
    answered = [result["tool_use_id"] for result in results]
    if answered != ["b", "c", "a"] or messages[2]["role"] != "user" or len(messages) != 4:
        raise Broken(
            "one message of the user with the results of b, c, a",
            f"{plural(len(messages), 'message')}: {', '.join(kinds(messages))}",
            "every call of a reply is answered at once, together, in the order of the calls",
        )
    if results != blocks(messages[2]):
        why = "nobody said more; to the model, words beside the results are the user's"
        raise Broken("the results and nothing else in their message", kinds(messages)[2], why)
    contents = [as_text(result) for result in results]
    if contents != ["noted b", "noted c", "noted a"]:
        raise Broken(
            "each result to hold what its own tool returned",
            brief(contents, 200),
            "the model reads results by id; a swapped one is a false report",
        )


@since(1)
def a_tool_gets_the_arguments_it_was_asked_with_and_its_output_becomes_text(play: Play) -> None:
    """2 + 3 arrives as 5, and as text."""
    desk = Desk(reply(tool_use("x", "add", a=2, b=3)), reply("done"))
    messages = desk.play(play)
    results = tool_results(messages[2]) if len(messages) > 2 else []
    got = as_text(results[0]) if results else None
    if got != "5":
        why = "a result's content is text (or blocks) to the API"
        raise Broken("the result '5', as text", brief(got, 200), why)


@since(1)
def a_result_that_worked_is_no_error(play: Play) -> None:
    """The model reads is_error, and tries something else."""
    messages = Desk(asking("a"), reply("done")).play(play)
    results = tool_results(messages[2]) if len(messages) > 2 else []
    if any(result.get("is_error") for result in results):
        raise Broken(
            "a result without is_error",
            brief(results[0], 120),
            "a model that is told of an error looks for another way, though this one worked",
        )


@since(1)
def what_enters_the_array_is_a_message_and_no_more(play: Play) -> None:
    """A role and its content; what else a reply carries stays outside."""
    messages = Desk(asking("a"), reply("done")).play(play)
    if got := surplus(messages):
        why = "stop_reason, usage and cost are the reply's; they never travel back"
        raise Broken("messages that hold a role and their content", got, why)


@since(1)
def each_call_is_made_once(play: Play) -> None:
    """No call is lost, and none is made twice."""
    desk = Desk(asking("a", "b"), reply("one more", note("c")), reply("done"))
    desk.play(play)
    if desk.done != ["a", "b", "c"]:
        raise Broken(
            "the calls a, b, c, each made once",
            ", ".join(desk.done) or "no call at all",
            "a call that is lost leaves the model waiting; one made twice may pay twice",
        )


@since(1)
def two_calls_that_look_alike_are_both_made(play: Play) -> None:
    """The same tool with the same arguments, under two ids."""
    desk = Desk(reply(note("a"), tool_use("b", "note", what="a")), reply("done"))
    messages = desk.play(play)
    answered = [*results_in(messages)] if len(messages) > 2 else []
    if desk.done != ["a", "a"] or answered != ["a", "b"]:
        got = f"{len(desk.done)} made; results of {', '.join(answered) or 'no call'}"
        why = "whoever asks twice may mean it: two coins, two lines; the id tells two calls apart"
        raise Broken("both calls made, and results of a and of b", got, why)


@since(1)
def a_call_is_made_wherever_it_stands_in_the_reply(play: Play) -> None:
    """With words before it, behind it, and on both sides."""
    desk = Desk(reply(note("a"), "I wait."), reply("Now", note("b"), "and wait."), reply("done"))
    messages = desk.play(play)
    if desk.done != ["a", "b"] or words(messages[-1]) != "done":
        got = f"made: {', '.join(desk.done) or 'no call'}; the last is {kinds(messages)[-1]}"
        why = "a reply asks for something if there is a call in it, whatever it says besides"
        raise Broken("the calls a and b made, and the answer at the end", got, why)


@since(1)
def every_array_that_is_sent_could_be_sent_to_the_api(play: Play) -> None:
    """Whatever the model asks, the next request is one that the API would take."""
    desk = Desk(asking("a"), reply("two at once", note("b"), note("c")), asking("d"), reply("done"))
    desk.play(play)
    for at, request in enumerate(desk.sent):
        if fault := request_fault(request):
            got = f"request {at + 1}, {fault}"
            raise Broken("arrays that the API takes", got, "it answers 400 to others")


@since(2)
def the_model_speaks_as_often_as_the_limit_says_at_most(play: Play) -> None:
    """A limit counts replies, however many calls are in each."""
    for calls in (1, 3):
        ids = [[f"call_{n}{'abc'[at]}" for at in range(calls)] for n in range(9)]
        desk = Desk(*[asking(*each) for each in ids], reply("done"))
        messages = desk.play(play, max_rounds=3)
        if (replies := len(desk.sent)) != 3:
            expected = f"3 replies under max_rounds=3, where each asks for {plural(calls, 'call')}"
            got = plural(replies, "reply", "replies")
            if twice := answered_twice(messages):
                got = f"{got}; {twice} is answered twice"
            elif replies > len(ids):
                got = f"{got}, all that there were: the limit never held"
            raise Broken(expected, got, why_miscounted(twice, replies > len(ids), calls))


def answered_twice(messages: list[Message]) -> str | None:
    """The first call that has two results; None if there is none."""
    results = [result for message in messages for result in tool_results(message)]
    return repeated([result["tool_use_id"] for result in results])


def why_miscounted(twice: str | None, for_ever: bool, calls: int) -> str:
    """What may be wrong with a limit that did not hold after so many replies."""
    if twice:
        return "the loop went on after closing; a brake that has held ends the run"
    if for_ever:
        return "does the count grow with each reply, and is each brake enough by itself?"
    if calls > 1:
        return "a limit counts replies, not calls"
    return "a limit that is off by one is a limit nobody can reckon with"


@since(2)
def no_tool_runs_whose_result_nobody_reads(play: Play) -> None:
    """What the last reply asks for is not run."""
    for limit in range(1, 5):
        desk = Desk(*[asking(str(n)) for n in range(9)])
        desk.play(play, max_rounds=limit)
        unread = [what for what in desk.done if f"noted {what}" not in str(desk.sent)]
        if unread or len(desk.done) != limit - 1:
            nobody = f"; nobody read what came of {', '.join(unread)}" if unread else ""
            raise Broken(
                f"{plural(limit - 1, 'call')} run under max_rounds={limit}, each one's result sent",
                f"{plural(len(desk.done), 'call')} run{nobody}",
                "a tool has effects; an effect that the model never hears of is worse than none",
            )


@since(2)
def an_answer_in_the_last_round_counts(play: Play) -> None:
    """The stop comes before the brakes."""
    messages = Desk(asking("a"), reply("done", cost=5.0)).play(play, max_rounds=2, cap_usd=1.0)
    if words(messages[-1]) != "done":
        why = "the model had answered; a brake has nothing left to hold"
        raise Broken("the answer at the end", kinds(messages)[-1], why)


@since(2)
def a_brake_holds_before_the_tools_run_and_leaves_an_array_that_can_go_on(play: Play) -> None:
    """Rounds, money and time: every call is answered, none is made."""
    for limits in ({"max_rounds": 1}, {"cap_usd": 0.5}, {"seconds": 30}):
        desk = Desk(asking("a", "b", cost=1.0), reply("done"))
        messages = desk.play(play, **limits)
        if desk.done:
            held = f"under {limits}, where a reply costs $1 and takes 60 s by the clock given"
            replies = plural(len(desk.sent), "reply", "replies")
            got = f"made {', '.join(desk.done)}; {replies}"
            why = "a brake that holds after the tools have run holds too late"
            raise Broken(f"no call made {held}", got, why)
        left_closed(messages, str(limits))


def left_closed(messages: list[Message], held: str) -> list[str]:
    """What the two calls of the last reply are told, in an array that ends with it and can go on.

    Broken says what else a brake left.
    """
    last = kinds(messages)[-1]
    if fault := array_fault(messages):
        why = "the user wants to go on tomorrow, and the API refuses an array with a hole"
        got = f"{fault}; the last message is {last}"
        raise Broken(f"an array that can be sent, after {held}", got, why)
    expected = f"both calls answered 'not executed' in the last message, after {held}"
    if len(messages) > 1 and tool_results(messages[-2]) and not tool_results(messages[-1]):
        why = "the results say all that there is to say, and nobody else has spoken"
        raise Broken(expected, f"a further message after the results: {last}", why)
    told = [str(as_text(result)) for result in tool_results(messages[-1])]
    if len(told) != 2 or not all(each.startswith("not executed") for each in told):
        got = brief(told, 120) if told else f"no result: the last message is {last}"
        raise Broken(expected, got, "the model must not guess that a call was made")
    return told


@since(2)
def no_call_is_left_unanswered_whatever_the_stop_reason_says(play: Play) -> None:
    """A reply that was cut off or refused may hold a call as well."""
    for reason in ("max_tokens", "refusal", "end_turn", "tea_time"):
        messages = Desk(asking("a", "b", stop_reason=reason), reply("done")).play(play)
        if fault := array_fault(messages):
            expected = f"an array that can be sent, after calls in a reply that ended with {reason}"
            why = "a call is in the array by then; however its reply ended, it needs a result"
            raise Broken(expected, fault, why)


@since(2)
def every_way_out_gives_back_the_same_form(play: Play) -> None:
    """The messages alone, or a pair; not one after an answer and the other at a brake."""
    one_form(play, {"max_rounds": 1}, {"cap_usd": 0.5}, {"seconds": 30})


def one_form(play: Play, *brakes: dict[str, float]) -> None:
    """What comes back after an answer has the form of what comes back under these limits."""
    desk = Desk(reply("42"))
    desk.play(play)
    for limits in brakes:
        braked = Desk(asking("a", cost=1.0), reply("done"))
        braked.play(play, **limits)
        if braked.form != desk.form:
            expected = "one form from every way out, be it the messages alone or a pair"
            got = f"{desk.form} after an answer, {braked.form} under {limits}"
            why = "whoever called the loop takes it apart, and cannot know which way out it was"
            raise Broken(expected, got, why)


@since(2)
def a_cap_is_passed_by_one_call_at_most(play: Play) -> None:
    """It counts what all replies cost, and holds at the first that reaches it."""
    for costs, speaks in (((0.5, 0.5), 2), ((0.75, 0.125, 2.0), 3), ((5.0,), 1)):
        script = [asking(str(at), cost=usd) for at, usd in enumerate((*costs, 0.5, 0.5))]
        desk = Desk(*script, reply("done"))
        desk.play(play, cap_usd=1.0)
        if len(desk.sent) != speaks:
            spent = sum(reply["cost_usd"] for reply in desk.replies)
            prices = ", ".join(f"${usd:g}" for usd in costs)
            raise Broken(
                f"{plural(speaks, 'reply', 'replies')} under cap_usd=1.0,"
                f" where replies cost {prices}, ...",
                f"{plural(len(desk.sent), 'reply', 'replies')}, ${spent:g} spent",
                "a price is known after the call, so one call may pass the cap; no more are made",
            )


@since(3)
def a_failing_tool_tells_the_model_and_the_run_goes_on(play: Play) -> None:
    """The error is the result, and says that it is one."""
    desk = Desk(reply(tool_use("x", "divide", a=1, b=0), note("y")), reply("I see"))
    messages = desk.play(play)
    result = tool_results(messages[2])[0]
    told = result.get("is_error") and "ZeroDivisionError" in str(as_text(result))
    if not told or desk.done != ["y"]:
        raise Broken(
            "the result of x to be marked as an error that names ZeroDivisionError, and y run",
            f"{result}; run: {desk.done}",
            "an error is the best information a model gets; it mends what it can read",
        )


@since(3)
def a_tool_that_does_not_exist_is_an_error_the_model_can_read(play: Play) -> None:
    """The name it asked for is in it."""
    messages = Desk(reply(tool_use("x", "fly")), reply("I see")).play(play)
    result = tool_results(messages[2])[0]
    if not result.get("is_error") or "fly" not in str(as_text(result)):
        raise Broken("an error that names 'fly'", str(result), "the model can choose another tool")


@since(3)
def an_interrupt_never_becomes_a_tools_error(play: Play) -> None:
    """Control flow is not data: the model is not asked again."""
    desk = Desk(reply(tool_use("x", "press")), reply("I see"))
    with suppress(KeyboardInterrupt):
        desk.play(play)
    if len(desk.sent) != 1:
        why = "who presses Ctrl+C wants it to stop, and not to be reported"
        raise Broken("the model not to be asked again", f"{len(desk.sent)} requests", why)


@since(4)
def every_exit_says_its_name(play: Play) -> None:
    """Seven ways out, seven labels."""
    exits: list[tuple[str, Any, dict[str, Any]]] = [
        ("finished", reply("42"), {}),
        ("truncated", reply("4", stop_reason="max_tokens"), {}),
        ("refused", reply("no", stop_reason="refusal"), {}),
        ("unknown_stop", reply("?", stop_reason="tea_time"), {}),
        ("max_rounds", asking("a"), {"max_rounds": 1}),
        ("cost_cap", asking("a", cost=1.0), {"cap_usd": 1.0}),
        ("deadline", asking("a"), {"seconds": 60}),
    ]
    for expected, line, limits in exits:
        desk = Desk(line)
        desk.play(play, **limits)
        if desk.label != expected:
            why = "whoever called the loop acts on the label; None tells them nothing"
            raise Broken(f"the label {expected}", str(desk.label), why)


@since(4)
def a_cut_reply_has_none_of_its_calls_made(play: Play) -> None:
    """Half a call is no call."""
    desk = Desk(asking("a", "b", stop_reason="max_tokens"))
    messages = desk.play(play)
    if desk.done or desk.label != "truncated" or len(results_in(messages)) != 2:
        raise Broken(
            "the label truncated, no call made and both answered",
            f"the label {desk.label}, made: {desk.done}, answered: {list(results_in(messages))}",
            "the arguments of a cut call can look whole and be wrong",
        )


@since(5)
def an_interrupt_tells_apart_what_was_done_what_is_unknown_and_what_was_not_done(
    play: Play,
) -> None:
    """Interrupted in the second of three calls."""
    desk = Desk(reply(note("a"), tool_use("b", "press"), note("c")))
    messages = desk.play(play)
    expected = {
        "a": "noted a",
        "b": "interrupted, outcome unknown",
        "c": "not executed: interrupted",
    }
    if desk.label != "interrupted" or results_in(messages) != expected:
        got = f"{desk.label}, {results_in(messages)}"
        raise Broken(f"interrupted, {expected}", got, "the next turn begins with what is true")


@since(5)
def an_empty_reply_is_never_a_success_and_never_sent_back(play: Play) -> None:
    """It has its own label, and does not enter the array."""
    desk = Desk(asking("a"), reply())
    messages = desk.play(play)
    if desk.label != "empty_reply" or len(messages) != 3:
        got = f"{desk.label} with {plural(len(messages), 'message')}"
        raise Broken("empty_reply with 3 messages", got, "the API refuses an empty message")
