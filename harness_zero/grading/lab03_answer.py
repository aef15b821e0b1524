"""Whatever the model asks for, one result: what lab 03 promises of `answer_or_report`."""

import re
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import wraps
from typing import Any

from harness_zero.brief import brief
from harness_zero.desk import Broken, as_text
from harness_zero.faults import SetupFault, place
from harness_zero.grading.lab00 import Answer, answered, shown
from harness_zero.grading.lab03_excerpt import digits, ends, output_of
from harness_zero.grading.lab03_report import errors, named_place
from harness_zero.messages import Block, tool_use

LONGEST = 20_000  # characters of an output in the learner's own harness
EARLIER = {"report": "exercise 1", "excerpt": "exercise 2"}


def beside(name: str, function: Callable) -> dict[str, Callable]:
    """A tool beside two others, each of which must not be called for it."""
    return {"add": lambda x, y: x + y, name: function, "notes": lambda: "all notes"}


def run_first(error: NameError) -> Exception:
    """What to do where a function of an earlier exercise is not there."""
    if error.name not in EARLIER:
        return error
    why = f"run the cell of {EARLIER[error.name]} first"
    return Broken(f"{error.name} to be there", f"{type(error).__name__}: {error}", why)


OUTPUTS: tuple[Any, ...] = ("noted", None, 5, {"total": 42})


def whatever_a_tool_gives_back_becomes_a_text(answer: Answer) -> None:
    """Words, nothing, a number, a dict."""
    for output in OUTPUTS:
        if fault := fault_of(answer, output):
            why = f"the tool gave back {output!r}; a result is text, and str() makes one of it"
            raise Broken(f"a result for a tool that gave back {output!r}", fault, why)


def fault_of(answer: Answer, output: Any) -> str:
    """What goes wrong with this output and not with words; else nothing."""
    try:
        got = answered(answer, tool_use("a", "tell"), beside("tell", giving(output)))
    except NameError as error:
        raise run_first(error) from None
    except (TypeError, AttributeError) as error:
        if isinstance(output, str):
            raise
        return f"{type(error).__name__}: {error}{place(error)}"
    failed = got.get("is_error") and not isinstance(output, str)
    return str(as_text(got)) if failed and "Error" in str(as_text(got)) else ""


def giving(output: Any) -> Callable[[], Any]:
    """A tool that gives this back."""
    return lambda: deepcopy(output)


REMARKS = ("exit code 1\n1 failed", "Error: 0 found", "Traceback (most recent call last): 2 logged")


def an_output_that_speaks_of_errors_is_no_error(answer: Answer) -> None:
    """The command ran, and said how that went."""
    for output in REMARKS:
        call = tool_use("a", "tell")
        got = answered(answer, dict(call), beside("tell", giving(output)))
        if got.get("is_error"):
            why = (
                "the command ran and said how that went; an error is a call that could not be made"
            )
            expected = f"a result without is_error for a tool that gave back {output!r}"
            raise Broken(expected, brief(got, 160), why, shown(call, got))


def error_in(answer: Answer, call: Block, tools: dict[str, Callable], what: str) -> str:
    """The words of a call that has to fail."""
    lent = dict(call)
    try:
        got = answered(answer, lent, tools)
    except (Broken, NotImplementedError):
        raise
    except NameError as error:
        raise run_first(error) from None
    except Exception as error:
        raise Broken(
            f"a result for {what}",
            f"{type(error).__name__}: {error}",
            "it leaves the loop, and the whole run goes with it",
        ) from None
    if got.get("is_error") is not True:
        why = "the model has to see that it did not get what it asked for"
        raise Broken(f"a result with is_error for {what}", brief(got, 160), why, shown(call, got))
    return str(as_text(got))


def an_unknown_tool_is_an_error_that_names_it_and_the_tools_there_are(answer: Answer) -> None:
    """And a tool of a similar name stays where it is."""
    seen: list[str] = []
    tools = beside("note", lambda: seen.append("note"))
    call = tool_use("a", "note_down")
    with suppress(Exception):
        answer(dict(call), tools)
    if seen:
        why = "what is like it is something else; the model would believe that it did what it asked"
        raise Broken("no tool called", "note called for note_down", why)
    words = error_in(answer, call, tools, "a tool that is not there")
    if missing := [name for name in ("note_down", *tools) if name not in words]:
        why = "with the name it asked for and those that there are, the next call can be right"
        raise Broken(f"words that name {listed(missing)}", brief(words, 200), why)


def listed(names: list[str]) -> str:
    """Names in a sentence."""
    return " and ".join(map(repr, names))


def write(to: str, body: str) -> str:
    """A tool with two arguments."""
    return f"wrote to {to}"


PYTHONS = re.compile(r"positional|unexpected keyword|argument after \*\*|must be a mapping")
WRONG_INPUTS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    ({"to": "ann"}, ("body",)),
    ({"to": "ann", "body": "hi", "colour": "red"}, ("colour", "body")),
    ({"recipient": "ann", "body": "hi"}, ("to",)),
    ({}, ("to", "body")),
    (["ann", "hi"], ("ann",)),
    ('{"to": "ann", "bod', ("bod",)),
)


def wrong_arguments_are_told_by_name_in_words_of_our_own(answer: Answer) -> None:
    """What is missing, or unknown, or no object at all; Python's words change with its version."""
    for input, names in WRONG_INPUTS:
        call = {**tool_use("a", "write"), "input": deepcopy(input)}
        words = error_in(answer, call, beside("write", write), f"the input {input!r}")
        if PYTHONS.search(words):
            why = "a model gives names, not positions; and each Python version words it its own way"
            raise Broken("words of our own (see input_fault)", brief(words, 200), why)
        if absent := [name for name in names if name not in words]:
            why = "a name that is told can be mended"
            raise Broken(f"words that name {listed([*absent])}", brief(words, 200), why)


def a_call_with_wrong_arguments_is_not_made(answer: Answer) -> None:
    """Neither as it is nor with something left out or filled in."""
    for input, _ in WRONG_INPUTS:
        if seen := calls_made(answer, plain, input):
            why = "a mended call is one that nobody asked for, and the model takes it for its own"
            raise Broken(f"no call for {input!r}", f"write called with {brief(seen[0])}", why)


def no_tool_is_called_to_see_whether_its_arguments_fit(answer: Answer) -> None:
    """Some tools take whatever comes and have begun before they complain."""
    for input, _ in WRONG_INPUTS:
        if seen := calls_made(answer, wrapped, input):
            why = "this write stands behind a tool that logs its calls, and has begun; look before"
            raise Broken(f"no call for {input!r}", f"write called with {brief(seen[0])}", why)


def calls_made(answer: Answer, kind: Callable[[list[Any]], Callable], input: Any) -> list[Any]:
    """What a tool of this kind was called with, though the input does not fit."""
    seen: list[Any] = []
    with suppress(Exception):
        answer({**tool_use("a", "write"), "input": deepcopy(input)}, beside("write", kind(seen)))
    return seen


def plain(seen: list[Any]) -> Callable[..., None]:
    """A tool that leaves a trace."""

    def write(to: str, body: str) -> None:
        seen.append((to, body))

    return write


def wrapped(seen: list[Any]) -> Callable[..., None]:
    """The same tool behind one that takes whatever comes, and leaves a trace of that."""
    inner = plain([])

    @wraps(inner)
    def logged(*args: Any, **named: Any) -> None:
        seen.append(named or args)
        inner(*args, **named)

    return logged


def an_exception_is_told_by_its_kind_and_its_words(answer: Answer) -> None:
    """Whatever kind it is."""
    for error in errors():
        words = error_in(answer, tool_use("a", "fail"), beside("fail", raising(error)), "an error")
        if type(error).__name__ not in words or str(error) not in words:
            expected = f"{type(error).__name__} and {brief(str(error), 60)}"
            why = "the model mends what it can read; this is what your report does"
            raise Broken(expected, brief(words, 200), why)
        if where := named_place(words, error):
            why = "that is a place in the harness, and the model cannot mend it"
            raise Broken("the kind and the words alone", f"also {where}, as in a traceback", why)


def raising(error: BaseException) -> Callable[[], Any]:
    """A tool that fails like that."""

    def fail() -> Any:
        raise error

    return fail


def a_type_error_from_inside_a_tool_is_no_wrong_argument(answer: Answer) -> None:
    """Its words are the tool's own."""

    def weigh(grams: Any) -> str:
        raise TypeError("grams are a number, and this is a word")

    call = tool_use("a", "weigh", grams="many")
    words = error_in(answer, call, beside("weigh", weigh), "a TypeError in a tool")
    if "grams are a number, and this is a word" not in words or "TypeError" not in words:
        why = "the arguments fit, so the tool was called; what it says itself is the truth"
        raise Broken("TypeError, and the tool's own words", brief(words, 200), why)


def a_call_that_fails_is_made_once(answer: Answer) -> None:
    """Nobody tries again behind the model's back."""
    tries: list[int] = []

    def send() -> None:
        tries.append(1)
        raise ConnectionError("connection lost")

    answered(answer, tool_use("a", "send"), beside("send", send))
    if len(tries) != 1:
        why = "it may have worked before the connection was lost; then this is the second mail"
        raise Broken("one try", f"{len(tries)} tries", why)


class Stop(SetupFault):
    """What a harness raises to end itself."""


def what_stops_the_harness_passes_through(answer: Answer) -> None:
    """Ctrl+C, exit() and a stop of the harness's own are nobody's data."""
    for kind in (KeyboardInterrupt, SystemExit, Stop):
        try:
            got = answer(tool_use("a", "stop"), beside("stop", raising(kind("stop it"))))
        except kind:
            continue
        why = "the model would read it, and ask for the next tool"
        raise Broken(f"{kind.__name__} to come through", f"a result: {brief(got, 120)}", why)


def a_long_output_is_cut_and_says_so(answer: Answer) -> None:
    """By your excerpt, at 20,000 characters."""
    output = output_of(3 * LONGEST)
    call = tool_use("a", "tell")
    got = answered(answer, call, beside("tell", lambda: output))
    text = str(as_text(got))
    front, back = ends(output, text)
    told = str(len(output) - front - back) in digits(text[front : len(text) - back])
    if (front, back) != (LONGEST // 2,) * 2 or not told:
        why = "one output must not fill what the model can read; see your excerpt"
        expected = f"{LONGEST:,} of {len(output):,} characters and a line that says what is missing"
        line = "the" if told else "no"
        kept = f"{front:,} of the beginning, {back:,} of the end, and {line} line"
        raise Broken(expected, f"{len(text):,} characters: {kept}", why)
