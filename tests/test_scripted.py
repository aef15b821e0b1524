import pytest

from harness_zero.messages import reply, tool_use, user
from harness_zero.models.scripted import OutOfReplies, scripted

ASKS = reply(tool_use("a", "note"))


def exhausted(*script, lengths):
    """What a script says when it is asked with arrays of these lengths."""
    model = scripted(*script)
    with pytest.raises(OutOfReplies) as caught:
        for length in lengths:
            model([user("go")] * length)
    return str(caught.value)


def test_it_gives_its_replies_in_order_whatever_it_is_sent():
    model = scripted(ASKS, reply("done"))
    assert model([user("go")]) == ASKS and model([])["content"] == reply("done")["content"]


def test_a_loop_that_does_not_append_is_told_so():
    assert "was the reply appended?" in exhausted(ASKS, lengths=[1, 1])


def test_a_loop_that_asks_after_the_answer_is_told_so():
    assert "should have ended there" in exhausted(ASKS, reply("done"), lengths=[1, 3, 5])


def test_a_loop_whose_model_never_stops_asking_is_told_so():
    said = exhausted(ASKS, lengths=[1, 3])
    assert said.startswith("asked for reply 2, the script has 1: ") and "for ever" in said


def test_no_except_exception_swallows_it():
    model = scripted()
    with pytest.raises(OutOfReplies):
        try:
            model([user("go")])
        except Exception:
            pytest.fail("a harness that turns errors into data turned this one into data")
