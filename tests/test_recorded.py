"""A model recorded once and replayed for nothing; files that are torn, damaged or strange."""

import json
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_zero.assembly import assemble, of_messages
from harness_zero.faults import SetupFault
from harness_zero.keys import without_keys
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, said, tool_result, tool_use, user
from harness_zero.models import tape
from harness_zero.models.recorded import Diverged, RecordingEnded, recorded, replay
from harness_zero.models.scripted import OutOfReplies, scripted
from harness_zero.models.tape import NoRecording
from harness_zero.run import Run
from harness_zero.stages import stage
from harness_zero.view import plain

ASKS = reply(tool_use("call_1", "add", x=2, y=3), tokens=20, cost=0.01)
SAYS = reply("It is 5.")


def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


@pytest.fixture
def file(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def two_calls(file):
    """A recording of two calls, as it stands in its file."""
    played(recorded(of_messages(scripted(ASKS, SAYS)), file))
    return file.read_bytes()


def played(model, **changed):
    """One turn with the add tool at hand."""
    view = plain(changed.get("system", "You add."))
    tools = {"add": changed.get("add", add)}
    return assemble(model, tools, view=view)(Run("what is 2 + 3?", clock=lambda: 0.0))


def request(*messages, **fields):
    return {"messages": [*messages], **fields}


def requests(rounds):
    """What a loop sends in its rounds, each result 2 KB long."""
    messages = [user("go")]
    for n in range(rounds):
        yield request(*messages, system="You add.")
        messages.append(said(reply(tool_use(f"call_{n:04}", "read", path=f"{n:04}.txt"))))
        messages.append(user(tool_result(f"call_{n:04}", f"{n:04} " * 400)))


def test_a_replay_plays_the_same_run_without_the_model(file):
    live = played(recorded(of_messages(scripted(ASKS, SAYS)), file))
    again = played(replay(file))
    assert again.messages == live.messages and again.replies == live.replies
    assert (again.label, again.tokens, again.cost_usd) == ("finished", 20, 0.01)


def test_a_model_of_the_early_stages_is_recorded_and_replayed_as_well(file):
    live = stage(2)(recorded(scripted(ASKS, SAYS), file), {"add": add}, "what is 2 + 3?")
    assert stage(2)(replay(file), {"add": add}, "what is 2 + 3?") == live


def test_a_line_holds_a_version_what_is_new_in_the_request_and_the_reply(file, two_calls):
    first, second = (json.loads(line) for line in two_calls.splitlines())
    assert first == {
        "version": 1,
        "request": {"system": "You add.", "messages": [user("what is 2 + 3?")]},
        "reply": ASKS,
    }
    assert second == {
        "version": 1,
        "kept": 1,
        "same": ["system"],
        "request": {"messages": [said(ASKS), user(tool_result("call_1", "5"))]},
        "reply": SAYS,
    }


def test_the_same_run_gives_the_same_bytes(tmp_path, two_calls):
    played(recorded(of_messages(scripted(ASKS, SAYS)), tmp_path / "again.jsonl"))
    assert (tmp_path / "again.jsonl").read_bytes() == two_calls


def test_a_call_that_failed_fails_again_with_the_same_words(file):
    def fails(request):
        raise ModelFailed("the API answered 529: overloaded")

    live, again = played(recorded(fails, file)), played(replay(file))
    assert (again.label, again.why) == (live.label, live.why)
    assert again.why == "the API answered 529: overloaded"


class Strange(Exception):
    """A failure of which only its own program knows."""


@pytest.mark.parametrize(
    "failure", [TimeoutError("too late"), KeyError("model"), Strange("odd"), ValueError("")]
)
def test_a_failure_of_another_kind_ends_a_run_as_it_did(file, failure):
    def fails(request):
        raise failure

    live, again = played(recorded(fails, file)), played(replay(file))
    assert (again.label, again.why) == (live.label, live.why)


def test_a_failure_of_pythons_own_is_raised_as_that_kind(file):
    def fails(messages):
        raise TimeoutError("too late")

    with pytest.raises(TimeoutError):
        recorded(fails, file)([user("go")])
    with pytest.raises(TimeoutError, match="too late"):
        replay(file)([user("go")])


@pytest.mark.parametrize("failure", [KeyError("model"), KeyError(3), KeyError("it's"), OSError(2)])
def test_a_failure_that_quotes_its_words_is_raised_as_that_kind_too(file, failure):
    def fails(messages):
        raise failure

    with pytest.raises(type(failure)):
        recorded(fails, file)([user("go")])
    with pytest.raises(type(failure)) as caught:
        replay(file)([user("go")])
    assert str(caught.value) == str(failure)


@pytest.mark.parametrize("strange", [object(), {"content": {1, 2}}, {(1, 2): 3}])
def test_a_reply_that_cannot_be_written_is_not_lost_and_a_replay_stops_there(file, strange):
    replies = iter([SAYS, strange, SAYS])
    model = recorded(lambda messages: next(replies), file)
    assert model([user("one")]) is SAYS and model([user("one"), user("two")]) is strange
    assert model.note.startswith("a reply was given back, but could not be recorded: ")
    assert model([user("three")]) is SAYS
    again = replay(file)
    assert again([user("one")]) == SAYS
    with pytest.raises(NoRecording, match="could not be recorded: "):
        again([user("one"), user("two")])
    assert again([user("three")]) == SAYS


def test_a_reply_that_is_too_deep_is_not_lost(file):
    found = reply("so deep")
    for _ in range(3000):
        found = {"content": [found]}
    model = recorded(lambda messages: found, file)
    assert model([user("go")]) is found and "could not be recorded" in model.note


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to try")
def test_a_reply_for_which_the_disk_has_no_room_is_kept_by_the_fault():
    with pytest.raises(NoRecording, match="cannot be written: No space left") as caught:
        recorded(lambda messages: SAYS, "/dev/full")([user("go")])
    assert caught.value.reply == SAYS


def test_fields_of_several_kinds_are_replayed_as_they_were_recorded(file):
    asked = [user(tool_use("a", "put", it={1: "a", "b": 2, None: 3, 10: 4, 9: 5}))]
    recorded(scripted(SAYS), file)(asked)
    assert replay(file)(asked) == SAYS
    with pytest.raises(Diverged):
        replay(file)([user(tool_use("a", "put", it={1: "a", "b": 3}))])


def test_a_request_with_a_field_that_is_not_named_by_words_is_refused(file):
    asked = {"messages": [user("go")], 1: "a"}
    recorded(scripted(SAYS), file)([user("go")])
    for model in (recorded(scripted(SAYS), file), replay(file)):
        with pytest.raises(NoRecording, match="fields of a request are named by words, and not 1"):
            model(asked)


def test_two_halves_of_a_character_are_replayed_as_they_were_recorded(file):
    asked = [user("\ud83d" + "\ude00")]
    recorded(scripted(SAYS), file)(asked)
    assert replay(file)(asked) == SAYS


def test_what_is_no_failure_of_the_model_is_not_recorded(file):
    model = recorded(scripted(), file)
    with pytest.raises(OutOfReplies):
        model([user("go")])
    assert not file.exists()


def test_another_result_is_named_by_request_block_and_byte(file, two_calls):
    with pytest.raises(Diverged) as caught:
        played(replay(file), add=lambda x, y: 6)
    assert str(caught.value) == (
        "request 2 is not the recorded one: message 2, block 0 (tool_result of call_1) differs at "
        """byte 12; recorded is '{"content":"5","tool_use_id":"call_1...', """
        """sent is '{"content":"6","tool_use_id":"call_1...'. """
        "Send what was sent then, or record anew into another file."
    )


def test_another_system_prompt_is_named(file, two_calls):
    with pytest.raises(Diverged, match=r"request 1 .* system, block 0 \(text\) differs at byte 13"):
        played(replay(file), system="You sum.")


def test_a_message_too_many_and_one_too_few_are_named(file):
    model = recorded(scripted(SAYS), file)
    model([user("one"), user("two")])
    with pytest.raises(Diverged, match="message 1 is missing; recorded is"):
        replay(file)([user("one")])
    with pytest.raises(Diverged, match="message 2 is sent, and there was none"):
        replay(file)([user("one"), user("two"), user("three")])


def test_after_a_divergence_the_same_call_can_be_asked_again(file, two_calls):
    model = replay(file)
    with pytest.raises(Diverged):
        model(request(user("other")))
    assert played(model).label == "finished"


def test_the_end_of_the_recording_is_told(file, two_calls):
    model = replay(file)
    played(model)
    with pytest.raises(RecordingEnded, match=r"request 3 .* at its end \(calls in it: 2\)"):
        model(request(user("go on")))


def test_cache_marks_may_move_and_fields_may_stand_in_another_order(file):
    recorded(scripted(SAYS), file)([user("go")])
    block = {"cache_control": {"type": "ephemeral"}, "text": "go", "type": "text"}
    assert replay(file)([{"content": [block], "role": "user"}]) == SAYS


def test_what_a_request_became_later_is_not_written(file):
    """A request is recorded as it was sent, though the list and its blocks go on to change."""
    messages = [user("go")]

    def changes(sent):
        sent[0]["content"][0]["text"] = "changed"
        sent.append(user("more"))
        return SAYS

    recorded(changes, file)(messages)
    assert replay(file)([user("go")]) == SAYS


def test_an_edit_in_the_middle_of_the_array_is_recorded(file):
    model, messages = recorded(scripted(ASKS, SAYS), file), [user("go"), user("on")]
    model(messages)
    messages[0]["content"][0]["text"] = "stop"
    model(messages)
    again = replay(file)
    assert again([user("go"), user("on")]) == ASKS
    assert again([user("stop"), user("on")]) == SAYS


def test_a_field_that_goes_and_comes_back_is_recorded(file):
    asked = [request(user("go"), **fields) for fields in ({"a": 1, "b": 2}, {"b": 3}, {"a": 1})]
    model = recorded(lambda request: reply(str(request.get("a"))), file)
    live = [model(each) for each in asked]
    again = replay(file)
    assert [again(each) for each in asked] == live


# Keys


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-mine-0001")
    return "a-key-of-mine-0001"


def test_no_key_stands_in_the_file_whoever_said_it(file, key):
    words = f"the key is {key}, the old one was sk-ant-api03-abcdefgh_1234"

    def model(messages):
        if len(messages) == 1:
            return reply(words, tool_use("a", "note", it=[words]))
        raise ModelFailed(words)

    model = recorded(model, file)
    first = model([user(words)])
    assert first["content"][0]["text"] == words, "the caller's own reply is untouched"
    with pytest.raises(ModelFailed):
        model([user(words), said(first)])
    written = file.read_text("utf-8")
    assert key not in written and "sk-ant" not in written and written.count("***") == 12


def test_a_key_that_begins_with_another_is_masked_to_its_end(file, key, monkeypatch):
    monkeypatch.setenv("ANOTHER_TOKEN", f"{key}-and-more")
    recorded(scripted(SAYS), file)([user(f"use {key}-and-more")])
    assert "use ***" in file.read_text("utf-8") and "and-more" not in file.read_text("utf-8")


def test_a_request_with_a_key_in_it_is_replayed_and_a_divergence_does_not_tell_it(file, key):
    recorded(scripted(SAYS), file)([user(f"use {key} here")])
    assert replay(file)([user(f"use {key} here")]) == SAYS
    with pytest.raises(Diverged) as caught:
        replay(file)([user(f"use {key} there")])
    assert key not in str(caught.value)


def test_headers_are_not_written(file):
    fields = {"extra_headers": {"x-api-key": "k"}, "api_key": "k"}
    model = recorded(lambda request: SAYS | {"headers": {"cookie": "k"}}, file)
    model(request(user("go"), **fields))
    assert {*json.loads(file.read_text("utf-8"))["request"]} == {"messages"}
    assert replay(file)(request(user("go"), **fields)) == SAYS


def test_a_word_that_a_local_server_takes_for_a_key_is_no_secret(file, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    recorded(scripted(SAYS), file)([user("there are none")])
    assert "there are none" in file.read_text("utf-8")


AWKWARD = 'a "quoted"\\back\nslash'
SHAPED = "sk-ant-api03-" + "A1b2C3d4" * 4
PLAIN = "a-plain-local-secret"


def kept(file, value, *replies):
    """What stands in the file after this was asked, and what a replay says to the same."""
    asked = value if "messages" in value else [user(tool_use("a", "note", it=value))]
    recorded(scripted(*(replies or [SAYS])), file)(asked)
    assert replay(file)(asked)["stop_reason"] == "end_turn"
    return file.read_text("utf-8")


def test_a_key_that_names_a_field_is_masked(file, key):
    assert key not in kept(file, {key: 1, "inner": [{f"the {key}": 2}]})


def test_a_key_that_names_a_field_of_the_request_is_masked_in_every_line(file, key):
    model = recorded(scripted(SAYS, SAYS), file)
    asked = request(user("go"), **{key: 1})
    model(asked)
    model(asked)
    again = replay(file)
    assert [again(asked), again(asked)] == [SAYS, SAYS]
    assert key not in file.read_text("utf-8")


def test_a_divergence_does_not_tell_a_key_that_names_a_field_or_a_call(file, key):
    recorded(scripted(SAYS), file)([user("go")])
    for block in ({"type": "text", key: 1}, tool_result(key, "5")):
        with pytest.raises(Diverged) as caught:
            replay(file)([user("go", block)])
        assert key not in str(caught.value) and "***" in str(caught.value)


@pytest.mark.parametrize("quoted", [str, json.dumps, lambda it: json.dumps(json.dumps(it)), repr])
def test_a_key_is_known_in_the_quotes_of_json_as_well(file, monkeypatch, quoted):
    monkeypatch.setenv("DB_PASSWORD", AWKWARD)
    assert "back" not in kept(file, f"it is {quoted(AWKWARD)}")


def test_a_number_whose_digits_are_a_key_is_masked(file, monkeypatch):
    monkeypatch.setenv("BANK_PASSWORD", "1234567890")
    assert "1234567890" not in kept(file, {"pin": 1234567890, "others": [-1234567890]})


@pytest.mark.parametrize("before", ["\\n", "\x1b[31m", "TOKEN_", "%20", "x", '"', ""])
def test_what_looks_like_a_key_is_masked_whatever_stands_before_it(file, before):
    assert "api03" not in kept(file, f"it is {before}{SHAPED}")


@pytest.mark.parametrize("before", ["\\n", "\x1b[31m", "TOKEN_", "%20", "\\u001b", '"', ""])
def test_keys_of_others_are_masked_behind_escapes_as_well(file, before):
    for word in ("sk-" + "a1" * 12, "ghp_" + "a1" * 12, "hf_" + "a1" * 12, "AKIA" + "A1" * 8):
        assert word not in without_keys(f"it is {before}{word}")


@pytest.mark.parametrize(
    "words", ["risk-management-and-other-things", "laughs_and_more_laughs_of_all"]
)
def test_a_long_word_with_the_letters_of_a_key_in_it_stays(words):
    assert without_keys(words) == words


@pytest.mark.parametrize(
    "fields",
    [
        {"options": {"extra_headers": {"x-local": PLAIN}}},
        {"default_headers": {"x-local": PLAIN}},
        {"options": {"default_headers": {"x-local": [PLAIN]}}},
        {"extra_body": {"api_key": PLAIN}},
        {"client": {"headers": {"X-Api-Key": PLAIN, "Proxy-Authorization": [PLAIN]}}},
        {"mcp_servers": [{"type": "url", "authorization_token": PLAIN}]},
        {"x-api-key": PLAIN, "authorization": PLAIN},
        {"client": {"auth_token": PLAIN, "apiKey": PLAIN, "set-cookie": PLAIN}},
    ],
)
def test_what_is_named_as_a_key_is_masked_wherever_it_stands(file, fields):
    assert PLAIN not in kept(file, request(user("go"), **fields), SAYS | {"by": fields})


def test_a_schema_that_names_a_key_and_a_count_of_tokens_stay_as_they_are(file):
    schema = {"properties": {"api_key": {"type": "string"}}, "required": ["api_key"]}
    fields = {"tools": [{"name": "login", "input_schema": schema}], "max_tokens": 64}
    kept(file, request(user("go"), **fields))
    [call] = replay(file).calls
    assert call.new == request(user("go"), **fields)


# Torn and damaged files


def test_a_torn_last_line_is_left_out_and_said(file, two_calls):
    file.write_bytes(two_calls[:-20])
    model = replay(file)
    assert model.note.startswith("its last line was cut off after ") and model.note.endswith(": 1")
    assert model(request(user("what is 2 + 3?"), system="You add.")) == ASKS
    with pytest.raises(RecordingEnded, match=r"\(calls in it: 1\); its last line was cut off"):
        played(replay(file))


def test_a_recording_goes_on_behind_a_torn_line_and_nothing_is_glued_to_it(file, two_calls):
    file.write_bytes(two_calls[:-20])
    model = recorded(scripted(SAYS), file)
    assert "cut off" in model.note
    model([user("go")])
    first, second = file.read_bytes().splitlines()
    assert first == two_calls.splitlines()[0]
    assert json.loads(second)["reply"] == SAYS and replay(file).note == ""


@pytest.mark.parametrize("junk", [bytes(37), b"\xef\xbb\xbf", b"junk", b'{"a', b'{"version":1'])
def test_junk_behind_the_last_line_is_left_out_as_a_torn_line_is(file, two_calls, junk):
    file.write_bytes(two_calls + junk)
    assert f"cut off after {len(junk)} bytes" in replay(file).note
    assert played(replay(file)).label == "finished"
    recorded(scripted(SAYS), file)([user("go")])
    assert len(replay(file).calls) == 3 and file.read_bytes().startswith(two_calls + b'{"ver')


def test_a_last_line_that_lacks_its_end_alone_is_whole(file, two_calls):
    file.write_bytes(two_calls[:-1])
    assert replay(file).note == "" and played(replay(file)).label == "finished"
    recorded(scripted(SAYS), file)([user("go")])
    assert file.read_bytes().startswith(two_calls) and len(replay(file).calls) == 3


def test_a_recording_goes_on_where_another_process_stopped(file, two_calls):
    whole = [json.loads(line) for line in two_calls.splitlines()]
    messages = whole[0]["request"]["messages"] + whole[1]["request"]["messages"]
    recorded(lambda request: SAYS, file)(request(*messages, user("and 3?"), system="You add."))
    assert json.loads(file.read_bytes().splitlines()[2])["kept"] == 3


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_torn_at_any_byte_it_loses_the_last_call_at_most(data):
    calls = data.draw(st.integers(1, 4))
    asked = [*requests(calls)]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        model = recorded(lambda request: reply(f"é{len(request['messages'])}"), file)
        live = [model(each) for each in asked]
        content = file.read_bytes()
        sure = len(tape.FIRST) if calls == 1 else 0  # fewer bytes might be anybody's
        cut = data.draw(st.integers(content.rfind(b"\n", 0, -1) + 1 + sure, len(content)))
        file.write_bytes(content[:cut])
        kept = calls if cut >= len(content) - 1 else calls - 1
        again = replay(file)
        assert [again(each) for each in asked[:kept]] == live[:kept]
        on = recorded(lambda request: SAYS, file)
        on(asked[-1])
        whole = replay(file)
        assert [whole(each) for each in [*asked[:kept], asked[-1]]] == [*live[:kept], SAYS]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello\n", "is no recording: it begins with 'hello'"),
        (b"hello", "is no recording: it begins with 'hello'"),
        (b"\xff\xfe\x00", "is no recording"),
        (b"{", "is no recording"),
        (b'{"version":1', "is no recording"),
        (b"\n\nhello", "line 3 is damaged"),
        (b'{"version": 1, "my": "settings"', "is no recording"),
        (b'{"version":1,"my":"settings"', "is no recording"),
        (b'{"version":"2.0","with a comma too many":1,}', "is no recording"),
        (b'{"version":3,"lockfileVersion":2,\n "packages":{}', "is no recording"),
        (b'{"type":"user","message":{}}\n', "is no recording"),
        (b'{"version":"1.0.2","request":{"messages":[]},"reply":1}\n', "is no recording"),
        (b'{"version":2,"anything":true}\n', "version 2, and this course reads version 1"),
        (b'{"version":1,"request":{"messages":[]}}\n', "is no recording"),
        (b'{"version":1,"kept":3,"request":{"messages":[]},"reply":1}\n', "line 1 goes on from"),
        (b'{"version":1,"same":["a"],"request":{"messages":[]},"reply":1}\n', "a line taken out"),
        (b'{"version":1,"same":[[]],"request":{"messages":[]},"reply":1}\n', "is no recording"),
        (b"[" * 100_000, "is no recording"),
    ],
)
def test_a_file_that_is_no_recording_is_told_in_a_sentence_and_left_as_it_is(file, content, words):
    file.write_bytes(content)
    for use in (replay, lambda file: recorded(scripted(), file)):
        with pytest.raises(NoRecording) as caught:
            use(file)
        assert words in str(caught.value) and str(caught.value).startswith(str(file))
    assert file.read_bytes() == content


@pytest.mark.parametrize("damage", [b'{"version":1,"requ', b"\x00\x00", b"[1, 2]"])
def test_a_damaged_line_in_the_middle_is_named_and_the_file_left_as_it_is(file, two_calls, damage):
    first, second = two_calls.splitlines(keepends=True)
    file.write_bytes(first + damage + b"\n" + second)
    for use in (replay, lambda file: recorded(scripted(), file)):
        with pytest.raises(
            NoRecording, match=r"line 2 is damaged .*; the lines before it are whole"
        ):
            use(file)
    assert file.read_bytes() == first + damage + b"\n" + second


def test_a_line_taken_out_of_the_middle_is_noticed(file, two_calls):
    _, second = two_calls.splitlines(keepends=True)
    file.write_bytes(second)
    with pytest.raises(NoRecording, match="line 1 goes on from a request"):
        replay(file)


def test_a_missing_file_and_a_missing_folder_are_told(tmp_path):
    with pytest.raises(NoRecording, match=r"none\.jsonl cannot be read: No such file"):
        replay(tmp_path / "none.jsonl")
    with pytest.raises(NoRecording, match="there is no folder"):
        recorded(scripted(), tmp_path / "none" / "run.jsonl")
    with pytest.raises(NoRecording, match="cannot be written: Is a directory"):
        recorded(scripted(), tmp_path)


def test_an_empty_file_is_a_recording_without_calls(file):
    file.touch()
    with pytest.raises(RecordingEnded, match="calls in it: 0"):
        replay(file)([user("go")])


def test_lines_that_another_system_ended_its_own_way_are_read(file, two_calls):
    file.write_bytes(two_calls.replace(b"\n", b"\r\n") + b"\r\n")
    assert played(replay(file)).label == "finished"


def test_what_is_no_json_is_refused_before_the_model_is_asked(file):
    asked = []
    model = recorded(lambda messages: asked.append(messages) or SAYS, file)
    with pytest.raises(NoRecording, match="the request cannot be recorded, it is no JSON"):
        model([user("go"), {"role": "assistant", "content": [object()]}])
    with pytest.raises(NoRecording, match="a model is sent a request or a list of messages"):
        model("go")
    assert asked == [] and not file.exists()


def test_its_faults_are_never_told_to_a_model():
    for fault in (Diverged, RecordingEnded, NoRecording):
        assert issubclass(fault, SetupFault) and not issubclass(fault, Exception)


# Several at once


def test_two_recorders_of_one_file_write_lines_that_fit_each_other(file):
    one, other = (recorded(lambda request: SAYS, file) for _ in range(2))
    asked = [*requests(6)]
    asked[::3] = [request(user("other"), *each["messages"][1:]) for each in asked[::3]]
    for at, each in enumerate(asked):
        (one if at % 3 else other)(each)
    again = replay(file)
    assert [again(each) for each in asked] == [SAYS] * 6


def test_threads_share_a_recorder(file):
    together = threading.Barrier(4, timeout=10)

    def model(request):
        together.wait()
        return SAYS

    model = recorded(model, file)
    asked = [*requests(4)]
    threads = [threading.Thread(target=model, args=[each]) for each in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replay(file).calls) == 4
    lengths = []
    again = replay(file)
    for _ in asked:
        lengths.append(len(again.upcoming()["messages"]))
        assert again(again.upcoming()) == SAYS
    assert sorted(lengths) == [1, 3, 5, 7]


ROUNDS = 120


def talk(file, who, together):
    """A conversation of many rounds, recorded; every reply says what it was asked."""
    model = recorded(lambda messages: reply(messages[-1]["content"][0]["text"]), file)
    messages = []
    together.wait(timeout=60)
    for n in range(ROUNDS):
        messages = [*messages, user(f"{who}{n}")]
        model(messages)


def assert_both_talks_are_whole(file):
    said = {"a": [], "b": []}
    model = replay(file)
    for _ in range(2 * ROUNDS):
        asked = model.upcoming()["messages"]
        words = [message["content"][0]["text"] for message in asked]
        who = words[0][0]
        assert words == [f"{who}{n}" for n in range(len(words))]
        assert model(asked)["content"][0]["text"] == words[-1]
        said[who].append(len(words))
    assert said == {who: [*range(1, ROUNDS + 1)] for who in "ab"}


def test_two_processes_write_one_recording(file):
    fresh = multiprocessing.get_context("spawn")
    together = fresh.Barrier(2)
    writers = [fresh.Process(target=talk, args=(file, who, together)) for who in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert_both_talks_are_whole(file)


@pytest.mark.parametrize("fcntl", [tape.fcntl, None])
def test_two_recorders_in_two_threads_write_one_recording(file, fcntl, monkeypatch):
    """With a lock on the file, and on a system that has none."""
    monkeypatch.setattr(tape, "fcntl", fcntl)
    together = threading.Barrier(2)
    with ThreadPoolExecutor() as threads:
        for done in [threads.submit(talk, file, who, together) for who in "ab"]:
            done.result()
    assert_both_talks_are_whole(file)


# Growth


def size_of(file, rounds, view=lambda request: request):
    model = recorded(lambda request: SAYS, file)
    for each in requests(rounds):
        model(view(each))
    return file.stat().st_size


def marked(request):
    """A cache mark on the last message, as a view sets it: it moves on in every round."""
    *earlier, last = request["messages"]
    block = last["content"][0] | {"cache_control": {"type": "ephemeral"}}
    return request | {"messages": [*earlier, last | {"content": [block]}]}


@pytest.mark.parametrize("view", [lambda request: request, marked])
def test_the_file_grows_with_the_array_and_not_with_its_square(tmp_path, view):
    once, twice = (size_of(tmp_path / f"{n}.jsonl", n, view) for n in (100, 200))
    whole = len(json.dumps([*requests(200)][-1]))
    assert twice < 2.2 * once and twice < 2.5 * whole


def test_a_line_is_as_long_late_as_early(file):
    size_of(file, 400)
    lengths = [len(line) for line in file.read_bytes().splitlines()]
    assert max(lengths[-50:]) < 1.25 * max(lengths[50:100]) + 1000


BLOCKS = st.builds(tool_use, st.text(max_size=3), st.just("f"), x=st.integers()) | st.builds(
    lambda words: {"type": "text", "text": words}, st.text(max_size=6)
)
MESSAGES = st.lists(st.builds(lambda blocks: user(*blocks), st.lists(BLOCKS, max_size=2)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), MESSAGES, st.sampled_from(["", "a", "b"])), min_size=1)
)
def test_whatever_is_recorded_a_replay_gives_the_same_replies(steps):
    """Each request keeps some messages of the one before, and adds others."""
    messages, asked = [], []
    for kept, more, system in steps:
        messages = messages[:kept] + more
        asked.append(request(*messages, system=system))
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        script = [reply(f"number {n} \ud83d") for n in range(len(asked))]
        model = recorded(of_messages(scripted(*script)), file)
        live = [model(each) for each in asked]
        again = replay(file)
        assert [again(each) for each in asked] == live == script
