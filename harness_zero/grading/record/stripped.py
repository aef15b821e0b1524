"""What lies inside of the package: its modules, and of their functions those that are used there.

An answer can read every file that lies inside, and find every function in memory. So one that
nothing calls there has no body, nor has one that is itself an answer.
"""

import ast
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache

from harness_zero.grading.record.isolation import PACKAGE
from harness_zero.grading.record.plan import WHOLE, Plan, as_module, file_of

Name = tuple[str, str]  # a file of the package, and a name in it
Function = ast.FunctionDef | ast.AsyncFunctionDef
NOTHING: list[ast.stmt] = ast.parse("raise NotImplementedError").body


def stripped(plan: Plan) -> dict[str, str]:
    """The files that lie inside in a lab, each with what is left of it."""
    used, hidden = reached(plan), plan.settings["hidden"]
    files = {file: left(file, used, hidden.get(as_module(file), ())) for file in plan.files}
    return {**files, **plan.made}


def left(file: str, used: set[Name], hidden: tuple[str, ...]) -> str:
    """What a file holds without the bodies of functions that are not used, or hidden."""
    unused = {name for name in functions(file) if (file, name) not in used}
    return without(file, frozenset(unused.union(hidden)))


@cache
def without(file: str, empty: frozenset[str]) -> str:
    """What a file holds without the bodies of these functions."""
    if not empty:
        return source(file)
    body = [emptied(each) if named(each) in empty else each for each in tree(file).body]
    return ast.unparse(ast.Module(body, []))


def emptied(function: ast.stmt) -> ast.stmt:
    """A function that does nothing."""
    shell = copy(function)
    vars(shell)["body"] = NOTHING
    return shell


def reached(plan: Plan) -> set[Name]:
    """The functions that can be called: by whoever imports, and by what those call."""
    todo = [name for file in plan.files for name in roots(file, plan.settings["shown"])]
    todo += [
        name
        for made in plan.made.values()
        for each in imported(ast.parse(made))
        for name in of(*each)
    ]
    found = set[Name]()
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo += leads_to(*name)
    return {name for name in found if name[1] in functions(name[0])}


def roots(file: str, shown: Mapping[str, list[str]]) -> Iterator[Name]:
    """What is used of a file at once, or by its importers."""
    module = as_module(file)
    yield from ((file, name) for name in shown.get(module, ()))
    if module in WHOLE or ".record." in module:
        yield from ((file, name) for name in functions(file))
    for statement in tree(file).body:
        if not isinstance(statement, Function):
            yield from ((file, name) for name in names(statement))
            continue
        around = (*statement.decorator_list, statement.args)
        yield from ((file, name) for each in around for name in names(each))


def leads_to(file: str, name: str) -> Iterator[Name]:
    """What a name in a file stands for elsewhere, or what its function uses."""
    if not exists(file):
        return
    if name in functions(file):
        yield from ((file, each) for each in names(functions(file)[name]))
    for module, original in (found[1:] for found in imports(file) if found[0] == name):
        yield from of(name, module, original)


def of(name: str, module: str, original: str) -> Iterator[Name]:
    """What an imported name stands for; of a module anything may be used."""
    yield file_of(module), original
    whole = file_of(f"{module}.{original}")
    if exists(whole):
        told = (*functions(whole), *(name for name, *_ in imports(whole)))
        yield from ((whole, each) for each in told)


@cache
def names(node: ast.AST) -> set[str]:
    """The names that stand in a part of a program."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def named(statement: ast.stmt) -> str:
    """The name of a function; nothing for anything else."""
    return statement.name if isinstance(statement, Function) else ""


@cache
def exists(file: str) -> bool:
    """Whether the package has this file."""
    return (PACKAGE / f"{file}.py").is_file()


@cache
def source(file: str) -> str:
    """What stands in a file of the package."""
    return (PACKAGE / f"{file}.py").read_text("utf-8")


@cache
def tree(file: str) -> ast.Module:
    """The same as a tree."""
    return ast.parse(source(file))


@cache
def functions(file: str) -> dict[str, Function]:
    """The functions of a file, by name."""
    return {each.name: each for each in tree(file).body if isinstance(each, Function)}


@cache
def imports(file: str) -> list[tuple[str, str, str]]:
    """What a file imports of ours."""
    return imported(tree(file))


def imported(program: ast.Module) -> list[tuple[str, str, str]]:
    """The names that a program imports of ours, each with its module and its name there."""
    nodes = [each for each in ast.walk(program) if isinstance(each, ast.ImportFrom)]
    ours = [each for each in nodes if (each.module or "").startswith("harness_zero")]
    return [(a.asname or a.name, str(node.module), a.name) for node in ours for a in node.names]
