"""Modules read as source, and not run: what each name of them needs.

So what is laid down for a learner's process holds nothing besides what it needs there, and an
answer of ours that nobody needs cannot be found in it, however one looks for it.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from symtable import SymbolTable, symtable

Named = tuple[str, str]  # a module, and a name in it; of a module itself the name is empty
OURS = "harness_zero"
INSTEAD = "raise ImportError({!r} + ' is what this lab asks you to write')"


class Source:
    """A module: the statements at its top, what they define, and what they import."""

    def __init__(self, module: str) -> None:
        spec = find_spec(module)
        assert spec and spec.origin
        self.body = ast.parse(Path(spec.origin).read_text("utf-8")).body
        self.defined: dict[str, ast.stmt] = {}
        self.imported: dict[str, Named] = {}
        for node in self.body:
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


def brought_by(node: ast.AST) -> dict[str, Named]:
    """The names that an import brings, and what they are."""
    if isinstance(node, ast.Import):
        return {each.asname or each.name: (each.name, "") for each in node.names}
    if not isinstance(node, ast.ImportFrom):
        return {}
    return {each.asname or each.name: of(str(node.module), each.name) for each in node.names}


def of(module: str, name: str) -> Named:
    """What an import brings from a module: a name of it, or a module in it."""
    return (f"{module}.{name}", "") if is_module(f"{module}.{name}") else (module, name)


@cache
def is_module(name: str) -> bool:
    """Whether this is a module of the package, and no name in one."""
    package = name.rpartition(".")[0]
    if package:
        above = find_spec(package) if is_module(package) else None
        if not above or not above.submodule_search_locations:
            return False
    return is_ours(name) and find_spec(name) is not None


def is_ours(module: str) -> bool:
    """Whether a module is one of the package's, by its name."""
    return module.partition(".")[0] == OURS


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


def taken(texts: Iterable[str]) -> set[Named]:
    """What some modules take from others, each given as its text."""
    found = set[Named]()
    for tree in map(ast.parse, texts):
        known = {name: of for node in tree.body for name, of in brought_by(node).items()}
        found |= within(tree, known)
    return found


@cache
def needs(module: str, name: str) -> frozenset[Named]:
    """What a name that a module defines needs: names there, and what was imported for it."""
    there = source(module)
    if name in there.imported:
        return frozenset({there.imported[name]})
    node = there.defined[name]
    used = names_in(node)
    own = {(module, each) for each in used & {*there.defined, *there.imported}}
    return frozenset(own | within(node, {each: there.imported.get(each) for each in used}))


def within(node: ast.AST, imported: Mapping[str, Named | None]) -> set[Named]:
    """What a piece of source takes from modules that it knows as a whole, or imports itself."""
    whole = {name: of[0] for name, of in imported.items() if of and not of[1]}
    found = {(whole[name], part) for name in whole for part in parts_in(node, name)}
    return found.union(*(brought_by(each).values() for each in ast.walk(node)))


def needed(roots: Iterable[Named], there: Iterable[str], hidden: set[Named]) -> set[Named]:
    """All names that some names need, in the modules that are there; what is hidden needs none."""
    found, todo, there = set[Named](), [*roots], {*there}
    while todo:
        each = todo.pop()
        if each not in found and each[0] in there and each[1] in all_of(each[0]):
            found.add(each)
            todo += [] if each in hidden else needs(*each)
    return found


def pruned(
    modules: Iterable[str], roots: Mapping[str, Iterable[str]], hidden: Mapping[str, Iterable[str]]
) -> dict[str, str]:
    """The source of some modules with what is needed of it alone; with no roots it is whole."""
    names = {module: [*roots.get(module, all_of(module))] for module in modules}
    out = {(module, name) for module, each in hidden.items() for name in each}
    wanted = needed([(m, name) for m in names for name in names[m]], names, out)
    return {module: "\n".join(left(module, wanted, out)) + "\n" for module in names}


@cache
def all_of(module: str) -> frozenset[str]:
    """All names of a module."""
    return frozenset({*source(module).defined, *source(module).imported})


def left(module: str, wanted: set[Named], hidden: set[Named]) -> Iterator[str]:
    """The statements of a module that are needed, each as source."""
    for node in source(module).body:
        made = [*made_by(node), *brought_by(node)]
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each for each in node.names if (module, each.asname or each.name) in wanted]
            if names:
                yield ast.unparse(alone(node, names))
        elif isinstance(node, ast.FunctionDef) and (module, node.name) in hidden:
            yield f"def {node.name}(*_, **__):\n    {INSTEAD.format(f'{node.name} of {module}')}"
        elif not made or any((module, name) in wanted for name in made):
            yield ast.unparse(node)


def alone(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.stmt:
    """An import of these names alone."""
    if isinstance(node, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(node.module, names, node.level)
