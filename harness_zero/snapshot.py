"""A value as it is now, in a few words that a later change does not reach.

No code of the value's own is run for it, so that looking changes nothing. What is left out is
said: dots, and how much there is in all.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import islice
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from harness_zero.keys import MASK, hidden
from harness_zero.run import Run

LONGEST = 240  # characters of a value in all
TEXT, INNER = 120, 48  # characters of a text, and of one inside of something else
ITEMS, DEEP = 6, 3  # entries of one list or dict, and levels of them
BITS = 400  # of a number that is written out
CALLED_SECRET = re.compile(
    r"(^|[-_])(api[-_]?key|secret([-_]?key)?|password|passwd|(access|auth|refresh)[-_]?token"
    r"|authorization)$",
    re.IGNORECASE,
)
CODE = (FunctionType, BuiltinFunctionType, MethodType, type, ModuleType)
BRACKETS: dict[Any, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}


NAME, LINE, OWN = (type.__dict__[each] for each in ("__name__", "__mro__", "__dict__"))
HOLDERS = (GetSetDescriptorType, MemberDescriptorType)  # Python's own, which run nothing else
NOTHING: dict[str, Any] = {}


def is_a(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind, whatever it says of itself."""
    return issubclass(type(value), kind)


def name_of(kind: type) -> str:
    """The name of a class, whatever it says of itself."""
    return NAME.__get__(kind)


def attributes(value: Any) -> dict[str, Any]:
    """What an object holds by name; nothing if that cannot be had without running its code."""
    for each in LINE.__get__(type(value)):
        holder = OWN.__get__(each).get("__dict__")
        if holder is not None:
            held = holder.__get__(value) if type(holder) in HOLDERS else NOTHING
            return held if type(held) is dict else NOTHING
    return NOTHING


def is_code(value: Any) -> bool:
    """Whether this is a function, a class or a module."""
    return is_a(value, CODE)


def code_name(value: Any) -> str:
    """The name of a function, a class or a module."""
    if is_a(value, type):
        return name_of(value)
    if is_a(value, ModuleType):
        name = attributes(value).get("__name__", "")
        return name if type(name) is str else ""
    made = value.__func__ if type(value) is MethodType else value
    return made.__name__ if type(made) in CODE else ""


def is_array(value: Any) -> bool:
    """Whether this looks like an array of messages, by its first one and its last one."""
    if not is_a(value, list) or not list.__len__(value):
        return False
    return all(is_message(list.__getitem__(value, at)) for at in (0, -1))


def is_message(value: Any) -> bool:
    """Whether this looks like a message."""
    is_dict = is_a(value, dict) and dict.__contains__(value, "content")
    return is_dict and type(dict.get(value, "role")) is str


def is_secret(name: Any) -> bool:
    """Whether a text of this name is one to hide, whatever it says."""
    return is_a(name, str) and CALLED_SECRET.search(name) is not None


def run_at_a_glance(run: Run) -> str:
    """What a policy reads of a run; its clock is not asked, so time is that of the last step."""
    held = vars(run)
    reply = held["last_word"]
    told = {
        "last_word": reply and f"<a reply that ended with {reply['stop_reason']!r}>",
        "pending": f"[{', '.join(str(call['id']) for call in held['pending'])}]",
        "rounds": held["rounds"],
        "cost_usd": round(held["cost_usd"], 6),
        "elapsed": round(held["moved"] - held["began"], 3),
    }
    return f"<Run: {', '.join(f'{name} = {value}' for name, value in told.items())}>"


def raw(words: str) -> bytes:
    """A text as bytes, whatever stands in it."""
    return words.encode("utf-8", "surrogateescape")


class Camera:
    """Takes snapshots: values as texts, without these secrets or what looks like one."""

    def __init__(self, secrets: list[str]) -> None:
        self.see(secrets)

    def see(self, secrets: list[str]) -> None:
        """Hide these from now on."""
        self.secrets = secrets
        self.reach = max([LONGEST, *(len(raw(each)) for each in secrets)])  # of a secret, at most

    def take(self, value: Any, name: str = "") -> str:
        """A value in a line that is not too long."""
        try:
            text = hidden(self.written(value, 0, name), self.secrets)
        except RecursionError:  # there is no room left to look
            raise
        except Exception:  # it changes while it is looked at, or is no sound object
            return f"<{name_of(type(value))}>"
        more = len(text) - LONGEST
        return f"{text[:LONGEST]}… [{more:,} more characters]" if more > 0 else text

    def written(self, value: Any, depth: int, name: object = "") -> str:
        """A value as Python writes it, or what it is."""
        kind = type(value)
        if issubclass(kind, Enum):
            return f"{name_of(kind)}.{attributes(value).get('_name_', '')}"
        if issubclass(kind, str | bytes):
            return repr(MASK) if is_secret(name) else self.text(value, INNER if depth else TEXT)
        if value is None or kind is bool or kind is float or kind is complex:
            return repr(value)
        if issubclass(kind, int):
            bits = int.bit_length(value)
            return int.__repr__(value) if bits < BITS else f"<an int of {bits:,} bits>"
        if issubclass(kind, BaseException):
            given = vars(BaseException)["args"].__get__(value)
            told = self.entries("()", iter(given), len(given), depth)
            return f"{name_of(kind)}{told.removesuffix(')').removesuffix(',')})"
        if is_array(value):
            count = list.__len__(value)
            return f"[{count:,} message{'' if count == 1 else 's'}]"
        return self.many(value, depth)

    def text(self, value: Any, longest: int) -> str:
        """The beginning of a text in quotes, and how long it is in all."""
        plain = str if issubclass(type(value), str) else bytes
        length = plain.__len__(value)
        ahead = plain.__getitem__(value, slice(longest + self.reach))
        shown = self.masked(ahead)
        if length > longest + self.reach:  # there may be the beginning of a secret at the end
            shown = shown[: max(len(shown) - self.reach, len(MASK))]
        more = f"… [{length:,} in all]" if length > longest else ""
        return f"{shown[:longest]!r}{more}"

    def masked(self, words: str | bytes) -> str | bytes:
        """A text or bytes, with a mask where a secret stood."""
        if isinstance(words, str):
            return hidden(words, self.secrets)
        return raw(hidden(words.decode("utf-8", "surrogateescape"), self.secrets))

    def many(self, value: Any, depth: int) -> str:
        """A list, a dict or an object with what is in it, as far as there is room."""
        kind = type(value)
        for plain, brackets in BRACKETS.items():
            if issubclass(kind, plain):
                count = plain.__len__(value)
                held = self.entries(brackets, plain.__iter__(value), count, depth)
                return held if count else repr(plain())
        if issubclass(kind, dict):
            count = dict.__len__(value)
            return f"{{{', '.join(self.pairs(dict.items(value), count, depth, ': '))}}}"
        return self.thing(value, depth)

    def thing(self, value: Any, depth: int) -> str:
        """A function, a class, a module by name; any other object with what it holds."""
        kind = type(value)
        if kind is Run:
            return run_at_a_glance(value)
        if is_code(value):
            what = "class" if issubclass(kind, type) else name_of(kind).removeprefix("builtin_")
            return f"<{what.partition('_')[0]} {code_name(value)}>"
        held = dict.items(attributes(value))
        own = [(key, each) for key, each in held if type(key) is str and not key.startswith("_")]
        told = ", ".join(self.pairs(own, len(own), depth, " = "))
        return f"<{name_of(kind)}: {told}>" if told else f"<{name_of(kind)}>"

    def entries(self, brackets: str, values: Iterator, count: int, depth: int) -> str:
        """What is in a list or the like; all entries, or the first ones and how many more."""
        if depth >= DEEP:
            return f"{brackets[0]}…{brackets[1]}"
        shown = [self.written(each, depth + 1) for each in islice(values, ITEMS)]
        more = [f"… {count - ITEMS:,} more"] if count > ITEMS else []
        comma = "," if brackets == "()" and count == 1 else ""
        return f"{brackets[0]}{', '.join([*shown, *more])}{comma}{brackets[1]}"

    def pairs(self, pairs: Iterable, count: int, depth: int, between: str) -> Iterator[str]:
        """Names with their values."""
        if depth >= DEEP and count:
            yield "…"
            return
        for key, value in islice(pairs, ITEMS):
            name = key if between == " = " else self.written(key, depth + 1)
            yield f"{name}{between}{self.written(value, depth + 1, key)}"
        if count > ITEMS:
            yield f"… {count - ITEMS:,} more"
