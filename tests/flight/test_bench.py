"""The detector bench: its traces are what it says they are, and so is what it says of detectors."""

import re

import pytest

from harness_zero.flight.bench import NoDetector, bench, judged, played
from harness_zero.flight.fly import flight, fly
from harness_zero.flight.known import TRACES, recorded
from harness_zero.flight.miniatures import REAL, miniature
from harness_zero.flight.names import named
from harness_zero.flight.pilots import limits_alone
from harness_zero.flight.place import POLLERS
from harness_zero.labels import End, Label, Say
from harness_zero.notebook import detector_bench
from harness_zero.repetition import repetition
from harness_zero.stages.s5_repetition_detector import repetition as window_of_five

STUCK = [trace for trace in TRACES if not trace.healthy]
HEALTHY = [trace for trace in TRACES if trace.healthy]


@pytest.fixture(scope="module")
def rows():
    return {row.name: row for row in bench({})}


def test_there_are_at_least_24_traces_half_of_them_healthy_each_another_flight():
    assert len(HEALTHY) == len(STUCK) >= 12
    assert len({trace.flight for trace in TRACES}) == len(TRACES)


@pytest.mark.parametrize("trace", HEALTHY, ids=lambda trace: trace.what)
def test_a_healthy_trace_reaches_its_goal_and_ends_by_itself(trace):
    assert fly(limits_alone, trace.flight, max_rounds=trace.rounds)[0].kind == "reached"


@pytest.mark.parametrize("trace", STUCK, ids=lambda trace: trace.what)
def test_a_stuck_trace_does_not_end_by_itself_and_brings_nothing_new(trace):
    assert flight(trace.flight, limits_alone, max_rounds=trace.rounds).label == "max_rounds"
    came = [str(each["content"]) for each in recorded(trace).results.values()]
    said = [re.sub(r"[\d.]+s|key \d+", "#", each) for each in came if "not executed" not in each]
    assert {*said[len(said) // 2 :]} <= {*said[: len(said) // 2]}


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace.what)
def test_a_trace_is_replayed_word_for_word_to_its_end(trace):
    whole = flight(trace.flight, limits_alone, max_rounds=trace.rounds)
    arrays = []
    played(lambda run: arrays.append([*run.messages]), trace)
    assert arrays[-1] == whole.messages[: len(arrays[-1])]
    assert len(arrays[-1]) >= len(whole.messages) - 2


def test_ours_stops_every_stuck_trace_and_no_healthy_one(rows):
    ours = rows["repetition"].verdicts
    assert [v.trace.what for v in ours if v.mark in ("x", "!", "E")] == []
    assert all(v.advice and v.advice[0] < v.stop for v in ours if not v.trace.healthy)


def test_ours_speaks_to_a_healthy_run_at_most_once_and_only_where_it_looks_like_a_stuck_one(rows):
    spoken = [v for v in rows["repetition"].verdicts if v.trace.healthy and v.advice]
    assert all(len(v.advice) == 1 for v in spoken)
    assert {named(v.trace.flight).persona for v in spoken} == {"polling", "stuttering"}


def test_without_a_declared_poller_waiting_looks_like_being_stuck():
    silent = [trace for trace in HEALTHY if "only says: running" in trace.what]
    assert played(repetition(), silent[0]).mark == "!"
    assert played(repetition(pollers=POLLERS), silent[0]).mark == "?"


@pytest.mark.parametrize("times", [2, 3, 4, 5])
def test_no_threshold_of_a_window_of_five_separates_the_fix_from_wednesday(times):
    def mark(what):
        (trace,) = [each for each in TRACES if each.what.startswith(what)]
        return played(window_of_five(times=times), trace).mark

    fix, wednesday = mark("test and edit, one failure less"), mark("Wednesday: test")
    assert (fix, wednesday) == (("!", "") if times <= 3 else ("", "x"))


def says(word, at):
    return lambda run: word if run.last_word is None and run.rounds == at else None


def test_marks_and_delays_are_counted_from_the_rounds():
    stuck, healthy = STUCK[1], HEALTHY[0]  # one that goes in a circle from round 3 on
    verdict = played(says(End(Label.STUCK), 7), stuck)
    assert (str(verdict), verdict.delay) == ("/7", 5)
    assert str(played(says(Say("hm"), 7), stuck)) == "x7"
    assert str(played(says(Say("hm"), 3), healthy)) == "?3"
    assert str(played(says(End(Label.STUCK), 3), healthy)) == "!/3"
    assert (
        str(played(lambda run: None, healthy)) == "."
        and str(played(lambda run: None, stuck)) == "x"
    )


def test_a_detector_that_raises_is_shown_with_what_it_raised():
    def broken(run):
        return 1 / 0 if run.rounds > 2 else None

    figure = detector_bench(broken=broken)
    assert "E: broken: ZeroDivisionError" in repr(figure)


def test_one_that_keeps_a_state_is_made_anew_for_each_trace():
    def counting():
        asked = []

        def policy(run):
            asked.append(run)
            return End(Label.STUCK) if len(asked) == 5 else None

        return policy

    assert {v.stop for v in judged(counting, STUCK)} == {2}


def test_what_is_no_detector_is_told_so():
    with pytest.raises(NoDetector, match="a policy, a function of a run; this is 5"):
        detector_bench(mine=5)


# The miniatures, against the thresholds that the fact sheet gives for them


def first_words(name, trace):
    (real,) = [real for real in REAL if real.name == name]
    return str(played(miniature(real.rule), trace)).lstrip("x!?")


@pytest.mark.parametrize(
    ("name", "over_and_over", "by_turns"),
    [
        ("gemini-cli", "5/6", "10/11"),
        ("OpenHands SDK", "/4", "/6"),
        ("Hermes", "3/5", "6/10"),
        ("OpenClaw", "10/20", "10/20"),
        ("cline SDK", "3/5", ""),
        ("IronClaw", "3", ""),
        ("CrewAI", "2", ""),
        ("opencode", "", ""),
        ("Goose", "", ""),
    ],
)
def test_a_miniature_speaks_and_stops_at_the_documented_counts(name, over_and_over, by_turns):
    assert first_words(name, STUCK[0]) == over_and_over
    assert first_words(name, STUCK[6]) == by_turns


def test_the_richest_of_them_reads_failures_and_reads_and_starts_anew_after_an_edit():
    def said(what):
        return first_words("Hermes", next(t for t in TRACES if t.what == what))

    assert said("another key each time, the same error") == "3/8"
    assert said("the same file, read again") == "2/5"
    assert said("writes files, another one read along") == "."


def test_every_miniature_names_where_its_numbers_were_read():
    assert all(re.search(r"^[\w-]+/[\w-]+(, [\w.-]+)?@[0-9a-f]+", real.source) for real in REAL)


# The figure


def test_the_figure_has_a_row_a_detector_and_ones_own_is_a_row_like_any_other():
    text = repr(detector_bench(my_window=window_of_five(8)))
    assert re.search(r"^A my window +13/14 ", text, re.MULTILINE)
    assert re.search(r"^B repetition +14/14 +\d+, \d+ +0/14 +3/14$", text, re.MULTILINE)
    assert "miniatures of documented defaults, not the projects' code" in text
    assert text == repr(detector_bench(my_window=window_of_five(8)))


def test_the_page_says_the_same_and_nothing_by_colour_alone():
    figure = detector_bench()
    cells = re.findall(r'<td class="said (\w+)">([^<]+)</td>', figure.page)
    marks = {"wrong": "!", "missed": "x", "word": "?"}
    assert len(cells) == len(TRACES) * (2 + len(REAL))
    assert all(said.startswith(marks.get(shade, "")) for shade, said in cells)
    assert all(said in repr(figure) for _, said in cells)
    assert "<script" not in figure.page and "http" not in figure.page
    assert all(trace.flight in figure.page for trace in TRACES)
