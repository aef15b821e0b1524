"""The code that somebody wrote: a function, and what else is theirs around it.

Theirs is not Python's library, nor what is installed, nor this package, but for the file in which
the function itself stands.
"""

import inspect
import linecache
import re
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

from harness_zero.faults import NOT_THE_LEARNERS, SetupFault
from harness_zero.listing import Listing, Part

INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class NotFollowed(SetupFault):
    """There are no lines to show; the sentence says why."""


class Authored:
    """Tells which code is by the author of a function, and where it stands."""

    def __init__(self, function: Any, note: Callable[[str], None]) -> None:
        self.home = code_of(function).co_filename
        self.note = note  # takes a sentence on what is not followed, though it is theirs
        self.parts: list[Part] = []
        self.listings: dict[str, Listing | None] = {}
        self.known: dict[int, tuple[int | None, CodeType]] = {}

    def part(self, code: CodeType) -> int | None:
        """The number of the part that some code stands in; None if it is not to be followed."""
        if id(code) not in self.known:
            self.known[id(code)] = (self.found(code), code)  # kept, so that its id is
        return self.known[id(code)][0]

    def found(self, code: CodeType) -> int | None:
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        inside = code.co_name.startswith("<") and code.co_name != "<lambda>"  # as <genexpr> is
        if not is_function or inside or not self.wrote(code):
            return None
        listing = self.listing(code)
        if fault := fault_of(code, listing):
            self.note(fault)
            return None
        part = listing.part(code.co_firstlineno)
        if part not in self.parts:
            self.parts.append(part)
        return self.parts.index(part)

    def wrote(self, code: CodeType) -> bool:
        """Whether some code is by the author, and its source is there."""
        file = code.co_filename
        installed = file.startswith(NOT_THE_LEARNERS) or INSTALLED.search(file)
        if installed and file != self.home:
            return False
        if file not in self.listings:
            self.listings[file] = read(file)
        return self.listings[file] is not None

    def listing(self, code: CodeType) -> Listing:
        """The source that some code of the author's stands in."""
        listing = self.listings[code.co_filename]
        assert listing
        return listing


def read(file: str) -> Listing | None:
    """The source of a file or a cell; None if there is none that is Python."""
    linecache.checkcache(file)
    lines = linecache.getlines(file)
    try:
        return Listing(file, lines) if lines else None
    except (SyntaxError, ValueError):
        return None


def code_of(function: Any) -> CodeType:
    """The code of a function, whatever it is wrapped in; NotFollowed if there is none to follow."""
    made = inner(function)
    name = getattr(function, "__name__", None) or type(function).__name__
    if not inspect.isfunction(made):
        raise NotFollowed(f"{name} is not written in Python, so there are no lines to follow")
    if not linecache.getlines(made.__code__.co_filename):
        raise NotFollowed(f"Python keeps no source of {name}; write it in a cell or in a file")
    return made.__code__


def inner(function: Any) -> Any:
    """The function in a partial, a method, a wrapper, or an object that can be called."""
    if isinstance(function, partial):
        return inner(function.func)
    if inspect.ismethod(function):
        return inner(function.__func__)
    if hasattr(function, "__wrapped__"):
        return inner(function.__wrapped__)
    return function if inspect.isroutine(function) else vars(type(function)).get("__call__")


def fault_of(code: CodeType, listing: Listing) -> str | None:
    """Why some code is not followed though its source is there, as a sentence; None if it is."""
    if code.co_flags & ASYNC:
        return f"{code.co_name} is async; its lines are not followed."
    last = max((line or 0 for *_, line in code.co_lines()), default=0)
    stands = listing.statement(code.co_firstlineno).writes == (code.co_name,)
    if last > len(listing.lines) or not (stands or code.co_name == "<lambda>"):
        return f"{code.co_name} is not as its file is now; restart the kernel to follow its lines."
    return None
