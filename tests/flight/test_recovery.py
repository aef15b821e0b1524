"""What labels cost, what bounded recovery wins back, and what chapter 04 says of its flights."""

import pytest

from harness_zero.assembly import assemble, of_messages, play
from harness_zero.flight.cases import CASES
from harness_zero.flight.cockpit import Cockpit
from harness_zero.flight.fly import fly
from harness_zero.flight.names import named
from harness_zero.flight.pilots import limits_alone
from harness_zero.flight.survival import compare
from harness_zero.messages import user
from harness_zero.models.more_room import more_room
from harness_zero.policy import cost_cap, deadline, max_rounds, nudge, recover, structural_stop
from harness_zero.run import Run

WINDY = "windy/big-file/calm#0"  # talks past 3,000 characters, which are 750 tokens


def harness(stop, wrap):
    """The library's loop with this stop, around a model that is wrapped like this."""

    def run(model, tools, prompt, max_rounds=50, cap_usd=2.0, seconds=600, clock=None):
        brakes = limits(max_rounds, cap_usd, seconds)
        return assemble(wrap(model), tools, stop, brakes)(Run(prompt, clock))

    return run


def limits(rounds, usd, seconds):
    return max_rounds(rounds), cost_cap(usd), deadline(seconds)


HARNESSES = {
    "errors": 3,
    "labels": 4,
    "plain": play,
    "softened": limits_alone,
    "pieces": harness(recover(structural_stop), of_messages),
    "room": harness(structural_stop, lambda model: more_room(model, 1_500, 3_000)),
    "nudged": harness(nudge(structural_stop), of_messages),
}


@pytest.fixture(scope="module")
def flown():
    return {name: fly(each, range(2)) for name, each in HARNESSES.items()}


def goals(flown, before, after):
    change = compare(flown[before], flown[after]).goals
    return len(change.rescued), len(change.lost)


def reached(flown):
    return {outcome.flight for outcome in flown if outcome.reached}


def test_labels_alone_lose_the_goals_of_flights_in_which_a_reply_was_cut(flown):
    change = compare(flown["errors"], flown["labels"]).goals
    ends = {outcome.flight: outcome.label for outcome in flown["labels"]}
    assert not change.rescued and {ends[name] for name in change.lost} == {"truncated"}


def test_bounded_recovery_wins_all_of_them_back_but_one_and_loses_none(flown):
    rescued, lost = goals(flown, "plain", "softened")
    assert rescued > 10 and lost == 0
    missed = compare(flown["errors"], flown["labels"]).goals.lost
    back = [name for name in missed if name in reached(flown["softened"])]
    assert len(back) == len(missed) - 1  # one is cut more often in a row than the bound allows
    assert {*missed} <= reached(flown["room"])


@pytest.mark.parametrize("recovery", ["pieces", "room"])
def test_each_recovery_from_a_cut_reply_is_worth_goals_by_itself(flown, recovery):
    rescued, lost = goals(flown, "plain", recovery)
    assert rescued > 10 and lost == 0


def test_a_nudge_by_itself_loses_no_goal(flown):
    assert goals(flown, "plain", "nudged")[1] == 0


def test_the_draft_lies_of_empty_replies_and_the_library_never_does(flown):
    lied = [o.flight for o in flown["labels"] if o.kind == "harness lied"]
    assert lied and {named(flight).persona for flight in lied} == {"silent"}
    assert not [o for o in flown["plain"] if o.kind == "harness lied"]
    assert not [o for o in flown["softened"] if o.kind == "harness lied"]


@pytest.mark.parametrize("case", [c for c in CASES if c.id in ("C1", "D2")], ids=lambda c: c.id)
def test_the_draft_does_not_end_these_cases_as_the_library_does(case):
    assert fly("library", case.flight)[0].label == case.label != fly(4, case.flight)[0].label


@pytest.mark.parametrize(("room", "reason"), [(None, "max_tokens"), (3_000, "tool_use")])
def test_a_reply_is_cut_where_the_request_says_or_at_750_tokens(room, reason):
    messages = [user("go")]
    request = {"messages": messages, "max_tokens": room} if room else messages
    reply = Cockpit(named(WINDY)).model(request)
    assert reply["stop_reason"] == reason
    assert (reply["usage"]["output_tokens"] <= 750) == (room is None)


def test_a_persona_that_is_given_room_says_what_it_was_going_to_say():
    (outcome,) = fly(HARNESSES["room"], WINDY)
    assert outcome.reached and fly(HARNESSES["plain"], WINDY)[0].label == "truncated"
