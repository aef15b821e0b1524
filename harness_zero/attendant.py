"""Work in a process of its own, which an attendant waits for.

It can be inside one long call, turn alarms off or end its program: it neither hangs nor ends
this one, and nothing that it started outlives it.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn

GRACE = 5.0  # seconds that attended work may take beyond what it is given
NOTICE = 2.0  # seconds until it is said what is waited for
TICK = 0.02  # seconds between two looks at attended work
AT, ENDED, BROKE = "at", "ended", "broke"  # what attended work tells of itself
REST = "What follows it is not checked: mend it, and check again."

Report = Callable[[str, float], None]  # what is at work from now on, and its seconds


class NotEnded(Exception):
    """Attended work did not come to its end; the sentence says at what, and why."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code


def attended(work: Callable[[Report], int], tell: Callable[[str], None]) -> int:
    """The exit code of some work, which can neither hang this program nor end it.

    The work reports what it is at; `tell` is told of what takes long. Nothing that it
    started outlives it.
    """
    news, pipe = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        serve(work, pipe)
    os.close(pipe)
    os.set_blocking(news, False)
    try:
        return Attendant(child, news, tell).wait()
    finally:
        end(child)
        os.close(news)


def serve(work: Callable[[Report], int], pipe: int) -> NoReturn:
    """Do the work, and end this process whatever comes of it; Ctrl+C does not reach it."""
    leave, write = os._exit, os.write

    def send(*words: str) -> None:
        write(pipe, (" ".join(words) + "\n").encode(errors="backslashreplace"))

    try:
        os.setsid()
        code = work(lambda what, seconds: send(AT, f"{seconds:g}", what))
        sys.stdout.flush()
        send(ENDED, str(code))
    except BrokenPipeError:  # nobody listens any more
        send(ENDED, "1")
    except BaseException as error:
        send(BROKE, type(error).__name__)
    finally:
        leave(0)


def end(child: int) -> None:
    """End attended work with all that it started."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


@dataclass
class Attendant:
    """Waits for work in another process, and says what it is at."""

    child: int
    news: int  # the pipe on which the work tells of itself
    tell: Callable[[str], None]
    what: str = "the start"
    seconds: float = 60.0  # that it is given
    since: float = field(default_factory=time.monotonic)
    said: bool = False
    unread: bytes = b""

    def wait(self) -> int:
        """Wait for the end of the work; NotEnded if it does not come to that."""
        try:
            while not self.is_over():
                if (code := self.heard()) is not None:
                    return code
                self.be_patient()
                time.sleep(TICK)
        except KeyboardInterrupt:
            with suppress(NotEnded):
                self.heard()
            raise NotEnded(f"Ended at {self.what}; what follows it is not checked.", 130) from None
        if (code := self.heard()) is not None:
            return code
        raise NotEnded(f"{self.what} ended the program that runs it ({self.how}). {REST}")

    def is_over(self) -> bool:
        """Whether the other process is gone, and how it went."""
        gone, status = os.waitpid(self.child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status)
        self.how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return gone != 0

    def heard(self) -> int | None:
        """Hear what the work tells of itself: its exit code, if that is among it."""
        with suppress(BlockingIOError):
            self.unread += os.read(self.news, 1 << 16)
        *lines, self.unread = self.unread.split(b"\n")
        for line in lines:
            kind, _, words = line.decode(errors="replace").partition(" ")
            if kind == ENDED:
                return int(words)
            if kind == BROKE:
                raise NotEnded(f"The check itself broke at {self.what} ({words}). {REST}")
            seconds, _, self.what = words.partition(" ")
            self.seconds, self.since, self.said = float(seconds), time.monotonic(), False
        return None

    def be_patient(self) -> None:
        """Say once what is waited for; NotEnded when it took too long."""
        waited = time.monotonic() - self.since
        if waited > NOTICE and not self.said:
            given = f"which is given {self.seconds:g} seconds"
            self.tell(f"Still at {self.what}, {given}; Ctrl+C ends it.")
            self.said = True
        if waited > self.seconds + GRACE:
            why = "it is inside one long call, or the alarm is off"
            raise NotEnded(f"{self.what} cannot be stopped: {why}. {REST}")
