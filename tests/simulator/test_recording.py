"""A recording behind the offline API: what the real SDK is given, and what it is refused."""

import json
from inspect import signature
from pathlib import Path

import anthropic
import pytest
from offline import client

from harness_zero.assembly import assemble
from harness_zero.faults import SetupFault
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.models.claude import REACH, claude
from harness_zero.models.recorded import Diverged, RecordingEnded, recorded
from harness_zero.models.scripted import scripted
from harness_zero.run import Run
from harness_zero.simulator.api import Api
from harness_zero.simulator.recording import CannotAnswer, recording
from harness_zero.tools import schemas
from harness_zero.traces.cassettes import Exchange, NoCassette, exchanges
from harness_zero.view import plain

SHARED = Path(__file__).parents[3] / "shared" / "traces" / "a-anthropic-http"
ASKS = reply(tool_use("toolu_1", "add", x=2, y=3))
SAYS = reply("It is 5.")


def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


VIEW = plain("You add.", schemas({"add": add}))


@pytest.fixture(autouse=True)
def nobody_is_reachable(monkeypatch):
    for name in (*REACH, "HARNESS_ZERO_MODEL"):
        monkeypatch.delenv(name, raising=False)


def api_of(source):
    """The offline API with this source, lenient: what was recorded broke later rules."""
    return Api(source, rules=())


def send(api, request):
    """One request as it stands; the answer's status, headers and body."""
    names = signature(api.messages.create).parameters
    known = {name: value for name, value in request.items() if name in names}
    beside = {name: value for name, value in request.items() if name not in names}
    try:
        raw = api.messages.with_raw_response.create(**known, extra_body=beside).http_response
    except anthropic.APIStatusError as error:
        raw = error.response
    return raw.status_code, raw.headers, raw.json()


def message(words):
    """A message as the API sends it."""
    told = reply(f"You said {words}.")
    around = {"id": "msg_7", "type": "message", "role": "assistant", "model": "claude-sonnet-5"}
    return around | {name: told[name] for name in ("content", "stop_reason", "usage")}


def exchange(words, answer=None, status=200, streams=False, **headers):
    request = {"model": "claude-sonnet-5", "max_tokens": 64, "messages": [user(words)]}
    body = answer or message(words)
    return Exchange("POST", "/v1/messages", request, status, headers, body, streams)


def test_the_answers_come_in_their_order_with_status_headers_and_body():
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    recorded = [
        exchange("one", **{"request-id": "req_1"}),
        exchange("two", busy, 529, **{"x-should-retry": "true"}),
        exchange("two"),
    ]
    api = client(api_of(recording(recorded)))
    for each in recorded:
        status, headers, body = send(api, each.request)
        assert status == each.status and each.answer.items() <= body.items()
        assert each.headers.items() <= dict(headers).items()


def test_the_sdks_own_retry_is_given_the_next_exchange():
    busy = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    recorded = [exchange("go", busy, 529, **{"retry-after-ms": "1"}), exchange("go")]
    api = client(api_of(recording(recorded)), retries=1)
    assert send(api, recorded[0].request)[2] == recorded[1].answer


def test_a_request_that_differs_is_named_by_block_and_byte():
    source = recording([exchange("one"), exchange("two")])
    source(exchange("one").request)
    with pytest.raises(Diverged, match=r"request 2 .* message 0, block 0 \(text\) .* byte 10"):
        source(exchange("ten").request)
    with pytest.raises(Diverged, match=r"request 2 .*: max_tokens differs at byte 0"):
        source(exchange("two").request | {"max_tokens": 99})
    assert source(exchange("two").request).status == 200


def test_through_the_sdk_a_difference_is_no_answer_to_be_tried_again():
    api = api_of(recording([exchange("one")]))
    status, headers, body = send(client(api, retries=3), exchange("two").request)
    assert (status, headers["x-should-retry"], len(api.log)) == (500, "false", 1)
    assert (
        isinstance(api.log[-1].fault, Diverged) and "message 0, block 0" in body["error"]["message"]
    )


def test_saying_no_to_streaming_is_saying_nothing():
    quiet = exchange("go")
    loud = Exchange("POST", "/v1/messages", quiet.request | {"stream": False}, 200, {}, {}, False)
    assert recording([loud])(quiet.request) and recording([quiet])(loud.request)


def test_after_the_last_exchange_it_says_so():
    with pytest.raises(RecordingEnded, match=r"request 1 .* \(calls in it: 0\)"):
        recording([])(exchange("go").request)


def test_an_exchange_that_streams_is_refused_at_once():
    with pytest.raises(CannotAnswer, match="exchange 2 cannot be given back: this one streams; "):
        recording([exchange("one"), exchange("two", streams=True)])


def test_a_cassette_is_read_from_its_file(tmp_path):
    each = exchange("go")
    sent = {"method": "POST", "url": "https://api.anthropic.com/v1/messages"}
    back = {"status": {"code": 200}, "headers": {}, "body": json.dumps(each.answer)}
    file = tmp_path / "call.json"
    file.write_text(
        json.dumps({"request": sent | {"body": json.dumps(each.request)}, "response": back})
    )
    for name in (file, str(file)):
        assert recording(name)(each.request).body == each.answer


def test_a_file_that_is_neither_is_told(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing recorded")
    with pytest.raises(NoCassette, match="is no cassette"):
        recording(tmp_path / "notes.txt")
    with pytest.raises(NoCassette, match="cannot be read"):
        recording(tmp_path / "none.yaml")


# A recording of our own behind the real SDK


def played(model):
    return assemble(model, {"add": add}, view=VIEW)(Run("what is 2 + 3?"))


@pytest.fixture
def file(tmp_path):
    """A run that was recorded around a model of ours."""
    script = scripted(ASKS, SAYS)
    played(recorded(lambda request: script(request["messages"]), tmp_path / "run.jsonl"))
    return tmp_path / "run.jsonl"


def test_our_own_recording_plays_through_the_sdk(file):
    run = played(claude(offline=recording(file)))
    assert (run.label, run.text, run.rounds) == ("finished", "It is 5.", 2)


def test_what_the_client_adds_is_not_compared_and_the_prefix_is(file):
    added = {"model": "any", "max_tokens": 1, "messages": [user("what is 2 + 3?")]}
    source = recording(file)
    with pytest.raises(Diverged, match=r"request 1 .* tool 0 \(add\) is missing"):
        source(added)
    with pytest.raises(Diverged, match=r"tool 1 \(more\) is sent, and there was none"):
        source(added | {"system": "You add.", "tools": [*schemas({"add": add}), {"name": "more"}]})
    assert source(added | {"system": "You add.", "tools": schemas({"add": add})}) == ASKS


def test_tools_that_were_not_recorded_are_a_difference(tmp_path):
    recorded(scripted(SAYS), tmp_path / "run.jsonl")([user("go")])
    with pytest.raises(Diverged, match=r"tool 0 \(add\) is sent, and there was none"):
        recording(tmp_path / "run.jsonl")(exchange("go").request | {"tools": [{"name": "add"}]})


def test_a_divergence_goes_through_the_sdk_and_the_loop_as_what_it_is(file):
    messages = [user("what is 2 + 3?"), said(ASKS), user(tool_result("toolu_1", "6"))]
    model = claude(offline=recording(file))
    model({"system": "You add.", "tools": schemas({"add": add}), "messages": messages[:1]})
    with pytest.raises(SetupFault, match=r"message 2, block 0 \(tool_result of toolu_1\)"):
        assemble(model, {"add": add}, view=VIEW)(Run.of(messages))


def test_a_failure_that_was_recorded_has_no_answer_of_the_api(tmp_path):
    def fails(request):
        raise ModelFailed("the API answered 529: busy")

    played(recorded(fails, tmp_path / "run.jsonl"))
    with pytest.raises(
        CannotAnswer, match=r"call 1 failed with ModelFailed \(the API answered 529"
    ):
        recording(tmp_path / "run.jsonl")(exchange("go").request)


# What was collected


@pytest.mark.skipif(not SHARED.is_dir(), reason="the collected traces are not on this machine")
@pytest.mark.filterwarnings("ignore:The model '.*' is deprecated:DeprecationWarning")
def test_every_collected_recording_that_does_not_stream_plays_through_the_sdk():
    played, streaming = 0, 0
    for file in SHARED.iterdir():
        if "count_tokens" in file.name:
            continue
        found = exchanges(file)
        if any(each.streams for each in found):
            streaming += 1
            with pytest.raises(CannotAnswer, match="this one streams"):
                recording(file)
            continue
        api = client(api_of(recording(file)))
        for each in found:
            assert send(api, each.request)[::2] == (each.status, each.answer)
            played += 1
    assert played >= 9 and streaming >= 3
