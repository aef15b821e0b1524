"""Failures that were reported of real agent loops, as flights with the ending they should have.

A case that needs a part which is not there yet waits for it by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from math import isclose
from typing import Any

from harness_zero.contracts import judge, next_speaker, stop_hook
from harness_zero.flight.family import shared
from harness_zero.flight.fly import Flown, fly
from harness_zero.flight.pilots import OFFERED, Pilot, clock_below, pilot, with_contract
from harness_zero.flight.resumed import resumed, second
from harness_zero.flight.retrying import asking_again, retrying
from harness_zero.messages import Message, Reply, reply, tool_results, tool_uses
from harness_zero.ports import Model, Policy, Request
from harness_zero.prefix import is_request, lines
from harness_zero.run import Run


@dataclass(frozen=True)
class Told:
    """What a case is judged by."""

    flown: Flown
    messages: list[Message]
    sent: list[list[Any]]  # each request, a line a block, as a cache compares them
    usd: list[float] = field(default_factory=list)  # what each reply cost
    spoken: int = 0  # how often the harness put in words of its own
    why: str = ""  # what it ended with, beside the label
    counted: float = 0.0  # USD, as the run itself counted them
    asides: int = 0  # calls of a model beside the array

    @property
    def made(self) -> int:
        """How many calls were made and came back."""
        results = [r for message in self.messages for r in tool_results(message)]
        return sum(not str(r.get("content")).startswith("not executed") for r in results)


Holds = Callable[[Told], bool]


@dataclass(frozen=True)
class Case:
    """A flight, who flies it, and how it should end; or the part of the library it waits for."""

    id: str
    what: str
    flight: str
    label: str
    harness: Any = "library"
    holds: Holds = lambda told: True
    waits: str = ""  # a module of harness_zero

    @property
    def ready(self) -> bool:
        """Whether all that the case needs is there."""
        return not self.waits or find_spec(f"harness_zero.{self.waits}") is not None


def stops_by(calls: int) -> Holds:
    """So many calls are made at most."""
    return lambda told: told.made <= calls


def advised(calls: int, why: str) -> Holds:
    """One word of advice came first; so many calls are made at most, and the end says why."""
    return lambda told: told.spoken == 1 and told.made <= calls and why in told.why


def arrives(advice: int) -> Holds:
    """The goal is reached, and the harness spoke so often."""
    return lambda told: told.flown[0].reached and told.spoken == advice


def vetoed(times: int, why: str) -> Holds:
    """So many answers were sent back, each of them paid for, and the end says why."""

    def holds(told: Told) -> bool:
        paid = isclose(told.counted, sum(told.usd))
        return told.spoken == times and paid and why in told.why

    return holds


def all_answered(told: Told) -> bool:
    """Each call has its result: one real, one unknown, one not executed."""
    contents = [r["content"] for r in tool_results(told.messages[2])]
    return len(contents) == 3 and "unknown" in contents[1] and "not executed" in contents[2]


def one_message_in_order(told: Told) -> bool:
    """The results of a reply stand in the next message, in the order of the calls."""
    asked, answered = tool_uses(told.messages[1]), tool_results(told.messages[2])
    return [c["id"] for c in asked] == [r["tool_use_id"] for r in answered] and len(asked) == 3


def passed_by_one_call(told: Told) -> bool:
    """Up to the last reply the cap was not reached; a price is known after the call."""
    return sum(told.usd[:-1]) < told.flown.limits["cap_usd"] <= sum(told.usd)


def only_appended(told: Told) -> bool:
    """Each request begins with the one before, byte for byte."""
    return all(b[: len(a)] == a for a, b in zip(told.sent, told.sent[1:], strict=False))


def done_once(told: Told) -> bool:
    """The effect happened, and once."""
    return told.flown[0].kind == "reached"


def family_passes_by_one_call(told: Told) -> bool:
    """Parent and children together pass the cap by one call at most; one child hears of it."""
    total, cap = told.counted + sum(told.usd), told.flown.limits["cap_usd"]
    ends = [str(result["content"]) for result in tool_results(told.messages[2])]
    return cap <= total <= cap + max(told.usd) and ends[1].startswith("cost_cap")


def under(contract: Callable[[Policy], Policy]) -> Any:
    """The library with a contract of this kind, and no detector."""
    return with_contract(lambda stop, tools, prompt: contract(stop), name="under a contract")


def never_satisfied(run: Run, again: bool) -> str:
    """A hook that vetoes every end, in words that it has not used before."""
    return f"Not yet: {len(run.spoken) + 1}."


def dear() -> Model:
    """A judge at 30 cents a verdict, each of them another reason not to agree."""
    verdicts = count(1)

    def model(request: Request) -> Reply:
        return reply(f'{{"agrees": false, "why": "{next(verdicts)}"}}', cost=0.3)

    return model


def done_once_and_said(told: Told) -> bool:
    """The effect happened once, and the model was told that nobody had seen it."""
    return done_once(told) and "outcome unknown" in str(told.messages)


def untouched(told: Told) -> bool:
    """The second turn says why it did not begin, asks no model, and changed nothing."""
    return told.why.startswith("another run is at work") and told.sent == []


CASES = (
    Case(
        "A1",
        "the same call in one reply after the other, the same result",
        "stubborn/login-bug/calm#0",
        "stuck",
        holds=advised(9, "the same call"),
    ),
    Case(
        "A2",
        "two calls by turns",
        "alternating/shelves/calm#0",
        "stuck",
        holds=advised(17, "the same circle of 2"),
    ),
    Case(
        "A3",
        "six times the same call in one reply",
        "stuttering/login-bug/calm#3",
        "finished",
        holds=arrives(advice=1),
    ),
    Case(
        "A4",
        "the same write again, and each is ok",
        "stubborn/many-files/calm#2",
        "stuck",
        holds=advised(11, "the same call"),
    ),
    Case(
        "A5",
        "the same error to call after call, the arguments vary",
        "diligent/locked/calm#1",
        "stuck",
        holds=advised(8, "the same failure"),
    ),
    Case(
        "B1",
        "polling a build that tells how far it is",
        "diligent/build/calm#6",
        "finished",
        holds=arrives(advice=0),
    ),
    Case(
        "B2",
        "the same tool on many files",
        "diligent/many-files/calm#4",
        "finished",
        holds=arrives(advice=0),
    ),
    Case(
        "B3",
        "edit, test, edit, test: an experiment",
        "diligent/login-bug/calm#1",
        "finished",
        holds=arrives(advice=0),
    ),
    Case(
        "C1",
        "an interrupt in the second of three calls",
        "diligent/shelves/interrupt@2#27",
        "interrupted",
        holds=all_answered,
    ),
    Case(
        "C3",
        "three calls in a reply, their results in one message",
        "diligent/shelves/calm#27",
        "finished",
        holds=one_message_in_order,
    ),
    Case(
        "C5",
        "two turns at once on one run",
        "diligent/shelves/calm#27",
        "busy",
        second,
        untouched,
    ),
    Case(
        "D1",
        "a call is cut off three times",
        "windy/big-file/calm#24",
        "truncated",
        holds=stops_by(0),
    ),
    Case("D2", "one empty reply after the other", "silent/login-bug/calm#3", "empty_reply"),
    Case(
        "E1",
        "a stop hook that is never satisfied",
        "hasty/build/calm#1",
        "veto_cap",
        under(lambda stop: stop_hook(stop, never_satisfied)),
        vetoed(8, "never_satisfied does not agree"),
    ),
    Case(
        "E2",
        "a stop hook that says the same again, and nothing was done in between",
        "hasty/build/calm#1",
        "veto_cap",
        under(lambda stop: stop_hook(stop, lambda run, again: "Not yet.")),
        vetoed(1, "the same again"),
    ),
    Case(
        "E3",
        "a stop hook that would go on behind a brake",
        "hasty/build/calm#1",
        "max_rounds",
        under(lambda stop: stop_hook(stop, never_satisfied, cap=1000)),
        lambda told: told.flown[0].rounds == told.flown.limits["max_rounds"],
    ),
    Case(
        "E4",
        "a judge that is never satisfied, and costs",
        "hasty/build/calm#1",
        "cost_cap",
        under(lambda stop: stop_hook(stop, judge(dear(), name="the judge"))),
        lambda told: told.asides == 7 and 2.1 < told.counted < 2.11,
    ),
    Case(
        "E5",
        "a model that is told to go on for ever, by one that is asked who speaks next",
        "hasty/build/calm#1",
        "finished",
        under(lambda stop: next_speaker(stop, lambda request: reply('{"next": "model"}'))),
        lambda told: told.spoken == told.asides == 2,
    ),
    Case(
        "F1",
        "children spend what the parent lacks",
        "spending/many-pages/calm#0",
        "cost_cap",
        shared,
        family_passes_by_one_call,
    ),
    Case(
        "F2",
        "a cap in money is passed by one call, and no more are made",
        "spending/many-pages/calm#0",
        "cost_cap",
        holds=passed_by_one_call,
    ),
    Case(
        "G1",
        "the process dies between an effect and its record",
        "diligent/one-mail/killed@2#2",
        "finished",
        resumed,
        done_once_and_said,
    ),
    Case(
        "G2",
        "a reply with a call in it is lost, and asked for again",
        "diligent/one-mail/lost-reply@2#0",
        "finished",
        asking_again,
        done_once,
    ),
    Case(
        "G3",
        "the connection breaks behind the effect of a tool that takes a key",
        "diligent/keyed-mail/lost-after@2#11",
        "finished",
        retrying,
        done_once,
    ),
    Case(
        "H1",
        "the clock moves, what was sent does not",
        "diligent/login-bug/calm#1",
        "finished",
        pilot(clock_below),
        only_appended,
    ),
)


def fly_case(case: Case) -> Told:
    """Fly a case and keep what it is judged by."""
    kept: list[Any] = []
    sent: list[list[Any]] = []
    usd: list[float] = []

    def keeping(model: Any, tools: Any, prompt: str, **limits: Any) -> Any:
        def speak(asked: Any) -> Any:
            request = asked if is_request(asked) else {"messages": asked}
            sent.append([line for _, line in lines(request)])
            reply = model(asked)
            usd.append(reply["cost_usd"])
            return reply

        given = pilot(case.harness).fly(speak, tools, prompt, **limits)
        kept.append(given)
        return given

    flown = fly(Pilot(case.id, keeping, frozenset(OFFERED), case.id), case.flight)
    given = kept[-1]
    if isinstance(given, Run):
        told = len(given.spoken), given.why, given.cost_usd, len(given.asides)
        return Told(flown, given.messages, sent, usd, *told)
    return Told(flown, given[0], sent, usd)
