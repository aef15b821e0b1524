"""Show code, the difference between two pieces of code, and messages, the same on every machine.

Code is shown by objects with two faces: plain text, which a terminal prints and nbval
compares, and a page, whose colours are mixed with the colour of the text around it, so that
they suit light and dark wherever it stands.
"""

import ast
import inspect
import json
import linecache
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, partial
from html import escape
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.messages import Message, blocks, shape_fault
from harness_zero.stages import NAMES, stage
from harness_zero.watch import as_call, clipped, plural, printable

Code = Callable[..., Any] | type | ModuleType
Line = tuple[str, str, str]  # what became of it: "+", "-" or " "; its text; its page

APART = "\n\n\n"  # between two pieces of code
CONTEXT = 3  # unchanged lines that stay around a change
WORTH_FOLDING = 4  # lines
NAMED = {"+": ("ins", "added"), "-": ("del", "removed")}  # the tag and the word for a sign


class NoSource(SetupFault):
    """This cannot be shown as code; the sentence says why, and what can."""


@dataclass(frozen=True, repr=False)
class Shown:
    """What a cell shows: plain text, and a page for whoever can see one."""

    text: str
    page: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<style>{stylesheet()}</style>\n{self.page}"


@cache
def stylesheet() -> str:
    """The looks of code, differences and trees; each page carries them along."""
    return (Path(__file__).parent / "static" / "show.css").read_text("utf-8").strip()


def show(*code: Code) -> Shown:
    """Show the source of functions, classes or modules, one under the other."""
    if not code:
        raise NoSource("there is nothing to show: name a function, a class or a module")
    sources = [source(each) for each in code]
    pages = ["\n".join(coloured(source)) for source in sources]
    page = "\n".join(f"<pre>{page}</pre>" for page in pages)
    return Shown(APART.join(sources), f'<div class="hz-code">\n{page}\n</div>')


def show_diff(before: Code | int, after: Code | int) -> Shown:
    """Show what became of the code from one version to the next; a number means that stage."""
    old, new = program(before), program(after)
    lines = compared(old, new)
    signs = [sign for sign, _, _ in lines]
    added, removed = signs.count("+"), signs.count("-")
    names = title(before), title(after)
    text = [f"--- {names[0]}", f"+++ {names[1]}"]
    page = [heading(*names, added, removed)]
    for is_folded, part in folded(lines):
        words = plural(len(part), "unchanged line")
        text += [f"@@ {words} @@"] if is_folded else [f"{sign} {line}" for sign, line, _ in part]
        page.append(fold(words, block(part)) if is_folded else block(part))
    text = [line.rstrip() for line in [*text, f"(+{added} -{removed})"]]
    return Shown("\n".join(text), f'<div class="hz-code hz-diff">{"".join(page)}</div>')


def program(code: Code | int) -> str:
    """The source to compare: of a stage by its number, without the lines that only run it."""
    if not isinstance(code, int):
        return source(code)
    if code not in NAMES:
        raise NoSource(f"there is no stage {code}; there are {min(NAMES)} to {max(NAMES)}")
    return source(inspect.getmodule(stage(code))).split(f"{APART}if __name__")[0]


def title(code: Code | int) -> str:
    """What to call a piece of code: s1_structural_stop, s1_structural_stop.run."""
    if isinstance(code, int):
        return NAMES[code]
    named: Any = inspect.unwrap(code)  # type: ignore[arg-type]
    home = getattr(named, "__module__", "").rpartition(".")[2]
    name = getattr(named, "__qualname__", named.__name__.rpartition(".")[2])
    return f"{home}.{name}" if home not in ("", "__main__") else name


def compared(before: str, after: str) -> list[Line]:
    """All lines of both, each with what became of it."""
    old, new = before.splitlines(), after.splitlines()
    old_page, new_page = coloured(before), coloured(after)
    lines: list[Line] = []
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [(" ", new[n], new_page[n]) for n in range(j, j_end)]
        else:
            lines += [("-", old[n], old_page[n]) for n in range(i, i_end)]
            lines += [("+", new[n], new_page[n]) for n in range(j, j_end)]
    return slid(lines)


def slid(lines: list[Line]) -> list[Line]:
    """The same difference, each added or removed part as far down as it can stand.

    So an `if` is added together with its own `return` and not with that of its neighbour.
    """
    begin = 0
    for end, (sign, text, page) in enumerate(lines):
        first, replaces = lines[begin], begin > 0 and lines[begin - 1][0] != " "
        if sign == " " and first[0] != " " and first[1] == text and not replaces:
            lines[begin], lines[end] = (" ", text, page), (first[0], text, page)
            begin += 1
        elif sign != first[0]:
            begin = end
    return lines


def folded(lines: list[Line]) -> Iterator[tuple[bool, list[Line]]]:
    """The lines in parts: those to fold away, and changes with a little context."""
    changes = {n for n, (sign, _, _) in enumerate(lines) if sign != " "}
    near = [not changes.isdisjoint(range(n - CONTEXT, n + CONTEXT + 1)) for n in range(len(lines))]
    runs = [(is_near, len(list(run))) for is_near, run in groupby(near)]
    far = [not n and length >= WORTH_FOLDING for n, length in runs for _ in range(length)]
    for is_far, part in groupby(zip(far, lines, strict=True), key=lambda pair: pair[0]):
        yield is_far, [line for _, line in part]


def heading(before: str, after: str, added: int, removed: int) -> str:
    """What is compared with what, and how much differs."""
    words = f"{plural(added, 'line')} added, {removed} removed"
    count = f'<span role="img" aria-label="{words}">(+{added} \N{MINUS SIGN}{removed})</span>'
    same = "" if added or removed else ": no line differs"
    names = f"<code>{escape(before)}</code> \N{RIGHTWARDS ARROW} <code>{escape(after)}</code>"
    return f'<p class="hz-head">{names} {count}{same}</p>'


def block(lines: Iterable[Line]) -> str:
    """Lines as a page: a changed one has its sign, a colour, and a word for who hears it."""
    return f"<pre>{''.join(marked(sign, page) for sign, _, page in lines)}</pre>"


def marked(sign: str, page: str) -> str:
    """One line of a difference."""
    if sign not in NAMED:
        return f"  {page}\n"
    tag, word = NAMED[sign]
    seen = sign.replace("-", "\N{MINUS SIGN}")
    return f'<{tag}><span role="img" aria-label="{word}">{seen}</span> {page}\n</{tag}>'


def fold(words: str, page: str) -> str:
    """A part that opens on demand; a key pressed in it is no shortcut of the notebook's."""
    return f'<details><summary data-lm-suppress-shortcuts="true">{words}</summary>{page}</details>'


def coloured(source: str) -> list[str]:
    """The lines of a source as a page, its words wrapped by what they are in Python."""
    from pygments.lexers.python import PythonLexer

    page = [""]
    tokens = PythonLexer(stripnl=False, ensurenl=False).get_tokens(source)
    for kind, alike in groupby(tokens, key=lambda token: kind_of(token[0])):
        text = escape("".join(text for _, text in alike), quote=False)
        first, *others = [wrapped(line, kind) for line in text.split("\n")]
        page[-1] += first
        page += others
    return page


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


def source(code: Any) -> str:
    """The source of a function, a class or a module, from its own margin. NoSource says why not."""
    if fault := source_fault(code):
        raise NoSource(fault)
    try:
        lines = inspect.getsource(code).rstrip().split("\n")
    except (OSError, TypeError, ValueError, SyntaxError):
        lines = lines_of_class(code) if inspect.isclass(code) else []
    if not lines:
        raise NoSource(f"Python keeps no source of {code.__name__}{whereabouts(code)}")
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return spelled_out("\n".join(line.removeprefix(margin) for line in lines))


def source_fault(code: Any) -> str | None:
    """Why this has no source to show, in words; None if it may have one."""
    if isinstance(code, partial):
        name = getattr(code.func, "__name__", "its func")
        return f"a partial has no source of its own; show the function that it calls, {name}"
    if not (inspect.isroutine(code) or inspect.isclass(code) or inspect.ismodule(code)):
        if not hasattr(code, "__wrapped__"):
            return f"only a function, a class or a module has source; this is of type {kind(code)}"
    elif getattr(code, "__name__", "") == "<lambda>":
        return "a lambda has no source of its own; write it with def, and it can be shown"
    elif inspect.isbuiltin(code) or getattr(code, "__module__", "") == "builtins":
        return f"{code.__name__} is built into Python and has no source in Python"
    return None


def kind(thing: object) -> str:
    return type(thing).__name__


def whereabouts(code: Any) -> str:
    """Why Python may keep no source of something, for the end of a sentence."""
    if inspect.isclass(code) and code.__module__ == "__main__":
        return ": it is a class of this notebook without a method, and only methods lead back to it"
    return ": it is empty, is not written in Python, or its file is gone"


def lines_of_class(cls: type) -> list[str]:
    """The lines of a class that was written in a cell, found through one of its methods."""
    members = [getattr(each, "__func__", each) for each in vars(cls).values()]
    methods = [getattr(each, "fget", each) for each in members]
    for made in [inspect.unwrap(each).__code__ for each in methods if inspect.isfunction(each)]:
        lines = linecache.getlines(made.co_filename)
        for node in ast.walk(parsed(lines)):
            if not isinstance(node, ast.ClassDef) or node.name != cls.__name__:
                continue
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= made.co_firstlineno <= (node.end_lineno or 0):
                return [line.rstrip("\n") for line in lines[first - 1 : node.end_lineno]]
    return []


def parsed(lines: list[str]) -> ast.Module:
    """A cell's code as a tree; an empty one if it is more than Python."""
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return ast.Module([], [])


def spelled_out(text: str) -> str:
    """The text with whatever would not stand still on a page spelled out."""
    return printable(text).encode("utf-8", "backslashreplace").decode()


def show_messages(messages: list[Message], at: int = 0) -> None:
    """Print messages, one line a content block; `at` is the number of the first one.

    What is no message is shown as what it is, since that is what one wants to see.
    """
    if not isinstance(messages, list):
        print(clipped(f"no list of messages: {one_line(repr(messages))}"))
        return
    for number, message in enumerate(messages, at):
        for line in message_lines(message):
            print(clipped(f"{number:>3}  {line}".rstrip()))


def message_lines(message: Any) -> Iterator[str]:
    """A message as lines: its role and a block each, or what is wrong with it."""
    if fault := shape_fault(message):
        yield one_line(fault)
    else:
        yield from (f"{message['role']:<9}  {block_line(block)}" for block in blocks(message))


def block_line(block: dict) -> str:
    """One content block in one line: what kind it is, whose id it carries, what it says."""
    if block["type"] == "text":
        return f"text         {one_line(block['text'])}"
    if block["type"] == "tool_use":
        return f"tool_use     {block['id']}  {called(block)}"
    if block["type"] == "tool_result":
        return f"tool_result  {block['tool_use_id']}  {one_line(block.get('content', ''))}"
    return f"{block['type']}  {one_line(json.dumps(block))}"


def called(block: dict) -> str:
    """A call as one would write it; an input that is no object stands there as it is."""
    given = block["input"]
    return (
        as_call(block["name"], given) if isinstance(given, dict) else f"{block['name']}({given!r})"
    )


def one_line(content: object) -> str:
    """Any content on one line."""
    text = content if isinstance(content, str) else json.dumps(content, default=repr)
    return printable(" | ".join(" ".join(line.split()) for line in text.strip().splitlines()))
