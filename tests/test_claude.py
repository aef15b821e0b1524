"""The real SDK over an in-process transport: nothing leaves the machine."""

import json
from typing import get_args

import anthropic
import httpx2
import pytest
from anthropic.resources.messages import DEPRECATED_MODELS
from anthropic.types import Model

from harness_zero.messages import said, user, words
from harness_zero.models.claude import ModelFailed, claude, model_name, reachable
from harness_zero.stages.s1_structural_stop import run


def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


def message(*blocks, stop_reason):
    """A reply as it travels on the wire."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


ASKS = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"x": 2, "y": 3}}
LINES = [
    message(ASKS, stop_reason="tool_use"),
    message({"type": "text", "text": "It is 5."}, stop_reason="end_turn"),
]


def served(*answers):
    """A client whose server gives these answers in turn, and the requests it has seen."""
    requests, left = [], iter(answers)

    def handle(request):
        requests.append(request)
        status, body = next(left)
        return httpx2.Response(status, json=body)

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    client = anthropic.Anthropic(api_key="sk-not-a-key", http_client=http, max_retries=0)
    return client, requests


def failing(status, kind):
    client, _ = served((status, {"type": "error", "error": {"type": kind, "message": "oh"}}))
    with pytest.raises(ModelFailed) as caught:
        claude({"add": add}, client)([user("go")])
    assert "sk-not-a-key" not in str(caught.value)
    return str(caught.value)


def test_the_loop_of_stage_1_talks_to_the_api_as_to_a_scripted_model():
    client, requests = served(*[(200, line) for line in LINES])
    messages = run(claude({"add": add}, client), {"add": add}, "what is 2 + 3?")
    assert words(messages[-1]) == "It is 5."
    sent = [json.loads(request.content) for request in requests]
    assert sent[1]["messages"] == messages[:3]
    assert sent[0]["tools"][0]["name"] == "add" and sent[0]["model"] == model_name()


def test_a_reply_is_plain_dicts_with_nothing_that_was_not_sent():
    client, _ = served((200, LINES[0]))
    reply = claude({"add": add}, client)([user("go")])
    assert said(reply)["content"] == [ASKS] and json.dumps(reply)
    assert reply["stop_reason"] == "tool_use" and reply["usage"]["output_tokens"] == 5


def test_a_failed_call_is_told_in_a_sentence_with_what_to_do(monkeypatch):
    monkeypatch.setenv("HARNESS_ZERO_MODEL", "claude-none-1")
    assert "ANTHROPIC_API_KEY" in failing(401, "authentication_error")
    assert "claude-none-1" in failing(404, "not_found_error")
    assert "529" in failing(529, "overloaded_error")


def test_an_endpoint_that_is_not_there_is_told(monkeypatch):
    client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(ModelFailed, match="no answer came back"):
        claude({"add": add}, client)([user("go")])


def test_the_default_model_is_one_that_the_sdk_knows_and_does_not_retire(monkeypatch):
    monkeypatch.delenv("HARNESS_ZERO_MODEL", raising=False)
    known = {name for part in get_args(Model) for name in get_args(part)}
    assert model_name() in known and model_name() not in DEPRECATED_MODELS


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"]
)
def test_a_key_or_an_endpoint_makes_a_real_model_reachable(name, monkeypatch):
    for each in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(each, raising=False)
    assert not reachable()
    monkeypatch.setenv(name, "something")
    assert reachable()
