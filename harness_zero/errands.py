"""A parent that sends children on errands: the runs whose money chapter 11 follows.

The parent asks which of some shops is the cheapest, and hands each shop to a child. A child reads
the pages of its shop, one in a round, and says the price. Every call of a model costs the same.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from threading import Barrier, BrokenBarrierError, Thread

from harness_zero.assembly import assemble
from harness_zero.budget import Pool, copied, independent
from harness_zero.children import delegate, delegate_all
from harness_zero.flight.luck import Luck
from harness_zero.labels import Label
from harness_zero.loop import ModelFailed
from harness_zero.messages import Block, Reply, reply, tool_results, tool_use
from harness_zero.policy import cost_cap, max_rounds
from harness_zero.ports import Model, Request
from harness_zero.run import Run
from harness_zero.stages.pools import Checking, Reserving

SHOPS = {"north": 44, "east": 38, "south": 41, "west": 52, "harbour": 36, "station": 47}
CALL_USD, CAP_USD = 0.125, 1.0
WAYS = ("each its own", "shared", "copied", "independent")
CHILD_CAP_USD = 0.5  # of an independent child
ROUNDS = max_rounds(20)


@dataclass
class Errand:
    """A task: some shops, how many pages each has, and what a call costs."""

    shops: dict[str, int] = field(default_factory=lambda: SHOPS)
    pages: int = 3
    call_usd: float = CALL_USD
    in_threads: bool = False  # one child after another, or all at once
    paid: list[float] = field(default_factory=list)  # the price of each call that was made

    def say(self, *blocks: Block | str) -> Reply:
        """A reply, at the price of a call."""
        self.paid.append(self.call_usd)
        return reply(*blocks, cost=self.call_usd)

    def parent(self, request: Request) -> Reply:
        """A model that sends children, and compares what they bring back."""
        told = told_in(request)
        tasks = [f"What does shop {shop} ask for the part?" for shop in self.shops]
        if self.in_threads and not told:
            return self.say(tool_use("all", "delegate_all", tasks=tasks))
        if not self.in_threads and len(told) < len(tasks):
            return self.say(tool_use(f"child_{len(told) + 1}", "delegate", task=tasks[len(told)]))
        known = self.heard(told)
        return self.say(f"The cheapest: {min(known, key=known.__getitem__)}." if known else "None.")

    def heard(self, told: list[str]) -> dict[str, int]:
        """The prices that came back."""
        both = "\n".join(told)
        return {shop: price for shop, price in self.shops.items() if priced(shop, price) in both}

    def child(self, request: Request) -> Reply:
        """A model that opens the pages of its shop, one in a round, and says the price."""
        shop = request["messages"][0]["content"][0]["text"].split()[3]
        page = len(told_in(request)) + 1
        if page <= self.pages:
            return self.say(tool_use(f"{shop}_{page}", "open_page", shop=shop, page=page))
        return self.say(priced(shop, self.shops[shop]))

    def open_page(self, shop: str, page: int) -> str:
        """Open a page of a shop."""
        return f"page {page} of {self.pages} of shop {shop}"

    @property
    def spent_usd(self) -> float:
        """What all calls have cost together."""
        return round(sum(self.paid), 6)

    @property
    def cheapest(self) -> str:
        """The right answer."""
        return min(self.shops, key=self.shops.__getitem__)


@dataclass
class Family:
    """A parent's run and its children's, and what all of it has cost."""

    errand: Errand
    parent: Run
    children: list[Run]

    @property
    def reached(self) -> bool:
        """Whether the parent said which shop is the cheapest."""
        return self.parent.label == Label.FINISHED and self.errand.cheapest in self.parent.text

    def __str__(self) -> str:
        own, all_ = self.parent.cost_usd, self.errand.spent_usd
        end = f"{self.parent.label}, {len(self.children)} children"
        return f"${all_:.3f} spent, ${own:.3f} of it by the parent: {end}"


def family(
    way: str, errand: Errand | None = None, tools: dict[str, Callable] | None = None
) -> Family:
    """Play the errand, with the children paid in one of the ways."""
    errand = errand or Errand()
    pool = Pool(CAP_USD, errand.call_usd) if way in WAYS[1:] else None
    hands: dict[str, Callable] = {"open_page": errand.open_page, **(tools or {})}

    def child(run: Run) -> Run:
        purse = pool and of_child(way, pool)
        capped = [ROUNDS, *([] if purse else [cost_cap(CAP_USD)])]
        run = assemble(errand.child, hands, brakes=capped, pool=purse)(run)
        if pool and purse and way == "copied":  # what a child spent is merged once it is over
            pool.settle(purse.spent_usd)
        return run

    runs: list[Run] = []
    lent = {"delegate": delegate(child, kept=runs.append)}
    lent["delegate_all"] = delegate_all(child, kept=runs.append)  # type: ignore[assignment]
    capped = [ROUNDS, *([] if pool else [cost_cap(CAP_USD)])]
    parent = assemble(errand.parent, lent, brakes=capped, pool=pool)
    return Family(errand, parent(Run("Which shop is the cheapest?")), runs)


def of_child(way: str, pool: Pool) -> Pool:
    """What a child draws from."""
    if way == "shared":
        return pool
    return copied(pool) if way == "copied" else independent(CHILD_CAP_USD, pool)


def told_in(request: Request) -> list[str]:
    """What the results in a request say, in order."""
    messages = request["messages"]
    return [str(result["content"]) for each in messages for result in tool_results(each)]


def priced(shop: str, price: int) -> str:
    """A child's answer."""
    return f"Shop {shop} asks {price}."


# six callers at the same moment


def rush(purse: Checking | Reserving, callers: int = 6) -> str:
    """So many callers ask at the same moment, with the price of one call left.

    A call takes until all the others are under way too, or have been refused.
    """
    meeting, made = Barrier(callers), list[str]()

    def model(request: Request) -> Reply:
        with suppress(BrokenBarrierError):
            meeting.wait(2)
        made.append("call")
        return reply("hello", cost=CALL_USD)

    def call(paid: Model) -> None:
        with suppress(ModelFailed):
            paid({"messages": []})
        meeting.abort()

    before = round(CAP_USD / CALL_USD) - 1
    for _ in range(before):
        purse.model(lambda request: reply("hello", cost=CALL_USD))({"messages": []})
    threads = [Thread(target=call, args=(purse.model(model),)) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = (before + len(made)) * CALL_USD
    return f"{len(made)} of {callers} calls made, ${spent:.3f} of ${CAP_USD:.2f} spent"


# many errands


def errands(number: int) -> Iterable[Errand]:
    """So many tasks, half of them for children in threads; the n-th is the same every time."""
    names = [*SHOPS]
    for n in range(number):
        luck = Luck(f"errand {n}")
        some = names[: luck.whole(2, 6, "shops")]
        shops = {shop: luck.whole(30, 70, "price", shop) for shop in some}
        call_usd = luck.whole(2, 8, "call") / 64  # an exact number in base two
        yield Errand(shops, luck.whole(1, 4, "pages"), call_usd, in_threads=bool(n % 2))


def compared(number: int = 60) -> str:
    """All ways of paying on the same tasks, in a table."""
    head = f"{'':<14}{'goals':>9}{'over the cap':>15}{'most spent':>13}{'calls over':>13}"
    lines = [head]
    for way in WAYS:
        played = [family(way, errand) for errand in errands(number)]
        most = max(played, key=lambda each: each.errand.spent_usd).errand
        over = [each.errand for each in played if each.errand.spent_usd > CAP_USD]
        calls = max([0, *map(calls_over, over)])
        goals = sum(each.reached for each in played)
        lines.append(
            f"{way:<14}{goals:>3} of {number}{len(over):>15}{most.spent_usd:>13.2f}{calls:>13}"
        )
    return "\n".join(lines)


def calls_over(errand: Errand) -> int:
    """How many calls were made behind the one that reached the cap."""
    return len(errand.paid) - ceil(round(CAP_USD / errand.call_usd, 6))
