"""The same flights under another bill: what a provider with a cache would take for their input.

Worlds are small, so their prompts are far below what any cache keeps. Here the system prompt
and the tools of a real coding agent are put in front of them, as long as is said. Nothing else
changes: personas and brakes see what they always see.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness_zero.flight.fly import Flights, Flown, fly
from harness_zero.flight.pilots import Pilot, pilot
from harness_zero.messages import text
from harness_zero.models.prices import cost_usd
from harness_zero.ports import Request
from harness_zero.simulator.cache import Cache
from harness_zero.simulator.catalogue import MODELS

HEAD = 10_000  # tokens in front of every flight


def billed(
    harness: Any,
    flights: Flights,
    mark: Callable[[Request], Request] | None = None,
    model: str = "claude-sonnet-5",
    head: int = HEAD,
) -> Flown:
    """Fly a harness and price each flight by what a cache reads and writes; estimates."""
    flown, facts, bills = pilot(harness), MODELS[model], list[float]()
    front = {"system": [text("x" * int(head * facts.characters))]}

    def run(speak: Callable[..., Any], tools: Any, prompt: str, **offered: Any) -> Any:
        cache = Cache(clock=offered["clock"])
        bills.append(0.0)

        def paid(request: Any) -> Any:
            messages = request["messages"] if isinstance(request, dict) else request
            sent = {**front, "messages": [*messages]}
            counted = cache.serve(mark(sent) if mark else sent, facts)
            reply = speak(request)
            written = {"output_tokens": reply["usage"]["output_tokens"]}
            bills[-1] += cost_usd(counted.usage() | written, model) or 0.0
            return reply

        return flown.fly(paid, tools, prompt, **offered)

    name = f"{flown.name}, {'cached' if mark else 'plain'}"
    found = fly(Pilot(name, run, flown.takes | {"clock"}, flown.word), flights)
    outcomes = [replace(each, usd=usd) for each, usd in zip(found, bills, strict=True)]
    return Flown(name, outcomes, found.limits, flown)
