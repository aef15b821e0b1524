"""What a failing tool is made of, and how much of a failure is told: flown over the same names."""

import pytest

from harness_zero.flight.cockpit import Cockpit
from harness_zero.flight.fly import flight, fly
from harness_zero.flight.names import Flight, named
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.pilots import patient
from harness_zero.flight.treatments import answering, bare, guessed, smarter, swallowed
from harness_zero.messages import tool_results
from harness_zero.stages import s2_brakes, s3_error_as_data

MOVED = [f"{persona}/moved-config/calm#{seed}" for persona in PERSONAS for seed in range(4)]
TREATMENTS = {
    "crash": 2,
    "swallow": answering(swallowed),
    "silent fix": answering(guessed),
    "true error": 3,
}
LOOPS = {"bare": bare(3), "plain": 3, "bare smart": bare(smarter), "smart": smarter}


@pytest.fixture(scope="module")
def treated():
    return {name: fly(harness, MOVED).outcomes for name, harness in TREATMENTS.items()}


@pytest.fixture(scope="module")
def informed():
    return {name: fly(harness, range(2)).outcomes for name, harness in LOOPS.items()}


def goals(outcomes, without=None):
    return sum(o.reached for o in outcomes if named(o.flight).persona != without)


@pytest.mark.parametrize(("answer", "stage"), [(s2_brakes.answer, 2), (s3_error_as_data.answer, 3)])
def test_with_the_answer_of_a_stage_the_loop_is_that_stage(answer, stage):
    assert fly(answering(answer), 1).outcomes == fly(stage, 1).outcomes


@pytest.mark.parametrize("left_out", [None, *PERSONAS])
def test_of_four_treatments_the_true_error_reaches_most_goals(treated, left_out):
    reached = [goals(outcomes, left_out) for outcomes in treated.values()]
    assert reached == sorted(reached) and len({*reached}) == 4


def test_a_file_that_is_in_its_place_is_read_under_every_treatment():
    in_place = [name for name in MOVED if "settings.ini" in files_of(name)]
    flown = [fly(harness, in_place).outcomes for harness in TREATMENTS.values()]
    assert in_place and len({tuple(each) for each in map(tuple, flown)}) == 1


def test_a_guess_is_right_until_an_old_copy_is_nearer():
    moved = [name for name in MOVED if "settings.ini" not in files_of(name)]
    old = [name for name in moved if "settings.ini.bak" in files_of(name)]
    new = [name for name in moved if name not in old]
    assert goals(fly(answering(guessed), old)) == 0 < goals(fly(3, old))
    assert goals(fly(answering(guessed), new)) > 0.8 * goals(fly(3, new))


def files_of(name):
    return named(name).lay().tools["list_files"]().split("\n")


def test_the_model_never_hears_of_a_guess_or_of_what_was_swallowed():
    name = next(name for name in MOVED if "settings.ini.bak" in files_of(name))
    for harness in (answering(guessed), answering(swallowed)):
        told = results(name, harness)
        assert told and not any(result.get("is_error") for result in told)


def results(name, harness):
    return [result for m in flight(name, harness).messages for result in tool_results(m)]


def test_the_swallowed_error_sends_one_mail_where_the_true_one_sends_two():
    lost = [f"{persona}/one-mail/lost-after@2#{n}" for persona in PERSONAS for n in range(4)]
    before = [name.replace("lost-after", "lost-before") for name in lost]
    swallowing = answering(swallowed)
    assert count(fly(3, lost), "doubled") > 0 == count(fly(swallowing, lost), "doubled")
    assert goals(fly(3, lost)) < goals(fly(swallowing, lost))
    assert count(fly(swallowing, before), "lost") > 10 * count(fly(3, before), "lost")


def count(flown, effect):
    return sum(outcome.effects == effect for outcome in flown)


@pytest.mark.parametrize("left_out", [None, *PERSONAS])
def test_what_results_carry_is_worth_more_than_a_smarter_loop(informed, left_out):
    reached = {name: goals(outcomes, left_out) for name, outcomes in informed.items()}
    by_message = reached["plain"] - reached["bare"], reached["smart"] - reached["bare smart"]
    by_loop = reached["bare smart"] - reached["bare"], reached["smart"] - reached["plain"]
    assert min(by_message) > max(by_loop)


def test_a_smarter_loop_costs_more(informed):
    usd = {name: sum(o.usd for o in outcomes) for name, outcomes in informed.items()}
    assert usd["smart"] > 1.2 * usd["plain"] and usd["bare smart"] > 1.2 * usd["bare"]


def test_a_smarter_loop_sends_whole_arrays_and_leaves_them_broken_no_more_often_than_ours():
    smart, ours = fly(smarter, 0), fly(3, 0)
    assert not any(outcome.refused for outcome in smart)
    assert sum(bool(o.leftover) for o in smart) <= sum(bool(o.leftover) for o in ours)


def test_a_bare_result_says_that_it_failed_and_nothing_else():
    told = results("hasty/lost-config/calm#0", bare(3))
    assert [r["content"] for r in told if r.get("is_error")] == ["ToolError: failed"]
    assert "there is no" in str(results("hasty/lost-config/calm#0", 3))
    assert [r["content"] for r in results("hasty/login-bug/calm#1", bare(3))] == ["4 failed"]


@pytest.mark.parametrize("seed", range(12))
def test_a_calm_and_diligent_flight_finds_the_file_that_has_moved(seed):
    cockpit = Cockpit(Flight("diligent", "moved-config", "calm", 0, seed))
    patient(cockpit.model, cockpit.tools(), "go", cockpit.clock, cockpit.clock.sleep)
    assert cockpit.place.goal()
