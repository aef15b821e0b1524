"""An interrupt reaches the main thread alone. Whatever runs in others is told by an event."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event, Thread

from harness_zero.messages import Block
from harness_zero.ports import Tool
from harness_zero.run import Run

ABOVE: ContextVar[tuple[Event, ...]] = ContextVar("above", default=())


def heed() -> None:
    """Raise the interrupt of whoever started this thread, if there was one."""
    if any(event.is_set() for event in ABOVE.get()):
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


@contextmanager
def all_of(stop: Event, works: Sequence[Callable[[], None]]) -> Iterator[list[Event]]:
    """Do these at once, in threads; an event for each says that it is over.

    They heed `stop`, and whatever this thread heeds. Whoever leaves, by an interrupt too, has set
    `stop` and seen all that were begun come to their end.
    """
    threads = [(below(stop, work, over := Event()), over) for work in works]
    try:
        for thread, _ in threads:
            thread.start()
        yield [over for _, over in threads]
    finally:
        stop.set()
        for thread, over in threads:
            if thread.ident:
                over.wait()  # no Thread.join: in Python 3.11 one that is interrupted calls it over


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
