"""Cases that are not shown: right answers pass them, and whoever knows the shown ones does not."""

from functools import wraps
from pathlib import Path
from re import sub

import pytest
from answers import RIGHT

from harness_zero.grading.checks import findings, passed
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.record.hidden import HIDDEN, NONE, expected, outcome, unlike
from harness_zero.grading.record.hidden.drawing import drawn
from harness_zero.grading.record.hidden.ours import ours
from harness_zero.run import Run

SECRET = b"a secret of sixteen bytes and more"


PASSED_IN_SILENCE = {  # trials of what an answer must not do
    ("repetition", 0),  # stop work
    ("repetition", 3),  # stop who waits
    ("repetition", 4),  # lose a goal
}


def by_heart(name):
    """An answer that does what ours does where it was asked that in a visible check, else nothing.

    First it hears the checks; then `heard[0]` is False, and it knows what they ask.
    """
    known, heard = set(), [True]

    def knowing(function, path=()):
        @wraps(function)
        def call(*args, **named):
            asked = (*path, plain([args, named]))
            if heard[0]:
                known.add(asked)
            elif asked not in known:
                return None
            return given_back(function(*args, **named), asked)

        return call

    def given_back(value, asked):
        if isinstance(value, tuple) and value and all(map(callable, value)):
            return tuple(knowing(each, (*asked, at)) for at, each in enumerate(value))
        return knowing(value, asked) if callable(value) else value

    return knowing(ours(name)), heard


def plain(value):
    """What is asked, in a text: of functions only that they are there."""
    if isinstance(value, Run):
        return repr([value.messages, value.replies, value.spoken])
    if isinstance(value, Path):
        return sub(r"\d+\.\d+", "#", value.read_text("utf-8", "replace") if value.exists() else "")
    if isinstance(value, list | tuple):
        return repr([plain(each) for each in value])
    if isinstance(value, dict):
        return repr([[key, plain(each)] for key, each in value.items()])
    return "f" if callable(value) else repr(value)


@pytest.mark.parametrize("name", HIDDEN)
def test_whoever_knows_the_shown_promises_by_heart_passes_them_and_no_hidden_case(name):
    answer, heard = by_heart(name)
    exercise = EXERCISES[name]
    assert passed(exercise, findings(exercise, answer))
    heard[0] = False
    found = findings(exercise, answer)
    assert passed(exercise, found), found[-1]
    for at, trial in enumerate(HIDDEN[name]):
        if (name, at) in PASSED_IN_SILENCE:
            continue
        got = [outcome(trial, drawn(SECRET, f"{name} {at}", n), answer) for n in range(trial.times)]
        assert got != [expected(name, at, n, SECRET) for n in range(trial.times)], trial
    assert "a case that is not shown" in unlike(name, answer, SECRET)
