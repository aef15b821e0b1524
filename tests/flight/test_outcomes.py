"""A flight is judged by what happened: the world, the array, the label, the money."""

import sys
from pathlib import Path

import pytest

import harness_zero
from harness_zero.flight import controls
from harness_zero.flight.cockpit import Cockpit, OutOfFuel
from harness_zero.flight.fly import flight, flown_out, fly
from harness_zero.flight.names import SMALL, named
from harness_zero.flight.outcome import KINDS
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.pilots import patient, pilot_of
from harness_zero.messages import said, tool_result, tool_uses, user
from harness_zero.stages.s1_structural_stop import run


def refuses_every_tool(model, tools, prompt):
    """Tells the model that every call failed, and makes none."""
    messages = [user(prompt)]
    while True:
        spoken = model(messages)
        messages.append(said(spoken))
        if not tool_uses(spoken):
            return messages, "finished"
        no = [tool_result(call["id"], "no", is_error=True) for call in tool_uses(spoken)]
        messages.append(user(*no))


OURS = str(Path(harness_zero.__file__).parent)
ENDINGS = [  # one flight for each way a run can end
    ("reached", 1, "diligent/login-bug/calm#1"),
    ("reached, stopped", "library", "rambling/login-bug/calm#0"),
    ("gave up", 3, "diligent/locked/calm#0"),
    ("stopped", 4, "refusing/murky-bug/calm#0"),
    ("stopped too early", 5, "diligent/login-bug/calm#1"),
    ("gave up too early", refuses_every_tool, "diligent/login-bug/calm#1"),
    ("model lied", 3, "hasty/build/calm#1"),
    ("ended in silence", 1, "refusing/one-mail/calm#0"),
    ("harness lied", 4, "silent/build/calm#0"),
    ("effect doubled", 3, "diligent/one-mail/lost-after@2#11"),
    ("crashed", 1, "diligent/login-bug/crash@1#1"),
    ("out of fuel", 1, "rambling/login-bug/calm#0"),
]


@pytest.mark.parametrize(("kind", "harness", "name"), ENDINGS)
def test_a_flight_ends_in_one_of_these_ways(kind, harness, name):
    assert fly(harness, name)[0].kind == kind


def test_every_way_to_end_has_its_flight_here():
    assert [kind for kind, _, _ in ENDINGS] == [*KINDS]


def test_the_first_promise_that_broke_is_told_with_its_round():
    refused = fly(controls.first_only, "diligent/shelves/calm#0")[0]
    assert refused.broke.startswith("round 1: the API refuses the request: messages 1 and 2: ")
    doubled = fly(3, "diligent/one-mail/lost-after@2#11")[0]
    assert doubled.broke == "round 3: send_mail was done twice" and doubled.effects == "doubled"
    assert fly("library", "diligent/shelves/calm#0")[0].broke == ""


def test_an_effect_that_was_said_to_be_done_and_never_was_is_lost():
    swallowed = fly(controls.swallowing, "diligent/one-mail/lost-before@2#11")[0]
    assert (swallowed.kind, swallowed.effects) == ("model lied", "lost")


def test_a_swallowed_error_sends_one_mail_where_a_true_one_sends_two():
    name = "diligent/one-mail/lost-after@2#11"
    assert fly(controls.swallowing, name)[0].kind == "reached"
    assert fly(3, name)[0].kind == "effect doubled"


def test_rounds_after_the_goal_and_without_one_are_wasted():
    rambling = fly("library", "rambling/login-bug/calm#0")[0]
    assert rambling.reached and rambling.rounds == 50 and 40 < rambling.wasted < 50
    assert fly("library", "diligent/shelves/calm#0")[0].wasted == 1  # in which it says so
    locked = fly("library", "diligent/locked/calm#0")[0]
    assert locked.wasted == locked.rounds


def test_each_round_is_paid_for_with_all_that_was_said_before():
    short, long = (fly(2, "diligent/many-pages/calm#0", max_rounds=n)[0] for n in (20, 40))
    assert 2.5 * short.usd < long.usd < 4 * short.usd


def test_a_cap_in_money_holds():
    spent = fly("library", "spending/many-pages/calm#0", cap_usd=0.1)[0]
    assert spent.label == "cost_cap" and 0.1 <= spent.usd < 0.12


def test_a_fault_that_never_came_is_told_from_one_that_did():
    assert fly(3, "diligent/login-bug/crash@1#1")[0].met
    assert not fly(3, "diligent/login-bug/crash@99#1")[0].met
    assert not fly(3, "diligent/login-bug/calm#1")[0].met


LONG = ["rambling/big-file", "stubborn/build", "rambling/murky-bug", "polling/many-pages"]


@pytest.mark.parametrize("name", [*LONG, "spending/many-pages", "diligent/many-files"])
def test_a_flight_costs_as_much_as_it_is_long(name):
    """Counted in lines run a round: as many late as early."""
    lines = max((lines_of(f"{name}/calm#{seed}") for seed in range(6)), key=len)
    third = len(lines) // 3
    early, late = sum(lines[3:third]) / (third - 3), sum(lines[-third:-3]) / (third - 3)
    assert len(lines) > 60 and late < 1.1 * early


def lines_of(name):
    """How many lines of ours each round of a flight runs."""
    cockpit, lines = Cockpit(named(name)), [0]

    def model(request):
        lines.append(0)
        return cockpit.model(request)

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        lines[-1] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        patient(model, cockpit.tools(), "go", cockpit.clock, cockpit.clock.sleep)
    except OutOfFuel:
        pass
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("world", SMALL)
def test_a_goal_that_is_reached_on_a_calm_flight_stays_reached(persona, world):
    for seed in range(3):
        cockpit = Cockpit(named(f"{persona}/{world}/calm#{seed}"))
        flown_out(cockpit, pilot_of("reference", patient), {})
        assert cockpit.goal_at is None or cockpit.place.goal()


def test_a_harness_may_look_around_before_it_asks_the_model():
    def primed(model, tools, prompt):
        return run(model, tools, f"{prompt} There are: {tools['list_files']()}")

    assert fly(primed, "diligent/login-bug/calm#1")[0].kind == "reached"


@pytest.mark.parametrize("label", ["success", "", 3, ["stuck"]])
def test_a_label_that_there_is_not_is_no_honest_stop(label):
    outcome = fly(lambda m, t, p: (run(m, t, p), label), "diligent/login-bug/calm#1")[0]
    assert outcome.kind == "crashed" and "no label but" in outcome.broke


def test_an_array_that_lost_the_run_is_no_safe_end():
    def forgets(model, tools, prompt):
        run(model, tools, prompt)
        return [user(prompt)]

    outcome = fly(forgets, "diligent/login-bug/calm#1")[0]
    assert not outcome.safe and "1 messages came back, and the model had been sent" in outcome.broke


def test_the_run_of_a_flight_without_a_return_says_so_in_the_stepper():
    def silent(model, tools, prompt):
        run(model, tools, prompt)

    assert "Is there a return?" in flight("diligent/login-bug/calm#1", silent).fault
