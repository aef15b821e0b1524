"""A notebook's cell as a module that stands alone."""

import functools
import json
import linecache

import pytest

from harness_zero.messages import said, user
from harness_zero.standalone import NotAlone, standalone


@pytest.fixture
def cell():
    """Run a cell as a notebook does: its source can be looked up afterwards."""
    names = {"__name__": "__main__"}

    def run(source, **more):
        names.update(more)
        file = f"<cell {len(linecache.cache)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), names)
        return names

    return run


def alone(source, names, pieces=None):
    return standalone(source, names, pieces or {})


def test_what_comes_from_a_module_is_imported(cell):
    source = "def first(prompt):\n    return [user(prompt)]\n"
    assert alone(source, cell(source, user=user)).startswith(
        "from harness_zero.messages import user\n\n\ndef first"
    )


def test_imports_are_grouped_and_ordered(cell):
    source = "def f(x):\n    return json.dumps([user(x), said(x), part(x)])\n"
    names = cell(source, user=user, said=said, json=json, part=functools.partial, act=len)
    assert alone(source, names).split("\n\n\n")[0].splitlines() == [
        "import json",
        "from functools import partial as part",
        "",
        "from harness_zero.messages import said, user",
    ]


def test_another_piece_is_taken_from_the_package(cell):
    source = "def run(r, t):\n    return act(r, t)\n"
    names = cell(source, act=lambda r, t: 1)
    assert "from . import act\n" in alone(source, names, {"act": "act"})
    assert "from . import step as act\n" in alone(source, names, {"act": "step"})


def test_a_helper_from_another_cell_comes_along_with_what_it_needs(cell):
    cell("LIMIT = 3\n\ndef clip(x):\n    return user(x[:LIMIT])\n", user=user)
    source = "def run(x):\n    return clip(x)\n"
    module = alone(source, cell(source))
    space = {}
    exec(module, space)
    assert space["run"]("abcdef") == user("abc")
    assert "LIMIT = 3" in module and "def clip" in module


def test_helpers_that_call_each_other_come_along_once(cell):
    cell("def even(n):\n    return n == 0 or odd(n - 1)\n")
    cell("def odd(n):\n    return n != 0 and even(n - 1)\n")
    source = "def run(n):\n    return even(n)\n"
    space = {}
    exec(alone(source, cell(source)), space)
    assert space["run"](4) is True


def test_what_the_cell_tries_out_stays_behind_and_comments_stay(cell):
    source = "def f(x):\n    return x  # as it is\n\n\nprint(f(1))\nf(2)\n"
    module = alone(source, cell(source))
    assert "print" not in module and "f(2)" not in module and "# as it is" in module


def test_a_helper_inside_the_cell_a_recursion_and_locals_need_nothing(cell):
    source = "import json\n\ndef g(x):\n    return json.dumps(x)\n\ndef f(x):\n    return f(g(x))\n"
    assert alone(source, cell(source)) == source


@pytest.mark.parametrize(
    ("source", "names", "words"),
    [
        ("def f():\n    return model()\n", {"model": object()}, "make model in the same cell"),
        ("def f():\n    return nope()\n", {}, "uses nope, which no cell has made"),
        ("!ls\ndef f():\n    return 1\n", {}, "line 1 of the cell is no plain Python"),
        ("def f():\n    return g()\n", {"g": lambda: 1}, "make g in the same cell"),
    ],
)
def test_what_cannot_stand_alone_says_which_name_is_in_the_way(source, names, words):
    with pytest.raises(NotAlone, match=words):
        alone(source, names)
