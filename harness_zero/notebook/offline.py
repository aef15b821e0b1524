"""The real SDK before the strict API in this process, also on a machine that has a key."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from harness_zero.ports import Model, Request


def offline_api(model: Model) -> Model:
    """A model behind the SDK and the offline Messages API, whatever the environment names.

    A request that the API refuses never reaches the model; it raises ModelFailed.
    """
    from harness_zero.models.claude import DEFAULT_MODEL, REACH, claude

    with without(*REACH):
        speak = claude(offline=model)

    def ask(request: Request) -> dict:
        return speak({"model": DEFAULT_MODEL, **request})

    return ask


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Meanwhile the environment does not have these variables."""
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
