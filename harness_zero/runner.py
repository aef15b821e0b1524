"""Runs a shell command inside a folder, and tells how it ended and what it printed.

A command is somebody else's idea. So it gets a clock, but none of our secret
variables and no keyboard; of what it prints no more is kept than a model would
read; and where bubblewrap works, its folder is all that it can write to and
nothing that it started outlives it. It can read what the user can read.
"""

import os
import sys
import tempfile
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from harness_zero.faults import SetupFault
from harness_zero.process import carry_out, started

SHELL = "/bin/sh"
LONGEST = 128 * 1024 - 1  # bytes; Linux takes no longer argument
PACKAGE = os.path.dirname(os.path.abspath(__file__))
INHERITED = ("HOME", "LD_LIBRARY_PATH", "LOGNAME", "SHELL", "TMPDIR", "TZ", "USER")


class NoShell(SetupFault):
    """Commands need a POSIX shell, and this system has none."""


def run(
    command: str,
    folder: str | Path,
    timeout: float = 60,
    limit: int = 20_000,
    sandbox: bool = True,
) -> str:
    """Run a command by the shell; tell its exit code, and what it printed up to `limit` characters.

    A command that fails or takes too long is told, not raised. When the call is
    over, be it by an interrupt, so is all that the command started. (Without a
    sandbox there is one way out: a process group of its own, as by `setsid`.)
    """
    shell, place = [SHELL, "-c", runnable(command)], existing(folder)
    if sandbox and sandboxed():
        shell, environment = [*fence(place), *shell], surroundings() | {"TMPDIR": "/tmp"}
    else:
        environment = surroundings()
    return carry_out(partial(started, shell, place, environment), timeout, limit)


def runnable(command: str) -> str:
    """The command, unless no shell could be given it."""
    if not isinstance(command, str):
        raise TypeError(f"a command is a string, not {type(command).__name__}")
    if not command.strip():
        raise ValueError("the command is empty")
    if "\0" in command:
        raise ValueError("the command holds a NUL character, which no shell takes")
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        raise ValueError("the command holds half a character, which is no UTF-8") from None
    if size > LONGEST:
        raise ValueError(f"the command is {size:,} bytes long; write a script and run that")
    return command


def existing(folder: str | Path) -> str:
    """The folder's real path, unless there is no such folder or no shell to start in it."""
    if not os.path.exists(SHELL):
        raise NoShell(f"there is no {SHELL} on this system; on Windows, work inside WSL")
    place = os.path.realpath(folder)
    if not os.path.isdir(place):
        raise NotADirectoryError(f"there is no folder {place} to run a command in")
    return place


def surroundings() -> dict[str, str]:
    """The environment of a command: no secrets in it, and the same words on every machine."""
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    if sys.prefix != sys.base_prefix:
        inherited["VIRTUAL_ENV"] = sys.prefix
    locale = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    path = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    return inherited | {
        "PATH": os.pathsep.join(path),
        "LANG": locale,
        "LC_ALL": locale,
        "TERM": "dumb",
        "NO_COLOR": "1",
        "COLUMNS": "80",
        # No stale bytecode of a file that changed within the same second.
        "PYTHONDONTWRITEBYTECODE": "1",
        # Print and error in the order in which they came, also of what was ended.
        "PYTHONUNBUFFERED": "1",
    }


def fence(folder: str) -> list[str]:
    """The words before a command that leave it one folder, and a /tmp of its own, to write to."""
    needed = {sys.prefix, sys.base_prefix, PACKAGE}
    needed |= {os.path.realpath(path) for path in needed}
    hidden = sorted(path for path in needed if Path(path).is_relative_to("/tmp"))
    return [
        *("bwrap", "--unshare-pid", "--die-with-parent", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp"),
        # Some of /proc obeys root by its user id alone, without any capability.
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *(word for path in hidden for word in ("--ro-bind", path, path)),
        *("--bind", folder, folder, "--"),
    ]


@cache
def sandboxed() -> bool:
    """Whether commands can be kept from writing outside their folder on this machine."""
    with suppress(OSError), tempfile.TemporaryDirectory() as folder:
        place = os.path.realpath(folder)
        probe = [*fence(place), SHELL, "-c", ": > probe"]
        told = carry_out(partial(started, probe, place, surroundings()), timeout=10, limit=0)
        return told.startswith("exit code 0\n")
    return False
