"""A parent that has spent most of its money, and two children who fly on: three ways to pay.

The parent is a script: it spends seven tenths of the cap, hands the task of the flight to one
child after the other, and answers. The children are the library, with the flight's own model.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

from harness_zero import policy
from harness_zero.assembly import assemble, of_messages
from harness_zero.budget import Pool, copied, independent
from harness_zero.children import delegate
from harness_zero.flight.place import POLLERS
from harness_zero.messages import Reply, reply, tool_use
from harness_zero.policy import nudge, recover, structural_stop
from harness_zero.ports import Model, Request
from harness_zero.repetition import repetition
from harness_zero.run import Run

SPENT = 0.7  # of the cap, by the parent, before there is a child
CHILDREN = 2
MOST_USD = 0.1  # of one call in a flight


def spender(task: str, cap_usd: float) -> Model:
    """A parent that hands the task to its children in its first reply, and then answers."""

    def model(request: Request) -> Reply:
        if len(request["messages"]) > 1:
            return reply("They have done what they could.")
        calls = [tool_use(f"child_{n}", "delegate", task=task) for n in range(CHILDREN)]
        return reply(*calls, cost=SPENT * cap_usd)

    return model


def family(share: Callable[[Pool], Pool], name: str) -> Callable[..., Run]:
    """A parent with a pool, and children with what `share` gives each of them."""

    def run(
        model: Any,
        tools: Any,
        prompt: str,
        max_rounds: int = 50,
        cap_usd: float = 2.0,
        seconds: float = 600,
        clock: Any = monotonic,
    ) -> Run:
        pool = Pool(cap_usd, MOST_USD)
        brakes = policy.max_rounds(max_rounds), policy.deadline(seconds)
        stop, detectors = recover(nudge(structural_stop)), [repetition(pollers=POLLERS)]

        def child(run: Run) -> Run:
            own = share(pool)
            parts = of_messages(model), tools, stop, brakes, None, detectors
            return assemble(*parts, pool=own)(run)

        hands = {"delegate": delegate(child, clock)}
        parent = assemble(spender(prompt, cap_usd), hands, stop, brakes, pool=pool)
        return parent(Run(prompt, clock))

    run.__name__ = name
    return run


shared = family(lambda pool: pool, "shared")
with_copies = family(copied, "with_copies")
each_its_own = family(lambda pool: independent(0.5 * pool.cap_usd, pool), "each_its_own")
