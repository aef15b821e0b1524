"""The detector bench: what detectors say to runs that are known to be healthy or stuck.

Each trace is played through the real loop, so a detector that is sound by itself and inert in
the loop shows as what it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, signature
from typing import Any

from harness_zero.faults import SetupFault, place
from harness_zero.flight.known import TRACES, Trace, recorded
from harness_zero.flight.miniatures import CHECKED, REAL, miniature
from harness_zero.flight.place import POLLERS
from harness_zero.labels import End, Say
from harness_zero.loop import turn
from harness_zero.messages import Block
from harness_zero.policy import brake, first_of, max_rounds, nudge, recover, structural_stop
from harness_zero.ports import Policy, Request
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.stages.s5_repetition_detector import repetition as window_of_five
from harness_zero.view import plain


class NoDetector(SetupFault):
    """What was given is no detector."""


@dataclass
class Verdict:
    """What a detector said to a trace, by the rounds in which it said so."""

    trace: Trace
    advice: list[int] = field(default_factory=list)
    stop: int = 0
    fault: str = ""

    @property
    def mark(self) -> str:
        """! stops a healthy run, ? speaks to a healthy run, x misses a stuck one; else nothing."""
        if self.fault:
            return "E"
        if self.trace.healthy:
            return "!" if self.stop else "?" if self.advice else ""
        return "" if self.stop else "x"

    @property
    def delay(self) -> int:
        """How many rounds went in a circle until the stop."""
        return self.stop - self.trace.stuck_from + 1

    def __str__(self) -> str:
        said = f"{self.advice[0] if self.advice else ''}{f'/{self.stop}' if self.stop else ''}"
        return f"{self.mark}{said}" or "."


@dataclass(frozen=True)
class Row:
    """A detector and what it said to each trace."""

    name: str
    source: str
    verdicts: list[Verdict]

    def count(self, healthy: bool, judge: Callable[[Verdict], Any]) -> str:
        """Of how many traces of a kind something holds, as a share."""
        of_kind = [each for each in self.verdicts if each.trace.healthy == healthy]
        return f"{sum(bool(judge(each)) for each in of_kind)}/{len(of_kind)}"

    @property
    def delay(self) -> str:
        """The rounds in a circle before a stop: in the middle, and at most."""
        delays = sorted(v.delay for v in self.verdicts if v.stop and not v.trace.healthy)
        return f"{delays[len(delays) // 2]}, {delays[-1]}" if delays else ""

    @property
    def numbers(self) -> tuple[str, ...]:
        """What the row comes to."""
        return (
            self.count(False, lambda verdict: verdict.stop),
            self.delay,
            self.count(True, lambda verdict: verdict.stop),
            self.count(True, lambda verdict: verdict.advice),
        )


def bench(mine: Mapping[str, Any], traces: Sequence[Trace] = TRACES) -> list[Row]:
    """A row a detector: those of one's own, ours, the window of five, and the miniatures."""
    own = [Row(name, "yours", judged(detector, traces)) for name, detector in mine.items()]
    ours = Row("repetition", "ours", judged(repetition(pollers=POLLERS), traces))
    window = Row("window of five", "stage 5", judged(window_of_five(), traces))
    others = [
        Row(
            real.name,
            sourced(real.source, real.note),
            judged(partial(miniature, real.rule), traces),
        )
        for real in REAL
    ]
    return [*own, ours, window, *others]


def sourced(source: str, note: str) -> str:
    """Where the numbers of a miniature are from."""
    return f"{source}; {note}" if note else source


def judged(detector: Any, traces: Sequence[Trace]) -> list[Verdict]:
    """What a detector says to each trace."""
    return [played(made(detector), trace) for trace in traces]


def made(detector: Any) -> Policy:
    """A detector as it is, or a new one for each trace if it is what makes one."""
    if not callable(detector):
        raise NoDetector(f"a detector is a policy, a function of a run; this is {detector!r:.80}")
    needed = [p for p in signature(detector).parameters.values() if p.default is Parameter.empty]
    return detector if needed else made(detector())


def played(detector: Policy, trace: Trace) -> Verdict:
    """Play a trace through the loop, and note what the detector says."""
    verdict, said = Verdict(trace), recorded(trace)
    replies = said.model()

    @brake
    def listening(run: Run) -> Say | End | None:
        word = detector(run)
        if isinstance(word, End):
            verdict.stop = run.rounds
        elif word:
            verdict.advice.append(run.rounds)
        return word

    def model(request: Request) -> Any:
        return next(replies)

    def tool(call: Block) -> Block:
        return said.results[call["id"]]

    stop = recover(nudge(structural_stop, limit=10), limit=10)
    policy = first_of(stop, max_rounds(len(said.replies)), listening)
    try:
        turn(Run.of([said.prompt], clock=lambda: 0.0), policy, plain(), model, tool)
    except Exception as error:
        verdict.fault = f"{type(error).__name__}: {error}{place(error)}"
    return verdict


HEAD = ("detector", "stuck: stopped", "after rounds", "healthy: stopped", "healthy: spoken to")
LEGEND = (
    "3/9: the first word in round 3, the stop in round 9; .: nothing",
    "!: stops a healthy run   ?: a word to a healthy run   x: lets a stuck run go on",
    "after rounds: spent in the circle until the stop, in the middle and at most",
    f"miniatures of documented defaults, not the projects' code; read by {CHECKED}",
)
