"""Patience that ends: code that would run for ever is stopped, and the kernel lives on.

An alarm reaches what Python runs line by line. What is inside one long call, or turns the alarm
off, is out of its reach: for such work there is the `attendant`.
"""

import gc
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

from harness_zero.faults import SetupFault

T = TypeVar("T")
AGAIN = 0.05  # seconds until the alarm rings again for code that swallowed it


class StillRunning(SetupFault):
    """The code did not come to an end in the time it was given."""


def within(seconds: float, call: Callable[[], T]) -> T:
    """The call's value, or StillRunning after that many seconds."""
    with Alarm(seconds):
        return call()


def working(seconds: float, call: Callable[[], T]) -> T:
    """The same by the time in which this process was at work: whoever waits is not hurried."""
    with Alarm(seconds, of_work=True):
        return call()


class Alarm:
    """Raises StillRunning in the code under it, after some seconds and again until it gets through.

    The clock is the alarm signal, which only the main thread of a POSIX system
    has; elsewhere nothing rings. While it is paused, somebody else is at work.
    """

    def __init__(self, seconds: float, of_work: bool = False) -> None:
        self.seconds = seconds
        self.clock = ("ITIMER_PROF", "SIGPROF") if of_work else ("ITIMER_REAL", "SIGALRM")
        self.rung = 0
        on_main = threading.current_thread() is threading.main_thread()
        self.rings = on_main and hasattr(signal, "setitimer")

    def __enter__(self) -> "Alarm":
        if self.rings:
            self.tracer = sys.gettrace()
            self.timer, self.signal = (getattr(signal, name) for name in self.clock)
            self.handler = signal.signal(self.signal, self.ring)
            self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        if self.rings:
            self.pause()
            signal.signal(self.signal, self.handler)
            sys.settrace(self.tracer)

    def resume(self) -> None:
        """Begin to count, from the start."""
        if self.rings:
            signal.setitimer(self.timer, self.seconds, AGAIN)

    def pause(self) -> None:
        """Stop counting."""
        if self.rings:
            signal.setitimer(self.timer, 0)

    def ring(self, signum: int, frame: FrameType | None) -> None:
        """Raise where the code is now; from the second time on, past whatever catches it."""
        if is_out_of_reach(frame):
            return  # it rings again
        self.rung += 1
        if self.rung > 1:
            insist(frame)
        raise StillRunning(f"still running after {self.seconds:g} seconds")


def is_out_of_reach(frame: FrameType | None) -> bool:
    """Whether an alarm is just being turned off, or garbage collected: what is raised is lost."""
    deaf = {Alarm.__exit__.__code__, *(getattr(each, "__code__", None) for each in gc.callbacks)}
    while frame:
        if frame.f_code in deaf:
            return True
        frame = frame.f_back
    return False


def insist(frame: FrameType | None) -> None:
    """Raise from inside whatever handler catches the alarm, where no handler is around it."""

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = True
        caught = sys.exc_info()[1]
        if isinstance(caught, StillRunning) and not is_out_of_reach(frame):
            raise StillRunning(str(caught))
        return trace

    sys.settrace(trace)
    while frame:
        frame.f_trace, frame.f_trace_opcodes = trace, True
        frame = frame.f_back
