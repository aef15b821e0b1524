"""Visible checks: hold a learner's function to its promises, and say expected, got, why."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from inspect import iscoroutinefunction, isgeneratorfunction, signature
from typing import Any

from harness_zero.containment import AskedForKeys, AskedToEnd, contained, hidden, patched
from harness_zero.desk import Broken, desks
from harness_zero.faults import SetupFault, hole, place
from harness_zero.grading.exercise import Exercise
from harness_zero.models.scripted import OutOfReplies
from harness_zero.patience import StillRunning, within
from harness_zero.watch import Recording

PATIENCE = 1.5  # seconds; a slip that loops for ever is explained within two
PRINTED = 200  # characters of what the answer prints that are shown


@dataclass(frozen=True)
class Finding:
    """What became of one promise: kept, broken, or not tried because nothing is there yet."""

    promise: str
    state: str  # "kept" | "broken" | "not done yet"
    expected: str = ""
    got: str = ""
    why: str = ""
    printed: str = ""  # the beginning of what the answer printed meanwhile
    raised: bool = False  # an exception came, and no value
    case: Any = field(default=None, compare=False)  # the run, or the array, that shows it


class Hush(io.TextIOBase):
    """Somewhere to print to; the beginning is kept, however much it is."""

    text = ""

    def write(self, text: str) -> int:
        self.text += text[: PRINTED - len(self.text)] if len(self.text) < PRINTED else ""
        return len(text)


def findings(exercise: Exercise, answer: Any) -> list[Finding]:
    """One finding a promise, in order, up to the first that is not kept."""
    if misfit := foul(exercise) or shape(exercise, answer):
        return [misfit]
    found: list[Finding] = []
    for promise in exercise.promises:
        found.append(finding(promise, answer))
        if found[-1].state != "kept":
            return found
    return found


def passed(exercise: Exercise, found: list[Finding]) -> bool:
    """Whether every promise of the exercise was tried and kept."""
    kept = [each for each in found if each.state == "kept"]
    return len(kept) == len(found) == len(exercise.promises)


def foul(exercise: Exercise) -> Finding | None:
    """What is wrong with Python itself, so that nothing can be tried."""
    if names := patched():
        got = f"{' and '.join(names)} replaced in the module builtins"
        why = "every function uses them, ours too; they are put back now, so check again"
        return Finding("Python is as it was shipped", "broken", "Python's own builtins", got, why)
    return None


def shape(exercise: Exercise, answer: Any) -> Finding | None:
    """What is wrong with the answer before anything is tried: it is no function of this form."""
    if not callable(answer):
        got = f"{answer!r}, which is no function"
    elif not accepts(answer, exercise.takes):
        got = f"a function of another form: {getattr(answer, '__name__', answer)}"
    elif iscoroutinefunction(answer) or isgeneratorfunction(answer):
        got = "a function with async or yield in it, which gives back no value when it is called"
    else:
        return None
    return Finding("it can be called", "broken", f"the function {exercise.takes}", got)


def accepts(function: Callable[..., Any], takes: str) -> bool:
    """Whether a function can be called with as many arguments as stand in this signature."""
    inside = takes.partition("(")[2].rstrip(")")
    try:
        signature(function).bind(*filter(None, inside.split(",")))
    except (TypeError, ValueError):
        return False
    return True


def finding(promise: Callable[[Any], None], answer: Any) -> Finding:
    """Try one promise on the learner's function, whatever that function does."""
    hush = Hush()
    with redirect_stdout(hush), desks() as used:
        found = tried(promise, answer)
    if found.state == "broken" and used and used[-1].sent:
        desk = used[-1]
        told = f"{found.promise}: expected {found.expected}; got {found.got}"
        why, fault = ("", told) if found.raised else (told, "")
        found = replace(found, case=Recording(desk.array(), desk.replies, desk.label, why, fault))
    return replace(found, printed=hush.text)


def tried(promise: Callable[[Any], None], answer: Any) -> Finding:
    """What became of one promise."""
    sentence = promise.__name__.replace("_", " ")
    try:
        with contained():
            within(PATIENCE, lambda: promise(answer))
    except NotImplementedError as error:
        return Finding(sentence, "not done yet", got=hole(error))
    except Broken as broken:
        why = "; ".join(filter(None, [broken.why, hint(answer)]))
        return Finding(sentence, "broken", broken.expected, broken.got, why, case=broken.case)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Finding(sentence, "broken", *in_words(error, answer), raised=True)
    return Finding(sentence, "kept")


def in_words(error: BaseException, answer: Any) -> tuple[str, str, str]:
    """What was expected, what came and why it matters, where an answer raised."""
    if isinstance(error, OutOfReplies):
        why = "a loop that misses its end never stops; here the model ran out of replies"
        return "the loop to end", str(error), why
    if isinstance(error, StillRunning):
        return "an end", f"{error}{place(error)}", "a loop needs a way out that it really reaches"
    if isinstance(error, AskedForKeys | AskedToEnd):
        return "an answer by itself", f"{error}{place(error)}", ""
    if isinstance(error, SetupFault):
        return "a loop that the model can answer", str(error), ""
    got = f"{type(error).__name__}: {error}{place(error)}"
    return "no exception", got, hint(answer, error) or blame(error)


def blame(error: BaseException) -> str:
    """Why an exception matters that was not raised in the learner's own code."""
    return "" if place(error) else "the check could not go on with what it was given back"


def hint(answer: Any, error: BaseException | None = None) -> str:
    """What in the notebook, outside of the function, may be the cause; else nothing."""
    if isinstance(error, NameError) and error.name:
        return f"run the cell that defines {error.name}, or look how it is written there"
    if names := ", ".join(hidden(answer)):
        return f"a name of your own hides Python's {names}; `del {names}` brings it back"
    return ""
