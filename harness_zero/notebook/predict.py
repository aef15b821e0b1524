"""Predict before you run: a question that wants an answer before it gives one."""

import json
import os
from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from harness_zero.faults import SetupFault
from harness_zero.notebook.faces import fold, spelled_out

STATIC = Path(__file__).parent / "static"


class BadPrediction(SetupFault):
    """Nobody could answer this; the sentence says what to mend."""


class Prediction:
    """A question with its choices: to be answered in a live notebook, folded elsewhere."""

    def __init__(self, question: str, choices: Sequence[str], answer: str, because: str) -> None:
        if fault := prediction_fault(question, choices, answer, because):
            raise BadPrediction(fault)
        self.question, self.because = spelled_out(question), spelled_out(because)
        self.choices = [spelled_out(choice) for choice in choices]
        self.answer = spelled_out(answer)

    def note(self, choice: str) -> str:
        """What to say to someone who has chosen and not yet compared."""
        return f"You predict {quoted(choice)}. Run the next cell, then compare."

    def verdict(self, choice: str) -> str:
        """What to say to someone who predicted this."""
        if choice == self.answer:
            return f"Yes, {quoted(self.answer)}. {self.because}"
        return f"You said {quoted(choice)}; it is {quoted(self.answer)}. {self.because}"

    def __repr__(self) -> str:
        choices = "\n".join(f"  ( ) {choice}" for choice in self.choices)
        return f"Predict: {self.question}\n{choices}\n  Then run the next cell."

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        live = self.live._repr_mimebundle_() if self.live else None
        faces = {"text/plain": repr(self), "text/html": self.folded()}
        return {**(live[0] if isinstance(live, tuple) else live or {}), **faces}

    def folded(self) -> str:
        """The question with its answer folded away, for pages without a kernel."""
        choices = "".join(f"<li>{escape(choice)}</li>" for choice in self.choices)
        answer = f"<p><b>{escape(self.answer)}</b>: {escape(self.because)}</p>"
        question = f"<p><b>Predict:</b> {escape(self.question)}</p>"
        return f"{question}\n<ul>{choices}</ul>\n{fold('The answer', answer)}"

    @cached_property
    def live(self) -> Any:
        """The question as a widget: choose, run the next cell, compare. None without anywidget."""
        try:
            widget = widget_class()
        except ImportError:
            return None
        return widget(
            question=self.question,
            choices=self.choices,
            answer=self.choices.index(self.answer),
            notes=[self.note(choice) for choice in self.choices],
            verdicts=[self.verdict(choice) for choice in self.choices],
            key=self.key(),
        )

    def key(self) -> str:
        """The name under which the browser keeps the answer: this question in this notebook."""
        notebook = os.environ.get("JPY_SESSION_NAME", "")  # the path of it, where Jupyter tells
        named = [notebook, self.question, self.choices, self.answer, self.because]
        return "harness-zero/predict/" + sha256(json.dumps(named).encode()).hexdigest()[:24]


@cache
def widget_class() -> Any:
    """The live part. Importing it is slow, and some pages have no widgets."""
    import anywidget
    from traitlets import Bool, Int, List, Unicode

    class Choice(anywidget.AnyWidget):
        """What the reader chose, and whether it was compared, is kept here and in the browser."""

        _esm = STATIC / "predict.js"
        _css = STATIC / "predict.css"
        question, key = Unicode().tag(sync=True), Unicode().tag(sync=True)
        choices: Any = List().tag(sync=True)
        notes: Any = List().tag(sync=True)  # what is said of each choice before comparing
        verdicts: Any = List().tag(sync=True)  # and after
        answer = Int().tag(sync=True)
        chosen = Int(-1).tag(sync=True)  # -1: nothing yet
        compared = Bool(False).tag(sync=True)

    return Choice


def prediction_fault(question: Any, choices: Any, answer: Any, because: Any) -> str | None:
    """Why nobody could answer this, in words; None if one can."""
    for name, words in (("question", question), ("answer", answer), ("because", because)):
        if not isinstance(words, str):
            return f"the {name} of a prediction is words, and this one is {kind(words)}"
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        return f"the choices of a prediction are a list of words, and these are {kind(choices)}"
    if strangers := [choice for choice in choices if not isinstance(choice, str)]:
        return f"every choice is words, and one of these is {kind(strangers[0])}"
    if len(choices) < 2:
        return f"a prediction has two choices at least, and this one has {len(choices)}"
    if blank := [words for words in (question, *choices) if not words.strip()]:
        return f"the question and every choice say something, and one of them is {blank[0]!r}"
    if twice := [choice for choice in choices if list(choices).count(choice) > 1]:
        return f"the choice {twice[0]!r} stands there twice"
    if answer not in choices:
        return f"the answer {answer!r} is none of the choices {list(choices)}"
    return None


def kind(thing: object) -> str:
    return f"of type {type(thing).__name__}"


def quoted(choice: str) -> str:
    """A choice inside a sentence, which has its own full stop."""
    return f"\N{LEFT DOUBLE QUOTATION MARK}{choice.rstrip('.')}\N{RIGHT DOUBLE QUOTATION MARK}"


def predict(question: str, choices: Sequence[str], answer: str, because: str) -> Prediction:
    """Ask for a prediction. `answer` is one of the choices; `because` explains it afterwards."""
    return Prediction(question, choices, answer, because)
