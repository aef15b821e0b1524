"""Policies: stops, brakes, and what softens a stop."""

import pytest

from harness_zero.assembly import assemble, of_messages
from harness_zero.desk import Desk, asking
from harness_zero.labels import End, Label, Say
from harness_zero.messages import reply, tool_use
from harness_zero.policy import (
    WrongOrder,
    cost_cap,
    deadline,
    first_of,
    max_rounds,
    nudge,
    recover,
    structural_stop,
)
from harness_zero.repetition import repetition as reading_results
from harness_zero.run import Run
from harness_zero.stages.s5_repetition_detector import repetition


def play(desk, stop=structural_stop, *brakes):
    return assemble(of_messages(desk.model), desk.tools, stop, brakes)(Run("go"))


def test_an_end_outweighs_words_whatever_their_order():
    speak, end = (lambda run: Say("go on")), (lambda run: End(Label.STUCK))
    assert first_of(speak, end)(Run("go")) == first_of(end, speak)(Run("go")) == End(Label.STUCK)


def test_all_that_speak_are_heard():
    policy = first_of(lambda run: Say("a"), lambda run: None, lambda run: Say("b"))
    assert policy(Run("go")) == Say("a\n\nb")


def test_an_answer_outweighs_the_brake_it_arrives_with():
    run = play(Desk(reply("42", cost=1.0)), structural_stop, max_rounds(1), cost_cap(1.0))
    assert run.label == "finished"


@pytest.mark.parametrize("brake", [max_rounds(1), cost_cap(1), deadline(1), repetition()])
def test_a_brake_before_a_stop_is_refused_with_the_reason(brake):
    with pytest.raises(WrongOrder, match="an answer in the last round would be lost"):
        first_of(brake, structural_stop)


@pytest.mark.parametrize("soften", [nudge, recover])
def test_a_brake_cannot_be_talked_out_of_holding(soften):
    with pytest.raises(WrongOrder, match="wrap the stop"):
        soften(max_rounds(3))


def test_a_detector_stands_behind_the_brakes_of_a_harness():
    same = [reply(tool_use(f"call_{n}", "add", a=1, b=2)) for n in range(20)]
    for limit, label in ((10, "stuck"), (9, "max_rounds")):
        desk = Desk(*same, reply("done"))
        parts = of_messages(desk.model), desk.tools, structural_stop, [max_rounds(limit)]
        harness = assemble(*parts, detectors=[reading_results()])
        assert harness(Run("go")).label == label


def test_a_limit_counts_what_the_model_says():
    for limit in range(1, 4):
        desk = Desk(*[asking(str(n)) for n in range(9)])
        run = play(desk, structural_stop, max_rounds(limit))
        assert (run.rounds, len(desk.done), run.label) == (limit, limit - 1, "max_rounds")


def test_a_cap_is_passed_by_one_call_at_most():
    run = play(Desk(*[asking(str(n), cost=0.4) for n in range(9)]), structural_stop, cost_cap(1.0))
    assert run.label == "cost_cap" and run.cost_usd == pytest.approx(1.2)


def test_a_cap_in_money_cannot_hold_without_a_price_and_says_so():
    run = play(Desk({**asking("a"), "cost_usd": None}), structural_stop, cost_cap(1.0))
    assert run.label == "cost_cap" and "price of the model is unknown" in run.why


def test_a_deadline_goes_by_the_clock_of_the_run():
    now = iter([0.0, 59.0, 60.0])
    run, stop = Run("go", clock=lambda: next(now)), deadline(60)
    assert stop(run) is None and stop(run) == End(Label.DEADLINE, "60 s passed")


def test_an_empty_reply_is_nudged_a_few_times_and_then_named():
    desk = Desk(asking("a"), reply(), reply(), reply("done"))
    assert play(desk, nudge(structural_stop)).label == "finished"
    assert [m["role"] for m in desk.sent[-1]] == ["user", "assistant", "user", "user", "user"]
    run = play(Desk(*[reply()] * 5), nudge(structural_stop))
    assert (run.label, run.rounds) == ("empty_reply", 3)


def test_a_cut_call_never_runs_and_is_asked_for_in_pieces_a_few_times():
    desk = Desk(*[asking(str(n), stop_reason="max_tokens") for n in range(5)])
    run = play(desk, recover(structural_stop))
    assert (run.label, run.rounds, desk.done) == ("truncated", 3, [])
    assert "Use smaller pieces" in str(desk.sent[-1][-1])


def test_a_call_that_is_made_starts_the_count_anew():
    cut = asking("x", stop_reason="max_tokens")
    lines = [{**cut, "content": asking(f"x{n}")["content"]} for n in range(4)]
    desk = Desk(lines[0], lines[1], asking("a"), lines[2], lines[3], reply("done"))
    assert play(desk, recover(structural_stop)).label == "finished"


def test_a_nudge_and_a_recovery_wrap_the_same_stop():
    desk = Desk(reply(), reply("4", stop_reason="max_tokens"), reply("42"))
    assert play(desk, recover(nudge(structural_stop))).label == "finished"


def test_softening_one_end_leaves_the_others_as_they_are():
    desk = Desk(reply("no", stop_reason="refusal"))
    assert play(desk, recover(nudge(structural_stop))).label == "refused"


def test_a_run_tells_what_its_brakes_hold_to():
    run = play(Desk(reply("42")), structural_stop, max_rounds(3), cost_cap(1.5), deadline(60))
    assert run.limits == {"rounds": 3, "usd": 1.5, "seconds": 60}


def test_a_run_tells_what_was_said_to_the_model_and_when():
    run = play(Desk(reply(), reply("done")), nudge(structural_stop))
    assert run.spoken == [(1, "Please continue.")]
