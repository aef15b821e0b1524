"""A tool is a function with a schema: what the model reads about it, made from its signature."""

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, formatannotation, getdoc, isroutine, signature
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from harness_zero.faults import SetupFault

Schema = dict[str, Any]

TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    NoneType: "null",
}


def schemas(tools: Mapping[str, Callable]) -> list[Schema]:
    """The schemas of all tools, under the names by which a model calls them."""
    return [schema(function, name) for name, function in tools.items()]


def schema(function: Callable, name: str = "") -> Schema:
    """A tool's name, description and input schema, as the Messages API takes them."""
    if not isroutine(function):
        raise SetupFault(f"a tool is a function; {name or 'this one'} is {function!r}")
    name = name or function.__name__
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
        raise SetupFault(f"{name!r} is no name for a tool: 1 to 64 of a-z, A-Z, 0-9, _ and -")
    parameters, types = declared(function, name)
    properties = {p.name: property_schema(p, types, name) for p in parameters}
    required = [p.name for p in parameters if p.default is Parameter.empty]
    inputs = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": getdoc(function) or "", "input_schema": inputs}


def declared(function: Callable, name: str) -> tuple[list[Parameter], dict[str, Any]]:
    """The function's parameters and their types, also those that were written as strings."""
    try:
        return [*signature(function).parameters.values()], get_type_hints(function)
    except Exception as reason:
        raise SetupFault(f"{name}: its signature cannot be read: {reason}") from None


def property_schema(parameter: Parameter, types: dict[str, Any], name: str) -> Schema:
    """The schema of one parameter."""
    if parameter.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
        raise SetupFault(f"{name}: {parameter} cannot be given by name, as a model gives it")
    if parameter.name not in types:
        raise SetupFault(
            f"{name}: {parameter.name} has no annotation; a model has to know its type"
        )
    try:
        return type_schema(types[parameter.name])
    except TypeError as reason:
        raise SetupFault(f"{name}: {parameter.name} is annotated {reason}") from None


def type_schema(annotation: Any) -> Schema:
    """What JSON values a type hint allows."""
    kind, inner = get_origin(annotation) or annotation, get_args(annotation)
    if kind is Literal:
        kinds = [type_schema(type(value))["type"] for value in inner]
        return {
            "type": kinds[0] if len({*kinds}) == 1 else [*dict.fromkeys(kinds)],
            "enum": [*inner],
        }
    if kind in (Union, UnionType):
        return {"anyOf": [type_schema(member) for member in inner]}
    if kind is list and inner:
        return {"type": "array", "items": type_schema(inner[0])}
    if kind is dict and inner and inner[0] is str:
        return {"type": "object", "additionalProperties": type_schema(inner[1])}
    if annotation in TYPES:
        return {"type": TYPES[annotation]}
    shown = formatannotation(annotation)
    raise TypeError(f"{shown}; a model can be told of str, int, float, bool, list and dict")
