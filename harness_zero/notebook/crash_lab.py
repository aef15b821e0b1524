"""The crash lab: choose the instant in which a process dies, and see what is left and what follows.

Every instant was tried beforehand, with a journal and without; choosing happens in the browser.
"""

import json
from collections import Counter
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from harness_zero.brief import cut, plural
from harness_zero.faults import SetupFault
from harness_zero.flight.crashes.killed import HERE
from harness_zero.flight.crashes.moments import Moment, moments
from harness_zero.flight.crashes.tried import Tried, boundaries
from harness_zero.messages import tool_uses, words
from harness_zero.watch import as_asked, as_call

STATIC = Path(__file__).parent / "static"
LONG = 76  # characters of a line
EFFECTS = {
    "model": "model asked",
    "read": "files and lists read",
    "pay": "bank asked to pay",
    "paid": "invoice paid",
    "send_mail": "mail sent",
}
ONCE = ("paid", "send_mail")  # what must not happen twice
HEADS = ("", "by then", "with the journal", "begun anew")
NOTE = "Begun anew: the same harness without a journal, killed after as many effects."


class NoSuchMoment(SetupFault):
    """The lab has no such instant; the sentence says which there are."""


def crash_lab(step: str = "send_mail", when: str = "effect made, nothing written") -> "CrashLab":
    """Kill a harness at a moment of your choice, and watch what a journal makes of it.

    It opens at a step, by its tool or as "model", and at what it dies with: "intent written",
    "effect made, nothing written", "outcome half written" or "outcome written".
    """
    return CrashLab(payload(), place(step, when))


def place(step: str, when: str) -> int:
    """The number of a moment in the list of all."""
    if not isinstance(step, str):
        raise NoSuchMoment(f"a step of the lab is named by its tool or as 'model', not {step!r}")
    for number, moment in enumerate(moments()):
        if moment.step.split()[-1] == step and moment.says == when:
            return number
    known = [(moment.step.split()[-1], moment.says) for moment in moments()]
    steps = dict.fromkeys(each for each, _ in known)
    says = dict.fromkeys(says for each, says in known if each == step or step not in steps)
    where = f"in the step {step} it dies with" if step in steps else "and it dies with"
    raise NoSuchMoment(
        f"the lab knows no moment {step!r}, {when!r}; the steps are {', '.join(steps)},"
        f" {where}: {', '.join(says)}"
    )


@cache
def payload() -> dict[str, Any]:
    """All that the browser needs: each line of a journal once, and what belongs to each moment."""
    lines: dict[str, int] = {}
    told = [as_told(moment, run, lines) for moment, run in boundaries(HERE)]
    return {"lines": [[short(line), line] for line in lines], "moments": told, "effects": EFFECTS}


def as_told(moment: Moment, run: Tried, lines: dict[str, int]) -> dict[str, Any]:
    """A moment: what is left in the file, what the resume adds and does, what happened outside."""
    whole, _, torn = run.ending.left.decode().rpartition("\n")
    left = whole.split("\n")
    added = run.ending.journal.decode().splitlines()[len(left) :]
    columns = [run.ending.before, run.ending.effects, run.anew.effects if run.anew else Counter()]
    return {
        "where": in_words(moment.step),
        "says": moment.says,
        "left": [lines.setdefault(line, len(lines)) for line in left],
        "torn": cut(torn, LONG),
        "added": [lines.setdefault(line, len(lines)) for line in added],
        "resumes": resumes(run, len(left)),
        "effects": [[counted(column, name) for column in columns] for name in EFFECTS],
    }


def in_words(step: str) -> str:
    """The place of a moment: a step by its number and name, or what is before all steps."""
    return "the turn" if step == "turn" else f"step {step.replace(' ', ', ')}"


def counted(effects: Counter[str], name: str) -> int:
    """How often something happened."""
    if name == "read":
        return effects["read_file"] + effects["list_sent"]
    return effects[name]


def resumes(run: Tried, left: int) -> str:
    """What the resume does, in a sentence."""
    recorded = f"{plural(left, 'whole line')} passed over"
    doubts = [line for line in run.ending.doubts if "was in doubt: " in line]
    if not doubts:
        return f"{recorded}. Nothing is in doubt, so the run goes on."
    step, _, done = doubts[0].partition(", was in doubt: ")
    return f"{recorded}. {step.split(',')[0].capitalize()} is in doubt: {done}."


def short(written: str) -> str:
    """A line of a journal, as one reads it."""
    line = json.loads(written)
    kind = next(iter(line))
    number = f"{line[kind]:>2}" if kind in ("begin", "end", "again") else "  "
    return cut(f"{number} {NAMES[kind]:<8}{content(line)}".rstrip(), LONG)


NAMES = {
    "journal": "head",
    "turn": "prompt",
    "begin": "intent",
    "end": "outcome",
    "again": "again",
    "ended": "end",
}


def content(line: dict[str, Any]) -> str:
    """What a line says."""
    if "model" in line:
        return f"ask the model, {plural(line['model']['messages'], 'message')}"
    if "tool" in line:
        return as_call(line["tool"], line["input"])
    if "gave" in line:
        gave = line["gave"]
        if "tool_use_id" in gave:
            return str(gave["content"])
        return ", ".join(map(as_asked, tool_uses(gave))) or words(gave)
    return str(line.get("prompt") or line.get("ended") or line.get("run") or "")


class CrashLab:
    """A moment chosen out of all: a widget where there can be one, else a page or lines of text."""

    def __init__(self, payload: dict[str, Any], at: int) -> None:
        self.payload, self.at = payload, at

    @property
    def moment(self) -> dict[str, Any]:
        """What belongs to the chosen moment."""
        return self.payload["moments"][self.at]

    def __repr__(self) -> str:
        rows = [f"{HEADS[0]:<22}" + "".join(f"{head:>18}" for head in HEADS[1:])]
        for name, counts in zip(EFFECTS, self.moment["effects"], strict=True):
            rows.append(f"{EFFECTS[name]:<22}" + "".join(f"{n:>18}" for n in told(name, counts)))
        return "\n".join([self.heading(), *self.lines(), self.moment["resumes"], "", *rows, NOTE])

    def heading(self) -> str:
        """Which moment it is."""
        number = f"moment {self.at + 1} of {len(self.payload['moments'])}"
        return f"Killed at {number}, in {self.moment['where']}: {self.moment['says']}."

    def lines(self) -> list[str]:
        """The journal: what was left, the line that was cut off, and what the resume added."""
        texts, moment = [text for text, _ in self.payload["lines"]], self.moment
        torn = [f"  ~ {moment['torn']}"] if moment["torn"] else []
        left = [f"    {texts[number]}" for number in moment["left"]]
        added = [f"  + {texts[number]}" for number in moment["added"]]
        return [*left, *torn, "  ---- killed, and resumed ----", *added]

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {}
        if live := self.live():
            given = live._repr_mimebundle_()
            bundle |= given[0] if isinstance(given, tuple) else given
        return bundle | {"text/plain": repr(self), "text/html": self.page()}

    def page(self) -> str:
        """The chosen moment as a page that needs no script."""
        cells = '<th scope="col">{}</th>'
        head = "".join(cells.format(head) for head in HEADS)
        rows = "".join(
            f'<tr><th scope="row">{EFFECTS[name]}</th>'
            + "".join(f"<td>{each}</td>" for each in told(name, counts))
            + "</tr>"
            for name, counts in zip(EFFECTS, self.moment["effects"], strict=True)
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        lines = escape("\n".join(self.lines()))
        opening = f"<p><b>{escape(self.heading())}</b></p><pre>{lines}</pre>"
        return f"<div>{opening}<p>{escape(self.moment['resumes'])}</p>{table}<p>{NOTE}</p></div>"

    def live(self) -> Any:
        """The lab as a widget; None where there is no anywidget."""
        try:
            fixed = {"once": ONCE, "heads": HEADS, "note": NOTE}
            return widget()(payload={**self.payload, **fixed}, at=self.at)
        except ImportError:
            return None


def told(name: str, counts: list[int]) -> list[str]:
    """The counts of an effect; what must happen once and happened twice is marked."""
    return [f"{n}, twice!" if name in ONCE and n > 1 else str(n) for n in counts]


@cache
def widget() -> type:
    """The widget's class; made only when a widget is, since importing anywidget takes its time."""
    import anywidget
    import traitlets

    class Lab(anywidget.AnyWidget):
        _esm = STATIC / "crash_lab.js"
        _css = STATIC / "crash_lab.css"
        payload = traitlets.Dict().tag(sync=True)
        at = traitlets.Int().tag(sync=True)

    return Lab
