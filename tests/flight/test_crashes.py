"""A harness that is killed, whenever that is, loses and repeats nothing that was recorded."""

import os
import subprocess
import sys

import pytest

from harness_zero import journal_clock, journal_steps
from harness_zero.flight.crashes import page
from harness_zero.flight.crashes.judged import faults
from harness_zero.flight.crashes.killed import HERE, at, lived
from harness_zero.flight.crashes.moments import moments
from harness_zero.flight.crashes.tried import NEVER, SOON

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
MOMENTS = {f"{moment.step}, {moment.says}": moment for moment in moments()}


def program(*command):
    """What a program of its own prints, and what it complains of."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=240)
    return done.stdout, done.stderr, done.returncode


def test_killed_at_every_boundary_and_at_a_hundred_instants_all_holds_and_the_page_says_so():
    made, complaints, code = program("-m", page.__name__, "--print")
    assert (complaints, code) == ("", 0)
    assert made == page.PAGE.read_text("utf-8"), f"run: python -m {page.__name__}"


def test_killed_at_lines_of_python_and_from_outside_all_holds():
    said, _, code = program("-m", "harness_zero.flight.crashes.tried")
    assert code == 0 and said.count("all held") == 2, said


def test_a_death_in_this_process_leaves_what_a_sigkill_leaves(tmp_path):
    said, complaints, _ = program("-c", SAME, str(tmp_path))
    assert said == "[]\n", complaints


SAME = """
import sys
from pathlib import Path
from harness_zero.flight.crashes.killed import APART, HERE, at, lived
from harness_zero.flight.crashes.moments import moments

def left(moment, way, number):
    folder = Path(sys.argv[1]) / f"{number}-{way.kill.__name__}"
    folder.mkdir()
    ending = lived(folder, [at(moment.tick)], way)
    return ending.left, ending.journal, ending.effects, ending.messages

print([each for number, each in enumerate(moments())
       if left(each, HERE, number) != left(each, APART, number)])
"""


def killed(folder, moment, seconds=NEVER):
    ending = lived(folder, [at(MOMENTS[moment].tick)], HERE, seconds=seconds)
    return faults(ending, "finished" if seconds == NEVER else "deadline")


# the judge notices what it is there for


def test_a_mail_that_is_sent_again_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("harness_zero.journal.runs_again", lambda function: True)
    found = killed(tmp_path, "7 send_mail, effect made, nothing written")
    assert "the mail went out twice" in found and "something recorded was done again" in found
    assert "a doubt was not told to the model" in found


def test_a_payment_with_another_key_is_noticed(tmp_path, monkeypatch):
    keys = iter("abcdefgh")
    monkeypatch.setattr("harness_zero.journal.key_of", lambda run, call: next(keys))
    found = killed(tmp_path, "5 pay, effect made, nothing written")
    assert found == ["the invoice was paid twice"]


def test_a_clock_that_begins_anew_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_clock.Ticking, "__call__", lambda clock: clock.source())
    found = killed(tmp_path, "5 pay, outcome written", seconds=SOON)
    assert found == ["the label is finished, not deadline"]


def test_a_recorded_step_that_is_done_again_is_noticed(tmp_path, monkeypatch):
    perform = journal_steps.Scribe.perform

    def forgetful(scribe, asks, effect, doubt, **more):
        if scribe.past.next:
            effect()
        return perform(scribe, asks, effect, doubt, **more)

    monkeypatch.setattr(journal_steps.Scribe, "perform", forgetful)
    found = killed(tmp_path, "6 model, outcome written")
    assert "something recorded was done again" in found
