"""What a patch is worth: never one number, every change by name, and a null result shown as one."""

import re

import pytest

from harness_zero.flight.fly import fly
from harness_zero.flight.survival import NotComparable, compare
from harness_zero.flight.table import MIX
from harness_zero.notebook import survival
from harness_zero.notebook.survival import NoSuchFigure


@pytest.fixture(scope="module")
def flown():
    return {harness: fly(harness, range(2)) for harness in (1, 2, 3, 4, 5)}


def test_rescued_and_lost_flights_are_those_that_changed(flown):
    both = compare(flown[4], flown[5])
    for name in both.goals.rescued[:2]:
        assert fly(5, name)[0].reached and not fly(4, name)[0].reached
    for name in both.goals.lost[:2]:
        assert fly(4, name)[0].reached and not fly(5, name)[0].reached
    assert both.goals.lost and both.goals.rescued


def test_every_flight_is_counted_once_on_each_side(flown):
    both = compare(flown[3], flown[4])
    assert [sum(column) for column in list(zip(*both.kinds, strict=True))[1:]] == [260, 260]


def test_true_errors_rescue_goals_and_lose_none(flown):
    said = repr(survival(flown[2], flown[3]))
    assert re.search(r"^goals: \d\d rescued, none lost$", said, re.MULTILINE)


def test_what_the_brakes_save_and_lose_is_shown_side_by_side(flown):
    said = repr(survival(flown[1], flown[2], show="money"))
    assert re.search(r"^mean +0\.\d+ +0\.\d+ +-0\.\d+$", said, re.MULTILINE)
    assert "0 dearer" in said and re.search(r"^goals: \d rescued, \d+ lost", said, re.MULTILINE)


def test_a_null_result_is_shown_as_one(flown):
    nothing = survival(flown[3], flown[3])
    assert "goals: none rescued, none lost" in repr(nothing)
    said = repr(survival(flown[4], flown[5]))
    assert re.search(r"safe ends: \d+ rescued, \d+ lost; no more than chance would do", said)


def test_a_stage_that_looks_worse_is_shown_to_do_so(flown):
    names = [f"diligent/one-mail/lost-after@2#{seed}" for seed in range(12)]
    from harness_zero.flight.controls import swallowing

    both = compare(fly(swallowing, names), fly(3, names))
    assert both.goals.lost and not both.goals.rescued
    assert ("effect doubled", 0, len(both.goals.lost)) in both.kinds


@pytest.mark.parametrize("show", ["outcomes", "money"])
def test_shares_are_said_to_be_those_of_our_mix(flown, show):
    figure = survival(flown[2], flown[3], show=show)
    assert MIX in repr(figure) and MIX in figure.page
    assert "50 rounds, $2, 1800 s" in repr(figure)


def test_the_picture_says_the_same_as_the_table_and_nothing_by_colour_alone(flown):
    page = survival(flown[2], flown[3]).page
    bars = re.findall(r"<title>([A-Z]), ([^:]+): (\d+) of 260</title>", page)
    rows = re.findall(r"<tr><td>([A-Z])</td><td>([^<]+)</td><td>(\d+)</td><td>(\d+)</td>", page)
    drawn = [(letter, kind, count) for letter, kind, *counts in rows for count in counts]
    assert sorted(bars) == sorted(each for each in drawn if each[2] != "0")
    assert 'role="img" aria-label="goals: ' in page


def test_a_rescued_flight_is_one_click_from_being_stepped(flown):
    figure = survival(flown[2], flown[3])
    first = compare(flown[2], flown[3]).goals.rescued[0]
    assert f'step(flight("{first}", 3))' in repr(figure)
    assert f"{first} with stage 2: crashed" in figure.page
    assert figure.page.count('<th scope="col"') > 6 and len(figure.page) < 100_000


def test_a_function_of_ones_own_is_named_as_one_would_type_it(flown):
    def my_loop(model, tools, prompt):
        from harness_zero.stages.s3_error_as_data import run

        return run(model, tools, prompt)

    assert 'step(flight("' in (said := repr(survival(flown[1], my_loop)))
    assert '", my_loop))' in said and "stage 1 -> my_loop" in said


def test_the_figure_needs_no_script_and_nothing_from_elsewhere(flown):
    page = survival(flown[4], flown[5])._repr_html_()
    assert "<script" not in page and "http" not in page and "currentColor" in page


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (fly(1, 0), fly(1, 1), "the same flights on both sides"),
        (fly(2, 0), fly(2, 0, max_rounds=9), "the same limits on both sides"),
    ],
)
def test_what_cannot_be_compared_is_told_so(before, after, sentence):
    with pytest.raises(NotComparable, match=sentence):
        survival(before, after)


def test_an_unknown_figure_is_answered_with_those_there_are(flown):
    with pytest.raises(NoSuchFigure, match="outcomes, money of two harnesses, or frontier"):
        survival(flown[1], flown[2], show="weather")
    with pytest.raises(NoSuchFigure, match="this is 'money' of 3"):
        survival(flown[1], flown[2], flown[3], show="money")


def test_flights_print_as_a_table_and_one_flight_as_a_line(flown):
    assert repr(flown[4]).startswith("                             stage 4\nflights ")
    assert repr(fly(4, "diligent/shelves/calm#0")) == (
        "diligent/shelves/calm#0: reached, label finished, 4 rounds, $0.0025"
    )


def test_every_flight_that_changed_is_named_on_the_page(flown):
    both, page = compare(flown[4], flown[5]), survival(flown[4], flown[5]).page
    for change in (both.goals, both.safe):
        assert all(name in page for name in [*change.rescued, *change.lost])
