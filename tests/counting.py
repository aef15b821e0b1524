"""Work counted in lines of ours that run, not in seconds; and an interrupt at one of them."""

import sys
from pathlib import Path

import harness_zero

OURS = str(Path(harness_zero.__file__).parent)


def lines_of(work):
    """How many lines of ours some work runs."""
    lines = 0

    def trace(frame, event, arg):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def pressing(at):
    """A tracer under which somebody presses Ctrl+C at the n-th line of the library."""
    seen = 0

    def trace(frame, event, arg):
        nonlocal seen
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            seen += 1
            if seen == at:
                raise KeyboardInterrupt
        return trace

    return trace
