"""What a reply costs: the prices are those of the package genai-prices, as old as its version."""

from dataclasses import dataclass
from typing import Any

SAMPLE = 1_000  # tokens, fewer than any price goes by


@dataclass(frozen=True)
class Multipliers:
    """What a token of the prompt costs by way of the cache, against one that goes beside it."""

    write_5m: float
    write_1h: float
    read: float


def multipliers(model: str) -> Multipliers | None:
    """A model's own multipliers; None if nobody knows its prices."""
    plain = price(model, SAMPLE)
    if not plain:
        return None
    written, longer = price(model, SAMPLE, written=SAMPLE), price(model, SAMPLE, longer=SAMPLE)
    read = price(model, SAMPLE, read=SAMPLE)
    return Multipliers(*(round(float(part / plain), 6) for part in (written, longer, read)))


def cost_usd(usage: dict[str, Any], model: str) -> float | None:
    """The price of one reply in USD; None, and never zero, if nobody knows the model's."""
    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    longer = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
    whole = usage["input_tokens"] + read + written
    cost = price(model, whole, read, written - longer, longer, usage["output_tokens"])
    return None if cost is None else float(cost)


def price(
    model: str, whole: int, read: int = 0, written: int = 0, longer: int = 0, said: int = 0
) -> Any:
    """The price of a prompt and of what was said to it, as an exact number; None if not known.

    Of the whole prompt so much was read, so much was written for five minutes, and so
    much for an hour.
    """
    from genai_prices import Usage, calc_price

    counted = Usage(
        input_tokens=whole,
        cache_read_tokens=read,
        cache_write_tokens=written + longer,
        cache_write_1h_tokens=longer,
        output_tokens=said,
    )
    try:
        return calc_price(counted, model, provider_id="anthropic").total_price
    except LookupError:
        return None
