"""Values in a sentence: the beginning, with dots where something is left out."""

from collections.abc import Callable
from typing import Any


def brief(value: Any, longest: int = 80) -> str:
    """A value as Python writes it, or the beginning of that."""
    return cut(told_by(repr, value), longest)


def told_by(tell: Callable[[Any], str], value: Any) -> str:
    """What `repr` or `str` makes of a value; of one in which that fails, its kind."""
    try:
        return tell(value)
    except Exception as fault:
        fails = f"{tell.__name__}() raises {type(fault).__name__}"
        return f"<a {type(value).__name__} of which {fails}>"


def cut(text: str, longest: int) -> str:
    """A text, or its beginning and three dots."""
    return text if len(text) <= longest else f"{text[:longest]}..."
