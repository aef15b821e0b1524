"""What becomes of a tool call: an output or an error, and always words a person could act on."""

import pytest

from harness_zero.brief import excerpt
from harness_zero.messages import tool_use
from harness_zero.toolbox import LONGEST, arguments, toolbox


def add(x: int, y: int = 0) -> int:
    return x + y


def result(function, **input):
    return toolbox({"tool": function})(tool_use("a", "tool", **input))


def told(function, **input):
    """The words of a call that failed."""
    got = result(function, **input)
    assert got["is_error"] is True
    return got["content"]


def test_a_tool_that_does_not_exist_is_answered_with_those_that_do():
    got = toolbox({"add": add, "divide": add})(tool_use("a", "ad"))
    assert got["content"] == "no tool named 'ad'; there are add, divide"


def test_wrong_arguments_are_told_in_words_that_no_python_version_changes():
    assert told(add, y=1) == "missing: x; it takes x, y"
    assert told(add, x=1, z=1) == "unknown: z; it takes x, y"
    got = toolbox({"tool": add})({**tool_use("a", "tool"), "input": [1, 2]})
    assert got["content"] == "the input is no object with named arguments but [1, 2]"


def test_a_type_error_from_inside_a_tool_is_told_as_it_is():
    assert told(add, x="1", y=2) == 'TypeError: can only concatenate str (not "int") to str'


def test_an_error_that_cannot_tell_itself_is_an_error_all_the_same():
    class Mute(Exception):
        def __str__(self):
            raise OSError

    def mute():
        raise Mute

    assert told(mute) == "Mute: <a Mute of which str() raises OSError>"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_stops_the_harness_is_nobodys_data(stop):
    def stopping():
        raise stop

    with pytest.raises(stop):
        result(stopping)


def test_a_long_output_has_both_its_ends_and_says_how_much_is_missing():
    got = result(lambda: "a" * LONGEST + "b" * LONGEST)["content"]
    assert got == f"{'a' * 50_000}\n[... 100,000 characters cut ...]\n{'b' * 50_000}"


def test_a_long_error_is_cut_like_an_output():
    def verbose():
        raise ValueError("x" * 2 * LONGEST)

    assert "characters cut" in told(verbose) and len(told(verbose)) < LONGEST + 50


def test_binary_output_is_told_and_not_shown():
    assert result(lambda: b"\x89PNG" * 500)["content"] == (
        "binary output of 2,000 bytes; it is not shown"
    )


@pytest.mark.parametrize(
    ("limit", "cut"),
    [(10, "0123456789"), (9, "0123\n[... 1 characters cut ...]\n56789"), (0, "[... 10 ")],
)
def test_an_excerpt_holds_so_many_characters(limit, cut):
    assert cut in excerpt("0123456789", limit)


def test_arguments_are_read_as_they_were_written():
    assert arguments('{"path": "a.txt", "lines": [1, 2]}') == {"path": "a.txt", "lines": [1, 2]}


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ('{"path": "a.txt", "text": "hel', """comes '"hel', and the text ends in the middle"""),
        ('{"path": "a.txt",}', """after '{"path": "a.txt"' comes ',}'"""),
        ('{"path": "a.txt"', """after '{"path": "a.txt"' nothing comes"""),
        ("", "after '' nothing comes"),
        ("path=a.txt", "after '' comes 'path=a.txt'"),
        ("[1, 2]", "the arguments are no JSON object but [1, 2]"),
    ],
)
def test_arguments_that_break_are_told_where_and_never_mended(written, sentence):
    with pytest.raises(ValueError) as refused:
        arguments(written)
    assert sentence in str(refused.value)
