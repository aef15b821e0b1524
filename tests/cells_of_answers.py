"""Answers of tests/answers as a learner would write them: in a cell, with what they need."""

import ast
from copy import deepcopy
from inspect import getsource
from symtable import symtable


def as_cell(module, kind, name, key, known):
    """The source of an answer; names that the notebook knows already are not imported."""
    wanted = expression(module, kind, name, key)
    imported, defined = tops(module)
    lines, body, seen, todo = [], [], set(), [wanted]
    while todo:
        node = todo.pop()
        for each in sorted(used(node) - seen):
            seen.add(each)
            if each in defined and not (each in known and isinstance(defined[each], ast.Assign)):
                body.append(defined[each])
                todo.append(defined[each])
            elif each in imported and each not in known:
                lines.append(imported[each])
    order = [*defined.values()]
    made = map(ast.unparse, sorted(body, key=order.index))
    return "\n".join([*lines, *made, f"_answer = {ast.unparse(wanted)}", f"{name} = _answer"])


def used(node):
    """The names that a node takes from around it; not those that it makes itself."""
    tables, found = [symtable(ast.unparse(node), "", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outermost = table.get_type() == "module"
        of_all = [each for each in table.get_symbols() if each.is_referenced()]
        found |= {each.get_name() for each in of_all if each.is_global() or outermost}
    return found


def expression(module, kind, name, key):
    """The expression of an answer in RIGHT or WRONG."""
    tables = {node.targets[0].id: node.value for node in assigned(module)}
    of = dict(pairs(tables[kind]))[name]
    return of.elts[key] if kind == "RIGHT" else dict(pairs(of))[key].elts[0]


def pairs(table):
    """The keys and values of a dict in source."""
    return [(key.value, value) for key, value in zip(table.keys, table.values, strict=True)]


def assigned(module):
    """The assignments of a module to one name each."""
    body = ast.parse(getsource(module)).body
    return [n for n in body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]


def tops(module):
    """What a module imports, a line a name, and what it defines."""
    imported, defined = {}, {node.targets[0].id: node for node in assigned(module)}
    for node in ast.parse(getsource(module)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                alone = deepcopy(node)
                alone.names = [alias]
                imported[alias.asname or alias.name] = ast.unparse(alone)
    return imported, dict(sorted(defined.items(), key=lambda pair: pair[1].lineno))


def known_in(plan):
    """The names that a lab's own cells make or import."""
    found = set()
    for node in (node for slot in plan.slots for node in ast.parse(slot.source).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found
