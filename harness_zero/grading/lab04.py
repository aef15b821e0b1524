"""Lab 04, termination labels: its exercises and what an answer to each one promises."""

import json
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from harness_zero import promises
from harness_zero.brief import brief
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
)
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    the_array_holds_what_the_model_said,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.labels import Label
from harness_zero.messages import (
    Block,
    Message,
    Reply,
    array_fault,
    blocks,
    not_executed,
    reply,
    request_fault,
    said,
    tool_result,
    tool_results,
    tool_use,
    tool_uses,
    user,
    words,
)
from harness_zero.models.scripted import OutOfReplies, scripted
from harness_zero.policy import ending
from harness_zero.watch import Recording, record

Act = Callable[[Reply, dict], Message]
Close = Callable[[Reply, str], Message]
Ending = Callable[[Reply], str | None]
Ask = Callable[[Callable, dict, tuple[int, ...]], Reply]

EXITS = "each call is answered at every exit"
HEARD_OF = ("end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")
THINKING: Block = {"type": "thinking", "thinking": "", "signature": "x"}


def close(reply: Reply, why: str) -> Message:
    """One message that answers every call of a reply: it was not made, and why."""
    return user(*[not_executed(call, why) for call in tool_uses(reply)])


def around(act: Act, ending: Ending, close_calls: Close = close) -> Play:
    """The loop of the chapter with the learner's pieces in it."""

    def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
        messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
        while True:
            reply = model(messages)
            rounds, spent = rounds + 1, spent + reply["cost_usd"]
            messages += [said(reply)] if said(reply)["content"] else []
            brakes = {
                Label.MAX_ROUNDS: rounds >= max_rounds,
                Label.COST_CAP: spent >= cap_usd,
                Label.DEADLINE: clock() - began >= seconds,
            }
            label = ending(reply) or next((name for name, holds in brakes.items() if holds), None)
            if tool_uses(reply):
                messages.append(close_calls(reply, label) if label else act(reply, tools))
            if label:
                return messages, label

    return run


def ended(spoken: Reply, reason: str | None) -> Reply:
    """The same reply with this stop_reason, whatever its blocks."""
    return {**spoken, "stop_reason": reason}


def thinking(reason: str) -> Reply:
    """A reply in which the model thought, and said nothing."""
    return {**reply(stop_reason=reason), "content": [THINKING]}


def expect_ending(given: Ending, spoken: Reply, label: str | None, why: str) -> None:
    """The function must give back this label for this reply, or None."""
    got = given(deepcopy(spoken))
    if got != label:
        raise Broken(f"{label!s} for {as_written(spoken)}", brief(got, 120), why)


def as_written(spoken: Reply) -> str:
    """What an ending is read off, as one would write it: the blocks, and the stop_reason."""
    return json.dumps({name: spoken[name] for name in ("content", "stop_reason")})


def a_reply_that_asks_for_tools_goes_on(given: Ending) -> None:
    """One call or several, with words or without."""
    why = "tool_use means that the turn is still in progress: its calls are made"
    for spoken in (asking("a"), asking("a", "b"), reply("Let me look.", note("a"))):
        expect_ending(given, spoken, None, why)


def a_reply_that_was_only_paused_goes_on(given: Ending) -> None:
    """The same array is sent again, whatever the reply holds so far."""
    why = "a tool on the API's side paused; the array is sent again, so this is no ending"
    for spoken in (reply("Searching."), reply(), thinking(""), asking("a")):
        expect_ending(given, ended(spoken, "pause_turn"), None, why)


def an_answer_is_finished(given: Ending) -> None:
    """It ended by itself, or at a text that the request named."""
    why = "it says something and asks for nothing: an answer"
    for reason in ("end_turn", "stop_sequence"):
        expect_ending(given, ended(reply("42"), reason), "finished", why)
        expect_ending(given, ended(reply("", "42"), reason), "finished", why)


def a_reply_that_was_cut_is_truncated_whatever_is_in_it(given: Ending) -> None:
    """Half an answer, half a call, or nothing yet."""
    why = "the limit on its length ended it, and what it holds may be half of something"
    for spoken in (reply("4"), asking("a"), reply("4", note("a")), reply(), thinking("")):
        expect_ending(given, ended(spoken, "max_tokens"), "truncated", why)


def a_refusal_is_refused_whatever_is_in_it(given: Ending) -> None:
    """With words or without."""
    why = "it declined; asked the same again it will decline again"
    for spoken in (reply("I will not."), reply(), asking("a")):
        expect_ending(given, ended(spoken, "refusal"), "refused", why)


def a_full_window_is_not_taken_for_a_cut(given: Ending) -> None:
    """More room for the reply does not help where the array fills the window."""
    why = "the array is too long; a larger max_tokens helps against truncated, and not here"
    for spoken in (reply("4"), asking("a"), reply()):
        expect_ending(
            given, ended(spoken, "model_context_window_exceeded"), "context_exhausted", why
        )


def what_nobody_has_heard_of_is_unknown(given: Ending) -> None:
    """A new reason, or none, whatever the reply holds."""
    why = "the API may add reasons; taken for an answer, a new one would be called finished"
    for reason in ("compaction", "tea_time", "", None):
        for spoken in (reply("42"), asking("a"), reply()):
            expect_ending(given, ended(spoken, reason), "unknown_stop", why)


def an_answer_that_says_nothing_is_empty(given: Ending) -> None:
    """No block, blank text, or blocks of other kinds alone."""
    why = "nobody said that anything was done; a caller would show an empty answer"
    for reason in ("end_turn", "stop_sequence"):
        for told, spoken in (
            ("it holds no block at all", reply()),
            ("its text is blank", reply("")),
            ("its text is blank", reply(" \n")),
            ("both its texts are blank", reply("", "\t")),
            ("blocks of other kinds, such as thinking, are no text", thinking(reason)),
        ):
            expect_ending(given, ended(spoken, reason), "empty_reply", f"{told}; {why}")


def a_reason_that_contradicts_its_blocks_is_unknown(given: Ending) -> None:
    """It asks for tools without a call, or ends with one."""
    why = "one of the two is wrong, and nobody knows which"
    for spoken in (reply("Let me look."), reply(), thinking("")):
        expect_ending(given, ended(spoken, "tool_use"), "unknown_stop", why)
    for reason in ("end_turn", "stop_sequence"):
        for spoken in (asking("a"), reply("42", note("a"))):
            expect_ending(given, ended(spoken, reason), "unknown_stop", why)


def the_reply_stays_as_it_is(given: Ending) -> None:
    """Naming an ending only reads."""
    for spoken in (reply("42"), asking("a"), ended(reply("Searching."), "pause_turn"), reply(" ")):
        read = deepcopy(spoken)
        given(read)
        if read != spoken:
            why = "the loop and the trace read it after you: reply[...] reads, pop takes away"
            raise Broken(f"the reply as it was: {brief(spoken, 160)}", brief(read, 160), why)


def it_keeps_what_the_loops_of_labs_01_and_02_promise(play: Play) -> None:
    """Each promise of stages 1 and 2, in order."""
    for promise in of_stage(1, 2):
        promise(play)


def the_label_comes_back_beside_the_messages(play: Play) -> None:
    """A pair: the messages, and one word."""
    desk = Desk(reply("42"))
    given = play(desk.model, desk.tools, "go")
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], list):
        why = "what was said and how it ended are two things: return messages, label"
        raise Broken("the pair (messages, label)", brief(given, 120), why)
    if any("finished" in words(message) for message in given[0]):
        why = "in the array the label would be read as something that somebody said"
        raise Broken("the label beside the messages alone", brief(given[0][-1], 120), why)


def ended_as(play: Play, label: str, why: str, *script: Reply, **limits: Any) -> Desk:
    """A desk at which a turn was played that has to end with this label."""
    desk = Desk(*script)
    desk.play(play, **limits)
    if desk.label != label:
        raise Broken(f"the label {label}", str(desk.label), why)
    return desk


def how_the_last_reply_ended_comes_before_the_limits(play: Play) -> None:
    """Exactly one label, and the reply's own is the truer one."""
    why = "the reply ended by itself; a limit had nothing left to hold"
    for label, spoken in (
        ("finished", reply("42", cost=9.0)),
        ("truncated", reply("4", stop_reason="max_tokens", cost=9.0)),
        ("refused", reply("no", stop_reason="refusal", cost=9.0)),
    ):
        for limits in ({"max_rounds": 2}, {"cap_usd": 1.0}, {"seconds": 61}):
            ended_as(play, label, why, asking("a"), spoken, **limits)


def a_limit_names_itself(play: Play) -> None:
    """Where the model wants to go on, the label says which brake held."""
    why = "whoever called the loop does something else about time than about money"
    asks = [asking(str(n), cost=0.4) for n in range(9)]
    for label, limits, made in (
        ("max_rounds", {"max_rounds": 3}, 2),
        ("cost_cap", {"cap_usd": 1.0}, 2),
        ("deadline", {"seconds": 200}, 3),
    ):
        desk = ended_as(play, label, why, *asks, **limits)
        if len(desk.done) != made:
            got = f"{len(desk.done)} calls made under {limits}"
            why = "spent and rounds are counted as replies arrive; the last reply's calls wait"
            raise Broken(f"{made} calls made under {limits}", got, why)


def calls_that_are_not_made_are_told_the_label(play: Play) -> None:
    """Whichever brake holds."""
    for limits in ({"max_rounds": 1}, {"cap_usd": 0.5}, {"seconds": 60}):
        desk = Desk(asking("a", "b", cost=0.5))
        answers = results_in(desk.play(play, **limits))
        if not all(str(desk.label) in str(answer) for answer in answers.values()):
            why = "the model reads it in the next turn, and can say how far it came"
            raise Broken(f"both calls told of {desk.label}", str(answers), why)


def no_reply_but_one_that_ended_to_call_tools_has_its_calls_made(play: Play) -> None:
    """Whatever other reason stands beside a call, it is answered and not made."""
    for reason in (*HEARD_OF, "tea_time", None):
        desk = Desk(ended(asking("a", "b"), reason), reply("done"))
        messages = desk.play(play)
        if desk.done:
            got = f"made: {', '.join(desk.done)}"
            why = "a call may be half of one; it can look whole and still lack an argument"
            raise Broken(f"no call made of a reply that ended with {reason!r}", got, why)
        if fault := request_fault(messages):
            raise Broken(f"an array that can be sent, after {desk.label}", fault, EXITS)
        if not all(str(each).startswith("not executed") for each in results_in(messages).values()):
            why = "the model must not guess that a call was made"
            raise Broken("each call answered 'not executed'", str(results_in(messages)), why)


def an_empty_reply_never_enters_the_array(play: Play) -> None:
    """Neither as a message without content, nor as anything else."""
    for told, spoken in (
        ("without content", reply()),
        ("whose text is blank (of it, said() keeps no block)", reply(" ")),
    ):
        desk = Desk(asking("a"), spoken)
        messages = desk.play(play)
        if fault := array_fault(messages):
            why = "the API takes no message without content, so the session would be dead"
            raise Broken(f"an array that can go on, after a reply {told}", fault, why)
        if desk.label != "empty_reply" or len(messages) != 3:
            expected = f"empty_reply, with the three messages before it, after a reply {told}"
            got = f"{desk.label} with {', '.join(kinds(messages))}"
            raise Broken(expected, got, "nothing was said")


def a_paused_turn_goes_on_with_the_same_array(play: Play) -> None:
    """The reply is appended, and nothing of the user's."""
    pause = reply("Searching.", stop_reason="pause_turn")
    desk = Desk(asking("a"), pause, pause, reply("42"))
    desk.play(play)
    roles = [[message["role"] for message in request] for request in desk.sent]
    if roles[2:] != [["user", "assistant", "user", "assistant"], [*roles[1], *["assistant"] * 2]]:
        got = f"{len(roles)} requests, the last of {', '.join(kinds(desk.sent[-1]))}"
        why = "the API goes on where it paused; a message of the user's in between would end that"
        raise Broken("the paused reply appended, and the array sent again", got, why)
    if desk.label != "finished":
        raise Broken("the label finished", str(desk.label), "the answer came after the pause")


def a_limit_holds_in_a_pause_too(play: Play) -> None:
    """A model that pauses for ever is asked no more than the limit says."""
    pause = reply("Searching.", stop_reason="pause_turn")
    desk = ended_as(
        play, "max_rounds", "a brake holds whatever goes on", *[pause] * 4, max_rounds=2
    )
    if len(desk.sent) != 2:
        raise Broken("2 replies under max_rounds=2", counted(len(desk.sent)), "a limit counts")


def a_reply_that_contradicts_itself_ends_the_turn(play: Play) -> None:
    """tool_use without a call leaves nothing to make, and nothing to send."""
    desk = ended_as(
        play,
        "unknown_stop",
        "there is no call to make, so another request would only say the same",
        reply("Let me look.", stop_reason="tool_use"),
    )
    if len(desk.array()) != 2:
        got = ", ".join(kinds(desk.array()))
        raise Broken("the prompt and the reply", got, "a message of no results is refused")


PATIENT = "a lapse is no reason to lose a run that a word could save"


def asked_again(play: Play, *script: Reply) -> tuple[Desk, Message]:
    """A desk at which the model was asked again after a lapse, and the message that was new."""
    desk = Desk(*script)
    try:
        desk.play(play)
    except OutOfReplies:
        said_anew(desk)  # the likelier fault
        raise
    if len(desk.sent) < 2:
        raise Broken("the model asked again", f"the end, labelled {desk.label}", PATIENT)
    return desk, said_anew(desk)


def said_anew(desk: Desk) -> Message:
    """The one message of the user's that the second request holds after the first and its reply."""
    first, second, spoken = *desk.sent[:2], said(desk.replies[0])
    known = [*first, spoken] if spoken["content"] else first
    kept = "the cut reply in the array" if spoken["content"] else "the array as it was"
    expected = f"{kept}, then one message of the user's"
    got = ", ".join(kinds(second))
    if as_blocks(second) == as_blocks(first):
        why = "the model does not know that it was asked before, so it says the same"
        raise Broken(expected, f"the same array again: {got}", why)
    if as_blocks(second[: len(first)]) != as_blocks(first):
        why = "the array is the model's only memory, and it is only ever appended to"
        raise Broken(expected, f"another array: {got}", why)
    if as_blocks(second[: len(known)]) != as_blocks(known):
        why = "it was said, and without it the model does not know what it is to go on with"
        raise Broken(expected, f"an array without the cut reply: {got}", why)
    if fault := request_fault(second):
        why = "the API refuses others with the HTTP error 400, and the run is lost"
        raise Broken("a second request that the API takes", fault, why)
    if set(desk.done) & {call["id"] for call in tool_uses(spoken)}:
        why = "arguments that were cut off can look whole; close_calls answers without making"
        raise Broken("no call of the cut reply made", f"made: {', '.join(desk.done)}", why)
    if len(new := second[len(known) :]) != 1:
        raise Broken(expected, f"{len(new)} messages: {', '.join(kinds(new))}", ONE)
    return new[0]


ONE = "one says all: words for the model stand in the results, or alone if there are none"


def expect_words(new: Message, why: str) -> None:
    """Where there was no call, the user says something."""
    if new["role"] != "user" or not words(new).strip():
        raise Broken("a message of the user's with words in it", kinds([new])[0], why)


def expect_finished(desk: Desk) -> None:
    """The second reply was the answer."""
    if desk.label != "finished":
        raise Broken("the label finished", str(desk.label), "the model went on and answered")


def a_cut_call_is_answered_and_asked_for_anew(play: Play) -> None:
    """None of the calls is made; each is told that it was not; then the model speaks again."""
    cut = asking("a", "b", stop_reason="max_tokens")
    desk, new = asked_again(play, cut, asking("c"), reply("42"))
    if desk.done != ["c"]:
        made = ", ".join(desk.done) or "none"
        why = "of a reply that was cut no call is made; of the next one all are"
        raise Broken("the call c made, and no other", f"made: {made}", why)
    answers = results_in([new], 0)
    told = all(str(answer).startswith("not executed") for answer in answers.values())
    if [*answers] != ["a", "b"] or not told:
        raise Broken("a and b answered 'not executed'", str(answers), "the model reads what became")
    expect_finished(desk)


def the_words_stand_in_the_results_and_not_behind_them(play: Play) -> None:
    """The message after a cut call holds its results alone."""
    _, new = asked_again(play, asking("a", stop_reason="max_tokens"), reply("42"))
    if tool_results(new) != blocks(new):
        why = "text behind results teaches a model that the user speaks next: it answers nothing"
        raise Broken("one message that holds results and nothing else", kinds([new])[0], why)
    told = str(as_text(tool_results(new)[0]))
    if len(told.removeprefix("not executed:").split()) < 2:
        why = "it can do better only if it knows what failed"
        raise Broken("a result that says why", told, why)


def a_cut_answer_stays_and_the_model_is_told(play: Play) -> None:
    """What was said is kept; a message of the user's follows."""
    cut = reply("The port is 80", stop_reason="max_tokens")
    desk, new = asked_again(play, cut, reply("8080."))
    expect_words(new, "without a word of the user's nobody has asked for anything")
    expect_finished(desk)


def an_empty_reply_is_nudged_and_never_sent_back(play: Play) -> None:
    """A new message of the user's, in the place of nothing."""
    for spoken in (reply(), reply(" \n"), reply(stop_reason="max_tokens")):
        desk, new = asked_again(play, spoken, reply("42"))
        why = "the same array brings the same nothing, and an empty message is refused"
        expect_words(new, why)
        expect_finished(desk)


LAPSES = {
    "truncated": [asking(f"x{n}", stop_reason="max_tokens") for n in range(6)],
    "empty_reply": [reply() for _ in range(6)],
}


def patience_has_an_end(play: Play) -> None:
    """Two times unless another number is given, and then the label says what it was."""
    for label, lapses in LAPSES.items():
        for more, replies in ((), 3), ((0,), 1), ((1,), 2), ((4,), 5):
            desk = Desk(*lapses)
            desk.play(lambda *given, more=more: play(*given, *more))
            if len(desk.sent) != replies or desk.label != label:
                times = f"patience {more[0]}" if more else "the usual patience"
                got = f"{counted(len(desk.sent))} and the label {desk.label}"
                why = "a model that lapses for ever is asked for ever, unless somebody counts"
                raise Broken(f"{counted(replies)} with {times}, then {label}", got, why)
            if fault := array_fault(desk.array()):
                raise Broken(f"an array that can go on, after {label}", fault, EXITS)


def lapses_of_both_kinds_share_one_count(play: Play) -> None:
    """Cut, empty, cut: three lapses in a row."""
    cut, empty = LAPSES.values()
    for label, one, other in (("truncated", cut, empty), ("empty_reply", empty, cut)):
        script = [one[0], other[1], one[2], other[3], one[4], other[5]]
        desk = Desk(*script, reply("42"))
        desk.play(play)
        if desk.label != label or len(desk.sent) != 3:
            kinds = "a cut one, an empty one" if one is cut else "an empty one, a cut one"
            why = "whatever they are, they are lapses in a row: one number counts both kinds"
            raise Broken(f"{label} after 3 replies: {kinds} and so on", played(desk), why)


def a_pause_does_not_start_the_count_anew(play: Play) -> None:
    """A lapse, a pause, a lapse, a pause, a lapse: nothing was done in between."""
    pause = reply("Searching.", stop_reason="pause_turn")
    for label, lapses in LAPSES.items():
        desk = Desk(*[each for lapse in lapses for each in (lapse, pause)], reply("42"))
        desk.play(play)
        if desk.label != label or len(desk.sent) != 5:
            why = (
                "only a call that is made starts it: who lapses and pauses in turn would never end"
            )
            raise Broken(f"{label} after 5 replies, each second one a pause", played(desk), why)


def a_call_that_is_made_starts_the_count_anew(play: Play) -> None:
    """Two lapses, work, two lapses, work, an answer."""
    for lapses in LAPSES.values():
        script = *lapses[:2], asking("a"), *lapses[2:4], asking("b"), reply("42")
        desk = Desk(*script)
        desk.play(play)
        if desk.label != "finished" or desk.done != ["a", "b"]:
            why = "what counts is lapses in a row; who works in between is not stuck"
            raise Broken("finished after 7 replies, a and b made", played(desk), why)


def played(desk: Desk) -> str:
    """How a turn with lapses ended, after how many replies, how many of them lapses."""
    lapses = sum(ending(spoken) in LAPSES for spoken in desk.replies)
    made = f", made: {', '.join(desk.done)}" if desk.done else ""
    return f"{desk.label} after {counted(len(desk.sent))}, {lapses} of them lapses{made}"


def counted(replies: int) -> str:
    """A number of replies, in words."""
    return "1 reply" if replies == 1 else f"{replies} replies"


def every_other_end_is_an_end(play: Play) -> None:
    """Nothing but a cut and a silence is asked about again."""
    for label, spoken in (
        ("finished", reply("42")),
        ("refused", reply("no", stop_reason="refusal")),
        ("context_exhausted", reply("4", stop_reason="model_context_window_exceeded")),
        ("unknown_stop", reply("?", stop_reason="tea_time")),
        ("unknown_stop", asking("a", stop_reason="end_turn")),
    ):
        desk = Desk(spoken)
        messages = desk.play(play)
        if desk.label != label or desk.done:
            got = f"{desk.label}, made: {', '.join(desk.done) or 'no call'}"
            raise Broken(f"the label {label}, and no call made", got, "only a lapse is forgiven")
        if fault := array_fault(messages):
            raise Broken(f"an array that can go on, after {label}", fault, EXITS)
        told = [str(each) for message in messages for each in map(as_text, tool_results(message))]
        if not all(label in each for each in told):
            why = "the model reads it in the next turn, and can say how far it came"
            raise Broken(f"its call told of {label}", str(told), why)


class Heeding:
    """A model of requests that gives its replies in order and keeps what it was asked."""

    def __init__(self, *script: Reply) -> None:
        self.given = deepcopy(script)
        self.speak = scripted(*self.given)
        self.asked: list[dict] = []

    def __call__(self, request: Any) -> Reply:
        if not isinstance(request, dict) or "messages" not in request:
            why = "the model here takes a request: a dict with messages, and maybe max_tokens"
            raise Broken("the model called with a request", brief(request, 120), why)
        self.asked.append(deepcopy(request))
        return self.speak(request["messages"])


SENT = [user("go")]
GO: dict[str, Any] = {"messages": SENT, "system": "Be brief."}
CUTS = [reply(f"part {n}", stop_reason="max_tokens", cost=0.25) for n in range(4)]


def larger(ask: Ask, *script: Reply, limits: Any = (100, 200, 400)) -> tuple[Reply, Heeding, dict]:
    """What comes back, the model that was asked, and the request as it is afterwards."""
    model, request = Heeding(*script), deepcopy(GO)
    given = deepcopy(limits)
    try:
        got = ask(model, request, given)
    except (AttributeError, TypeError) as error:
        if isinstance(limits, tuple) and "'tuple' object" in str(error):
            raise Broken("limits that are only read", str(error), NOT_YOURS) from None
        raise
    if given != limits:
        raise Broken(f"the list of limits as it was: {limits}", brief(given), NOT_YOURS)
    if not isinstance(got, dict) or "stop_reason" not in got:
        why = "whoever asks wants the reply, as the model gave it"
        raise Broken("a reply back", brief(got, 120), why, SENT)
    return got, model, request


NOT_YOURS = "limits may be a tuple, and the caller's list is not yours to empty; `for` only reads"


def expect_limits(model: Heeding, limits: Sequence[int | None], why: str) -> None:
    """The model must have been asked with these limits, in this order."""
    got = [request.get("max_tokens") for request in model.asked]
    if got != [*limits]:
        raise Broken(told(limits), told(got), why, SENT)


def told(limits: Sequence[int | None]) -> str:
    """Requests in words: 2 requests: without max_tokens, 100."""
    each = ["without max_tokens" if limit is None else str(limit) for limit in limits]
    if len(each) == 1:
        return f"one request, {each[0]}"
    return f"{len(each) or 'no'} requests{': ' if each else ''}{', '.join(each)}"


def a_whole_reply_is_asked_for_once(ask: Ask) -> None:
    """Whatever ended it, unless it was its length."""
    for reason in ("end_turn", "refusal", "model_context_window_exceeded", "pause_turn", None):
        whole = ended(reply("42"), reason)
        got, model, _ = larger(ask, whole, *[reply("more")] * 3)
        why = f"more room does not help a reply that ended with {reason!r}"
        expect_limits(model, [None], why)
        if got["content"] != whole["content"]:
            raise Broken("the reply as it came", brief(got, 120), "it was whole", SENT)


def a_cut_reply_is_asked_for_again_with_the_next_limit(ask: Ask) -> None:
    """Until one is whole, and then no more."""
    for cuts in (1, 2, 3):
        got, model, _ = larger(ask, *CUTS[:cuts], reply("whole"), reply("too much"))
        why = "one limit after the other, and none more once the reply is whole"
        expect_limits(model, [None, 100, 200, 400][: cuts + 1], why)
        if words(got) != "whole":
            why = "the whole reply takes the place of the cut one"
            raise Broken("the whole reply", brief(got, 120), why, SENT)


def it_is_the_same_request_but_for_its_limit(ask: Ask) -> None:
    """Nothing is appended, nothing else changes, and the request that was given stays as it was."""
    _, model, request = larger(ask, *CUTS[:2], reply("whole"))
    for at, asked in enumerate(model.asked, 1):
        rest = {name: value for name, value in asked.items() if name != "max_tokens"}
        if lost := [name for name in GO if name not in rest]:
            got = f"request {at} without {', '.join(lost)}: {brief(asked, 160)}"
            why = "all other keys stay: {**request, ...} copies each of them"
            raise Broken(f"the same request, with all of {brief(GO, 160)}", got, why, SENT)
        if rest != GO:
            got = f"request {at}: {brief(rest, 160)}"
            why = "the cut reply is as if it had not been said; the model starts anew"
            raise Broken(f"the same request: {brief(GO, 160)}", got, why, SENT)
    if request != GO:
        why = "the next round would start with the large limit; copy: {**request, ...}"
        raise Broken("the request that was given, unchanged", brief(request, 160), why)


def after_the_last_limit_the_cut_reply_is_handed_on(ask: Ask) -> None:
    """It is not asked for for ever, and not lost."""
    for limits in ((100, 200), [100], ()):
        got, model, _ = larger(ask, *CUTS, limits=limits)
        expect_limits(model, [None, *limits], "the limits that are given are all that are tried")
        if got["stop_reason"] != "max_tokens" or words(got) != f"part {len(limits)}":
            why = "the loop names it truncated, or asks in words for smaller pieces"
            raise Broken("the last cut reply", brief(got, 120), why, SENT)


def the_limits_are_tried_in_the_order_in_which_they_stand(ask: Ask) -> None:
    """Also where they do not grow."""
    limits = (100, 400, 200)
    _, model, _ = larger(ask, *CUTS, limits=limits)
    expect_limits(model, [None, *limits], "whoever gives the limits decides on their order")


def all_that_was_asked_is_paid_for(ask: Ask) -> None:
    """The reply that comes back costs what all of them cost."""
    for cuts in (0, 1, 3):
        got, _, _ = larger(ask, *CUTS[:cuts], reply("whole", cost=0.5))
        if got["cost_usd"] != 0.5 + 0.25 * cuts:
            expected = (
                f"cost_usd {0.5 + 0.25 * cuts} after {cuts} cut replies at 0.25 and one at 0.5"
            )
            why = "a cap in money that does not see the cut replies can be passed without end"
            raise Broken(expected, brief(got.get("cost_usd")), why, SENT)


def the_replies_of_the_model_stay_as_they_are(ask: Ask) -> None:
    """The sum stands in a reply of its own."""
    script = *CUTS[:2], reply("whole", cost=0.5)
    _, model, _ = larger(ask, *script)
    for at, (spoken, given) in enumerate(zip(script, model.given, strict=True), 1):
        if given != spoken:
            why = "whoever keeps the replies would count money twice: {**reply, 'cost_usd': ...}"
            expected = f"reply {at} as the model gave it: {brief(spoken, 160)}"
            raise Broken(expected, brief(given, 160), why)


def the_label_says_how_the_last_reply_ended(run: Recording) -> int | None:
    """The label fits the stop_reason and the blocks of the last reply."""
    return None if run.label == ending(run.replies[-1]) else len(run.messages) - 1


def a_reply_that_was_cut_off_has_none_of_its_calls_made(run: Recording) -> int | None:
    """The message after it answers each of them: not executed."""
    spoken = iter(run.replies)
    for at, message in enumerate(run.messages[:-1]):
        if message["role"] == "user" or next(spoken)["stop_reason"] != "max_tokens":
            continue
        answers = tool_results(run.messages[at + 1])
        if any(not str(as_text(each)).startswith("not executed") for each in answers):
            return at + 1
    return None


def by_blocks(model: Callable, tools: dict, prompt: str) -> tuple[list[Message], str]:
    """A loop with a label, that goes by the calls in a reply and not by how it ended."""
    messages = [user(prompt)]
    while True:
        spoken = model(messages)
        messages.append(said(spoken))
        if not tool_uses(spoken):
            return messages, str(ending(spoken))
        results = [
            tool_result(call["id"], str(tools[call["name"]](**call["input"])))
            for call in tool_uses(spoken)
        ]
        messages.append(user(*results))


def a_seating_plan() -> Recording:
    """A run that copies a list of guests; one of its replies is longer than the request allows."""
    tools: dict[str, Callable] = {
        "read_file": lambda path: "Ada\nBen\nCleo\nDan\nEve",
        "add_lines": lambda path, lines="": f"{len(lines.splitlines())} lines added to {path}",
    }
    script = scripted(
        reply("First the list.", tool_use("c1", "read_file", path="guests.txt")),
        reply(tool_use("c2", "add_lines", path="plan.txt", lines="1 Ada\n2 Ben")),
        reply(
            "Now the others, each with a seat.",
            tool_use("c3", "add_lines", path="plan.txt", lines="3 Cleo\n4 Da"),
            stop_reason="max_tokens",
        ),
        reply(tool_use("c4", "add_lines", path="cook.txt", lines="five guests\none table")),
        reply("The plan is written: a seat for every guest. The cook knows."),
    )
    return record(by_blocks, script, tools, "Write a seating plan for the guests in guests.txt.")


SEATING_PLAN = Case(
    a_seating_plan,
    {
        "a": the_label_says_how_the_last_reply_ended,
        "b": every_call_is_answered_in_the_next_message,
        "c": the_array_holds_what_the_model_said,
        "d": a_reply_that_was_cut_off_has_none_of_its_calls_made,
    },
)


def of_stage(*stages: int) -> list[Callable[[Play], None]]:
    """What these stages promise."""
    return [promise for stage, promise in promises.PROMISES if stage in stages]


ENDING = Exercise(
    name="ending",
    title="Name the ending of a reply",
    minutes=15,
    difficulty="medium",
    lines=10,
    points=4,
    objectives=(1,),
    takes="ending(reply)",
    promises=(
        a_reply_that_asks_for_tools_goes_on,
        an_answer_is_finished,
        a_reply_that_was_cut_is_truncated_whatever_is_in_it,
        a_refusal_is_refused_whatever_is_in_it,
        a_full_window_is_not_taken_for_a_cut,
        a_reply_that_was_only_paused_goes_on,
        what_nobody_has_heard_of_is_unknown,
        an_answer_that_says_nothing_is_empty,
        a_reason_that_contradicts_its_blocks_is_unknown,
        the_reply_stays_as_it_is,
    ),
    piece=Piece("ending", borrowed=lambda: ending),
)

LABELLED = Exercise(
    name="labelled",
    title="A label at every exit",
    minutes=15,
    difficulty="medium",
    lines=12,
    points=5,
    objectives=(1, 3),
    takes="labelled(model, tools, prompt)",
    promises=(
        the_label_comes_back_beside_the_messages,
        it_keeps_what_the_loops_of_labs_01_and_02_promise,
        no_reply_but_one_that_ended_to_call_tools_has_its_calls_made,
        *of_stage(4),
        how_the_last_reply_ended_comes_before_the_limits,
        a_limit_names_itself,
        calls_that_are_not_made_are_told_the_label,
        an_empty_reply_never_enters_the_array,
        a_paused_turn_goes_on_with_the_same_array,
        a_limit_holds_in_a_pause_too,
        a_reply_that_contradicts_itself_ends_the_turn,
    ),
    piece=Piece("run", needs=("act", "close_calls", "ending"), borrowed=around),
)

FALSE_FINISH = Exercise(
    name="false_finish",
    title="Finished, and Eve has no seat",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="false_finish()",
    promises=SEATING_PLAN.promises(),
    case=SEATING_PLAN,
)

PATIENT_RUN = Exercise(
    name="patient_run",
    title="Ask again, a few times",
    minutes=15,
    difficulty="hard",
    lines=15,
    points=4,
    objectives=(1, 3),
    takes="patient_run(model, tools, prompt)",
    promises=(
        a_cut_call_is_answered_and_asked_for_anew,
        the_words_stand_in_the_results_and_not_behind_them,
        a_cut_answer_stays_and_the_model_is_told,
        an_empty_reply_is_nudged_and_never_sent_back,
        patience_has_an_end,
        lapses_of_both_kinds_share_one_count,
        a_pause_does_not_start_the_count_anew,
        a_call_that_is_made_starts_the_count_anew,
        every_other_end_is_an_end,
        promises.the_array_begins_with_the_prompt,
        promises.the_run_goes_on_as_long_as_the_model_asks,
        a_paused_turn_goes_on_with_the_same_array,
    ),
)

ASK_LARGER = Exercise(
    name="ask_larger",
    title="The same request, with more room",
    minutes=10,
    difficulty="hard",
    lines=7,
    points=3,
    objectives=(3,),
    takes="ask_larger(model, request, limits)",
    promises=(
        a_whole_reply_is_asked_for_once,
        a_cut_reply_is_asked_for_again_with_the_next_limit,
        it_is_the_same_request_but_for_its_limit,
        after_the_last_limit_the_cut_reply_is_handed_on,
        the_limits_are_tried_in_the_order_in_which_they_stand,
        all_that_was_asked_is_paid_for,
        the_replies_of_the_model_stay_as_they_are,
    ),
)

LAB = Lab(
    "04_termination_labels",
    "Termination labels",
    (ENDING, LABELLED, FALSE_FINISH, PATIENT_RUN, ASK_LARGER),
)
