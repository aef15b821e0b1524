"""An interrupt reaches the main thread alone. Whatever runs in others is told by an event."""

from collections.abc import Callable
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


def below(event: Event, work: Callable[[], None]) -> Thread:
    """A thread that heeds this event, and those that the thread heeds which starts it."""
    context = copy_context()
    context.run(ABOVE.set, (*ABOVE.get(), event))
    return Thread(target=context.run, args=(work,), daemon=True)
