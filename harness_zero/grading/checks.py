"""Visible checks: hold a learner's function to its promises, and say expected, got, why."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from harness_zero.desk import Broken
from harness_zero.faults import SetupFault, place
from harness_zero.grading.patience import StillRunning, within
from harness_zero.models.scripted import OutOfReplies

PATIENCE = 1.5  # seconds; a slip that loops for ever is explained within two
AN_END = "an end"


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


def findings(exercise: Exercise, answer: Any) -> list[Finding]:
    """One finding a promise, in order; after a hole or an endless loop the rest is not tried."""
    if misfit := shape(exercise, answer):
        return [misfit]
    found: list[Finding] = []
    for promise in exercise.promises:
        found.append(finding(promise, answer))
        if found[-1].state == "not done yet":
            return found[-1:]
        if found[-1].expected == AN_END:
            return found
    return found


def shape(exercise: Exercise, answer: Any) -> Finding | None:
    """What is wrong with the answer before anything is tried: it is no function of this form."""
    if not callable(answer):
        got = f"{answer!r}, which is no function"
    elif not accepts(answer, exercise.takes):
        got = f"a function that takes {signature(answer)}"
    else:
        return None
    return Finding("it can be called", "broken", f"the function {exercise.takes}", got)


def accepts(function: Callable[..., Any], takes: str) -> bool:
    """Whether a function can be called with as many arguments as stand in this signature."""
    inside = takes.partition("(")[2].rstrip(")")
    try:
        signature(function).bind(*filter(None, inside.split(",")))
    except TypeError:
        return False
    return True


def finding(promise: Callable[[Any], None], answer: Any) -> Finding:
    """Try one promise on the learner's function, whatever that function does."""
    sentence = promise.__name__.replace("_", " ")
    try:
        within(PATIENCE, lambda: promise(answer))
    except NotImplementedError:
        return Finding(sentence, "not done yet")
    except Broken as broken:
        return Finding(sentence, "broken", broken.expected, broken.got, broken.why)
    except OutOfReplies as fault:
        why = "a loop that misses its end never stops; here the model ran out of replies"
        return Finding(sentence, "broken", "the loop to end", str(fault), why)
    except StillRunning as fault:
        why = "a loop needs a way out that it really reaches"
        return Finding(sentence, "broken", AN_END, f"{fault}{place(fault)}", why)
    except SetupFault as fault:
        return Finding(sentence, "broken", "a loop that the model can answer", str(fault))
    except (Exception, SystemExit) as error:
        got = f"{type(error).__name__}: {error}{place(error)}"
        return Finding(sentence, "broken", "no exception", got)
    return Finding(sentence, "kept")
