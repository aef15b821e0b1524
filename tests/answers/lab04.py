"""Answers to lab 04: right ones of several shapes, and what people get wrong."""

import time

from harness_zero.grading import lab04
from harness_zero.labels import Label
from harness_zero.messages import not_executed, said, text, tool_uses, user, words
from harness_zero.models.more_room import more_room
from harness_zero.policy import ending
from harness_zero.stages.s3_error_as_data import answer

NOTES = {"note": lambda what: f"noted {what}"}


def act(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)])


def close_calls(reply, why):
    return user(*[not_executed(call, why) for call in tool_uses(reply)])


def ending_by_questions(reply):
    reason, calls = reply["stop_reason"], tool_uses(reply)
    if reason == "max_tokens":
        return "truncated"
    if reason == "refusal":
        return "refused"
    if reason == "model_context_window_exceeded":
        return "context_exhausted"
    if reason == "pause_turn" or (reason == "tool_use" and calls):
        return None
    if reason not in ("end_turn", "stop_sequence") or calls:
        return "unknown_stop"
    if any(b["type"] == "text" and b["text"].strip() for b in reply["content"]):
        return "finished"
    return "empty_reply"


def ending_by_match(reply):
    match reply["stop_reason"], bool(tool_uses(reply)), bool(words(reply).strip()):
        case ("tool_use", True, _) | ("pause_turn", _, _):
            return None
        case "end_turn" | "stop_sequence", False, spoke:
            return Label.FINISHED if spoke else Label.EMPTY_REPLY
        case "max_tokens", _, _:
            return Label.TRUNCATED
        case "refusal", _, _:
            return Label.REFUSED
        case "model_context_window_exceeded", _, _:
            return Label.CONTEXT_EXHAUSTED
        case _:
            return Label.UNKNOWN_STOP


def labelled_by_first(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    while True:
        reply = model(messages)
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        if message := said(reply)["content"]:
            messages.append({"role": "assistant", "content": message})
        brakes = [
            (rounds >= max_rounds, "max_rounds"),
            (spent >= cap_usd, "cost_cap"),
            (clock() - began >= seconds, "deadline"),
        ]
        label = ending(reply) or next((name for holds, name in brakes if holds), None)
        if tool_uses(reply):
            messages.append(close_calls(reply, label) if label else act(reply, tools))
        if label:
            return messages, label


def labelled_by_a_helper(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    messages, rounds, spent, until = [user(prompt)], 0, 0.0, clock() + seconds

    def named(reply):
        if label := ending(reply):
            return label
        if rounds >= max_rounds:
            return Label.MAX_ROUNDS
        if spent >= cap_usd:
            return Label.COST_CAP
        return Label.DEADLINE if clock() >= until else None

    label = None
    while label is None:
        reply = model(messages)
        rounds += 1
        spent += reply["cost_usd"]
        label = named(reply)
        calls = tool_uses(reply)
        after = [] if not calls else [close_calls(reply, label) if label else act(reply, tools)]
        messages = messages + ([said(reply)] if said(reply)["content"] else []) + after
    return messages, str(label)


def patient_by_words(model, tools, prompt, patience=2):
    messages, lapses = [user(prompt)], 0
    while True:
        reply = model(messages)
        label = ending(reply)
        spoken = said(reply)
        messages += [spoken] if spoken["content"] else []
        if label in ("truncated", "empty_reply") and lapses < patience:
            lapses += 1
            if tool_uses(reply):
                messages.append(close_calls(reply, "cut off, use smaller pieces"))
            else:
                messages.append({"role": "user", "content": "Please continue."})
            continue
        if label:
            if tool_uses(reply):
                messages.append(close_calls(reply, label))
            return messages, label
        if tool_uses(reply):
            messages.append(act(reply, tools))
            lapses = 0


def patient_by_counting_down(model, tools, prompt, patience=2):
    messages, left = [user(prompt)], patience
    while True:
        reply = model(messages)
        label, calls = ending(reply), tool_uses(reply)
        if said(reply)["content"]:
            messages.append(said(reply))
        lapsed = label in (Label.TRUNCATED, Label.EMPTY_REPLY)
        if label and not (lapsed and left > 0):
            messages += [close_calls(reply, label)] if calls else []
            return messages, label
        if lapsed:
            left -= 1
            messages.append(
                close_calls(reply, "nothing was run, ask for less") if calls else user("Go on.")
            )
        elif calls:
            left = patience
            messages.append(act(reply, tools))


def patient_off_the_replies(model, tools, prompt, patience=2):
    messages, replies = [user(prompt)], []
    while True:
        reply = model(messages)
        replies.append(reply)
        label, calls = ending(reply), tool_uses(reply)
        messages += [said(reply)] if said(reply)["content"] else []
        if label in ("truncated", "empty_reply"):
            endings = [ending(each) for each in replies if each["stop_reason"] != "pause_turn"]
            idle = endings[::-1].index(None) if None in endings else len(endings)
            if idle <= patience:
                told = close_calls(reply, "the reply was cut off") if calls else user("And then?")
                messages.append(told)
                continue
        if label:
            messages += [close_calls(reply, label)] if calls else []
            return messages, label
        messages += [act(reply, tools)] if calls else []


def patient_with_a_count_each(model, tools, prompt, patience=2):
    messages, lapses = [user(prompt)], {"truncated": 0, "empty_reply": 0}
    while True:
        reply = model(messages)
        label, calls = ending(reply), tool_uses(reply)
        messages += [said(reply)] if said(reply)["content"] else []
        if label in lapses and lapses[label] < patience:
            lapses[label] += 1
            told = close_calls(reply, "the reply was cut off") if calls else user("And then?")
            messages.append(told)
        elif label:
            messages += [close_calls(reply, label)] if calls else []
            return messages, label
        elif calls:
            lapses = dict.fromkeys(lapses, 0)
            messages.append(act(reply, tools))


def larger_by_wrapper(model, request, limits):
    return more_room(model, *limits)(request)


def larger_by_recursion(model, request, limits, spent=0.0):
    reply = model(request)
    spent += reply["cost_usd"]
    if reply["stop_reason"] != "max_tokens" or not limits:
        return {**reply, "cost_usd": spent}
    return larger_by_recursion(model, {**request, "max_tokens": limits[0]}, limits[1:], spent)


def larger_by_list(model, request, limits):
    replies = [model(request)]
    for limit in limits:
        if replies[-1]["stop_reason"] == "max_tokens":
            replies.append(model(request | {"max_tokens": limit}))
    return {**replies[-1], "cost_usd": sum(reply["cost_usd"] for reply in replies)}


def by_letter():
    return "d", 6


def by_variables():
    letter, message = "D", 6
    return [letter, message]


RIGHT = {
    "ending": [ending, ending_by_questions, ending_by_match],
    "labelled": [labelled_by_first, labelled_by_a_helper, lab04.around(act, ending)],
    "false_finish": [by_letter, by_variables, lambda: tuple(["d", 6])],
    "patient_run": [patient_by_words, patient_by_counting_down, patient_off_the_replies],
    "ask_larger": [larger_by_wrapper, larger_by_recursion, larger_by_list],
}


def but(**changed):
    """The right endings, with these reasons named otherwise."""

    def given(reply):
        reason = reply["stop_reason"]
        return changed[reason] if reason in changed else ending(reply)

    return given


def by_reason_alone(reply):
    return {
        "tool_use": None,
        "pause_turn": None,
        "end_turn": "finished",
        "stop_sequence": "finished",
        "max_tokens": "truncated",
        "refusal": "refused",
        "model_context_window_exceeded": "context_exhausted",
    }.get(reply["stop_reason"], "unknown_stop")


def by_blocks_alone(reply):
    return None if tool_uses(reply) else "finished"


def finished_unless_known(reply):
    return "finished" if ending(reply) == "unknown_stop" else ending(reply)


def without_a_default(reply):
    known = {"tool_use": None, "pause_turn": None, "max_tokens": "truncated"}
    known |= {"end_turn": "finished", "stop_sequence": "finished", "refusal": "refused"}
    known |= {"model_context_window_exceeded": "context_exhausted"}
    return known[reply["stop_reason"]]


def empty_before_the_reason(reply):
    return "empty_reply" if not words(reply).strip() and not tool_uses(reply) else ending(reply)


def reason_taken_out(reply):
    spoken = dict(reply)
    reply.pop("stop_reason")
    return ending(spoken)


def calls_in_a_pause_contradict(reply):
    asks = reply["stop_reason"] == "pause_turn" and tool_uses(reply)
    return "unknown_stop" if asks else ending(reply)


def blank_is_an_answer(reply):
    if ending(reply) == "empty_reply" and words(reply):
        return "finished"
    return ending(reply)


def thoughts_are_an_answer(reply):
    thought = any(block["type"] == "thinking" for block in reply["content"])
    return "finished" if ending(reply) == "empty_reply" and thought else ending(reply)


def loop(
    name=ending,
    order=("ending", "max_rounds", "cost_cap", "deadline"),
    made=lambda label: not label,
    remember=lambda reply: [said(reply)] if said(reply)["content"] else [],
    after=lambda reply, tools: [act(reply, tools)] if tool_uses(reply) else [],
    closed=lambda reply, label: [close_calls(reply, label)] if tool_uses(reply) else [],
    gives=lambda messages, label: (messages, label),
    over=lambda value, limit: value >= limit,
):
    """The loop with its labels, one part of it changed."""

    def run(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic):
        messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
        while True:
            reply = model(messages)
            rounds, spent = rounds + 1, spent + reply["cost_usd"]
            messages += remember(reply)
            holds = {
                "max_rounds": over(rounds, max_rounds),
                "cost_cap": over(spent, cap_usd),
                "deadline": over(clock() - began, seconds),
            }
            found = [name(reply) if each == "ending" else holds[each] and each for each in order]
            label = next((each for each in found if each), None)
            if not made(label):
                messages += closed(reply, label)
                return gives(messages, label)
            messages += after(reply, tools)

    return run


def label_in_the_array(model, tools, prompt, **limits):
    messages, label = labelled_by_first(model, tools, prompt, **limits)
    return [*messages, user(f"stopped: {label}")], label


def one_word_for_all_limits(model, tools, prompt, **limits):
    messages, label = labelled_by_first(model, tools, prompt, **limits)
    return messages, "limit" if label in ("max_rounds", "cost_cap", "deadline") else label


def two_labels(model, tools, prompt, **limits):
    messages, label = labelled_by_first(model, tools, prompt, **limits)
    return messages, "finished" if label in ("truncated", "refused") else label


def patience(
    lapses=("truncated", "empty_reply"),
    keep=lambda reply: [said(reply)] if said(reply)["content"] else [],
    words=lambda reply: (
        [close_calls(reply, "the reply was cut off, ask for less")]
        if tool_uses(reply)
        else [user("Please go on.")]
    ),
    anew=lambda count, reply: 0 if tool_uses(reply) else count,
    enough=lambda count, limit: count >= limit,
):
    """The patient loop, one part of it changed."""

    def run(model, tools, prompt, patience=2):
        messages, count = [user(prompt)], 0
        while True:
            reply = model(messages)
            label, calls = ending(reply), tool_uses(reply)
            messages += keep(reply)
            if label in lapses and not enough(count, patience):
                count += 1
                messages += words(reply)
            elif label:
                messages += [close_calls(reply, label)] if calls else []
                return messages, label
            else:
                count = anew(count, reply)
                messages += [act(reply, tools)] if calls else []

    return run


def make_them_or_speak(reply):
    return [act(reply, NOTES) if tool_uses(reply) else user("Go on.")]


def cut_calls_made(model, tools, prompt, patience=2):
    messages, lapses = [user(prompt)], 0
    while True:
        reply = model(messages)
        label = ending(reply)
        messages += [said(reply)] if said(reply)["content"] else []
        if tool_uses(reply):
            messages.append(act(reply, tools))
        if label in LAPSED and lapses < patience:
            lapses += 1
            messages += [] if tool_uses(reply) else [user("Go on.")]
        elif label:
            return messages, label


def words_behind(reply):
    if not tool_uses(reply):
        return [user("Please go on.")]
    results = close_calls(reply, "cut off")
    return [{**results, "content": [*results["content"], text("Smaller pieces, please.")]}]


def words_in_a_message_behind(reply):
    results = [close_calls(reply, "cut off")] if tool_uses(reply) else []
    return [*results, user("Smaller pieces, please.")]


LAPSED = ("truncated", "empty_reply")


def only_what_is_no_lapse(reply):
    return [said(reply)] if ending(reply) not in LAPSED else []


def begun_again(model, tools, prompt, patience=2):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        label = ending(reply)
        if label in LAPSED and patience:
            return begun_again(model, tools, f"{prompt} Be brief.", patience - 1)
        messages += [said(reply)] if said(reply)["content"] else []
        if tool_uses(reply):
            messages.append(close_calls(reply, label) if label else act(reply, tools))
        if label:
            return messages, label


def counted_anew_by_the_other_kind(model, tools, prompt, patience=2):
    messages, lapses, last = [user(prompt)], 0, None
    while True:
        reply = model(messages)
        label, calls = ending(reply), tool_uses(reply)
        messages += [said(reply)] if said(reply)["content"] else []
        if label != last:
            lapses, last = 0, label
        if label in LAPSED and lapses < patience:
            lapses += 1
            messages.append(
                close_calls(reply, "cut off, ask for less") if calls else user("Go on.")
            )
        elif label:
            messages += [close_calls(reply, label)] if calls else []
            return messages, label
        elif calls:
            messages.append(act(reply, tools))


def asked_once(model, request, limits):
    return model(request)


def grown_in_place(model, request, limits):
    reply, spent = model(request), 0.0
    for limit in limits:
        if reply["stop_reason"] != "max_tokens":
            break
        spent += reply["cost_usd"]
        request["max_tokens"] = limit
        reply = model(request)
    return {**reply, "cost_usd": spent + reply["cost_usd"]}


def larger(
    grown=lambda request, limit, reply: {**request, "max_tokens": limit},
    again=lambda reply: reply["stop_reason"] == "max_tokens",
    costs=lambda spent, reply: spent + reply["cost_usd"],
    known=lambda limits: limits,
):
    """The same request with more room, one part of it changed."""

    def ask(model, request, limits):
        reply, spent = model(request), 0.0
        for limit in known(limits):
            if not again(reply):
                break
            spent += reply["cost_usd"]
            reply = model(grown(request, limit, reply))
        return {**reply, "cost_usd": costs(spent, reply)}

    return ask


def with_the_cut_reply(request, limit, reply):
    return {**request, "messages": [*request["messages"], said(reply)], "max_tokens": limit}


def emptied(model, request, limits):
    reply, spent = model(request), 0.0
    while reply["stop_reason"] == "max_tokens" and limits:
        spent += reply["cost_usd"]
        reply = model({**request, "max_tokens": limits.pop(0)})
    return {**reply, "cost_usd": spent + reply["cost_usd"]}


def emptied_if_a_list(model, request, limits):
    return emptied(model, request, limits if isinstance(limits, list) else [*limits])


def summed_in_place(model, request, limits):
    reply = model(request)
    for limit in limits:
        if reply["stop_reason"] != "max_tokens":
            break
        spent = reply["cost_usd"]
        reply = model({**request, "max_tokens": limit})
        reply["cost_usd"] += spent
    return reply


def for_ever(model, request, limits):
    reply, limit = model(request), 100
    while reply["stop_reason"] == "max_tokens":
        reply, limit = model({**request, "max_tokens": limit}), 2 * limit
    return reply


WRONG = {
    "ending": {
        "by the reason alone": (by_reason_alone, "a caller would show an empty answer"),
        "by the blocks alone": (by_blocks_alone, 'truncated for {"content": [{"type": "text"'),
        "all else is finished": (finished_unless_known, "a new one would be called finished"),
        "no default": (without_a_default, "KeyError: 'compaction'"),
        "empty before the reason": (empty_before_the_reason, "got:      'empty_reply'"),
        "blank text is an answer": (blank_is_an_answer, "its text is blank"),
        "thoughts are an answer": (thoughts_are_an_answer, "such as thinking, are no text"),
        "the reason taken out of the reply": (reason_taken_out, "pop takes away"),
        "a pause with a call": (calls_in_a_pause_contradict, "so this is no ending"),
        "a pause is an answer": (but(pause_turn="finished"), "a tool on the API's side paused"),
        "a pause is unknown": (but(pause_turn="unknown_stop"), "is no ending"),
        "tool_use goes on": (but(tool_use=None), "one of the two is wrong"),
        "the window is a cut": (
            but(model_context_window_exceeded="truncated"),
            "the array is too long",
        ),
        "the reason itself": (lambda reply: reply["stop_reason"], "got:      'tool_use'"),
        "success": (but(end_turn="success", stop_sequence="success"), "'success'"),
        "True to go on": (lambda reply: ending(reply) or True, "got:      True"),
        "no return": (lambda reply: None, "got:      None"),
    },
    "labelled": {
        "the messages alone": (
            loop(gives=lambda messages, label: messages),
            "return messages, label",
        ),
        "the label alone": (loop(gives=lambda messages, label: label), "got:      <Label.FINISHED"),
        "the other way round": (
            loop(gives=lambda messages, label: (label, messages)),
            "the pair (messages, label)",
        ),
        "the label in the array": (label_in_the_array, "something that somebody said"),
        "limits before the ending": (
            loop(order=("max_rounds", "cost_cap", "deadline", "ending")),
            "a limit had nothing left to hold",
        ),
        "the budget forgotten": (
            loop(order=("ending", "max_rounds", "deadline")),
            "under {'cap_usd': 0.5}",
        ),
        "one word for all limits": (one_word_for_all_limits, "the label max_rounds"),
        "two labels": (two_labels, "the label truncated"),
        "over, not at, the limit": (
            loop(over=lambda value, limit: value > limit),
            "3 replies under max_rounds=3",
        ),
        "orphans": (loop(closed=lambda reply, label: []), "asked for and not answered"),
        "no calls, and yet a message": (
            loop(closed=lambda reply, label: [close_calls(reply, label)]),
            "a prompt and the reply to it",
        ),
        "by the calls alone": (
            loop(name=lambda reply: None if tool_uses(reply) else ending(reply)),
            "it can look whole and still lack an argument",
        ),
        "a cut has its calls made": (
            loop(closed=lambda reply, label: [act(reply, NOTES)] if tool_uses(reply) else []),
            "the model must not guess that a call was made",
        ),
        "an empty message": (loop(remember=lambda reply: [said(reply)]), "has no content"),
        "an empty message of blank text": (
            loop(remember=lambda reply: [said(reply)] if reply["content"] else []),
            "whose text is blank (of it, said() keeps no block)",
        ),
        "an empty reply is finished": (
            loop(name=by_reason_alone),
            "empty_reply, with the three messages before it, after a reply without content",
        ),
        "a word of the user's in a pause": (
            loop(
                after=lambda reply, tools: [
                    act(reply, tools) if tool_uses(reply) else user("Go on")
                ]
            ),
            "in between would end that",
        ),
        "no calls, and yet results": (
            loop(after=lambda reply, tools: [act(reply, tools)]),
            "in between would end that",
        ),
        "a contradiction goes on": (
            loop(name=but(tool_use=None)),
            "the loop to end",
        ),
    },
    "false_finish": {
        "the label": (lambda: ("a", 9), "the label says how the last reply ended"),
        "an orphan": (lambda: ("b", 6), "every call is answered in the next message"),
        "where it was asked": (lambda: ("d", 5), "look down"),
        "where it ends": (lambda: ("d", 9), "look further up"),
        "no number": (lambda: "d", "a letter of a, b, c, d"),
    },
    "patient_run": {
        "no patience": (patience(lapses=()), "a lapse is no reason"),
        "no nudge": (patience(lapses=("truncated",)), "a lapse is no reason"),
        "cut calls made": (cut_calls_made, "no call of the cut reply made"),
        "cut calls told as if made": (
            patience(words=make_them_or_speak),
            "a and b answered 'not executed'",
        ),
        "words behind the results": (patience(words=words_behind), "results and nothing else"),
        "words in a message behind": (
            patience(words=words_in_a_message_behind),
            "2 messages: user [tool_result a, tool_result b], user [text]",
        ),
        "no words": (
            patience(
                words=lambda r: [close_calls(r, "cut off, ask for less")][: len(tool_uses(r))]
            ),
            "the API takes",
        ),
        "calls unanswered": (patience(words=lambda reply: [user("Go on.")]), "not answered"),
        "no reason why": (
            patience(words=lambda r: [close_calls(r, "")] if tool_uses(r) else [user("Go on.")]),
            "a result that says why",
        ),
        "the empty reply in the array": (
            patience(keep=lambda reply: [said(reply)]),
            "has no content",
        ),
        "the cut reply forgotten": (
            patience(keep=only_what_is_no_lapse),
            "an array without the cut reply: user [text], user [tool_result a, tool_result b]",
        ),
        "the cut reply forgotten, and a word": (
            patience(keep=only_what_is_no_lapse, words=lambda reply: [user("Please go on")]),
            "an array without the cut reply: user [text], user [text]",
        ),
        "continue before anything is appended": (
            patience(keep=only_what_is_no_lapse, words=lambda reply: []),
            "the same array again: user [text]",
        ),
        "begun again": (begun_again, "another array: user [text]"),
        "a count for each kind": (patient_with_a_count_each, "one number counts both kinds"),
        "the other kind starts the count": (
            counted_anew_by_the_other_kind,
            "one number counts both kinds",
        ),
        "a pause starts the count anew": (
            patience(anew=lambda count, reply: 0),
            "who lapses and pauses in turn would never end",
        ),
        "once too often": (patience(enough=lambda count, limit: count > limit), "3 replies"),
        "always twice": (patience(enough=lambda count, limit: count >= 2), "1 reply with"),
        "for ever": (patience(enough=lambda count, limit: False), "the loop to end"),
        "never anew": (patience(anew=lambda count, reply: count), "lapses in a row"),
        "other ends, too": (
            patience(lapses=("truncated", "empty_reply", "refused")),
            "the loop to end",
        ),
    },
    "ask_larger": {
        "asked once": (asked_once, "expected: 2 requests: without max_tokens, 100"),
        "grown in place": (grown_in_place, "the next round would start with the large limit"),
        "the cut reply in the request": (
            larger(grown=with_the_cut_reply),
            "as if it had not been said",
        ),
        "the last price alone": (
            larger(costs=lambda spent, reply: reply["cost_usd"]),
            "passed without end",
        ),
        "the last limit at once": (
            larger(known=lambda limits: limits[-1:]),
            "2 requests: without max_tokens, 400",
        ),
        "limits in an order of their own": (
            larger(known=sorted),
            "whoever gives the limits decides on their order",
        ),
        "limits emptied": (emptied, "the caller's list is not yours to empty"),
        "a list of limits emptied": (emptied_if_a_list, "the list of limits as it was: [100]"),
        "the system prompt lost": (
            larger(grown=lambda r, limit, _: {"messages": r["messages"], "max_tokens": limit}),
            "all other keys stay: {**request, ...}",
        ),
        "the sum in the model's own reply": (summed_in_place, "would count money twice"),
        "all limits always": (larger(again=lambda reply: True), "more room does not help"),
        "a refusal again": (
            larger(again=lambda reply: reply["stop_reason"] != "end_turn"),
            "ended with 'refusal'",
        ),
        "for ever": (for_ever, "asked for reply 5"),
        "the words alone": (
            lambda model, request, limits: words(larger_by_list(model, request, limits)),
            "a reply back",
        ),
    },
}
