"""A small failing project to try a loop on, in a folder that goes when the kernel goes."""

import atexit
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from harness_zero.flight.personas import fixer
from harness_zero.flight.worlds import world
from harness_zero.models.scripted import Model
from harness_zero.watch import Tools
from harness_zero.workspace import workspace


def project(name: str) -> tuple[Model, Tools]:
    """A model that can work on a shipped project, and the tools of a fresh copy of it."""
    shipped = world(name)
    folder = Path(mkdtemp(prefix=f"{name}-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return fixer(shipped), workspace(shipped.lay(folder))
