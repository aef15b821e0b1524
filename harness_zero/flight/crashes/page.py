"""The page about crashes, made by dying: at every boundary, and at a hundred seeded instants.

python -m harness_zero.flight.crashes.page           writes docs/crashes.md
python -m harness_zero.flight.crashes.page --print   prints it
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness_zero.flight.crashes.moments import Moment
from harness_zero.flight.crashes.tried import Tried, boundaries, hundred, told

PAGE = Path(__file__).parents[3] / "docs" / "crashes.md"

OPENING = """# Crashes

This page is made by `python -m harness_zero.flight.crashes.page`; a test holds it current.

A harness runs in a process of its own, dies by SIGKILL, and is started again until its turn is
over. Its task: read an invoice and an address, pay the invoice, mail its number. What happens
outside of it stands in a file that no process takes along, and is counted there: how often the
model was asked, a file was read, the bank was asked to pay and paid, a mail was sent.

The four tools declare what may be done when nobody knows whether a call was made. Reading is run
again. Paying takes a key and is made again with the same one; the bank knows it and pays once.
The mail declares nothing, so it is never repeated: the model is told that the outcome is unknown,
and this model looks at what was sent before it does anything else.

Beside it the same harness without a journal: it dies after as many effects, and is begun anew.

## At every boundary

*Half written* is an outcome of which the file has the first half: the line is dropped, so the
step is in doubt, as if nothing had been written."""

HUNDRED = """
## At a hundred seeded instants

Every byte that is written into the journal is an instant, and so are some before and after every
effect; a seed draws one of them. Half of the runs die a second time while they are resumed, if
they live long enough, and half have a deadline of 30 s, which holds after the invoice is paid."""

READING = """
*Done again* counts effects whose outcome was recorded, or whose repetition nobody allowed. The
label is the one that the undisturbed run has: the clock is in the journal, so a deadline ends a
resumed run at the same step. Every request was held to the rules of the API.

The tests try two more kinds, whose instants differ from machine to machine, so that no figure of
theirs stands here: forty deaths at a seeded line of Python, wherever it is, and forty at a seeded
time, by a signal from another process. The same promises hold in all of them."""

PROMISES = (
    ("`sync`", "a line that was written outlives", "it does not outlive"),
    ("---", "---", "---"),
    (
        "`none`",
        "nothing but an ending by itself",
        "a crash: the last lines may be missing, and what they tell of is done again",
    ),
    (
        "`flush`, unless another is given",
        "the death of the process, `kill -9` too",
        "a loss of power, or a crash of the whole machine",
    ),
    ("`fsync`", "a loss of power, as far as the disk keeps its word", "a disk that lies, or dies"),
)

LOCK = """
The lock is the system's own and ends with the process. On Linux and macOS it is `flock`; on
Windows a byte behind the end of the file is locked, which was not tried here. NFS from version 4
on keeps such locks on its server, and lets go of a dead machine's when its lease is over. A file
system that knows no locks is refused in a sentence. A process that was forked by the run and
outlives it keeps the file busy; one that was started as a program does not."""


def page(edges: Sequence[tuple[Moment, Tried]], runs: Sequence[Tried]) -> str:
    """The page, as it has to stand in docs/."""
    promises = ["\n## What is promised where\n", *(f"| {' | '.join(row)} |" for row in PROMISES)]
    tables = [OPENING, *boundary_table(edges), HUNDRED, *figures(runs), READING]
    return "\n".join([*tables, *promises, LOCK]) + "\n"


def boundary_table(edges: Sequence[tuple[Moment, Tried]]) -> Iterator[str]:
    """A row a boundary: what the resume did, and what happened in all."""
    yield "\n| step | it dies with the | on resuming | with the journal | begun anew |"
    yield "|---|---|---|---|---|"
    for moment, run in edges:
        anew = counts(run.anew.effects) if run.anew else ""
        does = done(run)
        yield f"| {moment.step} | {moment.says} | {does} | {counts(run.ending.effects)} | {anew} |"


def done(run: Tried) -> str:
    """What was done about the step in doubt, in a few words."""
    doubts = [line for line in run.ending.doubts if "was in doubt: " in line]
    return doubts[0].partition("was in doubt: ")[2] if doubts else "goes on"


def counts(effects: Counter[str]) -> str:
    """What happened in all, in a few words."""
    read = effects["read_file"] + effects["list_sent"]
    asked = f"asked {effects['model']}, read {read}"
    return f"{asked}, paid {effects['paid']} in {effects['pay']}, mailed {effects['send_mail']}"


def figures(runs: Sequence[Tried]) -> Iterator[str]:
    """What became of all runs together."""
    doubts, found = Counter(run.doubt for run in runs), told(runs)
    anew = [run.anew.effects for run in runs if run.anew]
    deaths = sum(run.ending.deaths for run in runs)
    rows = {
        "deaths": (deaths, len(anew)),
        "runs brought to their end": (len(runs), len(anew)),
        "under another label": (sum("label" in fault for fault in found.elements()), "not judged"),
        "lines cut off, and dropped": (sum(run.torn for run in runs), ""),
        "a model call in doubt: asked again": (doubts["model"], ""),
        "a reading in doubt: read again": (doubts["read_file"], ""),
        "a payment in doubt: made again, with its key": (doubts["pay"], ""),
        "a mail in doubt: told to the model, not repeated": (doubts["send_mail"], ""),
        "of these, not told": (found["a doubt was not told to the model"], ""),
        "recorded lines lost": (found["a recorded line was lost"], ""),
        "something recorded done again": (found["something recorded was done again"], ""),
        "requests or arrays that the API refuses": (
            sum(count for fault, count in found.items() if "API" in fault or "array" in fault),
            "",
        ),
        "the invoice paid twice": (
            found["the invoice was paid twice"],
            sum(effects["paid"] > 1 for effects in anew),
        ),
        "the mail sent twice": (
            found["the mail went out twice"],
            sum(effects["send_mail"] > 1 for effects in anew),
        ),
    }
    yield "\n| of 100 runs | with the journal | begun anew |\n|---|---|---|"
    yield from (f"| {what} | {ours} | {theirs} |" for what, (ours, theirs) in rows.items())


def main() -> int:
    """Die, and write the page; the exit code is 1 if something did not hold."""
    edges, runs = boundaries(), [*hundred()]
    made = page(edges, runs)
    if "--print" in sys.argv:
        print(made, end="")
    else:
        PAGE.write_text(made, encoding="utf-8")
    failed = told([*[run for _, run in edges], *runs])
    for fault, times in failed.items():
        print(f"{fault} ({times} times)", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
