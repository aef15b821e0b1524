"""What every kernel knows of the course: `%%my_harness`, and where a missing name comes from.

A file of IPython's configuration, installed with this package, loads it into every kernel
(`etc/ipython/ipython_kernel_config.py`). So it stays light, and is there also when a cell is
run before the set-up cell of its notebook.
"""

import re
import sys
from pathlib import Path
from typing import Any

from harness_zero.progress import copy_around

MAGIC = "%%my_harness"
OUT_OF_ORDER = (
    "Names live in the kernel, not on the page. If a cell above makes {name}, it has not run since"
    " the kernel started: Kernel → Restart Kernel and Run up to Selected Cell."
)

CELLS: list[str] = []  # all that were run, as Python, in order
WRITTEN: dict[str, Any] = {}  # what a name stood for when its cell ran under the magic
FAILED: dict[str, str] = {}  # names that the last cell which was to make them did not make
STARTED: list[Path] = []  # the folder of the notebook, wherever its cells go later


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython when a kernel starts."""
    CELLS.clear()
    WRITTEN.clear()
    FAILED.clear()
    STARTED[:] = [Path.cwd()]
    if copy := copy_around(STARTED[0]):
        sys.path.append(str(copy))  # where my_harness/ lies
    shell.register_magic_function(my_harness, magic_kind="cell")
    shell.input_transformers_cleanup.append(as_comment)
    shell.events.register("post_run_cell", lambda result: keep(shell, result))
    shell.set_custom_exc((NameError,), explain_missing)


def folder() -> Path:
    """The folder of the notebook that this runs in; without a notebook, the one we are in."""
    return STARTED[0] if STARTED else Path.cwd()


def my_harness(line: str, cell: str) -> None:
    """%%my_harness NAME: an answer that passes its check goes into my_harness/NAME.py.

    It stands alone in the first line of the cell that makes NAME.
    """
    print(f"Write {MAGIC} NAME in the first line of the cell that makes NAME, with no other magic.")


def as_comment(lines: list[str]) -> list[str]:
    """The cell with its magic as a comment, so that all of it runs as any other cell does."""
    at = place(lines)
    return lines if at is None else [*lines[:at], f"#{lines[at]}", *lines[at + 1 :]]


def place(lines: list[str]) -> int | None:
    """The line that holds the magic: the first one that says anything to Python."""
    for at, line in enumerate(lines):
        if line.startswith(MAGIC):
            return at
        if line.strip() and not line.startswith("#"):
            return None
    return None


def keep(shell: Any, result: Any) -> None:
    """Remember what a cell wrote, and what a cell under the magic made."""
    raw = result.info.raw_cell or ""
    note_failure(raw, result)
    try:
        CELLS.append(shell.transform_cell(raw))
    except SyntaxError:
        return
    lines = raw.splitlines()
    at = place(lines)
    if at is None:
        return
    name = lines[at].removeprefix(MAGIC).strip()
    if not name:
        print(f"{MAGIC} wants the name of what the cell makes: {MAGIC} act")
    elif name not in shell.user_ns or name not in made_in(CELLS[-1]):
        print(f"{MAGIC} {name}: this cell makes no {name}, so nothing is kept of it.")
    else:
        WRITTEN[name] = shell.user_ns[name]


def note_failure(raw: str, result: Any) -> None:
    """Remember which functions a cell would have made, had it run."""
    for name in re.findall(r"^def (\w+)\(", raw, re.MULTILINE):
        FAILED.pop(name, None)
        if error := result.error_before_exec:
            FAILED[name] = f"a {type(error).__name__}"


def made_in(cell: str) -> dict[str, str]:
    """The names that a cell makes."""
    from harness_zero.standalone import statements

    return statements([cell])


def explain_missing(shell: Any, kind: type, error: Any, trace: Any, tb_offset: int = 1) -> Any:
    """The traceback of a NameError, and where such a name may come from."""
    name = getattr(error, "name", None)
    if name and not getattr(error, "__notes__", None):
        error.add_note(OUT_OF_ORDER.format(name=name))
    told = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
    shell._showtraceback(kind, error, told)
    return told
