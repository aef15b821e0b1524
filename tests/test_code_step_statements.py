"""A source as statements: the same ones, however a version of Python counts lines."""

import sys

import pytest

from harness_zero.listing import Listing

SOURCE = '''\
import os

LIMIT = 3


class Agent:
    """Has methods."""

    @staticmethod
    @decorated(
        1
    )
    def run(
        model,
        tools=None,
    ):
        messages = [
            user(prompt)
            for prompt in prompts
        ]
        if (
            model
            and tools
        ):
            return messages
        elif LIMIT: pass
        else:
            x = 1; y = x
        try:
            with open(path) as file, other:
                for a, b in pairs:
                    total += a
        except (KeyError, ValueError) as error:
            raise
        finally:
            done = True
        match command:
            case ["go", where] if where:
                say(where)
            case _:
                pass
        double = lambda n: n * 2
        return [n for n in messages]


shout = lambda words: words.upper()
if os:
    def late(): return 1
'''
LISTING = Listing("source.py", SOURCE.splitlines(keepends=True))


def lines(text):
    """The numbers of the lines on which a text stands, from its first to its last."""
    first = SOURCE[: SOURCE.index(text)].count("\n") + 1
    return first, first + text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "def run(\n        model,\n        tools=None,",
        "messages = [\n            user(prompt)\n            for prompt in prompts\n        ]",
        "if (\n            model\n            and tools",
        "return messages",
        "elif LIMIT: pass",
        "x = 1; y = x",
        "try:",
        "with open(path) as file, other:",
        "for a, b in pairs:",
        "total += a",
        "except (KeyError, ValueError) as error:",
        "finally:",
        "match command:",
        'case ["go", where] if where:',
        "say(where)",
        "shout = lambda words: words.upper()",
        "def late(): return 1",
    ],
)
def test_all_lines_of_a_statement_lead_to_it_and_of_a_compound_one_its_head(text):
    first, last = lines(text)
    found = {LISTING.statement(line) for line in range(first, last + 1)}
    assert [(each.first, each.last) for each in found] == [(first, last)]


def test_a_decorator_belongs_to_its_function():
    at, _ = lines("@staticmethod")
    assert LISTING.statement(at) is LISTING.statement(lines("def run(")[0])


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("messages = [\n", ("user", "prompts"), ("messages",)),
        ("if (\n", ("model", "tools"), ()),
        ("for a, b in pairs:", ("pairs",), ("a", "b")),
        ("with open(path)", ("open", "path", "other"), ("file",)),
        ("except (KeyError", ("KeyError", "ValueError"), ("error",)),
        ("match command", ("command",), ()),
        ("double = lambda", (), ("double",)),
        ("return [n for", ("messages",), ()),
        ("total += a", ("a",), ("total",)),
    ],
)
def test_a_statement_knows_the_names_that_it_reads_and_writes(text, reads, writes):
    statement = LISTING.statement(lines(text)[0])
    assert ({*statement.reads}, statement.writes) == ({*reads}, writes)


def test_a_part_is_the_outermost_function_and_a_bare_statement_stands_for_itself():
    for text, name, whole in (
        ("total += a", "Agent.run", "@staticmethod"),
        ("double = lambda", "Agent.run", "@staticmethod"),
        ("shout =", "", "shout ="),
        ("def late", "late", "def late"),
    ):
        part = LISTING.part(lines(text)[0])
        assert (part.name, part.first) == (name, lines(whole)[0])


def test_what_a_comprehension_binds_alone_is_hidden():
    part = LISTING.part(lines("total += a")[0])
    assert part.hidden == {"prompt", "n"} - {"n"}  # n is also the argument of a lambda


CAUGHT = """\
def act(block):
    match block:
        case {"name": name, **rest}: pass
        case [first, *others] | (first as others): pass
    try:
        from os import path
    except KeyError as error:
        pass
    return [(name, rest, first) for name, rest, first in error], [path for path, others in x]
"""


def test_a_name_that_a_pattern_an_exception_or_an_import_binds_is_not_hidden():
    listing = Listing("caught.py", CAUGHT.splitlines(keepends=True))
    assert listing.part(1).hidden == set()
    assert {*listing.statement(3).writes} == {"name", "rest"}
    assert {*listing.statement(4).writes} == {"first", "others"}
    assert listing.statement(6).writes == ("path",)


def work(n):
    """How many lines of Python it takes to read a function of n assignments and some clauses."""
    body = ["def long():\n", *(f"    x{i} = {i}\n" for i in range(n))]
    chain = [
        "    if x == 0: y = 0\n",
        *(f"    elif x == {i}:\n        y = {i}\n" for i in range(n // 4)),
    ]
    count = 0

    def counts(frame, event, arg):
        nonlocal count
        count += event == "line"
        return counts

    before = sys.gettrace()
    sys.settrace(counts)
    try:
        assert Listing("long.py", [*body, *chain]).statements
    finally:
        sys.settrace(before)
    return count


def test_reading_a_source_takes_work_in_proportion_to_its_length():
    assert work(80) < 2.5 * work(40)
