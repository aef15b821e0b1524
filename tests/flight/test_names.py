"""A flight is its name: whoever knows it can fly it again."""

from collections import Counter

import pytest

from harness_zero.flight.faults import FAULTS
from harness_zero.flight.names import DEAL, SMALL, WORLDS, NoSuchFlight, block, named
from harness_zero.flight.personas import PERSONAS


def test_there_are_a_dozen_personas_ten_worlds_in_blocks_and_some_by_name_alone():
    assert len(PERSONAS) >= 10 and len(SMALL) >= 8
    assert {*WORLDS} - {*SMALL} == {"moved-config", "keyed-mail", "login", "cart"}


@pytest.mark.parametrize("name", ["stubborn/login-bug/lost-after@3#4127", "hasty/build/calm#0"])
def test_a_name_says_everything_about_a_flight(name):
    assert str(named(name)) == name


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("stubborn", "a flight has a name such as"),
        ("stubborn/build/calm", "a flight has a name such as"),
        (None, "this is None"),
        ("stuborn/build/calm#1", "no persona 'stuborn'; there are diligent, .*mean stubborn?"),
        ("stubborn/moon/calm#1", "no world 'moon'; there are login-bug, "),
        ("stubborn/build/rain@1#1", "no fault 'rain'; there are calm, crash, "),
        ("stubborn/build/crash#1", "crash needs to know when: crash@2"),
        ("stubborn/build/calm@3#1", "calm has no @n"),
    ],
)
def test_a_wrong_name_is_answered_with_what_there_is(name, sentence):
    with pytest.raises(NoSuchFlight, match=sentence):
        named(name)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_block_holds_every_persona_in_every_world_half_of_them_calm(seed):
    flights = block(seed)
    assert len({(each.persona, each.world) for each in flights}) == len(PERSONAS) * len(SMALL)
    faults = {fault: 0 for fault in FAULTS} | Counter(each.fault for each in flights)
    assert abs(faults["calm"] - len(flights) / 2) <= 1
    assert {*faults} == {*FAULTS} and max(often := [*faults.values()][1:]) - min(often) <= 1


def test_after_a_whole_deal_no_cell_is_empty():
    dealt = {(f.persona, f.world, f.fault) for seed in range(DEAL) for f in block(seed)}
    assert len(dealt) == len(PERSONAS) * len(SMALL) * len(FAULTS)


@pytest.mark.parametrize("seed", [-1, True, "one", 1.5])
def test_a_block_that_is_no_number_is_told_so(seed):
    with pytest.raises(NoSuchFlight, match="blocks are numbered 0, 1, 2"):
        block(seed)


def test_a_fault_changes_nothing_before_it_comes():
    assert named("hasty/build/crash@2#5").luck == named("hasty/build/calm#5").luck
