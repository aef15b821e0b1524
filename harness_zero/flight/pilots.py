"""Pilots: any harness in one shape. A stage, the library, a learner's function or package.

A harness is given the limits that it takes, by name, and may give back messages, messages
and a label, or a Run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from time import monotonic
from typing import Any

from harness_zero import policy
from harness_zero.assembly import assemble, of_messages
from harness_zero.faults import SetupFault
from harness_zero.flight.place import POLLERS
from harness_zero.loop import ModelFailed
from harness_zero.news import news
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.ports import Policy, Request
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.stages import NAMES, stage
from harness_zero.stages.s5_repetition_detector import repetition as window
from harness_zero.tools import schemas
from harness_zero.view import cached, plain

LIMITS = {"max_rounds": 50, "cap_usd": 2.0, "seconds": 1800}  # of every flight
USUAL = (*LIMITS, "clock")  # what a stage takes, and gets
OFFERED = (*USUAL, "sleep")  # what a harness can ask for by naming it

Contract = Callable[[Policy, Any, str], Policy]  # a stop, for these tools and this prompt, wrapped


class NoHarness(SetupFault):
    """What was given cannot be flown."""


@dataclass(frozen=True)
class Pilot:
    """A harness and what to call it; `fly` hands it the model, the tools and the prompt."""

    name: str
    run: Callable[..., Any]
    takes: frozenset[str]
    word: str  # how one would type it

    def fly(self, model: Any, tools: Any, prompt: str, **offered: Any) -> Any:
        """Play one turn with as many of the limits as the harness takes."""
        taken = {name: value for name, value in offered.items() if name in self.takes}
        return self.run(model, tools, prompt, **taken)


def pilot(harness: Any) -> Pilot:
    """The pilot of a stage by its number, of "library", of a function, or of a namespace."""
    if isinstance(harness, Pilot):
        return harness
    if isinstance(harness, int) and harness in NAMES and not isinstance(harness, bool):
        return pilot_of(f"stage {harness}", stage(harness), str(harness))
    if isinstance(harness, str) and harness == "library":
        return pilot_of("library", library, '"library"')
    if callable(harness):
        return pilot_of(getattr(harness, "__name__", "a harness"), harness)
    run = harness.get("run") if isinstance(harness, Mapping) else getattr(harness, "run", None)
    if callable(run):
        name = harness.get("name") if isinstance(harness, Mapping) else harness.__name__
        return pilot_of(str(name or "my_harness"), run, "my_harness")
    raise NoHarness(
        "fly() takes a harness: the number of a stage (1 to 5), 'library', a function"
        f" run(model, tools, prompt), or something with such a `run` in it; this is {harness!r:.80}"
    )


def pilot_of(name: str, run: Callable[..., Any], word: str = "") -> Pilot:
    """The pilot of a function, with the limits that it takes."""
    try:
        known = signature(run).parameters
        takes = {name for name in OFFERED if name in known}
        signature(run).bind(None, None, None, **dict.fromkeys(takes))
    except TypeError as error:
        raise NoHarness(f"{name} is called with (model, tools, prompt): {error}") from None
    except ValueError:  # a few builtins do not tell
        return Pilot(name, run, frozenset(), word or name)
    passes_on = any(p.kind is Parameter.VAR_KEYWORD for p in known.values())
    return Pilot(name, run, frozenset(USUAL if passes_on else takes), word or name)


def with_detectors(*detectors: Policy, name: str) -> Callable[..., Run]:
    """The library with what softens a stop, its brakes, and these detectors."""
    return with_contract(lambda stop, tools, prompt: stop, *detectors, name=name)


def with_contract(contract: Contract, *detectors: Policy, name: str) -> Callable[..., Run]:
    """The library with its softened stop under a contract, its brakes, and these detectors."""

    def run(
        model: Any,
        tools: Any,
        prompt: str,
        max_rounds: int = 50,
        cap_usd: float = 2.0,
        seconds: float = 600,
        clock: Any = monotonic,
    ) -> Run:
        brakes = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
        stop = contract(recover(nudge(structural_stop)), tools, prompt)
        harness = assemble(of_messages(model), tools, stop, brakes, detectors=detectors)
        return harness(Run(prompt, clock))

    run.__name__ = name
    return run


library = with_detectors(repetition(pollers=POLLERS), name="library")
limits_alone = with_detectors(name="limits_alone")  # the library without a detector
window_of_five = with_detectors(window(), name="window_of_five")  # with that of stage 5


def on_the_clock(on_top: bool, name: str) -> Callable[..., Run]:
    """The library with the cached view, told what time it is: at the bottom, or on top."""

    def run(
        model: Any,
        tools: Any,
        prompt: str,
        max_rounds: int = 50,
        cap_usd: float = 2.0,
        seconds: float = 600,
        clock: Any = monotonic,
    ) -> Run:
        brakes = policy.max_rounds(max_rounds), policy.cost_cap(cap_usd), policy.deadline(seconds)
        listed = schemas(tools)

        def now() -> str:
            return f"It is {clock():.0f} s."

        def view(run: Run) -> Request:
            return plain(now() if on_top else "You mend.", listed)(run)

        held = brakes if on_top else (news(now, "time"), *brakes)
        stop = recover(nudge(structural_stop))
        harness = assemble(model, tools, stop, held, cached(view), [repetition(pollers=POLLERS)])
        return harness(Run(prompt, clock))

    run.__name__ = name
    return run


clock_below = on_the_clock(False, "clock_below")
clock_on_top = on_the_clock(True, "clock_on_top")


def patient(model: Any, tools: Any, prompt: str, clock: Any, sleep: Any) -> Run:
    """The reference: it holds no brake and asks again. What it reaches was within reach."""

    def ask(request: Any) -> Any:
        for _ in range(10):
            try:
                return model(request["messages"])
            except ModelFailed:
                sleep(30)
        return model(request["messages"])

    stop = recover(nudge(structural_stop, limit=10), limit=10)
    return assemble(ask, tools, stop, brakes=())(Run(prompt, clock))
