"""Every way in which a call can end, on demand; the real SDK meets it, and its own retries run."""

import anthropic
import pytest
from offline import client, new_api

from harness_zero.messages import reply, tool_use
from harness_zero.simulator import on_demand
from harness_zero.simulator.examples import body
from harness_zero.simulator.sources import script, with_faults

OK = reply("ok")


def said(entry):
    """What the SDK's client hears of one entry of a script."""
    return client(script(entry)).messages.create(**body(max_tokens=500))


@pytest.mark.parametrize(
    ("entry", "stop_reason"),
    [
        (on_demand.cut_text("It is"), "max_tokens"),
        (on_demand.stopped_at("END", "It is"), "stop_sequence"),
        (on_demand.refused(), "refusal"),
        (on_demand.paused("looking it up"), "pause_turn"),
        (on_demand.window_exceeded("It is"), "model_context_window_exceeded"),
        (on_demand.nothing(), "end_turn"),
        (on_demand.unknown_reason("tea_time", "It is"), "tea_time"),
        (reply(tool_use("toolu_1", "add")), "tool_use"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_stop_reason_reaches_the_client(entry, stop_reason):
    assert said(entry).stop_reason == stop_reason


def test_all_stop_reasons_of_the_sdk_can_be_had():
    from typing import get_args

    known = set(get_args(anthropic.types.StopReason))
    ours = {"max_tokens", "stop_sequence", "refusal", "pause_turn", "end_turn", "tool_use"}
    assert known == ours | {"model_context_window_exceeded"}


def test_a_cut_call_may_look_whole():
    message = said(on_demand.cut_call("toolu_1", "write_file", path="a.txt"))
    assert message.stop_reason == "max_tokens"
    assert message.content[0].type == "tool_use" and message.content[0].input == {"path": "a.txt"}


def test_a_stop_sequence_is_named():
    assert said(on_demand.stopped_at("END")).stop_sequence == "END"


def test_a_refusal_says_of_what_kind_it_is():
    message = said(on_demand.refused("cyber", "no"))
    assert message.stop_details.category == "cyber" and message.content == []


def test_a_refusal_has_one_of_the_known_categories():
    with pytest.raises(ValueError, match="one of cyber, bio"):
        on_demand.refused("rude")


def test_an_empty_reply_is_called_finished():
    message = said(on_demand.nothing())
    assert (message.content, message.stop_reason) == ([], "end_turn")


def test_a_block_that_nobody_knows_comes_through_as_it_is():
    raw = client(script(on_demand.unknown_block("hologram", depth=3))).messages.with_raw_response
    content = raw.create(**body()).http_response.json()["content"]
    assert content == [{"type": "hologram", "depth": 3}]


ONCE = [
    (400, "BadRequestError"),
    (401, "AuthenticationError"),
    (402, "PaymentRequiredError"),
    (403, "PermissionDeniedError"),
    (404, "NotFoundError"),
    (413, "ContentTooLargeError"),
]
AGAIN = [(429, "RateLimitError"), (500, "InternalServerError"), (529, "OverloadedError")]


@pytest.mark.parametrize(("status", "name"), ONCE)
def test_an_error_of_the_caller_is_raised_at_once(status, name):
    api = new_api(script(on_demand.failed(status), OK))
    with pytest.raises(getattr(anthropic, name)) as raised:
        client(api, retries=2).messages.create(**body())
    assert len(api.log) == 1 and raised.value.status_code == status
    assert raised.value.request_id == "req_01" == raised.value.body["request_id"]


@pytest.mark.parametrize(("status", "name"), AGAIN)
def test_an_error_of_the_server_is_tried_three_times_by_the_sdk_itself(status, name):
    api = new_api(script(*[on_demand.failed(status, retry_after=0.01)] * 3))
    with pytest.raises(getattr(anthropic, name)):
        client(api, retries=2).messages.create(**body())
    assert [line.status for line in api.log] == [status] * 3


@pytest.mark.parametrize(("status", "name"), AGAIN)
def test_what_succeeds_at_the_third_attempt_is_a_success(status, name):
    failure = on_demand.failed(status, retry_after=0.01)
    api = new_api(script(failure, failure, OK))
    assert client(api, retries=2).messages.create(**body()).content[0].text == "ok"
    assert [line.status for line in api.log] == [status, status, 200]


def test_without_retry_after_the_sdk_waits_by_its_own_clock():
    api = new_api(script(on_demand.failed(429), OK))
    assert client(api, retries=1).messages.create(**body()).content[0].text == "ok"
    assert "retry-after" not in on_demand.failed(429).headers


def test_a_server_can_forbid_the_retry():
    forbidden = on_demand.failed(529, **{"x-should-retry": "false"})
    api = new_api(script(forbidden, OK))
    with pytest.raises(anthropic.OverloadedError):
        client(api, retries=2).messages.create(**body())
    assert len(api.log) == 1


def test_a_connection_that_breaks_before_the_effect_loses_nothing():
    made = []
    faulty = with_faults(lambda request: made.append(1) or OK, {1: on_demand.lost_before()})
    assert client(faulty, retries=1).messages.create(**body()).content[0].text == "ok"
    assert len(made) == 1


def test_a_connection_that_breaks_after_the_effect_makes_it_happen_twice():
    made = []
    api = new_api(with_faults(lambda _: made.append(1) or OK, {1: on_demand.lost_after(None)}))
    assert client(api, retries=1).messages.create(**body()).content[0].text == "ok"
    assert len(made) == 2 and "broke after the reply was made" in api.log[0].words


def test_without_retries_a_broken_connection_is_raised():
    with pytest.raises(anthropic.APIConnectionError):
        client(script(on_demand.lost_before())).messages.create(**body())


def test_a_slow_answer_comes_for_a_client_that_waits():
    waited = []
    patient = client(script(on_demand.slow(30, OK)), wait=waited.append)
    assert patient.messages.create(**body()).content[0].text == "ok" and waited == [30]


def test_a_slow_answer_is_a_time_out_for_one_that_does_not():
    waited = []
    hasty = client(script(on_demand.slow(30, OK)), wait=waited.append, timeout=5)
    with pytest.raises(anthropic.APITimeoutError):
        hasty.messages.create(**body())
    assert waited == [5]


@anthropic.beta_tool
def add(x: int, y: int) -> str:
    """Add two numbers.

    Args:
        x: one
        y: the other
    """
    return str(x + y)


def test_the_sdks_tool_runner_falls_back_from_threads_to_whole_arrays():
    api = new_api(script(reply(tool_use("toolu_1", "add", x=2, y=3)), reply("It is 5.")))
    runner = client(api).beta.messages.tool_runner(
        model="claude-sonnet-5",
        max_tokens=100,
        tools=[add],
        messages=[{"role": "user", "content": "what is 2 + 3?"}],
    )
    assert runner.until_done().content[0].text == "It is 5."
    statuses = [line.status for line in api.log]
    assert statuses.count(200) == 2 and statuses[0] == 400, "the first asks for a thread"


@pytest.mark.parametrize("status", ["429", None, 0, 99, 200, 1000, True])
def test_a_failure_has_a_status_of_a_failure(status):
    with pytest.raises(ValueError, match="a status from 400 to 599"):
        on_demand.failed(status)


def test_a_failure_can_be_slow_and_its_headers_have_names_without_hyphens():
    slow = on_demand.slow(30, on_demand.failed(529, x_should_retry="false"))
    assert slow.seconds == 30 and slow.headers == {"x-should-retry": "false"}
    with pytest.raises(anthropic.OverloadedError):
        client(script(slow), retries=2).messages.create(**body())


def test_a_tool_may_have_a_parameter_called_name():
    call = on_demand.cut_call("toolu_1", "find", name="Ana", id=5)["content"][0]
    assert call["name"] == "find" and call["input"] == {"name": "Ana", "id": 5}


def test_a_reply_may_have_no_stop_reason_at_all():
    raw = client(script(on_demand.unknown_reason(None, "so"))).messages.with_raw_response
    assert raw.create(**body()).http_response.json()["stop_reason"] is None


def test_a_block_of_an_unknown_type_keeps_its_type():
    assert on_demand.unknown_block("hologram", depth=3)["content"] == [
        {"depth": 3, "type": "hologram"}
    ]


def test_a_lost_answer_has_no_status_in_the_log():
    api = new_api(script(on_demand.lost_before(), OK))
    client(api, retries=1).messages.create(**body())
    assert str(api.log[0]).startswith(
        "req_01 · POST /v1/messages · no answer · the connection broke"
    )
