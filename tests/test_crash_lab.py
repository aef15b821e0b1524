"""The crash lab shows what was left at an instant, what the resume does, and what is counted."""

import json
import re

import pytest

from harness_zero.notebook.crash_lab import NoSuchMoment, crash_lab, payload

MAIL = """Killed at moment 27 of 33, in step 7, send_mail: effect made, nothing written.
"""
TABLE = """                                 by then  with the journal        begun anew
model asked                            3                 5                 7
files and lists read                   2                 3                 4
bank asked to pay                      1                 1                 2
invoice paid                           1                 1         2, twice!
mail sent                              1                 1         2, twice!
Begun anew: the same harness without a journal, killed after as many effects."""


def test_it_opens_where_a_mail_was_sent_and_nobody_wrote_it_down():
    said = repr(crash_lab())
    assert said.startswith(MAIL) and said.endswith(TABLE)
    left, _, added = said.partition("  ---- killed, and resumed ----\n")
    assert left.splitlines()[-1] == "     7 intent  send_mail(to='ana@example.org', body='17')"
    assert added.startswith("  +  7 outcome outcome unknown: the process died while send_mail")


def test_what_it_says_is_the_same_every_time():
    first = repr(crash_lab("pay", "intent written"))
    payload.cache_clear()
    assert repr(crash_lab("pay", "intent written")) == first


def test_a_line_that_was_cut_off_is_shown_as_such():
    said = repr(crash_lab("pay", "outcome half written"))
    assert re.search(r'^  ~ \{"end":5,"gave":', said, re.MULTILINE)
    assert "Step 5 is in doubt: made again, as its declaration allows." in said


def test_before_all_steps_it_is_the_turn_that_dies():
    said = repr(crash_lab("turn", "prompt written"))
    assert said.startswith("Killed at moment 1 of 33, in the turn: prompt written.\n")


def test_a_moment_that_does_not_exist_is_told_with_those_that_do():
    with pytest.raises(NoSuchMoment, match="the steps are turn, model, read_file, pay, send_mail"):
        crash_lab("sleep")


def test_a_step_that_does_not_die_like_this_is_told_how_it_does():
    with pytest.raises(NoSuchMoment, match=r"in the step turn it dies with: prompt written$"):
        crash_lab("turn")
    with pytest.raises(NoSuchMoment, match="named by its tool or as 'model', not 5"):
        crash_lab(5)


def test_every_moment_is_there_and_each_line_of_a_journal_once():
    told = payload()
    numbers = [n for moment in told["moments"] for n in moment["left"] + moment["added"]]
    assert {*numbers} == {*range(len(told["lines"]))}
    assert len({written for _, written in told["lines"]}) == len(told["lines"])
    assert len(told["moments"]) == 33 and len(json.dumps(told)) < 40_000


def test_with_the_journal_nothing_happens_twice_at_any_moment():
    told = payload()
    rows = [*told["effects"]]
    for moment in told["moments"]:
        for name in ("paid", "send_mail"):
            assert moment["effects"][rows.index(name)][1] == 1, moment


def test_the_page_without_scripts_says_the_same():
    page = crash_lab().page()
    assert "2, twice!" in page and "killed, and resumed" in page
    assert "<script" not in page and '<th scope="row">mail sent</th>' in page
