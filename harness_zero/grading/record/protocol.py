"""What crosses between the grader and a learner's process: JSON, in which every value has a tag.

Plain values cross as they are, by copy. What can be called, a run and an object of any other kind
cross as a handle: a number, which only the side that lent it can turn into the thing itself.
"""

import json
import marshal
import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from types import SimpleNamespace
from typing import Any

from harness_zero.grading.record.errors import PLAIN, made, told
from harness_zero.grading.record.handles import Handles, Proxy
from harness_zero.grading.record.keeping import Kept
from harness_zero.grading.record.scratch import Scratch, Unfit
from harness_zero.labels import End, Label, Say

DEEPEST = 100  # values inside each other
LONGEST = 10_000  # values that are taken out of an iterator


class Garbled(Exception):
    """What came is not what the other side would write."""


class Crossing:
    """One side: what it has lent, and what the other side has lent it."""

    def __init__(self, proxy: Proxy, trusting: bool) -> None:
        self.trusting = trusting
        self.modules = sys.modules  # in which errors are looked up
        self.handles = Handles(proxy, weakly=not trusting)
        self.told: dict[tuple[int, str], tuple] = {}  # what a mirror has been told of a run's lists
        self.wanted: dict[str, None] = {}  # what was read of runs so far
        self.named: dict[str, set[int]] = {"yours": set(), "kept": set()}  # by a frame on its way
        self.errors: list[BaseException] = []  # that crossed
        self.scratch = Scratch()
        self.kept = Kept(self.exactly)

    def send(self, value: Any, depth: int = 0) -> Any:
        """A value as JSON can hold it."""
        kind = type(value)
        if kind in PLAIN:
            return value
        if depth > DEEPEST:
            raise Garbled(f"values inside each other more than {DEEPEST} deep")
        if self.kept.numbers and id(value) in self.kept.numbers:
            return self.name("kept", self.kept.numbers[id(value)])
        if kind is list:
            return [self.send(each, depth + 1) for each in value]
        if kind is dict:
            return self.send_dict(value, depth + 1)
        if id(value) in self.handles.theirs:
            return self.name("yours", self.handles.theirs[id(value)])
        if isinstance(value, BaseException):
            return self.send_error(value)
        return self.send_plain(value, depth + 1)

    def name(self, tag: str, number: int) -> Any:
        """What the other side has already; it must not let go of it before it has read this."""
        self.named[tag].add(number)
        return {"$": tag, "of": number}

    def send_plain(self, value: Any, depth: int) -> Any:
        """What is no error and was not borrowed: its parts, or a handle."""
        if isinstance(value, Label):
            return {"$": "label", "of": value.value}
        for kind, read in EXACT.items():
            if isinstance(value, kind):
                return read(value)
        if isinstance(value, dict):
            return self.send_dict(value, depth)
        if isinstance(value, bytes | bytearray):
            return {"$": "bytes", "of": b64encode(value).decode()}
        if type(value) in (Say, End):
            return {"$": type(value).__name__, "of": self.all(vars(value).values(), depth)}
        for tag, sort in SORTS.items():
            if isinstance(value, sort):
                return tagged(tag, self.all(value, depth))
        if isinstance(value, Iterator):
            return tagged("iterator", self.all(islice(value, LONGEST), depth))
        if isinstance(value, os.PathLike) and (at := self.send_path(value)):
            return {"$": "path", "of": at}
        return self.send_thing(value, depth)

    def send_thing(self, value: Any, depth: int) -> Any:
        """A handle; of what is equal by its parts, the parts as well."""
        handle = self.handles.lend(value)
        if handle["kind"] == "thing" and self.trusting and is_value(value):
            handle["about"]["parts"] = self.send_dict(parts(value), depth)
        return handle

    def send_path(self, path: os.PathLike) -> list[Any] | None:
        """Where a path is in a folder that both sides have; the grader's become such folders."""
        return self.scratch.send(path) if self.trusting else self.scratch.lend(path)

    def send_dict(self, value: dict, depth: int) -> Any:
        """A dict; one whose keys JSON would change as a list of pairs."""
        if {*map(type, value)} <= WORDS and "$" not in value:
            return {key: self.send(each, depth) for key, each in value.items()}
        return tagged("dict", [self.all(pair, depth) for pair in value.items()])

    def send_error(self, error: BaseException) -> Any:
        """An exception, as far as it is plain."""
        self.errors.append(error)
        return {"$": "error", "of": self.handles.number(error), **told(error)}

    def all(self, values: Any, depth: int) -> list[Any]:
        """Each of some values, as JSON can hold it."""
        return [self.send(each, depth) for each in values]

    def exactly(self, value: Any) -> bytes:
        """A value to the letter, to be compared with what it is later."""
        try:
            return marshal.dumps(value, 2)
        except ValueError:  # there is more in it than plain values
            sent = {**self.handles.times}
            try:
                return json.dumps(self.send_plain(value, 0)).encode()
            finally:
                self.handles.times = sent  # for this goes nowhere

    def take(self, given: Any) -> Any:
        """A value from what JSON held. Garbled if the other side would not write that."""
        if isinstance(given, list):
            return [self.take(each) for each in given]
        if not isinstance(given, dict):
            return given
        if "$" not in given:
            return {key: self.take(each) for key, each in given.items()}
        try:
            return self.take_tagged(given["$"], given)
        except (KeyError, TypeError, ValueError, AttributeError, Unfit) as fault:
            raise Garbled(f"{type(fault).__name__}: {fault}"[:200]) from fault

    def take_tagged(self, tag: str, given: dict) -> Any:
        """A value that JSON alone does not know."""
        if tag == "yours":
            return self.handles.lent[given["of"]]
        if tag == "handle":
            return self.take_handle(given["of"], given["kind"], given["about"])
        if tag == "error":
            return self.take_error(given)
        if tag == "bytes":
            return b64decode(given["of"])
        if tag == "label":
            return Label(given["of"])
        if tag == "kept":
            return self.kept.things[given["of"]][0]
        if tag == "path":
            return self.scratch.take(*given["of"])
        return MADE[tag](self.take(given["of"]))

    def take_handle(self, number: int, kind: str, about: dict) -> Any:
        """What stands for something of the other side, with its parts as they are now."""
        value = self.handles.borrow(number, kind, about)
        if kind == "thing" and not self.trusting:
            value.parts = self.take(about.get("parts"))
        return value

    def forget_frames(self) -> None:
        """Take from errors that crossed what they know of calls that are over."""
        while self.errors:
            error: BaseException | None = self.errors.pop()
            while error is not None:
                error.__traceback__, error = None, error.__context__

    def meanwhile(self) -> dict[str, Any]:
        """What goes with a frame beside what it asks for or answers: what changed meanwhile."""
        news: dict[str, Any] = {}
        if self.scratch.folders:
            news["files"] = self.scratch.changes()
        if self.kept.things:
            news["kept"] = [[n, self.send_plain(now, 0)] for n, now in self.kept.changes()]
            news["over"] = self.kept.loose(self.named["kept"]) if self.trusting else []
        if self.handles.dropped:
            news["dropped"] = self.handles.leaving(self.named["yours"])
        for names in self.named.values():
            names.clear()
        return {name: each for name, each in news.items() if each}

    def hear(self, frame: dict) -> None:
        """Take in what came with a frame. Garbled if the other side would not write that."""
        try:
            for number, times in frame.get("dropped", []) if self.trusting else []:
                self.handles.let_go(number, times)
            if "held" not in frame:  # of what is kept from now on, these may hold some
                self.hear_kept(frame)
            for number in frame.get("over", []):
                self.kept.let_go(number)
            if "files" in frame:
                self.scratch.hear(frame["files"])
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise Garbled(f"{type(fault).__name__}: {fault}"[:200]) from fault
        except Unfit as fault:
            raise Garbled(str(fault)) from fault

    def hear_kept(self, frame: dict) -> None:
        """Change what is kept here as it was changed there."""
        for number, now in frame.get("kept", []):
            self.kept.change(number, self.take(now))

    def take_error(self, given: dict) -> BaseException:
        """An exception of the same kind, as far as this side can know it."""
        number = given["of"]
        if type(number) is not int:
            raise Garbled("an error without a number")
        error = self.handles.standing_for(number)
        if error is None:
            error = made(given, self.take(given["args"]), self.modules, self.trusting)
            self.handles.keep(number, error)
        self.errors.append(error)
        return error


def parts(thing: Any) -> dict[str, Any]:
    """What decides whether a thing is equal to another one of its kind; nothing if that is else."""
    if type(thing) is SimpleNamespace:
        return vars(thing)
    if not is_dataclass(thing) or isinstance(thing, type) or not compares(type(thing)):
        return {}
    return {each.name: getattr(thing, each.name, None) for each in fields(thing) if each.compare}


def compares(kind: Any) -> bool:
    """Whether two of a dataclass are equal if their fields are."""
    return bool(kind.__dataclass_params__.eq)


def is_value(given: Any, depth: int = 0) -> bool:
    """Whether this is plain through and through, so that what it is stands in its parts."""
    if depth > VALUES_DEEP or isinstance(given, type):
        return False
    if given is None or isinstance(given, SCALAR):
        return True
    inside = given if isinstance(given, HOLDS) else parts(given)
    inside = [*inside, *inside.values()] if isinstance(inside, dict) else inside
    return bool(inside or isinstance(given, HOLDS)) and all(is_value(x, depth + 1) for x in inside)


VALUES_DEEP = 10
SCALAR = (str, int, float, bytes)
HOLDS = (list, tuple, dict, set, frozenset)
WORDS = {str}
EXACT: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
}
SORTS: dict[str, type | tuple[type, ...]] = {
    "list": list,
    "tuple": tuple,
    "set": (set, frozenset),
}
MADE: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "set": set,
    "dict": dict,
    "iterator": iter,
    "Say": lambda parts: Say(*parts),
    "End": lambda parts: End(*parts),
}


def tagged(tag: str, parts: list[Any]) -> Any:
    """Parts under the name of what they make; a list needs none."""
    return parts if tag == "list" else {"$": tag, "of": parts}


in_json = json.JSONEncoder(separators=(",", ":")).encode


def written(frame: Any) -> bytes:
    """A frame as it goes through the pipe: one line."""
    return in_json(frame).encode() + b"\n"
