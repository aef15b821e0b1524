"""The frontier: goals kept against rounds wasted, and which points are not worth having."""

import re

import pytest

from harness_zero.flight.fly import fly
from harness_zero.flight.frontier import Frontier, NoFrontier, Point, frontier
from harness_zero.flight.pilots import library, limits_alone, window_of_five
from harness_zero.flight.table import MIX
from harness_zero.notebook import survival

LIMITS = (10, 50, 200)


@pytest.fixture(scope="module")
def drawn():
    return frontier([limits_alone, window_of_five, library], 0, LIMITS)


def at(drawn, harness, limit):
    (found,) = [
        each
        for curve in drawn.curves
        for each in curve
        if (each.harness, each.limit) == (harness, limit)
    ]
    return found


def test_a_point_is_what_became_of_those_flights_under_that_limit(drawn):
    flown = fly("library", 0, max_rounds=50)
    each = at(drawn, "library", 50)
    assert each.goals == sum(outcome.reached for outcome in flown)
    assert each.wasted == pytest.approx(sum(o.wasted for o in flown) / len(flown))


def test_goals_are_shares_of_those_that_somebody_here_reaches(drawn):
    flown = [fly(each, 0, max_rounds=n) for each in (limits_alone, library) for n in LIMITS]
    reached = {o.flight for each in flown for o in each if o.reached}
    assert drawn.within >= len(reached) and at(drawn, "library", 200).kept <= 100


def test_a_point_beats_another_that_keeps_no_more_and_wastes_no_less():
    one, other = Point("a", 10, 5, 50.0, 4.0, 0.1), Point("b", 10, 5, 50.0, 6.0, 0.1)
    assert one.beats(other) and not other.beats(one) and not one.beats(one)
    assert not Point("a", 10, 4, 40.0, 4.0, 0.1).beats(other)


def test_a_point_is_not_beaten_by_its_own_harness():
    few, many = Point("a", 10, 5, 50.0, 9.0, 0.1), Point("a", 50, 6, 60.0, 8.0, 0.1)
    other = Point("b", 10, 5, 50.0, 8.5, 0.1)
    drawn = Frontier(9, 6, [[few, many], [other]])
    assert (drawn.beaten_by(few), drawn.beaten_by(many), drawn.beaten_by(other)) == (
        other,
        None,
        many,
    )


def test_plain_limits_beat_the_window_of_five_and_not_the_detector_that_reads_results(drawn):
    plain = drawn.curves[0]
    assert any(each.beats(at(drawn, "window_of_five", 200)) for each in plain)
    assert not any(each.beats(mine) for each in plain for mine in drawn.curves[2])
    assert at(drawn, "library", 200).beats(at(drawn, "limits_alone", 50))


def test_the_figure_has_a_table_a_picture_and_what_it_has_to_say_of_itself():
    figure = survival(limits_alone, library, show="frontier", flights=[0], limits=(5, 10))
    said = repr(figure)
    assert re.search(r"^limits_alone +5 +\d+ +\d+ % +\d+\.\d +0\.\d{3}", said, re.MULTILINE)
    assert re.search(r"^library: (none|\d) of 2 points beaten by another's$", said, re.MULTILINE)
    assert MIX in said and MIX in figure.page
    assert figure.page.count("<title>") == 4 and 'role="img" aria-label="Goals kept' in figure.page
    assert len(re.findall(r"<tr><td>", figure.page)) == 4
    assert "<script" not in figure.page and "http" not in figure.page


def test_what_was_flown_already_is_flown_again_under_each_limit():
    flown = fly(limits_alone, "diligent/login-bug/calm#0")
    (curve, _) = frontier([flown, library], "diligent/login-bug/calm#0", (3, 50)).curves
    assert [each.goals for each in curve] == [0, 1]


def test_one_harness_makes_no_frontier():
    with pytest.raises(NoFrontier, match="two harnesses or more"):
        frontier([library])


def test_a_harness_with_a_hole_in_it_is_told_so():
    def my_loop(model, tools, prompt):
        raise NotImplementedError

    assert "not done yet" in repr(survival(limits_alone, my_loop, show="frontier", flights=[0]))
