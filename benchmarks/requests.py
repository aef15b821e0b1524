"""What a request costs to build as a run grows, beside serialising the whole array.

    python benchmarks/requests.py [rounds]

Both are measured in turn, on the same run of 2 KB results. Ratios are what is promised;
absolute figures are what one machine showed.
"""

import json
import sys
from statistics import median
from time import perf_counter

from harness_zero.compaction import compacted
from harness_zero.messages import reply, tool_result, tool_use
from harness_zero.prefix import first_difference
from harness_zero.run import Run
from harness_zero.tools import schemas
from harness_zero.view import cached, marked, plain
from harness_zero.workspace import workspace

RESULT = ("0123456789abcde\n" * 128)[:2_048]
TURNS = 5


def grown(run, rounds):
    """The run with so many rounds more."""
    for _ in range(rounds):
        run.hear(reply(tool_use(f"toolu_{len(run.messages)}", "read_file", path="a.py")))
        run.answer(tool_result(run.begin()["id"], RESULT))
    return run


def seconds(build):
    """How long a call takes, the quickest of a few."""
    taken = []
    for _ in range(TURNS):
        began = perf_counter()
        build()
        taken.append(perf_counter() - began)
    return min(taken)


def gap(view, run, rounds):
    """The median time of a request over so many rounds more."""
    taken = []
    for _ in range(rounds):
        grown(run, 1)
        began = perf_counter()
        view(run)
        taken.append(perf_counter() - began)
    return median(taken)


def main(rounds):
    fixed = plain("You mend projects.", schemas(workspace(".")))
    run, views = grown(Run("mend it"), 10), {"cached view": cached(fixed)}
    views["cached and compacted view"] = cached(compacted(fixed))
    early = {name: gap(view, run, 50) for name, view in views.items()}
    grown(run, rounds - 211)
    late = {name: gap(view, run, 50) for name, view in views.items()}
    view, then = views["cached view"], views["cached view"](run)
    now = view(grown(run, 1))
    whole = seconds(lambda: json.dumps(fixed(run)))
    size = len(json.dumps(run.messages)) / 1e6
    print(f"round {rounds:,}: {len(run.messages):,} messages, {size:.1f} MB")
    print(f"{'serialising the whole array':<34}{whole * 1e6:10.1f} µs")
    for name in views:
        ratio, growth = whole / late[name], late[name] / early[name]
        print(
            f"{name:<34}{late[name] * 1e6:10.1f} µs   {ratio:7.0f} x cheaper"
            f"   late / early {growth:5.2f}"
        )
    taken = seconds(lambda: marked(now))
    print(
        f"{'marked(request), old marks sought':<34}{taken * 1e6:10.1f} µs   {whole / taken:7.0f} x"
    )
    taken = seconds(lambda: first_difference(then, now))
    print(f"{'where it parts from the one before':<34}{taken * 1e6:10.1f} µs")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1_000)
