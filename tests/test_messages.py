import pytest

from harness_zero.messages import (
    array_fault,
    merge,
    not_executed,
    outcome_unknown,
    pairing_fault,
    reply,
    request_fault,
    said,
    text,
    tool_result,
    tool_use,
    user,
    with_words,
    words,
)

ASKING = said(reply(tool_use("a", "note"), tool_use("b", "note")))
A, B = tool_result("a", "1"), tool_result("b", "2")


def test_a_reply_ends_in_order_to_call_tools_if_it_has_calls():
    assert reply(tool_use("a", "note"))["stop_reason"] == "tool_use"
    assert reply("done")["stop_reason"] == "end_turn"
    assert reply("cut", stop_reason="max_tokens")["stop_reason"] == "max_tokens"


def test_what_is_said_keeps_the_content_and_leaves_the_bookkeeping():
    assert said(reply("hello")) == {"role": "assistant", "content": [text("hello")]}


def test_a_result_is_marked_only_when_it_is_an_error():
    assert "is_error" not in tool_result("a", "fine")
    assert tool_result("a", "no such file", is_error=True)["is_error"] is True


def test_words_are_the_text_without_calls_and_results():
    assert words(reply("one", tool_use("a", "note"), "two")) == "one\ntwo"
    assert words({"role": "user", "content": "bare"}) == "bare"


def test_a_whole_pair_has_no_fault():
    assert pairing_fault(ASKING, user(A, B)) is None
    assert pairing_fault(ASKING, user(A, B, "and hurry")) is None
    assert pairing_fault(said(reply("hello")), None) is None


@pytest.mark.parametrize(
    ("answering", "fault"),
    [
        (None, "a, b asked for and not answered in the next message"),
        (user("thanks"), "a, b asked for and not answered in the next message"),
        (user(A), "b asked for and not answered in the next message"),
        (user(A, B, tool_result("z", "")), "z answered but not asked for in the message before"),
        (user(A, B, A), "a, b answered more than once"),
        (user(B, A), "answered in the order b, a, asked in the order a, b"),
        (user("here", A, B), "text stands before the results; results come first"),
    ],
)
def test_a_broken_pair_is_told_by_the_ids_at_fault(answering, fault):
    assert pairing_fault(ASKING, answering) == fault


def test_an_array_that_could_be_sent_has_no_fault():
    assert array_fault([user("go")]) is None
    assert array_fault([user("go"), ASKING, user(A, B)]) is None
    assert array_fault([{"role": "user", "content": "go"}, said(reply("hi")), user("on")]) is None


def test_results_split_over_messages_are_one_message_to_the_api():
    assert array_fault([user("go"), ASKING, user(A), user(B)]) is None
    assert merge([user(A), user(B)]) == [user(A, B)]


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([], "the array is empty; it begins with a message of the user"),
        ([said(reply("hi"))], "message 0 has the role 'assistant'; an array begins with the user"),
        ([user()], "message 0 has no content"),
        ([user(" \n")], "message 0 holds a blank text block"),
        (["go"], "message 0 is no dict with the role user or assistant: 'go'"),
        ([{"content": "go"}], "message 0 is no dict with the role user or assistant"),
        ([user("go"), {"role": "tool", "content": "1"}], "message 1 is no dict with the role"),
        (
            [{"role": "user", "content": ["go"]}],
            "message 0 holds something that is no content block: 'go'",
        ),
        ([{"role": "user", "content": None}], "message 0 has no list of content blocks: None"),
        ("go", "an array is a list of messages, not 'go'"),
        ([user({"type": "text"})], "message 0 holds a text whose text is no text"),
        ([user({"type": "text", "text": None})], "message 0 holds a text whose text is no text"),
        ([user({"type": "tool_result"})], "message 0 holds a tool_result whose tool_use_id"),
        ([user(tool_result("a", 19))], "message 0 holds a result that is no text: 19"),
        ([user("go"), said(reply({"type": "tool_use", "id": 5}))], "message 1 holds a tool_use"),
        ([user("go"), ASKING, user(A, B), ASKING, user(A, B)], "the id a is used by two calls"),
        ([user("go"), ASKING, user(A)], "messages 1 and 2: b asked for and not answered"),
        ([user("go", A)], "message 0: a answered but not asked for"),
    ],
)
def test_a_broken_array_is_told_by_its_message(messages, fault):
    assert array_fault(messages).startswith(fault)


def test_an_array_that_ends_with_the_models_word_is_whole_but_cannot_be_sent():
    array = [user("go"), said(reply("hi"))]
    assert array_fault(array) is None
    assert request_fault(array) == "the array ends with the model's own message"
    assert array_fault([user("go"), ASKING]).startswith("message 1: a, b asked for")


def test_a_call_that_was_not_made_or_not_finished_says_so_and_is_an_error():
    call = tool_use("a", "note")
    assert not_executed(call, "cost_cap") == tool_result("a", "not executed: cost_cap", True)
    assert outcome_unknown(call)["is_error"] and "unknown" in outcome_unknown(call)["content"]


def test_words_of_the_harness_stand_at_the_end_of_a_result():
    assert with_words(A, "slow down")["content"] == "1\n\nslow down"
    assert with_words({**A, "content": [text("1")]}, "x")["content"] == [text("1"), text("x")]
    assert with_words({"type": "tool_result", "tool_use_id": "a"}, "x")["content"] == "x"


def test_blank_text_is_not_kept_since_the_api_takes_none_back():
    assert said(reply(" \n", "hello"))["content"] == [text("hello")]


def test_a_long_array_is_gone_through_in_one_pass():
    assert array_fault([user("x")] * 100_000) is None


def test_said_tells_what_it_takes():
    with pytest.raises(TypeError, match="takes a reply"):
        said("It is 5.")


@pytest.mark.parametrize("odd", [None, "go", [{"content": []}], [user("go"), reply("raw")]])
def test_what_is_no_array_cannot_be_sent_and_is_told_like_any_fault(odd):
    assert request_fault(odd) == array_fault(odd) is not None


def test_a_block_of_an_unknown_kind_is_kept_whatever_it_holds():
    odd = {"type": "hologram", "text": None}
    assert said(reply(odd, " "))["content"] == [odd]


def test_a_fault_among_neighbours_of_one_role_is_told_by_the_numbers_in_the_array():
    asking = {"role": "assistant", "content": [tool_use("a", "note")]}
    assert array_fault([user("x"), user("y"), asking, user("z")]).startswith("messages 2 and 3: a")
    assert array_fault([user("x"), asking, asking, user("z")]).startswith("messages 1-2 and 3: a")
    assert array_fault([user("x"), user("y"), asking]).startswith("message 2: a")
