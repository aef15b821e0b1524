"""What a notebook shows of the API comes from the one in this process, on every machine."""

import os

import pytest

from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, said, tool_use, user
from harness_zero.models.claude import DEFAULT_MODEL, REACH
from harness_zero.models.scripted import scripted
from harness_zero.notebook import offline_api

ORPHAN = [user("go"), said(reply(tool_use("toolu_1", "look"))), user("and now?")]


@pytest.fixture(autouse=True)
def somebody_has_a_key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-mine")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HARNESS_ZERO_MODEL", "llama-of-mine")


def test_a_key_and_a_model_of_ones_own_change_nothing():
    requests = []

    def model(request):
        requests.append(request)
        return reply("hello")

    spoken = offline_api(model)({"messages": [user("hello")]})
    assert spoken["content"] == reply("hello")["content"]
    assert requests[0]["model"] == DEFAULT_MODEL and spoken["cost_usd"] is not None


def test_the_environment_is_as_it_was():
    before = {name: os.environ.get(name) for name in REACH}
    offline_api(scripted())
    assert {name: os.environ.get(name) for name in REACH} == before


def test_what_the_api_refuses_never_reaches_the_model():
    with pytest.raises(ModelFailed, match=r"400: .*toolu_1"):
        offline_api(scripted())({"messages": ORPHAN})
