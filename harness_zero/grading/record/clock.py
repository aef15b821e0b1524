"""Time that counts against an answer: the clock on the wall, less the time of waiting for a core.

Whoever sleeps or never ends is late after so many seconds, and on a quiet machine that is all. On
one with more to do than it has cores an honest answer waits for its turn, which is no fault of its
own; the kernel tells how long. Where it does not, the clock on the wall is what counts.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

PARDON = 4  # times the seconds that it has: more is not forgiven, however busy the machine is
PROC = Path("/proc")


class Deadline:
    """Does something when the time is up, unless it is called off before."""

    def __init__(
        self,
        seconds: float,
        late: Callable[[], None],
        waited: Callable[[], float],
        now: Callable[[], float] = monotonic,
    ) -> None:
        self.seconds, self.late, self.waited, self.now = seconds, late, waited, now
        self.began, self.before = now(), waited()
        self.over = threading.Event()

    def left(self) -> float:
        """The seconds that are left."""
        pardoned = min(max(self.waited() - self.before, 0.0), PARDON * self.seconds)
        return self.began + self.seconds + pardoned - self.now()

    def used(self) -> float:
        """The seconds that are used up."""
        return min(self.seconds, self.seconds - self.left())  # none is pardoned to who is gone

    def start(self) -> None:
        """Watch from now on."""
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Wait until there is no time left."""
        while (left := self.left()) > 0:
            if self.over.wait(left):
                return
        self.late()


def waited(process: int, thread: int) -> float:
    """The seconds for which a thread was ready to run and had no core to run on; 0 if unknown."""
    try:
        told = (PROC / str(process) / "task" / str(thread) / "schedstat").read_text()
        return int(told.split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def here() -> Callable[[], float]:
    """How long this very thread has waited for a core, to be asked from another one."""
    process, thread = os.getpid(), threading.get_native_id()
    return lambda: waited(process, thread)


def threads(process: int) -> int:
    """How many threads a process has; one if unknown."""
    try:
        return sum(1 for _ in (PROC / str(process) / "task").iterdir())
    except OSError:
        return 1


def children(process: int) -> list[int]:
    """The processes that a process has begun and that are there still; none if unknown."""
    try:
        tasks = [*(PROC / str(process) / "task").iterdir()]
        return [int(each) for task in tasks for each in (task / "children").read_text().split()]
    except (OSError, ValueError):
        return []


def youngest(process: int) -> int:
    """The last of a chain of processes, of which each has begun the next."""
    while begun := children(process):
        process = begun[-1]
    return process
