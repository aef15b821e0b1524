"""A place: a world laid down for one flight."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness_zero.flight.luck import Luck
from harness_zero.flight.seen import Seen
from harness_zero.flight.steps import DONE, GAVE_UP, Skill, Step

Files = dict[str, str]
World = Callable[[Luck], "Place"]

ONCE = ("send_mail", "start_build")  # what has effects outside; no persona repeats it for fun
POLLERS = ("poll_build",)  # what is asked again in order to wait
RETRIES = 3  # how often a competent model makes a call that fails


@dataclass(frozen=True)
class Place:
    """What there is to do, what with, and how to tell from outside whether it was done."""

    task: str
    tools: dict[str, Callable[..., Any]]
    goal: Callable[[], bool]
    length: int  # about how many calls it takes
    skill: Skill
    solvable: bool = True
    takes: dict[str, float] = field(default_factory=dict)  # seconds that a tool takes
    effects: list[str] = field(default_factory=list)  # what cannot be taken back, as it happens
    tidy: Callable[[], None] = lambda: None  # take away what was laid down
    quick: bool = True  # whether the goal can be looked at after every call


def file_tools(files: Files) -> dict[str, Callable[..., Any]]:
    """Tools that read, write and list files in memory."""

    def read_file(path: str, offset: int = 0) -> str:
        """Read a file, from a character on."""
        if path not in files:
            raise FileNotFoundError(f"there is no {path}; there is {', '.join(sorted(files))}")
        return files[path][offset:]

    def write_file(path: str, text: str) -> str:
        """Create or replace a file."""
        files[path] = text
        return "ok"

    def list_files() -> str:
        """List all files."""
        return "\n".join(sorted(files))

    return {"read_file": read_file, "write_file": write_file, "list_files": list_files}


def answered(seen: Seen) -> Step | None:
    """How a competent model ends once it wrote its answer, or failed to too often."""
    wrote = seen.last("write_file")
    if wrote is None or (wrote.error and wrote.tries < RETRIES):
        return None
    return GAVE_UP if wrote.error else DONE


def answer(text: str) -> Step:
    """Write the answer down."""
    return [("write_file", {"path": "answer.txt", "text": text})]
