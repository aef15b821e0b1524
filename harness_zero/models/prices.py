"""What a reply costs: the prices are those of the package genai-prices, as old as its version."""

from typing import Any


def cost_usd(usage: dict[str, Any], model: str) -> float | None:
    """The price of one reply in USD; None, and never zero, if nobody knows the model's."""
    from genai_prices import Usage, calc_price

    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    counted = Usage(
        input_tokens=usage["input_tokens"] + read + written,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=usage["output_tokens"],
    )
    try:
        return float(calc_price(counted, model, provider_id="anthropic").total_price)
    except LookupError:
        return None
