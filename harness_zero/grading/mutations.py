"""What can go wrong in a piece of code, one thing at a time: mutmut's operators and some of ours.

Ours are what goes wrong in loops: a statement left out, two in the wrong order, a round too few,
a condition turned round, another value returned.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst
from mutmut.mutation.mutators import mutation_operators

KINDS = ("left out", "order", "rounds", "logic", "returns", "values", "arguments")


class Mutations(cst.CSTVisitor):
    """All that can go wrong in some code: its kind, the node, and what stands in its place then."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note what can go wrong at this node; docstrings and annotations are left as they are."""
        if isinstance(node, cst.Annotation) or is_docstring(node):
            return False
        for kind, of, operator in OPERATORS:
            if isinstance(node, of):
                self.found += [(kind, node, new) for new in operator(node)]
        return True


def is_docstring(node: cst.CSTNode) -> bool:
    """Whether this statement is a string and nothing else."""
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


def statement_left_out(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    """Nothing where it stood."""
    yield node.with_changes(body=[cst.Pass()])


def element_left_out(node: cst.List | cst.Tuple | cst.Dict) -> Iterator[cst.CSTNode]:
    """Each element once; the only one of a tuple stays."""
    if len(node.elements) > 1 or not isinstance(node, cst.Tuple):
        for at in range(len(node.elements)):
            yield node.with_changes(elements=[*node.elements[:at], *node.elements[at + 1 :]])


def insert_left_out(node: cst.FormattedString) -> Iterator[cst.CSTNode]:
    """An f-string that does not say one of the things it should."""
    for at, part in enumerate(node.parts):
        if isinstance(part, cst.FormattedStringExpression):
            yield node.with_changes(parts=[*node.parts[:at], *node.parts[at + 1 :]])


def statements_swapped(node: cst.IndentedBlock) -> Iterator[cst.CSTNode]:
    """Two statements in a row, the second one first."""
    for at, statement in enumerate(node.body[:-1]):
        if not is_docstring(statement):
            yield node.with_changes(body=swapped(node.body, at))


def elements_swapped(node: cst.List | cst.Tuple) -> Iterator[cst.CSTNode]:
    """Two elements in a row, the second one first."""
    for at in range(len(node.elements) - 1):
        yield node.with_changes(elements=swapped(node.elements, at))


def arguments_swapped(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Two arguments in a row, the second one first, where no name says which is which."""
    for at in range(len(node.args) - 1):
        if not any(argument.keyword or argument.star for argument in node.args[at : at + 2]):
            yield node.with_changes(args=swapped(node.args, at))


def argument_replaced(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Some text in an argument's place."""
    for at, argument in enumerate(node.args):
        if not argument.star:
            other = argument.with_changes(value=cst.SimpleString('"XX"'))
            yield node.with_changes(args=[*node.args[:at], other, *node.args[at + 1 :]])


def swapped(nodes: Sequence[Any], at: int) -> list[Any]:
    """These nodes with two in a row exchanged; a comma stays where it is."""
    first, second = nodes[at], nodes[at + 1]
    if hasattr(first, "comma"):
        commas = first.comma, second.comma
        second, first = second.with_changes(comma=commas[0]), first.with_changes(comma=commas[1])
    return [*nodes[:at], second, first, *nodes[at + 2 :]]


def rounds_reversed(node: cst.For | cst.CompFor) -> Iterator[cst.CSTNode]:
    """The last round first."""
    yield node.with_changes(iter=part(node.iter, "[::-1]"))


def rounds_left_out(node: cst.For | cst.CompFor) -> Iterator[cst.CSTNode]:
    """The first round alone, and all but the first."""
    yield node.with_changes(iter=part(node.iter, "[:1]"))
    yield node.with_changes(iter=part(node.iter, "[1:]"))


def part(node: cst.BaseExpression, of: str) -> cst.BaseExpression:
    """A slice of a sequence."""
    return cst.parse_expression(f"({code_of(node)}){of}")


def one_round(node: cst.While) -> Iterator[cst.CSTNode]:
    """A break at the end of the loop's body."""
    body = [*node.body.body, cst.parse_statement("break")]
    yield node.with_changes(body=node.body.with_changes(body=body))


def condition_changed(node: cst.If | cst.While | cst.CompIf) -> Iterator[cst.CSTNode]:
    """The contrary, always and never."""
    for condition in (f"not ({code_of(node.test)})", "True", "False"):
        yield node.with_changes(test=cst.parse_expression(condition))


def handler_widened(node: cst.ExceptHandler) -> Iterator[cst.CSTNode]:
    """Whatever is raised is caught, interrupts included."""
    if node.type:
        yield node.with_changes(type=cst.Name("BaseException"))


def another_return(node: cst.Return) -> Iterator[cst.CSTNode]:
    """None instead of a value, and text instead of None."""
    is_none = isinstance(node.value, cst.Name) and node.value.value == "None"
    if node.value:
        yield node.with_changes(value=cst.parse_expression('""' if is_none else "None"))


def code_of(node: cst.CSTNode) -> str:
    """A piece of code as text."""
    return cst.Module([]).code_for_node(node)


def kind_of(operator: str) -> str:
    """The kind of what one of mutmut's operators changes."""
    if operator.endswith(("_arguments", "_arg_removal")):
        return "arguments"
    of_values = ("_number", "_string", "_name", "_assignment", "_lambda")
    return "values" if operator.endswith(of_values) else "logic"


OPERATORS: list[tuple[str, Any, Any]] = [
    ("left out", cst.SimpleStatementLine, statement_left_out),
    ("left out", cst.List | cst.Tuple | cst.Dict, element_left_out),
    ("left out", cst.FormattedString, insert_left_out),
    ("order", cst.IndentedBlock, statements_swapped),
    ("order", cst.List | cst.Tuple, elements_swapped),
    ("order", cst.Call, arguments_swapped),
    ("order", cst.For | cst.CompFor, rounds_reversed),
    ("rounds", cst.For | cst.CompFor, rounds_left_out),
    ("rounds", cst.While, one_round),
    ("logic", cst.If | cst.While | cst.CompIf, condition_changed),
    ("logic", cst.ExceptHandler, handler_widened),
    ("returns", cst.Return, another_return),
    ("arguments", cst.Call, argument_replaced),
    *((kind_of(operator.__name__), of, operator) for of, operator in mutation_operators),
]
