"""Whatever a harness does, each request begins with the one before, except at a compaction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from offline import new_api, post

from harness_zero import policy
from harness_zero.assembly import assemble
from harness_zero.compaction import compacted
from harness_zero.flight import fly
from harness_zero.flight.faults import FAULTS
from harness_zero.flight.fly import flight
from harness_zero.flight.names import SMALL
from harness_zero.flight.personas import PERSONAS
from harness_zero.full import when_full
from harness_zero.labels import Say
from harness_zero.loop import ModelFailed
from harness_zero.messages import array_fault, text
from harness_zero.models.more_room import more_room
from harness_zero.models.told_full import told_full
from harness_zero.news import news
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.prefix import lines
from harness_zero.repetition import repetition
from harness_zero.run import Run
from harness_zero.simulator.cache import Cache
from harness_zero.simulator.catalogue import MODELS
from harness_zero.summary import HEADING
from harness_zero.tools import schemas
from harness_zero.view import cached, plain

BINDING = "claude-sonnet-5-5"  # thinking stays in its own place
NAMES = st.builds(
    lambda persona, world, fault, seed: f"{persona}/{world}/{fault}#{seed}",
    st.sampled_from([*PERSONAS]),
    st.sampled_from([*SMALL]),
    st.just("calm")
    | st.builds(lambda f, n: f"{f}@{n}", st.sampled_from([*FAULTS][1:]), st.integers(1, 9)),
    st.integers(0, 10_000),
)


@dataclass(frozen=True)
class Harness:
    """The library as one could put it together, and what it sends."""

    order: int = 0  # of the tools
    rounds: int = 50
    usd: float = 2.0
    spoken: int = 0  # a policy speaks at every so many messages
    told: int = 0  # news change at every so many calls
    chatter: int = 0  # blocks of text that the model puts around its calls
    thinks: bool = False
    at: float = 1e9  # tokens at which it is compacted
    window: int = 10**9  # characters that the model takes
    turns: int = 1
    resumed: bool = False  # each turn goes on from the messages alone
    marks: Callable = cached
    sent: list = field(default_factory=list, compare=False)
    usage: list = field(default_factory=list, compare=False)
    left: list = field(default_factory=list, compare=False)

    def __call__(self, model, tools, prompt, clock):
        names = Random(self.order).sample([*tools], len(tools))
        listed = schemas({name: tools[name] for name in names})
        view = self.marks(compacted(plain("You mend.", listed), at=self.at, keep=2))
        stop = recover(nudge(when_full(structural_stop)))
        brakes = policy.max_rounds(self.rounds), policy.cost_cap(self.usd)
        talk = [self.speaks, news(lambda: str(self.told and len(self.sent) // self.told), "todo")]
        asked = more_room(told_full(self.over_the_api(model)), 20_000)
        harness = assemble(asked, tools, stop, (*talk, *brakes), view, [repetition()])
        run = Run(prompt, clock)
        for turn in range(self.turns):
            again = Run.of(run.messages, clock) if self.resumed else run
            run = harness(again.ask(f"go on ({turn})") if turn else run)
            self.left.append(array_fault(run.messages))
        return run

    def speaks(self, run):
        return Say("advice") if self.spoken and len(run.messages) % self.spoken == 0 else None

    def over_the_api(self, model):
        """The same model behind the API's rules and its cache; what passed is kept."""
        failures, cache = [], Cache(clock=lambda: 0.0, declared=lambda block: 1_000)

        def source(request):
            try:
                reply = model(request)
            except Exception as error:
                failures.append(error)
                raise
            thought = [{"type": "thinking", "thinking": "hm"}] if self.thinks else []
            around = [text(f"{n}") for n in range(self.chatter)]
            content = [*thought, *(b for block in reply["content"] for b in (*around, block))]
            return {**reply, "content": content if reply["content"] else []}

        api = new_api(source)

        def speak(request):
            body = {"model": BINDING, "max_tokens": 8_192, **request}
            self.sent.append([line for _, line in lines(body)])
            if sum(map(len, self.sent[-1])) > self.window:
                raise ModelFailed("the API answered 400: prompt is too long: 2 > 1 maximum")
            answer = post(api, body)
            if answer.status == 400:
                raise RefusedByTheApi(answer.body["error"]["message"])
            if answer.status != 200:
                raise failures.pop()
            self.usage.append((len(self.sent) - 1, cache.serve(body, MODELS[BINDING])))
            return {
                **answer.body,
                "usage": {"input_tokens": 0, "output_tokens": 0},
                "cost_usd": 0.01,
            }

        return speak


class RefusedByTheApi(BaseException):
    """No harness takes this for an error of a tool or a model."""


HARNESSES = st.builds(
    Harness,
    order=st.integers(0, 99),
    rounds=st.sampled_from([2, 5, 50]),
    usd=st.sampled_from([0.03, 2.0]),
    spoken=st.integers(0, 4),
    told=st.integers(0, 3),
    chatter=st.sampled_from([0, 0, 1, 30]),
    thinks=st.booleans(),
    at=st.sampled_from([1e9, 1e9, 500, 2_000]),
    window=st.sampled_from([10**9, 10**9, 4_000, 9_000]),
    turns=st.integers(1, 3),
    resumed=st.booleans(),
)


@pytest.fixture(autouse=True, scope="module")
def a_patience_that_a_busy_machine_does_not_try():
    kept, fly.PATIENCE = fly.PATIENCE, 60.0
    yield
    fly.PATIENCE = kept


def summary(request):
    """The line of the summary in a request; nothing if there is none."""
    return next((line for line in request if HEADING.encode() in line), b"")


def parted(sent):
    """The requests that do not begin with the one before, though no compaction came between."""
    return [
        at
        for at, (one, other) in enumerate(pairwise(sent), 1)
        if other[: len(one)] != one and summary(one) == summary(other)
    ]


def unread(harness):
    """The requests that did not read all that the one before had read and written."""
    kept = [(at, harness.sent[at], counted) for at, counted in harness.usage]
    return [
        at
        for (_, one, before), (at, other, now) in pairwise(kept)
        if summary(one) == summary(other) and now.read != before.read + before.written
    ]


def flown_by(name, harness):
    """A flight; hypothesis hands the same harness out again."""
    for kept in (harness.sent, harness.usage, harness.left):
        kept.clear()
    return flight(name, harness)


@settings(max_examples=80, deadline=None)
@given(NAMES, HARNESSES)
@example("diligent/login-bug/calm#1", Harness(chatter=30, spoken=2, told=1, turns=3, resumed=True))
@example("diligent/many-files/calm#4", Harness(thinks=True, at=500, turns=2))
@example("diligent/many-files/calm#4", Harness(window=9_000, turns=2))
def test_each_request_begins_with_the_one_before_is_taken_and_reads_what_that_one_wrote(
    name, harness
):
    flown = flown_by(name, harness)
    assert "RefusedByTheApi" not in getattr(flown, "fault", "")
    assert harness.sent and parted(harness.sent) == []
    assert unread(harness) == []
    assert all(fault is None for fault in harness.left)


def marked_at_its_end_alone(view):
    """A mark where the next round will look, and none where the last one did."""

    def ended(run):
        request = cached(view)(run)
        return {**request, "messages": [*run.messages[:-1], request["messages"][-1]]}

    return ended


def with_a_clock_on_top(view):
    return cached(lambda run: {**view(run), "system": f"message {len(run.messages)}"})


def without_the_middle(view):
    return cached(lambda run: {**view(run), "messages": [run.messages[0], *run.messages[-4:]]})


CHATTY = Harness(chatter=30, marks=marked_at_its_end_alone)


def test_without_a_mark_at_the_end_of_the_request_before_a_long_round_reads_little():
    flown_by("diligent/login-bug/calm#1", CHATTY)
    assert parted(CHATTY.sent) == [] and len(unread(CHATTY)) > 5


@pytest.mark.parametrize("marks", [with_a_clock_on_top, without_the_middle])
def test_a_view_that_changes_what_was_sent_is_noticed(marks):
    harness = Harness(marks=marks)
    flown_by("diligent/login-bug/calm#1", harness)
    assert parted(harness.sent)


def test_the_flights_meet_compactions_and_full_windows():
    jumped, full = Harness(at=500), Harness(window=6_000)
    for harness in (jumped, full):
        flown_by("diligent/many-files/calm#4", harness)
        assert len({summary(request) for request in harness.sent}) > 1
    assert len(full.usage) < len(full.sent)
