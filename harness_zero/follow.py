"""Follow code while it runs: each statement of it, and what its names stood for afterwards.

Python tells a trace function of every line. It is set only meanwhile; one that was set before
(a debugger's, coverage's) hears all that it would have heard, and is put back at the end.

Followed is what was written by whoever wrote the function: not Python's library, nor what is
installed, nor this package, but for the file that the function itself is in. Not followed, and
said, are other threads and coroutines; what is not written in Python has no lines.
"""

import dis
import inspect
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from harness_zero.faults import NOT_THE_LEARNERS, SetupFault
from harness_zero.listing import Listing, Part, Statement
from harness_zero.masks import Mask
from harness_zero.messages import Message
from harness_zero.snapshot import Camera, is_array, is_code

MOST = 20_000  # steps that are kept of one run
UNEVENTFUL = 400  # of them in a row in which nothing reaches the model or the array
SIMPLE = (str, bytes, int, float, list, tuple, set, type(None), FunctionType)
LONGEST_WAIT = 2_000_000  # lines that are passed over until there is no more looking
INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
MADE_BY_PYTHON = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
Tracer = Callable[[FrameType, str, Any], Any]
Seen = Callable[[], tuple[int, list[Message]]]  # how many replies so far; the array as last sent


class NotFollowed(SetupFault):
    """There are no lines to show; the sentence says why."""


class Sighting(NamedTuple):
    """An array of messages as it was: how many, its first and its last, and that one's blocks."""

    count: int
    first: Message
    last: Message
    blocks: list[Any]


@dataclass(slots=True)
class Step:
    """A statement that ran, or was about to call another one; and what it left."""

    frame: int  # the number of the call that it ran in
    statement: Statement
    kind: str  # call, resume, line, calls, return, yield, raise
    told: str  # what was returned, yielded or raised
    values: dict[str, str | None]  # that changed since the last step of this call; None: is gone
    replies: int  # of the model, by then
    skipped: int = 0  # steps before this one that were not kept


@dataclass
class Followed:
    """What was seen of some code while it ran."""

    parts: list[tuple[Part, list[str]]] = field(default_factory=list)  # functions, and their lines
    calls: list[tuple[int, str]] = field(default_factory=list)  # the part of each call, its name
    steps: list[Step] = field(default_factory=list)
    arrays: list[tuple[int, list[Sighting]]] = field(default_factory=list)  # from which step on
    notes: list[str] = field(default_factory=list)  # what was not followed, in sentences

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)


class Follower:
    """Follows a function, and what else its author wrote, while this is entered."""

    def __init__(self, function: Any, seen: Seen = lambda: (0, [])) -> None:
        self.also = code_of(function).co_filename
        self.seen = seen
        self.found = Followed()
        self.camera = Camera(Mask())
        self.listings: dict[str, Listing | None] = {}
        self.known: dict[int, tuple[int | None, CodeType]] = {}
        self.stack: list[Call] = []
        self.quiet, self.passed, self.over = 0, 0, False
        self.news: tuple = ()
        self.arrays: list[list[Message]] = []  # in sight at the last step
        self.shape: list[tuple] = []

    def __enter__(self) -> Followed:
        self.earlier, self.threads = sys.gettrace(), threading.gettrace()
        self.thread = threading.get_ident()
        threading.settrace(self.elsewhere)
        sys.settrace(self.called)
        return self.found

    def __exit__(self, kind: object, *_: object) -> None:
        now = sys.gettrace()
        if now is None or now == self.called:
            sys.settrace(self.earlier)
        if now != self.called and not (self.over or kind):
            self.found.note("The code set a trace function; what ran after that was not followed.")
        threading.settrace(self.threads)  # type: ignore[arg-type]
        self.stack.clear()

    def called(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word that a function begins, or a generator goes on."""
        others = self.pass_on(self.earlier, frame, event, arg)
        part = None if self.over or event != "call" else self.part_of(frame.f_code)
        if part is None:
            return others
        call = getattr(frame.f_trace, "__self__", None)
        if not isinstance(call, Call):
            call = Call(self, len(self.found.calls), part)
            self.found.calls.append((part, frame.f_code.co_name))
        call.others = others
        call.begin(frame)
        return call.trace

    def pass_on(self, tracer: Tracer | None, frame: FrameType, event: str, arg: Any) -> Any:
        """Let an earlier tracer hear of it; one written in C sets itself in our place."""
        if tracer is None:
            return None
        heard = tracer(frame, event, arg)
        if sys.gettrace() != self.called:
            sys.settrace(self.called)
        return heard

    def elsewhere(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word from another thread, in which nothing is followed."""
        if not self.is_own(frame.f_code):
            return self.elsewhere
        name = frame.f_code.co_name
        self.found.note(f"{name} ran in a thread of its own, where lines are not followed.")
        sys.settrace(self.threads)  # type: ignore[arg-type]
        return self.threads(frame, event, arg) if self.threads else None

    def is_own(self, code: CodeType) -> bool:
        """Whether some code was written by whoever wrote the function."""
        file = code.co_filename
        installed = file.startswith(NOT_THE_LEARNERS) or INSTALLED.search(file)
        return file == self.also or not installed

    def part_of(self, code: CodeType) -> int | None:
        """The number of the part that some code stands in; None if it is not followed."""
        if id(code) not in self.known:
            self.known[id(code)] = (self.found_part(code), code)  # kept, so that its id is too
        return self.known[id(code)][0]

    def found_part(self, code: CodeType) -> int | None:
        if code.co_name in MADE_BY_PYTHON or not code.co_flags & inspect.CO_OPTIMIZED:
            return None
        listing = self.listing(code.co_filename) if self.is_own(code) else None
        if listing is None:
            return None
        if fault := fault_of(code, listing):
            self.found.note(fault)
            return None
        part = listing.part(code.co_firstlineno)
        known = (part, listing.lines[part.first - 1 : part.last])
        if known not in self.found.parts:
            self.found.parts.append(known)
        return self.found.parts.index(known)

    def listing(self, file: str) -> Listing | None:
        """The source of a file or a cell; None if it has none."""
        if file not in self.listings:
            linecache.checkcache(file)
            lines = linecache.getlines(file)
            try:
                self.listings[file] = Listing(lines) if lines else None
            except (SyntaxError, ValueError):
                self.listings[file] = None
        return self.listings[file]

    def keep(self, call: "Call", frame: FrameType, kind: str, told: str = "") -> None:
        """Keep a step with what it changed, unless there are too many of them."""
        if self.over:
            return
        replies, sent = self.seen()
        news = (replies, id(sent), len(sent), *map(outline, self.arrays))
        self.quiet = self.quiet + 1 if news == self.news else 0
        self.news = news
        if self.quiet > UNEVENTFUL and kind != "raise":
            self.pass_over()
            return
        step = Step(call.number, call.statement, kind, told, {}, replies, self.passed)
        step.values, self.passed = call.changes(frame), 0
        self.found.steps.append(step)
        own = [each for one in self.stack for each in one.arrays]
        self.see([*{id(each): each for each in [*own, sent] if each}.values()])
        if len(self.found.steps) >= MOST:
            self.found.note(f"{MOST:,} steps are shown; what ran after them was not followed.")
            self.stop()

    def see(self, arrays: list[list[Message]]) -> None:
        """Note how the arrays in sight are, if they are not as they were."""
        self.arrays = arrays
        shape = [(id(each), *outline(each)) for each in arrays]
        if shape != self.shape:
            self.shape = shape
            self.found.arrays.append((len(self.found.steps) - 1, [*map(sighting, arrays)]))

    def pass_over(self) -> None:
        self.passed += 1
        if self.passed > LONGEST_WAIT:
            self.found.note("The code was at work by itself for too long to be followed on.")
            self.stop()

    def stop(self) -> None:
        """Follow no further; what was traced before goes on as it was."""
        self.over = True
        sys.settrace(self.earlier)


class Call:
    """One call of a function that is followed, or a generator with all that it yields."""

    def __init__(self, follower: Follower, number: int, part: int) -> None:
        self.follower, self.number = follower, number
        self.hidden = follower.found.parts[part][0].hidden
        self.others: Any = None  # the trace function that an earlier tracer has for this call
        self.told: dict[str, str] = {}  # what each name stood for at the last step
        self.outer: set[str] = set()  # names among them that are no locals
        self.arrays: list[list[Message]] = []
        self.at, self.begun, self.pending, self.falls = 0, False, False, False
        self.unsaid = ""  # an exception that may only be how a generator ends
        self.raised: tuple | None = None

    def begin(self, frame: FrameType) -> None:
        """The call begins, or a generator goes on; its caller waits at a statement of its own."""
        follower = self.follower
        if follower.stack and (caller := follower.stack[-1]).pending:
            follower.keep(caller, caller.frame, "calls")
        self.listing = follower.listings[frame.f_code.co_filename]
        self.frame = frame
        follower.stack.append(self)
        if not self.begun:
            self.statement = self.listing.statement(frame.f_code.co_firstlineno)
        follower.keep(self, frame, "resume" if self.begun else "call")
        self.pending = self.begun and bool(self.statement.writes)
        self.begun = True

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Python's word of a line, of an exception, or of the end of the call."""
        follower = self.follower
        self.others = follower.pass_on(self.others, frame, event, arg) or self.others
        if follower.over:
            return self.others
        if event == "line":
            self.line(frame)
        elif event == "exception":
            self.exception(frame, *arg[:2])
        elif event == "return":
            self.end(frame, arg)
        return self.trace

    def line(self, frame: FrameType) -> None:
        """A line begins: so whatever statement came before is over, unless it is still the same."""
        statement = self.listing.statement(frame.f_lineno)
        goes_on = statement.goes_round or frame.f_lasti > self.at
        if not (self.pending and statement is self.statement and goes_on):
            if self.pending:
                self.follower.keep(self, frame, "line")
            self.statement, self.pending = statement, True
        self.at, self.falls, self.unsaid = frame.f_lasti, False, ""

    def exception(self, frame: FrameType, kind: type, value: Any) -> None:
        """An exception leaves the statement."""
        self.falls = True
        text = self.follower.camera.take(value if isinstance(value, BaseException) else kind)
        if issubclass(kind, StopIteration | StopAsyncIteration | GeneratorExit):
            self.unsaid = text
        elif self.raised != (id(value), self.statement):
            self.raised = (id(value), self.statement)
            self.follower.keep(self, frame, "raise", text)
            self.pending = False

    def end(self, frame: FrameType, value: Any) -> None:
        """The call ends or rests: it gives something back, or an exception leaves it."""
        if not self.falls or value is not None:
            kind = "yield" if yields(frame) else "return"
            self.follower.keep(self, frame, kind, self.follower.camera.take(value))
        elif self.unsaid:
            self.follower.keep(self, frame, "raise", self.unsaid)
        self.pending, self.falls = False, False
        del self.frame
        if self in (stack := self.follower.stack):
            del stack[stack.index(self) :]

    def changes(self, frame: FrameType) -> dict[str, str | None]:
        """What names stand for that they did not stand for at the last step of this call."""
        now, self.arrays = {}, []
        for name, value in self.visible(frame):
            self.arrays += arrays_in(value)
            if not is_code(value):
                now[name] = self.follower.camera.take(value, name)
        changed: dict[str, str | None] = {n: t for n, t in now.items() if self.told.get(n) != t}
        gone = [name for name in self.told if name not in now and name not in self.outer]
        self.told |= now
        for name in gone:
            changed[name] = self.told.pop(name) and None
        return changed

    def visible(self, frame: FrameType) -> Iterator[tuple[str, Any]]:
        """The call's own names, and those from outside that the statement reads."""
        local = frame.f_locals
        for name, value in local.items():
            if name not in self.hidden and not name.startswith("."):
                yield name, value
        for name in self.statement.reads:
            if name not in local and name in frame.f_globals:
                self.outer.add(name)
                yield name, frame.f_globals[name]


def code_of(function: Any) -> CodeType:
    """The code of a function, whatever it is wrapped in; NotFollowed if there is none to follow."""
    inner = function
    while isinstance(inner, partial) or hasattr(inner, "__wrapped__") or inspect.ismethod(inner):
        inner = getattr(inner, "func", None) or getattr(inner, "__wrapped__", None) or inner.__func__
    if not inspect.isroutine(inner):
        inner = getattr(type(inner), "__call__", inner)
    name = getattr(function, "__name__", None) or type(function).__name__
    if not inspect.isfunction(inner):
        raise NotFollowed(f"{name} is not written in Python, so there are no lines to follow")
    if not linecache.getlines(inner.__code__.co_filename):
        raise NotFollowed(f"Python keeps no source of {name}; write it in a cell or a file")
    return inner.__code__


def fault_of(code: CodeType, listing: Listing) -> str | None:
    """Why some code is not followed though its source is there, as a sentence; None if it is."""
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return f"{code.co_name} is async: its lines are not followed."
    last = max((line or 0 for *_, line in code.co_lines()), default=0)
    stands = listing.statement(code.co_firstlineno).writes == (code.co_name,)
    if last > len(listing.lines) or not (stands or code.co_name == "<lambda>"):
        return f"{code.co_name} is not as its file is now: restart the kernel to follow its lines."
    return None


def yields(frame: FrameType) -> bool:
    """Whether a call that gives back a value now is a generator that goes on later."""
    code = frame.f_code
    is_generator = bool(code.co_flags & inspect.CO_GENERATOR)
    return is_generator and "RETURN" not in dis.opname[code.co_code[frame.f_lasti]]


def arrays_in(value: Any) -> list[list[Message]]:
    """The array of messages that a value is, or holds under this name."""
    if is_array(value):
        return [value]
    kind = type(value)
    inside = value if issubclass(kind, dict) else None
    if inside is None and not issubclass(kind, SIMPLE):
        try:
            inside = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return []
    held = dict.get(inside, "messages") if inside else None
    return [held] if is_array(held) else []


def outline(array: list[Message]) -> tuple:
    """Enough of an array to see that something was added, or that its last message changed."""
    if not array or not isinstance(last := array[-1], dict):
        return (len(array),)
    content = last.get("content")
    if not isinstance(content, list):
        return (len(array), id(last), id(content))
    return (len(array), id(last), *(part for block in content for part in marks(block)))


def marks(block: Any) -> list[int]:
    """A block by identity, and all that it holds."""
    return [id(block), *map(id, block.values())] if isinstance(block, dict) else [id(block)]


def sighting(array: list[Message]) -> Sighting:
    """An array as it is now; a later change of its last message does not reach this."""
    content = array[-1].get("content") if isinstance(array[-1], dict) else None
    blocks = content if isinstance(content, list) else [content]
    now = [dict(block) if isinstance(block, dict) else block for block in blocks]
    return Sighting(len(array), array[0], array[-1], now)
