"""Hidden flights: a persona, a world, a fault and a seed that are drawn, flown from outside.

An answer that is a part of a harness is flown in ours, in its place. What becomes of a flight
has to be what becomes of it with ours: how it ended, after how many rounds, with what done.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from inspect import Signature, signature
from time import monotonic
from typing import Any

from harness_zero.flight.faults import Killed
from harness_zero.flight.fly import fly
from harness_zero.flight.names import dealt
from harness_zero.flight.outcome import Outcome
from harness_zero.flight.pilots import limits_alone, pilot_of, with_detectors
from harness_zero.flight.resumed import STARTS
from harness_zero.grading import lab01, lab02, lab04, lab05, lab11
from harness_zero.grading.lab09 import a_file
from harness_zero.grading.record.hidden.drawing import Chance
from harness_zero.grading.record.hidden.ours import ours
from harness_zero.policy import brake
from harness_zero.ports import Policy

Harness = Callable[..., Any]  # run(model, tools, prompt) and the limits that it takes
Fit = Callable[[Any], Harness]  # puts an answer in its place in a harness

PLAIN = (  # they end each reply as a loop without labels knows it
    *("diligent", "double-checking", "polling", "stubborn"),
    *("alternating", "hasty", "rambling", "stuttering"),
)
ALL = (*PLAIN, "windy", "silent", "refusing", "dreaming")
WORLDS = ("login-bug", "lost-config", "one-mail", "build", "big-file", "shelves", "locked")
CALM = ("calm",)
FAULTY = ("calm", "calm", "crash", "lost-before", "lost-after", "slow", "cut")
LOST = ("529", "429", "lost-reply")
LONGEST = 16  # rounds of a flight with ours: from outside each takes its time
LIMIT = 50  # rounds of every flight
DRAWS = 20  # after which any will do


def flown(
    exercise: str,
    fit: Fit,
    faults: Sequence[str] = CALM,
    personas: Sequence[str] = ALL,
    **limits: tuple[int, int],
) -> Callable[[Chance, Any], Any]:
    """A flight with the answer in it, told as far as words of the harness mean nothing."""

    def case(chance: Chance, answer: Any) -> Any:
        held = {name: chance.randint(*most) for name, most in limits.items()}
        seed = chance.getrandbits(64)
        name = soon_over(exercise, fit, (*faults,), (*personas,), (*held.items(),), seed)
        return told(fly(pilot_of("yours", fit(answer)), name, **held)[0])

    return case


@lru_cache(1_000)
def soon_over(
    exercise: str,
    fit: Fit,
    faults: Sequence[str],
    personas: Sequence[str],
    held: tuple[tuple[str, int], ...],
    seed: int,
) -> str:
    """The name of a flight that is short with ours, and for which ours was made."""
    chance, pilot = Chance(seed), pilot_of("ours", fit(ours(exercise)))
    for _ in range(DRAWS):
        name = some_flight(chance, faults, personas)
        outcome = fly(pilot, name, **dict(held))[0]
        if outcome.rounds <= LONGEST and outcome.kind != "crashed":
            break
    return name


def some_flight(
    chance: Chance,
    faults: Sequence[str] = CALM,
    personas: Sequence[str] = ALL,
    worlds: Sequence[str] = WORLDS,
) -> str:
    """The name of any flight."""
    persona, world = chance.choice(personas), chance.choice(worlds)
    return str(dealt(persona, world, chance.choice(faults), chance.randrange(10**9)))


def told(outcome: Outcome) -> Any:
    """What became of a flight, without what goes by the length of the harness's words."""
    shape = bool(outcome.leftover), outcome.refused, outcome.effects
    return outcome.kind, outcome.label, outcome.rounds, *shape


# an answer in its place


def itself(answer: Any) -> Harness:
    """A whole harness."""
    return answer


def all_limits(answer: Any) -> Harness:
    """A whole harness that takes all limits, whichever of them it names."""

    def run(
        model: Any,
        tools: Any,
        prompt: str,
        max_rounds: int = LIMIT,
        cap_usd: float = 2.0,
        seconds: float = 600,
        clock: Any = monotonic,
        sleep: Any = None,
    ) -> Any:
        limits = {"max_rounds": max_rounds, "cap_usd": cap_usd, "seconds": seconds}
        return answer(model, tools, prompt, **limits, clock=clock, sleep=sleep)

    return run


def as_answer(answer: Any) -> Harness:
    """A way to answer one call, in the loop of lab 01."""
    return lab01.around(lab01.act_with(answer))


def as_answer_or_report(answer: Any) -> Harness:
    """The same; of arguments that may be left out nothing is promised, so tools have none."""

    def run(model: Any, tools: Any, prompt: str) -> Any:
        needed = {name: with_all_needed(function) for name, function in tools.items()}
        return as_answer(answer)(model, needed, prompt)

    return run


def with_all_needed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tool that takes no arguments but those that it needs."""

    def tool(**given: Any) -> Any:
        return function(**given)

    needed = [
        each for each in signature(function).parameters.values() if each.default is each.empty
    ]
    tool.__signature__ = Signature(needed)  # type: ignore[attr-defined]
    return tool


def as_close_calls(answer: Any) -> Harness:
    """A way to close calls, in the loop of lab 02."""
    return lab02.braked(ours("act"), answer)


def as_ending(answer: Any) -> Harness:
    """A name for an ending, in the loop of lab 04."""
    return lab04.around(ours("act"), answer)


HALVES = ("structural_stop", "brakes", "first_of", "until_end")
LAYERS = ("repetition", "marked", "stop_hook", "journaled", "retried", "pool", "permission")
PIECES = (*HALVES, *LAYERS)


def in_halves(piece: str) -> Fit:
    """One piece of the loop of lab 05."""
    return lambda answer: lab05.around(
        ours("act"), **{each: answer if each == piece else ours(each) for each in HALVES}
    )


def in_all_together(piece: str, **given: Any) -> Fit:
    """One piece of the harness of lab 11, which is given this."""

    def fit(answer: Any) -> Harness:
        pieces = {each: answer if each == piece else ours(each) for each in PIECES}
        run = lab11.together(act=lab01.act_with(ours("answer_or_report")), **pieces)
        return partial(run, **given)

    return fit


def look_again(run: Any, again: bool) -> str | None:
    """A hook that vetoes the first end."""
    return None if again else "Look again."


def as_stop_hook(answer: Any) -> Harness:
    """A stop that a hook may veto."""
    return in_all_together("stop_hook", hook=look_again)(answer)


def as_permission(answer: Any) -> Harness:
    """A layer that may say no."""
    return in_all_together("permission", rules=RULES, ask=is_no_answer)(answer)


RULES = (("deny", "send_*"), ("ask", "write_file"), ("ask", "run_tests"), ("allow", "*"))


def is_no_answer(call: dict[str, Any]) -> bool | str:
    """Somebody who lets all be done but the writing of an answer."""
    return "answer" not in str(call["input"]) or "not now"


def as_journaled(answer: Any) -> Harness:
    """A journal in the harness of lab 11."""
    return resumed(in_all_together("journaled")(answer))


def resumed(run: Any) -> Harness:
    """A whole harness that keeps a journal; its process is begun again whenever it was killed."""

    def begun_again(model: Any, tools: Any, prompt: str, clock: Any = monotonic) -> Any:
        with a_file() as path:
            for _ in range(STARTS):
                with suppress(Killed):
                    return run(model, tools, prompt, clock=clock, path=path, safe=SAFE)
        raise Killed

    return begun_again


def all_given(answer: Any) -> Harness:
    """A whole harness that is given rules, somebody to ask, a hook and a purse that runs empty."""

    def run(model: Any, tools: Any, prompt: str, max_rounds: int, clock: Any = monotonic) -> Any:
        given = {"rules": RULES, "ask": is_no_answer, "hook": look_again}
        purse = ours("pool")(PURSE_USD, 0.01)
        limits = {"max_rounds": max_rounds, "clock": clock}
        return answer(model, tools, prompt, **limits, purse=purse, **given)

    return run


PURSE_USD = 0.5
SAFE = ("read_file", "list_files", "run_tests")


def as_window(answer: Any) -> Harness:
    """A detector beside the brakes of lab 05."""
    return partial(ours("two_halves"), more=[brake(answer())])


# a detector that is as good as its promise


SOON = 30  # rounds after which ours has ended a flight in circles
MEETINGS = 2  # flights in circles, of which half have to be ended
HEALTHY = ("diligent", "double-checking", "polling")
IN_CIRCLES = ("stubborn", "alternating")
ROOMY = ("login-bug", "build", "shelves", "lost-config", "many-pages")


def keeps_the_goals(chance: Chance, answer: Any) -> Any:
    """A healthy flight: whether a goal that no detector would have lost is lost."""
    name = some_flight(chance, CALM, HEALTHY, ROOMY)
    return flown_by(brake(answer()), name).reached or not fly(limits_alone, name)[0].reached


def saves_rounds(chance: Chance, answer: Any) -> Any:
    """Flights in circles, which only a limit would end: whether half of them are ended before."""
    names = [in_circles(chance.getrandbits(64)) for _ in range(MEETINGS)]
    ended = [flown_by(brake(answer()), name).wasted < LIMIT for name in names]
    return sum(ended) * 2 >= MEETINGS


@lru_cache(1_000)
def in_circles(seed: int) -> str:
    """The name of a flight in circles that ours ends, and that goes on to the limit without it."""
    chance = Chance(seed)
    while True:
        name = some_flight(chance, CALM, IN_CIRCLES, ROOMY)
        alone = fly(limits_alone, name)[0]
        if alone.wasted >= LIMIT and flown_by(brake(ours("repetition")()), name).wasted < SOON:
            return name


def flown_by(detector: Policy, name: str) -> Outcome:
    """What becomes of a flight with this detector."""
    return fly(with_detectors(detector, name="yours"), name)[0]
