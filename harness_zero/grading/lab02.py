"""Lab 02, brakes: its exercises and what an answer to each one promises."""

import time
from collections.abc import Callable
from copy import deepcopy

from harness_zero import promises
from harness_zero.brief import brief, plural
from harness_zero.desk import (
    Broken,
    Desk,
    Play,
    as_text,
    asking,
    instead,
    kinds,
    no_message_of_the_user,
    note,
)
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.messages import (
    Message,
    Reply,
    blocks,
    not_executed,
    pairing_fault,
    reply,
    said,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
    words,
)
from harness_zero.watch import Recording

Act = Callable[[Reply, dict], Message]
CloseCalls = Callable[[Reply, str], Message]
Affordable = Callable[[float, int, float, float], int]


def close_calls(reply: Reply, why: str) -> Message:
    """One message that says of every call of the reply that it was not made."""
    return user(*[not_executed(call, why) for call in tool_uses(reply)])


def braked(act: Act, close_calls: CloseCalls) -> Play:
    """The loop of the chapter with the learner's pieces in it."""

    def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
        messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
        while True:
            spoken = model(messages)
            messages.append(said(spoken))
            rounds, spent = rounds + 1, spent + spoken["cost_usd"]
            if not tool_uses(spoken):
                return messages
            if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
                messages.append(close_calls(spoken, "a limit was reached"))
                return messages
            messages.append(act(spoken, tools))

    return run


# close_calls

HELD = (  # replies that a brake may meet, and why it holds
    (asking("b", "d", "c"), "max_rounds"),
    (reply("Now this one,", note("a"), "and I wait."), "the cap of $2.00 was reached"),
    (reply(note("f"), tool_use("e", "note", what="f")), "deadline"),
)


def closing(close: CloseCalls, spoken: Reply, why: str) -> tuple[Message, list[Message]]:
    """The message that the learner's function makes, and the array in which it would stand."""
    got = close(deepcopy(spoken), why)
    if fault := no_message_of_the_user(got):
        raise Broken(
            'a message: {"role": "user", "content": [...]}',
            fault,
            "results travel to the model as a message, also those of calls that were not made",
        )
    return got, [user("go"), said(spoken), got]


def it_gives_back_one_message_of_the_user(close: CloseCalls) -> None:
    """A dict with the role user, not a list of results."""
    for spoken, why in HELD:
        closing(close, spoken, why)


def every_call_of_the_reply_is_answered_in_order(close: CloseCalls) -> None:
    """One call or several, alike or not, with words around them."""
    for spoken, why in HELD:
        got, array = closing(close, spoken, why)
        if fault := pairing_fault(said(spoken), got):
            ids = ", ".join(call["id"] for call in tool_uses(spoken))
            found = f"{kinds([got])[0]}; {fault}"
            because = misplaced(got, spoken)
            raise Broken(f"the results of {ids}, in that order", found, because, array)


def misplaced(got: Message, spoken: Reply) -> str:
    """Why it matters what is wrong with these results."""
    answered = sorted(result["tool_use_id"] for result in tool_results(got))
    if answered != sorted(call["id"] for call in tool_uses(spoken)):
        return "each call needs one result, or the next request is invalid"
    if blocks(got)[: len(answered)] != tool_results(got):
        return "the API wants results first and words after them, if there are any"
    return "in the order of the calls, the same run gives the same array"


def each_result_says_that_its_call_was_not_executed_and_why(close: CloseCalls) -> None:
    """In words that the model reads, and whoever reads the run after it."""
    for spoken, why in HELD:
        got, array = closing(close, spoken, why)
        for result in tool_results(got):
            if as_text(result) != f"not executed: {why}":
                found = brief(as_text(result), 120)
                because = "the model must not guess whether the call was made; nor must the user"
                raise Broken(f"the text 'not executed: {why}'", found, because, array)


def each_result_is_an_error(close: CloseCalls) -> None:
    """Nothing came of the call, and is_error says so without a word of English."""
    for spoken, why in HELD:
        got, array = closing(close, spoken, why)
        for result in tool_results(got):
            if result.get("is_error") is not True:
                because = "a result without is_error says that the call worked"
                raise Broken("is_error True in each result", brief(result, 120), because, array)


def nothing_else_stands_in_the_message(close: CloseCalls) -> None:
    """Results alone, and each is a result and no more."""
    for spoken, why in HELD:
        got, array = closing(close, spoken, why)
        if tool_results(got) != blocks(got):
            because = "the user has not spoken yet; to the model, words in here are the user's"
            raise Broken("results and nothing else", kinds([got])[0], because, array)
        more = {*got} - {"role", "content"}
        for result in tool_results(got):
            more |= {*result} - {"type", "tool_use_id", "content", "is_error"}
        if more:
            expected = "a type, a tool_use_id, a content and is_error in each result"
            found = f"{', '.join(sorted(map(str, more)))} besides"
            raise Broken(expected, found, "the API refuses what it does not know", array)


def the_reply_stays_as_it_is(close: CloseCalls) -> None:
    """It is lent: what the model said stands in the array."""
    for spoken, why in HELD:
        lent = deepcopy(spoken)
        close(lent, why)
        if lent != spoken:
            because = "the same dicts stand in the array; what is changed here is changed there"
            raise Broken(f"the reply to stay {brief(spoken, 120)}", brief(lent, 120), because)


# a limit on rounds


def an_answer_in_the_last_round_is_an_answer(play: Play) -> None:
    """The stop comes before the brake: there is nothing left to hold."""
    for limit in (1, 2, 5):
        desk = Desk(*[asking(str(n)) for n in range(limit - 1)], reply("done"))
        messages = desk.play(play, max_rounds=limit)
        if last_words(messages) != "done":
            why = "the model had answered; who brakes now takes the answer away"
            raise Broken(
                f"the answer at the end, under max_rounds={limit}", kinds(messages)[-1], why
            )


def last_words(messages: list[Message]) -> str:
    """What the last message says in text; nothing if there is none."""
    return words(messages[-1]) if messages else ""


def what_the_last_reply_asks_for_is_answered_not_executed(play: Play) -> None:
    """So the array that is left can go on."""
    for limit in (1, 3):
        desk = Desk(*[asking(f"{n}a", f"{n}b") for n in range(9)])
        told_why(desk.play(play, max_rounds=limit), f"max_rounds={limit}")


def both_ways_out_give_back_the_same_form(play: Play) -> None:
    """The messages alone, or a pair, whether it was an answer or the limit."""
    promises.one_form(play, {"max_rounds": 1})


def told_why(messages: list[Message], held: str) -> None:
    """The array can go on, and says of the last reply's calls that they were not made, and why."""
    told = promises.left_closed(messages, held)
    if any(each.removeprefix("not executed").strip(": ") in ("", "None") for each in told):
        why = "whoever reads the run wants to know what held"
        raise Broken("a reason behind 'not executed: '", brief(told, 120), why)


# three brakes


def a_clock_may_begin_anywhere(play: Play) -> None:
    """No time passes here, whatever the clock shows."""
    desk = Desk(asking("a"), asking("b"), reply("done"))
    messages = desk.play(lambda *parts, **_: play(*parts, seconds=150, clock=lambda: 5_000.0))
    if last_words(messages) != "done":
        expected = "the answer at the end, under seconds=150 and a clock that stands still at 5000"
        why = "only differences count: how much later it is than when the run began"
        got = f"{plural(len(desk.sent), 'reply', 'replies')}; {kinds(messages)[-1]}"
        raise Broken(expected, got, why)


def the_deadline_goes_by_the_clock_that_was_given(play: Play) -> None:
    """An hour passes at once, or not at all: a test does not wait."""
    for began, later, due in ((7.0, 60.0, 3), (7.75, 59.9, 4), (7.25, 59.9, 4)):
        desk = Desk(*[asking(str(n)) for n in range(8)], reply("done"))
        asked: list[int] = []  # after how many replies

        def clock(desk=desk, asked=asked, began=began, later=later) -> float:
            asked.append(len(desk.sent))
            return began + later * len(desk.sent)

        desk.play(lambda *parts, clock=clock, **_: play(*parts, seconds=180, clock=clock))
        if (replies := len(desk.sent)) != due:
            shows = f"by a clock at {began:g} that shows {later:g} more after each reply"
            got = plural(replies, "reply", "replies")
            why = late(asked, replies, due)
            raise Broken(f"{due} replies under seconds=180, {shows}", got, why)


def late(asked: list[int], replies: int, due: int) -> str:
    """Why a deadline held after so many replies; by when its clock was asked."""
    if not asked:
        return "the clock that was given was never asked; a test of a deadline holds one of its own"
    if asked[0] > 0:
        return "the run begins before the model first speaks; that reply takes time as well"
    if max(asked) == 0:
        return "the clock was asked at the beginning alone, so no time ever passes"
    if max(asked) < replies:
        return "the clock was asked before the reply; while the model speaks, time passes"
    if due == 4:
        return "a clock shows parts of a second too, and they are not rounded away"
    return "the time is up as soon as that many seconds passed since the run began"


def an_answer_counts_however_late_it_comes(play: Play) -> None:
    """Behind the deadline and beyond the cap it is still the answer."""
    for limits in ({"seconds": 30}, {"cap_usd": 0.5}):
        messages = Desk(reply("done", cost=0.5)).play(play, **limits)
        if len(messages) != 2 or last_words(messages) != "done":
            got = f"{plural(len(messages), 'message')}: {', '.join(kinds(messages))}"
            why = "it is there and paid for; a brake has no call to hold"
            raise Broken(f"the prompt and the answer, under {limits}", got, why)


def each_brake_says_why_it_holds(play: Play) -> None:
    """Rounds, money and time, each in a later round."""
    for limits in ({"max_rounds": 2}, {"cap_usd": 1.0}, {"seconds": 90}):
        desk = Desk(*[asking(f"{n}a", f"{n}b", cost=0.5) for n in range(3)], reply("done"))
        told_why(desk.play(play, **limits), f"{limits}")


def nobody_sets_a_limit_and_there_is_one(play: Play) -> None:
    """Twenty rounds."""
    if (got := speaks(play, 0.0)) != 20:
        why = "a brake that has to be asked for is not there on the day it is needed"
        found = plural(got, "reply", "replies")
        raise Broken("20 replies where no limit is set", found, why)


def nobody_sets_a_limit_and_there_are_limits(play: Play) -> None:
    """Twenty rounds, two dollars, ten minutes."""
    usual = {
        "20 rounds": (20, lambda: speaks(play, 0.0)),
        "$2, at $0.25 a reply": (8, lambda: speaks(play, 0.25)),
        "600 seconds, at a minute a reply": (10, lambda: speaks(play, 0.0, True)),
    }
    for held, (due, counted) in usual.items():
        if (got := counted()) != due:
            why = "a brake that has to be asked for is not there on the day it is needed"
            raise Broken(f"{due} replies: {held}", plural(got, "reply", "replies"), why)


def speaks(play: Play, cost: float, on_a_clock: bool = False) -> int:
    """How often a model speaks that asks thirty times, where no limit is set."""
    desk = Desk(*[asking(str(n), cost=cost) for n in range(30)], reply("done"))
    given = {"clock": desk.clock} if on_a_clock else {}
    desk.play(lambda *parts, **_: play(*parts, **given))
    return len(desk.sent)


# a diagnosis


def no_turn_has_more_than_two_rounds(run: Recording) -> int | None:
    """The limit that was set."""
    rounds = 0
    for at, message in enumerate(run.messages):
        if message["role"] == "assistant":
            rounds += 1
        elif not tool_results(message):
            rounds = 0
        if rounds > 2:
            return at
    return None


def no_call_that_was_made_is_made_again(run: Recording) -> int | None:
    """What has a result is not asked for a second time."""
    made: list[str] = []
    asked: dict[str, str] = {}
    for at, message in enumerate(run.messages):
        for call in tool_uses(message):
            asked[call["id"]] = f"{call['name']}{call['input']}"
            if asked[call["id"]] in made:
                return at
        results = [r for r in tool_results(message) if not r.get("is_error")]
        made += [asked[result["tool_use_id"]] for result in results]
    return None


def three_pages() -> Recording:
    """A run over three turns; its last request is refused."""
    spoken = [
        reply("I look at each of them.", tool_use("c1", "status", page="a"), cost=0.2),
        reply(tool_use("c2", "status", page="b"), cost=0.2),
        reply(tool_use("c3", "status", page="b"), cost=0.3),
        reply("b is down.", tool_use("c4", "status", page="c"), cost=0.4),
    ]
    one, two, three, four = map(said, spoken)
    first = [user("Which of the pages a, b and c are down?"), one, user(tool_result("c1", "up"))]
    held = [two, close_calls(spoken[1], "max_rounds")]
    second = [user("Please go on."), three, user(tool_result("c3", "down")), four]
    return Recording([*first, *held, *second, user("Thank you. And page c?")], spoken, None)


THREE_PAGES = Case(
    three_pages,
    {
        "a": no_turn_has_more_than_two_rounds,
        "b": no_call_that_was_made_is_made_again,
        "c": every_call_is_answered_in_the_next_message,
        "d": the_array_holds_what_the_model_said,
    },
)


# a call that cannot pass the cap

PRICES = ((3.0, 15.0), (2.0, 10.0), (0.25, 1.25))  # USD a million tokens, read and written
LEFT = ((2.0, 10_000), (0.5, 120_000), (0.03, 0), (0.07, 4_321), (1.0, 999))


def worst(tokens: int, input_tokens: int, read_usd: float, written_usd: float) -> float:
    """What a call costs at most."""
    return (input_tokens * read_usd + tokens * written_usd) / 1e6


def calls_to_come() -> list[tuple[float, int, float, float]]:
    """Moments before a call that can be paid, one way or another."""
    each = [(left, read, *prices) for left, read in LEFT for prices in PRICES]
    return [moment for moment in each if worst(1, *moment[1:]) < moment[0]]


def shown(moment: tuple[float, int, float, float]) -> str:
    """A moment as one would call the function with it."""
    return f"affordable({', '.join(f'{value:g}' for value in moment)})"


def it_is_a_whole_number(affordable: Affordable) -> None:
    """max_tokens counts tokens."""
    for moment in calls_to_come():
        if type(got := affordable(*moment)) is not int:
            why = "the API takes no half tokens"
            raise Broken(f"an int from {shown(moment)}", instead(got), why)


def at_its_longest_the_call_does_not_pass_what_is_left(affordable: Affordable) -> None:
    """All of the input, and every token that it may write."""
    for moment in calls_to_come():
        got = affordable(*moment)
        if (price := worst(got, *moment[1:])) > moment[0] + 1e-9:
            expected = f"at most ${moment[0]:g} for a call with max_tokens={shown(moment)}"
            why = "what is read has its price too, and both prices are for a million tokens"
            if worst(got - 1, *moment[1:]) <= moment[0] + 1e-9:
                why = "rounded up: one token more than there is money for"
            raise Broken(expected, f"max_tokens={brief(got)}, up to ${price:g}", why)


def it_leaves_as_much_room_as_there_is(affordable: Affordable) -> None:
    """One token more, or two where a float was rounded, would pass the cap."""
    for moment in calls_to_come():
        got = affordable(*moment)
        if worst(got + 2, *moment[1:]) <= moment[0]:
            best = int((moment[0] * 1e6 - moment[1] * moment[2]) / moment[3])
            why = "who may write less than there is money for is cut off for nothing"
            raise Broken(f"{best} from {shown(moment)}", brief(got), why)


def where_the_money_does_not_last_it_is_zero(affordable: Affordable) -> None:
    """Also where the cap was passed already."""
    for moment in ((0.0, 0, 3.0, 15.0), (0.01, 100_000, 3.0, 15.0), (-0.02, 0, 2.0, 10.0)):
        if (got := affordable(*moment)) != 0:
            why = "no call can be paid, and a number of tokens below zero means nothing"
            raise Broken(f"0 from {shown(moment)}", brief(got), why)


def of_stage(*stages: int) -> tuple[Callable[[Play], None], ...]:
    """The promises that these stages make."""
    return tuple(promise for stage, promise in promises.PROMISES if stage in stages)


CLOSE_CALLS = Exercise(
    name="close_calls",
    title="Close what you do not make",
    minutes=10,
    difficulty="easy",
    lines=1,
    points=3,
    objectives=(1, 3),
    takes="close_calls(reply, why)",
    promises=(
        it_gives_back_one_message_of_the_user,
        every_call_of_the_reply_is_answered_in_order,
        each_result_says_that_its_call_was_not_executed_and_why,
        each_result_is_an_error,
        nothing_else_stands_in_the_message,
        the_reply_stays_as_it_is,
    ),
    piece=Piece("close_calls", borrowed=lambda: close_calls),
)

RUN_WITH_LIMIT = Exercise(
    name="run_with_limit",
    title="So many rounds and no more",
    minutes=10,
    difficulty="medium",
    lines=4,
    points=3,
    objectives=(3,),
    takes="run_with_limit(model, tools, prompt, max_rounds=20)",
    promises=(
        promises.the_array_begins_with_the_prompt,
        promises.a_reply_that_asks_for_nothing_ends_the_run,
        promises.the_run_goes_on_as_long_as_the_model_asks,
        promises.each_call_is_made_once,
        promises.the_model_speaks_as_often_as_the_limit_says_at_most,
        promises.no_tool_runs_whose_result_nobody_reads,
        an_answer_in_the_last_round_is_an_answer,
        what_the_last_reply_asks_for_is_answered_not_executed,
        promises.no_call_is_left_unanswered_whatever_the_stop_reason_says,
        both_ways_out_give_back_the_same_form,
        nobody_sets_a_limit_and_there_is_one,
    ),
)

RUN_WITH_BRAKES = Exercise(
    name="run_with_brakes",
    title="Rounds, money and time",
    minutes=20,
    difficulty="medium",
    lines=12,
    points=6,
    objectives=(1, 3),
    takes="run_with_brakes(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600,"
    " clock=time.monotonic)",
    promises=(
        a_clock_may_begin_anywhere,
        *of_stage(1),
        promises.the_model_speaks_as_often_as_the_limit_says_at_most,
        the_deadline_goes_by_the_clock_that_was_given,
        *of_stage(2)[1:],  # from the second on: by then it is not the clock that is amiss
        an_answer_counts_however_late_it_comes,
        each_brake_says_why_it_holds,
        nobody_sets_a_limit_and_there_are_limits,
    ),
    piece=Piece("run", needs=("act", "close_calls"), borrowed=braked),
)

THIRD_TURN = Exercise(
    name="third_turn",
    title="It went well until the third turn",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="third_turn()",
    promises=THREE_PAGES.promises(),
    case=THREE_PAGES,
)

AFFORDABLE = Exercise(
    name="affordable",
    title="A call that cannot pass the cap",
    minutes=10,
    difficulty="hard",
    lines=2,
    points=3,
    objectives=(3,),
    takes="affordable(left_usd, input_tokens, read_usd, written_usd)",
    promises=(
        it_is_a_whole_number,
        at_its_longest_the_call_does_not_pass_what_is_left,
        it_leaves_as_much_room_as_there_is,
        where_the_money_does_not_last_it_is_zero,
    ),
)

LAB = Lab(
    "02_brakes",
    "Brakes",
    (CLOSE_CALLS, RUN_WITH_LIMIT, RUN_WITH_BRAKES, THIRD_TURN, AFFORDABLE),
)
