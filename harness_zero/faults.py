"""Faults of the set-up: code has to be mended, so they are raised and never told to the model."""

import sysconfig
import traceback
from pathlib import Path

from harness_zero.brief import told_by

NOT_THE_LEARNERS = (
    str(Path(__file__).parent),
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    "<frozen",
)
ELSEWHERE = "_passed_at"  # under this name an error keeps where it passed in another process


class SetupFault(BaseException):
    """The parts were put together wrongly.

    It is no `Exception`, so that a harness which turns every tool's failure
    into text for the model does not turn this one into text as well.
    """

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the sentence alone, without the frames that led to it."""
        return [f"{type(self).__name__}: {self}"]


def hole(error: BaseException) -> str:
    """The learner's function in which a hole is left, by name."""
    names = [frame.name for frame in own_frames(error)]
    return names[-1] if names else "it"


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an error that are the learner's own code, the innermost last."""
    passed = traceback.extract_tb(error.__traceback__)
    here = [frame for frame in passed if not frame.filename.startswith(NOT_THE_LEARNERS)]
    return here or vars(error).get(ELSEWHERE, [])


def passed_at(error: BaseException, function: str, line: int, source: str) -> None:
    """Note where in the learner's own code an error passed, in a process that we do not see."""
    vars(error)[ELSEWHERE] = [traceback.FrameSummary("", line, function, line=source)]


def raised(error: BaseException) -> str:
    """An error in words, and where in the learner's own code it passed."""
    return f"{type(error).__name__}: {told_by(str, error)}{place(error)}"


def place(error: BaseException) -> str:
    """Where in the learner's own code an error passed, for the end of a sentence; else nothing."""
    frames = own_frames(error)
    if not frames:
        return ""
    last = frames[-1]
    where = "your cell" if last.name.startswith("<") else last.name
    line = f": `{last.line}`" if last.line else ""
    return f" (in {where}, line {last.lineno}{line})"
