"""Answers to lab 02: right ones of several shapes, and what people get wrong."""

import time
from fractions import Fraction
from math import ceil, floor

from harness_zero.grading.lab02 import close_calls
from harness_zero.messages import (
    not_executed,
    reply,
    said,
    tool_result,
    tool_results,
    tool_uses,
    user,
)
from harness_zero.stages.s1_structural_stop import answer
from harness_zero.stages.s2_brakes import run


def act(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)])


def closed_by_loop(reply, why):
    results = []
    for call in tool_uses(reply):
        results.append(tool_result(call["id"], f"not executed: {why}", is_error=True))
    return user(*results)


def closed_by_hand(reply, why):
    return {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": block["id"],
                "content": [{"type": "text", "text": "not executed: " + why}],
                "is_error": True,
            }
            for block in reply["content"]
            if block["type"] == "tool_use"
        ],
    }


def closed_by_map(reply, why):
    return user(*map(lambda call: not_executed(call, why), tool_uses(reply)))


def limit_by_counter(model, tools, prompt, max_rounds=20):
    messages, rounds = [user(prompt)], 0
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds += 1
        if not tool_uses(reply):
            return messages
        if rounds >= max_rounds:
            return [*messages, close_calls(reply, "max_rounds")]
        messages.append(act(reply, tools))


def limit_by_for(model, tools, prompt, max_rounds=20):
    messages = [user(prompt)]
    for left in reversed(range(max_rounds)):
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            break
        messages.append(act(reply, tools) if left else close_calls(reply, "max_rounds"))
    return messages


def limit_by_length(model, tools, prompt, max_rounds=20):
    messages = [user(prompt)]
    while True:
        messages.append(said(reply := model(messages)))
        if not tool_uses(reply):
            return messages
        if len(messages) >= 2 * max_rounds:
            messages += [close_calls(reply, "a limit was reached")]
            return messages
        messages += [act(reply, tools)]


def brakes_by_names(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    messages, replies, began = [user(prompt)], [], clock()
    while True:
        replies.append(model(messages))
        messages.append(said(replies[-1]))
        if not tool_uses(replies[-1]):
            return messages
        held = {
            "max_rounds": len(replies) >= max_rounds,
            "cost_cap": sum(reply["cost_usd"] for reply in replies) >= cap_usd,
            "deadline": clock() >= began + seconds,
        }
        if any(held.values()):
            why = next(name for name in held if held[name])
            return [*messages, close_calls(replies[-1], why)]
        messages.append(act(replies[-1], tools))


def brakes_by_for(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    end, messages = clock() + seconds, [user(prompt)]
    for left in reversed(range(max_rounds)):
        reply = model(messages)
        cap_usd -= reply["cost_usd"]
        messages.append(said(reply))
        if not tool_uses(reply):
            break
        if not left or cap_usd <= 0 or clock() >= end:
            messages.append(close_calls(reply, "a limit was reached"))
            break
        messages.append(act(reply, tools))
    return messages


def brakes_in_the_while(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    began, messages = clock(), [user(prompt)]
    reply = model(messages)
    rounds, spent = 1, reply["cost_usd"]
    while tool_uses(reply):
        messages.append(said(reply))
        if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
            return [*messages, closed_by_hand(reply, "that is enough")]
        messages.append(act(reply, tools))
        reply = model(messages)
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
    return [*messages, said(reply)]


def by_letter():
    return "c", 9


def by_variables():
    letter = "c"
    message = 9
    return letter, message


def by_capital_in_a_list():
    return ["C", 9]


def by_int(left_usd, input_tokens, read_usd, written_usd):
    left = left_usd * 1_000_000 - input_tokens * read_usd
    return max(0, int(left / written_usd))


def by_floor(left_usd, input_tokens, read_usd, written_usd):
    read = input_tokens * read_usd / 1e6
    return floor((left_usd - read) / (written_usd / 1e6)) if left_usd > read else 0


def by_fractions(left_usd, input_tokens, read_usd, written_usd):
    left, read, written = (Fraction(str(usd)) for usd in (left_usd, read_usd, written_usd))
    return max(0, (left * 10**6 - input_tokens * read) // written)


RIGHT = {
    "close_calls": [close_calls, closed_by_loop, closed_by_hand, closed_by_map],
    "run_with_limit": [limit_by_counter, limit_by_for, limit_by_length],
    "run_with_brakes": [run, brakes_by_names, brakes_by_for, brakes_in_the_while],
    "third_turn": [by_letter, by_variables, lambda: tuple(["c", 9]), by_capital_in_a_list],
    "affordable": [by_int, by_floor, by_fractions],
}


def closed_but(content="not executed: {}", calls=tool_uses, **more):
    """The closing of calls with one part changed."""

    def close(reply, why):
        results = [not_executed(call, why) for call in calls(reply)]
        return user(*[{**each, "content": content.format(why), **more} for each in results])

    return close


def pops_the_calls(reply, why):
    results = close_calls(reply, why)
    for call in tool_uses(reply):
        reply["content"].remove(call)
    return results


def limited(
    rounds=1,
    hold=lambda n, limit: n >= limit,
    close=close_calls,
    first=False,
    made=False,
    counts=lambda reply: 1,
    asks=tool_uses,
):
    """A loop with a limit on rounds and one part changed."""

    def run_with_limit(model, tools, prompt, max_rounds=20):
        messages, count = [user(prompt)], rounds - 1
        while True:
            reply = model(messages)
            messages.append(said(reply))
            count += counts(reply)
            if first and hold(count, max_rounds):
                return messages
            if not asks(reply):
                return messages
            if made:
                messages.append(act(reply, tools))
            if hold(count, max_rounds):
                messages += [close(reply, "max_rounds")] if close else []
                return messages
            if not made:
                messages.append(act(reply, tools))

    return run_with_limit


def for_and_return(model, tools, prompt, max_rounds=20):
    messages = [user(prompt)]
    for _ in range(max_rounds):
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            return messages
        messages.append(act(reply, tools))
    return messages


def sets_the_count_back(model, tools, prompt, max_rounds=20):
    messages = [user(prompt)]
    while True:
        rounds = 0
        reply = model(messages)
        messages.append(said(reply))
        rounds += 1
        if not tool_uses(reply):
            return messages
        if rounds >= max_rounds:
            return [*messages, close_calls(reply, "max_rounds")]
        messages.append(act(reply, tools))


def brakes(
    spend=lambda spent, reply: spent + reply["cost_usd"],
    rounds_hold=lambda rounds, limit: rounds >= limit,
    money_holds=lambda spent, cap: spent >= cap,
    time_holds=lambda now, began, limit: now - began >= limit,
    close=lambda held, reply: [close_calls(reply, held[0])],
    act_first=lambda held: False,
    brakes_first=(),
    usual=(20, 2.0, 600),
    together=any,
    counts=lambda reply: 1,
    asks=tool_uses,
):
    """A loop with three brakes and one part changed."""

    def run_with_brakes(
        model,
        tools,
        prompt,
        max_rounds=usual[0],
        cap_usd=usual[1],
        seconds=usual[2],
        clock=time.monotonic,
    ):
        messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
        while True:
            reply = model(messages)
            messages.append(said(reply))
            rounds, spent = rounds + counts(reply), spend(spent, reply)
            holds = {
                "max_rounds": rounds_hold(rounds, max_rounds),
                "cost_cap": money_holds(spent, cap_usd),
                "deadline": time_holds(clock(), began, seconds),
            }
            held = [name for name in holds if holds[name]]
            if {*held} & {*brakes_first} and not tool_uses(reply):
                return messages[:-1]
            if not asks(reply):
                return messages
            if together(holds.values()):
                late = act_first(held)
                return [*messages, *([act(reply, tools)] if late else close(held, reply))]
            messages.append(act(reply, tools))

    return run_with_brakes


def len_of_calls(reply):
    return len(tool_uses(reply))


def by_stop_reason(reply):
    return reply["stop_reason"] == "tool_use"


def closes_and_goes_on(model, tools, prompt, max_rounds=20):
    messages, rounds = [user(prompt)], 0
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds += 1
        if not tool_uses(reply):
            return messages
        if rounds >= max_rounds:
            messages.append(close_calls(reply, "max_rounds"))
        messages.append(act(reply, tools))


def brakes_and_goes_on(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    while True:
        reply = model(messages)
        messages.append(said(reply))
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        if not tool_uses(reply):
            return messages
        if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
            messages.append(close_calls(reply, "a limit was reached"))
        messages.append(act(reply, tools))


def a_pair_at_a_brake(play):
    def pairing(model, tools, prompt, *more, **limits):
        messages = play(model, tools, prompt, *more, **limits)
        return (messages, "stopped") if tool_results(messages[-1]) else messages

    return pairing


def and_then(play, message):
    def adding(model, tools, prompt, *more, **limits):
        messages = play(model, tools, prompt, *more, **limits)
        return [*messages, message] if tool_results(messages[-1]) else messages

    return adding


def on_a_clock(rounded):
    def run_with_brakes(
        model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
    ):
        return run(model, tools, prompt, max_rounds, cap_usd, seconds, lambda: rounded(clock()))

    return run_with_brakes


def timed(begins_late=False, reads_early=False):
    def run_with_brakes(
        model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
    ):
        messages, rounds, spent = [user(prompt)], 0, 0.0
        began = None if begins_late else clock()
        while True:
            now = clock() if reads_early else None
            reply = model(messages)
            messages.append(said(reply))
            rounds, spent = rounds + 1, spent + reply["cost_usd"]
            began = clock() if began is None else began
            now = now if reads_early else clock()
            if not tool_uses(reply):
                return messages
            if rounds >= max_rounds or spent >= cap_usd or now - began >= seconds:
                return [*messages, close_calls(reply, "a limit was reached")]
            messages.append(act(reply, tools))

    return run_with_brakes


def no_deadline(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    began = clock()
    return run(model, tools, prompt, max_rounds, cap_usd, seconds, lambda: began)


def own_clock(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=None):
    return run(model, tools, prompt, max_rounds, cap_usd, seconds, time.monotonic)


def no_clock(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600):
    return run(model, tools, prompt, max_rounds, cap_usd, seconds)


def returns_nothing(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.time):
    run(model, tools, prompt, max_rounds, cap_usd, seconds, clock)


def with_a_label(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.time):
    return run(model, tools, prompt, max_rounds, cap_usd, seconds, clock), "finished", 2


def room(scale=1e6, read=1, tidy=lambda tokens: max(0, int(tokens))):
    """How many tokens there is money for, with one part changed."""

    def affordable(left_usd, input_tokens, read_usd, written_usd):
        return tidy((left_usd * scale - read * input_tokens * read_usd) / written_usd)

    return affordable


WRONG = {
    "close_calls": {
        "results without a message": (
            lambda reply, why: [not_executed(call, why) for call in tool_uses(reply)],
            "got:      a list: [{",
        ),
        "no return": (lambda reply, why: None, "nothing: None. Is there a return?"),
        "of the role assistant": (
            lambda reply, why: {**close_calls(reply, why), "role": "assistant"},
            "has the role assistant",
        ),
        "the first call only": (closed_but(calls=lambda r: tool_uses(r)[:1]), "d, c asked for and"),
        "in reverse": (
            closed_but(calls=lambda r: tool_uses(r)[::-1]),
            "order c, d, b, asked in the order b, d, c",
        ),
        "sorted": (
            closed_but(calls=lambda r: sorted(tool_uses(r), key=lambda call: call["id"])),
            "order b, c, d",
        ),
        "words and no results": (lambda reply, why: user(f"not executed: {why}"), "user [text]"),
        "alike calls closed once": (
            closed_but(calls=lambda r: [*{str(c["input"]): c for c in tool_uses(r)}.values()]),
            "f asked for and not answered",
        ),
        "the reason alone": (closed_but("{}"), "got:      'max_rounds'"),
        "no reason": (closed_but("not executed"), "got:      'not executed'"),
        "always the same reason": (
            closed_but("not executed: max_rounds"),
            "'not executed: the cap of $2.00 was reached'",
        ),
        "an empty result": (closed_but(""), "got:      ''"),
        "no error": (closed_but(is_error=False), "says that the call worked"),
        "an error in words": (closed_but(is_error="yes"), "'is_error': 'yes'"),
        "words before the results": (
            lambda reply, why: user(why, *close_calls(reply, why)["content"]),
            "the API wants results first",
        ),
        "no results": (lambda reply, why: user(), "a message without content"),
        "every block is a call": (
            closed_but(calls=lambda reply: reply["content"]),
            "not every block of a reply is a call: words have no 'id'",
        ),
        "words behind the results": (
            lambda reply, why: user(*close_calls(reply, why)["content"], why),
            "tool_result b, tool_result d, tool_result c, text]",
        ),
        "the name of the tool, too": (closed_but(name="note"), "name besides"),
        "pops the calls": (pops_the_calls, "the reply to stay"),
    },
    "run_with_limit": {
        "runs the last round's tools": (for_and_return, "no tool runs whose result nobody reads"),
        "calls are counted": (limited(counts=len_of_calls), "a limit counts replies, not calls"),
        "goes on after closing": (closes_and_goes_on, "call_2a is answered twice"),
        "waits for tool_use": (limited(asks=by_stop_reason), "ended with max_tokens"),
        "a pair at the limit alone": (
            a_pair_at_a_brake(limit_by_counter),
            "a pair (messages, label) under {'max_rounds': 1}",
        ),
        "one too many": (limited(hold=lambda n, limit: n > limit), "4 replies"),
        "one too few": (limited(rounds=2), "2 replies"),
        "returns without an answer to the calls": (limited(close=None), "with a hole"),
        "closes with words": (
            limited(close=lambda reply, why: user(f"stopped: {why}")),
            "the last message is user [text]",
        ),
        "words behind the closed calls": (
            and_then(limit_by_counter, user("The limit is reached.")),
            "a further message after the results: user [text]",
        ),
        "an answer of its own behind the closed calls": (
            and_then(limit_by_counter, said(reply("I stopped."))),
            "a further message after the results: assistant [text]",
        ),
        "closes one call of two": (
            limited(close=lambda reply, why: user(close_calls(reply, why)["content"][0])),
            "0b asked for and not answered",
        ),
        "calls the brake a result": (
            limited(close=lambda r, why: user(*[tool_result(c["id"], why) for c in tool_uses(r)])),
            "['max_rounds', 'max_rounds']",
        ),
        "takes the answer for a round too many": (
            lambda model, tools, prompt, max_rounds=20: (
                m
                if tool_uses((m := limit_by_counter(model, tools, prompt, max_rounds))[-1])
                else m[: 2 * max_rounds - 1]
                if len(m) == 2 * max_rounds
                else m
            ),
            "who brakes now takes the answer away",
        ),
        "no reason": (limited(close=lambda r, why: close_calls(r, None)), "what held"),
        "no usual limit": (
            lambda model, tools, prompt, max_rounds=10**6: limit_by_counter(
                model, tools, prompt, max_rounds
            ),
            "20 replies where no limit is set",
        ),
        "sets the count back": (sets_the_count_back, "does the count grow with each reply"),
        "no limit given": (
            lambda model, tools, prompt: limit_by_counter(model, tools, prompt),
            "a function of another form",
        ),
    },
    "run_with_brakes": {
        "no return": (returns_nothing, "Is there a return?"),
        "a label and a number, too": (with_a_label, "no list but tuple"),
        "no clock": (no_clock, "the function run_with_brakes(model, tools, prompt, max_rounds=20"),
        "all brakes at once": (brakes(together=all), "is each brake enough by itself"),
        "calls are counted": (brakes(counts=len_of_calls), "a limit counts replies, not calls"),
        "goes on after closing": (brakes_and_goes_on, "the loop went on after closing"),
        "waits for tool_use": (brakes(asks=by_stop_reason), "ended with max_tokens"),
        "a pair at a brake alone": (
            a_pair_at_a_brake(run),
            "the messages alone after an answer, a pair (messages, label) under",
        ),
        "words behind the closed calls": (
            and_then(run, user("The limit is reached.")),
            "a further message after the results: user [text]",
        ),
        "whole seconds": (on_a_clock(int), "a clock at 7.75 that shows 59.9 more"),
        "rounded seconds": (on_a_clock(round), "a clock at 7.25 that shows 59.9 more"),
        "begins after the first reply": (timed(begins_late=True), "that reply takes time"),
        "the clock before the reply": (timed(reads_early=True), "while the model speaks"),
        "no deadline": (no_deadline, "asked at the beginning alone"),
        "no cap": (brakes(money_holds=lambda *_: False), "made a, b; 2 replies"),
        "a clock of its own": (own_clock, "the clock that was given was never asked"),
        "one round too many": (brakes(rounds_hold=lambda n, limit: n > limit), "4 replies"),
        "over the cap": (
            brakes(money_holds=lambda spent, cap: spent > cap),
            "3 replies, $1.5 spent",
        ),
        "runs the last round's tools": (
            brakes(act_first=lambda held: "max_rounds" in held),
            "nobody read what came of ",
        ),
        "runs the tools that the money is gone for": (
            brakes(act_first=lambda held: "cost_cap" in held),
            "made a, b; 1 reply",
        ),
        "an orphan": (brakes(close=lambda held, reply: []), "after {'max_rounds': 1}"),
        "an orphan at the cap": (
            brakes(close=lambda h, r: [] if "cost_cap" in h else [close_calls(r, h[0])]),
            "after {'cap_usd': 0.5}",
        ),
        "closes with words": (
            brakes(close=lambda held, reply: [user("stopped: " + held[0])]),
            "messages 1 and 2",
        ),
        "a reason that is none": (
            brakes(close=lambda held, reply: [close_calls(reply, "")]),
            "a reason behind",
        ),
        "the brakes before the stop": (
            brakes(brakes_first=("max_rounds", "cost_cap", "deadline")),
            "nothing left to hold",
        ),
        "a deadline before the stop": (
            brakes(brakes_first=("deadline",)),
            "however late it comes",
        ),
        "the last price alone": (
            brakes(spend=lambda spent, r: r["cost_usd"]),
            "5 replies, $2 spent",
        ),
        "the price that is known before the call": (
            brakes(money_holds=lambda spent, cap: spent + 0.5 >= cap),
            "1 reply, $0.5 spent",
        ),
        "no beginning": (brakes(time_holds=lambda now, began, s: now >= s), "stands still at 5000"),
        "later than the deadline": (
            brakes(time_holds=lambda now, began, s: now - began > s),
            "4 replies",
        ),
        "no usual limit on rounds": (brakes(usual=(10**6, 2.0, 600)), "31 replies"),
        "a usual cap of twenty": (brakes(usual=(20, 20.0, 600)), "$2, at $0.25 a reply"),
        "a usual hour": (brakes(usual=(20, 2.0, 3600)), "at a minute a reply"),
    },
    "third_turn": {
        "no number": (lambda: "c", "a letter of a, b, c, d"),
        "the limit": (lambda: ("a", 4), "no turn has more than two rounds"),
        "asked again": (lambda: ("b", 6), "no call that was made is made again"),
        "what was said": (lambda: ("d", 8), "the array holds what the model said"),
        "where it was asked": (lambda: ("c", 8), "look down"),
        "where the limit held": (lambda: ("c", 4), "so far it holds"),
        "both numbers": (lambda: ("c", (8, 9)), "('c', (8, 9))"),
    },
    "affordable": {
        "half tokens": (room(tidy=lambda tokens: max(0.0, tokens)), "the API takes no half tokens"),
        "reading is free": (room(read=0), "what is read has its price too"),
        "prices a token": (room(scale=1), "got:      0"),
        "to the next token": (
            room(tidy=lambda tokens: max(0, ceil(tokens))),
            "rounded up: one token more",
        ),
        "to the nearest": (
            room(tidy=lambda tokens: max(0, round(tokens))),
            "rounded up: one token more than there is money for",
        ),
        "rounded up": (room(tidy=lambda tokens: max(0, int(tokens) + 5)), "up to $"),
        "a reserve": (room(tidy=lambda tokens: max(0, int(tokens) - 1_000)), "cut off for nothing"),
        "below zero": (room(tidy=int), "a number of tokens below zero means nothing"),
        "one at least": (room(tidy=lambda tokens: max(1, int(tokens))), "got:      1"),
        "no return": (
            lambda left_usd, input_tokens, read_usd, written_usd: None,
            "nothing: None. Is there a return?",
        ),
    },
}
