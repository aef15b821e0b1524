"""Lab 02 in a learner's copy: the loop with brakes takes the place of the one without."""

import pytest
from test_mine import IMPORTS, RUN, as_before, ask_for_a_sum, copy, written

from harness_zero import kernel
from harness_zero.flight.fly import fly
from harness_zero.grading.exercises import EXERCISES
from harness_zero.mine import load
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

CLOSE = """def close_calls(reply, why):
    return user(*[not_executed(call, why) for call in tool_uses(reply)])
"""
BRAKED = """def run_with_brakes(
    model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=600, clock=time.monotonic
):
    messages, rounds, spent, began = [user(prompt)], 0, 0.0, clock()
    while True:
        reply = model(messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        rounds, spent = rounds + 1, spent + reply["cost_usd"]
        if not tool_uses(reply):
            return messages
        if rounds >= max_rounds or spent >= cap_usd or clock() - began >= seconds:
            return [*messages, close_calls(reply, "a limit was reached")]
        messages.append(act(reply, tools))
"""
MORE = "import time\nfrom harness_zero.messages import not_executed, said, tool_uses, user"


@pytest.fixture
def braked(copy):
    """A copy in which lab 01's loop and then lab 02's were checked, and what was said of these."""
    said = [take(copy, EXERCISES["run"], written("run", RUN))]
    for name, source in (("close_calls", CLOSE), ("run_with_brakes", BRAKED)):
        space = {"__name__": "__main__"}
        kernel.CELLS[:] = [IMPORTS, MORE, *kernel.CELLS[1:], source]
        for cell in kernel.CELLS:
            exec(cell, space)
        kernel.WRITTEN[name] = space[name]
        said.append(take(copy, EXERCISES[name], space[name]))
    return copy, said


def test_the_loop_with_brakes_takes_the_place_of_the_first_one_which_is_kept(braked):
    copy, said = braked
    page = (copy / "my_harness/__init__.py").read_text()
    assert "from .run import run_with_brakes as run  # yours" in page
    assert "my_harness/earlier/run-1.py" in said[2] and "close_calls (yours)" in said[2]


def test_a_harness_of_ones_own_holds_its_brakes(braked):
    package = load(braked[0])
    assert ask_for_a_sum(package)[-1]["content"][0]["text"] == "5"
    outcome = fly(package, "rambling/big-file/calm#1")[0]
    assert (outcome.rounds, outcome.leftover) == (50, "")


def test_the_loop_of_lab_01_does_not_come_back_by_itself(braked):
    copy, _ = braked
    assert "my_harness/run.py stays" in take(copy, EXERCISES["run"], kernel.WRITTEN["run"])
