"""Layers: a wrapper says what it is and what it wraps, so that a wrong order is refused.

Parts that keep one signature can be put around each other in any order, and most orders lose a
promise in silence. So a wrapper marks what it gives back. Whoever wraps that is held to the
table below, which says of each order that is refused what would be lost. A wrapper that may stand
anywhere needs no mark.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from harness_zero.faults import SetupFault

# (outside, inside): what would be lost
WRONG = {
    ("the journal of tools", "a permission"): (
        "a denial would be recorded as the tool's outcome, and nobody could tell the two apart"
    ),
    ("the journal of tools", "a hook before"): (
        "the journal would hold the call as the model wrote it, and another one would run"
    ),
    ("the journal of tools", "a hook after"): (
        "the journal would hold what the hook made of the result, and not what came"
    ),
    ("a permission", "a hook before"): (
        "the hook could change the call that was permitted: permission judges what will run"
    ),
    ("a permission", "a hook after"): (
        "the hook would not see the calls that were denied: it sees whatever the model will read"
    ),
    ("a hook after", "a hook before"): (
        "it would be told the call as the model wrote it, and not as it ran"
    ),
    ("the journal of the model", "a pool"): (
        "a replay would not pay the pool: what was spent before the restart would be forgotten"
    ),
    ("a recording", "the journal of the model"): (
        "a replay would record once more what nobody asked the model again"
    ),
    ("a compacted view", "a cached view"): (
        "marks set before the cut would stand on what is left out: they mark what is sent"
    ),
    ("a cached view", "a cached view"): (
        "the second would mark what is marked already, and the API takes four marks"
    ),
}


class WrongOrder(SetupFault):
    """Parts were put together in an order in which one of them could not keep its promise."""


def layer(name: str, wrapper: Any, *inside: Any, asks: Any = None) -> Any:
    """Mark a wrapper with its name, with the parts inside it, and with a model that it asks.

    WrongOrder if something in there belongs outside.
    """
    for inner in {each for part in inside for each in layers(part)}:
        if lost := WRONG.get((name, inner)):
            raise WrongOrder(f"{name} is put around {inner}: {lost}. Put it inside")
    wrapper.layer, wrapper.inside, wrapper.asks = name, inside, asks
    return wrapper


def marked_parts(part: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """All that is marked in a part, from the outside in. What is not marked is looked through."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    marked = hasattr(part, "layer")
    if marked:
        yield part
    for inner in part.inside if marked else held(part):
        yield from marked_parts(inner, seen)


def held(part: Any) -> Iterator[Any]:
    """The functions that a function without a mark has kept: among them is what it wraps."""
    for cell in getattr(part, "__closure__", None) or ():
        with suppress(ValueError):  # a name that nothing was given yet
            kept = cell.cell_contents
            each = kept if isinstance(kept, tuple | list) else [kept]
            yield from (one for one in each if callable(one))


def layers(part: Any) -> list[str]:
    """The names of the layers of a part, from the outside in."""
    return [each.layer for each in marked_parts(part)]
