"""my_harness/: a learner's own package, made of answers that passed; the rest is borrowed.

Each piece is a file that stands alone. The package's `__init__.py` says of every piece
whether it is the learner's, or ours until they have written it.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from harness_zero import kernel
from harness_zero.course import put
from harness_zero.faults import SetupFault, own_frames
from harness_zero.grading.checks import findings, passed
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.standalone import NotAlone, standalone

PACKAGE = "my_harness"
EARLIER = "earlier"  # the folder in it for answers that others took the place of
ORIGIN = re.compile(r"# yours: lab (\w+), exercise (\w+)\n")
PAGE = '''"""Your harness: the pieces you built, and what is borrowed until you have built them.

The course writes this page whenever an answer passes; change the pieces, not the page.
"""
'''

Pieces = Mapping[str, Callable[..., Any]]


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


def lab_of(exercise: Exercise) -> str:
    """The name of the lab that an exercise stands in."""
    return next(lab.name for lab in LABS.values() if exercise in lab.exercises)


def owned(copy: Path) -> dict[str, Exercise | None]:
    """The pieces that are the learner's, with the exercise each came from; None: from elsewhere."""
    found = {}
    for name in makers():
        path = copy / PACKAGE / f"{name}.py"
        if path.is_file():
            origin = ORIGIN.match(path.read_text("utf-8", errors="replace"))
            found[name] = EXERCISES.get(origin[2]) if origin else None
    return found


def take(copy: Path, exercise: Exercise, answer: Any) -> str:
    """Write an answer that passed into my_harness/; what was done, or why not, in a sentence."""
    if not exercise.piece:
        return ""
    path = f"{PACKAGE}/{exercise.piece.name}.py"
    written = kernel.WRITTEN.get(exercise.name)
    if written is None or written.value is not answer:
        how = f"write {kernel.MAGIC} {exercise.name} in the first line of its cell, and run both"
        return f"To keep this answer in {path}, {how} again."
    try:
        return put_piece(copy, exercise, written.source, answer.__globals__)
    except NotAlone as fault:
        return f"It is not in {path} yet: {fault}."
    except OSError as fault:
        return f"{fault.filename or path} cannot be written ({fault.strerror or fault})."


def put_piece(copy: Path, exercise: Exercise, source: str, names: Mapping[str, Any]) -> str:
    """Write a piece that stands alone; one that is there already is kept beside or left."""
    assert exercise.piece
    name, home = exercise.piece.name, copy / PACKAGE
    if home.is_symlink() or (home.exists() and not home.is_dir()):
        raise NotAlone(f"{PACKAGE} is no folder; move it away")
    there = owned(copy).get(name)
    if there and outranks(there, exercise):
        lab = lab_of(there)
        return (
            f"{PACKAGE}/{name}.py stays: it is your answer to lab {lab}, which does more."
            f" To have this one instead, move the file away and check again."
        )
    module = f"# yours: lab {lab_of(exercise)}, exercise {exercise.name}\n" + standalone(
        source, names, stand_ins(exercise)
    )
    prove(copy, exercise, module)
    kept = keep_earlier(home / f"{name}.py", module)
    put(home / f"{name}.py", module.encode())
    write_page(copy)
    return f"{PACKAGE}/{name}.py is yours now.{kept}"


def outranks(there: Exercise, new: Exercise) -> bool:
    """Whether the piece that is there comes from a later exercise of the course."""
    course = [*EXERCISES.values()]
    return course.index(there) > course.index(new)


def stand_ins(exercise: Exercise) -> dict[str, str]:
    """What other pieces are called in a notebook, and in the package."""
    assert exercise.piece
    own = exercise.piece.name
    made = {each.name: each.piece.name for each in EXERCISES.values() if each.piece}
    return {name: piece for name, piece in made.items() if piece != own}


def keep_earlier(path: Path, module: str) -> str:
    """Keep what stood there before, if it was something else; say where it is now."""
    if not path.exists() or path.read_bytes() == module.encode():
        return ""
    for number in count(1):
        beside = path.parent / EARLIER / f"{path.stem}-{number}.py"
        if not beside.exists():
            put(beside, path.read_bytes())
            return f" What stood there before is kept in {PACKAGE}/{EARLIER}/{beside.name}."
    raise AssertionError


def prove(copy: Path, exercise: Exercise, module: str) -> None:
    """Hold the piece to its promises once more, in a copy of the package, without the notebook."""
    assert exercise.piece
    with TemporaryDirectory() as scratch:
        trial = Path(scratch) / PACKAGE
        if (copy / PACKAGE).is_dir():
            copytree(copy / PACKAGE, trial)
        put(trial / f"{exercise.piece.name}.py", module.encode())
        write_page(Path(scratch))
        found = findings(exercise, getattr(load(Path(scratch)), exercise.piece.name))
    if not passed(exercise, found):
        raise NotAlone(f"away from the notebook a promise breaks ({found[-1].promise})")


def write_page(copy: Path) -> None:
    """Write the package's own page anew; one that somebody else wrote is kept."""
    path, page = copy / PACKAGE / "__init__.py", page_of(owned(copy))
    if path.exists() and not path.read_text("utf-8", errors="replace").startswith(PAGE):
        keep_earlier(path, page)
    put(path, page.encode())


def page_of(mine: Mapping[str, Exercise | None]) -> str:
    """The source of the package's page: the learner's pieces imported, the others borrowed."""
    lines = []
    for name, exercises in makers().items():
        if name in mine:
            origin = mine[name]
            own = origin.name if origin else name
            under = f" as {name}" if own != name else ""
            lines.append(f"from .{name} import {own}{under}  # yours")
            continue
        ours = exercises[-1]
        assert ours.piece
        given = "".join(f", {need}={need}" for need in ours.piece.needs)
        lines.append(f'{name} = borrowed("{name}"{given})  # until lab {lab_of(exercises[0])}')
    needs = "from harness_zero.mine import borrowed\n\n" if len(mine) < len(lines) else ""
    return f"{PAGE}\n{needs}" + "\n".join(lines) + "\n"


def load(copy: Path) -> ModuleType:
    """The learner's package as a module; with nothing in it yet, all is borrowed."""
    page = copy / PACKAGE / "__init__.py"
    if not page.exists():
        module = ModuleType(PACKAGE)
        exec(page_of({}), vars(module))
        return module
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, page, submodule_search_locations=[str(page.parent)]
    )
    assert spec and spec.loader
    module = sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise HarnessFault(where(error, page.parent)) from error
    return module


def where(error: Exception, home: Path) -> str:
    """Which file and line of the package an error comes from, and what it says."""
    frames = [frame for frame in own_frames(error) if frame.filename.startswith(str(home))]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (str(home), None)
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno
    place = f"{PACKAGE}/{Path(file).name}" + (f", line {line}" if line else "")
    return (
        f"{place}: {type(error).__name__}: {error}. Mend the file, or move it away to borrow ours."
    )
