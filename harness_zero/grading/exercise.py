"""What an exercise is: everything that is said of it anywhere, in one place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from harness_zero.grading.diagnosis import Case

Difficulty = Literal["easy", "medium", "hard"]

OBJECTIVES = {
    1: "explain the cycle from prompt to decision to tool to result, and what ends it",
    2: "compare two contracts of termination: no call is left, or the output fits its type",
    3: "build a loop with brakes (rounds, money) and a trace that one can watch",
    4: "design retries at two layers, and tell what needs idempotency",
    5: "judge the durability of a real loop: what survives a crash",
}


@dataclass(frozen=True)
class Piece:
    """What an answer becomes in a learner's own harness, and what stands in for it until then."""

    name: str  # of the file in my_harness/, and of the function in the package
    borrowed: Callable[..., Callable[..., Any]]  # ours; takes the pieces that it needs, by name
    needs: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()  # pieces that nothing needs any more once this one is written


@dataclass(frozen=True)
class Exercise:
    """One gap for the learner, and the promises that what fills it keeps."""

    name: str  # of the function in the notebook that is checked
    title: str
    minutes: int
    difficulty: Difficulty
    lines: int  # about how many the gap takes
    points: int
    objectives: tuple[int, ...]  # of OBJECTIVES
    promises: tuple[Callable[[Any], None], ...]
    takes: str  # the signature, as the notebook shows it
    piece: Piece | None = None  # what it adds to the learner's own harness
    case: Case | None = None  # of a diagnosis: the run that went wrong

    def head(self) -> str:
        """The line under the title, as the notebook and the rubric show it."""
        numbers = ", ".join(map(str, self.objectives))
        objectives = f"objective{'' if len(self.objectives) == 1 else 's'} {numbers}"
        parts = (
            f"{self.minutes} minutes",
            self.difficulty,
            f"about {self.lines} line{'' if self.lines == 1 else 's'}",
            f"{self.points} points",
            objectives,
        )
        return " · ".join(parts)


@dataclass(frozen=True)
class Lab:
    """A lab: the folder in labs/ and solutions/, and its exercises in order."""

    name: str  # 01_structural_stop
    title: str
    exercises: tuple[Exercise, ...]

    @property
    def points(self) -> int:
        """What all its exercises are worth together."""
        return sum(exercise.points for exercise in self.exercises)
