"""Slow, stalled and stuck: three things that look alike from far away, told apart by the clock."""

import pytest

from harness_zero.flight.faults import Clock
from harness_zero.loop import turn
from harness_zero.messages import reply, tool_result, tool_use
from harness_zero.policy import deadline, first_of, structural_stop
from harness_zero.repetition import Patience, repetition
from harness_zero.run import Run
from harness_zero.view import plain
from harness_zero.watchdog import Pace, pace


def played(tools_take, rounds=20, policy=structural_stop, came="1 failed"):
    """A run of equal calls, and its pace as seen a second before each call came back."""
    clock, seen = Clock(), []
    run = Run("go", clock)
    asks = [reply(tool_use(f"call_{n}", "run_tests")) for n in range(rounds)]
    replies = iter([*asks, reply("done")])

    def tool(call):
        clock.sleep(tools_take - 1)
        seen.append(pace(run))
        clock.sleep(1)
        return tool_result(call["id"], came.replace("{n}", call["id"]))

    turn(run, policy, plain(), lambda request: next(replies), tool)
    return run, seen


def test_a_step_that_takes_long_is_slow_and_then_stalled_and_no_reason_to_stop():
    policy = first_of(structural_stop, repetition())
    for seconds, said in ((5, Pace.MOVING), (90, Pace.SLOW), (3600, Pace.STALLED)):
        run, seen = played(seconds, policy=policy, came="{n} failed")
        assert run.label == "finished" and {*seen} == {said}


def test_a_deadline_stops_what_is_only_slow():
    run, _ = played(90, policy=first_of(structural_stop, deadline(600)), came="{n} failed")
    assert run.label == "deadline"


@pytest.mark.parametrize("seconds", [1, 90, 3600])
def test_a_run_is_stuck_by_what_comes_back_however_quick_or_slow(seconds):
    _, seen = played(seconds)
    assert Pace.STUCK not in seen[:9] and {*seen[9:]} == {Pace.STUCK}
    run, _ = played(seconds, policy=first_of(structural_stop, repetition()))
    assert (run.label, run.rounds) == ("stuck", 9) and pace(run) is Pace.STUCK


def test_whatever_comes_back_sets_the_clock_back():
    clock = Clock()
    run = Run("go", clock)
    clock.sleep(70)
    assert pace(run) is Pace.SLOW
    run.hear(reply(tool_use("a", "look"), tool_use("b", "look")))
    assert pace(run) is Pace.MOVING
    run.begin()
    clock.sleep(600)
    assert pace(run) is Pace.STALLED
    run.answer(tool_result("a", "no"))
    assert pace(run) is Pace.MOVING


def test_a_declared_poller_is_not_stuck_while_its_patience_lasts():
    run, _ = played(1, rounds=9)
    run.label = None
    run.messages = run.messages[:19]
    assert pace(run) is Pace.STUCK
    assert pace(run, patience=Patience(pollers=("run_tests",))) is Pace.MOVING


def test_when_the_turn_has_ended_time_means_nothing():
    run, _ = played(1, rounds=2)
    run.clock.sleep(10_000)
    assert pace(run) is Pace.OVER
