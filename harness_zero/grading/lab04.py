"""Lab 04, termination labels: its exercises and what an answer to each one promises."""

import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from harness_zero import promises
from harness_zero.brief import brief
from harness_zero.desk import Broken, Desk, Play, as_text, asking, kinds, note, results_in
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
from harness_zero.models.scripted import scripted
from harness_zero.policy import ending
from harness_zero.watch import Recording, record

Act = Callable[[Reply, dict], Message]
Close = Callable[[Reply, str], Message]
Ending = Callable[[Reply], str | None]
Ask = Callable[[Callable, dict, tuple[int, ...]], Reply]

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
        inside = ", ".join(block["type"] for block in spoken["content"]) or "no block"
        told = f"a reply with {inside} and the stop_reason {spoken['stop_reason']!r}"
        raise Broken(f"{label!s} for {told}", brief(got, 120), why, case_of(spoken))


def case_of(spoken: Reply) -> list[Message]:
    """The array in which this reply would stand."""
    return [user("go"), *([said(spoken)] if said(spoken)["content"] else [])]


def a_reply_that_asks_for_tools_goes_on(given: Ending) -> None:
    """One call or several, with words or without."""
    why = "tool_use means that the turn is still in progress: its calls are made"
    for spoken in (asking("a"), asking("a", "b"), reply("Let me look.", note("a"))):
        expect_ending(given, spoken, None, why)


def a_reply_that_was_only_paused_goes_on(given: Ending) -> None:
    """The same array is sent again, whatever the reply holds so far."""
    why = "a tool on the API's side paused; the array is sent again, so this is no ending"
    for spoken in (reply("Searching."), reply(), thinking("")):
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
    """No block, blank text, or thoughts alone."""
    why = "nobody said that anything was done; a caller would show an empty answer"
    for reason in ("end_turn", "stop_sequence"):
        for spoken in (reply(), reply(""), reply(" \n"), reply("", "\t"), thinking(reason)):
            expect_ending(given, ended(spoken, reason), "empty_reply", why)


def a_reason_that_contradicts_its_blocks_is_unknown(given: Ending) -> None:
    """It asks for tools without a call, or ends with one."""
    why = "one of the two is wrong, and nobody knows which"
    for spoken in (reply("Let me look."), reply(), thinking("")):
        expect_ending(given, ended(spoken, "tool_use"), "unknown_stop", why)
    for reason in ("end_turn", "stop_sequence"):
        for spoken in (asking("a"), reply("42", note("a"))):
            expect_ending(given, ended(spoken, reason), "unknown_stop", why)


def the_label_comes_back_beside_the_messages(play: Play) -> None:
    """A pair: the messages, and one word."""
    desk = Desk(reply("42"))
    given = play(desk.model, desk.tools, "go")
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], list):
        why = "what was said and how it ended are two things: return messages, label"
        raise Broken("the pair (messages, label)", brief(given, 120), why, case_of(reply("42")))
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
            raise Broken("an array that can be sent", fault, "each call is answered at every exit")
        if not all(str(each).startswith("not executed") for each in results_in(messages).values()):
            why = "the model must not guess that a call was made"
            raise Broken("each call answered 'not executed'", str(results_in(messages)), why)


def an_empty_reply_never_enters_the_array(play: Play) -> None:
    """Neither as a message without content, nor as anything else."""
    for spoken in (reply(), reply(" ")):
        desk = Desk(asking("a"), spoken)
        messages = desk.play(play)
        if fault := array_fault(messages):
            why = "the API takes no message without content, so the session would be dead"
            raise Broken("an array that can go on", fault, why)
        if desk.label != "empty_reply" or len(messages) != 3:
            got = f"{desk.label} with {', '.join(kinds(messages))}"
            raise Broken("empty_reply, with the three messages before it", got, "nothing was said")


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
        raise Broken("2 replies under max_rounds=2", f"{len(desk.sent)} replies", "a limit counts")


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


def said_after(desk: Desk, at: int) -> list[Message]:
    """What was new in a request after the reply before it."""
    before, after = desk.sent[at - 1], desk.sent[at]
    kept = 1 if said(desk.replies[at - 1])["content"] else 0
    return after[len(before) + kept :]


def asked_again(play: Play, *script: Reply) -> Desk:
    """A desk at which the first reply was a lapse and the model was asked again."""
    desk = Desk(*script)
    desk.play(play)
    if len(desk.sent) < 2:
        raise Broken("the model asked again", f"the end, labelled {desk.label}", PATIENT)
    if fault := request_fault(desk.sent[1]):
        got = f"request 2, {fault}"
        raise Broken("a request that the API takes", got, "it answers 400 to others")
    return desk


def a_cut_call_is_answered_and_asked_for_anew(play: Play) -> None:
    """None of the calls is made; each is told that it was not; then the model speaks again."""
    desk = asked_again(play, asking("a", "b", stop_reason="max_tokens"), asking("c"), reply("42"))
    if desk.done != ["c"]:
        why = "of a reply that was cut no call is made; of the next one all are"
        raise Broken("the call c made, and no other", f"made: {', '.join(desk.done)}", why)
    answers = results_in(desk.sent[1])
    told = all(str(answer).startswith("not executed") for answer in answers.values())
    if [*answers] != ["a", "b"] or not told:
        raise Broken("a and b answered 'not executed'", str(answers), "the model reads what became")
    if desk.label != "finished":
        raise Broken("the label finished", str(desk.label), "the model went on and answered")


def the_words_stand_in_the_results_and_not_behind_them(play: Play) -> None:
    """The message after a cut call holds its results alone."""
    desk = asked_again(play, asking("a", stop_reason="max_tokens"), reply("42"))
    new = said_after(desk, 1)
    if len(new) != 1 or tool_results(new[0]) != blocks(new[0]):
        why = "text behind results teaches a model that the user speaks next: it answers nothing"
        raise Broken("one message that holds results and nothing else", f"{kinds(new)}", why)
    if len(str(as_text(tool_results(new[0])[0])).removeprefix("not executed:").split()) < 2:
        got = str(as_text(tool_results(new[0])[0]))
        raise Broken("a result that says why", got, "it can do better only if it knows what failed")


def a_cut_answer_stays_and_the_model_is_told(play: Play) -> None:
    """What was said is kept; a message of the user's follows."""
    desk = asked_again(play, reply("The port is 80", stop_reason="max_tokens"), reply("8080."))
    new = said_after(desk, 1)
    if desk.sent[1][1] != said(desk.replies[0]):
        raise Broken("the cut reply in the array", kinds(desk.sent[1])[1], "it was said")
    if [message["role"] for message in new] != ["user"] or not words(new[0]).strip():
        why = "without a word of the user's nobody has asked for anything"
        raise Broken("a message of the user's with words in it", f"{kinds(new)}", why)
    if desk.label != "finished":
        raise Broken("the label finished", str(desk.label), "the model went on and answered")


def an_empty_reply_is_nudged_and_never_sent_back(play: Play) -> None:
    """A new message of the user's, in the place of nothing."""
    for spoken in (reply(), reply(" \n"), reply(stop_reason="max_tokens")):
        desk = asked_again(play, spoken, reply("42"))
        new = said_after(desk, 1)
        if [message["role"] for message in new] != ["user"] or not words(new[0]).strip():
            why = "the same array brings the same nothing, and an empty message is refused"
            raise Broken("a new message of the user's with words in it", f"{kinds(new)}", why)
        if desk.label != "finished":
            raise Broken("the label finished", str(desk.label), "the model went on and answered")


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
                got = f"{len(desk.sent)} replies and the label {desk.label}"
                why = "a model that lapses for ever is asked for ever, unless somebody counts"
                raise Broken(f"{replies} replies with {times}, then {label}", got, why)
            if fault := array_fault(desk.array()):
                raise Broken("an array that can go on", fault, "each exit answers each call")


def a_call_that_is_made_starts_the_count_anew(play: Play) -> None:
    """Two lapses, work, two lapses, work, an answer."""
    for label, lapses in LAPSES.items():
        script = *lapses[:2], asking("a"), *lapses[2:4], asking("b"), reply("42")
        desk = Desk(*script)
        desk.play(play)
        if desk.label != "finished" or desk.done != ["a", "b"]:
            got = f"{desk.label} after {len(desk.sent)} replies, four of them {label}"
            why = "what counts is lapses in a row; who works in between is not stuck"
            raise Broken("finished after 7 replies", got, why)


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
            raise Broken("an array that can go on", fault, "each call is answered at every exit")
        told = [str(each) for message in messages for each in map(as_text, tool_results(message))]
        if not all(label in each for each in told):
            why = "the model reads it in the next turn, and can say how far it came"
            raise Broken(f"its call told of {label}", str(told), why)


class Heeding:
    """A model of requests that gives its replies in order and keeps what it was asked."""

    def __init__(self, *script: Reply) -> None:
        self.speak = scripted(*deepcopy(script))
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
    got = ask(model, request, limits)
    if not isinstance(got, dict) or "stop_reason" not in got:
        why = "whoever asks wants the reply, as the model gave it"
        raise Broken("a reply back", brief(got, 120), why, SENT)
    return got, model, request


def expect_limits(model: Heeding, limits: list[int | None], why: str) -> None:
    """The model must have been asked with these limits, in this order."""
    got = [request.get("max_tokens") for request in model.asked]
    if got != limits:
        raise Broken(f"requests with max_tokens {told(limits)}", told(got), why, SENT)


def told(limits: list[int | None]) -> str:
    """Limits in words; the first request has none."""
    return ", ".join("none" if limit is None else str(limit) for limit in limits) or "no request"


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
        *of_stage(1, 2),
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
        all_that_was_asked_is_paid_for,
    ),
)

LAB = Lab(
    "04_termination_labels",
    "Termination labels",
    (ENDING, LABELLED, FALSE_FINISH, PATIENT_RUN, ASK_LARGER),
)
