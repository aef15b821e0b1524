"""A persona knows what stands in the array, and reads each message once."""

import pytest

from harness_zero.desk import asking
from harness_zero.flight.seen import Reader, read
from harness_zero.messages import reply, said, tool_result, tool_use, user, with_words
from harness_zero.view import marked

CALL = said(asking("a"))


def grown(*rounds):
    """An array with one call a round, answered by these results."""
    messages = [user("go")]
    for at, result in enumerate(rounds):
        messages += [said(asking(f"c{at}")), user({**result, "tool_use_id": f"c{at}"})]
    return messages


def test_calls_and_their_results_are_found_by_id():
    first, second = tool_use("x", "read_file", path="a"), tool_use("y", "write_file", path="b")
    answers = user(tool_result("x", "hello"), tool_result("y", "no", is_error=True))
    seen = read([user("go"), {"role": "assistant", "content": [first, second]}, answers])
    assert [(c.name, c.text, c.error) for c in seen.calls] == [
        ("read_file", "hello", False),
        ("write_file", "no", True),
    ]
    assert seen.looks["a"].text == "hello" and seen.wrote == {} and seen.failed == 1


def test_failures_of_the_same_call_in_a_row_are_counted():
    failed = {"type": "tool_result", "content": "no", "is_error": True}
    messages = grown(failed, failed, failed)
    for message in messages[1::2]:
        message["content"][0]["input"] = {"what": "the same"}
    assert [call.tries for call in read(messages).calls] == [1, 2, 3]


def test_what_is_new_is_read_and_the_rest_is_not_read_again():
    reader, messages = Reader(), grown(*[tool_result("", "ok")] * 5)
    took = []
    take = reader.take
    reader.take = lambda message: took.append(message) or take(message)
    for end in range(1, len(messages) + 1, 2):
        assert reader.read(messages[:end]) is None
    assert took == messages and len(reader.seen.calls) == 5


def test_marks_that_move_do_not_have_it_read_again():
    reader, messages = Reader(), grown(*[tool_result("", "ok")] * 5)
    took = []
    take = reader.take
    reader.take = lambda message: took.append(message) or take(message)
    for end in range(1, len(messages) + 1, 2):
        assert reader.read(marked({"messages": messages[:end]})["messages"]) is None
    assert len(took) == len(messages) and len(reader.seen.calls) == 5


def test_an_array_that_was_changed_is_read_anew():
    reader = Reader()
    reader.read(grown(tool_result("", "ok"), tool_result("", "ok")))
    assert reader.read(grown(tool_result("", "no"), tool_result("", "ok"))) is None
    assert [call.text for call in reader.seen.calls] == ["no", "ok"]
    assert reader.read([user("a summary")]) is None and reader.seen.calls == []


def test_words_of_the_harness_are_noticed_and_not_read():
    reader = Reader(output=lambda call: "ok")
    messages = [user("go"), CALL, user(with_words(tool_result("a", "ok"), "You repeat yourself."))]
    reader.read(messages)
    assert reader.seen.told and reader.seen.ever_told == 1 and reader.seen.calls[0].text == "ok"
    reader.read([*messages, said(asking("b")), user(tool_result("b", "ok"))])
    assert not reader.seen.told and reader.seen.ever_told == 1
    again = [*messages, said(asking("b")), user(tool_result("b", "ok")), user("Go on.")]
    reader.read(again)
    assert reader.seen.told and reader.seen.ever_told == 2


def test_of_an_error_a_persona_reads_what_the_tool_said_and_hears_that_more_was_said():
    reader = Reader(output=lambda call: "no such key")
    wrapped = "PermissionError: no such key"
    error = tool_result("a", f"{wrapped}\n\nTry something else.", is_error=True)
    reader.read([user("go"), CALL, user(error)])
    assert reader.seen.calls[0].text == "no such key" and reader.seen.told
    reader.read([user("go"), CALL, user(tool_result("a", wrapped, is_error=True))])
    assert reader.seen.calls[0].text == "no such key" and not reader.seen.told


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ([said(reply("hello"))], "ends with the model's own message"),
        ([CALL, user("go on")], "a asked for and not answered"),
        ([CALL, user(tool_result("b", "ok"))], "a asked for and not answered"),
        ([CALL, user(tool_result("a", "ok")), CALL, user(tool_result("a", "ok"))], "used by two"),
        ([{"role": "assistant", "content": []}, user("?")], "has no content"),
        (["hello"], "is no dict"),
        ([{"role": "user", "content": [7]}], "no content block"),
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_what_the_api_refuses_is_refused_however_much_was_settled_before(before, more, fault):
    reader, settled = Reader(), grown(*[tool_result("", "ok")] * before)
    assert reader.read(settled) is None
    assert fault in reader.read([*settled, *more])


def test_a_message_is_numbered_as_it_stands_in_the_array():
    reader, settled = Reader(), grown(*[tool_result("", "ok")] * 3)
    reader.read(settled)
    assert "messages 7 and 8: a asked" in reader.read([*settled, CALL, user("go on")])
