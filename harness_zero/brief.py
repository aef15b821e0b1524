"""Values in a sentence: the beginning, with dots where something is left out."""

from typing import Any


def brief(value: Any, longest: int = 80) -> str:
    """A value as Python writes it, or the beginning of that."""
    return cut(repr(value), longest)


def cut(text: str, longest: int) -> str:
    """A text, or its beginning and three dots."""
    return text if len(text) <= longest else f"{text[:longest]}..."
