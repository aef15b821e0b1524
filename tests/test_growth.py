"""A round costs the same late as early: counted in lines run, not in seconds."""

import sys
from pathlib import Path

import harness_zero
from harness_zero.assembly import assemble
from harness_zero.desk import asking
from harness_zero.messages import reply
from harness_zero.models.scripted import scripted
from harness_zero.policy import cost_cap, deadline, max_rounds, nudge, recover, structural_stop
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.stages.s5_repetition_detector import repetition as window_of_five

OURS = str(Path(harness_zero.__file__).parent)
ROUNDS = 5_000
BRAKES = max_rounds(10**6), cost_cap(1e6), deadline(1e6), window_of_five(), repetition()


def test_a_round_runs_the_same_lines_in_round_ten_and_in_round_5000():
    script = iter([*[asking(str(n)) for n in range(ROUNDS)], reply("done")])
    lines = [0]

    def model(request):
        lines.append(0)
        return next(script)

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        lines[-1] += event == "line"
        return trace

    stop = recover(nudge(structural_stop))
    harness = assemble(model, {"note": lambda what: what}, stop, BRAKES)
    run = Run("go", clock=lambda: 0.0)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        harness(run)
    finally:
        sys.settrace(before)
    assert run.rounds == ROUNDS + 1 and run.label == "finished"
    assert {*lines[10:ROUNDS]} == {lines[10]}


def test_nothing_of_the_array_is_copied_on_the_way_to_the_model():
    lists = set()
    script = scripted(*[asking(str(n)) for n in range(9)], reply("done"))

    def model(request):
        lists.add(id(request["messages"]))
        return script(request["messages"])

    run = assemble(model, {"note": lambda what: what})(Run("go"))
    assert lists == {id(run.messages)}
