"""Answers of tests/answers as a learner would write them: one cell, with all that it needs.

What an answer takes from modules of ours that a lab's cells cannot import is written out in the
cell, as far as the answer needs it. So the cell imports nothing but what a learner's cell may.
"""

import ast

from harness_zero.grading.record.sources import (
    Named,
    brought_by,
    made_by,
    source,
)


class Bare(ast.NodeTransformer):
    """Takes types away."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant("Any")
        self.generic_visit(node)
        return node


def expression(module, kind, name, key) -> ast.expr:
    """The expression of an answer in RIGHT or WRONG."""
    table = source(module.__name__).defined[kind].value
    of = dict(pairs(table))[name]
    return of.elts[key] if kind == "RIGHT" else dict(pairs(of))[key].elts[0]


def pairs(table: ast.Dict) -> list[tuple[str, ast.expr]]:
    """The keys and values of a dict in source."""
    return [(key.value, value) for key, value in zip(table.keys, table.values, strict=True)]


def known_in(plan) -> dict[str, Named | str]:
    """The names that a lab's own cells import or make, and what they are."""
    found = {}
    for node in (node for slot in plan.slots for node in ast.parse(slot.source).body):
        found.update(brought_by(node))
        found.update(dict.fromkeys(made_by(node), ast.unparse(node)))
    return found
