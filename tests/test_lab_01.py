"""The visible checks of lab 01: holes, right answers of several shapes, and misconceptions."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness_zero.grading.checks import findings
from harness_zero.grading.lab01 import EXERCISES
from harness_zero.messages import (
    pairing_fault,
    reply,
    said,
    tool_result,
    tool_results,
    tool_uses,
    user,
)
from harness_zero.models.scripted import scripted
from harness_zero.notebook import check, repair
from harness_zero.notebook.check import NoSuchExercise
from harness_zero.stages.s1_structural_stop import answer, run

BY_NAME = {exercise.name: exercise for exercise in EXERCISES}


def states(name, tried):
    return {finding.state for finding in findings(BY_NAME[name], tried)}


def first_broken(name, tried):
    """The first promise that this answer breaks."""
    return next(f for f in findings(BY_NAME[name], tried) if f.state == "broken")


def hole(*arguments):
    raise NotImplementedError


# right answers, each of another shape


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


RIGHT = [
    *[("act", act) for act in (act_by_loop, act_by_hand, act_by_map)],
    *[
        ("run", right)
        for right in (
            run,
            run_by_stop_reason,
            run_with_the_condition_in_the_while,
            run_by_recursion,
        )
    ],
    *[("pairing_fault", right) for right in (pairing_fault, fault_by_counting, fault_by_zip)],
    *[("act_at_once", right) for right in (at_once_by_map, at_once_by_futures)],
]


@pytest.mark.parametrize(("name", "right"), RIGHT)
def test_right_answers_of_several_shapes_keep_every_promise(name, right):
    assert [f for f in findings(BY_NAME[name], right) if f.state != "kept"] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_an_unfilled_hole_is_not_done_yet_and_no_error(name, capsys):
    holes = {1: lambda a: 0, 2: lambda a, b: hole(), 3: lambda a, b, c: hole()}
    check(name, holes[BY_NAME[name].takes.count(",") + 1])
    assert "not done yet" in capsys.readouterr().out


# misconceptions, each with the words that meet it


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


def as_they_finish(reply, tools):
    from concurrent.futures import as_completed

    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(answer, call, tools) for call in tool_uses(reply)]
        return user(*[future.result() for future in as_completed(futures)])


MISCONCEPTIONS = [
    ("act", results_alone, "results travel to the model as a message"),
    ("act", first_call_only, "every call of a reply is answered"),
    ("act", in_reverse, "in the order of the calls"),
    ("act", one_id_for_all, "every call of a reply is answered"),
    ("act", output_as_it_is, "content is text"),
    ("act", called_twice, "may pay twice"),
    ("act", lambda reply, tools: user(results_alone(reply, tools)), "no content block"),
    ("act", lambda reply, tools: None, "no dict with the role user"),
    ("act", lambda reply, tools: (yield), "async or yield"),
    ("act", print_for_ever, "printed:"),
    ("act", dict, "of another form"),
    ("act", lambda reply: None, "the function act(reply, tools)"),
    ("run", no_append, "the loop keeps it and ends"),
    ("run", never_ends, "never stops"),
    ("run", forgets_to_return, "Is there a return?"),
    ("run", returns_the_text, "no list but str"),
    ("run", loop(each_in_a_message_of_its_own), "together"),
    ("run", loop(lambda r, t: [act_by_loop(r, t)], remember=drops_the_text), "did not happen"),
    ("run", loop(lambda r, t: [act_by_loop(r, t)], stop=stops_at_text), "made once"),
    ("run", loop(lambda r, t: [first_call_only(r, t)]), "answered at once"),
    ("run", stops_after_two, "how many rounds it needs"),
    ("run", waits_for_end_turn, "never stops"),
    ("run", sends_the_prompt_alone, "from the list of all messages"),
    ("run", appends_the_raw_reply, "no dict with the role"),
    ("run", spins, "still running"),
    ("run", spins_and_swallows, "still running"),
    ("run", lambda model, tools, prompt: exit(), "SystemExit"),
    ("run", lambda model, tools, prompt: {}["x"], "KeyError: 'x'"),
    ("pairing_fault", only_missing, "'z'"),
    ("pairing_fault", by_sets, "a sentence about"),
    ("pairing_fault", sorted_lists, "a sentence about"),
    ("pairing_fault", true_or_false, "None for a whole pair"),
    ("pairing_fault", cries_wolf, "cries wolf"),
    ("pairing_fault", lambda a, b: pairing_fault(a, b) or "", "None for a whole pair"),
    ("act_at_once", one_after_the_other, "under way at once"),
    ("act_at_once", as_they_finish, "order"),
]


@pytest.mark.parametrize(("name", "wrong", "words"), MISCONCEPTIONS)
def test_a_misconception_is_met_with_its_own_words(name, wrong, words, capsys):
    began = time.monotonic()
    check(name, wrong)
    assert time.monotonic() - began < 2.5
    said = capsys.readouterr().out
    assert "BROKEN" in said and words in said


def test_a_check_of_something_else_names_the_exercises():
    with pytest.raises(NoSuchExercise, match=r"conversation, .*act_at_once"):
        check("loop", run)


def test_the_learners_loop_repairs_the_cart(capsys):
    repair(run_by_stop_reason)
    assert "the tests of cart pass." in capsys.readouterr().out


def test_a_repair_with_a_hole_is_not_done_yet(capsys):
    repair(lambda model, tools, prompt: hole())
    assert "not done yet" in capsys.readouterr().out


def test_a_repair_by_a_loop_that_breaks_a_promise_says_so(capsys):
    repair(lambda model, tools, prompt: run(model, tools, prompt)[-1])
    said = capsys.readouterr().out
    assert "the tests of cart pass." in said and "but a promise of the loop is broken" in said


def test_what_a_loop_leaves_beside_the_project_does_not_count(capsys):
    def cheat(model, tools, prompt):
        tools["write_file"](path="conftest.py", content="import os\nos._exit(0)\n")
        tools["write_file"](path="test_cart.py", content="")
        return run(scripted(reply("done")), tools, prompt)

    repair(cheat)
    assert "the tests of cart still fail." in capsys.readouterr().out


def test_a_project_that_lost_its_files_is_told(capsys):
    def destroy(model, tools, prompt):
        tools["run_command"](command="rm cart.py; printf '\\377' > prices.py")
        return run(scripted(reply("done")), tools, prompt)

    repair(destroy)
    assert "cart.py is gone, or no text any more" in capsys.readouterr().out
