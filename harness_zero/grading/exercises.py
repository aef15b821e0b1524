"""All labs of the course and their exercises, by name."""

from harness_zero.grading import (
    lab00,
    lab01,
    lab02,
    lab03,
    lab04,
    lab05,
    lab06,
    lab07,
    lab08,
    lab09,
    lab10,
    lab11,
)
from harness_zero.grading.exercise import Exercise, Lab

MODULES = (lab00, lab01, lab02, lab03, lab04, lab05, lab06, lab07, lab08, lab09, lab10, lab11)
LABS: dict[str, Lab] = {module.LAB.name: module.LAB for module in MODULES}

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise for lab in LABS.values() for exercise in lab.exercises
}
