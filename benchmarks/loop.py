"""What a round costs beside the bare nine-line loop, measured side by side in one run.

    python benchmarks/loop.py [rounds]

Ratios are what is promised; absolute figures are what one machine showed.
"""

import sys
from statistics import median
from time import perf_counter

from harness_zero.assembly import assemble, of_messages
from harness_zero.desk import asking
from harness_zero.messages import reply, said, tool_result, tool_uses, user
from harness_zero.policy import cost_cap, deadline, max_rounds, structural_stop
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.stages import stage
from harness_zero.stages.s5_repetition_detector import repetition as window_of_five

BRAKES = max_rounds(10**9), cost_cap(1e9), deadline(1e9)
LIMITS = {"max_rounds": 10**9, "cap_usd": 1e9, "seconds": 1e9}
TURNS = 5


def bare(model, tools, prompt):
    """The nine lines, with nothing in them."""
    messages = [user(prompt)]
    while True:
        reply = model(messages)
        messages.append(said(reply))
        calls = tool_uses(reply)
        if not calls:
            return messages
        for call in calls:
            output = tools[call["name"]](**call["input"])
            messages.append(user(tool_result(call["id"], str(output))))


def library(*brakes):
    """The library with these brakes."""

    def run(model, tools, prompt):
        harness = assemble(of_messages(model), tools, structural_stop, brakes, detectors=())
        return harness(Run(prompt))

    return run


def draft(number, **limits):
    """A stage under limits that never hold."""
    return lambda model, tools, prompt: stage(number)(model, tools, prompt, **limits)


def gaps(run, script):
    """The time from each reply to the next request, in seconds."""
    lines, asked, told = iter(script), [], []

    def model(messages):
        asked.append(perf_counter())
        line = next(lines)
        told.append(perf_counter())
        return line

    run(model, {"note": lambda what: what}, "go")
    return [after - before for before, after in zip(told, asked[1:], strict=False)]


def main(rounds):
    loops = {
        "bare, nine lines": bare,
        "stage 1": draft(1),
        "stage 4": draft(4, **LIMITS),
        "core, three brakes": library(*BRAKES),
        "core, brakes, window of 5": library(*BRAKES, window_of_five()),
        "core, brakes and detector": library(*BRAKES, repetition()),
    }
    script = [*[asking(str(n)) for n in range(rounds)], reply("done")]
    measured = {name: [] for name in loops}
    for _ in range(TURNS):  # in turn, so that a slow moment of the machine meets all of them
        for name, run in loops.items():
            measured[name].append(gaps(run, script))
    floor = median(median(run) for run in measured["bare, nine lines"])
    print(f"{rounds} rounds, median gap from a reply to the next request, {TURNS} runs each")
    for name, runs in measured.items():
        gap = median(median(run) for run in runs)
        tenth = rounds // 10
        growth = median(median(run[-tenth:]) / median(run[:tenth]) for run in runs)
        ratio = f"{gap / floor:5.2f} x bare"
        print(f"{name:<27} {gap * 1e6:6.2f} µs {ratio}   last tenth / first {growth:4.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5_000)
