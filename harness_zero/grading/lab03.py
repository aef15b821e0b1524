"""Lab 03, errors as data: its exercises and what an answer to each one promises."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from itertools import takewhile
from typing import Any

from harness_zero.brief import brief
from harness_zero.brief import excerpt as our_excerpt
from harness_zero.desk import Broken, as_text
from harness_zero.faults import SetupFault
from harness_zero.flight.fly import flight, fly
from harness_zero.flight.pilots import pilot_of
from harness_zero.grading.diagnosis import (
    Case,
    every_call_is_answered_in_the_next_message,
    results_stand_in_the_order_of_their_calls,
    the_last_word_is_an_answer,
)
from harness_zero.grading.exercise import Exercise, Lab, Piece
from harness_zero.grading.lab00 import (
    a_result_that_worked_is_no_error,
    answered,
    it_is_a_result_and_no_more,
    shown,
    the_call_and_the_tools_stay_as_they_are,
    the_result_carries_the_id_of_the_call,
    the_tool_runs_once_with_the_arguments_it_was_asked_with,
    what_it_holds_is_text,
)
from harness_zero.messages import (
    Block,
    Message,
    reply,
    tool_results,
    tool_use,
    tool_uses,
)
from harness_zero.models.scripted import scripted
from harness_zero.stages import s3_error_as_data
from harness_zero.toolbox import toolbox
from harness_zero.watch import Recording, record

Report = Callable[[Block, Exception], Block]
Excerpt = Callable[[str, int], str]
Answer = Callable[[Block, dict[str, Callable]], Block]
Read = Callable[[dict[str, str], str], str]

LONGEST = 20_000  # characters of an output in the learner's own harness


class OutOfPaper(Exception):
    """An error whose kind is not one of Python's own."""


LOOKED_FOR = tool_use("toolu_7", "look", where="the shed")
LONG = "line one of the log\nline two of the log\n" * 40 + "it's the last line"
ERRORS = (
    FileNotFoundError("there is no 'shed.txt'"),
    OutOfPaper("12 sheets are missing"),
    ValueError(LONG),
    KeyError("shed"),
    TimeoutError(),
)


def reported(report: Report, error: Exception) -> tuple[Block, list[Message]]:
    """What the learner's function makes of an error, once it is a result block at all."""
    got = answered(report, dict(LOOKED_FOR), error)  # type: ignore[arg-type]
    return got, shown(LOOKED_FOR, got)


def it_is_the_result_of_this_call(report: Report) -> None:
    """The id of the call, as of any result."""
    for error in ERRORS:
        got, case = reported(report, error)
        if got.get("tool_use_id") != "toolu_7":
            why = "an error answers one call, and the id says which"
            raise Broken("tool_use_id 'toolu_7'", brief(got.get("tool_use_id")), why, case)


def it_is_marked_as_an_error(report: Report) -> None:
    """is_error is True."""
    for error in ERRORS:
        got, case = reported(report, error)
        if got.get("is_error") is not True:
            why = "without the mark it is an output, and the model may take its words for data"
            raise Broken("is_error True", f"is_error {brief(got.get('is_error'))}", why, case)


def it_says_what_kind_of_error_it_was(report: Report) -> None:
    """Some errors have no words but their kind."""
    for error in ERRORS:
        got, case = reported(report, error)
        if type(error).__name__ not in str(as_text(got)):
            why = "a KeyError's words are its key alone, and a TimeoutError has none"
            raise Broken(
                f"a text that names {type(error).__name__}", brief(as_text(got), 120), why, case
            )


def it_says_what_the_error_says(report: Report) -> None:
    """All its words, as they are, on as many lines."""
    for error in ERRORS:
        got, case = reported(report, error)
        if str(error) not in str(as_text(got)):
            why = "enough for a person to act on: the model gets the same courtesy"
            expected = f"the error's own words, {brief(str(error), 60)}"
            raise Broken(f"{expected}, as they are", brief(as_text(got), 120), why, case)


def it_is_a_report_and_no_more(report: Report) -> None:
    """No key that the API does not know."""
    got, case = reported(report, ERRORS[0])
    if more := sorted(map(str, {*got} - {"type", "tool_use_id", "content", "is_error"})):
        expected = "a block with a type, a tool_use_id, a content and is_error"
        why = "the API refuses a result with anything else in it"
        raise Broken(expected, f"one with {', '.join(more)} besides", why, case)


SUITS = "♠♥♦♣"  # of an output, so that no word of a learner's line is taken for a part of it
SIZES = ((1_000, 100), (10_007, 25), (60, 59), (50_000, 20_000), (4_321, 2))


def output_of(size: int) -> str:
    """So many characters, no two stretches alike."""
    return "".join(SUITS[at * at * 7 // 11 % 4] for at in range(size))


def ends(output: str, cut: str) -> tuple[int, int]:
    """How many characters of an output a cut one begins with, and how many it ends with."""
    front = shared(output, cut)
    return front, shared(output[::-1], cut[front:][::-1])


def shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


def digits(text: str) -> str:
    """A text whose numbers stand there without any sign between their digits."""
    return re.sub(r"(?<=\d)[,._' \u202f](?=\d{3})", "", text)


def cuts(excerpt: Excerpt) -> Iterator[tuple[str, int, str, str]]:
    """Long outputs, their limits, what became of them, and that in words."""
    for size, limit in SIZES:
        got, output = excerpt(output_of(size), limit), output_of(size)
        if not isinstance(got, str):
            why = "a result holds text"
            raise Broken("a text", brief(got, 120), why)
        yield output, limit, got, f"excerpt of {size:,} characters, limit {limit:,}"


def a_short_output_stays_as_it_is(excerpt: Excerpt) -> None:
    """Shorter than the limit, or as long."""
    for text, limit in (("", 10), ("0 failed", 10), ("0 failed..", 10), (output_of(99), 99)):
        if (got := excerpt(text, limit)) != text:
            why = "nothing has to be cut, and a word about a cut would be a lie"
            raise Broken(f"{brief(text)} under a limit of {limit}", brief(got, 120), why)


def a_long_output_keeps_its_beginning_and_its_end(excerpt: Excerpt) -> None:
    """Half of the limit each."""
    for output, limit, got, what in cuts(excerpt):
        front, back = ends(output, got)
        if min(front, back) < limit // 2:
            why = "a log's cause stands at its beginning, its outcome at its end"
            expected = f"{limit // 2:,} characters of each end, at least: {what}"
            raise Broken(expected, f"{front:,} of the beginning, {back:,} of the end", why)


def of_the_output_no_more_is_kept_than_the_limit(excerpt: Excerpt) -> None:
    """Both ends together."""
    for output, limit, got, what in cuts(excerpt):
        kept = sum(ends(output, got))
        if kept > limit:
            why = "whoever sets a limit reckons with it"
            raise Broken(f"{limit:,} characters at most: {what}", f"{kept:,} are kept", why)


def it_says_how_many_characters_are_missing(excerpt: Excerpt) -> None:
    """The number, in whatever words."""
    for output, _, got, what in cuts(excerpt):
        front, back = ends(output, got)
        said, missing = got[front : len(got) - back], len(output) - front - back
        if str(missing) not in digits(said):
            why = "a part that looks like the whole is a swallowed error; the number says how much"
            raise Broken(f"the number {missing:,} between the ends: {what}", brief(said), why)


def what_it_says_stands_on_a_line_of_its_own(excerpt: Excerpt) -> None:
    """So that nobody takes it for a part of the output."""
    for output, _, got, what in cuts(excerpt):
        front, back = ends(output, got)
        said = got[front : len(got) - back]
        if not (said.startswith("\n") and said.endswith("\n") and said.strip()):
            why = "in the middle of a line it reads like a part of the output"
            raise Broken(f"a line break before it and one after it: {what}", brief(said), why)


def beside(name: str, function: Callable) -> dict[str, Callable]:
    """A tool beside two others, each of which must not be called for it."""
    return {"add": lambda x, y: x + y, name: function, "notes": lambda: "all notes"}


def error_in(answer: Answer, call: Block, tools: dict[str, Callable], what: str) -> str:
    """The words of a call that has to fail."""
    lent = dict(call)
    try:
        got = answered(answer, lent, tools)
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
        call = {**tool_use("a", "write"), "input": input}
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
        seen: list[tuple[str, str]] = []
        call = {**tool_use("a", "write"), "input": input}
        with suppress(Exception):
            answer(call, beside("write", noting(seen)))
        if seen:
            why = "a mended call is one that nobody asked for, and the model takes it for its own"
            raise Broken(f"no call for {input!r}", f"write called with {brief(seen[0])}", why)


def noting(seen: list[tuple[str, str]]) -> Callable[..., None]:
    """A tool that leaves a trace."""

    def write(to: str, body: str) -> None:
        seen.append((to, body))

    return write


def an_exception_is_told_by_its_kind_and_its_words(answer: Answer) -> None:
    """Whatever kind it is."""
    for error in ERRORS:
        words = error_in(answer, tool_use("a", "fail"), beside("fail", raising(error)), "an error")
        if type(error).__name__ not in words or str(error) not in words:
            expected = f"{type(error).__name__} and {brief(str(error), 60)}"
            why = "the model mends what it can read; this is what your report does"
            raise Broken(expected, brief(words, 200), why)


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
    if ends(output, text) != (LONGEST // 2,) * 2 or str(2 * LONGEST) not in digits(text):
        why = "one output must not fill what the model can read; see your excerpt"
        expected = f"{LONGEST:,} of {len(output):,} characters and a line that says what is missing"
        raise Broken(expected, f"{len(text):,} characters", why)


HOUSE = {"README.md": "hello", "conf/settings.ini": "port = 4711", "empty.txt": ""}
MANY = {f"log_{n:03}.txt": f"day {n}" for n in range(500)}
FOUND = (
    "diligent/moved-config/calm#11",
    "diligent/moved-config/calm#9",
    "hasty/lost-config/calm#5",
    "spending/moved-config/calm#0",
)


def a_file_that_is_there_is_read(read_file: Read) -> None:
    """Also one with nothing in it."""
    for path, text in HOUSE.items():
        try:
            got = read_file(dict(HOUSE), path)
        except (FileNotFoundError, KeyError) as error:
            got = f"{type(error).__name__}: {error}"
        if got != text:
            why = "a file is there or not, whatever it holds, and be it nothing"
            raise Broken(f"{text!r} for {path!r}", brief(got, 200), why)


def words_for(read_file: Read, files: dict[str, str], path: str) -> str:
    """What is raised for a file that is not there."""
    try:
        got = read_file(dict(files), path)
    except FileNotFoundError as error:
        return str(error)
    except KeyError as error:
        why = "a kind tells something by itself: a file is missing, and no key"
        raise Broken("a FileNotFoundError", f"KeyError: {error}", why) from None
    why = "what is returned is an output, and the model takes it for the file"
    raise Broken("a FileNotFoundError", f"given back: {brief(got, 120)}", why)


def a_missing_file_is_an_error_that_names_it(read_file: Read) -> None:
    """Whoever reads it later need not look up what was asked."""
    for path in ("settings.ini", "conf/app.ini"):
        if path not in (words := words_for(read_file, HOUSE, path)):
            why = "one call of several failed: which?"
            raise Broken(f"words that name {path!r}", brief(words, 200), why)


def it_names_the_files_that_there_are(read_file: Read) -> None:
    """Of a few all."""
    words = words_for(read_file, HOUSE, "settings.ini")
    if absent := [name for name in HOUSE if name not in words]:
        why = "the model sees no folder; with the choices in front of it the next call is right"
        raise Broken(f"words that name {listed(absent)}", brief(words, 200), why)
    words_for(read_file, {}, "settings.ini")


def of_many_files_it_names_twenty_and_says_how_many_there_are(read_file: Read) -> None:
    """Of five hundred and of twenty-one; of twenty and of three it names all."""
    for count in (500, 21, 20, 3):
        files = {name: MANY[name] for name in [*MANY][:count]}
        words = words_for(read_file, files, "log.txt")
        named = [name for name in files if name in words]
        if len(named) != min(count, 20):
            why = "500 names are noise, and the array keeps them for ever; twenty are few enough"
            got = f"{len(named)} named: {brief(words, 200)}"
            raise Broken(f"{min(count, 20)} of the {count} files named", got, why)
        told = numbers_besides(words, named)
        if count > 20 and not told & {count, count - 20}:
            why = "a list that looks whole is a cut in silence"
            expected = f"words that say how many there are: {count}, or {count - 20} more"
            raise Broken(expected, brief(words, 200), why)
        if wrong := told - {count, count - 20 if count > 20 else count, min(count, 20)}:
            why = "there are as many as there are, and a list that is whole needs no number"
            raise Broken(f"no number but those of {count} files", f"{wrong}: {words[:200]}", why)


def numbers_besides(words: str, names: list[str]) -> set[int]:
    """The numbers in some words, those in these names left out."""
    for name in names:
        words = words.replace(name, "")
    return {int(number) for number in re.findall(r"-?\d+", words)}


def a_model_finds_the_file_by_these_words(read_file: Read) -> None:
    """Four flights, in which the file is not where the task says."""
    telling = pilot_of("your read_file", partial(flown_with, read_file))
    for name in FOUND:
        outcome = fly(telling, name)[0]
        if not outcome.reached:
            why = "all that it knows of the folder is what your words say"
            case = flight(name, telling).messages
            raise Broken(f"the goal reached in {name}", f"{outcome.kind}: {outcome}", why, case)


def flown_with(read_file: Read, model: Any, tools: Any, prompt: str) -> list[Message]:
    """Stage 3 with the learner's own way to read a file."""

    def read(path: str, offset: int = 0) -> str:
        there = tools["list_files"]().split("\n")
        return read_file({name: tools["read_file"](path=name) for name in there}, path)[offset:]

    return s3_error_as_data.run(model, {**tools, "read_file": read}, prompt)


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
    """Our own way to answer a call, with the learner's cut."""

    def answer(call: Block, tools: dict[str, Callable]) -> Block:
        result = toolbox(tools)(call)
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
        the_tool_runs_once_with_the_arguments_it_was_asked_with,
        the_result_carries_the_id_of_the_call,
        what_it_holds_is_text,
        a_result_that_worked_is_no_error,
        it_is_a_result_and_no_more,
        the_call_and_the_tools_stay_as_they_are,
        an_exception_is_told_by_its_kind_and_its_words,
        an_unknown_tool_is_an_error_that_names_it_and_the_tools_there_are,
        a_call_with_wrong_arguments_is_not_made,
        wrong_arguments_are_told_by_name_in_words_of_our_own,
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
