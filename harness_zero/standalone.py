"""A notebook's cell as a module that stands alone: with the imports and helpers that it relies on.

In a notebook a function finds its names in whatever cells ran before. Here each name is traced to
where it comes from: a module, a piece of the same package, another cell, or a plain value.
"""

import ast
import builtins
import inspect
import symtable
import sys
from collections.abc import Iterator, Mapping
from textwrap import dedent
from types import ModuleType
from typing import Any

Names = Mapping[str, Any]
Import = tuple[str, str, str]  # a module, what is taken from it (or nothing), and its name here


class NotAlone(Exception):
    """The cell cannot stand alone; the sentence says which name is in the way, and what to do."""


def standalone(source: str, names: Names, pieces: Mapping[str, str]) -> str:
    """The source of a module that defines what the cell defines.

    `names` is the notebook's namespace. `pieces` says for names that are pieces of the same
    package under what name they stand there.
    """
    body = definitions(source)
    imports: set[Import] = set()
    helpers: dict[str, str] = {}
    trace(body, names, pieces, imports, helpers)
    parts = [written(imports), *helpers.values(), body]
    return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def definitions(source: str) -> str:
    """The cell without what it only tries out: calls and other values that nothing is made of."""
    try:
        tree = ast.parse(source)
    except SyntaxError as fault:
        why = "a line that begins with ! or % is the notebook's, and no Python"
        raise NotAlone(f"line {fault.lineno} of the cell is no plain Python; {why}") from None
    lines = source.split("\n")
    for statement in reversed(tree.body):
        if isinstance(statement, ast.Expr) and statement is not tree.body[0]:
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "\n".join(lines)


def trace(
    source: str,
    names: Names,
    pieces: Mapping[str, str],
    imports: set[Import],
    helpers: dict[str, str],
) -> None:
    """Find where each name comes from that the source uses and does not make."""
    for name in needed(source):
        if name in helpers:
            continue
        if name in pieces:
            imports.add((".", pieces[name], name))
        elif name not in names:
            raise NotAlone(f"it uses {name}, which no cell has made")
        elif found := import_of(name, names[name]):
            imports.add(found)
        else:
            helpers[name] = helper = source_of(name, names[name])
            trace(helper, getattr(names[name], "__globals__", names), pieces, imports, helpers)


def needed(source: str) -> list[str]:
    """The global names that a source uses and does not make, in order."""
    module = symtable.symtable(source, "cell", "exec")
    made = {s.get_name() for s in module.get_symbols() if s.is_assigned() or s.is_imported()}
    used = dict.fromkeys(globals_in(module))
    return [name for name in used if name not in made and not hasattr(builtins, name)]


def globals_in(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that are used in a scope and in those inside it."""
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from globals_in(inner)


def import_of(name: str, value: Any) -> Import | None:
    """Where a value can be imported from; None if it comes from the notebook."""
    if isinstance(value, ModuleType):
        return value.__name__, "", name
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    there = sys.modules.get(home or "")
    if home in (None, "__main__") or own is None or getattr(there, own, None) is not value:
        return None
    return str(home), own, name


def source_of(name: str, value: Any) -> str:
    """How a value of the notebook is made: a function's source, or a plain value written out."""
    if inspect.isfunction(value) and value.__name__ == name:
        try:
            return dedent(inspect.getsource(value))
        except (OSError, TypeError):
            pass
    elif is_plain(value):
        return f"{name} = {value!r}"
    raise NotAlone(f"it uses {name}; make {name} in the same cell, so that both go together")


def is_plain(value: Any) -> bool:
    """Whether Python's own way to write a value makes the same value again."""
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False


def written(imports: set[Import]) -> str:
    """Import statements: the standard library's first, then ours, then the package's own."""
    groups: dict[int, list[str]] = {}
    for module in sorted({module for module, _, _ in imports}):
        taken = sorted((own, name) for home, own, name in imports if home == module)
        parts = [own + (f" as {name}" if name != own else "") for own, name in taken if own]
        group = groups.setdefault(2 if module == "." else module.startswith("harness_zero"), [])
        group += [
            f"import {module}" + (f" as {name}" if name != module else "")
            for own, name in taken
            if not own
        ]
        group += [f"from {module} import {', '.join(parts)}"] if parts else []
    ordered = [sorted(groups[at], key=lambda line: line[0] == "f") for at in sorted(groups)]
    return "\n\n".join("\n".join(group) for group in ordered)
