"""What runs in a learner's process: the instructor's cells in their order, and the learner's gaps.

A learner's cell is known by its grade_id, and is taken for what stands under it; every other cell
is ours. Cells that only show or check something do not run.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from json import loads
from typing import Any

from harness_zero.course import checkout
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record.isolation import PACKAGE, SERVING
from harness_zero.grading.record.pieces import borrowed_in, cut_out
from harness_zero.grading.references import ASIDE, code, is_code, is_solution, solves, tags

NOT_PYTHON = {  # what only a notebook understands, and what stands in its place
    re.compile(r"^[%!?].*$", re.MULTILINE): "",
    re.compile(r"^([ \t]+)[%!?].*$", re.MULTILINE): r"\1pass",
    re.compile(r"^([ \t]*\w[\w, ]*=[ \t]*)[%!].*$", re.MULTILINE): r"\1None",
    re.compile(r"^([ \t]*)[\w.]+\?\??$", re.MULTILINE): r"\1pass",
}
FROM = re.compile(r"^from (harness_zero\.\S+) import ([^\n(]+|\([^)]*\))", re.MULTILINE)
WHOLE = {"harness_zero.brief", "harness_zero.labels", "harness_zero.messages", "harness_zero.run"}
ABSENT = ("notebook", "grading", "flight", "simulator", "mine")  # they show, or they hold answers
ANYTHING = (
    "harness_zero.notebook",
    "IPython.display",
)  # whatever is imported from them does nothing
ALWAYS = {  # names of ours that any cell can import: it may try its answer, or name its types
    "harness_zero.loop": {"ModelFailed"},
    "harness_zero.models.scripted": {"scripted", "OutOfReplies"},
    "harness_zero.ports": {"Model", "Policy", "Tool", "View"},
}
OURS = {  # names of ours that are the answer to an exercise of these labs
    "01_structural_stop": {"harness_zero.messages": ("pairing_fault", "array_fault")},
    "03_errors_as_data": {"harness_zero.brief": ("excerpt",)},
}


@dataclass(frozen=True)
class Slot:
    """A cell that runs: ours, or the learner's for an exercise."""

    name: str  # its grade_id, or its id
    source: str  # ours
    exercise: str | None  # which one the learner fills here


@dataclass(frozen=True)
class Plan:
    """How a lab is graded."""

    lab: Lab
    slots: tuple[Slot, ...]
    settings: Mapping[str, Any]  # what there is to import
    files: tuple[str, ...]  # of the package, that are there for it
    made: Mapping[str, str] = field(default_factory=dict)  # and what is cut out of others, by file

    def exercise(self, name: str) -> Exercise:
        """The exercise of this name."""
        return next(each for each in self.lab.exercises if each.name == name)

    def has(self, module: str, name: str = "") -> bool:
        """Whether a cell can import this name of a module, or the module."""
        shown, absent = self.settings["shown"], self.settings["absent"]
        if name in self.settings["hidden"].get(module, ()):
            return False
        if module in WHOLE or module in ANYTHING:
            return True
        return name in {**shown, **absent}.get(module, ()) or (not name and module in shown)

    def known(self) -> set[str]:
        """The names that our own cells make or import."""
        ours = [each.source for each in self.slots if not each.exercise]
        made = [name for source in ours for name in names_made(ast.parse(source))]
        return {*made}

    def gaps(self) -> set[str]:
        """The names of the cells that a learner fills."""
        return {slot.name for slot in self.slots if slot.exercise}

    def needed(self, exercise: str, cells: Mapping[str, str]) -> set[str]:
        """The learner's cells that an answer needs: its own, and those whose names it uses."""
        by_exercise = {slot.exercise: slot.name for slot in self.slots if slot.exercise}
        found, new = set[str](), {exercise}
        while new:
            found |= {by_exercise[each] for each in new if each in by_exercise}
            used = {name for cell in found for name in names_in(cells.get(cell, ""))}
            new = {each for each in used if by_exercise.get(each, "") not in {"", *found}}
        return found


@cache
def plan(name: str) -> Plan:
    """The plan of the lab of this name, from its solution."""
    lab = LABS[name]
    path = checkout() / "solutions" / lab.name / f"{lab.name}.ipynb"
    cells = [cell for cell in loads(path.read_text("utf-8"))["cells"] if is_code(cell)]
    slots = tuple(slot(cell, lab) for cell in cells if not ASIDE & tags(cell))
    sources = [each.source for each in slots if not each.exercise]
    made = cut_out(pieces, is_absent) if (pieces := borrowed_in(sources)) else {}
    shown, files = settings(name, sources, made)
    return Plan(lab, slots, shown, tuple(files), {file_of(each): made[each] for each in made})


def names_made(tree: ast.Module) -> Iterator[str]:
    """The names that stand at the top of a cell once it has run."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (each.asname or each.name for each in node.names)
        for each in ast.walk(node) if isinstance(node, ast.Assign) else ():
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id


def slot(cell: dict, lab: Lab) -> Slot:
    """A cell of our notebook as a place in the plan."""
    solved = [e.name for e in lab.exercises if is_solution(cell) and solves(cell, e.name)]
    name = cell["metadata"].get("nbgrader", {}).get("grade_id") or cell["id"]
    return Slot(name, code(cell), solved[0] if solved else None)


def settings(
    name: str, sources: list[str], made: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """What can be imported: some modules whole, of others what our own cells need, no more."""
    needed = {module: {*names} for module, names in ALWAYS.items()}
    for module, names in (found for source in sources for found in FROM.findall(source)):
        asked = {each.split(" as ")[0].strip() for each in names.strip("()").split(",")}
        needed.setdefault(module, set()).update(filter(None, asked))
    cut = [file for source in made.values() for file in imported(source)]
    files = closure([*(file_of(each) for each in needed if not is_absent(each)), *cut])
    there = [*map(as_module, files), *made]
    parts = [each for each in there if each not in WHOLE and ".grading.record" not in each]
    shown = {module: sorted(needed.get(module, ())) for module in parts if is_leaf(module, there)}
    gone = sorted({*needed, *(f"harness_zero.{each}" for each in ABSENT)} - {*there})
    absent = {module: sorted(needed.get(module, ())) for module in gone} | dict.fromkeys(ANYTHING)
    return {"shown": shown, "absent": absent, "hidden": OURS.get(name, {})}, files


def is_absent(module: str) -> bool:
    """Whether a module of ours, or a package, is not there to import."""
    return file_of(module).split("/")[0] in ABSENT


def closure(files: Iterable[str]) -> list[str]:
    """The files that serve, these, and all files of ours that they import."""
    found: dict[str, None] = {}
    todo = [*SERVING, *files]
    while todo:
        file = todo.pop(0)
        absent = file.split("/")[0] in ABSENT and file not in SERVING
        if file not in found and not absent and (PACKAGE / f"{file}.py").is_file():
            found[file] = None
            source = (PACKAGE / f"{file}.py").read_text("utf-8")
            todo += [f"{file.rpartition('/')[0]}/__init__".strip("/"), *imported(source)]
    return sorted(found)


def imported(source: str) -> list[str]:
    """The files of ours that a module imports when it is imported itself."""
    nodes = [each for each in ast.parse(source).body if isinstance(each, ast.ImportFrom)]
    ours = [each for each in nodes if (each.module or "").startswith("harness_zero")]
    modules = [m for n in ours for m in (n.module, *(f"{n.module}.{a.name}" for a in n.names))]
    return [file_of(str(module)) for module in modules]


def file_of(module: str) -> str:
    """The file of a module of the package, which may be a package itself."""
    file = module.removeprefix("harness_zero").replace(".", "/").strip("/")
    return f"{file}/__init__".strip("/") if (PACKAGE / file).is_dir() else file


def as_module(file: str) -> str:
    """The module of a file of the package."""
    return f"harness_zero.{file.replace('/', '.')}".removesuffix(".__init__")


def is_leaf(module: str, there: list[str]) -> bool:
    """Whether a module holds no others."""
    return not any(each.startswith(f"{module}.") for each in there)


def names_in(source: str) -> set[str]:
    """The names that stand in a cell; none in one that is no Python."""
    tree = parsed(as_python(source))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} if tree else set()


def as_python(source: str) -> str:
    """What stands in a learner's cell; if that is no Python, without what only a notebook knows."""
    source = source.replace("\r\n", "\n")
    if not parsed(source):
        for strange, instead in NOT_PYTHON.items():
            source = strange.sub(instead, source)
    return source


def parsed(source: str) -> ast.Module | None:
    """The tree of what is Python, without a word about what is odd in it."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
