"""What goes wrong goes wrong at its moment, as long as it says, and leaves the rest alone."""

import tempfile

import pytest

from harness_zero.flight.cockpit import Cockpit
from harness_zero.flight.faults import FAULTS, Clock
from harness_zero.flight.fly import fly
from harness_zero.flight.luck import Luck
from harness_zero.flight.names import WORLDS, named
from harness_zero.flight.resumed import restarted, resumed
from harness_zero.flight.steps import as_reply, cut, size
from harness_zero.loop import ModelFailed
from harness_zero.messages import reply, tool_use, user


def met(fault, at, calls, clock=None, seed=0):
    """What becomes of some calls, one after the other."""
    meet, done = FAULTS[fault](at, Luck(str(seed)), clock or Clock()), []
    for n in range(1, calls + 1):
        try:
            done.append(meet(lambda: "ok", n))
        except Exception as error:
            done.append(type(error).__name__)
    return done


@pytest.mark.parametrize("fault", ["crash", "lost-before", "lost-after", "lost-reply"])
def test_a_fault_meets_one_call(fault):
    assert [each == "ok" for each in met(fault, 2, 4)] == [True, False, True, True]


def test_a_connection_is_lost_before_the_effect_or_after_it():
    for fault, effects in (("lost-before", []), ("lost-after", ["done"])):
        done = []
        meet = FAULTS[fault](1, Luck(""), Clock())
        with pytest.raises(ConnectionError):
            meet(lambda done=done: done.append("done"), 1)
        assert done == effects


def test_an_overloaded_api_recovers_after_one_two_or_six_tries():
    lasts = {met("529", 2, 12, seed=seed).count("ModelFailed") for seed in range(30)}
    assert lasts == {1, 2, 6}


def test_a_limited_api_recovers_with_time_and_not_with_tries():
    clock = Clock()
    meet = FAULTS["429"](1, Luck(""), clock)
    for n in range(1, 9):
        with pytest.raises(ModelFailed, match="429"):
            meet(lambda: "ok", n)
    clock.sleep(20)
    assert meet(lambda: "ok", 9) == "ok"


def test_a_slow_tool_takes_five_minutes_or_an_hour():
    taken = set()
    for seed in range(9):
        met("slow", 1, 1, clock := Clock(), seed)
        taken.add(clock())
    assert taken == {300, 3600}


def test_a_cut_call_lost_its_last_argument_or_has_half_of_it():
    whole = reply(tool_use("a", "send_mail", to="ana", body="hello"))
    lost = cut(whole, size(whole) - 3)
    half = cut(whole, size(whole) - 3, whole=True)
    assert lost["content"][0]["input"] == {"to": "ana"} and lost["stop_reason"] == "max_tokens"
    assert half["content"][0]["input"] == {"to": "ana", "body": "he"}
    assert cut(whole, size(whole)) == whole and cut(whole, 0)["content"] == []


def test_a_reply_holds_what_the_api_lets_it_hold():
    said = as_reply(["too long " * 400, ("list_files", {})], iter([1]))
    assert size(said) == 3000 and [block["type"] for block in said["content"]] == ["text"]


def test_a_last_word_that_was_cut_claims_nothing():
    assert fly(3, "hasty/login-bug/calm#1")[0].kind == "model lied"
    assert fly(3, "hasty/login-bug/cut@6#1")[0].kind == "ended in silence"


def test_a_refused_request_takes_a_second_and_a_reply_six():
    cockpit = Cockpit(named("diligent/build/529@1#0"))
    with pytest.raises(ModelFailed):
        cockpit.model([user("go")])
    assert cockpit.clock() == 1
    while not cockpit.replies:
        try:
            cockpit.model([user("go")])
        except ModelFailed:
            continue
    assert cockpit.clock() == cockpit.attempts + 5


@pytest.mark.parametrize("world", ["login", "cart"])
def test_a_flight_with_real_commands_leaves_nothing_behind(world, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert fly(1, f"hasty/{world}/calm#0")[0].rounds
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("world", WORLDS)
def test_a_world_tells_what_it_wants_and_has_documented_tools(world):
    place = named(f"diligent/{world}/calm#0").lay()
    assert place.task and all(tool.__doc__ for tool in place.tools.values())
    assert not place.goal()
    place.tidy()


def test_a_killed_process_has_done_the_effect_and_takes_everything_down():
    flown = fly("library", "diligent/one-mail/killed@2#2")
    assert flown[0].kind == "crashed" and flown[0].label is None


def test_without_a_journal_a_process_that_begins_anew_does_it_twice():
    assert fly(restarted, "diligent/one-mail/killed@2#2")[0].kind == "effect doubled"
    assert fly(resumed, "diligent/one-mail/killed@2#2")[0].kind == "reached"


def test_a_model_that_does_not_look_doubles_the_effect_although_it_was_told():
    """The journal repeats nothing by itself; a key closes what is left (chapter 10)."""
    assert fly(resumed, "diligent/one-mail/killed@2#0")[0].kind == "effect doubled"
