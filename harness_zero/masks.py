"""Secrets, kept out of what is shown: keys of the environment, and what looks like a key.

A page with a run on it is passed on sooner or later; a key in it would be passed on as well.
"""

import os
import re
from collections.abc import Mapping

SHORTEST = 8  # characters; a shorter value of the environment may be any word
KEPT_SECRET = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
CALLED_SECRET = re.compile(
    r"(^|[-_])(api[-_]?key|secret([-_]?key)?|password|passwd|(access|auth|refresh)[-_]?token"
    r"|authorization)$",
    re.IGNORECASE,
)
LOOKS_SECRET = re.compile(
    r"\b(sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|hf_\w{20,}|AKIA[0-9A-Z]{16})"
    r"|(?<=\bBearer )[^\s\[]{8,}"
)


class Mask:
    """Puts words in the place of secrets; those of the environment are known from the start."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        secret = [name for name in environment if KEPT_SECRET.search(name)]
        known = [(environment[name].strip(), name) for name in secret]
        self.known = sorted(each for each in known if len(each[0]) >= SHORTEST)[::-1]

    def __call__(self, text: str) -> str:
        """The text, with a word for each secret in it."""
        for value, name in self.known:
            if value in text:
                text = text.replace(value, f"[{name}, hidden]")
        return LOOKS_SECRET.sub("[a key, hidden]", text)


def called_secret(name: object) -> bool:
    """Whether a text of this name is one to hide, whatever it says."""
    return isinstance(name, str) and CALLED_SECRET.search(name) is not None
