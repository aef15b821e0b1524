"""What a step costs in a journal, beside a bare append of the same bytes, in one run.

    python benchmarks/journal.py [rounds]

A step is two lines, its intent and its outcome, so a round with one call is four. Results are
2 KB long. Ratios are what is promised; absolute figures are what one machine showed. Without a
disk to wait for, time is the processor's own, so that other programs do not count.
"""

import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from harness_zero.assembly import assemble
from harness_zero.desk import asking
from harness_zero.journal import Journal
from harness_zero.messages import reply
from harness_zero.run import Run

RESULT = ("def log_in(name):  # one of many lines\n" * 60)[:2_000]
TURNS = 5


def played(rounds, journal=None, clock=process_time):
    """How long a run of so many rounds takes, in seconds."""
    script = iter([*[asking(str(n)) for n in range(rounds)], reply("done")])
    tools = {"note": lambda what: RESULT}
    harness = assemble(lambda request: next(script), tools, brakes=(), journal=journal)
    began = clock()
    harness(Run("go"))
    return clock() - began


def bare(lines, path, sync, clock):
    """How long it takes to append these lines, each flushed to the system or to the disk."""
    began = clock()
    with path.open("ab") as file:
        for line in lines:
            file.write(line)
            if sync != "none":
                file.flush()
            if sync == "fsync":
                os.fsync(file.fileno())
    return clock() - began


def measured(sync, rounds, folder):
    """A line's cost without and with the journal, and what resuming costs a line, in µs."""
    path = Path(folder) / f"{sync}.jsonl"
    clock = perf_counter if sync == "fsync" else process_time
    alone = played(rounds, clock=clock)
    with Journal(path, sync=sync) as journal:
        with_it = played(rounds, journal, clock)
    lines = path.read_bytes().splitlines(keepends=True)
    append = bare(lines, Path(folder) / "bare", sync, clock)
    began = process_time()
    with Journal(path, sync=sync) as journal:
        played(rounds, journal)
    again = process_time() - began
    path.unlink()
    return [1e6 * each / len(lines) for each in (append, with_it - alone, again)]


def main(rounds):
    print(f"{rounds} rounds of two steps, results of 2 KB; µs a line, median of {TURNS}")
    for sync in ("none", "flush", "fsync"):
        many = rounds if sync != "fsync" else rounds // 10
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            runs = [measured(sync, many, folder) for _ in range(TURNS)]
        append, journal, again = (median(column) for column in zip(*runs, strict=True))
        ratio = f"{journal / append:5.1f} x a bare append ({append:.1f})"
        print(f"{sync:<6} {journal:7.1f} {ratio}   resumed {again:5.1f}")
    with tempfile.TemporaryDirectory() as folder:
        few, many = (measured("flush", count, folder)[2] for count in (rounds // 4, rounds))
    print(f"resuming, µs a line: {few:.1f} at {rounds // 4} rounds, {many:.1f} at {rounds}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2_000)
