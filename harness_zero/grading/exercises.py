"""All exercises of the course, by name."""

from harness_zero.grading import lab00, lab01
from harness_zero.grading.checks import Exercise

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise for lab in (lab00, lab01) for exercise in lab.EXERCISES
}
