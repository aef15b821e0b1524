"""An answer that passed becomes a piece of my_harness/, once it holds without its notebook.

`python -m harness_zero.taking COPY EXERCISE` tries a piece in a process of its own.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness_zero import kernel
from harness_zero.course import put
from harness_zero.grading.checks import findings, passed
from harness_zero.grading.exercise import Exercise
from harness_zero.grading.exercises import EXERCISES, LABS
from harness_zero.mine import (
    PACKAGE,
    PATIENCE,
    HarnessFault,
    forget,
    home_of,
    keep_earlier,
    lab_of,
    load,
    owned,
    write_page,
)
from harness_zero.standalone import NotAlone, standalone


def take(copy: Path, exercise: Exercise, answer: Any) -> str:
    """Write an answer that passed into my_harness/; what was done, or why not, in a sentence."""
    under_the_magic = exercise.name in kernel.WRITTEN
    if not exercise.piece:
        return (
            "This exercise is no piece of a harness, so it stays here." if under_the_magic else ""
        )
    path = f"{PACKAGE}/{exercise.piece.name}.py"
    if not under_the_magic or kernel.WRITTEN[exercise.name] is not answer:
        how = f"write {kernel.MAGIC} {exercise.name} in the first line of its cell, and run it"
        return f"To keep this answer in {path}, {how} and this check again."
    try:
        return put_piece(copy, exercise)
    except (NotAlone, HarnessFault) as fault:
        return f"It is not in {path} yet: {fault}."
    except OSError as fault:
        return f"{path} cannot be written ({fault.strerror or fault})."


def put_piece(copy: Path, exercise: Exercise) -> str:
    """Write a piece that stands alone; one that is there already is kept beside or left."""
    assert exercise.piece
    name, home = exercise.piece.name, home_of(copy)
    there = owned(copy).get(name)
    if there and outranks(there, exercise):
        return (
            f"{PACKAGE}/{name}.py stays: it is your answer to lab {lab_of(there)}, which does more."
            " To have this one instead, move the file away and check again."
        )
    source, uses = standalone(exercise.name, kernel.CELLS, stand_ins(exercise))
    source = "\n".join(line for line in source.split("\n") if line.strip() != "# your code here")
    module = f"# yours: lab {lab_of(exercise)}, exercise {exercise.name}\n{source}"
    prove(copy, exercise, module)
    if name in owned(copy) and (home / f"{name}.py").read_bytes() == module.encode():
        return f"{PACKAGE}/{name}.py is yours, as it was."
    kept = keep_earlier(home / f"{name}.py", module)
    put(home / f"{name}.py", module.encode())
    write_page(copy)
    forget()
    return f"{PACKAGE}/{name}.py is yours now.{whose(uses, exercise, owned(copy))}{kept}"


def outranks(there: Exercise, new: Exercise) -> bool:
    """Whether the piece that is there comes from a later exercise of the course."""
    course = [*EXERCISES.values()]
    return course.index(there) > course.index(new)


def stand_ins(exercise: Exercise) -> dict[str, str]:
    """What other pieces are called in a notebook and in the package, those of later labs left out.

    A helper that happens to be called as such a one is a helper.
    """
    assert exercise.piece
    labs = [*LABS]
    here = labs.index(lab_of(exercise))
    made = [each for each in EXERCISES.values() if each.piece and labs.index(lab_of(each)) <= here]
    names = {each.name: each.piece.name for each in made if each.piece}
    return {name: piece for name, piece in names.items() if piece != exercise.piece.name}


def whose(uses: list[str], exercise: Exercise, mine: Mapping[str, Any]) -> str:
    """Which other pieces it uses, and whose they are: the package's, not the notebook's."""
    pieces = [stand_ins(exercise)[name] for name in uses]
    told = [f"{piece} ({'yours' if piece in mine else 'borrowed'})" for piece in pieces]
    return f" It uses the package's {', '.join(told)}." if told else ""


def prove(copy: Path, exercise: Exercise, module: str) -> None:
    """Hold the piece to its promises in another process, in a copy of the package's files."""
    assert exercise.piece
    with TemporaryDirectory() as scratch:
        trial = Path(scratch) / PACKAGE
        for path in sorted((copy / PACKAGE).glob("*.py")):
            if path.is_file():
                put(trial / path.name, path.read_bytes())
        put(trial / f"{exercise.piece.name}.py", module.encode())
        fault = tried_apart(Path(scratch), exercise)
    if fault:
        raise NotAlone(f"without the notebook {fault}")


def tried_apart(copy: Path, exercise: Exercise) -> str:
    """What a piece breaks when a fresh Python has its package alone, in words; or nothing."""
    command = [sys.executable, "-P", "-m", "harness_zero.taking", str(copy), exercise.name]
    try:
        told = subprocess.run(
            command, cwd=copy, capture_output=True, timeout=2 * PATIENCE, stdin=subprocess.DEVNULL
        )
        return str(json.loads(told.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return f"it is not done after {2 * PATIENCE:g} seconds"
    except (ValueError, IndexError):
        return "it ends the program that tries it"


def fault_of(copy: Path, exercise: Exercise) -> str:
    """What a piece breaks, in words; or nothing."""
    assert exercise.piece
    try:
        load(copy)
        alone = sys.modules[f"{PACKAGE}.{exercise.piece.name}"]
        found = findings(exercise, getattr(alone, exercise.name))
    except HarnessFault as fault:
        return f"there is a fault in {str(fault).partition('. Mend')[0]}"
    if passed(exercise, found):
        return ""
    broken = found[-1]
    return f"a promise breaks: {broken.promise}; expected {broken.expected}; got {broken.got}"


if __name__ == "__main__":
    print(json.dumps(fault_of(Path(sys.argv[1]), EXERCISES[sys.argv[2]])))
