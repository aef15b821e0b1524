"""Each rule of the Messages API, by the requests that break it and the near ones that do not."""

import pytest
from offline import client, new_api, post

from harness_zero.messages import reply, text, user
from harness_zero.simulator.conformance import answered, disagreements
from harness_zero.simulator.examples import ADD, GO, answers, asks, body, examples, kept
from harness_zero.simulator.page import PAGE, page
from harness_zero.simulator.rules import RULES
from harness_zero.simulator.signature import is_thought

EXAMPLES = examples()
REFUSED = [example for example in EXAMPLES if not example.accepted]
ACCEPTED = [example for example in EXAMPLES if example.accepted]


def headers(example):
    return {"authorization": "Bearer none", "anthropic-version": example.version}


@pytest.mark.parametrize("example", REFUSED, ids=lambda example: example.name)
def test_a_request_that_breaks_the_rule_is_refused_in_the_apis_words(example):
    api = new_api()
    answer = post(api, example.body, headers(example))
    assert answer.status == example.status and example.says in answer.body["error"]["message"]
    assert api.log[-1].rule is example.rule, "another rule was broken first"


@pytest.mark.parametrize("example", REFUSED, ids=lambda example: example.name)
def test_the_log_has_a_sentence_for_a_learner(example):
    api = new_api()
    post(api, example.body, headers(example))
    sentence = api.log[-1].words
    assert sentence.endswith((".", "?")) and len(sentence.split()) >= 5
    assert sentence != post(new_api(), example.body, headers(example)).body["error"]["message"]


@pytest.mark.parametrize("example", ACCEPTED, ids=lambda example: example.name)
def test_a_near_request_that_keeps_the_rule_is_answered(example):
    answer = post(new_api(), example.body, headers(example))
    assert answer.status == 200, answer.body


def test_every_rule_has_a_request_that_breaks_it():
    broken = {example.rule.name for example in REFUSED} | {
        "while tools are at work, thinking blocks come back as they were"
    }  # that one needs an API that remembers; see below
    assert {rule.name for rule in RULES} == broken


def test_the_sdk_raises_its_bad_request_with_the_same_words():
    wrong = next(e for e in REFUSED if "words instead" in e.what)
    status, words = answered(client(new_api()), wrong)
    assert status == 400 and words.startswith("messages.1: `tool_use` ids were found without")


def test_the_comparison_finds_nothing_where_the_rules_are_the_same():
    assert [*disagreements(client(new_api()), EXAMPLES)] == []


def test_the_comparison_finds_every_rule_that_an_api_does_not_have():
    lax = client(new_api(rules=(), version="2026-10-21"))
    found = {d.example.name for d in disagreements(lax, EXAMPLES)}
    streamed = {example.name for example in REFUSED if example.body.get("stream")}
    assert found == {example.name for example in REFUSED} - streamed, "it streams to nobody"


def test_the_comparison_says_so_where_nobody_can_be_asked(capsys, monkeypatch):
    from harness_zero.models.claude import REACH
    from harness_zero.simulator.conformance import main

    for name in REACH:
        monkeypatch.delenv(name, raising=False)
    assert main() == 2 and "Nothing was compared" in capsys.readouterr().out


def test_the_page_of_rules_is_the_one_that_the_rules_make():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m harness_zero.simulator.page"


THOUGHT = {"type": "thinking", "thinking": "I add."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
DONE = answers("toolu_1")


def thinking_api(model="claude-sonnet-5", **fields):
    """An API whose model thinks before it asks, and what it said."""
    api = new_api(lambda _: {"content": [THOUGHT, CALL], "stop_reason": "tool_use", "usage": {}})
    first = body(GO, tools=[ADD], model=model, max_tokens=500, **fields)
    return api, first, post(api, first).body["content"]


def next_body(first, content, *more):
    said = {"role": "assistant", "content": content}
    return {**first, "messages": [*first["messages"], said, DONE, *more]}


@pytest.mark.parametrize("model", ["claude-sonnet-5", "claude-sonnet-5-5"])
def test_a_thinking_block_that_comes_back_as_it_was_is_accepted(model):
    api, first, content = thinking_api(model)
    assert is_thought(content[0]) and content[0]["signature"]
    assert post(api, next_body(first, content)).status == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[1:],
        lambda content: [{**content[0], "thinking": "I subtract."}, *content[1:]],
        lambda content: [content[0], *content],
    ],
    ids=["left out", "reworded", "doubled"],
)
def test_a_thinking_block_beside_a_call_must_come_back_unchanged(change):
    api, first, content = thinking_api()
    answer = post(api, next_body(first, change(content)))
    assert answer.status == 400 and "cannot be modified" in answer.body["error"]["message"]
    assert "append the whole content" in api.log[-1].words


def test_a_thinking_block_with_another_signature_is_not_the_one_that_was_given():
    api, first, content = thinking_api()
    forged = [{**content[0], "signature": "mine"}, *content[1:]]
    answer = post(api, next_body(first, forged))
    assert "Invalid `signature`" in answer.body["error"]["message"]


def test_where_many_replies_say_the_same_nobody_can_tell_whose_thought_is_missing():
    said = [reply(thinks(str(n)), CALL) for n in range(20)]
    api = new_api(replies(*said, reply("ok")))
    first, *_ = [goes_on(post(api, body(user(str(n)), max_tokens=500))) for n in range(20)]
    assert post(api, body(user("0"), first, DONE)).status == 200


def test_thoughts_of_an_earlier_turn_may_be_left_out():
    api, first, content = thinking_api()
    later = [{"role": "assistant", "content": [{"type": "text", "text": "5"}]}, GO]
    assert post(api, next_body(first, content[1:], *later)).status == 200


def test_on_the_newest_models_what_stands_before_a_thought_may_not_change():
    api, first, content = thinking_api("claude-sonnet-5-5")
    changed = {**next_body(first, content), "system": "Be brief."}
    answer = post(api, changed)
    assert answer.status == 400 and "bound to a different" in answer.body["error"]["message"]
    assert "Append only" in api.log[-1].words


def test_on_other_models_it_may():
    api, first, content = thinking_api("claude-sonnet-5")
    assert post(api, {**next_body(first, content), "system": "Be brief."}).status == 200


def test_cache_marks_may_move_before_a_thought():
    api, first, content = thinking_api("claude-sonnet-5-5")
    moved = next_body(first, content)
    marked = {**moved["messages"][0]["content"][0], "cache_control": {"type": "ephemeral"}}
    moved["messages"][0] = {"role": "user", "content": [marked]}
    assert post(api, moved).status == 200


def test_a_system_prompt_may_become_a_block_behind_a_thought():
    api, first, content = thinking_api("claude-sonnet-5-5", system="You add.")
    moved = next_body(first, content)
    assert post(api, {**moved, "system": [kept(text("You add."))]}).status == 200
    assert post(api, {**moved, "system": [text("You sum.")]}).status == 400


def test_a_pause_goes_back_as_it_came_and_anything_else_is_a_prefill():
    from harness_zero.simulator.on_demand import paused

    api = new_api(lambda _: paused("looking it up"))
    content = post(api, body()).body["content"]
    said = {"role": "assistant", "content": content}
    assert post(api, body(GO, said)).status == 200
    marked = {"role": "assistant", "content": [kept(content[0])]}
    assert post(api, body(GO, marked)).status == 200, "a mark is no word"
    reworded = {"role": "assistant", "content": [{"type": "text", "text": "looking"}]}
    assert post(api, body(GO, reworded)).status == 400


def test_a_block_that_the_api_itself_gave_out_may_come_back():
    from harness_zero.simulator.on_demand import unknown_block

    api = new_api(lambda _: unknown_block("hologram"))
    content = post(api, body()).body["content"]
    assert post(api, body(GO, {"role": "assistant", "content": content}, GO)).status == 200


def test_a_broken_array_is_refused_again_after_it_was_refused_once():
    api = new_api()
    wrong = body(GO, asks("toolu_1"), GO)
    assert [post(api, wrong).status for _ in range(2)] == [400, 400]


def test_a_fault_in_a_message_that_was_the_last_is_found_when_it_is_no_longer():
    api = new_api()
    open_end = body(GO, {"role": "assistant", "content": []}, model="claude-haiku-4-5")
    assert post(api, open_end).status == 200
    gone_on = {**open_end, "messages": [*open_end["messages"], GO]}
    assert "non-empty content" in post(api, gone_on).body["error"]["message"]


def replies(*given):
    """A source that says these one after the other, whatever it is asked."""
    left = iter(given)
    return lambda request: next(left)


def thinks(words):
    return {"type": "thinking", "thinking": words}


def goes_on(answer):
    """A reply as the client appends it."""
    return {"role": "assistant", "content": answer.body["content"]}


def test_two_conversations_may_use_the_same_ids_for_their_calls():
    api = new_api(replies(reply(thinks("A"), CALL), reply(CALL), reply("ok")))
    post(api, body(user("one"), max_tokens=500))
    other = post(api, body(user("two"), max_tokens=500))
    assert post(api, body(user("two"), goes_on(other), DONE)).status == 200


def test_a_reply_that_was_cut_off_and_asked_for_again_may_think_otherwise():
    cut = {**reply(thinks("A"), CALL), "stop_reason": "max_tokens"}
    api = new_api(replies(cut, reply(CALL), reply("ok")))
    post(api, body(max_tokens=500))
    again = post(api, body(max_tokens=900))
    assert post(api, body(GO, goes_on(again), DONE)).status == 200


def test_a_thought_may_not_be_dropped_from_an_earlier_reply_of_the_same_turn():
    second = {**CALL, "id": "toolu_2"}
    api = new_api(replies(reply(thinks("A"), CALL), reply(thinks("B"), second), reply("ok")))
    one = goes_on(post(api, body(max_tokens=500)))
    two = goes_on(post(api, body(GO, one, DONE, max_tokens=500)))
    dropped = {**one, "content": one["content"][1:]}
    assert post(api, body(GO, one, DONE, two, answers("toolu_2"))).status == 200
    assert post(api, body(GO, dropped, DONE, two, answers("toolu_2"))).status == 400


def test_a_pause_goes_back_with_a_cache_mark_on_it_too():
    from harness_zero.simulator.on_demand import paused

    api = new_api(lambda _: paused("looking it up"))
    sent = body(messages=[user("go")])
    said = post(api, sent).body["content"]
    marked = [{**said[-1], "cache_control": {"type": "ephemeral"}}]
    again = [*sent["messages"], {"role": "assistant", "content": [*said[:-1], *marked]}]
    assert post(api, body(messages=again)).status == 200


def test_a_thought_after_a_pause_stands_where_it_was_said_on_the_newest_models():
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    pause = {**reply("looking", search), "stop_reason": "pause_turn"}
    api = new_api(replies(pause, reply(found, thinks("B"), CALL), reply("ok")))
    fields = {"model": "claude-opus-5-5", "max_tokens": 500}
    one = goes_on(post(api, body(**fields)))
    two = goes_on(post(api, body(GO, one, **fields)))
    assert post(api, body(GO, one, two, DONE, **fields)).status == 200, api.log[-1].words


def test_neighbours_may_be_joined_before_a_thought():
    api = new_api(replies(reply(thinks("A"), CALL), reply("ok")))
    fields = {"model": "claude-opus-5-5", "max_tokens": 500}
    one = goes_on(post(api, body(user("x"), user("y"), **fields)))
    assert post(api, body(user("x", "y"), one, DONE, **fields)).status == 200


def test_another_model_may_be_sent_the_thoughts_of_one_that_binds_them():
    api = new_api(replies(reply(thinks("A"), CALL), reply("ok")))
    one = goes_on(post(api, body(model="claude-opus-5-5", max_tokens=500)))
    assert post(api, body(GO, one, DONE, max_tokens=500)).status == 200


def test_what_is_refused_at_first_is_refused_after_a_request_like_it():
    api = new_api()
    assert post(api, body(GO)).status == 200
    marked = {**GO, "cache_control": {"type": "ephemeral"}}
    assert post(api, body(marked)).status == 400


def test_a_mark_counts_for_nothing_whether_the_array_is_known_or_not():
    marked = {
        "role": "user",
        "content": [{**GO["content"][0], "cache_control": {"type": "ephemeral"}}],
    }
    known, fresh = new_api(), new_api()
    post(known, body(GO))
    counts = [post(api, body(marked)).body["usage"] for api in (known, fresh)]
    assert counts[0] == counts[1]
