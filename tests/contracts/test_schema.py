"""The part of JSON Schema that is checked agrees with a library that checks all of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness_zero.contracts.schema import faults, refuse_unknown
from harness_zero.tools import schemas

NAMES = st.sampled_from("abc")
PLAIN = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0, "", "a", "bcd"])
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(["string", "boolean", "null", "array", "object", "number", "integer"])
SMALL = st.integers(0, 3)


def holding(inner):
    """A schema with some keywords, and schemas inside."""
    keywords = {
        "type": KINDS | st.lists(KINDS, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "required": st.lists(NAMES, unique=True, max_size=2),
        "additionalProperties": inner,
        "items": inner,
        "pattern": st.sampled_from(["a", "^b", "d$"]),
        **dict.fromkeys(["minItems", "maxItems", "minLength", "maxLength"], SMALL),
        **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], SMALL),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(st.booleans() | st.just({}), holding, max_leaves=4)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, VALUES)
def test_it_finds_a_fault_where_a_whole_library_does(schema, value):
    refuse_unknown(schema)
    assert bool([*faults(value, schema)]) != Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"n": "3"}, ["the answer.n must be an integer, and is '3'"]),
        ({}, ["the answer has no 'n'"]),
        ({"n": 3, "m": 1}, ["the answer has 'm', which nobody asked for"]),
        ({"n": 30}, ["the answer.n must be at most 9, and is 30"]),
        ([], ["the answer must be an object, and is []"]),
    ],
)
def test_a_fault_is_told_in_a_sentence(value, told):
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 9}},
        "required": ["n"],
        "additionalProperties": False,
    }
    assert [*faults(value, schema)] == told


def test_the_schemas_of_our_own_tools_can_be_checked():
    def tool(a: str, b: list[int] | None, c: dict[str, float] | None = None) -> str:
        """A tool."""

    refuse_unknown(schemas({"tool": tool})[0]["input_schema"])
