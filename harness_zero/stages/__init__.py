"""The stages: four drafts of one loop, and the library beside which the fifth stands.

Each is a whole program that runs by itself.
"""

from collections.abc import Callable
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

NAMES = {
    1: "s1_structural_stop",
    2: "s2_brakes",
    3: "s3_error_as_data",
    4: "s4_termination_labels",
    5: "s5_repetition_detector",
}


def stage(number: int) -> Callable[..., Any]:
    """The run function of a stage: `run(model, tools, prompt)`."""
    return import_module(f"harness_zero.stages.{NAMES[number]}").run


def demonstrate(run: Callable[..., Any]) -> None:
    """Let a stage repair a small failing project in a folder of its own, and print the run."""
    from harness_zero.flight.personas import fixer
    from harness_zero.flight.worlds import PROMPT, world
    from harness_zero.watch import watch
    from harness_zero.workspace import workspace

    login = world("login")
    with TemporaryDirectory() as folder:
        watch(run, fixer(login), workspace(login.lay(folder)), PROMPT)
        print(f"     the tests pass: {'yes' if login.reached(folder) else 'no'}")
