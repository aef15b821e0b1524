"""An answer from a notebook as a module that stands alone.

In a notebook a function finds its names in whatever cells ran before. Here each name is traced to
the statement that made it last, and only these statements go along: what a cell tries out stays.
"""

import ast
import builtins
import importlib
import symtable
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

THE_NOTEBOOKS = {"display", "get_ipython", "In", "Out"}


class NotAlone(Exception):
    """The answer cannot stand alone; the sentence says what is in the way, and what to do."""


class Module:
    """The statements of a module, gathered from a notebook's cells with all that they need."""

    def __init__(self, cells: Sequence[str], pieces: Mapping[str, str]) -> None:
        self.made = statements(cells)
        self.pieces = (
            pieces  # what other pieces of the package are called in the notebook, and there
        )
        self.used: list[str] = []  # of these
        self.future: list[str] = []
        self.imports: list[str] = []
        self.rest: list[str] = []
        self.begun: set[str] = set()

    def add(self, name: str) -> None:
        """Take along the statement that made a name, behind those that it needs itself."""
        if name in self.begun:
            return
        self.begun.add(name)
        source = self.source_of(name)
        for other in needed(without_hints(source) if self.future else source):
            self.take(other)
        kind = self.imports if is_import(source) else self.rest
        if source not in kind:
            kind.append(source)

    def take(self, name: str) -> None:
        """Take along what a statement needs: another piece, or another statement."""
        if name in self.pieces:
            self.used += [name] if name not in self.used else []
        else:
            self.add(name)

    def source_of(self, name: str) -> str:
        """The statement that made a name last."""
        if name in THE_NOTEBOOKS:
            raise NotAlone(f"it uses {name}, which there is in a notebook alone")
        if name not in self.made:
            raise NotAlone(f"it uses {name}, which no cell has made")
        return self.made[name]

    def written(self) -> str:
        """The module's source."""
        own = [f"from . import {as_name(self.pieces[name], name)}" for name in self.used]
        library = [line for line in self.imports if " harness_zero" not in line]
        ours = [line for line in self.imports if line not in library]
        groups = [self.future, merged(library), merged(ours), merged(own)]
        head = "\n\n".join("\n".join(group) for group in groups if group)
        return "\n\n\n".join([part for part in (head, *self.rest) if part]) + "\n"


def standalone(name: str, cells: Sequence[str], pieces: Mapping[str, str]) -> tuple[str, list[str]]:
    """The source of a module that makes this name as the cells did, and the pieces that it uses.

    `cells` are the notebook's, in the order in which they ran. `pieces` says for names that are
    pieces of the same package what they are called there.
    """
    module = Module(cells, pieces)
    module.future = [line for line in module.made.values() if line.startswith("from __future__")]
    module.add(name)
    return module.written(), module.used


def statements(cells: Sequence[str]) -> dict[str, str]:
    """For each name the source of the statement that made it last; later cells outdo earlier."""
    made: dict[str, str] = {}
    for cell in cells:
        with suppress(SyntaxError, ValueError):
            tree = ast.parse(cell)
            for statement, source in zip(tree.body, sources(cell, tree.body), strict=True):
                made |= dict.fromkeys(bound(statement, source), source)
    return {name: one_name(source, name) for name, source in made.items()}


def sources(cell: str, body: list[ast.stmt]) -> list[str]:
    """The source of each statement, with the comments just above it."""
    lines = cell.split("\n")
    shared = {two.lineno for one, two in pairwise(body) if one.end_lineno == two.lineno}
    found, end = [], 0
    for statement in body:
        if statement.lineno in shared or statement.end_lineno in shared:
            found.append(ast.get_source_segment(cell, statement) or "")
        else:
            start = first_line(statement)
            while start - 1 > end and is_comment(lines[start - 2]):
                start -= 1
            found.append("\n".join(lines[start - 1 : statement.end_lineno]))
        end = statement.end_lineno or end
    return found


def is_comment(line: str) -> bool:
    """Whether a line is a comment, and no cell's magic that has become one."""
    return line.startswith("#") and not line.startswith("#%%")


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators = getattr(statement, "decorator_list", [])
    return min(each.lineno for each in [statement, *decorators])


def bound(statement: ast.stmt, source: str) -> Iterator[str]:
    """The names that a statement makes; one that only changes a name does not make it."""
    if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
        yield from public(statement.module or "")
    elif not isinstance(statement, ast.Expr | ast.AugAssign | ast.Delete | ast.Assert):
        table = symtable.symtable(source, "cell", "exec")
        for symbol in table.get_symbols():
            if symbol.is_assigned() or symbol.is_imported():
                yield symbol.get_name()


def public(module: str) -> list[str]:
    """What `from module import *` makes."""
    try:
        there = importlib.import_module(module)
    except Exception:
        return []
    return getattr(there, "__all__", [name for name in vars(there) if name[0] != "_"])


def one_name(source: str, name: str) -> str:
    """Of a line that imports several names, the import of one."""
    (statement, *_) = ast.parse(source).body
    if not isinstance(statement, ast.Import | ast.ImportFrom) or source.startswith("from __future"):
        return source
    if isinstance(statement, ast.ImportFrom):
        home = "." * statement.level + (statement.module or "")
        own = next((a.name for a in statement.names if (a.asname or a.name) == name), name)
        return f"from {home} import {as_name(own, name)}"
    module = next(a for a in statement.names if (a.asname or a.name.split(".")[0]) == name)
    return f"import {module.name}" + (f" as {module.asname}" if module.asname else "")


def as_name(own: str, name: str) -> str:
    """What is imported, under the name that is used here."""
    return own if own == name else f"{own} as {name}"


def merged(imports: list[str]) -> list[str]:
    """Import lines in order, and one line for all that comes from one module."""
    taken: dict[str, list[str]] = {}
    for line in sorted(imports):
        home, _, names = line.partition(" import ")
        taken.setdefault(home, []).append(names)
    return [
        f"{home} import {', '.join(names)}" if names[0] else home for home, names in taken.items()
    ]


def is_import(source: str) -> bool:
    """Whether a statement is an import."""
    return isinstance(ast.parse(source).body[0], ast.Import | ast.ImportFrom)


def needed(source: str) -> list[str]:
    """The names that a statement takes from around it, in order."""
    module = symtable.symtable(source, "cell", "exec")
    makes = {s.get_name() for s in module.get_symbols() if s.is_assigned() or s.is_imported()}
    used = dict.fromkeys(globals_in(module))
    return [name for name in used if name not in makes and not is_builtin(name)]


def without_hints(source: str) -> str:
    """A statement whose type hints are never looked up: they may name what is nowhere."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for hint in ("annotation", "returns"):
            if isinstance(node, ast.arg | ast.FunctionDef) and hasattr(node, hint):
                setattr(node, hint, None)
    return ast.unparse(tree)


def is_builtin(name: str) -> bool:
    """Whether a name is Python's own, also outside of a notebook."""
    return hasattr(builtins, name) and name not in THE_NOTEBOOKS


def globals_in(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that are used in a scope and in those inside it."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_declared_global() or (symbol.is_referenced() and (top or symbol.is_global())):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from globals_in(inner)
