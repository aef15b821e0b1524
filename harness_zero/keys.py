"""Keys: what must stand in no file and in no sentence."""

import json
import os
import re
from functools import lru_cache
from typing import Any

NAMED = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)  # of the environment
FIELD = re.compile(  # of a request or a reply: what stands under this name is a key
    r"(.*[-_])?(api[-_]?key|(auth|authorization|access|refresh|bearer)[-_]?token"
    r"|authorization|client[-_]?secret|password|cookie)",
    re.IGNORECASE,
)
HEADERS = re.compile(r"(extra|default)[-_]?headers", re.IGNORECASE)  # every one is a key
# what may stand right before a key: no letter and no digit, but for the end of an escape
START = r"(?:(?<![^\W_])|(?<=\\[nrtbf])|(?<=\\u[\da-f]{4})|(?<=\\x[\da-f]{2})|(?<=%[\da-fA-F]{2})"
START += r"|(?<=[\d;\[]m))"
SHAPED = re.compile(  # as the Messages API and others give them out
    rf"sk-ant-[\w-]{{8,}}"
    rf"|{START}(?:sk-[\w-]{{20,}}|gh[pousr]_\w{{20,}}|hf_\w{{20,}}|AKIA[0-9A-Z]{{16}})"
)
SHAPES = ("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hf_", "AKIA")  # one is in each of them
SHAPED_AT_LEAST = 15  # characters
SHORTEST = 8  # what a local server takes for a key ("none", "ollama") is no secret
MASK = "***"


def keys() -> list[str]:
    """The values of the environment that are to be kept, in every spelling, the longest first."""
    named = (value.strip() for name, value in os.environ.items() if NAMED.search(name))
    spelled = {word for value in named if len(value) >= SHORTEST for word in spellings(value)}
    return sorted(spelled, key=lambda word: (-len(word), word))


def spellings(value: str) -> set[str]:
    """A key as it is, as Python writes it, and as JSON does, in itself and in a text within."""
    found = {value, repr(value)[1:-1]}
    for ascii_only in (True, False):
        once = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        found |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1]}
    return found


class Kept:
    """The keys of the environment as it is now; looked up anew only where that has changed."""

    def __init__(self) -> None:
        self.environment: dict[Any, Any] | None = None
        self.keys: list[str] = []

    def now(self) -> list[str]:
        """What `keys` would give."""
        # what the environment is made of, where Python lets one see it, is copied much quicker
        if (now := dict(getattr(os.environ, "_data", os.environ))) != self.environment:
            self.environment, self.keys = now, keys()
        return self.keys


def without_keys(words: str) -> str:
    """Words with a mask where a key stood."""
    return hidden(words, keys())


def masked(value: Any) -> Any:
    """JSON in which no text, no number and no name holds a key, and no field named as one."""
    return within(value, keys())


def within(value: Any, secrets: list[str]) -> Any:
    """A value, with everything in it masked."""
    if isinstance(value, dict):
        return {one(name, secrets): field(name, it, secrets) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [within(inner, secrets) for inner in value]
    return one(value, secrets)


def field(name: Any, value: Any, secrets: list[str]) -> Any:
    """What stands under a name, covered if the name says that it is a key."""
    if not isinstance(name, str):
        return within(value, secrets)
    if not names_a_key(name):
        return within(value, secrets)
    if HEADERS.fullmatch(name) and isinstance(value, dict):
        return {one(header, secrets): covered(it, secrets) for header, it in value.items()}
    return covered(value, secrets)


@lru_cache(maxsize=1024)
def names_a_key(name: str) -> bool:
    """Whether what stands under this name is a key, or many."""
    return bool(FIELD.fullmatch(name) or HEADERS.fullmatch(name))


def covered(value: Any, secrets: list[str]) -> Any:
    """Nothing of what is a key. An object is none: a schema may describe a field of that name."""
    if isinstance(value, dict):
        return within(value, secrets)
    if isinstance(value, list | tuple):
        return [covered(inner, secrets) for inner in value]
    return value if value in (None, "") or isinstance(value, bool) else MASK


def one(value: Any, secrets: list[str]) -> Any:
    """A text without keys; a number only if its digits are none."""
    if isinstance(value, str):
        return hidden(value, secrets)
    if isinstance(value, int | float) and any(secret in str(value) for secret in secrets):
        return MASK
    return value


def hidden(words: str, secrets: list[str]) -> str:
    """Words without these, and without what looks like a key."""
    for secret in secrets:
        words = words.replace(secret, MASK)
    if len(words) < SHAPED_AT_LEAST:
        return words
    for shape in SHAPES:  # looking for these is quick, and mostly in vain
        if shape in words:
            return SHAPED.sub(MASK, words)
    return words
