"""Visible checks: hold a learner's function to its promises, and say expected, got, why."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction, isgeneratorfunction, signature
from typing import Any

from harness_zero.desk import Broken
from harness_zero.faults import SetupFault, hole, place
from harness_zero.models.scripted import OutOfReplies
from harness_zero.patience import StillRunning, within

PATIENCE = 1.5  # seconds; a slip that loops for ever is explained within two
PRINTED = 200  # characters of what the answer prints that are shown


@dataclass(frozen=True)
class Exercise:
    """One gap for the learner, and the promises that what fills it keeps."""

    name: str
    title: str
    minutes: int
    lines: int
    points: int
    promises: tuple[Callable[[Any], None], ...]
    takes: str  # the signature, as the notebook shows it


@dataclass(frozen=True)
class Finding:
    """What became of one promise: kept, broken, or not tried because nothing is there yet."""

    promise: str
    state: str  # "kept" | "broken" | "not done yet"
    expected: str = ""
    got: str = ""
    why: str = ""
    printed: str = ""  # the beginning of what the answer printed meanwhile


class Hush(io.TextIOBase):
    """Somewhere to print to; the beginning is kept, however much it is."""

    text = ""

    def write(self, text: str) -> int:
        self.text += text[: PRINTED - len(self.text)] if len(self.text) < PRINTED else ""
        return len(text)


def findings(exercise: Exercise, answer: Any) -> list[Finding]:
    """One finding a promise, in order, up to the first that is not kept."""
    if misfit := shape(exercise, answer):
        return [misfit]
    found: list[Finding] = []
    for promise in exercise.promises:
        found.append(finding(promise, answer))
        if found[-1].state != "kept":
            return found
    return found


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
    with redirect_stdout(hush):
        found = tried(promise, answer)
    return replace(found, printed=hush.text)


def tried(promise: Callable[[Any], None], answer: Any) -> Finding:
    """What became of one promise."""
    sentence = promise.__name__.replace("_", " ")
    try:
        within(PATIENCE, lambda: promise(answer))
    except NotImplementedError as error:
        if type(error) is not NotImplementedError:  # as of input() where nobody can type
            return Finding(sentence, "broken", "no exception", f"{error}{place(error)}")
        return Finding(sentence, "not done yet", got=hole(error))
    except Broken as broken:
        return Finding(sentence, "broken", broken.expected, broken.got, broken.why)
    except OutOfReplies as fault:
        why = "a loop that misses its end never stops; here the model ran out of replies"
        return Finding(sentence, "broken", "the loop to end", str(fault), why)
    except StillRunning as fault:
        why = "a loop needs a way out that it really reaches"
        return Finding(sentence, "broken", "an end", f"{fault}{place(fault)}", why)
    except SetupFault as fault:
        return Finding(sentence, "broken", "a loop that the model can answer", str(fault))
    except (Exception, SystemExit, GeneratorExit) as error:
        got = f"{type(error).__name__}: {error}{place(error)}"
        why = "" if place(error) else "the check could not go on with what it was given back"
        return Finding(sentence, "broken", "no exception", got, why)
    return Finding(sentence, "kept")
