"""One pool of money for a run and its children.

What a call costs is known after it. So the most that it may cost is reserved before the call,
and what it did cost is settled after it. A reservation is given while what is spent and what is
reserved lie below the cap; so the total passes the cap by one call at most, however many
children speak at once. A call that costs more than `most_usd` breaks that: the total can then
be over by as much more, once for each call that was under way. From then on that much is
reserved.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Any, TypeGuard
from weakref import WeakSet

from harness_zero.doubt import reads
from harness_zero.faults import SetupFault
from harness_zero.interrupts import TICK, heed
from harness_zero.labels import End, Label
from harness_zero.layers import layer
from harness_zero.loop import ModelFailed
from harness_zero.messages import Block, Reply
from harness_zero.policy import brake
from harness_zero.ports import Model, Policy, Request, Tool
from harness_zero.run import Run

PAID = "a pool"  # the layer
SPENT = "spent"  # beside a result

Step = Callable[..., Callable[..., Any]]  # makes a function a step of a journal


def at_once(name: str, effect: Callable[..., Any], *_: Any) -> Callable[..., Any]:
    """Without a journal a step is no more than its effect."""
    return effect


class Spent(ModelFailed):
    """A call of the model was not made: nothing is left in the pool."""


class UnderWay:
    """A call that is under way."""


def is_price(usd: Any) -> TypeGuard[float]:
    """Whether this is an amount of money: text and NaN are none."""
    return isinstance(usd, int | float) and usd >= 0


class Pool:
    """Money that several runs spend together; it may be used from several threads."""

    def __init__(self, cap_usd: float, most_usd: float) -> None:
        """`cap_usd` is what all may spend together, `most_usd` what one call costs at most."""
        if not all(map(is_price, (cap_usd, most_usd))) or not cap_usd or not most_usd:
            raise SetupFault(
                f"a pool has a cap and the most that one call costs, both in USD and above 0; "
                f"these are {cap_usd!r} and {most_usd!r}"
            )
        self.cap_usd, self.most_usd = cap_usd, most_usd
        self.spent_usd, self.unpriced = 0.0, 0
        self.under_way = WeakSet[UnderWay]()  # one whose caller was interrupted leaves by itself
        self.changed = Condition()

    @property
    def reserved(self) -> int:
        """How many calls are under way."""
        return len(self.under_way)

    @property
    def promised_usd(self) -> float:
        """What is spent, and what is reserved."""
        return self.spent_usd + self.reserved * self.most_usd

    @property
    def end(self) -> End | None:
        """The end for everybody, once nothing is left; else nothing."""
        if self.unpriced:
            why = "the price of a call is unknown, so no cap in money can hold"
            return End(Label.COST_CAP, why)
        if self.spent_usd >= self.cap_usd:
            return End(Label.COST_CAP, f"${self.cap_usd:.2f} spent by all together")
        return None

    def brake(self) -> Policy:
        """A policy that holds once nothing is left: what was asked for is not run any more."""
        return brake(lambda run: self.end)

    def model(self, model: Model) -> Model:
        """The same model, paid out of the pool. Spent is raised where nothing is left."""

        def speak(request: Request) -> Reply:
            with self.reservation() as settle:
                reply = model(request)
                settle(reply.get("cost_usd", 0.0) if isinstance(reply, dict) else 0.0)
                return reply

        return layer(PAID, speak, model)

    @contextmanager
    def reservation(self) -> Iterator[Callable[[float | None], None]]:
        """Hold the price of a call. It waits while others hold what is left: some comes back."""
        call = self.reserve()
        try:
            yield self.settle
        finally:
            with self.changed:
                self.under_way.discard(call)
                self.changed.notify_all()

    def reserve(self) -> UnderWay:
        """Take a reservation, or raise Spent."""
        with self.changed:
            while not self.end and self.promised_usd >= self.cap_usd:
                self.changed.wait(TICK)
                heed()
            if end := self.end:
                raise Spent(end.why)
            self.under_way.add(call := UnderWay())
            return call

    def settle(self, cost_usd: float | None) -> None:
        """Take what a call cost. What is no price, such as -1, is a price that nobody knows."""
        cost = cost_usd if is_price(cost_usd) else None
        with self.changed:
            self.spent_usd += cost or 0.0
            self.unpriced += cost is None
            self.most_usd = max(self.most_usd, cost or 0.0)

    def tool(self, tool: Tool, journaled: Callable[[Tool], Tool]) -> Tool:
        """A journaled tool whose children are paid again when a replay does not play them.

        What is spent by the end of a call is kept beside its result, on its way into the journal
        and out again: all that is spent, so a pool goes with one journal.
        """

        def counted(call: Block) -> Block:
            before = self.spent
            result = tool(call)
            return result if self.spent == before else {**result, SPENT: self.spent}

        step = journaled(counted)

        def answer(call: Block) -> Block:
            result = {**step(call)}
            self.reach(*result.pop(SPENT, self.spent))
            return result

        return layer("the pool of children", answer, step)

    @property
    def spent(self) -> list[float]:
        """What is spent, and how many calls had no price: what a journal keeps."""
        return [self.spent_usd, self.unpriced]

    def reach(self, spent_usd: float, unpriced: int) -> None:
        """Have spent at least this, whatever of it a replay has paid again."""
        with self.changed:
            self.spent_usd = max(self.spent_usd, spent_usd)
            self.unpriced = max(self.unpriced, unpriced)

    def harness(self, harness: Callable[[Run], Run], step: Step = at_once) -> Callable[[Run], Run]:
        """The same harness. A turn in which a call could not be paid for ends as `cost_cap`.

        To the loop that is a model which gave no reply; that it was for want of money, only the
        pool knows. With a journal each turn begins with what was spent before it, so that a call
        that was interrupted in an earlier turn is not forgotten.
        """
        known = step("the pool", reads(lambda: self.spent))

        def play(run: Run) -> Run:
            self.reach(*known())
            run = harness(run)
            end = self.end
            unpaid = end and run.label is Label.MODEL_ERROR and run.why.endswith(end.why)
            return run.close(end) if end and unpaid else run

        return play


def copied(pool: Pool) -> Pool:
    """A child's own pool with the parent's whole cap, and not with what is left of it."""
    return Pool(pool.cap_usd, pool.most_usd)


def independent(cap_usd: float, pool: Pool) -> Pool:
    """A child's own pool with a cap of its own, whatever the parent has."""
    return Pool(cap_usd, pool.most_usd)
