"""An interrupt reaches the main thread alone. Whatever runs in others is told by an event."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from threading import Event, Thread

from harness_zero.messages import Block
from harness_zero.ports import Tool
from harness_zero.run import Run

TICK = 0.05  # seconds after which whoever waits looks up
ABOVE: ContextVar[tuple[Event, ...]] = ContextVar("above", default=())


def heed() -> None:
    """Raise the interrupt of whoever started this thread, if there was one."""
    for event in ABOVE.get():
        if event.is_set():
            raise KeyboardInterrupt


def heeding(run: Run) -> None:
    """A policy that has nothing to say, and interrupts the turn once the parent was."""
    heed()


def heeding_tool(tool: Tool) -> Tool:
    """The same tool; calls of a reply that wait behind others are not made any more."""

    def heeded(call: Block) -> Block:
        heed()
        return tool(call)

    return heeded


def at_once(stop: Event, works: Sequence[Callable[[], None]]) -> None:
    """Do these at once, in threads that heed `stop`, and whatever this thread heeds.

    An interrupt of this thread sets `stop`, and passes when all that were begun are over.
    """
    threads = [(below(stop, work, over := Event()), over) for work in works]
    try:
        for thread, _ in threads:
            thread.start()
        for _, over in threads:
            wait(over)
    finally:
        stop.set()
        for thread, over in threads:
            if thread.ident:
                wait(over)


def wait(over: Event) -> None:
    """Wait for a thread, in a way that an interrupt ends.

    One that comes just before a wait would be noticed after it, so each is short. Thread.join is
    none: in Python 3.11 one that is interrupted takes the thread for ended.
    """
    while not over.wait(TICK):
        pass


def below(stop: Event, work: Callable[[], None], over: Event) -> Thread:
    """A thread that heeds an event, and those that the thread heeds which starts it."""
    context = copy_context()
    context.run(ABOVE.set, (*ABOVE.get(), stop))

    def whole() -> None:
        try:
            context.run(work)
        finally:
            over.set()

    return Thread(target=whole, daemon=True)
