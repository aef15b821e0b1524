"""What answers behind the API: scripts that notice straying, personas, functions, faults."""

import pytest
from offline import client, new_api, post

from harness_zero.assembly import play
from harness_zero.flight.fly import flight
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, said, text, tool_result, tool_use, user
from harness_zero.models.claude import REACH, claude
from harness_zero.models.scripted import OutOfReplies, scripted
from harness_zero.simulator import on_demand
from harness_zero.simulator.api import Api
from harness_zero.simulator.examples import GO, answers, asks, body
from harness_zero.simulator.sources import Strayed, script

ASKS, DONE = reply(tool_use("toolu_1", "add", x=2, y=3)), reply("It is 5.")


@pytest.fixture(autouse=True)
def nobody_is_reachable(monkeypatch):
    for name in (*REACH, "HARNESS_ZERO_MODEL"):
        monkeypatch.delenv(name, raising=False)


def after(source, *bodies):
    """What the log says of the last of these requests."""
    api = new_api(source)
    for each in bodies:
        post(api, each)
    return api.log[-1].words


def test_a_request_that_goes_on_is_answered():
    api = new_api(script(ASKS, DONE))
    assert post(api, body(max_tokens=500)).status == 200
    goes_on = body(GO, said(ASKS), answers("toolu_1"), max_tokens=500)
    assert post(api, goes_on).body["content"] == [text("It is 5.")]


def test_a_reply_that_was_not_appended_is_missed():
    whole = body(max_tokens=500)
    words = after(script(ASKS, DONE), whole, whole)
    assert words.startswith("request 2: message 1 is missing; was the reply appended?")


def test_a_reply_that_was_changed_is_told_by_message_and_block():
    other = said(reply(tool_use("toolu_1", "add", x=2, y=4)))
    strayed = body(GO, other, answers("toolu_1"), max_tokens=500)
    words = after(script(ASKS, DONE), body(max_tokens=500), strayed)
    assert words.startswith("request 2: message 1, block 0 (tool_use toolu_1) is not what it was")
    assert '"y":4' in words and '"y":3' in words


def test_a_prompt_that_was_changed_is_told_too():
    strayed = body(user("stop"), said(ASKS), answers("toolu_1"), max_tokens=500)
    words = after(script(ASKS, DONE), body(max_tokens=500), strayed)
    assert words.startswith("request 2: message 0, block 0 (text) is not what it was")


def test_a_change_far_into_a_long_text_is_shown_where_it_is():
    long, longer = user("x" * 300 + "a" + "x" * 300), user("x" * 300 + "b" + "x" * 300)
    words = after(script(DONE, DONE), body(long), body(longer, said(DONE), GO))
    assert "xxaxx" in words and "xxbxx" in words


def marked(message):
    """A message with a cache mark on its last block."""
    *blocks, last = message["content"]
    return {**message, "content": [*blocks, {**last, "cache_control": {"type": "ephemeral"}}]}


@pytest.mark.parametrize(
    "array",
    [
        [GO, said(ASKS), marked(answers("toolu_1"))],
        [
            GO,
            {"role": "assistant", "content": [{**ASKS["content"][0], "caller": None}]},
            answers("toolu_1"),
        ],
        [user("go", "also"), said(ASKS), answers("toolu_1")],
    ],
    ids=["a cache mark moves", "nulls are written out", "neighbours are joined"],
)
def test_what_the_api_reads_alike_is_no_straying(array):
    first = body(
        marked(GO), *([user("also")] if len(array[0]["content"]) > 1 else []), max_tokens=500
    )
    api = new_api(script(ASKS, DONE))
    assert post(api, first).status == 200
    assert post(api, body(*array, max_tokens=500)).status == 200, api.log[-1].words


def test_a_script_that_is_at_its_end_says_so():
    words = after(script(DONE), body(), body(GO, said(DONE), GO))
    assert words == "the script has 1 entries, and here is one request more"


@pytest.mark.parametrize(
    "first", [on_demand.failed(529), on_demand.nothing(), on_demand.cut_text("It is")]
)
def test_after_a_call_that_gave_nothing_to_append_the_same_array_may_come_again(first):
    api = new_api(script(first, DONE))
    post(api, body())
    assert post(api, body()).status == 200


def test_after_a_reply_that_was_cut_off_the_array_may_also_go_on():
    api = new_api(script(on_demand.cut_text("It is"), DONE))
    post(api, body())
    assert post(api, body(GO, said(reply("It is")), user("go on"))).status == 200


def test_straying_is_a_fault_of_the_set_up_and_no_label():
    model = claude(offline=script(ASKS, DONE))
    model({"messages": [GO]})
    with pytest.raises(Strayed, match="was the reply appended"):
        model({"messages": [GO]})


def test_a_model_of_ours_that_runs_out_of_replies_raises_through_the_sdk():
    model = claude(offline=lambda request: scripted()(request["messages"]))
    with pytest.raises(OutOfReplies):
        model({"messages": [GO]})


def test_an_api_of_your_own_can_be_read_afterwards():
    api = Api(script(DONE))
    with pytest.raises(ModelFailed, match="text content blocks must be non-empty"):
        claude(offline=api)({"messages": [user("")]})
    assert "a text without a word" in api.log[0].words
    assert str(api.log[0]).startswith("req_01 · POST /v1/messages · 400 · ")


def test_a_persona_answers_through_the_real_sdk_as_it_does_without():
    def through_the_sdk(model, tools, prompt, **limits):
        speak = claude(offline=lambda request: model(request["messages"]))
        return play(lambda messages: speak({"messages": messages}), tools, prompt)

    name = "diligent/login-bug/calm#1"
    there, here = flight(name, through_the_sdk), flight(name, play)
    assert there.messages == here.messages and there.label == here.label == "finished"


def test_a_function_may_look_at_the_whole_request():
    seen = client(lambda request: reply(", ".join(sorted(request)))).messages
    assert seen.create(**body(system="You add.")).content[0].text.startswith("max_tokens, messages")


def test_a_tool_result_in_a_function_is_what_was_sent():
    def model(request):
        return reply(request["messages"][-1]["content"][0]["content"])

    sent = user(tool_result("toolu_1", "7"))
    assert client(model).messages.create(**body(GO, asks("toolu_1"), sent)).content[0].text == "7"
