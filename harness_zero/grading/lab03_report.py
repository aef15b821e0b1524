"""One failure told to the model: what lab 03 promises of `report`."""

import re
from collections.abc import Callable
from copy import deepcopy

from harness_zero.brief import brief
from harness_zero.desk import Broken, as_text
from harness_zero.faults import place
from harness_zero.grading.lab00 import answered, shown
from harness_zero.messages import Block, Message, tool_use

Report = Callable[[Block, Exception], Block]


class OutOfPaper(Exception):
    """An error whose kind is not one of Python's own."""


LOOKED_FOR = tool_use("toolu_7", "look", where="the shed")
LONG = "line one of the log\nline two of the log\n" * 40 + "it's the last line"


def errors() -> list[Exception]:
    """Errors of many kinds: with words, with many lines of them, with a key alone, with none."""
    return [
        FileNotFoundError("there is no 'shed.txt'"),
        OutOfPaper("12 sheets are missing"),
        ValueError(LONG),
        KeyError("shed"),
        TimeoutError(),
    ]


def described(error: Exception) -> str:
    """An error in a sentence about it."""
    return brief(error, 60) + ("" if str(error) else ", which has no words")


def reported(report: Report, error: Exception) -> tuple[Block, list[Message]]:
    """What the learner's function makes of an error that was really raised and caught."""
    try:
        raise error
    except Exception as caught:
        got = result_of(report, caught)
    return got, shown(LOOKED_FOR, got)


def result_of(report: Report, error: Exception) -> Block:
    """What the learner's function makes of an error, once it is a result block at all."""
    try:
        return answered(report, deepcopy(LOOKED_FOR), error)  # type: ignore[arg-type]
    except (Broken, NotImplementedError, NameError):
        raise
    except Exception as slip:
        why = "an error comes with words, with a key or with nothing; str(error) works for each"
        got = f"{type(slip).__name__}: {slip}{place(slip)}"
        raise Broken(f"a result for {described(error)}", got, why) from None


def it_is_the_result_of_this_call(report: Report) -> None:
    """The id of the call, as of any result."""
    for error in errors():
        got, case = reported(report, error)
        if got.get("tool_use_id") != "toolu_7":
            why = "an error answers one call, and the id says which"
            raise Broken("tool_use_id 'toolu_7'", brief(got.get("tool_use_id")), why, case)


def it_is_marked_as_an_error(report: Report) -> None:
    """is_error is True."""
    for error in errors():
        got, case = reported(report, error)
        if got.get("is_error") is not True:
            why = "without the mark it is an output, and the model may take its words for data"
            raise Broken("is_error True", f"is_error {brief(got.get('is_error'))}", why, case)


def it_says_what_kind_of_error_it_was(report: Report) -> None:
    """Some errors have no words but their kind."""
    for error in errors():
        got, case = reported(report, error)
        if type(error).__name__ not in str(as_text(got)):
            why = "a KeyError's words are its key alone, and a TimeoutError has none"
            raise Broken(
                f"a text that names {type(error).__name__}", brief(as_text(got), 120), why, case
            )


def it_says_what_the_error_says(report: Report) -> None:
    """All its words, as they are, on as many lines."""
    for error in errors():
        got, case = reported(report, error)
        text = str(as_text(got))
        if str(error) not in text:
            why = "enough for a person to act on: the model gets the same courtesy"
            if str(error) in text.replace("\\n", "\n"):
                why = "your line breaks are written as backslash n, as repr does; str leaves them"
            expected = f"the error's own words, {brief(str(error), 60)}"
            raise Broken(f"{expected}, as they are", brief(as_text(got), 120), why, case)


def it_names_no_file_and_no_line_of_the_harness(report: Report) -> None:
    """The last line of a traceback, and not those above it."""
    for error in errors():
        got, case = reported(report, error)
        if where := named_place(str(as_text(got)), error):
            why = "that is a place in the harness: the model cannot mend it, and reads it each time"
            besides = f"also {where}, as in a traceback"
            raise Broken("the kind and the words alone", besides, why, case)


def named_place(text: str, error: Exception) -> str:
    """A file or a line that a text names beside the error's own words; else nothing."""
    said = text.replace(str(error), "") if str(error) else text
    if where := re.search(r"(?<!\w)(\w+\.py|line \d+)(?!\w)", said):
        return where[1]
    return "a traceback" if "Traceback (most recent call" in said else ""


def it_is_a_report_and_no_more(report: Report) -> None:
    """No key that the API does not know."""
    got, case = reported(report, errors()[0])
    if more := sorted(map(str, {*got} - {"type", "tool_use_id", "content", "is_error"})):
        expected = "a block with a type, a tool_use_id, a content and is_error"
        why = "the API refuses a result with anything else in it"
        raise Broken(expected, f"one with {', '.join(more)} besides", why, case)
