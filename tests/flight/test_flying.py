"""A flight survives whatever a harness does that is an ordinary mistake, and says what it was."""

import re
import types
from contextlib import suppress
from time import sleep

import pytest

from harness_zero.flight.cockpit import Misbuilt
from harness_zero.flight.fly import PATIENCE, Hangs, flight, fly
from harness_zero.flight.names import NoSuchFlight
from harness_zero.flight.personas import PERSONAS
from harness_zero.flight.pilots import NoHarness
from harness_zero.messages import said, tool_uses, user
from harness_zero.run import Run
from harness_zero.stages import stage
from harness_zero.stages.s1_structural_stop import answer, run

CALM = "diligent/login-bug/calm#1"


def without_end(model, tools, prompt):
    while True:
        pass


def deaf_and_without_end(model, tools, prompt):
    while True:
        with suppress(BaseException):
            model([user(prompt)])


def calling_for_ever(model, tools, prompt):
    while True:
        tools["list_files"]()


def asking_for_ever(model, tools, prompt):
    while True:
        with suppress(Exception):
            model([user(prompt)])


def leaving(model, tools, prompt):
    raise SystemExit(3)


def asking_the_user(model, tools, prompt):
    return [user(input("what now? "))]


def raising(model, tools, prompt):
    return {}["messages"]


def forgetting_to_return(model, tools, prompt):
    model([user(prompt)])


def returning_words(model, tools, prompt):
    return "done"


def unfilled(model, tools, prompt):
    raise NotImplementedError


def sending_the_prompt(model, tools, prompt):
    return model(prompt)


MISTAKES = [
    (without_end, "crashed", "StillRunning: still running after"),
    (deaf_and_without_end, "out of fuel", "the model was asked 301 times"),
    (calling_for_ever, "out of fuel", "calls are made for ever without asking the model"),
    (asking_for_ever, "out of fuel", "the model was asked 301 times"),
    (leaving, "crashed", "SystemExit: 3"),
    (asking_the_user, "crashed", "asks the model instead"),
    (raising, "crashed", "KeyError: 'messages'"),
    (forgetting_to_return, "crashed", "nothing: None. Is there a return?"),
    (returning_words, "crashed", "no list but str: 'done'"),
    (unfilled, "crashed", "not done yet: there is a hole in unfilled"),
    (sending_the_prompt, "crashed", "the model takes the list of all messages"),
]


@pytest.mark.parametrize(("mistake", "kind", "words"), MISTAKES)
def test_a_mistake_ends_a_flight_and_is_told(mistake, kind, words):
    outcome = fly(mistake, CALM)[0]
    assert outcome.kind == kind and words in outcome.broke
    assert not outcome.reached and not outcome.safe


def test_a_harness_that_hangs_again_and_again_is_flown_no_further():
    with pytest.raises(Hangs, match=r"without_end hangs, in diligent/login-bug/calm#0, .* no more"):
        fly(without_end, range(2))


def test_an_error_of_any_kind_ends_one_flight_and_not_all():
    class Odd(BaseException):
        pass

    def odd(model, tools, prompt):
        raise Odd("well")

    assert [o.kind for o in fly(odd, [CALM, "hasty/build/calm#1"])] == ["crashed", "crashed"]


def test_an_error_that_cannot_tell_itself_is_told_by_its_kind():
    class Mute(Exception):
        def __str__(self):
            raise ValueError("not me either")

    def mute(model, tools, prompt):
        raise Mute

    assert "Mute" in fly(mute, CALM)[0].broke


def test_a_harness_that_breaks_python_breaks_its_own_flight_alone():
    def breaks(model, tools, prompt):
        import builtins

        builtins.len = lambda things: 0
        return run(model, tools, prompt)

    assert len(fly(breaks, [CALM, "hasty/build/calm#1"])) == 2


def test_no_flight_at_all_is_refused():
    for nothing in ([], {}, range(0), b"x"):
        with pytest.raises(NoSuchFlight):
            fly(1, nothing)


@pytest.mark.parametrize(
    ("persona", "words"),
    [
        (lambda seen, skill, luck: None, "it came as None"),
        (lambda seen, skill, luck: [("read_file",)], "came as [('read_file',)]"),
        (lambda seen, skill, luck: {}["x"], "raised KeyError: 'x'"),
    ],
)
def test_a_fault_of_a_persona_is_charged_to_no_harness(persona, words, monkeypatch):
    monkeypatch.setitem(PERSONAS, "odd", persona)
    with pytest.raises(Misbuilt, match=re.escape(words)):
        fly("library", "odd/login-bug/calm#0")


def test_a_harness_that_is_slow_and_goes_on_is_not_taken_for_one_that_hangs():
    def slow(model, tools, prompt):
        messages = [user(prompt)]
        while True:
            sleep(0.3)
            messages.append(said(reply := model(messages)))
            if not (calls := tool_uses(reply)):
                return messages
            messages.append(user(*[answer(call, tools) for call in calls]))

    outcome = fly(slow, CALM)[0]
    assert outcome.kind == "reached" and outcome.rounds * 0.3 > PATIENCE


def test_what_a_harness_prints_in_a_flight_is_not_heard(capsys):
    fly(lambda model, tools, prompt: print("so far so good") or [], CALM)
    assert capsys.readouterr().out == ""


def test_an_interrupt_of_the_world_is_data_and_one_from_the_keyboard_ends_everything():
    in_the_world = "diligent/login-bug/interrupt@2#1"
    assert fly("library", in_the_world)[0].label == "interrupted"
    assert "KeyboardInterrupt" in fly(1, in_the_world)[0].broke

    def pressed(model, tools, prompt):
        raise KeyboardInterrupt

    for harness in (pressed, lambda model, tools, prompt: ([], "interrupted")):
        with pytest.raises(KeyboardInterrupt):
            fly(harness, CALM)


def plainly(model, tools, prompt, max_rounds=9, clock=None):
    messages = [user(prompt)]
    for _ in range(max_rounds):
        messages.append(said(reply := model(messages)))
        if not (calls := tool_uses(reply)):
            return messages
        results = [answer(call, tools) for call in calls]
        messages.append(user(*results))
    return messages


MINE = types.SimpleNamespace(run=plainly, __name__="my_harness")


@pytest.mark.parametrize("harness", [1, "library", plainly, stage(5), MINE, {"run": plainly}])
def test_a_stage_the_library_a_function_and_a_package_can_be_flown(harness):
    assert fly(harness, "diligent/shelves/calm#0")[0].kind == "reached"


def test_a_harness_gets_the_limits_that_it_takes():
    long = "diligent/many-files/calm#0"
    assert fly(3, long, max_rounds=5)[0].rounds == 5
    assert fly(plainly, long, max_rounds=4)[0].rounds == 4
    assert fly(1, long, max_rounds=5)[0].rounds > 5
    assert fly("library", long, seconds=60)[0].label == "deadline"


def test_a_harness_that_waits_can_wait_in_a_flight():
    def waiting(model, tools, prompt, clock, sleep):
        try:
            model([user(prompt)])
        except Exception:
            before = clock()
            sleep(20)  # that of the flight
            assert clock() == before + 20
        return [user(prompt), said(model([user(prompt)]))]

    assert fly(waiting, "hasty/build/429@1#0")[0].kind == "ended in silence"


@pytest.mark.parametrize("nothing", [7, "stage 1", None, 3.5, {}, object(), True])
def test_what_is_no_harness_is_told_so(nothing):
    with pytest.raises(NoHarness, match=r"fly\(\) takes a harness"):
        fly(nothing, CALM)


def test_a_function_of_another_shape_is_told_so():
    with pytest.raises(NoHarness, match=r"is called with \(model, tools, prompt\): missing"):
        fly(lambda model, tools, prompt, policy: None, CALM)


@pytest.mark.parametrize(
    ("flights", "sentence"),
    [(3.5, "the number of a block"), ("nowhere", "a flight has a name"), ([None], "this is None")],
)
def test_what_cannot_be_flown_is_told_so(flights, sentence):
    with pytest.raises(NoSuchFlight, match=sentence):
        fly(1, flights)


def test_an_unknown_limit_is_answered_with_those_there_are():
    with pytest.raises(NoSuchFlight, match="rounds is no limit; there are max_rounds, cap_usd"):
        fly(1, CALM, rounds=3)


def test_a_flight_gives_back_its_run_to_be_stepped_through():
    assert isinstance(flight(CALM, "library"), Run)
    lost = flight("diligent/login-bug/crash@2#1", 1)
    assert "the tool crashed" in lost.fault and len(lost.messages) == 4 and len(lost.replies) == 2
