"""One pool of money for a run and its children.

What a call costs is known after it. So the most that it may cost is reserved before the
call and settled after it: as long as no call costs more than that, the total passes the cap
by one call at most, however many children speak at once.

The reservation is made by the pool's brake, which is asked before every message. The model
wrapper settles it. `close` gives back what was reserved for a call that was never made.
"""

from collections.abc import Callable
from threading import Condition

from harness_zero.faults import SetupFault
from harness_zero.labels import End, Label
from harness_zero.messages import Reply
from harness_zero.policy import brake
from harness_zero.ports import Model, Policy, Request
from harness_zero.run import Run

TICK = 0.05  # seconds after which whoever waits looks up, so that an interrupt gets through


class Pool:
    """Money that several runs spend together; it may be used from several threads."""

    def __init__(self, cap_usd: float, most_usd: float) -> None:
        """`cap_usd` is what all may spend together, `most_usd` what one call costs at most."""
        if not cap_usd > 0 or not most_usd > 0:
            raise SetupFault(
                f"a pool has a cap and the most that one call costs, both in USD and above 0; "
                f"these are {cap_usd!r} and {most_usd!r}"
            )
        self.cap_usd, self.most_usd = cap_usd, most_usd
        self.spent_usd, self.unpriced = 0.0, 0
        self.reserved: set[int] = set()  # runs for which a call is reserved, by id
        self.changed = Condition()

    @property
    def promised_usd(self) -> float:
        """What is spent, and what is reserved."""
        return self.spent_usd + len(self.reserved) * self.most_usd

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
        """A policy that holds once the pool is empty, and reserves the model's next call.

        It waits while the money that is left is reserved by others: what they do not
        need comes back.
        """

        def policy(run: Run) -> End | None:
            with self.changed:
                if run.pending or id(run) in self.reserved:
                    return self.end
                while not self.end and self.promised_usd >= self.cap_usd:
                    self.changed.wait(TICK)
                if not self.end:
                    self.reserved.add(id(run))
                return self.end

        return brake(policy, pool_usd=self.cap_usd)

    def model(self, model: Model, run: Run) -> Model:
        """The same model, which pays for its calls out of the pool."""

        def speak(request: Request) -> Reply:
            try:
                reply = model(request)
            except BaseException:
                self.close(run)
                raise
            self.settle(run, reply.get("cost_usd", 0.0))
            return reply

        return speak

    def settle(self, run: Run, cost_usd: float | None) -> None:
        """Take what a call cost in the place of what was reserved for it."""
        with self.changed:
            self.reserved.discard(id(run))
            self.spent_usd += cost_usd or 0.0
            self.unpriced += cost_usd is None
            self.changed.notify_all()

    def close(self, run: Run) -> Run:
        """Give back what is reserved for a run that makes no call now."""
        with self.changed:
            self.reserved.discard(id(run))
            self.changed.notify_all()
        return run

    def playing(self, harness: Callable[[Run], Run]) -> Callable[[Run], Run]:
        """A harness that leaves nothing reserved when its turn is over."""

        def play(run: Run) -> Run:
            try:
                return harness(run)
            finally:
                self.close(run)

        return play
