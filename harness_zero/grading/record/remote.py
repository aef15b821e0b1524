"""The learner's process as the grader sees it: what it lends can be called like a function here.

Nothing that comes from it is believed to be more than a value. When its time is up it is killed,
whatever it does, and every call that waits for it ends.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import gettempdir
from typing import Any

from harness_zero.faults import passed_at
from harness_zero.grading.record import clock
from harness_zero.grading.record.isolation import Limits, begun
from harness_zero.grading.record.lending import restore
from harness_zero.grading.record.mirror import Mirror, flush, news, served
from harness_zero.grading.record.peer import Peer
from harness_zero.grading.record.protocol import Crossing, Garbled
from harness_zero.grading.record.proxies import proxy
from harness_zero.grading.surroundings import around

PREFIX = "harness-zero-"  # of a scratch that nothing else takes away
LATE = "still running when its time was up"
SLOWEST = 20.0  # seconds in which a process begins on a busy machine


class Missing(Exception):
    """There is nothing of this name."""


class Remote:
    """A learner's process."""

    def __init__(self, inside: Path, settings: dict, limits: Limits, isolated: bool) -> None:
        self.scratch = "/tmp/scratch" if isolated else f"{gettempdir()}/{PREFIX}{token_hex(8)}"
        settings = {**settings, "scratch": self.scratch}
        self.process = begun(inside, settings, limits, isolated)
        self.serving = self.process.pid  # of its processes the one that serves
        assert self.process.stdin and self.process.stdout
        reads, writes = self.process.stdout.fileno(), self.process.stdin.fileno()
        os.set_blocking(writes, False)
        self.peer = Peer(reads, writes, self.serve, "out")
        self.peer.crossing = self.crossing = Crossing(self.proxy, trusting=False)
        self.depth = 0  # of calls inside each other
        self.given: list[Any] = []  # what was given back to it meanwhile

    @property
    def gone(self) -> str:
        """Why it is there no more; nothing while it is."""
        return self.peer.gone

    def end(self, why: str = "") -> None:
        """Kill it and all that it has started."""
        self.peer.gone = self.peer.gone or why
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Be done with it."""
        self.end("it was closed")
        self.process.wait()
        self.peer.hang_up()
        if PREFIX in self.scratch:
            rmtree(self.scratch, ignore_errors=True)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()

    @contextmanager
    def within(self, seconds: float) -> Iterator[clock.Deadline]:
        """Kill it if it is still at work after so many seconds, less the time without a core."""
        here = clock.here()
        late = partial(self.end, LATE)
        deadline = clock.Deadline(seconds, late, lambda: self.waited() + here())
        deadline.start()
        try:
            yield deadline
        finally:
            deadline.over.set()

    def crowded(self) -> bool:
        """Whether somebody is at work in it beside the thread that serves."""
        return clock.threads(self.serving) > 1 or bool(clock.children(self.serving))

    def waited(self) -> float:
        """How long it has waited for a core; one that begins processes makes its own crowd."""
        if clock.children(self.serving):
            return 0.0
        return clock.waited(self.serving, self.serving)

    def begin(self) -> None:
        """Wait until it serves; no code of a learner's runs yet."""
        with self.within(SLOWEST):
            self.cell("begin", "")
        self.serving = clock.youngest(self.process.pid)

    def cell(self, name: str, source: str) -> None:
        """Run a cell there; what it raises is raised here."""
        answer = self.peer.ask("cell", name=name, source=source)
        if "failed" in answer:
            raise self.failure(answer)

    def find(self, name: str) -> Any:
        """What has this name there; Missing if nothing has."""
        answer = self.peer.ask("find", name=name)
        if answer.get("missing"):
            raise Missing(name)
        return self.crossing.take(answer.get("is"))

    def proxy(self, number: int, kind: str, about: dict) -> Any:
        """What stands here for something of the learner's process."""
        if kind == "run":
            return Mirror(self.peer, number)
        if kind != "call":
            return Opaque(str(about.get("name"))[:80])
        return proxy(about, lambda *args, **named: self.call(number, args, named))

    def call(self, number: int, args: tuple, named: dict) -> Any:
        """Call a function there; what it changes in what it was given changes here."""
        send = self.crossing.send
        if not self.depth:
            self.crossing.forget_frames()
        self.depth += 1
        try:
            what = {"of": number, "args": send([*args]), "named": send(named)}
            new = news((*args, *named.values()), self.crossing)
            answer = self.peer.ask("call", **what, news=new, **around(args, named))
            self.carry_over(answer, args, named)
        except BaseException:
            self.crossing.told.clear()  # nobody knows what arrived
            raise
        finally:
            self.depth -= 1
            if not self.depth:
                self.given.clear()
        if "failed" in answer:
            raise self.failure(answer)
        return self.crossing.take(answer.get("is"))

    def failure(self, answer: dict) -> BaseException:
        """What was raised there, which knows where it passed in the learner's own code."""
        error = self.crossing.take(answer["failed"])
        if not isinstance(error, BaseException):
            raise Garbled("raised nothing")
        with suppress(TypeError, ValueError):
            for function, line, source in answer.get("at", []):
                passed_at(error, f"{function:.80s}", int(line), f"{source:.200s}")
        return error

    def carry_over(self, answer: dict, args: tuple, named: dict) -> None:
        """Change here what a call changed in its copies of what is ours."""
        try:
            for number, now in answer.get("changed", []):
                restore(self.given[number], self.crossing.take(now))
            if "lent" in answer:
                new_args, new_named = self.crossing.take(answer["lent"])
                restore([*args], new_args)
                restore(named, new_named)
            for at, number in answer.get("held", []):
                self.crossing.kept.share(int(number), [*args, *named.values()][at])
            if "held" in answer:
                self.crossing.hear_kept(answer)
        except (TypeError, ValueError, IndexError) as fault:
            raise Garbled(f"{fault!r:.100}") from None

    def serve(self, frame: dict) -> dict:
        """Do what the learner's process may ask for: call what was lent, read and write a run."""
        try:
            thing = self.crossing.handles.lent[frame["of"]]
            if frame["do"] != "call" or not callable(thing):
                return served(thing, frame, self.crossing)
            given = self.crossing.take([frame["args"], frame["named"]])
        except (KeyError, TypeError) as fault:
            raise Garbled(f"{fault!r:.100}") from None
        number, value = len(self.given), thing(*given[0], **given[1])
        self.given.append(value)
        answer = self.crossing.send(value)
        flush(self.peer)
        return {"is": answer, "as": number}


class Opaque:
    """An object of a kind that only the learner's process knows.

    It is equal to what has the same parts, and where nobody knows any, to itself alone.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.parts: Any = None  # as the other side tells them

    def __eq__(self, other: object) -> bool:
        if self.parts is None or not isinstance(other, Opaque):
            return self is other
        return (self.kind, self.parts) == (other.kind, other.parts)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        if not isinstance(self.parts, dict):
            return f"<{self.kind} object>"
        return f"{self.kind}({', '.join(f'{name}={each!r}' for name, each in self.parts.items())})"
