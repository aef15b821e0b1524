"""Answers to lab 03: right ones of several shapes, and what people get wrong."""

import errno
import sys
from difflib import get_close_matches
from inspect import signature
from traceback import format_exc, format_exception_only

from harness_zero.brief import excerpt
from harness_zero.messages import tool_result
from harness_zero.toolbox import failed, input_fault, told

LIMIT = 20_000


def report(call, error):
    return tool_result(call["id"], f"{type(error).__name__}: {error}", is_error=True)


def report_by_hand(call, error):
    return {
        "type": "tool_result",
        "tool_use_id": call["id"],
        "content": [{"type": "text", "text": f"{error.__class__.__name__}\n{error}"}],
        "is_error": True,
    }


def report_with_the_tools_name(call, error):
    words = call["name"] + " failed with " + type(error).__qualname__ + ": " + str(error)
    return tool_result(call["id"], words, True)


def report_of_what_is_handled(call, error):
    kind, words, _ = sys.exc_info()
    return tool_result(call["id"], f"{kind.__name__}: {words}", is_error=True)


def report_by_the_library(call, error):
    return failed(call, told(error))


def report_by_the_last_lines_of_a_traceback(call, error):
    return tool_result(call["id"], "".join(format_exception_only(error)), is_error=True)


def excerpt_by_slices(output, limit):
    if len(output) <= limit:
        return output
    half = limit // 2
    missing = len(output) - 2 * half
    return f"{output[:half]}\n[{missing} characters are left out]\n{output[-half:]}"


def excerpt_with_early_sums(output, limit):
    missing = len(output) - limit
    if missing > 0:
        front = limit // 2
        gap = f"\n\n... {missing:_} of {len(output):_} characters cut ...\n\n"
        output = output[:front] + gap + output[front + missing :]
    return output


def excerpt_more_behind(output, limit):
    front = limit // 2
    back = limit - front
    head, tail = output[:front], output[len(output) - back :]
    cut = len(output) - len(head) - len(tail)
    return output if cut <= 0 else "\n".join([head, f"(cut: {cut:,})", tail])


def answer_in_full(call, tools):
    if call["name"] not in tools:
        return failed(call, f"no tool named {call['name']!r}; there are {', '.join(tools)}")
    function = tools[call["name"]]
    if fault := input_fault(function, call["input"]):
        return failed(call, fault)
    try:
        output = function(**call["input"])
    except Exception as error:
        return report(call, error)
    return tool_result(call["id"], excerpt(str(output), LIMIT))


def answer_in_one_try(call, tools):
    try:
        if call["name"] not in tools:
            raise LookupError(f"there is no {call['name']}, but: {' '.join(tools)}")
        if fault := input_fault(tools[call["name"]], call["input"]):
            raise TypeError(fault)
        output = str(tools[call["name"]](**call["input"]))
    except Exception as error:
        return report(call, error)
    else:
        return tool_result(call["id"], excerpt_by_slices(output, LIMIT))


def answer_by_hand(call, tools):
    function, given = tools.get(call["name"]), call["input"]
    error = True
    if function is None:
        said = f"{call['name']}: no such tool. Tools: {sorted(tools)}"
    elif not isinstance(given, dict):
        said = f"the input has to be an object, and is {given!r}"
    elif {*given} != {*signature(function).parameters}:
        said = f"wants {[*signature(function).parameters]}, was given {[*given]}"
    else:
        try:
            said, error = excerpt(str(function(**given)), LIMIT), False
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception as fault:
            said = f"{type(fault).__name__}: {fault}"
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": said}
    return {**result, "is_error": True} if error else result


def read_or_list(files, path):
    if path not in files:
        names = [*files]
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        raise FileNotFoundError(f"there is no {path}; there is {', '.join(names[:20])}{more}")
    return files[path]


def read_or_say_near_ones(files, path):
    try:
        return files[path]
    except KeyError:
        near = get_close_matches(path, files, 20, 0)
        told = f"no {path!r} among {len(files)} files, the nearest: {near}"
        raise FileNotFoundError(told) from None


def read_or_count(files, path):
    if path in files:
        return files[path]
    lines = [f"{path} is not there. Files: {len(files)}", *sorted(files)[:20]]
    raise FileNotFoundError("\n- ".join(lines))


def read_or_number_the_list(files, path):
    if path in files:
        return files[path]
    listed = "; ".join(f"{n}. {name}" for n, name in enumerate([*files][:20], 1))
    more = f"; {len(files) - 20} more are not listed" if len(files) > 20 else ""
    raise FileNotFoundError(f"{path} not found; {listed}{more}")


def read_or_say_how_many_are_listed(files, path):
    if path in files:
        return files[path]
    listed = ", ".join(f"{name} ({len(files[name])} bytes)" for name in [*files][:20])
    in_all = f"; {len(files)} files in all" if len(files) > 20 else ""
    raise FileNotFoundError(f"no {path}. Files (at most 20 listed): {listed}{in_all}")


def read_or_raise_as_the_system_does(files, path):
    if path not in files:
        names = ", ".join([*files][:20])
        among = f"{names} (20 of {len(files)})" if len(files) > 20 else names
        raise FileNotFoundError(errno.ENOENT, f"No such file; there are {among}", path)
    return files[path]


def by_letter():
    return "b", 6


def by_variables():
    letter = "b"
    message = 6
    return letter, message


def by_capital_in_a_list():
    return ["B", 6]


RIGHT = {
    "report": [
        report,
        report_by_hand,
        report_with_the_tools_name,
        report_of_what_is_handled,
        report_by_the_library,
        report_by_the_last_lines_of_a_traceback,
    ],
    "excerpt": [excerpt, excerpt_by_slices, excerpt_with_early_sums, excerpt_more_behind],
    "answer_or_report": [answer_in_full, answer_in_one_try, answer_by_hand],
    "read_file": [
        read_or_list,
        read_or_say_near_ones,
        read_or_count,
        read_or_number_the_list,
        read_or_say_how_many_are_listed,
        read_or_raise_as_the_system_does,
    ],
    "cheap_tea": [by_letter, by_variables, by_capital_in_a_list],
}


def excerpt_that(keeps):
    """A cut which keeps these two parts of a long output, and says so rightly."""

    def cut(output, limit):
        if len(output) <= limit:
            return output
        front, back = keeps(output, limit)
        missing = len(output) - len(front) - len(back)
        return f"{front}\n[{missing} characters cut]\n{back}"

    return cut


def answering(wrong=report, unknown=None, guard=input_fault, cut=excerpt, errors=Exception):
    """The right answer with one part exchanged."""

    def answer(call, tools):
        if call["name"] not in tools:
            words = f"no tool named {call['name']!r}; there are {', '.join(tools)}"
            return unknown(call, tools) if unknown else failed(call, words)
        function = tools[call["name"]]
        if fault := guard(function, call["input"]):
            return failed(call, fault)
        try:
            output = function(**call["input"])
        except errors as error:
            return wrong(call, error)
        return tool_result(call["id"], cut(str(output), LIMIT))

    return answer


def nearest_tool(call, tools):
    (near,) = get_close_matches(call["name"], tools, 1)
    return tool_result(call["id"], str(tools[near](**call["input"])))


def only_what_it_takes(call, tools):
    """Drops what a tool does not take and fills in what is missing."""
    if call["name"] not in tools or not isinstance(call["input"], dict):
        return answer_in_full(call, tools)
    takes = signature(tools[call["name"]]).parameters
    input = {name: call["input"].get(name, "") for name in takes}
    result = answer_in_full({**call, "input": input}, tools)
    fault = input_fault(tools[call["name"]], call["input"])
    return {**result, "content": str(fault), "is_error": True} if fault else result


def tries_three_times(call, tools):
    for _ in range(3):
        if not (result := answer_in_full(call, tools)).get("is_error"):
            break
    return result


def type_errors_are_wrong_arguments(call, error):
    if isinstance(error, TypeError):
        return failed(call, "TypeError: wrong arguments")
    return report(call, error)


def mended(call, tools):
    """Leaves out what is not known, and says nothing."""
    if call["name"] in tools and isinstance(call["input"], dict):
        takes = signature(tools[call["name"]]).parameters
        call = {**call, "input": {k: v for k, v in call["input"].items() if k in takes}}
    return answer_in_full(call, tools)


def crashing(call, tools):
    return tool_result(call["id"], excerpt(str(tools[call["name"]](**call["input"])), LIMIT))


def no_guard(function, input):
    return None


def unguarded_for_lists(function, input):
    return input_fault(function, input) if isinstance(input, dict) else None


def not_there(names=lambda files: ", ".join(files), kind=FileNotFoundError, asked="{path}: "):
    """A reader whose failure says these names."""

    def read(files, path):
        if path in files:
            return files[path]
        raise kind(f"{asked.format(path=path)}{names(files)}")

    return read


def by_its_words(call, tools):
    """Takes an output that speaks of an error for one."""
    result = answer_in_full(call, tools)
    failing = any(word in str(result["content"]) for word in ("exit code 1", "rror"))
    return {**result, "is_error": True} if failing else result


def called_first(call, tools):
    """Asks what was wrong with the arguments once Python has complained."""
    if call["name"] not in tools:
        return answer_in_full(call, tools)
    function, output = tools[call["name"]], ""
    try:
        output = function(**call["input"])
    except TypeError as error:
        fault = input_fault(function, call["input"])
        return failed(call, fault) if fault else report(call, error)
    except Exception as error:
        return report(call, error)
    return tool_result(call["id"], excerpt(str(output), LIMIT))


def without_str(call, tools):
    if call["name"] not in tools or input_fault(tools[call["name"]], call["input"]):
        return answer_in_full(call, tools)
    try:
        output = tools[call["name"]](**call["input"])
    except Exception as error:
        return report(call, error)
    return tool_result(call["id"], excerpt(output, LIMIT))


def without_str_in_one_try(call, tools):
    try:
        if call["name"] not in tools:
            raise LookupError(f"there is no {call['name']}, but: {' '.join(tools)}")
        if fault := input_fault(tools[call["name"]], call["input"]):
            raise TypeError(fault)
        return tool_result(call["id"], excerpt(tools[call["name"]](**call["input"]), LIMIT))
    except Exception as error:
        return report(call, error)


def after_a_restart(*, gone):
    """An answer in a notebook in which an earlier cell was not run."""
    space = {"report": report, "excerpt": excerpt, "tool_result": tool_result}
    space["input_fault"] = input_fault
    del space[gone]
    exec(
        """def answer_or_report(call, tools):
    try:
        if call["name"] not in tools:
            raise LookupError(f"no tool {call['name']!r}; there are {', '.join(tools)}")
        if fault := input_fault(tools[call["name"]], call["input"]):
            raise TypeError(fault)
        output = tools[call["name"]](**call["input"])
    except Exception as error:
        return report(call, error)
    return tool_result(call["id"], excerpt(str(output), 20_000))
""",
        space,
    )
    return space["answer_or_report"]


WRONG = {
    "report": {
        "the whole traceback": (
            lambda call, error: tool_result(call["id"], format_exc(), is_error=True),
            "got:      also lab03_report.py, as in a traceback",
        ),
        "the line of the harness": (
            lambda call, error: tool_result(
                call["id"],
                f"{type(error).__name__}: {error}, line {error.__traceback__.tb_lineno}",
                is_error=True,
            ),
            "the kind and the words alone",
        ),
        "its first argument": (
            lambda call, error: tool_result(
                call["id"], f"{type(error).__name__}: {error.args[0]}", is_error=True
            ),
            "a result for TimeoutError(), which has no words",
        ),
        "no mark": (
            lambda call, error: tool_result(call["id"], f"{type(error).__name__}: {error}"),
            "may take its words for data",
        ),
        "marked with a word": (
            lambda call, error: {**report(call, error), "is_error": "yes"},
            "got:      is_error 'yes'",
        ),
        "the name as the id": (
            lambda call, error: {**report(call, error), "tool_use_id": call["name"]},
            "tool_use_id 'toolu_7'",
        ),
        "the words alone": (
            lambda call, error: tool_result(call["id"], str(error), is_error=True),
            "a text that names FileNotFoundError",
        ),
        "the kind alone": (
            lambda call, error: tool_result(call["id"], type(error).__name__, is_error=True),
            "enough for a person to act on",
        ),
        "vague": (
            lambda call, error: tool_result(call["id"], "command failed", is_error=True),
            "got:      'command failed'",
        ),
        "by repr": (
            lambda call, error: tool_result(call["id"], repr(error), is_error=True),
            "your line breaks are written as backslash n",
        ),
        "the first line": (
            lambda call, error: tool_result(
                call["id"], f"{type(error).__name__}: {str(error)[:200]}", is_error=True
            ),
            "got:      'ValueError: line one of the log",
        ),
        "the exception itself": (
            lambda call, error: tool_result(call["id"], error, is_error=True),
            "FileNotFoundError(",
        ),
        "more keys": (
            lambda call, error: {**report(call, error), "error": type(error).__name__},
            "one with error besides",
        ),
        "the words without a block": (
            lambda call, error: f"{type(error).__name__}: {error}",
            "a call is answered by a block",
        ),
        "no return": (lambda call, error: None, "nothing: None. Is there a return?"),
    },
    "excerpt": {
        "always": (
            lambda output, limit: excerpt_that(lambda o, n: (o[: n // 2], o[n // 2 :]))(
                output + " ", limit
            ),
            "a word about a cut would be a lie",
        ),
        "one too early": (
            lambda output, limit: excerpt(output, limit - 1),
            "BROKEN  a short output stays as it is",
        ),
        "the beginning alone": (
            excerpt_that(lambda output, limit: (output[:limit], "")),
            "0 of the end",
        ),
        "the end alone": (
            excerpt_that(lambda output, limit: ("", output[-limit:])),
            "got:      0 of the beginning",
        ),
        "the limit twice": (
            excerpt_that(lambda output, limit: (output[:limit], output[-limit:])),
            "whoever sets a limit reckons with it",
        ),
        "in silence": (
            lambda output, limit: (
                output if len(output) <= limit else output[: limit // 2] + output[-(limit // 2) :]
            ),
            "a part that looks like the whole",
        ),
        "dots": (
            lambda output, limit: excerpt_that_says("\n[...]\n")(output, limit),
            "between the ends",
        ),
        "two halves of an odd limit": (
            lambda output, limit: (
                output
                if len(output) <= limit
                else f"{output[: limit // 2]}\n[{len(output) - limit} characters cut]\n"
                f"{output[len(output) - limit // 2 :]}"
            ),
            "you keep 12 + 12, so 9,983 are missing",
        ),
        "the whole length": (
            lambda output, limit: excerpt_that_says(f"\n[{len(output)} characters]\n")(
                output, limit
            ),
            "got:      '\\n[1000 characters]\\n'; you keep 50 + 50, so 900 are missing",
        ),
        "in the middle of a line": (
            lambda output, limit: excerpt_that_says(f"[... {len(output) - limit // 2 * 2} cut]")(
                output, limit
            ),
            "in the middle of a line",
        ),
        "bytes": (lambda output, limit: output.encode()[:limit], "got:      b''"),
        "no return": (lambda output, limit: None, "got:      None"),
        "a number for a text": (
            lambda output, limit: output if len(output) <= limit else len(output),
            "a result holds text",
        ),
    },
    "answer_or_report": {
        "crashes": (crashing, "got:      FileNotFoundError: there is no 'shed.txt'"),
        "nothing unknown": (
            answering(unknown=lambda call, tools: report(call, KeyError(call["name"]))),
            "words that name 'add' and 'notes'",
        ),
        "the choices alone": (
            answering(unknown=lambda call, tools: failed(call, f"there are {', '.join(tools)}")),
            "words that name 'note_down'",
        ),
        "the nearest tool": (answering(unknown=nearest_tool), "note called for note_down"),
        "an unknown tool crashes": (
            answering(unknown=lambda call, tools: tools[call["name"]]),
            "the whole run goes with it",
        ),
        "an unknown tool is no error": (
            answering(unknown=lambda call, tools: tool_result(call["id"], "no such tool")),
            "a result with is_error for a tool that is not there",
        ),
        "Python's words": (answering(guard=no_guard), "words of our own"),
        "no look at lists": (answering(guard=unguarded_for_lists), "must be a mapping"),
        "wrong arguments": (
            answering(guard=lambda f, i: input_fault(f, i) and "wrong arguments"),
            "a name that is told can be mended",
        ),
        "by its words": (by_its_words, "the command ran and said how that went"),
        "called first": (called_first, "look before"),
        "without str()": (without_str, "the tool gave back None; a result is text"),
        "without str(), reported": (without_str_in_one_try, "the tool gave back None"),
        "no cell of exercise 1": (after_a_restart(gone="report"), "run the cell of exercise 1"),
        "no cell of exercise 2": (after_a_restart(gone="excerpt"), "run the cell of exercise 2"),
        "the traceback": (
            answering(wrong=lambda call, error: failed(call, format_exc())),
            "a place in the harness",
        ),
        "drops what is unknown": (mended, "write called with ('ann', 'hi')"),
        "called to see": (only_what_it_takes, "write called with ('ann', '')"),
        "swallows": (
            answering(wrong=lambda call, error: tool_result(call["id"], "")),
            "the model has to see that it did not get",
        ),
        "vague": (
            answering(wrong=lambda call, error: failed(call, "failed")),
            "got:      'failed'",
        ),
        "of files alone": (answering(errors=(OSError, LookupError)), "a result for an error"),
        "a TypeError is wrong arguments": (
            answering(wrong=type_errors_are_wrong_arguments),
            "the tool's own words",
        ),
        "three tries": (tries_three_times, "3 tries"),
        "a bare except": (answering(errors=BaseException), "KeyboardInterrupt to come through"),
        "but for Ctrl+C": (
            answering(errors=(Exception, SystemExit)),
            "SystemExit to come through",
        ),
        "whatever length": (
            answering(cut=lambda output, limit: output),
            "got:      60,000 characters: 60,000 of the beginning, 0 of the end, and no line",
        ),
        "the beginning alone": (
            answering(cut=lambda output, limit: output[:limit]),
            "got:      20,000 characters: 20,000 of the beginning, 0 of the end, and no line",
        ),
        "the output as it is": (
            lambda call, tools: (
                {**answer_in_full(call, tools), "content": tools[call["name"]](**call["input"])}
                if call["name"] == "tell"
                else answer_in_full(call, tools)
            ),
            "got:      5",
        ),
        "every result an error": (
            lambda call, tools: {**answer_in_full(call, tools), "is_error": True},
            "looks for another way",
        ),
    },
    "read_file": {
        "an empty one is missing": (
            lambda files, path: files.get(path) or not_there()({}, path),
            "and be it nothing",
        ),
        "a KeyError": (lambda files, path: files[path], "a file is missing, and no key"),
        "another KeyError": (
            not_there(kind=KeyError),
            "KeyError: 'settings.ini: README.md",
        ),
        "given back": (
            lambda files, path: files.get(path, f"there is no {path}"),
            "the model takes it for the file",
        ),
        "None": (lambda files, path: files.get(path), "given back: None"),
        "not what was asked": (not_there(asked=""), "one call of several failed"),
        "not what there is": (not_there(names=lambda files: "not found"), "sees no folder"),
        "how many there are": (
            not_there(names=lambda files: f"not among {len(files)} files"),
            "settings.ini: not among 3 files",
        ),
        "all of them": (not_there(), "500 named"),
        "the first twenty": (
            not_there(names=lambda files: ", ".join([*files][:20])),
            "a cut in silence",
        ),
        "ten of many": (
            not_there(
                names=lambda files: f"{len(files)}: " + ", ".join([*files][: 10 if files else 0])
            ),
            "10 named",
        ),
        "none more": (
            not_there(
                names=lambda files: (
                    ", ".join([*files][:20]) + f", and {len(files) - 20} more" * (len(files) > 19)
                )
            ),
            "yours says '0 more'",
        ),
        "fewer than none": (
            not_there(
                names=lambda files: f"{', '.join([*files][:20])}; {len(files) - 20} left out"
            ),
            "nothing is missing",
        ),
        "one too many": (
            not_there(
                names=lambda files: (
                    f"{', '.join([*files][:20])}, {len(files) - 19} more of {len(files)}"
                )
            ),
            "yours says '481 more'",
        ),
        "the nearest instead": (
            lambda files, path: files[next(iter(get_close_matches(path, files, 1, 0)))],
            "given back: 'port = 4711'",
        ),
    },
    "cheap_tea": {
        "no number": (lambda: "b", "a letter of a, b, c, d"),
        "an orphan": (lambda: ("a", 6), "a: every call is answered"),
        "out of order": (lambda: ("c", 6), "c: results stand in the order"),
        "no answer": (lambda: ("d", 7), "d: the last word is an answer"),
        "the honest error": (lambda: ("b", 2), "look down"),
        "where it was asked": (lambda: ("b", 5), "got:      message 5"),
        "where it is believed": (lambda: ("b", 7), "look further up"),
    },
}


def excerpt_that_says(words):
    """A cut with these words in its middle."""
    return lambda output, limit: (
        output
        if len(output) <= limit
        else output[: limit // 2] + words + output[len(output) - limit // 2 :]
    )
