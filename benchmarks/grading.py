"""How many submissions a minute are graded, whether any is lost, and what memory that takes.

    python benchmarks/grading.py [submissions]

The bag holds 70 % honest submissions of all labs (answers of the tests, right and wrong, and holes
that nobody filled), 20 % broken ones and 10 % hostile ones, of the kinds that the tests know. It is
graded by the command itself, and then by one grader alone on what is left of the machine: marks
that differ would be lost. The same again with three times as many, for the memory. On a machine
that others use, too, the figures are theirs as well; the load is printed beside them.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

from handed_in import filled, laid_down, solution  # noqa: E402
from test_grades_agree import answers  # noqa: E402
from test_hostile_submissions import ANSWER, IN_THE_CALL, LOST, SPOILS  # noqa: E402

from harness_zero.grading.exercises import LABS  # noqa: E402
from harness_zero.grading.record.clock import children  # noqa: E402
from harness_zero.grading.record.plan import plan  # noqa: E402

HOLE = "raise NotImplementedError\n"
HOSTILE = [
    *LOST.values(),
    *(source + ANSWER for source in SPOILS.values()),
    *(f"def answer(call, tools):\n    {body}\n" for body in IN_THE_CALL.values()),
]


cells = cache(answers)


def honest(chance, lab):
    """A notebook in which each answer is right, wrong or not there."""
    sources = {}
    for slot in plan(lab).slots:
        kind = chance.choices(["OURS", "RIGHT", "WRONG", "HOLE"], [40, 30, 20, 10])[0]
        if slot.exercise and kind != "OURS":
            known = cells(kind, slot.exercise) if kind != "HOLE" else {0: HOLE}
            sources[slot.name.replace("-", "_")] = known[chance.choice([*known])]
    return filled(solution(lab), **sources)


def broken(chance, lab, path):
    """A file that is none, or that lacks something."""
    whole = json.dumps(solution(lab))
    kinds = [
        whole[: chance.randrange(len(whole))],
        "",
        "[]",
        '{"cells": []}',
        json.dumps(filled(solution(lab), **{plan(lab).slots[-1].name.replace("-", "_"): "def ("})),
        json.dumps({**solution(lab), "cells": solution(lab)["cells"][: chance.randrange(20)]}),
        (REPOSITORY / "labs" / lab / f"{lab}.ipynb").read_text("utf-8"),
    ]
    path.write_text(chance.choice(kinds), encoding="utf-8")


def bag(count, folder):
    """So many submissions in a folder, always the same ones."""
    labs, chance = [*LABS], Random(7)
    files = []
    for number in range(count):
        learner, lab = f"learner_{number:04}", labs[number % len(labs)]
        of_ten = number % 10
        if of_ten == 9:
            source = HOSTILE[number // 10 % len(HOSTILE)]
            files.append(laid_down(filled(solution(), answer=source), folder, learner))
            continue
        files.append(laid_down(honest(chance, lab), folder, learner, lab))
        if of_ten in (3, 6):
            broken(chance, lab, files[-1])
    return files


def memory(process):
    """The most bytes that a process had so far, in megabytes."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0.0


def graded(files, out, jobs):
    """Grade with the command: seconds, the rows, and the most memory of the parent and a grader."""
    seed = out.with_name("seed")
    seed.write_text("a seed of sixteen bytes and more")
    seed.chmod(0o600)
    program = "from harness_zero.cli import main; main()"
    argv = [sys.executable, "-c", program, "grade", *map(str, files), "--jobs", str(jobs)]
    argv += ["--secret", str(seed), "--out", str(out), "--feedback", str(out.with_suffix(""))]
    began, parent, graders = time.monotonic(), 0.0, 0.0
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None:
            parent = max(parent, memory(run.pid))
            graders = max(graders, *map(memory, children(run.pid)), 0.0, 0.0)
            time.sleep(0.1)
    took = time.monotonic() - began
    if run.returncode:
        raise SystemExit(f"the command ended with {run.returncode}")
    with open(out, encoding="utf-8", newline="") as file:
        return took, list(csv.DictReader(file)), parent, graders


def load():
    """How many processes want a core, in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def main(count):
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} graders on {cores} cores; 70 % honest, 20 % broken, 10 % hostile")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for many in (count, 3 * count):
            files, before = bag(many, folder / str(many)), load()
            took, rows, parent, graders = graded(files, folder / f"{many}.csv", cores)
            print(
                f"{many:5} submissions: {60 * many / took:5.0f} a minute"
                f"   parent {parent:4.0f} MB, a grader {graders:4.0f} MB"
                f"   load {before:.1f} before, {load():.1f} after"
            )
            if many == count:
                first, few = files, rows
        _, alone, _, _ = graded(first, folder / "alone.csv", 1)
        lost = [pair for pair in zip(few, alone, strict=True) if pair[0] != pair[1]]
        print(f"{len(lost)} of {count} came out otherwise than when they are graded alone")
        for one, other in lost:
            print(" ", {name: (one[name], other[name]) for name in one if one[name] != other[name]})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
