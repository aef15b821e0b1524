"""The part of JSON Schema that an answer is held to here.

A keyword that is not checked is refused when the contract is made: a schema that is
checked in part would pass what it forbids.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from harness_zero.brief import brief
from harness_zero.faults import SetupFault

Schema = dict[str, Any] | bool

TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "number": lambda value: is_number(value),
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
}
NOTES = {"$schema", "$id", "title", "description", "default", "examples", "$comment"}
CHECKED = {
    *("type", "enum", "const", "anyOf", "properties", "required", "additionalProperties"),
    *("items", "minItems", "maxItems", "minLength", "maxLength", "pattern"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}


class UnknownSchema(SetupFault):
    """A schema asks for what is not checked here, or in a way that means nothing."""


def is_number(value: Any) -> bool:
    """Whether a value is a number to JSON: True is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_pattern(value: Any) -> bool:
    """Whether a value is a regular expression."""
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except Exception:  # re.error, and what very odd ones raise
        return False


def is_count(value: Any) -> bool:
    """Whether a value is a number that something can have of."""
    return TYPES["integer"](value) and value >= 0


def is_names(value: Any) -> bool:
    """Whether a value is a list of names."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


COUNT, NUMBER = ("a whole number from 0 up", is_count), ("a number", is_number)
WRITTEN: dict[str, tuple[str, Callable[[Any], bool]]] = {  # how a keyword's value is written
    "type": ("a type, or a list of some", lambda value: value != []),
    "enum": ("a list of values", lambda value: isinstance(value, list)),
    "anyOf": ("a list of schemas", lambda value: isinstance(value, list) and value != []),
    "properties": ("an object of schemas by name", lambda value: isinstance(value, dict)),
    "required": ("a list of names", is_names),
    "pattern": ("a regular expression", is_pattern),
    **dict.fromkeys(["minItems", "maxItems", "minLength", "maxLength"], COUNT),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], NUMBER),
}


def refuse_unknown(schema: Any, at: str = "the schema") -> None:
    """Raise if a schema, or one inside it, holds a keyword or a type that is not checked."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise UnknownSchema(f"{at} is no schema but {brief(schema)}")
    if strange := [*map(str, schema.keys() - NOTES - CHECKED), *unknown_types(schema)]:
        raise UnknownSchema(f"{at} asks for {strange[0]!r}, which is not checked here")
    for name, value in schema.items():
        wanted, fits = WRITTEN.get(name, ("", lambda value: True))
        if not fits(value):
            raise UnknownSchema(f"{at} has {name}: {brief(value)}; that has to be {wanted}")
    for where, inner in inner_schemas(schema):
        refuse_unknown(inner, f"{at}.{where}")


def unknown_types(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names and JSON does not have."""
    named = as_list(schema.get("type", []))
    return [str(each) for each in named if not isinstance(each, str) or each not in TYPES]


def inner_schemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside a schema, and where they stand."""
    yield from dict(schema.get("properties", {})).items()
    yield from ((f"anyOf[{n}]", each) for n, each in enumerate(schema.get("anyOf", [])))
    yield from (
        (name, schema[name]) for name in ("items", "additionalProperties") if name in schema
    )


def faults(value: Any, schema: Schema, at: str = "the answer") -> Iterator[str]:
    """What of a value is not as the schema wants it, a sentence each."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{at} must not be there"
        return
    if (kinds := as_list(schema.get("type", []))) and not any(TYPES[k](value) for k in kinds):
        yield f"{at} must be {a(' or '.join(kinds))}, and is {brief(value)}"
        return
    yield from plain_faults(value, schema, at)
    if "anyOf" in schema and all(any(faults(value, each, at)) for each in schema["anyOf"]):
        yield f"{at} fits none of the {len(schema['anyOf'])} forms it may have: {brief(value)}"
    if isinstance(value, dict):
        yield from object_faults(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        for n, each in enumerate(value):
            yield from faults(each, schema["items"], f"{at}[{n}]")


def plain_faults(value: Any, schema: dict[str, Any], at: str) -> Iterator[str]:
    """What of a value itself is not as it has to be, whatever it holds."""
    for allowed in choices(schema):
        if not any(same(value, each) for each in allowed):
            yield f"{at} must be one of {brief(allowed, 200)}, and is {brief(value)}"
    if is_number(value):
        yield from range_faults(value, schema, at)
    if isinstance(value, str | list):
        long = "Length" if isinstance(value, str) else "Items"
        if len(value) < schema.get(f"min{long}", 0):
            yield f"{at} is too short: {len(value)}, at least {schema[f'min{long}']}"
        if len(value) > schema.get(f"max{long}", len(value)):
            yield f"{at} is too long: {len(value)}, at most {schema[f'max{long}']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{at} must match {schema['pattern']!r}, and is {brief(value)}"


def range_faults(value: float, schema: dict[str, Any], at: str) -> Iterator[str]:
    """Whether a number is too small or too large."""
    if value < schema.get("minimum", value):
        yield f"{at} must be at least {schema['minimum']}, and is {value}"
    if value > schema.get("maximum", value):
        yield f"{at} must be at most {schema['maximum']}, and is {value}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{at} must be more than {schema['exclusiveMinimum']}, and is {value}"
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"{at} must be less than {schema['exclusiveMaximum']}, and is {value}"


def object_faults(value: dict[str, Any], schema: dict[str, Any], at: str) -> Iterator[str]:
    """What of an object is missing, wrong, or too much."""
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield f"{at} has no {name!r}"
    for name, each in value.items():
        if name in known or rest is not False:
            yield from faults(each, known.get(name, rest), f"{at}.{name}")
        else:
            yield f"{at} has {name!r}, which nobody asked for"


def choices(schema: dict[str, Any]) -> list[list[Any]]:
    """The values of which one has to be there, if a schema names any."""
    named = [[schema["const"]]] if "const" in schema else []
    return [*named, *([schema["enum"]] if "enum" in schema else [])]


def same(value: Any, other: Any) -> bool:
    """Whether two values are the same to JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def a(kind: str) -> str:
    """A kind with its article."""
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def as_list(value: Any) -> list[Any]:
    """A list, of one thing too."""
    return value if isinstance(value, list) else [value]
