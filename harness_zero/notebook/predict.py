"""Predict before you run: a question that wants an answer before it gives one."""

from collections.abc import Sequence
from html import escape
from typing import Any


class Prediction:
    """A question with its choices: buttons in a live notebook, a folded answer elsewhere."""

    def __init__(self, question: str, choices: Sequence[str], answer: str, because: str) -> None:
        self.question, self.choices, self.because = question, list(choices), because
        self.answer = answer
        if answer not in self.choices:
            raise ValueError(f"the answer {answer!r} is none of the choices {self.choices}")

    def verdict(self, choice: str) -> str:
        """What to say to someone who predicted this."""
        if choice == self.answer:
            return f"Yes: {self.answer}. {self.because}"
        return f"You said {choice}; it is {self.answer}. {self.because}"

    def __repr__(self) -> str:
        choices = "\n".join(f"  ( ) {choice}" for choice in self.choices)
        return f"Predict: {self.question}\n{choices}\n  Then run the next cell."

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self.folded()}
        if live := self.live():
            bundle |= live._repr_mimebundle_() or {}
            bundle["text/plain"] = repr(self)
        return bundle

    def folded(self) -> str:
        """The question with its answer folded away, for pages without a kernel."""
        choices = "".join(f"<li>{escape(choice)}</li>" for choice in self.choices)
        answer = f"<b>{escape(self.answer)}</b>. {escape(self.because)}"
        return (
            f"<p><b>Predict:</b> {escape(self.question)}</p><ul>{choices}</ul>"
            f"<details><summary>The answer</summary><p>{answer}</p></details>"
        )

    def live(self) -> Any:
        """The question as buttons: choose, run the next cell, compare. None without ipywidgets."""
        try:
            import ipywidgets
        except ImportError:
            return None
        said = ipywidgets.HTML()
        compare = ipywidgets.Button(description="Compare", layout={"display": "none"})
        choices = [ipywidgets.Button(description=c, layout={"width": "auto"}) for c in self.choices]
        chosen: list[str] = []

        def choose(button: Any) -> None:
            chosen[:] = [button.description]
            said.value = f"You predict <b>{escape(chosen[0])}</b>. Run the next cell, then compare."
            compare.layout.display = "inline-flex"

        def reveal(_: Any) -> None:
            said.value = escape(self.verdict(chosen[0]))

        for button in choices:
            button.on_click(choose)
        compare.on_click(reveal)
        question = ipywidgets.HTML(f"<b>Predict:</b> {escape(self.question)}")
        return ipywidgets.VBox([question, ipywidgets.HBox(choices), said, compare])


def predict(question: str, choices: Sequence[str], answer: str, because: str) -> Prediction:
    """Ask for a prediction. `answer` is one of the choices; `because` explains it afterwards."""
    return Prediction(question, choices, answer, because)
