"""An answer from a notebook as a module that stands alone."""

import pytest

from harness_zero.standalone import NotAlone, standalone

SETUP = "import json\nfrom functools import partial as part\n"
SETUP += "from harness_zero.messages import Reply, said, tool_uses, user\n"


def alone(*cells, name="f", pieces=None):
    """The module that makes `f` as these cells did."""
    return standalone(name, [SETUP, *cells], pieces or {})[0]


def run(source):
    """The names that a module makes."""
    space = {"__name__": "piece"}
    exec(source, space)
    return space


def test_what_is_imported_elsewhere_is_imported_grouped_and_in_order():
    cell = "def f(x):\n    return json.dumps([user(x), said(x), part(x)])\n"
    assert alone(cell).split("\n\n\n")[0].splitlines() == [
        "from functools import partial as part",
        "import json",
        "",
        "from harness_zero.messages import said, user",
    ]


def test_a_module_with_dots_is_imported_as_it_was():
    assert "import xml.etree.ElementTree\n" in alone(
        "import concurrent.futures\nimport xml.etree.ElementTree",
        "def f(x):\n    return xml.etree.ElementTree.fromstring(x)",
    )


def test_a_star_import_gives_the_names_that_are_used():
    cell = "from harness_zero.messages import *"
    assert alone(cell, "def f(x):\n    return text(x)").startswith(
        "from harness_zero.messages import text\n"
    )


def test_type_hints_and_decorators_come_along():
    module = alone(
        "import functools\n\ndef deco(g):\n    return functools.wraps(g)(lambda x: g(x) + LIMIT)",
        "LIMIT = 3",
        "@deco\ndef f(x: Reply, y: 'Reply' = None) -> Reply:\n    return x\n",
    )
    assert run(module)["f"](1) == 4


def test_another_piece_is_taken_from_the_package():
    cells = "def act(r):\n    return 1", "def f(r):\n    return act(r)"
    module, used = standalone("f", cells, {"act": "act", "idle": "idle"})
    assert module.startswith("from . import act\n") and used == ["act"] and "return 1" not in module
    assert "from . import step as act\n" in alone(*cells, pieces={"act": "step"})


def test_a_helper_comes_behind_what_it_needs_at_once():
    module = alone(
        "LIMIT = 3",
        "def clip(x, n=LIMIT):\n    return user(x[:n])",
        "def f(x):\n    return clip(x)",
    )
    assert run(module)["f"]("abcdef")["content"][0]["text"] == "abc"


def test_helpers_that_call_each_other_come_along_once():
    module = alone(
        "def even(n):\n    return n == 0 or odd(n - 1)",
        "def odd(n):\n    return n != 0 and even(n - 1)",
        "def f(n):\n    return even(n)",
    )
    assert run(module)["f"](4) is True and module.count("def even") == 1


def test_of_several_cells_that_make_a_name_the_last_counts():
    module = alone("N = 1", "def f():\n    return N", "N = 2")
    assert run(module)["f"]() == 2


def test_what_a_cell_tries_out_stays_behind_and_comments_come_along():
    module = alone(
        "x = 1\nprint(1); print(2)\n# what it does\ndef f(x):\n    return x  # as it is\n"
        "messages = [f(1)]\nfor m in messages:\n    print(m)\nassert f(2) == 2\n"
    )
    assert module == "# what it does\ndef f(x):\n    return x  # as it is\n"


def test_statements_that_share_a_line_are_told_apart():
    module = alone("import re\nP = re.compile('x'); print(P)\ndef f(s):\n    return P.match(s)")
    assert "print" not in module and run(module)["f"]("x")


def test_a_state_of_its_own_begins_as_the_cell_wrote_it():
    module = alone("calls = []\n\ndef f(x):\n    calls.append(x)\n    return len(calls)")
    assert run(module)["f"](1) == 1 and "calls = []" in module


def test_a_global_that_is_only_counted_up_comes_along():
    module = alone("n = 5", "def f():\n    global n\n    n += 1\n    return n")
    assert run(module)["f"]() == 6


def test_what_comes_from_the_future_stands_first():
    module = alone("from __future__ import annotations\n\ndef f(x: Block) -> Block:\n    return x")
    assert module.startswith("from __future__ import annotations\n") and run(module)["f"](1) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "import functools\nf = functools.partial(max, 1)",
        "class f(dict):\n    def __call__(self):\n        return 1",
        "f = lambda x: x",
        "if True:\n    def f(x):\n        return x",
        "try:\n    import nowhere\nexcept ImportError:\n    def f():\n        return 1",
        "f, g = (lambda: 1), 2",
    ],
)
def test_whatever_can_be_called_can_be_an_answer(cell):
    assert callable(run(alone(cell))["f"])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["def f():\n    return model()"], "uses model, which no cell has made"),
        (["def f():\n    return display(1)"], "uses display, which there is in a notebook alone"),
        (["!ls", "def f():\n    get_ipython()"], "uses get_ipython"),
        (["def g():\n    return 1"], "uses f, which no cell has made"),
    ],
)
def test_what_cannot_stand_alone_says_which_name_is_in_the_way(cells, words):
    with pytest.raises(NotAlone, match=words):
        alone(*cells)
