"""Four drafts of one loop, and the library: each keeps its own promises and all earlier ones."""

import difflib
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from harness_zero.assembly import play
from harness_zero.faults import SetupFault
from harness_zero.messages import reply, tool_use
from harness_zero.models.scripted import OutOfReplies, scripted
from harness_zero.promises import PROMISES
from harness_zero.stages import (
    overgrown,
    s1_structural_stop,
    s2_brakes,
    s3_error_as_data,
    s4_termination_labels,
    s5_repetition_detector,
)

DRAFTS = [s1_structural_stop, s2_brakes, s3_error_as_data, s4_termination_labels]
STAGES = dict(enumerate([draft.run for draft in [*DRAFTS, s5_repetition_detector]], 1))
KEPT = [
    pytest.param(promise, play, id=f"{stage}: {promise.__name__.replace('_', ' ')}")
    for stage, play in STAGES.items()
    for since, promise in PROMISES
    if since <= stage
] + [pytest.param(p, play, id=f"library: {p.__name__.replace('_', ' ')}") for _, p in PROMISES]
KEPT_ALL_ALONG = {
    "an_interrupt_never_becomes_a_tools_error",
    "no_call_is_left_unanswered_whatever_the_stop_reason_says",
}
NEWS = [
    pytest.param(promise, STAGES[stage - 1], id=f"{stage}: {promise.__name__.replace('_', ' ')}")
    for stage, promise in PROMISES
    if stage - 1 in STAGES and promise.__name__ not in KEPT_ALL_ALONG
]


def program(draft):
    """A draft's lines, without those that only run it."""
    return Path(draft.__file__).read_text("utf-8").split("\n\n\nif __name__")[0].splitlines()


@pytest.mark.parametrize(("promise", "play"), KEPT)
def test_each_stage_keeps_its_promises_and_all_earlier_ones(promise, play):
    promise(play)


@pytest.mark.parametrize(("promise", "play"), NEWS)
def test_the_stage_before_could_not_keep_the_promise(promise, play):
    with pytest.raises((Exception, KeyboardInterrupt, SetupFault)):
        promise(play)


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_draft_is_twenty_to_forty_five_lines(draft):
    assert 20 <= len(program(draft)) <= 45


@pytest.mark.parametrize(("before", "after"), list(pairwise(DRAFTS)))
def test_a_draft_is_a_small_diff_from_the_one_before(before, after):
    lines = difflib.ndiff(program(before), program(after))
    changed = [line for line in lines if line[0] in "+-" and line[2:].strip()]
    assert len(changed) <= 26


@pytest.mark.parametrize("draft", [*DRAFTS, s5_repetition_detector])
def test_a_stage_runs_by_itself_and_repairs_a_project(draft):
    done = subprocess.run([sys.executable, "-m", draft.__name__], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "the tests pass: yes" in done.stdout


@pytest.mark.parametrize("promise", [promise for since, promise in PROMISES if since <= 4])
def test_the_loop_that_grew_keeps_what_stage_4_promises(promise):
    promise(overgrown.run)


LOOK = {"look": lambda: "2 failed"}


def test_what_the_loop_that_grew_says_instead_jumps_over_its_brakes():
    lazy = scripted(reply(tool_use("a", "look")), *[reply("Done.")] * 6)
    with pytest.raises(OutOfReplies):
        overgrown.run(lazy, LOOK, "go", max_rounds=3)


def test_the_loop_that_grew_does_not_count_what_an_empty_reply_costs():
    dear, asks = reply(cost=0.9), reply(tool_use("a", "look"), cost=0.1)
    looked = []
    tools = {"look": lambda: looked.append("here")}
    overgrown.run(scripted(dear, dear, asks, reply("done")), tools, "go", cap_usd=1.0)
    assert looked == ["here"]


def test_the_loop_that_grew_gives_its_advice_once_a_call_is_made_twice():
    twice = [reply(tool_use(id, "see")) for id in "ab"]
    tools = {"see": lambda: "dark"}
    messages, _ = overgrown.run(scripted(*twice, reply("done")), tools, "go")
    assert messages[4]["content"][-1]["text"].startswith("You have just done that")
    assert len(messages[2]["content"]) == 1
