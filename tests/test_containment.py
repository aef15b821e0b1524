"""What a learner's function may do by mistake costs it a promise, and nobody else anything."""

import builtins
import sys

import pytest

from harness_zero.containment import (
    SHIPPED,
    AskedForKeys,
    AskedToEnd,
    contained,
    hidden,
    notebook_shell,
    patched,
)
from harness_zero.desk import Desk
from harness_zero.grading.checks import findings
from harness_zero.grading.exercise import Exercise
from harness_zero.messages import reply
from harness_zero.watch import RunLost, watch


def calls_it(answer):
    """The only promise of the exercise below."""
    answer()


TRIED = Exercise(
    name="tried",
    title="Tried",
    minutes=1,
    difficulty="easy",
    lines=1,
    points=1,
    objectives=(1,),
    takes="tried()",
    promises=(calls_it,),
)


def made(source, **names):
    """A function as a notebook's cell defines it, with these names around it."""
    space = {"__name__": "__main__", **names}
    exec(source, space)
    return space["tried"]


def finding(answer):
    return findings(TRIED, answer)[0]


def test_input_is_refused_and_said():
    found = finding(lambda: input("how? "))
    assert found.state == "broken" and "a harness asks the model instead" in found.got


@pytest.mark.parametrize("end", [exit, quit], ids=["exit", "quit"])
def test_exit_is_refused_and_said(end):
    for answer in (lambda: exit(), lambda: quit(), lambda: sys.exit(3)):
        assert finding(answer).state == "broken"
    assert "ends the whole program" in finding(lambda: exit()).got


@pytest.mark.parametrize("swallow", [Exception, SystemExit])
def test_a_function_that_catches_errors_does_not_catch_these(swallow):
    def tried():
        try:
            input()
        except swallow:
            return "swallowed"

    assert "asks the model" in finding(tried).got


def test_a_watched_loop_may_neither_wait_for_keys_nor_end_the_kernel():
    with pytest.raises(AskedForKeys, match="asks the model"):
        watch(lambda model, tools, prompt: input(), reply, {}, "go")
    with pytest.raises(AskedToEnd, match="return"):
        watch(lambda model, tools, prompt: exit(), reply, {}, "go")
    with pytest.raises(RunLost):
        watch(lambda model, tools, prompt: 1 / 0, reply, {}, "go")


def test_afterwards_python_is_as_it_was():
    before = dict(vars(builtins))

    def tried():
        builtins.len = lambda things: 7
        builtins.fresh = 1
        del builtins.sorted

    finding(tried)
    assert vars(builtins) == before and builtins.len("abc") == 3


def test_containment_can_stand_in_containment():
    with contained():
        with contained(), pytest.raises(AskedForKeys):
            input()
        with pytest.raises(AskedForKeys):
            input()
    assert builtins.input is not None and notebook_shell() is None


def test_a_builtin_that_a_cell_replaced_is_told_and_put_back(monkeypatch):
    monkeypatch.setattr(builtins, "len", lambda things: 0)
    found = finding(lambda: None)
    assert found.state == "broken" and found.got == "len replaced in the module builtins"
    assert patched() == [] and builtins.len is SHIPPED["len"]
    assert finding(lambda: None).state == "kept"


def test_a_name_that_hides_a_builtin_is_the_likely_cause_and_told():
    tried = made("def tried(): return str(1)", str="hello")
    found = finding(tried)
    assert found.state == "broken" and "del str" in found.why
    assert hidden(tried) == ["str"]


def test_a_name_that_hides_a_builtin_in_an_inner_function_is_found_too():
    tried = made("def tried():\n    return [f() for f in [lambda: list((1, 2))]]", list=[1])
    assert hidden(tried) == ["list"]


def test_names_that_hide_nothing_the_function_uses_are_not_mentioned():
    tried = made("def tried(): return {}['x']", str="hello", id=5)
    found = finding(tried)
    assert "KeyError" in found.got and "del" not in found.why


def test_a_name_from_a_cell_that_did_not_run_is_explained():
    found = finding(made("def tried(): return act(1)"))
    assert "NameError" in found.got and found.why.startswith("run the cell that defines act")


def test_what_broke_a_promise_can_be_stepped_through():
    def plays(answer):
        """At a desk."""
        Desk(reply("a"), reply("b")).play(answer)

    exercise = Exercise(**{**vars(TRIED), "promises": (plays,), "takes": "tried(m, t, p)"})
    (found,) = findings(exercise, lambda model, tools, prompt: [model([]), 1 / 0])
    assert found.case.messages[-1]["content"][0]["text"] == "a"
    assert "plays: expected no exception; got ZeroDivisionError" in found.case.fault
