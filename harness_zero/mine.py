"""my_harness/: a learner's own package, made of answers that passed; the rest is borrowed.

Each piece is a file that stands alone. The package's `__init__.py` says of every piece
whether it is the learner's, or ours until they have written it.
"""

import ast
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from harness_zero.course import put
from harness_zero.faults import SetupFault
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.patience import StillRunning, within
from harness_zero.policy import brake

PACKAGE = "my_harness"
EARLIER = "earlier"  # the folder in it for answers that others took the place of
PATIENCE = 10.0  # seconds in which a package is there
ORIGIN = re.compile(r"# yours: lab (\w+), exercise (\w+)\n")
PAGE = '''"""Your harness: the pieces you built, and what is borrowed until you have built them.

The course writes this page anew at every check; change the pieces, not the page.
"""
'''
PAGES_LINE = re.compile(
    r"|from harness_zero\.mine import \w+(, \w+)*|from \.\w+ import \w+( as \w+)?  # yours"
    r"|\w+ = borrowed\(.*\)  # until lab \w+"
    r"|run = beside\(run, repetition\)|run = marking\(run, marked\)"
)


class HarnessFault(SetupFault):
    """my_harness/ cannot be used as it is; the sentence says where, and what to do."""


def makers() -> dict[str, list[Exercise]]:
    """Every piece by name, with the exercises that make it, in the course's order."""
    made: dict[str, list[Exercise]] = {}
    for exercise in EXERCISES.values():
        if exercise.piece:
            made.setdefault(exercise.piece.name, []).append(exercise)
    return made


def borrowed(name: str, **pieces: Callable[..., Any]) -> Callable[..., Any]:
    """Our own piece of this name, put together with the pieces it is given."""
    ours = makers()[name][-1].piece
    assert ours
    return ours.borrowed(**{need: pieces[need] for need in ours.needs})


def ours(*names: str) -> list[Callable[..., Any]]:
    """Our own pieces of these names, as if nobody had written one yet: a notebook's stand-ins."""
    latest = {name: exercises[-1].piece for name, exercises in makers().items()}
    made: dict[str, Callable[..., Any]] = {}
    for name in in_order({name: {*piece.needs} for name, piece in latest.items() if piece}):
        made[name] = borrowed(name, **made)
    return [made[name] for name in names]


def beside(run: Callable[..., Any], repetition: Callable[..., Any]) -> Callable[..., Any]:
    """The harness with the detector among what its `run` takes as `more`, if it takes that."""
    if "more" not in signature(run).parameters:
        return run

    @wraps(run)
    def with_detector(*given: Any, more: Any = (), **limits: Any) -> Any:
        return run(*given, more=[brake(repetition()), *more], **limits)

    return with_detector


def marking(run: Callable[..., Any], marked: Callable[..., Any]) -> Callable[..., Any]:
    """The harness with its messages marked on their way to the model; its own array has no marks.

    What is added behind it (tools, a model's name) is not seen here. The marks in the messages
    keep it as well, since it stands before them.
    """

    @wraps(run)
    def with_marks(model: Callable[..., Any], *given: Any, **more: Any) -> Any:
        def speak(messages: Any) -> Any:
            array = isinstance(messages, list)
            return model(marked({"messages": messages})["messages"] if array else messages)

        return run(speak, *given, **more)

    return with_marks


def lab_of(exercise: Exercise) -> str:
    """The name of the lab that an exercise stands in."""
    return next(lab.name for lab in LABS.values() if exercise in lab.exercises)


def home_of(copy: Path) -> Path:
    """The folder of the package; HarnessFault if something else is in its place."""
    home = copy / PACKAGE
    for place in (home, home / EARLIER):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise HarnessFault(f"{place.relative_to(copy)} is no folder; move it away")
    for name in ("__init__", *makers()):
        path = home / f"{name}.py"
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise HarnessFault(f"{PACKAGE}/{name}.py is no file; move it away")
    return home


def owned(copy: Path) -> dict[str, Exercise | None]:
    """The pieces that are the learner's, with the exercise each came from; None: from elsewhere."""
    found = {}
    for name in makers():
        path = copy / PACKAGE / f"{name}.py"
        if path.is_file():
            origin = ORIGIN.match(path.read_text("utf-8", errors="replace"))
            found[name] = EXERCISES.get(origin[2]) if origin else None
    return found


def whose(copy: Path) -> list[str]:
    """Which pieces are the learner's, and which are borrowed, in lines."""
    yours = owned(copy)
    lines = [f"{PACKAGE}: yours: {', '.join(yours) or 'nothing yet'}"]
    gone = retired(yours)
    others = [name for name in makers() if name not in [*yours, *gone]]
    lines += [f"{PACKAGE}: borrowed: {', '.join(others)}"] if others else []
    return [*lines, f"{PACKAGE}: retired: {', '.join(gone)}"] if gone else lines


def retired(mine: Mapping[str, Exercise | None]) -> list[str]:
    """The pieces that were never written and that nothing needs any more."""
    made = [origin.piece for origin in mine.values() if origin and origin.piece]
    return [name for piece in made for name in piece.retires if name not in mine]


def write_page(copy: Path) -> None:
    """Write the package's own page as its pieces are now; one of somebody else's is kept."""
    path, page = home_of(copy) / "__init__.py", page_of(owned(copy), dependencies(copy))
    if path.exists():
        there = path.read_text("utf-8", errors="replace")
        if there == page:
            return
        if not is_ours(there):
            keep_earlier(path, page)
    put(path, page.encode())


def is_ours(page: str) -> bool:
    """Whether a page holds nothing but what the course writes there."""
    rest = page.removeprefix(PAGE)
    return page.startswith(PAGE) and all(map(PAGES_LINE.fullmatch, rest.splitlines()))


def page_of(mine: Mapping[str, Exercise | None], needs: Mapping[str, set[str]]) -> str:
    """The source of the package's page; a piece comes behind those that it needs."""
    lines = [page_line(name, mine) for name in in_order(needs)]
    ways = {"repetition": "run = beside(run, repetition)", "marked": "run = marking(run, marked)"}
    around = [way for name, way in ways.items() if name in needs and name not in needs["run"]]
    taken = {line.split(" = ")[1].split("(")[0] for line in around}
    taken |= set() if len(mine) == len(lines) else {"borrowed"}
    head = [f"from harness_zero.mine import {', '.join(sorted(taken))}", ""] if taken else []
    return f"{PAGE}\n" + "\n".join([*head, *lines, *(["", *around] if around else []), ""])


def page_line(name: str, mine: Mapping[str, Exercise | None]) -> str:
    """A piece on the page: imported if it is the learner's, else borrowed."""
    if name in mine:
        origin = mine[name]
        own = origin.name if origin else name
        return f"from .{name} import {own}" + (f" as {name}" if own != name else "") + "  # yours"
    exercises = makers()[name]
    ours = exercises[-1].piece
    assert ours
    given = "".join(f", {need}={need}" for need in ours.needs)
    return f'{name} = borrowed("{name}"{given})  # until lab {lab_of(exercises[0])}'


def dependencies(copy: Path) -> dict[str, set[str]]:
    """For each piece the others that it needs: the learner's import them, ours are given them."""
    mine, needs = owned(copy), {}
    for name, exercises in makers().items():
        ours = exercises[-1].piece
        assert ours
        source = (copy / PACKAGE / f"{name}.py").read_bytes() if name in mine else b""
        needs[name] = taken_from_package(source) & {*makers()} if name in mine else {*ours.needs}
    return needs


def taken_from_package(source: bytes) -> set[str]:
    """The names that a piece imports from its package."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    return {alias.name for node in found for alias in node.names if not node.module}


def in_order(needs: Mapping[str, set[str]]) -> list[str]:
    """All pieces, each behind those that it needs."""
    done: list[str] = []
    while len(done) < len(needs):
        ready = [name for name in needs if name not in done and needs[name] <= {*done}]
        if not ready:
            ring = ", ".join(name for name in needs if name not in done)
            raise HarnessFault(f"{ring} need each other in a ring; one of them has to do without")
        done.append(ready[0])
    return done


def load(copy: Path) -> ModuleType:
    """The learner's package as a module; with nothing in it yet, all is borrowed."""
    home = home_of(copy)
    if not owned(copy):
        module = ModuleType(PACKAGE)
        exec(page_of({}, dependencies(copy)), vars(module))
        return module
    for name in owned(copy):
        refuse_broken(home / f"{name}.py", name, owned(copy)[name])
    write_page(copy)
    forget()
    spec = importlib.util.spec_from_file_location(
        PACKAGE, home / "__init__.py", submodule_search_locations=[str(home)]
    )
    assert spec and spec.loader
    module = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    loader = spec.loader
    try:
        within(PATIENCE, lambda: loader.exec_module(module))
    except (Exception, SystemExit, StillRunning) as error:
        raise HarnessFault(where(error, home)) from error
    return module


def refuse_broken(path: Path, name: str, origin: Exercise | None) -> None:
    """Say what is wrong with a piece that cannot be imported, or does not make what it should."""
    own = origin.name if origin else name
    try:
        tree = ast.parse(path.read_bytes(), path.name)
    except (SyntaxError, ValueError) as error:
        at = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise HarnessFault(mend(f"{PACKAGE}/{path.name}{at}: it is no Python ({error})")) from None
    made = ast.dump(tree)
    if not re.search(rf"\b(name|id|asname)='{own}'", made):
        raise HarnessFault(mend(f"{PACKAGE}/{path.name} makes no {own}"))


def where(error: BaseException, home: Path) -> str:
    """Which file and line of the package an error comes from, and what it says."""
    file, line = home.name, 0
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename.startswith(str(home)):
            file, line = Path(trace.tb_frame.f_code.co_filename).name, trace.tb_lineno
        trace = trace.tb_next
    what = str(error) or "it ends the program"
    return mend(f"{PACKAGE}/{file}, line {line}: {type(error).__name__}: {what}")


def mend(what: str) -> str:
    """A fault in a piece, and what to do about it."""
    return f"{what.rstrip('.')}. Mend the file, or move it away to borrow ours."


def keep_earlier(path: Path, module: str) -> str:
    """Keep what stood there before, if it was something else, once; say where it is now."""
    if not path.exists() or path.read_bytes() == module.encode():
        return ""
    (path.parent / EARLIER).mkdir(exist_ok=True)
    there = path.read_bytes()
    for number in count(1):
        beside = path.parent / EARLIER / f"{path.stem}-{number}.py"
        try:
            with beside.open("xb") as file:
                file.write(there)
        except FileExistsError:
            if not beside.is_file() or beside.read_bytes() != there:
                continue
        return f" What stood there before is kept in {PACKAGE}/{EARLIER}/{beside.name}."
    raise AssertionError


def forget() -> None:
    """Have the package imported anew where it is imported next."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
