"""Our loop never sends what the API refuses; and a request with one thing wrong is refused."""

import json
from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from offline import new_api, post

from harness_zero.assembly import play
from harness_zero.flight import fly
from harness_zero.flight.controls import first_only
from harness_zero.flight.faults import FAULTS
from harness_zero.flight.fly import flight
from harness_zero.flight.names import SMALL
from harness_zero.flight.personas import PERSONAS
from harness_zero.messages import array_fault, text, tool_result, tool_uses
from harness_zero.simulator.examples import body
from harness_zero.stages import s4_termination_labels, s5_repetition_detector

FAULTY = [name for name in FAULTS if name != "calm"]
NAMES = st.builds(
    lambda persona, world, fault, seed: f"{persona}/{world}/{fault}#{seed}",
    st.sampled_from([*PERSONAS]),
    st.sampled_from([*SMALL]),
    st.just("calm")
    | st.builds(lambda f, n: f"{f}@{n}", st.sampled_from(FAULTY), st.integers(1, 9)),
    st.integers(0, 10_000),
)


@pytest.fixture(autouse=True, scope="module")
def a_patience_that_a_busy_machine_does_not_try():
    kept, fly.PATIENCE = fly.PATIENCE, 60.0
    yield
    fly.PATIENCE = kept


class RefusedByTheApi(BaseException):
    """No harness takes this for an error of a tool or a model."""


def over_the_api(harness, seen):
    """The same harness, whose every request goes through the API first; `seen` keeps them."""

    def flown(model, tools, prompt, **limits):
        failures = []

        def source(request):
            try:
                return model(request["messages"])
            except Exception as error:
                failures.append(error)
                raise

        api = new_api(source)

        def speak(messages):
            seen.append(json.loads(json.dumps(messages)))
            answer = post(api, body(messages=messages, max_tokens=100_000))
            if answer.status == 400:
                raise RefusedByTheApi(answer.body["error"]["message"])
            if answer.status != 200:
                raise failures.pop()
            message = answer.body
            usage = {"input_tokens": 0, "output_tokens": 0}
            return {**message, "usage": usage, "cost_usd": 0.0}

        known = {name: limits[name] for name in ("max_rounds", "cap_usd", "seconds", "clock")}
        return harness(speak, tools, prompt, **known)

    return flown


@settings(max_examples=60, deadline=None)
@given(NAMES)
def test_whatever_the_persona_the_fault_and_the_tool_the_library_sends_nothing_that_is_refused(
    name,
):
    seen = []
    flown = flight(name, over_the_api(play, seen))
    assert seen and "RefusedByTheApi" not in flown.fault


@pytest.mark.parametrize("stage", [s4_termination_labels.run, s5_repetition_detector.run])
@settings(max_examples=25, deadline=None)
@given(name=NAMES)
def test_so_does_the_stage(stage, name):
    seen = []
    flown = flight(name, over_the_api(stage, seen))
    assert "RefusedByTheApi" not in flown.fault


def test_a_loop_that_answers_the_first_call_only_is_refused_so_this_can_fail():
    bare = over_the_api(lambda model, tools, prompt, **limits: first_only(model, tools, prompt), [])
    flown = flight("diligent/shelves/calm#27", bare)
    assert "RefusedByTheApi" in flown.fault


def remove_a_result(messages, at):
    answered = [m for m in messages if any(b["type"] == "tool_result" for b in m["content"])]
    message = answered[at % len(answered)]
    message["content"] = message["content"][1:] or [text("go on")]


def answer_twice(messages, at):
    results = [(m, b) for m in messages for b in m["content"] if b["type"] == "tool_result"]
    message, result = results[at % len(results)]
    message["content"].insert(0, deepcopy(result))


def answer_a_stranger(messages, at):
    asked_by_user = [m for m in messages if m["role"] == "user"]
    asked_by_user[at % len(asked_by_user)]["content"].insert(0, tool_result("toolu_none", "5"))


def put_text_first(messages, at):
    answered = [m for m in messages if m["content"][0]["type"] == "tool_result"]
    answered[at % len(answered)]["content"].insert(0, text("Here:"))


def blank_a_text(messages, at):
    messages[0]["content"][0]["text"] = " \n"[: at % 3]


def empty_a_message(messages, at):
    messages[at % len(messages)]["content"] = []


def use_an_id_again(messages, at):
    spoken = [m for m in messages if tool_uses(m)]
    message = spoken[at % len(spoken)]
    message["content"].append(deepcopy(tool_uses(message)[0]))


def lose_the_prompt(messages, at):
    del messages[0]


def end_with_the_model(messages, at):
    del messages[-1]


def lose_a_role(messages, at):
    del messages[at % len(messages)]["role"]


def lose_an_id(messages, at):
    calls = [b for m in messages for b in m["content"] if b["type"] == "tool_use"]
    del calls[at % len(calls)]["id"]


BREAKS = [
    remove_a_result,
    answer_twice,
    answer_a_stranger,
    put_text_first,
    blank_a_text,
    empty_a_message,
    use_an_id_again,
    lose_the_prompt,
    end_with_the_model,
    lose_a_role,
    lose_an_id,
]


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.__name__)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 500), at=st.integers(0, 50), known=st.booleans())
def test_a_request_with_one_thing_wrong_is_refused(broken, seed, at, known):
    seen = []
    flight(f"diligent/login-bug/calm#{seed}", over_the_api(play, seen))
    assume(len(seen[-1]) >= 3)
    api, whole = new_api(), body(messages=seen[-1])
    if known:  # whether the API has seen the array whole before, or never
        assert post(api, whole).status == 200
    wrong = deepcopy(seen[-1])
    broken(wrong, at)
    assert post(api, body(messages=wrong)).status == 400


@settings(max_examples=40, deadline=None)
@given(NAMES, st.integers(0, 50), st.sampled_from(BREAKS))
def test_what_our_own_check_lets_pass_the_api_takes(name, at, broken):
    seen = []
    flight(name, over_the_api(play, seen))
    array = deepcopy(seen[at % len(seen)])
    if at % 2:
        with suppress(ZeroDivisionError):  # nothing there that could be broken so
            broken(array, at)
    status = post(new_api(), body(messages=array)).status
    if array_fault(array) is None and array[-1]["role"] == "user":
        assert status == 200
