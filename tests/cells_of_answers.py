"""Answers of tests/answers as a learner would write them: one cell, with all that it needs.

What an answer takes from modules of ours that a lab's cells cannot import is written out in the
cell, as far as the answer needs it. So the cell imports nothing but what a learner's cell may.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from symtable import SymbolTable, symtable

Named = tuple[str, str]  # a module, and a name in it; of a module itself the name is empty


class Source:
    """A module that is read and not run: what it defines, and what it imports."""

    def __init__(self, module: str) -> None:
        self.defined: dict[str, ast.stmt] = {}
        self.imported: dict[str, Named] = {}
        for node in ast.parse(Path(find_spec(module).origin).read_text("utf-8")).body:
            self.defined.update(dict.fromkeys(made_by(node), node))
            self.imported.update(brought_by(node))


source = cache(Source)


def made_by(node: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    named = [each for target in targets if target for each in ast.walk(target)]
    return [each.id for each in named if isinstance(each, ast.Name)]


def brought_by(node: ast.stmt) -> dict[str, Named]:
    """The names that an import brings, and what they are."""
    if isinstance(node, ast.Import):
        return {each.asname or each.name: (each.name, "") for each in node.names}
    if not isinstance(node, ast.ImportFrom):
        return {}
    found = {each.asname or each.name: (node.module, each.name) for each in node.names}
    return {name: (".".join(of), "") if is_ours(".".join(of)) else of for name, of in found.items()}


@cache
def is_ours(module: str) -> bool:
    """Whether this is a module of the package, and no name in one."""
    package = module.rpartition(".")[0]
    if package and not (is_ours(package) and find_spec(package).submodule_search_locations):
        return False
    return module.startswith("harness_zero") and find_spec(module) is not None


class Cell:
    """A cell in the making: `may` says what it can import of ours, `known` what is there."""

    def __init__(self, may: Callable[[str, str], bool], known: dict[str, Named]) -> None:
        self.may, self.known = may, known
        self.needed: dict[str, dict[str, None]] = {}  # the names that are needed of each module
        self.spaces: dict[str, str] = {}  # modules of ours, written out, each behind its own

    def need(self, module: str, name: str) -> None:
        """Note that a name of a module of ours is needed, and what it needs itself."""
        if name in self.needed.setdefault(module, {}):
            return
        self.needed[module][name] = None
        there = source(module)
        if not self.may(module, name) and name in there.defined:
            self.need_all(module, there.defined[name])
        elif not self.may(module, name) and all(there.imported[name]):
            self.follow(there.imported[name])

    def need_all(self, module: str, node: ast.AST) -> None:
        """Note what a piece of a module needs."""
        there, node = source(module), bare(node)
        for name in sorted(names_in(node) & {*there.defined, *there.imported}):
            of, part = there.imported.get(name, ("", name))
            parts = [] if part else parts_in(node, name)
            if part or parts:
                self.need(module, name)
            for each in parts:
                self.follow((of, each))

    def follow(self, of: Named) -> None:
        """Note what an import needs, if it is one of ours."""
        if of[0].startswith("harness_zero"):
            self.need(*of)

    def lines(self, module: str, known: dict[str, Named]) -> Iterator[str]:
        """What is needed of a module, in its order; what is known is there already."""
        there, names = source(module), self.needed.get(module, {})
        for name in sorted(names):
            if self.may(module, name):
                yield f"from {module} import {name}"
            elif name not in there.defined and known.get(name) != there.imported[name]:
                yield from self.brought(name, *there.imported[name])
        own = [n for n in names if n in there.defined and not self.may(module, n)]
        made = {there.defined[n].lineno: ast.unparse(bare(there.defined[n])) for n in own}
        yield from (made[line] for line in sorted(made) if made[line] not in known.values())

    def brought(self, name: str, module: str, part: str) -> Iterator[str]:
        """The line that brings a name; none for a module of which nothing is used."""
        if not module.startswith("harness_zero") or (part and self.may(module, part)):
            alias = "" if name == (part or module) else f" as {name}"
            yield f"from {module} import {part}{alias}" if part else f"import {module}{alias}"
        elif module in self.needed:
            yield f"{name} = {self.space(module)}{'.' * bool(part)}{part}"

    def space(self, module: str) -> str:
        """The name of what holds all that is needed of a module, which is written out once."""
        own = "_" + module.partition(".")[2].replace(".", "_")
        if module not in self.spaces:
            body = ["__file__ = 'cell.py'", *"\n".join(self.lines(module, {})).splitlines()]
            holds = ", ".join(f"{name}={name}" for name in self.needed[module])
            inside = "".join(f"    {line}\n" for line in body)
            self.spaces[module] = f"def {own}():\n{inside}    return SimpleNamespace({holds})\n\n\n"
            self.spaces[module] += f"{own} = {own}()\n\n\n"
        return own


def as_cell(module, kind, name, key, may, known) -> str:
    """The source of an answer in a cell that stands alone."""
    wanted, cell = expression(module, kind, name, key), Cell(may, known)
    cell.need_all(module.__name__, wanted)
    lines = "\n".join(cell.lines(module.__name__, known))
    body = "".join([*cell.spaces.values(), lines])
    if cell.spaces:
        body = f"from types import SimpleNamespace\n\n\n{body}"
    if ast.unparse(wanted) != name and name in cell.needed.get(module.__name__, ()):
        return apart(name, body, wanted)
    return f"{body}\n_answer = {ast.unparse(wanted)}\n{name} = _answer\n"


def apart(name: str, body: str, wanted: ast.expr) -> str:
    """The same where the answer uses something else that is called as the answer is."""
    inside = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    return f"def _answer():\n{inside}    return {ast.unparse(wanted)}\n\n\n{name} = _answer()\n"


def names_in(node: ast.AST) -> set[str]:
    """The names in a piece of source that are not its own."""
    return outer(symtable(ast.unparse(node), "a piece", "exec"))


def outer(table: SymbolTable) -> set[str]:
    """The names that a scope, or one inside it, takes from outside."""
    top = table.get_type() == "module"
    found = {each.get_name() for each in table.get_symbols() if top or each.is_global()}
    return found.union(*map(outer, table.get_children()))


def parts_in(node: ast.AST, name: str) -> set[str]:
    """Which parts of what has this name are used in a piece of source."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    return {f.attr for f in found if isinstance(f.value, ast.Name) and f.value.id == name}


def bare(node: ast.AST) -> ast.AST:
    """A piece of source without types, which a cell does not need."""
    return ast.fix_missing_locations(Bare().visit(ast.parse(ast.unparse(node)).body[0]))


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
