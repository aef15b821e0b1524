"""What a cell shows: plain text, which a terminal prints and nbval compares, and a page.

The page's colours are mixed with the colour of the text around it, so that they suit light
and dark wherever it stands.
"""

from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from harness_zero.watch import printable


@dataclass(frozen=True, repr=False)
class Shown:
    """What a cell shows: plain text, and a page for whoever can see one."""

    text: str
    page: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        styles = f"<style>{stylesheet()}</style>\n" if 'class="hz-' in self.page else ""
        return f"{styles}{self.page}"


@cache
def stylesheet() -> str:
    """The looks of code, differences and trees; each page carries them along."""
    return (Path(__file__).parent / "static" / "show.css").read_text("utf-8").strip()


def fold(words: str, page: str) -> str:
    """A part that opens on demand; a key pressed in it is no shortcut of the notebook's."""
    return f'<details><summary data-lm-suppress-shortcuts="true">{words}</summary>{page}</details>'


def coloured(source: str) -> list[str]:
    """The lines of a source as a page, its words wrapped by what they are in Python."""
    lines = told_apart(source)
    return ["".join(wrapped(escape(t, quote=False), kind) for kind, t in line) for line in lines]


def told_apart(source: str) -> list[list[tuple[str, str]]]:
    """The lines of a source in pieces, each with what it is in Python; most are nothing special."""
    from pygments.lexers.python import PythonLexer

    lines: list[list[tuple[str, str]]] = [[]]
    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(source)
    for kind, alike in groupby(tokens, key=lambda token: kind_of(token[0])):
        first, *others = "".join(text for _, text in alike).split("\n")
        lines[-1] += [(kind, first)] if first else []
        lines += [[(kind, text)] if text else [] for text in others]
    return lines


def wrapped(text: str, kind: str) -> str:
    """Text marked as a keyword, a string, ...; nothing else is marked."""
    return f'<span class="{kind}">{text}</span>' if kind and text.strip() else text


def kind_of(token: Any) -> str:
    """What a token of Pygments is to a reader's eye; most are nothing special."""
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    kinds = {
        "comment": (Comment,),
        "string": (String,),
        "keyword": (Keyword, Operator.Word),
        "number": (Number,),
        "name": (Name.Function, Name.Class, Name.Decorator),
    }
    return next((kind for kind, tokens in kinds.items() if any(token in t for t in tokens)), "")


def spelled_out(text: str) -> str:
    """The text with whatever would not stand still on a page spelled out."""
    return printable(text).encode("utf-8", "backslashreplace").decode()
