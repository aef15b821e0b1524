"""Patience that ends: code that would run for ever is stopped, and the kernel lives on."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from harness_zero.faults import SetupFault

T = TypeVar("T")
AGAIN = 0.05  # seconds until the alarm rings again for code that swallowed it


class StillRunning(SetupFault):
    """The code did not come to an end in the time it was given."""


def within(seconds: float, call: Callable[[], T]) -> T:
    """The call's value, or StillRunning after that many seconds.

    The clock is the alarm signal, which only the main thread of a POSIX system
    has; elsewhere the call runs without one.
    """
    on_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not on_main:
        return call()
    with alarm(seconds):
        return call()


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise StillRunning in this thread, `seconds` from now and again until it gets through."""
    rung = 0

    def ring(signum: int, frame: FrameType | None) -> None:
        nonlocal rung
        rung += 1
        if rung > 1:
            insist(frame)
        raise StillRunning(f"still running after {seconds:g} seconds")

    handler, tracer = signal.signal(signal.SIGALRM, ring), sys.gettrace()
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        sys.settrace(tracer)


def insist(frame: FrameType | None) -> None:
    """Raise from inside whatever handler catches the alarm, where no handler is around it."""

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = True
        if isinstance(caught := sys.exc_info()[1], StillRunning):
            raise StillRunning(str(caught))
        return trace

    sys.settrace(trace)
    while frame:
        frame.f_trace, frame.f_trace_opcodes = trace, True
        frame = frame.f_back
