"""Judging costs what is new: counted in lines run and in bytes written, not in seconds."""

import json

from counting import lines_of
from offline import new_api, post

from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.simulator.examples import GO, answers, asks, body

ROUNDS = 1_000
RESULT = "x" * 2_000


def conversation(rounds=ROUNDS):
    """The request of each round, longer by a call and its result each time."""
    messages = [GO]
    for number in range(rounds):
        yield body(*messages, system="You add.")
        id = f"toolu_{number}"
        messages += [said(reply(tool_use(id, "add"))), user(tool_result(id, RESULT))]


def test_a_round_runs_the_same_lines_in_round_ten_and_in_round_1000():
    api = new_api(lambda request: reply("ok"))
    lines = [lines_of(lambda request=request: post(api, request)) for request in conversation()]
    assert all(line.status == 200 for line in api.log)
    assert len(set(lines[10:])) == 1 and lines[-1] < 2_000


def test_marks_that_move_cost_a_look_at_each_message_and_no_more():
    def marked(request):
        *before, last = request["messages"]
        *blocks, end = last["content"]
        kept = {**end, "cache_control": {"type": "ephemeral"}}
        return {**request, "messages": [*before, {**last, "content": [*blocks, kept]}]}

    api = new_api(lambda request: reply("ok"))
    lines = [lines_of(lambda r=r: post(api, marked(r))) for r in conversation(200)]
    assert all(line.status == 200 for line in api.log)
    assert lines[-1] - lines[100] < 4 * 100, "a line or so for each message"


def test_two_conversations_by_turns_are_both_remembered():
    api = new_api(lambda request: reply("ok"))
    ours, theirs = [*conversation(40)], [{**r, "system": "You sum."} for r in conversation(40)]
    lines = [
        lines_of(lambda r=r: post(api, r)) for pair in zip(ours, theirs, strict=True) for r in pair
    ]
    assert max(lines[40:]) < 2 * min(lines[40:])


def test_an_array_that_was_cut_is_judged_anew():
    api = new_api(lambda request: reply("ok"))
    *_, last = conversation(20)
    assert post(api, last).status == 200
    cut = {**last, "messages": [GO, *last["messages"][4:]]}  # begins amid a call and its result
    assert post(api, cut).status == 400


def test_a_change_far_back_is_found():
    api = new_api(lambda request: reply("ok"))
    *_, last = conversation(20)
    assert post(api, last).status == 200
    changed = json.loads(json.dumps(last))
    changed["messages"][3]["content"][0]["id"] = "toolu_other"
    assert post(api, changed).body["error"]["message"].startswith("messages.4.content.0: ")


def test_an_id_used_again_much_later_is_found():
    api = new_api(lambda request: reply("ok"))
    *_, last = conversation(20)
    assert post(api, last).status == 200
    again = {**last, "messages": [*last["messages"], asks("toolu_3"), answers("toolu_3")]}
    assert "ids must be unique" in post(api, again).body["error"]["message"]


def test_tokens_read_are_the_same_whether_counted_at_once_or_round_by_round():
    requests = [*conversation(30)]
    growing, fresh = new_api(lambda request: reply("ok")), new_api(lambda request: reply("ok"))
    for request in requests:
        counted = post(growing, request).body["usage"]["input_tokens"]
    assert counted == post(fresh, requests[-1]).body["usage"]["input_tokens"]
