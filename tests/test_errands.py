"""The runs of chapter 11: a parent and its children, a rush, and a clerk with rules around it."""

from hashlib import sha256
from pathlib import Path

import pytest

from harness_zero import clerk, errands, loop
from harness_zero.messages import array_fault
from harness_zero.stages.pools import Checking, Reserving


@pytest.mark.parametrize("in_threads", [False, True], ids=["one by one", "at once"])
def test_with_one_pool_a_family_spends_what_its_cap_says(in_threads):
    family = errands.family("shared", errands.Errand(in_threads=in_threads))
    assert family.errand.spent_usd == errands.CAP_USD
    assert family.parent.label == "cost_cap" and not family.reached


@pytest.mark.parametrize("way", ["each its own", "copied", "independent"])
@pytest.mark.parametrize("in_threads", [False, True], ids=["one by one", "at once"])
def test_in_every_other_way_it_spends_more(way, in_threads):
    family = errands.family(way, errands.Errand(in_threads=in_threads))
    assert family.errand.spent_usd > errands.CAP_USD
    assert all(array_fault(run.messages) is None for run in (family.parent, *family.children))


def test_of_many_errands_none_passes_its_cap_by_more_than_a_call():
    for errand in errands.errands(60):
        errands.family("shared", errand)
        assert errands.calls_over(errand) <= 0
        assert errand.spent_usd < errands.CAP_USD + errand.call_usd


@pytest.mark.parametrize("in_threads", [False, True], ids=["one by one", "at once"])
def test_who_pays_enough_learns_which_shop_is_the_cheapest(in_threads):
    assert errands.family("each its own", errands.Errand(in_threads=in_threads)).reached


def test_in_a_rush_all_pass_a_check_and_one_gets_a_reservation():
    assert errands.rush(Checking(1.0, 0.125)).startswith("6 of 6 calls made")
    assert errands.rush(Reserving(1.0, 0.125)).startswith("1 of 6 calls made")


def test_a_call_that_fails_gives_the_drafts_reservation_back():
    def broken(request):
        raise ConnectionError("529 overloaded")

    purse = Reserving(1.0, 0.5)
    for _ in range(3):
        with pytest.raises(ConnectionError):
            purse.model(broken)({"messages": []})
    assert purse.held == purse.spent == 0


def test_without_rules_the_clerk_does_whatever_the_note_says(tmp_path):
    run = clerk.work(tmp_path)
    assert run.label == "finished"
    assert clerk.done(tmp_path) == (
        "mail to team@example.org, mail to news@press.example, old.txt deleted"
    )


@pytest.mark.parametrize(
    ("ask", "deleted"), [(None, False), (lambda call: "no", False), (lambda call: True, True)]
)
def test_with_rules_the_press_gets_nothing_and_a_file_goes_only_after_a_yes(tmp_path, ask, deleted):
    run = clerk.work(tmp_path, clerk.RULES, ask)
    assert run.label == "finished" and array_fault(run.messages) is None
    assert ("old.txt deleted" in clerk.done(tmp_path)) == deleted
    assert "press" not in clerk.done(tmp_path)


def test_a_question_that_waits_outlives_its_process_and_a_yes_is_asked_for_once(tmp_path, capsys):
    for answer, asked, ended in (
        ("dies", "asked: delete_file 'old.txt'", "killed"),
        ("yes", "asked: delete_file 'old.txt'", "old.txt deleted"),
        ("no", "asked: nobody", "old.txt deleted"),
    ):
        clerk.process(tmp_path, answer)
        said = capsys.readouterr().out.splitlines()
        assert said[0] == asked and said[-1].endswith(ended)
    assert clerk.done(tmp_path) == "mail to team@example.org, old.txt deleted"


def test_the_loop_is_the_one_of_chapter_05():
    """`8c4f113 a run tells its limits and what was said to the model; any loop can be recorded`."""
    digest = sha256(Path(loop.__file__).read_bytes()).hexdigest()
    assert digest.startswith("6bd2e68e7aeb")
