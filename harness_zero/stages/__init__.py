"""The stages: drafts of one loop, each a whole program that runs by itself."""

from collections.abc import Callable
from tempfile import TemporaryDirectory


def demonstrate(run: Callable) -> None:
    """Let a stage repair a small failing project in a folder of its own, and print the run."""
    from harness_zero.flight.personas import fixer
    from harness_zero.flight.worlds import PROMPT, world
    from harness_zero.watch import watch
    from harness_zero.workspace import workspace

    login = world("login")
    with TemporaryDirectory() as folder:
        watch(run, fixer(login), workspace(login.lay(folder)), PROMPT)
        print(f"     the tests pass: {'yes' if login.reached(folder) else 'no'}")
