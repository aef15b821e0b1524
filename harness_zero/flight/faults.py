"""Faults: what goes wrong in a flight, at the n-th call of a tool or of the model.

A fault is laid over every call and lets all of them through but those that it meets.
"""

from collections.abc import Callable
from typing import Any

from harness_zero.flight.luck import Luck
from harness_zero.flight.steps import cut, size
from harness_zero.retry import call_failed

Go = Callable[[], Any]  # makes the call
Meet = Callable[[Go, int], Any]  # makes the n-th call, or what the fault makes of it


class Clock:
    """The time of one flight: it passes when somebody takes some, and only then."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += max(0.0, seconds)


Fault = Callable[[int, Luck, Clock], Meet]


def calm(at: int, luck: Luck, clock: Clock) -> Meet:
    """Nothing goes wrong."""
    return lambda go, n: go()


def once(happens: Callable[[Go, Luck, Clock], Any]) -> Fault:
    """A fault that meets one call."""

    def fault(at: int, luck: Luck, clock: Clock) -> Meet:
        return lambda go, n: happens(go, luck, clock) if n == at else go()

    fault.__doc__ = happens.__doc__
    return fault


@once
def crash(go: Go, luck: Luck, clock: Clock) -> Any:
    """A tool crashes before it has done anything."""
    raise OSError("the tool crashed")


@once
def slow(go: Go, luck: Luck, clock: Clock) -> Any:
    """A tool takes five minutes or an hour."""
    clock.sleep(luck.pick((300, 3600), "how slow"))
    return go()


@once
def lost_before(go: Go, luck: Luck, clock: Clock) -> Any:
    """The connection to a tool is lost before the effect."""
    raise ConnectionError("connection lost")


@once
def lost_after(go: Go, luck: Luck, clock: Clock) -> Any:
    """The connection to a tool is lost after the effect: it happened, and nobody says so."""
    go()
    raise ConnectionError("connection lost")


@once
def interrupt(go: Go, luck: Luck, clock: Clock) -> Any:
    """Somebody presses Ctrl+C in the middle of a tool."""
    raise KeyboardInterrupt


class Killed(BaseException):
    """The process is gone, and with it all that it held in memory. A pilot may start another."""


@once
def killed(go: Go, luck: Luck, clock: Clock) -> Any:
    """The process is killed after a tool's effect: it happened, and nobody wrote it down."""
    go()
    raise Killed


def overloaded(at: int, luck: Luck, clock: Clock) -> Meet:
    """The API answers 529, one, two or six times in a row."""
    until = at + luck.pick((1, 2, 6), "how often")

    def meet(go: Go, n: int) -> Any:
        if at <= n < until:
            raise call_failed("the API answered 529: overloaded", 529)
        return go()

    return meet


def limited(at: int, luck: Luck, clock: Clock) -> Meet:
    """The API answers 429 until twenty seconds have passed; asking at once is in vain."""
    opens: list[float] = []

    def meet(go: Go, n: int) -> Any:
        if n == at:
            opens.append(clock() + 20)
        if opens and clock() < opens[0]:
            raise call_failed("the API answered 429: ask again in 20 seconds", 429, 20.0)
        return go()

    return meet


@once
def lost_reply(go: Go, luck: Luck, clock: Clock) -> Any:
    """The connection to the model is lost while it speaks: all of its reply is lost."""
    go()
    raise call_failed("connection lost")


@once
def cut_reply(go: Go, luck: Luck, clock: Clock) -> Any:
    """A reply is cut before its end, and half of its last call can look whole."""
    said = go()
    return cut(said, size(said) - 3, whole=luck.chance(50, "looks whole"))


IN_TOOLS: dict[str, Fault] = {
    "crash": crash,
    "slow": slow,
    "lost-before": lost_before,
    "lost-after": lost_after,
    "interrupt": interrupt,
}
IN_MODEL: dict[str, Fault] = {
    "529": overloaded,
    "429": limited,
    "lost-reply": lost_reply,
    "cut": cut_reply,
}
FAULTS = {"calm": calm, **IN_TOOLS, **IN_MODEL}
BESIDE: dict[str, Fault] = {"killed": killed}  # in no block, so that blocks stay as they are
