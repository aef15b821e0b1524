"""What a learner's function may do by mistake costs it a promise, and nobody else anything."""

import asyncio
import builtins
import sys
import time

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
from harness_zero.desk import Desk, asking
from harness_zero.grading.checks import findings
from harness_zero.grading.exercise import Exercise
from harness_zero.messages import reply, said, user
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


def test_a_name_behind_a_dot_hides_nothing():
    assert hidden(made("def tried(): return '{}'.format(1)", format="hello")) == []
    assert hidden(made("def tried(): return format(1)", format="hello")) == ["format"]


def test_what_calls_itself_for_ever_is_told_whatever_the_limit():
    def tried():
        sys.setrecursionlimit(10**6)
        return tried()

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        assert "RecursionError" in finding(tried).got
        assert sys.getrecursionlimit() == 10**6
    finally:
        sys.setrecursionlimit(limit)


def test_an_event_loop_inside_of_the_notebooks_own_is_explained_without_noise():
    def tried():
        async def nothing():
            pass

        asyncio.run(nothing())

    async def notebook():
        return finding(tried)

    found = asyncio.run(notebook())
    assert (
        "running event loop" in found.got and "a notebook itself runs in an event loop" in found.why
    )


class Mute(Exception):
    """What cannot tell what it is."""

    def __str__(self):
        raise ValueError("no words")

    __repr__ = __str__


def test_what_cannot_tell_what_it_is_is_told_by_its_kind():
    def tried():
        raise Mute

    assert "Mute: <a Mute of which str() raises ValueError>" in finding(tried).got
    found = finding(Mute())
    assert found.got == "<a Mute of which repr() raises ValueError>, which is no function"


def test_however_much_there_is_to_say_a_finding_is_short():
    def tried():
        raise ValueError("x" * 500_000)

    for found in (finding(tried), finding("x" * 500_000)):
        assert found.state == "broken" and len(found.got) < 1_000


def test_a_run_that_is_slow_is_not_told_to_have_no_end():
    def plays(answer):
        """At a desk."""
        Desk(*[asking("a")] * 9, reply("done")).play(answer)

    def slow(model, tools, prompt):
        messages = [user(prompt)]
        while len(messages) < 18:
            messages.append(said(model(messages)))
            time.sleep(0.25)
        return messages

    exercise = Exercise(**{**vars(TRIED), "promises": (plays,), "takes": "tried(m, t, p)"})
    (found,) = findings(exercise, slow)
    assert found.got.startswith("6 rounds, and still running after 1.5 seconds")
    assert "slow" in found.why


def test_a_name_that_hides_a_helper_of_the_course_is_told_too():
    found = finding(made("def tried(): return reply('x')", reply={"content": []}))
    assert "hides the course's reply; run the set-up cell again" in found.why


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
    assert "ZeroDivisionError" in found.case.fault
