"""A source as it is stepped through: functions, and the statements in them.

Which lines of a statement Python counts, and how often, differs from version to version. The
statement does not: so steps are made of statements.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ROUND = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
INNER = ("body", "orelse", "finalbody", "handlers", "cases")  # where statements hold statements


@dataclass(frozen=True)
class Statement:
    """One statement; of one that holds others, its head: the lines that are lit together."""

    first: int
    last: int
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    goes_round: bool = False  # in a comprehension, which is no new step


@dataclass(frozen=True)
class Part:
    """A function with all that stands in it, or a statement that stands in none."""

    name: str
    file: str
    first: int
    last: int
    lines: tuple[str, ...]
    hidden: frozenset[str]  # the names that comprehensions in it have to themselves


class Listing:
    """The source of one file or cell."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file = file
        self.lines = [line.rstrip("\n") for line in lines]
        self.tree = ast.parse("".join(lines))
        self.known: dict[int, Statement] = {}

    @cached_property
    def statements(self) -> dict[int, Statement]:
        """The statement that each line belongs to; of several on one line, the first."""
        owned: dict[int, Statement] = {}
        for node, layout in laid_out(self.tree.body):
            statement = statement_of(node, layout)
            for line in range(first_line(node), statement.last + 1):
                owned.setdefault(line, statement)
        return owned

    def statement(self, line: int) -> Statement:
        """The statement on this line; of a line that is none, such as `else:`, the line."""
        return self.statements.get(line) or self.known.setdefault(line, Statement(line, line))

    def part(self, line: int) -> Part:
        """The function, method or bare statement that this line stands in."""
        found, path = enclosing(self.tree.body, line)
        first, last = (first_line(found), last_line(found)) if found else (line, line)
        own = [found.name] if isinstance(found, FUNCTIONS) else []
        hidden = comprehended(found) if found else frozenset()
        lines = tuple(self.lines[first - 1 : last])
        return Part(".".join([*path, *own]), self.file, first, last, lines, hidden)


class Layout:
    """How a statement is laid out: its head, and what it holds beside that or below it."""

    def __init__(self, node: ast.AST) -> None:
        held = inner(node)
        known = {id(each) for each in held}
        self.head = [each for each in ast.iter_child_nodes(node) if id(each) not in known]
        ends = (last_line(part) for head in self.head for part in ast.walk(head))
        end = max([own_line(node), *ends])
        beside = [each for each in held if first_line(each) <= end]  # `if done: return`
        self.line = [*self.head, *beside]  # what is one with the head
        self.apart = [each for each in held if first_line(each) > end]
        self.last = max([end, *map(last_line, beside)])


def laid_out(body: Iterable[ast.AST]) -> Iterator[tuple[ast.AST, Layout]]:
    """All statements, clauses included, each before those that it holds."""
    waiting = [*body][::-1]
    while waiting:
        node = waiting.pop()
        layout = Layout(node)
        yield node, layout
        waiting += layout.apart[::-1]


def inner(node: ast.AST) -> list[ast.AST]:
    """The statements and clauses that a statement holds."""
    return [each for name in INNER for each in getattr(node, name, [])]


def own_line(node: ast.AST) -> int:
    """The line on which a statement begins, its decorators left out."""
    return node.pattern.lineno if isinstance(node, ast.match_case) else getattr(node, "lineno", 0)


def first_line(node: ast.AST) -> int:
    """The line on which a statement begins, its decorators included."""
    return min([own_line(node), *(d.lineno for d in getattr(node, "decorator_list", []))])


def statement_of(node: ast.AST, layout: Layout) -> Statement:
    """A statement with the names that it reads and writes: of a head, the head's."""
    last = layout.last
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return Statement(own_line(node), last, (), (node.name,))
    found = [each for part in layout.line for each in ast.walk(part)]
    own = {*bound_in_comprehensions(found), *bound_in_lambdas(found)}
    named = [each for each in found if isinstance(each, ast.Name) and each.id not in own]
    reads = [each.id for each in named if isinstance(each.ctx, ast.Load)]
    writes = [each.id for each in named if not isinstance(each.ctx, ast.Load)]
    writes += bound_otherwise([node, *found])
    goes_round = not inner(node) and any(isinstance(each, ROUND) for each in found)
    once = [tuple(dict.fromkeys(names)) for names in (reads, writes)]
    return Statement(own_line(node), last, once[0], once[1], goes_round)


def bound_in_comprehensions(found: Iterable[ast.AST]) -> Iterator[str]:
    """The names that comprehensions go round with."""
    targets = (each.target for each in found if isinstance(each, ast.comprehension))
    return (name.id for each in targets for name in ast.walk(each) if isinstance(name, ast.Name))


def bound_in_lambdas(found: Iterable[ast.AST]) -> Iterator[str]:
    """The names of the parameters of lambdas."""
    lambdas = (each.args for each in found if isinstance(each, ast.Lambda))
    return (arg.arg for each in lambdas for arg in ast.walk(each) if isinstance(arg, ast.arg))


def bound_otherwise(found: Iterable[ast.AST]) -> Iterator[str]:
    """The names that stand in a source as words alone: `except … as error`, `case {"id": id}`."""
    for each in found:
        if isinstance(each, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, *FUNCTIONS)):
            yield from [each.name] if each.name else []
        elif isinstance(each, ast.MatchMapping):
            yield from [each.rest] if each.rest else []
        elif isinstance(each, ast.alias):
            yield each.asname or each.name.partition(".")[0]


def comprehended(part: ast.AST) -> frozenset[str]:
    """The names that nothing but a comprehension binds: outside of it they do not exist."""
    found = [*ast.walk(part)]
    targets = {
        id(name)
        for each in found
        if isinstance(each, ast.comprehension)
        for name in ast.walk(each.target)
    }
    stored = [
        each.id
        for each in found
        if isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Store)
        and id(each) not in targets
    ]
    arguments = [each.arg for each in found if isinstance(each, ast.arg)]
    bound = {*stored, *arguments, *bound_otherwise(found)}
    return frozenset({*bound_in_comprehensions(found)} - bound)


def enclosing(body: Iterable[ast.AST], line: int) -> tuple[ast.stmt | None, list[str]]:
    """The outermost function around a line, else the statement there; and its classes by name."""
    for node in body:
        if not first_line(node) <= line <= last_line(node):
            continue
        if isinstance(node, FUNCTIONS):
            return node, []
        deeper, path = enclosing(inner(node), line)
        if deeper is not None:
            return deeper, [*([node.name] if isinstance(node, ast.ClassDef) else []), *path]
        return (node, []) if isinstance(node, ast.stmt) else (None, [])
    return None, []


def last_line(node: ast.AST) -> int:
    """The line on which a statement or a clause ends."""
    return getattr(node, "end_lineno", 0) or max(map(last_line, inner(node)), default=0)
