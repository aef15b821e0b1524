"""The run that chapter 09 kills: real processes, killed before and after every effect."""

import json
import os
import signal
from pathlib import Path

import pytest

from harness_zero import mailing
from harness_zero.labels import Label
from harness_zero.messages import array_fault

ROOT = Path(__file__).parents[1]
ROUNDS = range(1, 8)  # of a turn whose tools are called in rounds 1 to 7
INSTANTS = [(number, when) for number in ROUNDS for when in ("before", "after")]
TOLD = {  # what chapter 09 says: of 14 kills, how many end with six mails, each of them once
    "": 3,
    "outcomes": 8,
    "intents": 14,
    "library": 14,
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a process that forks")


def killed(folder, journal, dies):
    """Play in a process of its own, which has to die by the signal that nobody can catch."""
    if not (child := os.fork()):
        try:
            mailing.work(folder, journal, dies)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@pytest.mark.parametrize("journal", TOLD)
def test_of_fourteen_kills_so_many_end_as_if_nothing_had_been(tmp_path, journal):
    ends = []
    for at, dies in enumerate(INSTANTS):
        (folder := tmp_path / str(at)).mkdir()
        killed(folder, journal, dies)
        run = mailing.work(folder, journal)
        assert run.label is Label.FINISHED and not array_fault(run.messages)
        ends.append(mailing.outbox(folder))
    assert ends.count("6 mails; twice: none; missing: none") == TOLD[journal]


def test_the_chapter_tells_the_hundred_kills_as_the_page_of_crashes_does():
    notebook = json.loads((ROOT / "chapters/09_what_survives_a_crash.ipynb").read_text("utf-8"))
    told = next("".join(c["source"]) for c in notebook["cells"] if c["id"] == "hundred")
    assert "paid twice in 27 of 100 runs, and mailed twice in 9" in told
    page = (ROOT / "docs/crashes.md").read_text("utf-8").splitlines()
    for row in (
        "| something recorded done again | 0 |  |",
        "| the invoice paid twice | 0 | 27 |",
        "| the mail sent twice | 0 | 9 |",
    ):
        assert row in page


@pytest.mark.parametrize("journal", ["intents", "library"])
def test_a_run_that_is_over_is_replayed_without_an_effect(tmp_path, journal):
    effects = []
    first = mailing.work(tmp_path, journal)
    again = mailing.work(tmp_path, journal, tell=effects.append)
    assert again.messages == first.messages and again.label == first.label
    assert effects == []
    assert mailing.outbox(tmp_path).startswith("6 mails")


@pytest.mark.parametrize(("journal", "label"), [("intents", "finished"), ("library", "deadline")])
def test_only_the_librarys_journal_holds_the_clock(tmp_path, journal, label):
    assert mailing.work(tmp_path, journal, seconds=100).label == "deadline"
    assert mailing.work(tmp_path, journal, seconds=0).label == label


def test_what_is_not_flushed_dies_with_its_process(tmp_path):
    killed(tmp_path, "unflushed", (7, "after"))
    assert (tmp_path / "journal.jsonl").read_bytes() == b""


def test_a_process_tells_what_it_did_and_how_it_ended(tmp_path, capsys):
    mailing.process(tmp_path, "intents", dies=(7, "after"))
    assert capsys.readouterr().out.endswith("invoice 6\nended: killed\n")
    mailing.process(tmp_path, "intents")
    assert capsys.readouterr().out == (
        "did:   model, list_sent, model\nended: finished after 9 rounds\n"
    )


def test_a_process_that_cannot_go_on_says_why(tmp_path, capsys):
    (tmp_path / "journal.jsonl").write_text('{"step": 1, "beg', "utf-8")
    mailing.process(tmp_path, "intents")
    assert "JSONDecodeError" in capsys.readouterr().out
