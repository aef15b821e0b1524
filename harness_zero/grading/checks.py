"""Visible checks: hold a learner's function to its promises, and say expected, got, why."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature
from typing import Any

from harness_zero.brief import brief, cut, told_by
from harness_zero.containment import (
    AskedForKeys,
    AskedToEnd,
    Hush,
    contained,
    hidden,
    hidden_ours,
    patched,
)
from harness_zero.desk import LONGEST, Broken, Desk, desks
from harness_zero.faults import SetupFault, hole, place
from harness_zero.grading.diagnosis import sentence
from harness_zero.grading.exercise import Exercise
from harness_zero.models.scripted import OutOfReplies
from harness_zero.patience import StillRunning, within
from harness_zero.run import Misused
from harness_zero.watch import Recording

PATIENCE = 1.5  # seconds; a slip that loops for ever is explained within two
Bound = Callable[[float, Callable[[], Any]], Any]  # calls, and raises StillRunning in time
PARTS_OF_A_CALL = [("id",), ("name",), ("input",)]
ODD = (iscoroutinefunction, isgeneratorfunction, isasyncgenfunction)
GIVES_NO_VALUE = "a function with async or yield in it, which gives back no value when it is called"
MANY = 5  # rounds after which a run that is not at its end is slow, and not lost


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
    endless: bool = False  # it had to be stopped
    case: Any = field(default=None, compare=False)  # the run, or the array, that shows it

    def __post_init__(self) -> None:
        """Whatever an answer gives back, a finding can be read."""
        for name in ("expected", "got", "why", "printed"):
            object.__setattr__(self, name, cut(getattr(self, name), 2 * LONGEST))


def findings(exercise: Exercise, answer: Any, bound: Bound = within) -> list[Finding]:
    """One finding a promise, in order, up to the first that is not kept."""
    if misfit := foul(exercise) or shape(exercise, answer):
        return [misfit]
    found: list[Finding] = []
    for promise in exercise.promises:
        found.append(finding(promise, answer, bound))
        if found[-1].state != "kept":
            return found
    return found


def passed(exercise: Exercise, found: list[Finding]) -> bool:
    """Whether every promise of the exercise was tried and kept."""
    kept = [each for each in found if each.state == "kept"]
    return len(kept) == len(found) == len(exercise.promises)


def untried(exercise: Exercise, found: list[Finding]) -> int:
    """How many promises of the exercise were not tried, since something before them broke."""
    promised = [sentence(promise) for promise in exercise.promises]
    return len(promised) - sum(each.promise in promised for each in found)


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
        got = f"{brief(answer, LONGEST)}, which is no function"
    elif not accepts(answer, exercise.takes):
        got = f"a function of another form: {told_by(str, getattr(answer, '__name__', answer))}"
    elif any(is_so(answer) for is_so in ODD):
        got = GIVES_NO_VALUE
    else:
        return None
    return uncallable(exercise, got)


def uncallable(exercise: Exercise, got: str) -> Finding:
    """The finding about an answer that is no function of the form that is wanted."""
    return Finding("it can be called", "broken", f"the function {exercise.takes}", got)


def accepts(function: Callable[..., Any], takes: str) -> bool:
    """Whether a function can be called with as many arguments as stand in this signature."""
    inside = takes.partition("(")[2].rstrip(")")
    try:
        signature(function).bind(*filter(None, inside.split(",")))
    except (TypeError, ValueError):
        return False
    return True


def finding(promise: Callable[[Any], None], answer: Any, bound: Bound = within) -> Finding:
    """Try one promise on the learner's function, whatever that function does."""
    hush = Hush()
    with redirect_stdout(hush), no_noise(), desks() as used:
        found = tried(promise, answer, used, bound=bound)
    if found.state == "broken" and used and used[-1].sent:
        found = replace(found, case=recording(found, used[-1]))
    return replace(found, printed=hush.text)


def recording(found: Finding, desk: Desk) -> Recording:
    """The run that broke a promise, as the desk saw it."""
    fault = found.got if found.raised else ""
    return Recording(desk.array(), desk.replies, desk.label, fault=fault)


@contextmanager
def no_noise() -> Iterator[None]:
    """Meanwhile Python says nothing of a coroutine that could not be run: the finding does."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        yield


def tried(
    promise: Callable[[Any], None],
    answer: Any,
    used: list[Desk],
    seconds: float = PATIENCE,
    bound: Bound = within,
) -> Finding:
    """What became of one promise; at which desks, is known when it is over."""
    told = sentence(promise)
    try:
        with contained():
            bound(seconds, lambda: promise(answer))
    except NotImplementedError as error:
        return Finding(told, "not done yet", got=hole(error))
    except Broken as broken:
        why = "; ".join(filter(None, [broken.why, hint(answer)]))
        return Finding(told, "broken", broken.expected, broken.got, why, case=broken.case)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        words = slow(error, used) or in_words(error, answer)
        endless = isinstance(error, StillRunning)
        return Finding(told, "broken", *words, raised=True, endless=endless)
    return Finding(told, "kept")


def slow(error: BaseException, used: list[Desk]) -> tuple[str, str, str] | None:
    """What to say of a run that had no time left, though it went on as it should; else None."""
    rounds = len(used[-1].sent) if used else 0
    if not isinstance(error, StillRunning) or not MANY <= rounds == len(used[-1].replies):
        return None
    got = f"{rounds} rounds, and {error}{place(error)}"
    why = "it goes on, but it is slow: a round takes no time here, unless something in it waits"
    return "an end in time", got, why


def in_words(error: BaseException, answer: Any) -> tuple[str, str, str]:
    """What was expected, what came and why it matters, where an answer raised."""
    if isinstance(error, OutOfReplies):
        why = "a loop that misses its end never stops; here the model ran out of replies"
        return "the loop to end", str(error), why
    if isinstance(error, StillRunning):
        return "an end", f"{error}{place(error)}", "a loop needs a way out that it really reaches"
    if isinstance(error, AskedForKeys | AskedToEnd):
        return "an answer by itself", f"{error}{place(error)}", ""
    if isinstance(error, Misused):
        return "the run written by its methods, as they are meant", str(error), ""
    if isinstance(error, SetupFault):
        return "a loop that the model can answer", str(error), ""
    what = cut(f"{type(error).__name__}: {told_by(str, error)}", LONGEST)
    return "no exception", f"{what}{place(error)}", explained(error, answer)


def explained(error: BaseException, answer: Any) -> str:
    """Why an exception came, or why it matters."""
    if isinstance(error, RuntimeError) and "running event loop" in told_by(str, error):
        return "a notebook itself runs in an event loop, and a thread has only one; use threads"
    if isinstance(error, KeyError) and error.args[:1] in PARTS_OF_A_CALL:
        return f"not every block of a reply is a call: words have no {error.args[0]!r}"
    if isinstance(error, UnboundLocalError):
        return (
            "a name that a function assigns to is its own, and this one has no value yet; "
            "if you mean the name of the function around it, say `nonlocal` and the name"
        )
    return hint(answer, error) or blame(error)


def blame(error: BaseException) -> str:
    """Why an exception matters that was not raised in the learner's own code."""
    return "" if place(error) else "the check could not go on with what it was given back"


def hint(answer: Any, error: BaseException | None = None) -> str:
    """What in the notebook, outside of the function, may be the cause; else nothing."""
    if isinstance(error, NameError) and error.name:
        return f"run the cell that defines {error.name}, or look how it is written there"
    if names := ", ".join(hidden(answer)):
        return f"a name of your own hides Python's {names}; `del {names}` brings it back"
    if names := ", ".join(hidden_ours(answer)):
        return f"a name of your own hides the course's {names}; run the set-up cell again"
    return ""
