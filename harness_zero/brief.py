"""Values and texts cut short: what is left out is never left out in silence."""

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


def excerpt(text: str, limit: int) -> str:
    """A text, or so many characters of it: its beginning, its end, and what is missing between."""
    front = limit // 2
    back = len(text) - (limit - front)
    return text if len(text) <= limit else f"{text[:front]}{gap(back - front)}{text[back:]}"


def gap(characters: int) -> str:
    """The line that stands where so many characters were cut."""
    return f"\n[... {characters:,} characters cut ...]\n"


def plural(count: int, noun: str, many: str = "") -> str:
    """A count and its noun: 1 round, 2 rounds, 3 replies."""
    return f"{count} {noun if count == 1 else many or f'{noun}s'}"
