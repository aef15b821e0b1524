"""Keys: what must stand in no file and in no sentence."""

import os
import re
from typing import Any

NAMED = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)  # of the environment
SHAPED = re.compile(  # as the Messages API and others give them out
    r"\b(sk-ant-[\w-]{8,}|sk-[\w-]{20,}|gh[pousr]_\w{20,}|hf_\w{20,}|AKIA[0-9A-Z]{16})"
)
SHORTEST = 8  # what a local server takes for a key ("none", "ollama") is no secret
MASK = "***"


def keys() -> list[str]:
    """The values of the environment that are to be kept, the longest first."""
    named = (value.strip() for name, value in os.environ.items() if NAMED.search(name))
    return sorted((value for value in named if len(value) >= SHORTEST), key=len, reverse=True)


def without_keys(words: str) -> str:
    """Words with a mask where a key stood."""
    return hidden(words, keys())


def masked(value: Any) -> Any:
    """JSON in which no text holds a key; the names of fields stay as they are."""
    return within(value, keys())


def within(value: Any, secrets: list[str]) -> Any:
    """A value, with all texts in it masked."""
    if isinstance(value, str):
        return hidden(value, secrets)
    if isinstance(value, dict):
        return {name: within(inner, secrets) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [within(inner, secrets) for inner in value]
    return value


def hidden(words: str, secrets: list[str]) -> str:
    """Words without these, and without what looks like a key."""
    for secret in secrets:
        words = words.replace(secret, MASK)
    return SHAPED.sub(MASK, words)
