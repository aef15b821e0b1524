"""Step through a run, forwards and backwards: a widget, and two faces for pages without one.

The run is read once, when `step` is called; stepping happens in the browser.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from harness_zero.brief import plural
from harness_zero.messages import Block, text
from harness_zero.notebook.account import account
from harness_zero.notebook.code import asked
from harness_zero.notebook.faces import fold
from harness_zero.notebook.lines import block_line, one_line
from harness_zero.notebook.payload import payload
from harness_zero.notebook.written import code_lines, code_page
from harness_zero.watch import as_call, calls, clipped, printable

STATIC = Path(__file__).parent / "static"
LINES, ROWS = 20, 40  # blocks that the text face and the HTML face show at most
FEW = 5  # of them that the text face shows of a run that is folded
WIDE, FOLDED = 72, 1_000  # characters of a block in its line, and behind its fold
CELL = 'style="text-align:left;vertical-align:top"'  # JupyterLab sets tables to the right


def step(run: Any, folded: str = "", judged: bool = True, code: Any = None) -> "Steps":
    """Step through any run: a Run, a Recording, a list of messages, or (messages, label).

    A run that was recorded with its lines, `record(my_loop, model, tools, prompt, code=True)`,
    shows them beside the messages, and a step is a statement. `code=my_loop` insists on that, and
    says so where the run was kept without; `code=False` leaves the lines out.

    With words in `folded` it shows these alone until they are clicked. Unless it is `judged`,
    it does not say what is wrong with the array: that may be the question.
    """
    told = account(run)
    shown = payload(replace(told, followed=asked(told.followed, code)))
    if not judged:
        shown["end"]["array"] = ""
    return Steps(shown, folded)


class Steps:
    """A run to step through: a widget where there can be one, else a table or lines of text."""

    module = "stepper"  # the widget's files under static/

    def __init__(self, payload: dict[str, Any], folded: str = "") -> None:
        self.payload, self.folded = payload, folded

    def __repr__(self) -> str:
        """The run as text: how it went, a line a block, what it cost."""
        shown = middle_out(list(rows(self.payload)), FEW if self.folded else LINES)
        lines = [each if isinstance(each, str) else each.line() for each in shown]
        closing = [*account_lines(self.payload)]
        closing += code_lines(self.payload) if "code" in self.payload else []
        opening = [f"{self.folded}:"] if self.folded else []
        return "\n".join([*opening, summary(self.payload), *lines, *map(clipped, closing)])

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {}
        if live := self.live():
            given = live._repr_mimebundle_()
            bundle |= given[0] if isinstance(given, tuple) else given
        return bundle | {"text/plain": repr(self), "text/html": self.page()}

    def page(self) -> str:
        """The run as a table that needs no script and no styles."""
        shown = middle_out(list(rows(self.payload)), ROWS)
        body = "".join(
            f'<tr><td></td><td colspan="4" {CELL}><i>{each.strip()}</i></td></tr>'
            if isinstance(each, str)
            else each.row()
            for each in shown
        )
        names = "".join(f'<th scope="col" {CELL}>{n}</th>' for n in ("", "role", "kind", "id", ""))
        closing = "".join(f"<p>{escape(line)}</p>" for line in account_lines(self.payload))
        opening = f"<p><b>{escape(summary(self.payload))}</b></p>"
        table = f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"
        code = code_page(self.payload) if "code" in self.payload else ""
        page = f"<div>{opening}{table if shown else ''}{closing}{code}</div>"
        return fold(escape(self.folded), page) if self.folded else page

    def live(self) -> Any:
        """The run as a widget; None where there is no anywidget."""
        try:
            return widget()(payload=self.payload, folded=self.folded)
        except ImportError:
            return None


@cache
def widget() -> type:
    """The widget's class; made only when a widget is, since importing anywidget takes its time."""
    import anywidget
    import traitlets

    class Stepper(anywidget.AnyWidget):
        _esm = STATIC / f"{Steps.module}.js"
        _css = STATIC / f"{Steps.module}.css"
        payload = traitlets.Dict().tag(sync=True)
        folded = traitlets.Unicode().tag(sync=True)

    return Stepper


@dataclass(frozen=True)
class Row:
    """One block, or one thing that is no block, as the faces show it."""

    number: str
    role: str
    block: Block

    @property
    def kind(self) -> str:
        """The block's type, but that a result which is an error is called so."""
        return "error" if is_error(self.block) else self.block["type"]

    def line(self) -> str:
        """The row as `show_messages` prints it."""
        said = block_line(sound(self.block))
        return clipped(f"{self.number:>3}  {self.role:<9}  {said}".rstrip())

    def row(self) -> str:
        """The row as HTML."""
        cells = [self.number, self.role, self.kind, self.id]
        told = "".join(f"<td {CELL}>{escape(printable(cell))}</td>" for cell in cells)
        return f"<tr>{told}<td {CELL}>{folded(*self.words)}</td></tr>"

    @property
    def id(self) -> str:
        """The id by which a call and its result know each other."""
        return str(self.block.get("tool_use_id") or self.block.get("id") or "")

    @property
    def words(self) -> tuple[str, str]:
        """What the block says, in a line and whole."""
        block = sound(self.block)
        if block["type"] == "tool_use":
            given = block["input"]
            lines = [f"{k} = {v if isinstance(v, str) else repr(v)}" for k, v in given.items()]
            line, whole = as_call(block["name"], given), "\n".join([block["name"], *lines])
            return (
                (line, line) if "\n" not in "".join(lines) and len(line) <= WIDE else (line, whole)
            )
        if block["type"] == "text":
            return one_line(block["text"]), block["text"]
        rest = {key: value for key, value in block.items() if key != "type"}
        content = self.block.get("content", rest)
        whole = content if isinstance(content, str) else one_line(content)
        return one_line(whole), whole


def is_error(block: Block) -> bool:
    """Whether a block is the result of a call that failed."""
    return block["type"] == "tool_result" and bool(block.get("is_error"))


def sound(block: Block) -> Block:
    """The block with all that a line of it is made from, whatever it lacks."""
    kind = block["type"]
    if kind == "text" and not isinstance(block.get("text"), str):
        return {"type": "text", "text": one_line(block.get("text"))}
    if kind == "tool_use":
        given = block.get("input")
        given = given if isinstance(given, dict) else {"input": given}
        return {**block, "id": str(block.get("id")), "name": str(block.get("name")), "input": given}
    if kind == "tool_result":
        content = block.get("content") or ""
        said = content if isinstance(content, str) else one_line(content)
        said = f"error: {said}" if is_error(block) else said
        return {**block, "tool_use_id": str(block.get("tool_use_id")), "content": said}
    return block


def rows(run: dict[str, Any]) -> Iterator[Row]:
    """All that the faces show, in order."""
    number = 0
    for each in run["steps"]:
        if each["role"] == "lost":
            what = "an empty reply" if "empty" in each else "a reply that is not in the array"
            yield Row("", "assistant", text(f"({what}, stop_reason {each['stop']})"))
        told = "" if "head" in each else str(number)
        for at in each["add"]:
            yield Row(told, each["role"], run["blocks"][at])
        number += told != "" and each["role"] != "lost"
        for words in each.get("says", ()):
            yield Row("", "policy", text(words))


def middle_out(rows: list[Row], most: int) -> list[Row | str]:
    """The first and the last rows, and in words how many stand between them."""
    if len(rows) <= most:
        return [*rows]
    half = (most - 1) // 2
    return [*rows[:half], f"     ... {len(rows) - 2 * half:,} more blocks ...", *rows[-half:]]


def summary(run: dict[str, Any]) -> str:
    """How long the run is and how it ended, in a line."""
    kinds = [run["blocks"][at]["type"] for each in run["steps"] for at in each["add"]]
    counted = [
        plural(sum(is_message(each) for each in run["steps"]), "message"),
        plural(sum(is_round(each) for each in run["steps"]), "round"),
        calls(kinds.count("tool_use"), kinds.count("tool_use") - unmade(run)),
    ]
    return clipped(f"{', '.join(counted)}; {ending(run['end'])}")


def unmade(run: dict[str, Any]) -> int:
    """How many calls were answered as not executed."""
    blocks = [run["blocks"][at] for each in run["steps"] for at in each["add"]]
    told = [sound(block)["content"] for block in blocks if is_error(block)]
    return sum(words.startswith("error: not executed") for words in told)


def is_message(step: dict[str, Any]) -> bool:
    """Whether a message entered the array at this step."""
    return step["role"] != "lost" and "head" not in step


def is_round(step: dict[str, Any]) -> bool:
    """Whether the model spoke at this step."""
    return step["role"] in ("assistant", "lost")


def ending(end: dict[str, Any]) -> str:
    """How the run ended, in words."""
    if end["fault"]:
        return f"ended in an error: {one_line(end['fault'])}"
    if end["label"] is None:
        return "not ended yet" if "open" in end else "no label"
    why = f" ({one_line(end['why'])})" if end["why"] else ""
    return f"ended: {one_line(end['label'])}{why}"


def account_lines(run: dict[str, Any]) -> list[str]:
    """What was spent, the limits that were held to, what is wrong with the array; if known."""
    limits = run["limits"]
    told = []
    if "rounds" in limits:
        told.append(f"at most {limits['rounds']:,} rounds a turn")
    tokens = sum(each.get("tokens", 0) for each in run["steps"])
    usd = sum(each.get("usd", 0) for each in run["steps"])
    if asides := sum(each.get("asides", 0) for each in run["steps"]):
        told.append(f"{plural(asides, 'call')} of a model beside the array")
    if tokens:
        told.append(f"{tokens:,} tokens")
    if "usd" in limits:
        told.append(f"${usd:.4f} of ${limits['usd']:,.2f}")
    elif usd:
        told.append(f"${usd:.4f}")
    if "seconds" in limits:
        told.append(f"at most {limits['seconds']:,} s a turn")
    broken = run["end"]["array"]
    closing = [f"the array is broken: {one_line(broken)}"] if broken else []
    return ["; ".join(told), *closing] if told else closing


def folded(line: str, whole: str) -> str:
    """A block in a line; what it says beyond that stands behind a fold."""
    cut = f"{line[: WIDE - 3]}..." if len(line) > WIDE else line
    shown = f'<samp dir="auto">{escape(cut)}</samp>'
    if "\n" not in whole.strip() and not cut.endswith("..."):
        return shown
    more = len(whole) - FOLDED
    left = f"\n[... {more:,} more characters ...]" if more > 0 else ""
    inside = f"{escape(printable(whole[:FOLDED]))}{left}"
    pre = f'<pre dir="auto" style="white-space:pre-wrap">{inside}</pre>'
    return f"<details><summary>{shown}</summary>{pre}</details>"
