"""A failure that shows where to go on: what lab 03 promises of `read_file`."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from harness_zero.brief import brief
from harness_zero.desk import Broken
from harness_zero.flight.fly import flight, fly
from harness_zero.flight.pilots import pilot_of
from harness_zero.grading.lab03_answer import listed
from harness_zero.messages import Message
from harness_zero.stages import s3_error_as_data

Read = Callable[[dict[str, str], str], str]

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
            got = f"{len(named)} named: {both_ends(words)}"
            raise Broken(f"{min(count, 20)} of the {count} files named", got, why)
        if fault := miscount(words, named, count):
            why = "a list that looks whole is a cut in silence; a wrong number is no better"
            told = f"{count - 20} more, or {count} in all" if count > 20 else "nothing is missing"
            raise Broken(f"with {count} files: {told}", f"{fault}: {both_ends(words)}", why)


def both_ends(words: str) -> str:
    """A text, or its beginning and its end: a count of what is missing often stands there."""
    return repr(words if len(words) <= 200 else f"{words[:90]} [...] {words[-90:]}")


MORE = re.compile(r"(-?\d+) (?:\w+ )?(?:more|others?|further)\b", re.I)
IN_ALL = re.compile(r"(-?\d+) (?:\w+ )?(?:in all|in total|altogether)\b", re.I)


def miscount(words: str, named: list[str], count: int) -> str:
    """What is wrong with the numbers in some words beside the names of files; else nothing.

    A number by itself may count anything: the lines of a list, or the size of a file.
    """
    behind = words[max(words.rfind(name) + len(name) for name in named) :]
    besides = re.sub("|".join(map(re.escape, named)), "", words)
    for pattern, meant in ((MORE, count - 20), (IN_ALL, count)):
        for said in pattern.finditer(besides):
            if int(said[1]) != meant or meant <= 0:
                return f"yours says {said[0]!r}"
    if left := re.search(r"(?<![\w.])(?:-\d+|0)(?![\w.])[^,;:]*", behind):
        return f"yours says {left[0].strip()!r}"
    told = {int(number) for number in re.findall(r"\d+", besides)}
    return "no such number" if count > 20 and not told & {count, count - 20} else ""


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
