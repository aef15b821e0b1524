"""A process attended to its end: of what it prints a part is kept, of what it started nothing."""

import codecs
import os
import selectors
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from socket import SHUT_WR, socket, socketpair
from threading import Thread
from time import monotonic
from typing import IO

from harness_zero.brief import gap

Process = subprocess.Popen[bytes]

ALL_ENDED = "everything it had started was ended"
GRACE = 0.5  # seconds in which what was ended lets go


def carry_out(begin: Callable[[], Process], timeout: float, limit: int) -> str:
    """Begin a process, and tell how it ended and what it printed."""
    return apart(partial(attend, begin, timeout, limit))


def apart(work: Callable[[socket], str]) -> str:
    """Have work done on a thread of its own; it hears the line go dead if we are interrupted.

    An interrupt reaches the main thread only. So on another thread a process can be
    started and ended with no instant between in which an interrupt would lose it.
    Sockets, unlike locks, are never left half held by one either.
    """
    outcome: Future[str] = Future()
    here, there = socketpair()
    with here:
        try:
            Thread(target=settle, args=(outcome, work, there), daemon=True).start()
            # An interrupt that falls right before a wait does not cut it short.
            while not has_hung_up(here, GRACE):
                pass
        except BaseException:
            here.shutdown(SHUT_WR)
            has_hung_up(here, GRACE)
            raise
    return outcome.result()


def has_hung_up(line: socket, seconds: float) -> bool:
    """Wait until the other end hangs up, at most for some seconds."""
    line.settimeout(seconds)
    try:
        return not line.recv(1)
    except TimeoutError:
        return False


def settle(outcome: Future[str], work: Callable[[socket], str], caller: socket) -> None:
    """Do the work, leave what came of it, and hang up."""
    with caller:
        try:
            outcome.set_result(work(caller))
        except BaseException as fault:
            outcome.set_exception(fault)


def attend(begin: Callable[[], Process], timeout: float, limit: int, caller: socket) -> str:
    """Listen to a process until it exits, time is up or its caller is gone; then end it all."""
    printed = Excerpt(limit)
    exits, exited = socketpair()
    process = begin()
    assert process.stdout is not None
    with process.stdout as pipe, exited:
        watch = Thread(target=announce_exit, args=(process, exits), daemon=True)
        try:
            watch.start()
            in_time = listen(pipe, [exited, caller], timeout, printed)
        finally:
            end(process)
        listen(pipe, [], GRACE, printed)
    ending = exit_code(process) if in_time else f"timed out after {timeout:g} s; {ALL_ENDED}"
    return f"{ending}\n{printed}"


def started(argv: list[str], folder: str, environment: dict[str, str]) -> Process:
    """A process in a group of its own, with nothing to read, printing into one pipe."""
    return subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )


def announce_exit(process: Process, exits: socket) -> None:
    """Hang up once the process has exited.

    Where the system allows, the process is left unreaped, so that its number
    still stands for its group when the group is ended.
    """
    with exits, suppress(ChildProcessError):
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()


def listen(pipe: IO[bytes], lines: list[socket], seconds: float, printed: "Excerpt") -> bool:
    """Take in what is printed, until all is said or a line goes dead; False if time was up."""
    until = monotonic() + seconds
    sources: list[IO[bytes] | socket] = [pipe, *lines]
    with selectors.DefaultSelector() as ears:
        for source in sources:
            ears.register(source, selectors.EVENT_READ)
        while ears.get_map():
            if (left := until - monotonic()) <= 0:
                return False
            ready = {key.fileobj for key, _ in ears.select(min(left, 3600))}
            if pipe in ready and not printed.take(pipe):
                ears.unregister(pipe)
            if ready & {*lines}:
                return True
    return True


def end(process: Process) -> None:
    """End the process and its whole group, and leave no zombie."""
    # macOS says "not permitted" of a group in which nobody lives any more.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def exit_code(process: Process) -> str:
    """How the process ended, in a shell's numbers: 128 and the signal, if it was a signal."""
    code = process.returncode
    return f"exit code {code if code >= 0 else 128 - code}"


class Excerpt:
    """The beginning and the end of what is printed, however much it is."""

    def __init__(self, limit: int) -> None:
        self.front = limit // 2
        self.back = limit - self.front
        self.head = self.tail = ""
        self.length = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, pipe: IO[bytes]) -> bool:
        """Take in what stands in the pipe; False once nothing more will come."""
        raw = os.read(pipe.fileno(), 65536)
        self.add(self.decoder.decode(raw, final=not raw))
        return bool(raw)

    def add(self, text: str) -> None:
        """Take in a piece of text."""
        self.length += len(text)
        room = self.front - len(self.head)
        self.head += text[:room]
        tail = self.tail + text[room:]
        self.tail = tail[max(0, len(tail) - self.back) :]

    def __str__(self) -> str:
        """What was kept, with a line in the middle that says how much was not."""
        cut = self.length - len(self.head) - len(self.tail)
        return f"{self.head}{gap(cut) if cut else ''}{self.tail}"
