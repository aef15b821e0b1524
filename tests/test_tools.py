"""What a model is told about a tool."""

import functools
from typing import Literal, Optional

import pytest

from harness_zero.faults import SetupFault
from harness_zero.tools import schema, schemas


def search(pattern: str, folder: str = ".", limit: int = 10) -> str:
    """Find lines in files.

    The pattern is a regular expression.
    """
    return f"{pattern} {folder} {limit}"


def inputs(function):
    return schema(function)["input_schema"]["properties"]


def test_a_schema_is_made_of_name_docstring_and_parameters():
    assert schema(search) == {
        "name": "search",
        "description": "Find lines in files.\n\nThe pattern is a regular expression.",
        "input_schema": {
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "folder": {"type": "string"},
                "limit": {"type": "integer"},
            },
            "required": ["pattern"],
        },
    }


def test_every_type_that_json_knows_can_be_told():
    def tool(a: str, b: int, c: float, d: bool, e: list, f: dict): ...

    kinds = [told["type"] for told in inputs(tool).values()]
    assert kinds == ["string", "integer", "number", "boolean", "array", "object"]


def test_what_lists_and_dicts_hold_is_told():
    def tool(names: list[str], counts: dict[str, list[int]]): ...

    numbers = {"type": "array", "items": {"type": "integer"}}
    assert inputs(tool) == {
        "names": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "object", "additionalProperties": numbers},
    }


def test_none_is_one_of_the_things_an_optional_parameter_may_be():
    def tool(a: str | None, b: Optional[str] = None): ...  # noqa: UP045

    either = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert inputs(tool) == {"a": either, "b": either}
    assert schema(tool)["input_schema"]["required"] == ["a"]


def test_a_literal_is_a_choice():
    def tool(mode: Literal["read", "write"], level: Literal["all", 1] = 1): ...

    assert inputs(tool) == {
        "mode": {"type": "string", "enum": ["read", "write"]},
        "level": {"type": ["string", "integer"], "enum": ["all", 1]},
    }


def test_annotations_written_as_strings_are_read():
    def tool(names: "list[str]", limit: "int | None" = None): ...

    assert inputs(tool)["names"] == {"type": "array", "items": {"type": "string"}}


def test_a_wrapped_function_keeps_its_schema():
    @functools.wraps(search)
    def counted(*args, **input):
        return search(*args, **input)

    assert schema(counted) == schema(search)


def test_a_method_is_a_tool_without_its_self():
    class Box:
        def put(self, thing: str): ...

    assert list(inputs(Box().put)) == ["thing"]


def test_a_tool_without_docstring_has_an_empty_description():
    assert schemas({"now": lambda: "12:00"})[0]["description"] == ""


def test_tools_are_told_in_their_order_under_their_names():
    told = schemas({"look-up": search, "search": search})
    assert [one["name"] for one in told] == ["look-up", "search"]


@pytest.mark.parametrize("name", ["", "<lambda>", "two words", "ü", "x" * 65, "name\n"])
def test_a_name_that_the_api_refuses_is_refused_at_once(name):
    def nameless(): ...

    nameless.__name__ = name
    with pytest.raises(SetupFault, match="no name for a tool"):
        schema(nameless)


def unannotated(path): ...
def rest(*paths: str): ...
def options(**given: str): ...
def by_place(path: str, /): ...
def a_set(path: set): ...
def a_set_inside(path: list[set[str]]): ...
def a_number_as_key(path: dict[int, str]): ...
def bytes_to_choose(path: Literal[b"x"]): ...
def a_typo(path: "strr"): ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (unannotated, "unannotated: path has no annotation"),
        (rest, "rest: .*paths: str cannot be given by name"),
        (options, "options: .*given: str cannot be given by name"),
        (by_place, "by_place: path: str cannot be given by name"),
        (a_set, "a_set: path is annotated set;"),
        (a_set_inside, r"a_set_inside: path is annotated set\[str\];"),
        (a_number_as_key, r"a_number_as_key: path is annotated dict\[int, str\];"),
        (bytes_to_choose, "bytes_to_choose: path is annotated bytes;"),
        (a_typo, "a_typo: its signature cannot be read: name 'strr' is not defined"),
    ],
)
def test_a_parameter_that_no_model_could_be_told_of_is_named(function, words):
    with pytest.raises(SetupFault, match=words):
        schema(function)


def test_what_is_no_function_is_no_tool():
    with pytest.raises(SetupFault, match="a tool is a function; find is"):
        schemas({"find": functools.partial(search, "x")})
