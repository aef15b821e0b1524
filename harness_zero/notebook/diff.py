"""The difference between two pieces of code, told by sign, colour and a spoken label."""

import inspect
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from html import escape
from itertools import groupby
from typing import Any

from harness_zero.brief import plural
from harness_zero.notebook.faces import Shown, coloured, fold
from harness_zero.notebook.source import APART, Code, NoSource, source
from harness_zero.stages import NAMES, stage

Line = tuple[str, str, str]  # what became of it: "+", "-" or " "; its text; its page
CONTEXT = 3  # unchanged lines that stay around a change
WORTH_FOLDING = 4  # lines
NAMED = {"+": ("ins", "added"), "-": ("del", "removed")}  # the tag and the word for a sign


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
