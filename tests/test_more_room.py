"""More room: a reply that was cut off is asked for again, before the run hears of it."""

import pytest

from harness_zero.assembly import assemble
from harness_zero.desk import Desk
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, tool_use, user, words
from harness_zero.models.more_room import more_room
from harness_zero.policy import cost_cap, max_rounds, recover, structural_stop
from harness_zero.run import Run

CUT = reply(tool_use("a", "note", what="ha"), stop_reason="max_tokens", tokens=8, cost=0.5)
WHOLE = reply(tool_use("a", "note", what="half"), tokens=9, cost=0.5)
GO = {"system": "be brief", "messages": [user("go")]}


def asked(*script):
    """A model of requests, and what it was asked."""
    lines, requests = iter(script), []

    def model(request):
        requests.append(request)
        line = next(lines)
        if isinstance(line, Exception):
            raise line
        return line

    return model, requests


def test_a_whole_reply_is_handed_on_as_it_is():
    model, requests = asked(WHOLE)
    assert more_room(model, 100, 200)(GO) is WHOLE and requests == [GO]


def test_a_cut_reply_is_asked_for_again_by_the_same_request_with_more_room():
    model, requests = asked(CUT, CUT, WHOLE)
    assert more_room(model, 100, 200, 400)(GO)["content"] == WHOLE["content"]
    assert requests == [GO, {**GO, "max_tokens": 100}, {**GO, "max_tokens": 200}]
    assert "max_tokens" not in GO


def test_a_limit_that_is_no_larger_than_the_requests_own_is_passed_over():
    model, requests = asked(CUT, WHOLE)
    more_room(model, 50, 100, 200)({**GO, "max_tokens": 100})
    assert [request["max_tokens"] for request in requests] == [100, 200]


def test_what_is_cut_off_at_the_last_limit_too_is_handed_on():
    model, requests = asked(CUT, CUT, CUT)
    assert more_room(model, 100, 200)(GO)["stop_reason"] == "max_tokens" and len(requests) == 3


@pytest.mark.parametrize("reason", ["refusal", "model_context_window_exceeded", "end_turn", None])
def test_no_other_end_of_a_reply_is_asked_for_again(reason):
    model, requests = asked({**CUT, "stop_reason": reason})
    more_room(model, 100)(GO)
    assert len(requests) == 1


def test_all_attempts_are_paid_for():
    model, _ = asked({**CUT, "usage": {**CUT["usage"], "cache_read_input_tokens": 3}}, CUT, WHOLE)
    given = more_room(model, 100, 200)(GO)
    assert given["cost_usd"] == 1.5
    assert given["usage"] == {"input_tokens": 0, "output_tokens": 25, "cache_read_input_tokens": 3}


def test_one_attempt_without_a_price_leaves_the_reply_without_one():
    model, _ = asked({**CUT, "cost_usd": None}, WHOLE)
    assert more_room(model, 100)(GO)["cost_usd"] is None


def test_what_was_written_to_the_cache_is_added_up_by_how_long_it_lives():
    def usage(short, **more):
        parts = {"ephemeral_5m_input_tokens": short, **more}
        return {"cache_creation": parts, "cache_creation_input_tokens": sum(parts.values())}

    cut = {**CUT, "usage": usage(5)}
    model, _ = asked(cut, {**WHOLE, "usage": usage(2, ephemeral_1h_input_tokens=3)})
    assert more_room(model, 100)(GO)["usage"] == usage(7, ephemeral_1h_input_tokens=3)


def test_where_more_room_is_refused_the_cut_reply_stands():
    model, _ = asked(CUT, ModelFailed("the API answered 400: max_tokens: 9999999 > 128000"))
    assert more_room(model, 9_999_999)(GO) is CUT


def test_a_model_that_fails_at_once_fails_as_before():
    model, _ = asked(ModelFailed("529"))
    with pytest.raises(ModelFailed, match="529"):
        more_room(model, 100)(GO)


def turn(script, *limits, stop=structural_stop):
    desk, (model, requests) = Desk(), asked(*script)
    brakes = max_rounds(9), cost_cap(1.2)
    run = assemble(more_room(model, *limits), desk.tools, stop, brakes)(Run("go"))
    return run, desk, requests


def test_the_run_holds_the_whole_reply_alone_and_the_call_is_made_once():
    run, desk, _ = turn([CUT, WHOLE, reply("done")], 100)
    assert (run.label, run.rounds, desk.done) == (Label.FINISHED, 2, ["half"])
    assert "'ha'" not in str(run.messages)


def test_the_next_request_starts_from_the_usual_limit():
    _, _, requests = turn([CUT, WHOLE, reply("done")], 100)
    assert [request.get("max_tokens") for request in requests] == [None, 100, None]


def test_a_cap_sees_the_attempts_once_they_are_over():
    run, desk, requests = turn([CUT, CUT, WHOLE], 100, 200)
    assert (run.label, run.cost_usd, desk.done) == (Label.COST_CAP, 1.5, [])
    assert len(requests) == 3


def test_what_no_room_helps_is_left_to_the_recovery_in_smaller_pieces():
    run, desk, requests = turn([CUT, CUT, reply("done")], 100, stop=recover(structural_stop))
    assert (run.label, desk.done, len(requests)) == (Label.FINISHED, [], 3)
    assert words(run.messages[-1]) == "done" and "not executed" in str(run.messages[2])
