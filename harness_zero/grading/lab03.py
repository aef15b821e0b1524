"""Lab 03, errors as data: its exercises, and the run that is to be diagnosed.

What an answer promises stands beside this, a module an exercise.
"""

from collections.abc import Callable
from difflib import get_close_matches

from harness_zero.brief import excerpt as our_excerpt
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    results_stand_in_the_order_of_their_calls,
    the_last_word_is_an_answer,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab00 import (
    Answer,
    a_result_that_worked_is_no_error,
    it_is_a_result_and_no_more,
    the_call_and_the_tools_stay_as_they_are,
    the_result_carries_the_id_of_the_call,
    the_tool_runs_once_with_the_arguments_it_was_asked_with,
    what_it_holds_is_text,
)
from harness_zero.grading.lab03_answer import (
    LONGEST,
    a_call_that_fails_is_made_once,
    a_call_with_wrong_arguments_is_not_made,
    a_long_output_is_cut_and_says_so,
    a_type_error_from_inside_a_tool_is_no_wrong_argument,
    an_exception_is_told_by_its_kind_and_its_words,
    an_output_that_speaks_of_errors_is_no_error,
    an_unknown_tool_is_an_error_that_names_it_and_the_tools_there_are,
    no_tool_is_called_to_see_whether_its_arguments_fit,
    what_stops_the_harness_passes_through,
    whatever_a_tool_gives_back_becomes_a_text,
    wrong_arguments_are_told_by_name_in_words_of_our_own,
)
from harness_zero.grading.lab03_excerpt import (
    Excerpt,
    a_long_output_keeps_its_beginning_and_its_end,
    a_short_output_stays_as_it_is,
    it_says_how_many_characters_are_missing,
    of_the_output_no_more_is_kept_than_the_limit,
    what_it_says_stands_on_a_line_of_its_own,
)
from harness_zero.grading.lab03_read_file import (
    a_file_that_is_there_is_read,
    a_missing_file_is_an_error_that_names_it,
    a_model_finds_the_file_by_these_words,
    it_names_the_files_that_there_are,
    of_many_files_it_names_twenty_and_says_how_many_there_are,
)
from harness_zero.grading.lab03_report import (
    it_is_a_report_and_no_more,
    it_is_marked_as_an_error,
    it_is_the_result_of_this_call,
    it_names_no_file_and_no_line_of_the_harness,
    it_says_what_kind_of_error_it_was,
    it_says_what_the_error_says,
)
from harness_zero.messages import Block, Message, reply, tool_results, tool_use, tool_uses
from harness_zero.models.scripted import scripted
from harness_zero.stages import s3_error_as_data
from harness_zero.toolbox import failed, input_fault, toolbox
from harness_zero.watch import Recording, record

PRICES = {
    "prices_2024.txt": "tea 3.90",
    "prices_2025.txt": "tea 4.10",
    "prices_spring_2026.txt": "tea 4.60",
}


def read_prices(path: str) -> str:
    """Read a file of prices."""
    if path not in PRICES:
        raise FileNotFoundError(f"there is no {path}")
    return PRICES[path]


SHOP: dict[str, Callable] = {"list_files": lambda: "\n".join(PRICES), "read_file": read_prices}


def obliging(model: Callable, tools: dict, prompt: str) -> list[Message]:
    """A loop whose harness reads the file next to it, if the name is only a digit off."""

    def read_file(path: str) -> str:
        near = get_close_matches(path, PRICES, 1, cutoff=0.9)
        return tools["read_file"](path=near[0] if near else path)

    return s3_error_as_data.run(model, {**tools, "read_file": read_file}, prompt)


def dear_tea() -> Recording:
    """A run in which a harness reads another year than the one it was asked for."""
    script = scripted(
        reply(tool_use("c1", "read_file", path="tea.txt")),
        reply("I look which files there are.", tool_use("c2", "list_files")),
        reply(
            tool_use("c3", "read_file", path="prices_2025.txt"),
            tool_use("c4", "read_file", path="prices_2026.txt"),
        ),
        reply("Tea costs 4.10 in both years. It did not get dearer."),
    )
    return record(obliging, script, SHOP, "Did tea get dearer from 2025 to 2026?")


def a_call_that_fails_is_answered_with_an_error(run: Recording) -> int | None:
    """Make the calls once more, and look at the results of those that fail."""
    calls = {call["id"]: call for message in run.messages for call in tool_uses(message)}
    failing = {id for id, call in calls.items() if toolbox(SHOP)(call).get("is_error")}
    for at, message in enumerate(run.messages):
        told = [r for r in tool_results(message) if r["tool_use_id"] in failing]
        if not all(result.get("is_error") for result in told):
            return at
    return None


DEAR_TEA = Case(
    dear_tea,
    {
        "a": every_call_is_answered_in_the_next_message,
        "b": a_call_that_fails_is_answered_with_an_error,
        "c": results_stand_in_the_order_of_their_calls,
        "d": the_last_word_is_an_answer,
    },
)


def answer_with(excerpt: Excerpt) -> Answer:
    """Our own way to answer a call, with the learner's cut; it looks before it calls."""

    def answer(call: Block, tools: dict[str, Callable]) -> Block:
        function = tools.get(call["name"])
        fault = function and input_fault(function, call["input"])
        result = failed(call, fault) if fault else toolbox(tools)(call)
        return {**result, "content": excerpt(result["content"], LONGEST)}

    return answer


REPORT = Exercise(
    name="report",
    title="Report a failure",
    minutes=5,
    difficulty="easy",
    lines=1,
    points=2,
    objectives=(1, 3),
    takes="report(call, error)",
    promises=(
        it_is_the_result_of_this_call,
        it_is_marked_as_an_error,
        it_says_what_kind_of_error_it_was,
        it_says_what_the_error_says,
        it_names_no_file_and_no_line_of_the_harness,
        it_is_a_report_and_no_more,
    ),
)

EXCERPT = Exercise(
    name="excerpt",
    title="Cut, and say what was cut",
    minutes=10,
    difficulty="medium",
    lines=4,
    points=3,
    objectives=(3,),
    takes="excerpt(output, limit)",
    promises=(
        a_short_output_stays_as_it_is,
        it_says_how_many_characters_are_missing,
        a_long_output_keeps_its_beginning_and_its_end,
        of_the_output_no_more_is_kept_than_the_limit,
        what_it_says_stands_on_a_line_of_its_own,
    ),
    piece=Piece("excerpt", borrowed=lambda: our_excerpt),
)

ANSWER_OR_REPORT = Exercise(
    name="answer_or_report",
    title="Answer, whatever happens",
    minutes=20,
    difficulty="hard",
    lines=10,
    points=5,
    objectives=(1, 3),
    takes="answer_or_report(call, tools)",
    promises=(
        whatever_a_tool_gives_back_becomes_a_text,
        the_tool_runs_once_with_the_arguments_it_was_asked_with,
        the_result_carries_the_id_of_the_call,
        what_it_holds_is_text,
        a_result_that_worked_is_no_error,
        an_output_that_speaks_of_errors_is_no_error,
        it_is_a_result_and_no_more,
        the_call_and_the_tools_stay_as_they_are,
        an_exception_is_told_by_its_kind_and_its_words,
        an_unknown_tool_is_an_error_that_names_it_and_the_tools_there_are,
        a_call_with_wrong_arguments_is_not_made,
        wrong_arguments_are_told_by_name_in_words_of_our_own,
        no_tool_is_called_to_see_whether_its_arguments_fit,
        a_type_error_from_inside_a_tool_is_no_wrong_argument,
        a_call_that_fails_is_made_once,
        what_stops_the_harness_passes_through,
        a_long_output_is_cut_and_says_so,
    ),
    piece=Piece("answer", needs=("excerpt",), borrowed=answer_with),
)

READ_FILE = Exercise(
    name="read_file",
    title="A failure one can act on",
    minutes=10,
    difficulty="medium",
    lines=5,
    points=3,
    objectives=(3,),
    takes="read_file(files, path)",
    promises=(
        a_file_that_is_there_is_read,
        a_missing_file_is_an_error_that_names_it,
        it_names_the_files_that_there_are,
        of_many_files_it_names_twenty_and_says_how_many_there_are,
        a_model_finds_the_file_by_these_words,
    ),
)

CHEAP_TEA = Exercise(
    name="cheap_tea",
    title="The tea that did not get dearer",
    minutes=5,
    difficulty="medium",
    lines=1,
    points=2,
    objectives=(1,),
    takes="cheap_tea()",
    promises=DEAR_TEA.promises(),
    case=DEAR_TEA,
)

LAB = Lab(
    "03_errors_as_data",
    "Errors are data",
    (REPORT, EXCERPT, ANSWER_OR_REPORT, READ_FILE, CHEAP_TEA),
)
