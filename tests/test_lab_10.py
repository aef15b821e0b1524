"""Lab 10 in a learner's copy: a model that is asked again, an effect made once; and the case."""

import json

import pytest
from test_lab_05 import cells, with_pieces
from test_mine import as_before, copy

from harness_zero import kernel
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.lab10 import DOUBLED_CASE, Bank, busy, paid_twice
from harness_zero.messages import reply, tool_use
from harness_zero.mine import lab_of, load
from harness_zero.notebook import case
from harness_zero.retry import call_failed
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

PIECES = ("may_pass", "retried", "key")
MIXTURES = {
    "nothing is written": (),
    "the judgement is theirs": ("may_pass",),
    "the wrapper is theirs": ("retried",),
    "the key is theirs": ("key",),
    "all is theirs": PIECES,
}
HELLO, PAY = reply("Hello."), tool_use("c1", "pay", invoice=17, usd=412)


def pieces(copy, names):
    """The learner's package with these pieces in it, the rest borrowed."""
    return with_pieces(copy, *names) if names else load(copy)


def failing(*failures):
    """A model that fails so, and then speaks; and the failures that are still to come."""
    left = [*failures]

    def model(request):
        if left:
            raise left.pop(0)
        return HELLO

    return model, left


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_what_may_pass_is_asked_again(copy, names):
    waits, (model, left) = [], failing(busy(), busy(retry_after=7.0))
    assert pieces(copy, names).retried(model, sleep=waits.append)({"messages": []}) == HELLO
    assert left == [] and waits[0] < waits[1] == 7.0


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_a_wrong_request_is_asked_once(copy, names):
    wrong = call_failed("no such model", status=404)
    waits, (model, left) = [], failing(wrong, busy())
    with pytest.raises(type(wrong)) as raised:
        pieces(copy, names).retried(model, sleep=waits.append)({"messages": []})
    assert raised.value is wrong and len(left) == 1 and waits == []


@pytest.mark.parametrize("names", MIXTURES.values(), ids=MIXTURES)
def test_whatever_is_written_a_payment_that_is_asked_for_again_is_made_once(copy, names):
    once = {"__name__": "__main__"}
    exec(next(cell for cell in cells(lab_of(EXERCISES["once"])) if "def once(" in cell), once)
    bank, key, ledger = Bank(), pieces(copy, names).key, {}
    for _ in range(2):  # the process dies in between; the ledger is a file
        kept = json.loads(json.dumps(ledger))
        ledger.clear()
        ledger.update(kept)
        assert once["once"](bank.pay, ledger)(key("run 1", PAY), **PAY["input"]) == "paid 412"
    assert len(bank.paid) == 1


def test_the_answers_become_pieces_that_stand_alone(copy):
    space, lab = {"__name__": "__main__"}, lab_of(EXERCISES["key"])
    made = ("import ", "def pause", *(f"def {name}(" for name in PIECES))
    for cell in cells(lab):
        if cell.startswith(made):
            kept = cell.partition("\n\n\noverloaded")[0]
            exec(kept, space)
            kernel.CELLS.append(kept)
    for name in PIECES:
        kernel.WRITTEN[name] = space[name]
        assert f"my_harness/{name}.py is yours now." in take(copy, EXERCISES[name], space[name])
    assert "from . import may_pass" in (copy / "my_harness/retried.py").read_text("utf-8")
    assert "def pause(" in (copy / "my_harness/retried.py").read_text("utf-8")


def test_the_case_is_a_harness_that_kept_every_key_and_paid_twice(capsys):
    lines = paid_twice()
    assert [line.get("paid") for line in lines].count(412) == 2
    assert len({line["key"] for line in lines if "paid" in line}) == 2
    letter, at = DOUBLED_CASE.right()
    assert letter == "c" and "begin" in lines[at - 1]
    assert {"whole": "tool_use"} not in lines[:at]
    assert case("doubled") is None
    told = capsys.readouterr().out
    assert "at which line?" in told and f"{len(lines):>3}  " in told
    assert max(map(len, told.splitlines())) < 120
