"""What crosses between the grader and a learner's process: JSON, in which every value has a tag.

Plain values cross as they are, by copy. What can be called, a run and an object of any other kind
cross as a handle: a number, which only the side that lent it can turn into the thing itself.
"""

import builtins
import json
import marshal
import os
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count, islice
from typing import Any
from weakref import ref

from harness_zero.grading.record.keeping import Kept
from harness_zero.grading.record.proxies import form
from harness_zero.grading.record.scratch import Scratch, Unfit
from harness_zero.labels import End, Label, Say
from harness_zero.run import Run

DEEPEST = 100  # values inside each other
LONGEST = 10_000  # values that are taken out of an iterator, characters of what an error says
LONGEST_NAME = 80
MOST_TOLD = 20  # arguments of an error, and what it tells besides
HUGE = 1 << 64
OURS = ("harness_zero.run", "harness_zero.loop", "harness_zero.models.recorded")  # with errors
KINDS = {"call", "run", "thing"}


class Garbled(Exception):
    """What came is not what the other side would write."""


class Raised(Exception):
    """An exception of a kind that only the learner's process knows."""


class Crossing:
    """One side: what it has lent, and what the other side has lent it."""

    def __init__(self, proxy: Callable[[int, str, dict], Any], trusting: bool) -> None:
        self.proxy, self.trusting = proxy, trusting
        self.modules = sys.modules  # in which errors are looked up
        self.lent: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}  # of what was lent, by id
        self.free = count()  # the next number
        self.times: dict[int, int] = {}  # how often a handle was sent, by number
        self.borrowed: dict[int, Callable[[], Any]] = {}  # by number; perhaps nobody holds it now
        self.theirs: dict[int, int] = {}  # the numbers of what was borrowed, by id
        self.told: dict[tuple[int, str], tuple] = {}  # what a mirror has been told of a run's lists
        self.wanted: dict[str, None] = {}  # what was read of runs so far
        self.seen: dict[int, int] = {}  # how often a handle came, by number
        self.dropped: list[list[int]] = []  # numbers that nobody holds, and how often they came
        self.named: set[tuple[str, int]] = set()  # what a frame on its way names, by tag and number
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
        if id(value) in self.theirs:
            return self.name("yours", self.theirs[id(value)])
        if isinstance(value, BaseException):
            return self.send_error(value, depth)
        return self.send_plain(value, depth + 1)

    def name(self, tag: str, number: int) -> Any:
        """What the other side has already; it must not let go of it before it has read this."""
        self.named.add((tag, number))
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
        return self.lend(value)

    def send_path(self, path: os.PathLike) -> list[Any] | None:
        """Where a path is in a folder that both sides have; the grader's become such folders."""
        return self.scratch.send(path) if self.trusting else self.scratch.lend(path)

    def send_dict(self, value: dict, depth: int) -> Any:
        """A dict; one whose keys JSON would change as a list of pairs."""
        if {*map(type, value)} <= WORDS and "$" not in value:
            return {key: self.send(each, depth) for key, each in value.items()}
        return tagged("dict", [self.all(pair, depth) for pair in value.items()])

    def send_error(self, error: BaseException, depth: int) -> Any:
        """An exception: its kind and what it was made with, as far as that is plain."""
        self.errors.append(error)
        made = error.args
        if isinstance(error, OSError) and error.filename is not None:
            made = (error.errno, error.strerror, error.filename)
        if isinstance(error, SyntaxError):
            made = (str(error),)
        args = [each if is_plain(each) else words_of(each) for each in made[:MOST_TOLD]]
        return {
            "$": "error",
            "kind": type(error).__name__,
            "module": type(error).__module__,
            "args": self.all(args, depth),
            "of": self.number(error),
            "beyond": not isinstance(error, Exception),
            "tells": told_by(vars(error)),
        }

    def all(self, values: Any, depth: int) -> list[Any]:
        """Each of some values, as JSON can hold it."""
        return [self.send(each, depth) for each in values]

    def lend(self, value: Any) -> Any:
        """A handle, and what can be said of what it stands for."""
        kind = "run" if isinstance(value, Run) else "call" if callable(value) else "thing"
        about = form(value) if kind == "call" else {"name": type(value).__name__}
        number = self.number(value)
        self.times[number] = self.times.get(number, 0) + 1
        return {"$": "handle", "of": number, "kind": kind, "about": about}

    def number(self, value: Any) -> int:
        """The number of what is lent, the same whenever it is lent again."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = number = next(self.free)
            self.lent[number] = value
        return self.numbers[id(value)]

    def exactly(self, value: Any) -> bytes:
        """A value to the letter, to be compared with what it is later."""
        try:
            return marshal.dumps(value, 2)
        except ValueError:  # there is more in it than plain values
            sent = {**self.times}
            try:
                return json.dumps(self.send_plain(value, 0)).encode()
            finally:
                self.times = sent  # for this goes nowhere

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
            return self.lent[given["of"]]
        if tag == "handle":
            return self.borrow(given["of"], given["kind"], given["about"])
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

    def borrow(self, number: int, kind: str, about: dict) -> Any:
        """What stands for something of the other side, the same whenever it comes again."""
        if type(number) is not int or kind not in KINDS or not isinstance(about, dict):
            raise Garbled("a handle that is none")
        self.seen[number] = self.seen.get(number, 0) + 1
        value = self.borrowed.get(number, nothing)()
        if value is None:
            value = self.proxy(number, kind, about)
            self.keep(number, value, weakly=not self.trusting)
        return value

    def keep(self, number: int, value: Any, weakly: bool = False) -> None:
        """Remember what stands for a number of the other side; weakly, until nobody holds it."""
        at = id(value)
        self.theirs[at] = number
        if weakly:
            self.borrowed[number] = ref(value, lambda dead: self.drop(number, at, dead))
        else:
            self.borrowed[number] = lambda: value

    def drop(self, number: int, at: int, dead: Any) -> None:
        """Nobody here holds any more what stood for this number: the other side may let go of it.

        So a file that an answer left open is closed when it would be without a wire.
        """
        if self.theirs.get(at) == number:
            del self.theirs[at]
        if self.borrowed.get(number) is dead:
            del self.borrowed[number]
            self.dropped.append([number, self.seen[number]])

    def let_go(self, number: int, times: int) -> None:
        """The other side holds this no longer, unless a handle of it is on its way."""
        if self.times.get(number) == times:
            del self.times[number]
            self.numbers.pop(id(self.lent.pop(number)), None)

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
            stays = {number for tag, number in self.named if tag == "kept"}
            news["over"] = self.kept.loose(stays) if self.trusting else []
        if self.dropped:
            dropped, self.dropped = self.dropped, []
            news["dropped"] = [each for each in dropped if ("yours", each[0]) not in self.named]
            self.dropped += [each for each in dropped if ("yours", each[0]) in self.named]
        self.named.clear()
        return {name: each for name, each in news.items() if each}

    def hear(self, frame: dict) -> None:
        """Take in what came with a frame. Garbled if the other side would not write that."""
        try:
            for number, times in frame.get("dropped", []) if self.trusting else []:
                self.let_go(number, times)
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
        error = self.borrowed.get(number, nothing)()
        if error is None:
            beyond = self.trusting and given["beyond"]
            kind = self.error_kind(str(given["kind"])[:80], str(given["module"]), beyond)
            args = self.take(given["args"])
            error = made_of(kind, args)
            vars(error).update(told_by(given["tells"]))
            self.keep(number, error)
        self.errors.append(error)
        return error

    def error_kind(self, name: str, module: str, beyond: bool) -> type[BaseException]:
        """The class of an error; of a learner's process only an Exception is taken as it is."""
        kind: Any
        if module == "builtins":
            kind = getattr(builtins, name, None)
        else:
            kind = self.error_of_ours(name, module)
        known = isinstance(kind, type) and issubclass(kind, BaseException)
        if known and (self.trusting or issubclass(kind, Exception) or module != "builtins"):
            return kind
        return type(name, (BaseException if beyond else Raised,), {})

    def error_of_ours(self, name: str, module: str) -> Any:
        """An error of the package; from a learner's process only those that an answer may raise."""
        if module in OURS or (self.trusting and module.startswith("harness_zero.")):
            return getattr(self.modules.get(module), name, None)
        return None


PLAIN = {type(None), bool, int, float, str}  # what JSON holds as it is
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


def nothing() -> None:
    """What stands for a number that stands for nothing yet."""


def tagged(tag: str, parts: list[Any]) -> Any:
    """Parts under the name of what they make; a list needs none."""
    return parts if tag == "list" else {"$": tag, "of": parts}


def made_of(kind: type[BaseException], args: list[Any]) -> BaseException:
    """An error made with these arguments, as far as its class takes them."""
    with suppress(TypeError, ValueError):
        if kind.__module__ == "builtins":  # some of them tell their words apart
            return kind(*args)
    error = kind.__new__(kind, *args)
    error.args = tuple(args)
    return error


def is_plain(value: Any) -> bool:
    """Whether an argument of an exception crosses as it is: a plain value, and no huge one."""
    if type(value) is int:
        return abs(value) < HUGE
    return type(value) in PLAIN and (type(value) is not str or len(value) <= LONGEST)


def told_by(tells: dict[str, Any]) -> dict[str, Any]:
    """What an exception tells whoever catches it, such as the status of an answer."""
    plain = (pair for pair in tells.items() if is_told(*pair))
    return dict(islice(plain, MOST_TOLD))


def is_told(name: Any, value: Any) -> bool:
    """Whether an exception tells this: a plain value under a name of its own."""
    named = type(name) is str and len(name) <= LONGEST_NAME and name.isidentifier()
    return named and not name.startswith("_") and is_plain(value)


def words_of(value: Any) -> str:
    """A value in words, even one that cannot tell."""
    try:
        return f"{value!s:.400}"
    except BaseException:
        return f"a {type(value).__name__}"


in_json = json.JSONEncoder(separators=(",", ":")).encode


def written(frame: Any) -> bytes:
    """A frame as it goes through the pipe: one line."""
    return in_json(frame).encode() + b"\n"
