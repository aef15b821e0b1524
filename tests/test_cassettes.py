"""Recorded HTTP of other projects, in every form in which they write it. The contents are ours."""

import gzip
import json
import zlib
from base64 import b64encode
from pathlib import Path

import pytest

from harness_zero.faults import SetupFault
from harness_zero.traces.cassettes import MOST_UNPACKED, NoCassette, exchanges

SHARED = Path(__file__).parents[2] / "shared" / "traces" / "a-anthropic-http"
ASKED = {
    "model": "claude-sonnet-5",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "ä"}],
}
SAID = {
    "type": "message",
    "content": [{"type": "text", "text": "Grüße"}],
    "stop_reason": "end_turn",
}
EVENTS = 'event: message_start\ndata: {"type":"message_start"}\n\n'

VCR_PY = """
interactions:
- request:
    body: {asked}
    headers:
      x-api-key:
      - a-secret
    method: POST
    uri: https://api.anthropic.com/v1/messages?beta=true
  response:
    body:
      string: {said}
    headers:
      Content-Type:
      - application/json
      Set-Cookie:
      - a-secret
      Anthropic-Organization-Id:
      - a-secret
      request-id:
      - req_1
    status:
      code: 200
      message: OK
version: 1
"""
PYDANTIC_AI = """
interactions:
- request:
    headers:
      host:
      - api.anthropic.com
    method: POST
    parsed_body:
      max_tokens: 64
      messages:
      - content: ä
        role: user
      model: claude-sonnet-5
    uri: https://api.anthropic.com/v1/messages?beta=true
  response:
    headers:
      content-type:
      - application/json
      request-id:
      - req_1
    parsed_body:
      content:
      - text: "Gr\\xFC\\xDFe"
        type: text
      stop_reason: end_turn
      type: message
    status:
      code: 200
      message: OK
version: 1
"""
RUBY = """
---
http_interactions:
- request:
    method: post
    uri: https://api.anthropic.com/v1/messages
    body:
      encoding: UTF-8
      string: {asked}
    headers:
      X-Api-Key:
      - a-secret
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - application/json
      Request-Id:
      - req_1
    body:
      encoding: ASCII-8BIT
      string: {said}
  recorded_at: Fri, 06 Nov 2026 08:00:00 GMT
recorded_with: VCR 6.3.1
"""
GO_VCR = """
---
version: 2
interactions:
- id: 0
  request:
    proto: HTTP/1.1
    content_length: 99
    host: ""
    body: {asked}
    headers:
      X-Api-Key:
      - a-secret
    url: https://api.anthropic.com/v1/messages
    method: POST
  response:
    proto: HTTP/2.0
    content_length: -1
    uncompressed: true
    body: {said}
    headers:
      Content-Type:
      - application/json
      Request-Id:
      - req_1
    status: 200 OK
    code: 200
    duration: 2.5s
"""
ISTR_KEYS = """
interactions:
- request:
    body: {asked}
    headers:
      ? !!python/object/apply:multidict._multidict.istr
      - Accept
      : - application/json
    method: POST
    uri: https://api.anthropic.com/v1/messages
  response:
    body:
      string: {said}
    headers:
      ? !!python/object/apply:multidict._multidict.istr
      - Content-Type
      : - application/json
      ? !!python/object/apply:multidict._multidict.istr
      - request-id
      : - req_1
    status:
      code: 200
      message: OK
version: 1
"""


def dd_trace(asked=None, said=None):
    """One exchange as dd-trace's test agent writes it."""
    sent = {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "headers": {}}
    back = {"status": {"code": 200, "message": "OK"}}
    back["headers"] = {"Content-Type": "application/json", "Request-Id": "req_1", "Via": "a-secret"}
    body = {"body": json.dumps(asked or ASKED)}, {"body": json.dumps(said or SAID)}
    return json.dumps({"request": sent | body[0], "response": back | body[1]}, indent=2)


def text(value):
    """A body as a YAML string that holds JSON; a JSON string is one."""
    return json.dumps(json.dumps(value))


def binary(packed, tag="!!binary"):
    return f"{tag} {b64encode(packed).decode()}"


def packed(value, pack=gzip.compress):
    return pack(json.dumps(value, ensure_ascii=False).encode())


def filled(form, asked=None, said=None):
    return form.replace("{asked}", asked or text(ASKED)).replace("{said}", said or text(SAID))


FORMS = {
    "vcr.py, text": filled(VCR_PY),
    "vcr.py, binary": filled(VCR_PY, said=binary(packed(SAID, bytes))),
    "vcr.py, gzip": filled(VCR_PY, said=binary(packed(SAID))),
    "vcr.py, deflate": filled(VCR_PY, said=binary(packed(SAID, zlib.compress))),
    "vcr.py, gzip on the way there": filled(VCR_PY, asked=binary(packed(ASKED))),
    "vcr.py, names of headers as objects": filled(ISTR_KEYS),
    "pydantic-ai": PYDANTIC_AI,
    "Ruby, text": filled(RUBY),
    "Ruby, binary": filled(RUBY, said=binary(packed(SAID, bytes), "!binary")),
    "Ruby, binary in a block": filled(
        RUBY, said=binary(packed(SAID), "!binary").replace(" ", " |-\n        ")
    ),
    "go-vcr": filled(GO_VCR),
    "dd-trace, JSON": dd_trace(),
    "dd-trace, YAML": "# the same as YAML\n" + dd_trace(),
}


@pytest.fixture
def cassette(tmp_path):
    """A file with this content."""

    def cassette(content, name="calls.yaml"):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        return file

    return cassette


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_exchange(form, cassette):
    [found] = exchanges(cassette(FORMS[form]))
    assert (found.method, found.path, found.status) == ("POST", "/v1/messages", 200)
    assert (found.request, found.answer, found.streams) == (ASKED, SAID, False)
    assert found.headers == {"content-type": "application/json", "request-id": "req_1"}


@pytest.mark.parametrize(
    "content",
    [
        filled(VCR_PY, said=json.dumps(EVENTS)),
        filled(VCR_PY, asked=text(ASKED | {"stream": True})),
        filled(VCR_PY).replace("application/json", "text/event-stream; charset=utf-8"),
        filled(GO_VCR, said=json.dumps(EVENTS)),
    ],
)
def test_an_exchange_that_streams_says_so(content, cassette):
    [found] = exchanges(cassette(content))
    assert found.streams


def test_a_refusal_is_an_exchange_as_well(cassette):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    busy = filled(VCR_PY, said=text(error)).replace("code: 200", "code: 529")
    busy = busy.replace("request-id:", "X-Should-Retry:\n      - 'true'\n      request-id:")
    [found] = exchanges(cassette(busy))
    assert (found.status, found.answer) == (529, error)
    assert found.headers["x-should-retry"] == "true"


def test_an_answer_that_is_no_json_stays_text(cassette):
    [found] = exchanges(cassette(filled(VCR_PY, said="'<html>bad gateway</html>'")))
    assert found.answer == "<html>bad gateway</html>"


def interaction(path, body="{}"):
    sent = {"method": "POST", "uri": f"https://api.anthropic.com{path}", "body": body}
    return {"request": sent, "response": {"status": {"code": 200}, "body": {"string": "{}"}}}


def test_calls_of_other_paths_share_a_file_and_are_left_out(cassette):
    paths = "/v1/messages", "/v1/messages/count_tokens?beta=true", "/v1/messages/batches"
    file = cassette(json.dumps({"interactions": [interaction(path) for path in paths]}))
    assert [each.path for each in exchanges(file)] == ["/v1/messages"]
    assert len(exchanges(file, "/v1/messages/count_tokens")) == 1


def test_a_broken_body_of_another_path_is_nobodys_business(cassette):
    calls = [interaction("/v1/files", "not JSON"), interaction("/v1/messages")]
    assert len(exchanges(cassette(json.dumps({"interactions": calls})))) == 1


def test_a_file_with_other_calls_alone_says_which(cassette):
    calls = [interaction("/v1/models"), interaction("/v1/models"), {"request": {}, "response": {}}]
    with pytest.raises(NoCassette) as caught:
        exchanges(cassette(json.dumps({"interactions": calls})))
    assert str(caught.value).endswith(
        "calls.yaml holds no call of /v1/messages, "
        "but 2 of /v1/models, 1 of a request without an address."
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is no cassette: it has none of interactions, http_interactions"),
        ("just words", "is no cassette: it has none of interactions"),
        ("a: [1, 2", "is neither JSON nor YAML: "),
        ("a: !binary 'a'", "is neither JSON nor YAML: "),
        ("? [a, {b: c}]\n: d", "is neither JSON nor YAML: "),
        ("[" * 5000, "is neither JSON nor YAML: "),
        ("interactions: []", "holds no call of /v1/messages, but nothing at all"),
        ("interactions: [7]", "interaction 1 has no request, but 7"),
        ("interactions: [{request: {}}]", "interaction 1 has no response"),
        (filled(VCR_PY, asked="'max_tokens: 64'"), "interaction 1, request is no JSON object"),
        (filled(VCR_PY, asked="'[1]'"), "interaction 1, request is no JSON object, but [1]"),
        (filled(VCR_PY, said=binary(b"\x28\xb5\x2f\xfd")), "response is packed in a way that"),
        (filled(VCR_PY, said=binary(packed(SAID)[:-9])), "response is packed in a way that"),
        (filled(VCR_PY).replace("code: 200", "code: ok"), "response has no status, but {'code'"),
        (PYDANTIC_AI.replace("stop_reason: end_turn", "x: !!binary aGk="), "response is no JSON: "),
        (PYDANTIC_AI.replace("content: ä", "content: &a [*a]"), "request is no JSON: "),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(content, words, cassette):
    with pytest.raises(NoCassette) as caught:
        exchanges(cassette(content))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_and_one_that_is_no_text_are_told(tmp_path):
    (tmp_path / "picture").write_bytes(b"\x89PNG\xff")
    with pytest.raises(NoCassette, match="is no text in UTF-8"):
        exchanges(tmp_path / "picture")
    with pytest.raises(NoCassette, match=r"none\.yaml cannot be read: No such file"):
        exchanges(str(tmp_path / "none.yaml"))
    assert issubclass(NoCassette, SetupFault)


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.mkdir", "!ruby/object:Gem::Installer"])
def test_nothing_that_a_file_names_is_run(tag, cassette, tmp_path):
    made = tmp_path / "made"
    content = filled(VCR_PY).replace("version: 1", f"version: {tag} ['{made}']")
    assert exchanges(cassette(content)) and not made.exists()


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
MERGES = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)
)


@pytest.mark.parametrize("laughs", [LAUGHS, MERGES])
@pytest.mark.parametrize("last", ["a: b", "interactions: *a8", PYDANTIC_AI.replace("ä", "*a8")])
def test_aliases_that_grow_without_end_are_refused(laughs, last, cassette):
    with pytest.raises(NoCassette, match="its aliases repeat more than"):
        exchanges(cassette(laughs + last))


def test_aliases_that_a_recorder_writes_are_read(cassette):
    content = PYDANTIC_AI.replace("content: ä", "content: &id001 ä")
    [found] = exchanges(cassette(content.replace('"Gr\\xFC\\xDFe"', "*id001")))
    assert found.answer["content"][0]["text"] == "ä"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_small_body_that_unpacks_to_a_huge_one_is_refused(pack, cassette):
    bomb = pack(bytes(MOST_UNPACKED + 1))
    assert len(bomb) < 1_000_000
    with pytest.raises(NoCassette, match="response unpacks to more than 64 MB"):
        exchanges(cassette(filled(VCR_PY, said=binary(bomb))))


@pytest.mark.parametrize("words", ["xyz", "x\x01 marks it", "x^2"])
def test_text_that_begins_as_packed_bytes_do_stays_text(words, cassette):
    [found] = exchanges(cassette(filled(VCR_PY, said=binary(words.encode()))))
    assert found.answer == words


def test_an_address_that_is_none_is_named_and_the_other_calls_are_read(cassette):
    broken = interaction("/v1/messages")
    broken["request"]["uri"] = "http://[bad/v1/messages"
    file = cassette(json.dumps({"interactions": [broken, interaction("/v1/messages")]}))
    assert len(exchanges(file)) == 1
    with pytest.raises(NoCassette, match=r"but 1 of an address that is none \('http://\[bad"):
        exchanges(cassette(json.dumps({"interactions": [broken]})))


def test_a_date_stays_the_words_that_it_was_written_in(cassette):
    [found] = exchanges(cassette(PYDANTIC_AI.replace("content: ä", "content: 2026-11-30")))
    assert found.request["messages"][0]["content"] == "2026-11-30"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the collected traces are not on this machine")
def test_every_recording_that_was_collected_is_read():
    read = {file.name: exchanges(file) for file in SHARED.iterdir() if "count_tok" not in file.name}
    assert len(read) >= 8
    for found in read.values():
        assert all(each.request["messages"] and each.answer and each.headers for each in found)
        assert all(each.answer["type"] == "message" for each in found if not each.streams)
    assert {each.streams for found in read.values() for each in found} == {True, False}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the collected traces are not on this machine")
def test_a_collected_recording_that_only_counts_tokens_says_so():
    [file] = [file for file in SHARED.iterdir() if "count_tokens" in file.name]
    with pytest.raises(NoCassette, match=r"no call of /v1/messages, but 1 of .*/count_tokens"):
        exchanges(file)
    assert exchanges(file, "/v1/messages/count_tokens")[0].status == 404
