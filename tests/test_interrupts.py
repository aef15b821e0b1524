"""Ctrl+C at every single line of the library leaves a valid and truthful array."""

import sys

from counting import pressing

from harness_zero.assembly import of_messages
from harness_zero.desk import Desk, asking
from harness_zero.labels import Say
from harness_zero.loop import turn
from harness_zero.messages import array_fault, reply
from harness_zero.policy import first_of, structural_stop
from harness_zero.run import Run
from harness_zero.toolbox import toolbox
from harness_zero.view import plain

LINES = asking("a", "b"), reply(), asking("c", stop_reason="max_tokens"), asking("d"), reply("done")


def interrupted_at(line):
    """A run interrupted there, what its tools did, and whether the interrupt came at all."""
    desk, run = Desk(*LINES), Run("go")
    chatty = first_of(lambda run: Say("hm") if run.rounds < 4 else structural_stop(run))
    before = sys.gettrace()
    sys.settrace(pressing(line))
    try:
        turn(run, chatty, plain(), of_messages(desk.model), toolbox(desk.tools))
        came = run.label == "interrupted"
    except KeyboardInterrupt:  # before the loop's first line, or after its last
        came = True
    finally:
        sys.settrace(before)
    return run, desk, came


def test_an_interrupt_at_any_line_leaves_a_valid_and_truthful_array():
    line, came = 0, True
    while came:
        line += 1
        run, desk, came = interrupted_at(line)
        if run.label is None:
            continue
        assert array_fault(run.messages) is None, f"line {line}"
        for done in desk.done:
            assert f"'tool_use_id': '{done}', 'content': 'not executed" not in str(run.messages), (
                f"line {line}: {done} was done, the array denies it"
            )
    assert line > 200
