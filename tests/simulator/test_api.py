"""The offline API as a server: addresses, keys, versions, sizes; and whatever comes, an answer."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offline import KEYED, client, fine, new_api, post

from harness_zero.messages import reply, tool_result, tool_use, user
from harness_zero.simulator.api import LARGEST, Api, Call
from harness_zero.simulator.catalogue import MODELS
from harness_zero.simulator.examples import ADD, body


def shaped(answer):
    """Whether an answer is an error in the API's shape."""
    told = answer.body
    assert told["type"] == "error" and told["error"]["type"] and told["error"]["message"]
    assert told["request_id"] == answer.headers["request-id"]
    return answer.status, told["error"]["type"]


def test_a_message_has_all_that_the_sdk_reads():
    message = client(fine).messages.create(**body())
    assert (message.type, message.role, message.stop_reason) == ("message", "assistant", "end_turn")
    assert message.content[0].text == "ok" and message.model == "claude-sonnet-5"
    assert message.id == "msg_01" and message._request_id == "req_01"
    assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0


def test_an_error_has_all_that_the_sdk_reads():
    with pytest.raises(anthropic.BadRequestError) as raised:
        client(fine).messages.create(**body(user("")))
    error = raised.value
    assert (error.status_code, error.type) == (400, "invalid_request_error")
    assert error.request_id == "req_01" == error.body["request_id"]
    assert error.api_message == "messages: text content blocks must be non-empty"


@pytest.mark.parametrize("key", [{"x-api-key": "k"}, {"authorization": "Bearer k"}])
@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
def test_both_headers_for_a_key_and_both_versions_are_taken(key, version):
    assert post(new_api(), body(), {**key, "anthropic-version": version}).status == 200


@pytest.mark.parametrize("key", [{}, {"authorization": "Bearer "}, {"x-api-key": ""}])
def test_without_a_key_nobody_is_served(key):
    answer = post(new_api(), body(), {**key, "anthropic-version": "2026-10-21"})
    assert shaped(answer) == (401, "authentication_error")


@pytest.mark.parametrize("version", [{}, {"anthropic-version": "tomorrow"}])
def test_a_version_is_demanded_and_known(version):
    answer = post(new_api(), body(), {"x-api-key": "k", **version})
    assert shaped(answer) == (400, "invalid_request_error")
    assert "anthropic-version" in answer.body["error"]["message"]


def test_the_log_never_holds_a_key():
    api = new_api()
    post(api, body(), {"x-api-key": "sk-secret", "anthropic-version": "sk-secret"})
    post(api, body(user("")), {"x-api-key": "sk-secret", "anthropic-version": "2026-10-21"})
    assert "x-api-key" not in repr(api.log) and len(api.log) == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting property name"),
        (b'{"model": NaN}', "NaN is no JSON number"),
        (b"\xff", "no UTF-8"),
        (b'{"model": "\\ud800"}', "no low surrogate in string"),
        (b"[" * 100_000, "nested too deeply"),
    ],
    ids=["nothing", "cut off", "NaN", "no UTF-8", "half a surrogate pair", "deep"],
)
def test_what_is_no_json_is_told_and_why(content, says):
    answer = post(new_api(), content)
    assert shaped(answer) == (400, "invalid_request_error")
    assert answer.body["error"]["message"].startswith("The request body is not valid JSON: ")
    assert says in answer.body["error"]["message"]


def test_arguments_that_are_nested_too_deeply_are_told_too():
    deep = json.loads("[" * 600 + "]" * 600)
    asks = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"x": deep}}
    spoken = {"role": "assistant", "content": [asks]}
    answer = post(new_api(), body(user("go"), spoken, user(tool_result("toolu_1", "5"))))
    assert answer.status == 200 or "nested too deeply" in answer.body["error"]["message"]


@pytest.mark.parametrize("content", [b"null", b"5", b'"go"', b"[]"])
def test_json_that_is_no_object_is_refused(content):
    assert shaped(post(new_api(), content))[0] == 400


def test_a_huge_body_is_refused_before_it_is_read():
    answer = post(new_api(), b"{" * (LARGEST + 1))
    assert shaped(answer) == (413, "request_too_large")


def test_the_sdk_knows_that_error_by_name():
    with pytest.raises(anthropic.ContentTooLargeError):
        client(fine).messages.create(**body(user("a" * LARGEST)))


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/complete", "/v1/messages/batches", "/%00"])
def test_an_address_that_there_is_not_is_an_error_with_those_that_there_are(path):
    api = new_api()
    assert shaped(post(api, body(), path=path)) == (404, "not_found_error")
    assert "/v1/messages" in api.log[-1].words


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_address_takes_one_method(method):
    answer = new_api()(Call(method, "/v1/messages", b"", "", KEYED))
    assert shaped(answer)[0] == 405


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = ("model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "thread")
NAMES = st.sampled_from([*FIELDS, "role", "content", "type", "id", "name", "input", "text"])
BLOCKS = st.dictionaries(
    NAMES, JSON | st.sampled_from(["text", "tool_use", "tool_result"]), max_size=5
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system"]) | JSON},
        optional={"content": st.text(max_size=3) | st.lists(BLOCKS | JSON, max_size=3) | JSON},
    )
    | JSON,
    max_size=4,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5), MESSAGES, st.booleans())
def test_whatever_json_comes_the_answer_has_the_apis_shape(fields, messages, whole):
    given_body = {**(body() if whole else {}), "messages": messages, **fields}
    api = new_api()
    answer = post(api, given_body)
    assert answer.status == 200 or shaped(answer)[0] in (400, 404)
    assert "failed:" not in api.log[-1].words


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_whatever_bytes_come_the_answer_has_the_apis_shape(content):
    assert shaped(post(new_api(), content))[0] == 400


def test_what_fails_behind_the_api_is_an_error_of_the_server_and_told_in_the_log():
    def broken(request):
        raise ZeroDivisionError("division by zero")

    api = Api(broken)
    assert shaped(post(api, body())) == (500, "api_error")
    assert "ZeroDivisionError" in api.log[-1].words


def test_tokens_are_counted_as_an_estimate_that_grows_with_the_array():
    counted = client(fine).messages.count_tokens
    few = counted(model="claude-sonnet-5", messages=[user("go")]).input_tokens
    many = counted(model="claude-sonnet-5", messages=[user("go" * 1000)]).input_tokens
    assert 0 < few < many and many == pytest.approx(2000 / 2.5, rel=0.1)


def test_an_older_model_reads_the_same_text_in_fewer_tokens():
    counted = client(fine).messages.count_tokens
    new, old = (
        counted(model=model, messages=[user("go" * 1000)]).input_tokens
        for model in ("claude-sonnet-5", "claude-haiku-4-5")
    )
    assert new / old == pytest.approx(3.4 / 2.5, rel=0.02)


def test_counting_keeps_the_rules_too():
    with pytest.raises(anthropic.BadRequestError):
        client(fine).messages.count_tokens(model="claude-sonnet-5", messages=[user("")])


def test_an_array_longer_than_the_window_is_refused_with_both_numbers():
    long = body(user("word " * 150_000), model="claude-haiku-4-5")
    answer = post(new_api(), long)
    assert re.search(r"prompt is too long: 2\d+ tokens > 200000 maximum", json.dumps(answer.body))


def test_the_models_are_those_of_the_sdk():
    from typing import get_args

    known = {name for part in get_args(anthropic.types.Model) for name in get_args(part)}
    assert set(MODELS) == known
    assert [model.id for model in client(fine).models.list()] == [*MODELS]


def test_models_can_be_asked_for_by_their_state_and_by_name():
    ours = client(fine).models
    active = [model.id for model in ours.list(lifecycle=["active"])]
    assert "claude-sonnet-5" in active and "claude-opus-4-5" not in active
    assert ours.retrieve("claude-haiku-5-5").line == "haiku"
    with pytest.raises(anthropic.NotFoundError):
        ours.retrieve("claude-2")


def test_a_reply_longer_than_max_tokens_is_cut_there():
    message = client(lambda _: reply("word " * 100)).messages.create(**body(max_tokens=20))
    assert message.stop_reason == "max_tokens" and message.content[0].text.startswith("word word")
    assert message.usage.output_tokens <= 20


def test_a_call_longer_than_max_tokens_keeps_the_arguments_that_were_whole():
    long = reply(tool_use("toolu_1", "write_file", path="a.txt", text="word " * 100))
    message = client(lambda _: long).messages.create(**body(tools=[ADD], max_tokens=30))
    assert message.stop_reason == "max_tokens" and message.content[0].input == {"path": "a.txt"}


def test_more_room_gives_the_whole_call():
    long = reply(tool_use("toolu_1", "write_file", path="a.txt", text="word " * 100))
    message = client(lambda _: long).messages.create(**body(tools=[ADD], max_tokens=500))
    assert message.stop_reason == "tool_use" and len(message.content[0].input["text"]) == 500


def test_a_reply_ends_at_a_stop_sequence_of_the_request():
    given_reply = reply("Step one. STOP Step two.")
    message = client(lambda _: given_reply).messages.create(**body(stop_sequences=["STOP", "two"]))
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "STOP")
    assert message.content[0].text == "Step one. "


def test_a_model_that_may_use_no_tool_uses_none():
    asks = reply("Let me add.", tool_use("toolu_1", "add"))
    message = client(lambda _: asks).messages.create(
        **body(tools=[ADD], tool_choice={"type": "none"})
    )
    assert [block.type for block in message.content] == ["text"]
    assert message.stop_reason == "end_turn"


def test_a_model_that_may_make_one_call_makes_one():
    asks = reply(tool_use("toolu_1", "add"), tool_use("toolu_2", "add"))
    single = {"type": "auto", "disable_parallel_tool_use": True}
    message = client(lambda _: asks).messages.create(**body(tools=[ADD], tool_choice=single))
    assert [block.id for block in message.content] == ["toolu_1"]


def test_no_reply_is_paid_for_when_max_tokens_is_zero():
    message = client(fine).messages.create(**body(max_tokens=0))
    assert (message.content, message.stop_reason) == ([], "max_tokens")


def test_more_than_one_thread_is_served_one_after_the_other():
    def model(request):
        time.sleep(0.001)
        return reply({"type": "thinking", "thinking": "so"}, tool_use("toolu_1", "add"))

    api = Api(model)

    def converse(name):
        first = body(user(name), model="claude-opus-5-5", max_tokens=500)
        said = {"role": "assistant", "content": post(api, first).body["content"]}
        messages = [*first["messages"], said, user(tool_result("toolu_1", "5"))]
        return post(api, {**first, "messages": messages}).status

    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(converse, map(str, range(24)))] == [200] * 24
    assert [line.number for line in api.log] == [*range(1, 49)]


@pytest.mark.parametrize(
    "fields",
    [
        {"stop_sequences": [5]},
        {"stop_sequences": [["a"]]},
        {"max_tokens": 10**400},
        {"system": [{"type": "text", "text": 5}]},
        {"tools": [{"type": "banana", "name": "add"}]},
        {"tools": [{"type": None, "name": "add"}]},
        {"tools": [{**ADD, "name": "add\n"}]},
        {"thread": {}},
        {"thinking": {"type": "enabled", "budget_tokens": 2000.0}, "model": "claude-haiku-4-5"},
        {"m" * 1_000_000: 5},
        {"model": "m" * 1_000_000},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_odd_fields_are_refused_in_a_sentence_and_no_page(fields):
    api = new_api()
    assert shaped(post(api, body(**fields)))[0] in (400, 404)
    assert 0 < len(api.log[-1].words) < 700


@pytest.mark.parametrize("value", [None])
@pytest.mark.parametrize("name", ["system", "tools", "cache_control", "speed", "stop_sequences"])
def test_an_optional_field_may_be_null(name, value):
    assert post(new_api(), body(**{name: value})).status == 200


def test_the_fields_that_are_known_are_those_of_the_sdk():
    from anthropic.types import message_create_params
    from anthropic.types.beta import message_create_params as beta

    from harness_zero.simulator.rules.request import FIELDS, SAMPLING

    kinds = message_create_params, beta
    sdk = {name for kind in kinds for name in kind.MessageCreateParamsNonStreaming.__annotations__}
    assert {*FIELDS} - {*SAMPLING} == sdk - {"betas"}, "betas travel in a header"


def test_no_max_tokens_are_asked_for_when_tokens_are_counted():
    assert shaped(post(new_api(), body(), path="/v1/messages/count_tokens"))[0] == 400


def test_what_does_not_fit_the_window_can_be_counted():
    long = body(user("word " * 150_000), model="claude-haiku-4-5", max_tokens=...)
    answer = post(new_api(), long, path="/v1/messages/count_tokens")
    assert answer.body["input_tokens"] > 200_000


def test_an_image_does_not_count_as_the_text_that_carries_it():
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 900_000}
    shown = body(user({"type": "image", "source": source}), model="claude-haiku-4-5")
    assert post(new_api(), shown).body["usage"]["input_tokens"] < 3_000


@pytest.mark.parametrize("given", [None, "hi", 5, [], {}, {"content": "hi"}, {"content": [5]}])
def test_a_source_that_gives_no_reply_is_named_and_not_tried_again(given):
    api = Api(lambda request: given)
    answer = post(api, body())
    assert shaped(answer)[0] == 500 and answer.headers["x-should-retry"] == "false"
    assert api.log[-1].words.startswith("what stands behind the API gave no reply but ")


@pytest.mark.parametrize("words", ["half a \ud800 pair", float("nan")])
def test_a_reply_that_cannot_travel_is_named(words):
    api = Api(lambda request: reply(tool_use("toolu_1", "add", x=words)))
    assert shaped(post(api, body(max_tokens=500)))[0] == 500
    assert "a reply that is no JSON" in api.log[-1].words


def test_what_a_client_does_to_an_answer_does_not_reach_the_script():
    given = reply(tool_use("toolu_1", "add", x={"y": 1}))
    api = Api(lambda request: given)
    post(api, body(max_tokens=500)).body["content"][0]["input"]["x"]["y"] = 2
    assert given["content"][0]["input"] == {"x": {"y": 1}}


def test_models_come_in_pages():
    ours = client(fine).models
    first = ours.list(limit=3)
    assert len(first.data) == 3 and first.has_more
    assert [model.id for model in first] == [*MODELS]
    with pytest.raises(anthropic.BadRequestError):
        ours.list(lifecycle=["bogus"])


@pytest.mark.parametrize("key", ["Basic abc", "bearer  ", "Bearer"])
def test_what_is_no_bearer_is_no_key(key):
    answer = post(new_api(), body(), {"authorization": key, "anthropic-version": "2026-10-21"})
    assert shaped(answer)[0] == 401


def test_a_header_may_be_written_in_capitals():
    headers = {"X-Api-Key": "k", "Anthropic-Version": "2026-10-21"}
    assert post(new_api(), body(), headers).status == 200


def test_without_rules_everything_is_answered():
    assert post(new_api(rules=()), {}).status == 200


def test_a_forced_call_is_the_one_that_was_forced_and_has_no_words_before_it():
    asks = reply("Let me.", tool_use("toolu_1", "add"), tool_use("toolu_2", "divide"))
    tools = [ADD, {**ADD, "name": "divide"}]
    forced = body(tools=tools, tool_choice={"type": "tool", "name": "divide"})
    message = client(lambda _: asks).messages.create(**forced)
    assert [block.id for block in message.content] == ["toolu_2"]
