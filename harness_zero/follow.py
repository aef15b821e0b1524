"""Follow code while it runs: each statement of it, and what its names stood for afterwards.

Python tells a trace function of every line. It is set only meanwhile; one that was set before
(a debugger's, coverage's) hears all that it would have heard, and is put back at the end. Other
threads and coroutines are not followed, and that is said. What is not Python has no lines.
"""

import dis
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from harness_zero.authored import Authored
from harness_zero.keys import Kept
from harness_zero.listing import Part, Statement
from harness_zero.messages import Message
from harness_zero.sightings import Sighting, arrays_in, outline, sighting
from harness_zero.snapshot import Camera, is_code

MOST = 20_000  # steps that are kept of one run
UNEVENTFUL = 400  # of them in a row in which nothing reaches the model or the array
LONGEST_WAIT = 2_000_000  # steps that are passed over until there is no more looking
RESTS = ("YIELD_VALUE", "RESUME")  # what a generator is at when it yields
AND_ENDED = "; what ran after that was not followed."
TOO_DEEP = "The code went about as deep in calls as Python lets it"
SET_ANOTHER = "The code set a trace function"
TOO_DEEP_OR_NONE = f"{SET_ANOTHER} to None, or went as deep in calls as Python lets it"
ENDS_AN_ITERATION = (StopIteration, StopAsyncIteration, GeneratorExit)
Seen = Callable[[], tuple[int, list[Message]]]  # how many replies by now; the array as last sent


@dataclass(slots=True)
class Step:
    """A statement that ran, or that is about to call something; and what it left."""

    call: int  # the number of the call that it ran in
    statement: Statement
    kind: str  # call, resume, line, calls, return, yield, raise
    told: str  # what was returned, yielded or raised
    replies: int  # of the model by then
    skipped: int  # steps before this one that were not kept
    values: dict[str, str | None]  # that changed since the last step of this call; None: gone


@dataclass
class Followed:
    """What was seen of some code while it ran."""

    parts: list[Part]  # the functions, in the order in which they were first called
    notes: list[str] = field(default_factory=list)  # what was not followed, in sentences
    calls: list[tuple[int, str]] = field(default_factory=list)  # of each its part and its name
    steps: list[Step] = field(default_factory=list)
    arrays: list[tuple[int, list[Sighting]]] = field(default_factory=list)  # from which step on


class Follower:
    """Follows a function, and what else its author wrote, while this is entered."""

    def __init__(self, function: Any, seen: Seen = lambda: (0, [])) -> None:
        self.authored = Authored(function, self.note)
        self.found = Followed(self.authored.parts)
        self.seen = seen
        self.keys = Kept()
        self.camera = Camera(self.keys.now())
        self.stack: list[Call] = []  # what is under way
        self.over = False
        self.failed: type[Exception] | None = None
        self.begin_again()

    def begin_again(self) -> None:
        """Let go of the steps so far: what comes now is what is to be shown."""
        self.found.steps.clear()
        self.found.arrays.clear()
        self.quiet = self.passed = 0
        self.arrays: list[list[Message]] = []  # in sight at the last step
        self.shape: list[tuple] = []
        self.news: tuple = ()

    def __enter__(self) -> Followed:
        self.earlier: Any = sys.gettrace()
        self.in_threads: Any = threading.gettrace()
        threading.settrace(self.elsewhere)
        sys.settrace(self.called)
        return self.found

    def __exit__(self, fault: object, *_: object) -> None:
        now = sys.gettrace()
        if now is None or now == self.called:
            sys.settrace(self.earlier)
        if self.failed:
            deep = issubclass(self.failed, RecursionError)
            what = TOO_DEEP if deep else f"Following failed ({self.failed.__name__})"
            self.note(what + AND_ENDED)
        elif now != self.called and not (self.over or fault):
            self.note((SET_ANOTHER if now else TOO_DEEP_OR_NONE) + AND_ENDED)
        threading.settrace(self.in_threads)
        self.stack.clear()

    def note(self, sentence: str) -> None:
        """Keep a sentence on what is not followed, once."""
        if sentence not in self.found.notes:
            self.found.notes.append(sentence)

    def called(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word that a function begins, or a generator goes on."""
        others = self.pass_on(self.earlier, frame, event, arg) if self.earlier is not None else None
        call = None
        if not self.over:
            try:
                call = self.call(frame)
            except Exception as error:  # must not reach the code; where calls are too deep,
                self.failed, self.over = type(error), True  # there is no room for one more
                sys.settrace(self.earlier)
        if call is None or self.over:
            return others
        call.others = others
        return call.trace

    def call(self, frame: FrameType) -> "Call | None":
        """The call that begins or goes on in a frame; None if it is not to be followed."""
        part = self.authored.part(frame.f_code)
        if part is None:
            return None
        call = getattr(frame.f_trace, "__self__", None)
        if not isinstance(call, Call):
            call = Call(self, len(self.found.calls), part)
            self.found.calls.append((part, frame.f_code.co_name))
        call.begin(frame)
        return call

    def pass_on(self, tracer: Any, frame: FrameType, event: str, arg: Any) -> Any:
        """Let an earlier tracer hear of it; one written in C sets itself in our place."""
        if tracer is None:
            return None
        heard = tracer(frame, event, arg)
        if sys.gettrace() != self.called:
            sys.settrace(self.called)
        return heard

    def elsewhere(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word from another thread, in which nothing is followed."""
        others = None
        if self.in_threads:
            others = self.in_threads(frame, event, arg)
            sys.settrace(self.elsewhere)
        with suppress(Exception):  # nothing that goes wrong here must reach the code
            if self.authored.wrote(frame.f_code):
                name = frame.f_code.co_name
                self.note(f"{name} ran in a thread of its own, where lines are not followed.")
                sys.settrace(self.in_threads)
        return others

    def keep(self, call: "Call", kind: str, told: str = "") -> None:
        """Keep a step with what it changed, unless there are too many of them."""
        if self.over:
            return
        replies, sent = self.seen()
        news = (replies, id(sent), list.__len__(sent), *map(outline, self.arrays))
        self.quiet, self.news = (self.quiet + 1 if news == self.news else 0), news
        if self.quiet > UNEVENTFUL and kind != "raise":
            self.pass_over()
            return
        self.camera.see(self.keys.now())
        values = call.changes()
        step = Step(call.number, call.statement, kind, told, replies, self.passed, values)
        self.found.steps.append(step)
        self.passed = 0
        self.look([*call.in_sight(), sent])
        if len(self.found.steps) >= MOST:
            self.note(f"{MOST:,} steps are shown; what ran after them was not followed.")
            self.stop()

    def told(self, value: Any) -> str:
        """What is returned, yielded or raised, in a line."""
        self.camera.see(self.keys.now())
        return self.camera.take(value)

    def look(self, arrays: list[list[Message]]) -> None:
        """Note how the arrays in sight are, if they are not as they were."""
        self.arrays = [*{id(each): each for each in arrays if list.__len__(each)}.values()]
        shape = [(id(each), *outline(each)) for each in self.arrays]
        if shape != self.shape:
            self.shape = shape
            now = [*map(sighting, self.arrays)]
            self.found.arrays.append((len(self.found.steps) - 1, now))

    def pass_over(self) -> None:
        """Leave out a step: for long nothing has come of them."""
        self.passed += 1
        if self.passed > LONGEST_WAIT:
            self.note("The code was at work by itself for too long to be followed on.")
            self.stop()

    def stop(self) -> None:
        """Follow no further; whoever traced before goes on as they did."""
        self.over = True
        sys.settrace(self.earlier)


class Call:
    """One call of a function that is followed, or a generator with all that it yields."""

    statement: Statement
    frame: FrameType | None = None  # while it is under way

    def __init__(self, follower: Follower, number: int, part: int) -> None:
        self.follower, self.number = follower, number
        self.hidden = follower.found.parts[part].hidden
        self.others: Any = None  # what an earlier tracer traces this call with
        self.told: dict[str, str] = {}  # what each name stood for at the last step
        self.outer: set[str] = set()  # the names among them that are no locals
        self.arrays: list[list[Message]] = []  # in its names
        self.around: list[list[Message]] = []  # in those of what called it
        self.begun = self.pending = False  # the call; the statement
        self.at = 0  # how far Python is in the function
        self.raised: Statement | None = None  # from which an exception came last
        self.falls = False  # an exception is on its way out
        self.unsaid = ""  # one that may be only how an iteration ends

    def begin(self, frame: FrameType) -> None:
        """The call begins, or a generator goes on; its caller waits at a statement of its own."""
        follower = self.follower
        if follower.stack and (caller := follower.stack[-1]).pending:
            follower.keep(caller, "calls")
        self.frame, self.listing = frame, follower.authored.listing(frame.f_code)
        self.around = follower.stack[-1].in_sight() if follower.stack else []
        follower.stack.append(self)
        if not self.begun:
            self.statement = self.listing.statement(frame.f_code.co_firstlineno)
        follower.keep(self, "resume" if self.begun else "call")
        self.pending = self.begun and bool(self.statement.writes)
        self.begun = True

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word of a line, of an exception, or of the end of the call."""
        follower = self.follower
        if self.others is not None:
            self.others = follower.pass_on(self.others, frame, event, arg) or self.others
        if follower.over:
            return self.others
        try:
            self.hear(frame, event, arg)
        except Exception as error:  # as above
            follower.failed, follower.over = type(error), True
            sys.settrace(follower.earlier)
        return self.others if follower.over else self.trace

    def hear(self, frame: FrameType, event: str, arg: Any) -> None:
        """Take an event in; a generator that waited for another one may go on without a word."""
        if self.frame is None:
            self.begin(frame)
        if event == "line":
            self.line(frame)
        elif event == "exception":
            self.exception(*arg[:2])
        elif event == "return":
            self.end(frame, arg)

    def line(self, frame: FrameType) -> None:
        """A line begins: what came before it is over, unless it is the same statement still."""
        statement = self.listing.statement(frame.f_lineno)
        goes_on = statement.goes_round or frame.f_lasti > self.at
        if not (self.pending and statement is self.statement and goes_on):
            if self.pending:
                self.follower.keep(self, "line")
            self.statement, self.pending = statement, True
        self.at, self.falls, self.unsaid = frame.f_lasti, False, ""

    def exception(self, kind: type, value: Any) -> None:
        """An exception leaves the statement."""
        self.falls = True
        text = self.follower.told(value)
        if issubclass(kind, ENDS_AN_ITERATION):
            self.unsaid = text
        else:
            self.follower.keep(self, "raise", text)
            self.raised, self.pending = self.statement, False

    def end(self, frame: FrameType, value: Any) -> None:
        """The call ends or rests: it gives something back, or an exception leaves it."""
        follower, at = self.follower, operation(frame)
        rests = at in RESTS and not self.falls
        if rests or "RETURN" in at:
            follower.keep(self, "yield" if rests else "return", follower.told(value))
        elif self.unsaid:
            follower.keep(self, "raise", self.unsaid)
        elif self.pending and self.statement is not self.raised:  # a finally lets it pass
            follower.keep(self, "line")
        self.pending = self.falls = False
        self.frame = None
        while follower.stack and follower.stack.pop() is not self:
            pass

    def in_sight(self) -> list[list[Message]]:
        """The arrays in its names, and in those of what called it."""
        return [*{id(each): each for each in (*self.around, *self.arrays)}.values()]

    def changes(self) -> dict[str, str | None]:
        """What names stand for that they did not stand for at the last step of this call."""
        now: dict[str, str] = {}
        self.arrays = []
        for name, value in self.visible():
            self.arrays += arrays_in(value)
            if not is_code(value):
                now[name] = self.follower.camera.take(value, name)
        changed: dict[str, str | None] = {n: t for n, t in now.items() if self.told.get(n) != t}
        gone = [name for name in self.told if name not in now and name not in self.outer]
        self.told = {name: text for name, text in self.told.items() if name not in gone} | now
        return changed | dict.fromkeys(gone)

    def visible(self) -> Iterator[tuple[str, Any]]:
        """The call's own names, and those from outside that the statement reads."""
        assert self.frame
        local, around = self.frame.f_locals, self.frame.f_globals
        for name, value in local.items():
            if name not in self.hidden and not name.startswith("."):
                yield name, value
        for name in self.statement.reads:
            if name not in local and name in around:
                self.outer.add(name)
                yield name, around[name]


def operation(frame: FrameType) -> str:
    """What Python does in a call at this moment, by the name that it has for that."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]]
