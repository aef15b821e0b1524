"""For every exercise: right answers of several shapes, and the misconceptions that are known."""

from answers import (
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

LABS = (lab00, lab01, lab02, lab03, lab04, lab05, lab06, lab07, lab08, lab09, lab10, lab11)
RIGHT = {name: answers for lab in LABS for name, answers in lab.RIGHT.items()}
WRONG = {name: answers for lab in LABS for name, answers in lab.WRONG.items()}
