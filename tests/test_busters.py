"""Ways to lose a cached prefix: what each changes, what it leaves, and that it costs."""

from itertools import pairwise

import pytest

from harness_zero import busters
from harness_zero.busters import BUSTERS, at_pace
from harness_zero.messages import array_fault, reply, said, tool_result, tool_use, user
from harness_zero.prefix import first_difference, rendering
from harness_zero.simulator.cache import Cache
from harness_zero.simulator.catalogue import MODELS
from harness_zero.view import marked

FACTS = MODELS["claude-sonnet-5"]
NAMES = ("read_file", "write_file", "run_command")
TOOLS = [{"name": n, "description": "does much " * 60, "input_schema": {}} for n in NAMES]


def requests(rounds=12):
    """The requests of a run that reads a file in each round, marked for caching."""
    messages, sent = [user("Mend it.")], []
    for n in range(rounds):
        sent.append(marked({"system": "Be kind. " * 400, "tools": TOOLS, "messages": [*messages]}))
        calls = said(reply("I look.", tool_use(f"c{n}", "read_file", path=f"{n}.py")))
        messages += [calls, user(tool_result(f"c{n}", f"{n}: " + "x = 1\n" * 100))]
    return sent


SOUND = requests()


def units(sent, times=None):
    """What requests cost, in tokens at full price."""
    cache = Cache()
    served = [
        cache.serve(r, FACTS, at=t) for r, t in zip(sent, times or at_pace(sent), strict=True)
    ]
    return sum(c.fresh + 1.25 * c.written + 0.1 * c.read for c in served)


@pytest.mark.parametrize("buster", BUSTERS, ids=lambda buster: buster.name)
def test_each_makes_the_run_dearer_and_leaves_the_sound_requests_alone(buster):
    before = [rendering(request) for request in SOUND]
    busted, times = buster.bust(SOUND, at_pace(SOUND))
    assert units(busted, [*times]) > 1.1 * units(SOUND)
    assert [rendering(request) for request in SOUND] == before


@pytest.mark.parametrize("buster", BUSTERS, ids=lambda buster: buster.name)
def test_no_call_loses_its_result(buster):
    busted, _ = buster.bust(SOUND, at_pace(SOUND))
    assert [array_fault(request["messages"]) for request in busted] == [None] * len(SOUND)


def where(busted, at):
    found = first_difference(busted[at - 1], busted[at])
    return found.block


@pytest.mark.parametrize(
    ("bust", "at", "block"),
    [
        (busters.clock_at_the_top, 1, "system, block 0 (text)"),
        (busters.tools_reordered, 1, "tool 0 (read_file)"),
        (busters.system_prompt_improved, 6, "system, block 0 (text)"),
        (busters.status_near_the_top, 1, "message 0, block 0 (text)"),
        (busters.middle_trimmed, 6, "message 1, block 1 (tool_use c0)"),
    ],
    ids=lambda given: getattr(given, "__name__", given),
)
def test_five_change_what_was_sent_before(bust, at, block):
    assert where(bust(SOUND), at) == block


@pytest.mark.parametrize(
    "bust", [busters.tool_choice_changed, busters.thinking_changed, busters.many_positions]
)
def test_three_leave_what_was_sent_before_as_it_was(bust):
    prefixes = [rendering(request) for request in bust(SOUND)]
    assert all(b.startswith(a) for a, b in pairwise(prefixes))


def test_a_clock_goes_by_the_times_of_the_requests():
    said = [r["system"][0]["text"] for r in busters.clock_at_the_top(SOUND[:2], [0, 3600])]
    assert said == ["Current time: 14:32:07", "Current time: 15:32:07"]


def test_trimming_sends_less_and_costs_more():
    trimmed = busters.middle_trimmed(SOUND)
    assert sum(map(len, map(rendering, trimmed))) < sum(map(len, map(rendering, SOUND)))
    assert units(trimmed) > units(SOUND)


def test_with_no_round_kept_only_the_first_message_is_left():
    assert {len(r["messages"]) for r in busters.middle_trimmed(SOUND, keep=0)} == {1}


def test_a_request_without_tools_has_nothing_to_reorder():
    bare = [{"messages": [user("Hello.")]}] * 3
    assert busters.tools_reordered(bare) == bare


def test_a_mark_stays_at_its_place_when_the_tools_move():
    tools = [{"name": "a"}, {"name": "b", "cache_control": {"type": "ephemeral"}}]
    moved = busters.tools_reordered([{"tools": tools, "messages": []}] * 2)[1]["tools"]
    assert moved == [{"name": "b"}, {"name": "a", "cache_control": {"type": "ephemeral"}}]


def test_after_a_slow_tool_everything_comes_later():
    assert busters.slow_tool([0, 20, 40], at=1, seconds=310) == [0, 330, 350]


def test_many_positions_cost_nothing_where_the_request_before_is_marked_as_well():
    padded = busters.many_positions(requests())
    alone = busters.many_positions(busters.only_last_marked(requests()))
    assert units(padded) < units(alone) / 2
