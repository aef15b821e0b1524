"""Failures that were reported of real agent loops do not happen here, or wait for their part."""

from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

import harness_zero
from harness_zero.flight.cases import (
    CASES,
    Case,
    Told,
    fly_case,
    only_appended,
    passed_by_one_call,
)
from harness_zero.flight.family import each_its_own, with_copies
from harness_zero.flight.fly import Flown
from harness_zero.flight.pilots import LIMITS, clock_on_top, limits_alone, pilot

READY = [case for case in CASES if case.ready]
WAITING = [case for case in CASES if not case.ready]


def test_there_are_twenty_four_cases_each_with_a_name_of_its_own():
    assert len({case.id for case in CASES}) == 24


@pytest.mark.parametrize("case", READY, ids=lambda case: f"{case.id}: {case.what}")
def test_a_case_ends_as_it_should(case):
    told = fly_case(case)
    assert told.flown[0].label == case.label
    assert case.holds(told), told.flown[0]


def test_what_a_case_waits_for_is_not_there_yet():
    """As soon as the part is there the case is READY, and has to end as it should."""
    for case in WAITING:
        print(f"{case.id} waits for harness_zero.{case.waits}: {case.what}")
        home = Path(harness_zero.__file__).parent / case.waits
        assert not home.exists() and not home.with_suffix(".py").exists()


def test_a_case_whose_part_is_there_is_flown():
    assert Case("X", "a part that is there", "hasty/build/calm#0", "x", waits="policy").ready
    assert not Case("X", "a part that is not", "hasty/build/calm#0", "x", waits="nowhere").ready


@pytest.mark.parametrize("case", [c for c in CASES if c.label == "stuck"], ids=lambda c: c.id)
def test_without_a_detector_a_case_of_repetition_does_not_end_like_that(case):
    told = fly_case(Case(case.id, case.what, case.flight, case.label, limits_alone))
    assert told.flown[0].label != "stuck"


def test_a_request_that_does_not_begin_with_the_one_before_is_noticed():
    assert only_appended(Told(None, [], [["go"], ["go", "ok", "go on"]]))
    assert not only_appended(Told(None, [], [["at 12:00 go"], ["at 12:01 go", "ok"]]))


def test_a_clock_at_the_top_breaks_the_prefix_in_every_round():
    case = next(case for case in CASES if case.id == "H1")
    told = fly_case(replace(case, harness=pilot(clock_on_top)))
    assert told.flown[0].label == case.label and not case.holds(told)
    shared = [
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*pair, strict=False)))
        for pair in pairwise(told.sent)
    ]
    assert len({*shared}) == 1  # the tools alone, however long the run has grown


def test_the_clock_below_was_told_in_every_round():
    told = fly_case(next(case for case in CASES if case.id == "H1"))
    rounds = len(told.sent)
    assert told.spoken == rounds and str(told.messages).count("<time>") == rounds > 5


@pytest.mark.parametrize(
    ("usd", "holds"), [([1.5, 0.75], True), ([1.5, 0.25], False), ([1.5, 0.75, 0.01], False)]
)
def test_a_cap_that_is_not_reached_or_passed_by_two_calls_is_noticed(usd, holds):
    flown = Flown("x", [], LIMITS, pilot(2))
    assert passed_by_one_call(Told(flown, [], [], usd)) is holds


@pytest.mark.parametrize("share", [with_copies, each_its_own], ids=lambda share: share.__name__)
def test_children_who_do_not_share_the_pool_spend_what_the_parent_lacks(share):
    case = next(case for case in CASES if case.id == "F1")
    told = fly_case(replace(case, harness=share))
    assert told.flown[0].label == "finished"
    assert told.counted + sum(told.usd) > 1.7 * LIMITS["cap_usd"]
