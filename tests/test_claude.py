"""The real SDK: over the API in this process, over canned answers, over a port where nobody is."""

import json
from typing import get_args

import anthropic
import httpx2
import pytest
from anthropic.resources.messages import DEPRECATED_MODELS
from anthropic.types import Model

from harness_zero.assembly import assemble
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, reply, tool_use, user
from harness_zero.models.claude import REACH, claude, connect, model_name, reachable
from harness_zero.models.prices import cost_usd
from harness_zero.models.scripted import scripted
from harness_zero.policy import structural_stop
from harness_zero.run import Run
from harness_zero.tools import schemas
from harness_zero.view import plain

ASKS = reply(tool_use("toolu_1", "add", x=2, y=3))


def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


TOOLS = {"add": add}


@pytest.fixture(autouse=True)
def nobody_is_reachable(monkeypatch):
    for name in (*REACH, "HARNESS_ZERO_MODEL"):
        monkeypatch.delenv(name, raising=False)


def played(model):
    """One turn with the add tool at hand."""
    view = plain("You add.", schemas(TOOLS))
    return assemble(model, TOOLS, structural_stop, view=view)(Run("what is 2 + 3?"))


def answering(*answers):
    """A client whose server gives these statuses and bodies, and the requests it has seen."""
    left = iter(answers)

    def handle(request):
        status, body = next(left)
        return httpx2.Response(status, json=body)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    return anthropic.Anthropic(api_key="sk-not-a-key", http_client=http, max_retries=0)


def message(**changed):
    """A message as it travels on the wire."""
    usage = {"input_tokens": 1000, "output_tokens": 100}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    whole |= {"content": [{"type": "text", "text": "5"}], "stop_reason": "end_turn", "usage": usage}
    return {**whole, **changed}


def test_without_a_key_the_same_code_talks_to_an_api_in_this_process():
    requests = []
    script = scripted(ASKS, reply("It is 5."))

    def model(request):
        requests.append(request)
        return script(request["messages"])

    run = played(claude(offline=model))
    assert (run.label, run.text, run.rounds) == ("finished", "It is 5.", 2)
    assert requests[1]["messages"] == run.messages[:3]
    assert requests[0]["tools"] == schemas(TOOLS) and requests[0]["system"] == "You add."
    assert requests[0]["model"] == model_name() and json.dumps(run.messages)


def test_the_api_in_this_process_refuses_a_broken_array_as_the_real_one_does():
    model = claude(offline=scripted())
    with pytest.raises(ModelFailed, match=r"the API answered 400: messages.1: `tool_use` ids"):
        asks = {"role": "assistant", "content": ASKS["content"]}
        model({"messages": [user("go"), asks, user("and now?")]})


def test_tokens_and_money_are_counted_by_the_price_of_the_model():
    run = played(claude(client=answering((200, message()))))
    assert run.tokens == 1100
    assert run.cost_usd == pytest.approx((1000 * 2 + 100 * 10) / 1e6)  # claude-sonnet-5, 2026-11


def test_a_cache_is_counted_at_its_own_prices():
    usage = {"input_tokens": 1000, "output_tokens": 0}
    cached = {**usage, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 1000}
    assert cost_usd(cached, "claude-sonnet-5") == pytest.approx((2000 + 200 + 2500) / 1e6)
    assert cost_usd({**usage, "cache_read_input_tokens": None}, "claude-sonnet-5") == 0.002


def test_a_price_that_nobody_knows_is_told_and_never_zero(monkeypatch):
    monkeypatch.setenv("HARNESS_ZERO_MODEL", "llama-of-mine")
    assert played(claude(client=answering((200, message())))).unpriced == 1


@pytest.mark.parametrize(
    ("answer", "label", "words"),
    [
        ((401, "authentication_error"), "model_error", "ANTHROPIC_API_KEY"),
        ((403, "permission_error"), "model_error", "ANTHROPIC_API_KEY"),
        ((404, "not_found_error"), "model_error", "HARNESS_ZERO_MODEL"),
        ((429, "rate_limit_error"), "model_error", "the API answered 429: oh"),
        ((529, "overloaded_error"), "model_error", "the API answered 529: oh"),
    ],
)
def test_a_failed_call_is_a_label_and_a_sentence_with_what_to_do(answer, label, words):
    status, kind = answer
    body = {"type": "error", "error": {"type": kind, "message": "oh"}}
    run = played(claude(client=answering((status, body))))
    assert run.label == label and words in run.why and "sk-not-a-key" not in run.why
    assert run.messages == [user("what is 2 + 3?")]


@pytest.mark.parametrize(
    ("changed", "label"),
    [
        ({"content": []}, "empty_reply"),
        ({"content": None}, "empty_reply"),
        ({"content": [{"type": "hologram", "data": "x"}]}, "empty_reply"),
        ({"stop_reason": "tea_time"}, "unknown_stop"),
        ({"stop_reason": None}, "unknown_stop"),
        ({"stop_reason": "max_tokens"}, "truncated"),
        ({"stop_reason": "refusal"}, "refused"),
    ],
)
def test_an_odd_reply_is_a_label_and_leaves_a_valid_array(changed, label):
    run = played(claude(client=answering((200, message(**changed)))))
    assert run.label == label and array_fault(run.messages) is None


def test_arguments_that_are_no_object_are_an_error_the_model_can_read():
    odd = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": [2, 3]}
    asks = (200, message(content=[odd], stop_reason="tool_use"))
    run = played(claude(client=answering(asks, (200, message()))))
    result = run.messages[2]["content"][0]
    assert run.label == "finished" and result["is_error"] and "no object" in result["content"]


def test_an_endpoint_where_nobody_is_ends_in_a_sentence(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    run = played(claude(client=connect(None).with_options(max_retries=0)))
    assert run.label == "model_error" and "no answer came back" in run.why


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"max_tokens": 30_000}, "Streaming is required"),
        ({"messages": [user("half a \ud800 pair")]}, "surrogates not allowed"),
        ({"messages": [user(float("nan"))]}, "cannot be sent"),
    ],
)
def test_what_the_sdk_itself_refuses_is_told_in_its_words(changed, words):
    model = claude(offline=lambda request: reply("ok"))
    with pytest.raises(ModelFailed, match=rf"the request cannot be sent: .*{words}|{words}"):
        model({"messages": [user("go")], **changed})


def test_a_model_that_there_is_not_is_called_by_its_name():
    with pytest.raises(ModelFailed, match="there is no model 'claude-nope' here"):
        claude(offline=lambda request: reply("ok"))(
            {"messages": [user("go")], "model": "claude-nope"}
        )


def test_a_model_of_ours_that_breaks_is_asked_once_and_told():
    asked = []

    def broken(request):
        asked.append(request)
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ModelFailed, match=r"500: .*ZeroDivisionError: division by zero"):
        claude(offline=broken)({"messages": [user("go")]})
    assert len(asked) == 1


def test_nobody_to_talk_to_is_told():
    with pytest.raises(ModelFailed, match="set ANTHROPIC_API_KEY"):
        claude()


@pytest.mark.parametrize("name", REACH)
def test_a_key_or_an_endpoint_makes_a_real_model_reachable(name, monkeypatch):
    assert not reachable()
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert reachable()


def test_the_default_model_is_one_that_the_sdk_knows_and_does_not_retire():
    known = {name for part in get_args(Model) for name in get_args(part)}
    assert model_name() in known and model_name() not in DEPRECATED_MODELS


def test_one_setting_names_the_model(monkeypatch):
    monkeypatch.setenv("HARNESS_ZERO_MODEL", "claude-opus-5-5")
    assert model_name() == "claude-opus-5-5"
