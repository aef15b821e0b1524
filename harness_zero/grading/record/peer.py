"""Calls between two processes through two pipes, in both directions and inside each other.

A lane is one chain of calls: a function here calls one there, which calls one here. Whoever opened
a lane waits on it, and serves what comes back on it, until its own answer is there. Threads of
either side have lanes of their own, so that calls made at once are served at once.

Of those who wait one reads the pipe, for all of them. So where one thread waits, as nearly always,
what comes is at once where it is wanted, and no other thread has to be woken for it.
"""

import json
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from select import POLLIN, POLLOUT, poll
from typing import Any

from harness_zero.grading.record.protocol import Crossing, Garbled, written

MAIN = "main"
TICK = 100  # milliseconds in which it is seen that nothing will come any more
MOST_LANES = 64
LARGEST = 8_000_000  # bytes of a frame
Serve = Callable[[dict], Any]  # does what a frame asks for; gives back what answers it


class Gone(Exception):
    """The other side is there no more; the words say why, if anybody knows."""


class Peer:
    """One end of the two pipes."""

    def __init__(self, reads: int, writes: int, serve: Serve, name: str) -> None:
        self.reads, self.writes, self.serve, self.name = reads, writes, serve, name
        self.crossing: Crossing
        self.lanes: dict[str, deque[dict]] = {MAIN: deque()}
        self.here = threading.local()
        self.turn = threading.Lock()
        self.come = threading.Condition()  # told when frames came, or nobody reads any more
        self.reader: int | None = None  # the thread that reads
        self.rest = b""  # the beginning of a frame
        self.opened = 0
        self.names: dict[str, bool] = {}  # what was read of runs so far
        self.touched: dict[int, Any] = {}  # the mirrors that were read since somebody had a turn
        self.gone = ""  # why nothing comes any more
        self.ended = False  # whether nothing comes any more

    def next_on(self, lane: str) -> dict:
        """What comes next on a lane; Gone if nothing comes any more."""
        frames, me = self.lanes[lane], threading.get_ident()
        while not frames:
            with self.come:
                while self.reader not in (None, me) and not frames:
                    self.come.wait()
                if frames or self.ended:
                    break
                self.reader = me
            try:
                self.read()
            finally:
                self.leave()
        if not frames:
            raise Gone(self.gone)
        return frames.popleft()

    def leave(self) -> None:
        """Let another one read, who may wait for that."""
        with self.come:
            self.reader = None
            self.come.notify_all()

    def hang_up(self) -> None:
        """Wait for nothing any more, whoever does."""
        self.gone, self.ended = self.gone or "it was closed", True
        self.leave()

    def read(self) -> None:
        """Wait for what comes, and put each frame on its lane."""
        try:
            raw = os.read(self.reads, 1 << 16) if self.can(self.reads, POLLIN) else b""
        except OSError:
            raw = b""
        *lines, self.rest = (self.rest + raw).split(b"\n") if b"\n" in raw else (self.rest + raw,)
        if not raw or len(self.rest) > LARGEST or not all(map(self.sort, lines)):
            self.gone = self.gone or "its process ended"
            self.ended = True

    def can(self, pipe: int, what: int) -> bool:
        """Wait until this pipe can be read, or written; False if its other side is gone by then."""
        ready = poll()
        ready.register(pipe, what)
        while not self.gone:
            if ready.poll(TICK):
                return True
        return False  # even if a process that outlived it holds the pipe

    def sort(self, line: bytes) -> bool:
        """Put a frame on its lane; False if it is none, and nothing more is listened to."""
        try:
            frame = json.loads(line)
            lane = frame["lane"]
            known = self.lanes.get(lane)
            self.crossing.hear(frame)
        except Garbled as fault:
            self.gone = str(fault)
            return False
        except (ValueError, TypeError, KeyError, RecursionError):
            self.gone = "what it wrote is no message"
            return False
        if known is not None:
            known.append(frame)
        elif "do" in frame and isinstance(lane, str) and len(self.lanes) < MOST_LANES:
            self.lanes[lane] = deque()
            threading.Thread(target=self.attend, args=(lane, frame), daemon=True).start()
        return True

    def attend(self, lane: str, frame: dict) -> None:
        """Serve what opened a lane; then it is closed."""
        self.here.lane = lane
        with suppress(Gone):
            self.answer(lane, frame)
        self.lanes.pop(lane, None)

    def ask(self, do: str, **what: Any) -> Any:
        """Have something done at the other side, and wait for what comes of it."""
        lane = getattr(self.here, "lane", None)
        if lane:
            return self.asked(lane, do, what)
        if threading.current_thread() is threading.main_thread():
            return self.on(MAIN, do, what)
        self.opened += 1
        lane = f"{self.name} {self.opened} {threading.get_ident()}"
        self.lanes[lane] = deque()
        try:
            return self.on(lane, do, what)
        finally:
            self.lanes.pop(lane, None)

    def on(self, lane: str, do: str, what: dict) -> Any:
        """The same on a lane that this thread is on meanwhile."""
        self.here.lane = lane
        try:
            return self.asked(lane, do, what)
        finally:
            self.here.lane = None

    def asked(self, lane: str, do: str, what: dict) -> Any:
        """Write what is wanted, and serve what comes until the answer is there."""
        self.write({"lane": lane, "do": do, **what})
        while "do" in (frame := self.next_on(lane)):
            self.answer(lane, frame)
        if "raised" in frame:
            error = self.crossing.take(frame["raised"])
            raise error if isinstance(error, BaseException) else Garbled("raised nothing")
        return frame

    def answer(self, lane: str, frame: dict) -> None:
        """Do what a frame asks for, and write what came of it."""
        try:
            answer = self.serve(frame)
        except Gone:
            raise
        except BaseException as error:
            answer = {"raised": self.crossing.send(error)}
        self.write({"lane": lane, **answer})

    def write(self, frame: dict) -> None:
        """Put a frame into the pipe."""
        with self.turn:
            line = written(frame | self.crossing.meanwhile())
            if len(line) > LARGEST:
                raise Garbled(f"{len(line):,} bytes at once, of {LARGEST:,} at most")
            while line:
                try:
                    line = line[os.write(self.writes, line) :]
                except BlockingIOError:
                    if not self.can(self.writes, POLLOUT):
                        raise Gone(self.gone) from None
                except OSError:
                    raise Gone(self.gone or "its process ended") from None

    def live(self) -> None:
        """Serve the main lane until the other side hangs up."""
        self.here.lane = MAIN
        with suppress(Gone):
            while True:
                self.answer(MAIN, self.next_on(MAIN))
