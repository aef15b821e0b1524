"""Answers to lab 01: right ones of several shapes, and what people get wrong."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

from harness_zero.messages import (
    pairing_fault,
    said,
    tool_result,
    tool_results,
    tool_uses,
    user,
)
from harness_zero.stages.s1_structural_stop import answer, run


def act_by_loop(reply, tools):
    results = []
    for call in tool_uses(reply):
        results.append(tool_result(call["id"], str(tools[call["name"]](**call["input"]))))
    return user(*results)


def act_by_hand(reply, tools):
    return {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": block["id"],
                "content": [{"type": "text", "text": str(tools[block["name"]](**block["input"]))}],
            }
            for block in reply["content"]
            if block["type"] == "tool_use"
        ],
    }


def act_by_map(reply, tools):
    return user(*map(lambda call: answer(call, tools), tool_uses(reply)))


def run_by_stop_reason(model, tools, prompt):
    messages = [{"role": "user", "content": prompt}]
    while True:
        reply = model(messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        if reply["stop_reason"] != "tool_use":
            return messages
        messages.append(act_by_hand(reply, tools))


def run_with_the_condition_in_the_while(model, tools, prompt):
    messages = [user(prompt)]
    reply = model(messages)
    while tool_uses(reply):
        messages += [said(reply), act_by_loop(reply, tools)]
        reply = model(messages)
    return [*messages, said(reply)]


def run_by_recursion(model, tools, prompt, messages=None):
    messages = messages or [user(prompt)]
    messages = [*messages, said(reply := model(messages))]
    if not tool_uses(reply):
        return messages
    return run_by_recursion(model, tools, prompt, [*messages, act_by_map(reply, tools)])


def fault_by_counting(asking, answering):
    asked = [b["id"] for b in tool_uses(asking)]
    came = [b["tool_use_id"] for b in tool_results(answering)] if answering is not None else []
    for id in [*asked, *came]:
        if asked.count(id) != came.count(id):
            return f"{id} is asked for {asked.count(id)} times, answered {came.count(id)} times"
    return None if asked == came else "out of order"


def fault_by_zip(asking, answering):
    asked = [b["id"] for b in asking["content"] if b["type"] == "tool_use"]
    blocks = answering["content"] if answering else []
    came = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    return None if asked == came else f"asked {asked}, answered {came}"


def at_once_by_map(reply, tools):
    with ThreadPoolExecutor() as pool:
        return user(*pool.map(lambda call: answer(call, tools), tool_uses(reply)))


def at_once_by_futures(reply, tools):
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(answer, call, tools) for call in tool_uses(reply)]
    return user(*[future.result() for future in futures])


def at_once_by_threads(reply, tools):
    calls = tool_uses(reply)
    results = [None] * len(calls)

    def make(at, call):
        results[at] = answer(call, tools)

    threads = [Thread(target=make, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return user(*results)


def at_once_by_five_workers(reply, tools):
    with ThreadPoolExecutor(max_workers=5) as pool:
        return user(*pool.map(lambda call: answer(call, tools), tool_uses(reply)))


def by_letter():
    return "c", 6


def by_variables():
    letter = "c"
    message = 6
    return letter, message


def by_capital_in_a_list():
    return ["C", 6]


RIGHT = {
    "act": [act_by_loop, act_by_hand, act_by_map],
    "run": [
        run,
        run_by_stop_reason,
        run_with_the_condition_in_the_while,
        run_by_recursion,
    ],
    "pairing_fault": [pairing_fault, fault_by_counting, fault_by_zip],
    "late_results": [by_letter, by_variables, lambda: tuple(["c", 6]), by_capital_in_a_list],
    "act_at_once": [
        at_once_by_map,
        at_once_by_futures,
        at_once_by_threads,
        at_once_by_five_workers,
    ],
}


def results_alone(reply, tools):
    return [answer(call, tools) for call in tool_uses(reply)]


def first_call_only(reply, tools):
    return user(answer(tool_uses(reply)[0], tools))


def in_reverse(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)[::-1]])


def one_id_for_all(reply, tools):
    calls = tool_uses(reply)
    return user(*[{**answer(call, tools), "tool_use_id": calls[0]["id"]} for call in calls])


def output_as_it_is(reply, tools):
    return user(*[tool_result(c["id"], tools[c["name"]](**c["input"])) for c in tool_uses(reply)])


def sorted_by_id(reply, tools):
    results = act_by_loop(reply, tools)["content"]
    return user(*sorted(results, key=lambda result: result["tool_use_id"]))


def each_kind_of_call_once(reply, tools):
    made = {}
    for call in tool_uses(reply):
        made.setdefault((call["name"], str(call["input"])), answer(call, tools))
    return user(*made.values())


def each_kind_of_call_once_for_all(reply, tools):
    made, results = {}, []
    for call in tool_uses(reply):
        alike = call["name"], str(call["input"])
        made[alike] = made.get(alike) or answer(call, tools)
        results.append({**made[alike], "tool_use_id": call["id"]})
    return user(*results)


def print_for_ever(reply, tools):
    while True:
        print("spam")


def called_twice(reply, tools):
    act_by_loop(reply, tools)
    return act_by_loop(reply, tools)


def loop(step, stop=lambda reply: not tool_uses(reply), remember=said):
    """A loop with one part changed."""

    def run(model, tools, prompt):
        messages = [user(prompt)]
        while True:
            reply = model(messages)
            messages.append(remember(reply))
            if stop(reply):
                return messages
            messages += step(reply, tools)

    return run


def no_append(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        if not tool_uses(reply):
            return messages
        messages.append(act_by_loop(reply, tools))


def never_ends(model, tools, prompt):
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages += [said(reply), act_by_loop(reply, tools)]


def stops_after_two(model, tools, prompt):
    messages = [user(prompt)]
    for _ in range(2):
        reply = model(messages)
        messages.append(said(reply))
        if not tool_uses(reply):
            return messages
        messages.append(act_by_loop(reply, tools))
    return messages


def stops_after(rounds):
    """A loop that counts."""

    def run(model, tools, prompt):
        messages = [user(prompt)]
        for _ in range(rounds):
            reply = model(messages)
            messages.append(said(reply))
            if not tool_uses(reply):
                break
            messages.append(act_by_loop(reply, tools))
        return messages

    return run


def sleeps(model, tools, prompt):
    return loop(lambda r, t: [time.sleep(0.15), act_by_loop(r, t)][1:])(model, tools, prompt)


def calls_itself_for_ever(model, tools, prompt):
    sys.setrecursionlimit(10**6)
    return calls_itself_for_ever(model, tools, prompt)


def waits_for_end_turn(model, tools, prompt):
    return loop(
        lambda r, t: [act_by_loop(r, t)], stop=lambda reply: reply["stop_reason"] == "end_turn"
    )(model, tools, prompt)


def sends_the_prompt_alone(model, tools, prompt):
    return [user(prompt), said(model(prompt))]


def appends_the_raw_reply(model, tools, prompt):
    messages = [user(prompt)]
    messages.append(model(messages))
    return messages


def forgets_to_return(model, tools, prompt):
    run(model, tools, prompt)


def returns_the_text(model, tools, prompt):
    return run(model, tools, prompt)[-1]["content"][0]["text"]


def spins(model, tools, prompt):
    messages = [user(prompt)]
    while len(messages) < 2:
        pass
    return messages


def spins_and_swallows(model, tools, prompt):
    while True:
        try:  # noqa: SIM105
            time.sleep(0.001)
        except BaseException:
            pass


def each_in_a_message_of_its_own(reply, tools):
    return [user(answer(call, tools)) for call in tool_uses(reply)]


def drops_the_text(reply):
    return {"role": "assistant", "content": tool_uses(reply) or reply["content"]}


def stops_at_text(reply):
    return any(block["type"] == "text" for block in reply["content"])


def stops_at_text_behind(reply):
    return reply["content"][-1]["type"] == "text"


def ids_of(asking, answering):
    asked = [call["id"] for call in tool_uses(asking)]
    return asked, [r["tool_use_id"] for r in tool_results(answering)] if answering else []


def fault_unless(fits, about=lambda asked, came: f"asked {asked}, answered {came}"):
    """A check that takes for right what fits in its own way."""

    def check(asking, answering):
        asked, came = ids_of(asking, answering)
        return None if asked == came or fits(asked, came) else about(asked, came)

    return check


def alike(asked, came):
    return sorted(asked) == sorted(came)


def only_missing(asking, answering):
    came = [r["tool_use_id"] for r in tool_results(answering)] if answering else []
    missing = [c["id"] for c in tool_uses(asking) if c["id"] not in came]
    return f"missing {missing}" if missing else None


def by_sets(asking, answering):
    asked = {c["id"] for c in tool_uses(asking)}
    came = {r["tool_use_id"] for r in tool_results(answering)} if answering else set()
    return f"{asked ^ came}" if asked != came else None


def sorted_lists(asking, answering):
    asked = sorted(c["id"] for c in tool_uses(asking))
    came = sorted(r["tool_use_id"] for r in tool_results(answering)) if answering else []
    return f"{asked} {came}" if asked != came else None


def true_or_false(asking, answering):
    return pairing_fault(asking, answering) is None


def cries_wolf(asking, answering):
    return "something a, b, z, y"


def one_after_the_other(reply, tools):
    return act_by_loop(reply, tools)


def caught(call, tools):
    try:
        return answer(call, tools)
    except Exception as error:
        return tool_result(call["id"], f"{type(error).__name__}: {error}", is_error=True)


def one_after_the_other_and_caught(reply, tools):
    return user(*[caught(call, tools) for call in tool_uses(reply)])


def one_worker_and_caught(reply, tools):
    with ThreadPoolExecutor(1) as pool:
        futures = [(call, pool.submit(answer, call, tools)) for call in tool_uses(reply)]
    faults = [(call["id"], future.exception()) for call, future in futures]
    results = [future.result() for _, future in futures if not future.exception()]
    return user(*results, *[tool_result(id, "failed", True) for id, fault in faults if fault])


def four_workers(reply, tools):
    with ThreadPoolExecutor(4) as pool:
        return user(*pool.map(lambda call: answer(call, tools), tool_uses(reply)))


def at_once_but_sorted(reply, tools):
    results = at_once_by_map(reply, tools)["content"]
    return user(*sorted(results, key=lambda result: result["tool_use_id"]))


def as_they_finish(reply, tools):
    results = []
    with ThreadPoolExecutor() as pool:
        for call in tool_uses(reply):
            pool.submit(lambda call=call: results.append(answer(call, tools)))
    return user(*results)


WRONG = {
    "act": {
        "results without a message": (results_alone, "results travel to the model as a message"),
        "the first call only": (first_call_only, "user [tool_result b]"),
        "in reverse": (in_reverse, "tool_result a, tool_result c, tool_result b"),
        "one id for all": (one_id_for_all, "tool_result b, tool_result b, tool_result b"),
        "the output as it is": (output_as_it_is, "got:      5"),
        "called twice": (called_twice, "may pay twice"),
        "a list in a list": (
            lambda reply, tools: user(results_alone(reply, tools)),
            "no content block",
        ),
        "no return": (lambda reply, tools: None, "nothing: None. Is there a return?"),
        "a generator": (lambda reply, tools: (yield), "async or yield"),
        "prints for ever": (print_for_ever, "still running"),
        "no function": (5, "5, which is no function"),
        "another signature": (lambda reply: None, "the function act(reply, tools)"),
        "no list in it": (
            lambda reply, tools: {"role": "user", "content": None},
            "something that has no list of content blocks: None",
        ),
        "bare strings in it": (
            lambda reply, tools: {"role": "user", "content": ["noted"]},
            "no content block: 'noted'",
        ),
        "results of bare strings": (
            lambda reply, tools: user(*[tool_result(c["id"], ["noted"]) for c in tool_uses(reply)]),
            "holds a result that holds something that is no content block: 'noted'",
        ),
        "sorted by id": (sorted_by_id, "tool_result a, tool_result b, tool_result c"),
        "alike calls dropped": (each_kind_of_call_once, "2 made; results of a\n"),
        "alike calls made once": (each_kind_of_call_once_for_all, "1 made; results of a, b"),
        "words behind the results": (
            lambda reply, tools: user(*results_alone(reply, tools), "go on"),
            "the results and nothing else in their message",
        ),
    },
    "run": {
        "forgets what was said": (no_append, "1 message: user"),
        "never ends": (never_ends, "never stops"),
        "no return": (forgets_to_return, "Is there a return?"),
        "the text alone": (returns_the_text, "no list but str"),
        "a message a result": (
            loop(each_in_a_message_of_its_own),
            "user [tool_result b], user [tool_result c]",
        ),
        "drops the text": (
            loop(lambda r, t: [act_by_loop(r, t)], remember=drops_the_text),
            "did not happen",
        ),
        "stops at text": (loop(lambda r, t: [act_by_loop(r, t)], stop=stops_at_text), "made once"),
        "the first call only": (loop(lambda r, t: [first_call_only(r, t)]), "answered at once"),
        "two rounds": (stops_after_two, "how many rounds it needs"),
        "waits for end_turn": (waits_for_end_turn, "whatever its stop reason"),
        "the prompt alone": (sends_the_prompt_alone, "from the list of all messages"),
        "the raw reply": (appends_the_raw_reply, "no dict with the role"),
        "another prompt": (
            lambda model, tools, prompt: run(model, tools, "hello"),
            "the prompt 'go' as the first message",
        ),
        "the whole reply": (
            loop(
                lambda r, t: [act_by_loop(r, t)],
                remember=lambda reply: {"role": "assistant", **reply},
            ),
            "cost_usd, stop_reason, usage besides",
        ),
        "every result an error": (
            loop(
                lambda r, t: [
                    user(*[{**b, "is_error": True} for b in act_by_loop(r, t)["content"]])
                ]
            ),
            "looks for another way",
        ),
        "spins": (spins, "while len(messages) < 2"),
        "spins and swallows": (spins_and_swallows, "still running after"),
        "ends the program": (lambda model, tools, prompt: exit(), "exit() ends the whole program"),
        "asks for keys": (lambda model, tools, prompt: input("? "), "asks the model instead"),
        "raises": (lambda model, tools, prompt: {}["x"], "KeyError: 'x'"),
        "thirteen rounds": (stops_after(13), "whoever needs one more"),
        "fifty rounds": (stops_after(50), "50 calls"),
        "stops at words behind a call": (
            loop(lambda r, t: [act_by_loop(r, t)], stop=stops_at_text_behind),
            "a reply asks for something if there is a call in it",
        ),
        "sleeps": (sleeps, "but it is slow"),
        "calls itself for ever": (calls_itself_for_ever, "RecursionError"),
    },
    "pairing_fault": {
        "missing ones only": (only_missing, "tool_result toolu_12, tool_result toolu_98"),
        "sets": (by_sets, "user [tool_result toolu_12, tool_result toolu_12]"),
        "sorted lists": (sorted_lists, "user [tool_result toolu_34, tool_result toolu_12]"),
        "true or false": (true_or_false, "got:      True"),
        "cries wolf": (cries_wolf, "something a, b, z, y"),
        "names nobody": (
            lambda a, b: None if pairing_fault(a, b) is None else "a lazy fault about the blocks",
            "that names 'toolu_34' about",
        ),
        "one constant sentence": (
            fault_unless(lambda a, c: False, lambda a, c: "one of toolu_12, toolu_34, toolu_98"),
            "that names 'toolu_85'",
        ),
        "the first is answered": (
            fault_unless(lambda a, c: a and c and a[0] == c[0] and not {*c} - {*a}),
            "that names 'toolu_34'",
        ),
        "the last is answered": (
            fault_unless(lambda a, c: a and c and a[-1] == c[-1] and not {*c} - {*a}),
            "that names 'toolu_85'",
        ),
        "the ends are answered": (
            fault_unless(lambda a, c: a and c and (a[0], a[-1]) == (c[0], c[-1])),
            "that names 'toolu_16'",
        ),
        "the first comes once": (
            fault_unless(lambda a, c: {*a} == {*c} and c.count(c[0]) == 1 and len(c) > len(a)),
            "toolu_81, tool_use toolu_35], user",
        ),
        "twice in a row": (
            fault_unless(lambda a, c: len(c) > len(a) == len({*c}) and c[-1] == c[0] != c[1]),
            "that names 'toolu_26'",
        ),
        "the first in order": (
            fault_unless(lambda a, c: alike(a, c) and a[:1] == c[:1]),
            "user [tool_result toolu_58, tool_result toolu_93",
        ),
        "the last in order": (
            fault_unless(lambda a, c: alike(a, c) and a[-1] == c[-1]),
            "user [tool_result toolu_17, tool_result toolu_58",
        ),
        "not in reverse": (
            fault_unless(lambda a, c: alike(a, c) and a != c[::-1]),
            "tool_result toolu_92, tool_result toolu_61, tool_result toolu_44",
        ),
        "results that are sorted": (
            lambda asking, answering: (
                None if (p := ids_of(asking, answering))[1] == sorted(p[0]) else f"{p}"
            ),
            "None for a whole pair",
        ),
        "ends in order": (
            fault_unless(lambda a, c: alike(a, c) and (a[0], a[-1]) == (c[0], c[-1])),
            "tool_result toolu_73, tool_result toolu_86",
        ),
        "an empty sentence": (lambda a, b: pairing_fault(a, b) or "", "got:      ''"),
    },
    "late_results": {
        "no number": (lambda: "c", "a letter of a, b, c, d"),
        "a sentence": (lambda: ("results stand in the order of their calls", 6), "('results"),
        "an orphan": (lambda: ("b", 6), "every call is answered"),
        "no answer": (lambda: ("a", 7), "the last word is an answer"),
        "what was said": (lambda: ("d", 3), "the array holds what the model said"),
        "where it was asked": (lambda: ("c", 5), "look down"),
        "where it ends": (lambda: ("c", 7), "look further up"),
    },
    "act_at_once": {
        "one after the other": (one_after_the_other, "under way at once"),
        "as they finish": (as_they_finish, "order"),
        "one after the other, caught": (one_after_the_other_and_caught, "waited for the others"),
        "one worker, caught": (one_worker_and_caught, "the slowest sets the pace"),
        "four workers": (four_workers, "five calls under way"),
        "sorted by id": (at_once_but_sorted, "tool_result a, tool_result b, tool_result c"),
    },
}
