"""The pieces of earlier labs that a lab's own cells borrow, for a learner's process.

They stand in modules that hold promises as well, and answers to other exercises. So they are cut
out: of such a module only the definitions that a borrowed piece needs are laid inside.
"""

import ast
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import harness_zero
from harness_zero.grading.exercise import Piece
from harness_zero.mine import in_order, makers

PACKAGE = Path(harness_zero.__file__).parent
MINE = "harness_zero.mine"
HEAD = "from __future__ import annotations\n"  # so that no type is needed that stands elsewhere
LAST = 1_000_000  # of all lines
OURS = """
def ours(*names):
    if others := [name for name in names if name not in globals()]:
        raise ImportError(f"not to be borrowed here: {', '.join(others)}")
    return [globals()[name] for name in names]
"""
Needed = dict[str, dict[str, ast.stmt]]  # by module and name, what makes the name


def borrowed_in(sources: Iterable[str]) -> list[str]:
    """The names of the pieces that cells ask `ours` for."""
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and is_ours(node.func)]
    given = [each for call in calls for each in call.args]
    return [str(each.value) for each in given if isinstance(each, ast.Constant)]


def is_ours(function: ast.expr) -> bool:
    """Whether this is the function that borrows pieces."""
    return isinstance(function, ast.Name) and function.id == "ours"


def cut_out(names: Iterable[str], absent: Callable[[str], bool]) -> dict[str, str]:
    """The sources of modules that make these pieces, and of one that lends them.

    Of a module that is not inside they hold a part; the others they import.
    """
    latest = {name: exercises[-1].piece for name, exercises in makers().items()}
    pieces = {name: piece for name, piece in latest.items() if piece}
    needs = {name: {*piece.needs} for name, piece in pieces.items()}
    made, todo = dict[str, Piece](), [*names]
    while todo:
        name = todo.pop()
        piece = made[name] = pieces[name]
        todo += [each for each in piece.needs if each not in made]
    found: Needed = {}
    ways = {name: way(piece) for name, piece in made.items()}
    for name, expression in ways.items():
        for each in names_of(expression):
            follow(made[name].borrowed.__module__, each, absent, found)
    lines = [lending(made[name]) for name in in_order(needs) if name in made]
    for name, expression in ways.items():
        line = ast.parse(f"borrowed_{name} = {ast.unparse(expression)}").body[0]
        line.lineno = LAST
        found[made[name].borrowed.__module__][f"borrowed_{name}"] = line
    return {
        MINE: "\n".join([*lines, OURS]),
        **{module: source_of(parts) for module, parts in found.items()},
    }


def lending(piece: Piece) -> str:
    """The lines that make a piece with those that it needs."""
    module, given = piece.borrowed.__module__, ", ".join(f"{n}={n}" for n in piece.needs)
    made = f"borrowed_{piece.name}"
    return f"from {module} import {made}\n{piece.name} = {made}({given})"


def way(piece: Piece) -> ast.expr:
    """The expression that makes a piece, as its module writes it."""
    make = piece.borrowed
    if make.__name__ != "<lambda>":
        return ast.Name(make.__name__)
    nodes = ast.walk(tree_of(make.__module__))
    at = make.__code__.co_firstlineno
    return next(n for n in nodes if isinstance(n, ast.Lambda) and n.lineno == at)


def follow(module: str, name: str, absent: Callable[[str], bool], found: Needed) -> None:
    """Find what makes a name in a module, and all that this needs."""
    there = found.setdefault(module, {})
    node = tops(module).get(name)
    if node is None or name in there:
        return
    there[name] = node
    if not isinstance(node, ast.Import | ast.ImportFrom):
        for each in names_of(node):
            follow(module, each, absent, found)
    elif isinstance(node, ast.ImportFrom) and node.module and absent(node.module):
        follow(node.module, node.names[0].name, absent, found)


def names_of(node: ast.AST) -> list[str]:
    """The names that stand in this."""
    return sorted({each.id for each in ast.walk(node) if isinstance(each, ast.Name)})


@cache
def tree_of(module: str) -> ast.Module:
    """A module of ours, read."""
    file = module.removeprefix("harness_zero.").replace(".", "/")
    return ast.parse((PACKAGE / f"{file}.py").read_text("utf-8"))


@cache
def tops(module: str) -> dict[str, ast.stmt]:
    """What makes each name at the top of a module; of an import the one name."""
    found: dict[str, ast.stmt] = {}
    for node in tree_of(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {name: node for target in node.targets for name in names_of(target)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.Import):
            found |= {each.asname or each.name: ast.Import([each]) for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = ast.ImportFrom(node.module, [each], node.level)
    return found


def source_of(parts: dict[str, ast.stmt]) -> str:
    """The source of what is needed of a module, what is imported first."""
    nodes = sorted({id(node): node for node in parts.values()}.values(), key=line_of)
    return HEAD + "\n".join(map(ast.unparse, nodes)) + "\n"


def line_of(node: ast.stmt) -> int:
    """Where a statement stands; what is imported is first."""
    return 0 if isinstance(node, ast.Import | ast.ImportFrom) else node.lineno
