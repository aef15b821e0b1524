"""Lab 05 in a learner's copy: new pieces and old ones, theirs and borrowed, in any mixture."""

import json
from functools import cache
from inspect import unwrap
from itertools import product
from pathlib import Path

import pytest
from test_mine import as_before, copy

from harness_zero import kernel, promises
from harness_zero.desk import Broken, Desk, asking
from harness_zero.flight.fly import fly
from harness_zero.grading.again import followed
from harness_zero.grading.checks import findings
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.grading.lab05 import asked_about
from harness_zero.grading.lab11 import unmarking
from harness_zero.labels import End, Say
from harness_zero.messages import reply
from harness_zero.mine import lab_of, load, makers, whose
from harness_zero.notebook.check import case_of
from harness_zero.policy import brake
from harness_zero.run import Run
from harness_zero.standalone import standalone
from harness_zero.taking import stand_ins, take

__all__ = ["as_before", "copy"]  # fixtures

ROOT = Path(__file__).parents[1]
NEW = ("structural_stop", "brakes", "first_of", "until_end", "two_halves")
OLD = ("answer_or_report", "act", "close_calls", "ending")  # each the newest of its piece


@cache
def cells(lab):
    """The code cells of a lab's solution, as the kernel would keep them."""
    notebook = json.loads((ROOT / "solutions" / lab / f"{lab}.ipynb").read_text("utf-8"))
    codes = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    return [code.partition("\n")[2] if code.startswith("%%") else code for code in codes]


@cache
def module(name):
    """The file that the worked answer to an exercise becomes."""
    exercise = EXERCISES[name]
    lab = lab_of(exercise)
    source, _ = standalone(name, cells(lab), stand_ins(exercise))
    return f"# yours: lab {lab}, exercise {name}\n{source}"


def with_pieces(copy, *names):
    """The learner's package with these answers in it, the rest borrowed."""
    home = copy / "my_harness"
    home.mkdir(exist_ok=True)
    for name in names:
        (home / f"{EXERCISES[name].piece.name}.py").write_text(module(name), "utf-8")
    return load(copy)


SUBSETS = [
    [n for n, is_in in zip(NEW, mask, strict=True) if is_in] for mask in product((0, 1), repeat=5)
]


@pytest.mark.parametrize("new", SUBSETS, ids=lambda names: "+".join(names) or "nothing new")
@pytest.mark.parametrize("old", [(), OLD], ids=["old ones borrowed", "old ones written"])
def test_whatever_of_the_two_halves_is_written_the_harness_keeps_its_promises(copy, old, new):
    run = unmarking(unwrap(with_pieces(copy, *old, *new).run))
    for stage, promise in promises.PROMISES:
        if stage in (1, 2, 3, 4):
            promise(run)
    promises.an_empty_reply_is_never_a_success_and_never_sent_back(run)


@pytest.mark.parametrize("run", ["run", "run_with_brakes", "labelled"])
def test_a_loop_of_an_earlier_lab_stays_in_use_until_theirs_takes_its_place(copy, run):
    package = with_pieces(copy, *OLD, *NEW[:-1], run)
    given = package.run(Desk(reply("42")).model, {}, "go")
    assert (given[1] == "finished") if run == "labelled" else isinstance(given, list)
    assert take_again(copy) == f"two_halves as run in the place of {run}"
    messages, label = load(copy).run(Desk(reply("42")).model, {}, "go")
    assert label == "finished" and len(messages) == 2


def take_again(copy):
    """Check the worked answer to the last exercise as a learner would."""
    space = {"__name__": "__main__"}
    for cell in cells(lab_of(EXERCISES["two_halves"])):
        if cell.startswith(("import ", *[f"def {name}(" for name in NEW])):
            exec(cell, space)
            kernel.CELLS.append(cell)
    kernel.WRITTEN["two_halves"] = space["two_halves"]
    before = (copy / "my_harness/run.py").read_text("utf-8")
    said = take(copy, EXERCISES["two_halves"], space["two_halves"])
    assert "my_harness/run.py is yours now." in said and "until_end (yours)" in said
    assert (copy / "my_harness/earlier/run-1.py").read_text("utf-8") == before
    page = (copy / "my_harness/__init__.py").read_text("utf-8")
    assert "from .run import two_halves as run  # yours" in page
    return f"two_halves as run in the place of {before.splitlines()[0].split()[-1]}"


def test_with_all_pieces_written_nothing_of_the_loop_or_its_policies_is_ours(copy):
    with_pieces(copy, *[made[-1].name for made in makers().values()])
    page = (copy / "my_harness/__init__.py").read_text("utf-8")
    assert "borrowed(" not in page
    sources = "".join(path.read_text("utf-8") for path in (copy / "my_harness").glob("*.py"))
    sources = sources.replace("from harness_zero.loop import ModelFailed", "")  # only a name
    for part in ("loop", "policy", "assembly"):
        assert f"harness_zero.{part}" not in sources


def test_what_nothing_needs_any_more_is_called_retired_and_not_borrowed(copy):
    with_pieces(copy, *NEW)
    assert whose(copy)[2] == "my_harness: retired: act, close_calls"
    with_pieces(copy, "act")
    assert whose(copy)[2] == "my_harness: retired: close_calls"


def test_a_loop_that_still_uses_them_borrows_them(copy):
    with_pieces(copy, *NEW[:-1])
    assert {"act", "close_calls"} <= {*whose(copy)[1].split(", ")} and len(whose(copy)) == 2


def test_what_is_handed_in_as_more_is_heard_by_the_borrowed_harness_too(copy):
    slower = brake(lambda run: Say("slower") if run.pending else None)
    for names in ((), NEW):
        desk = Desk(asking("a"), reply("done"))
        package = load(copy) if not names else with_pieces(copy, *names)
        package.run(desk.model, desk.tools, "go", more=[slower])
        assert "slower" in str(desk.sent[1])


def test_two_halves_of_ones_own_fly_without_a_crash_and_leave_no_broken_array(copy):
    flown = fly(with_pieces(copy, *OLD, *NEW), 0)
    assert flown.limits["max_rounds"] == 50
    assert {outcome.kind for outcome in flown}.isdisjoint({"crashed", "harness lied"})
    assert not any(outcome.leftover for outcome in flown)


def test_a_policy_is_judged_in_the_middle_of_a_turn_and_the_array_is_not_called_broken():
    def late(max_rounds=20, cap_usd=2.0, seconds=600):
        def policy(run):
            return End("max_rounds") if run.rounds > max_rounds else None

        return policy

    exercise = EXERCISES["brakes"]
    found = findings(exercise, late)
    broken = followed(exercise.promises[len(found) - 1], late, found[-1])
    payload = case_of(broken).payload
    assert payload["end"]["array"] == "" and payload["end"]["open"]
    assert "; not ended yet" in repr(case_of(broken))
    code = payload["code"]
    call, statement, *_ = code["steps"][code["opens"]]
    assert call == 1 and statement == len(code["statements"]) - 1, "a line of the inner policy"


def test_the_lab_says_what_stays_borrowed():
    lab = next(name for name in LABS if name.startswith("05"))
    text = (ROOT / "solutions" / lab / f"{lab}.ipynb").read_text("utf-8")
    assert "`Run` is ours, and stays ours in this lab" in text


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda run: setattr(run, "mine", 7), "run.mine to stay None"),
        (lambda run: run.messages[0].update(content="x"), "run.messages to stay"),
        (lambda run: setattr(run, "rounds", 7), "run.rounds to stay 0"),
    ],
)
def test_a_policy_that_writes_the_run_is_told_what_it_wrote(write, told):
    with pytest.raises(Broken, match=told):
        asked_about(write, Run("go"))
    assert asked_about(lambda run: run.messages.append(run.messages.pop()), Run("go")) is None
