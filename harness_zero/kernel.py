"""What every kernel knows of the course: `%%my_harness`, and where a missing name comes from.

A file of IPython's configuration, installed with this package, loads it into every kernel
(`etc/ipython/ipython_kernel_config.py`). So it stays light, and is there also when a cell is
run before the set-up cell of its notebook.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness_zero.progress import copy_around

MAGIC = "%%my_harness"
OUT_OF_ORDER = (
    "Names live in the kernel, not on the page. If a cell above makes {name}, it has not run since"
    " the kernel started: Kernel → Restart Kernel and Run up to Selected Cell."
)


@dataclass(frozen=True)
class Written:
    """An answer as its cell has it: the source without the magic, and what it made."""

    source: str
    value: Any


WRITTEN: dict[str, Written] = {}  # by the name after the magic, as last run


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython when a kernel starts."""
    if copy := copy_around(Path.cwd()):
        sys.path.append(str(copy))  # where my_harness/ lies
    shell.register_magic_function(my_harness, magic_kind="cell")
    shell.input_transformers_cleanup.append(as_comment)
    shell.events.register("post_run_cell", lambda result: keep(shell, result))
    shell.set_custom_exc((NameError,), explain_missing)


def my_harness(line: str, cell: str) -> None:
    """%%my_harness NAME: an answer that passes its check goes into my_harness/NAME.py.

    It stands alone in the first line of the cell that defines NAME.
    """
    print(f"Write {MAGIC} NAME in the first line of the cell, with nothing before it.")


def as_comment(lines: list[str]) -> list[str]:
    """The cell with its magic as a comment, so that all of it runs as any other cell does."""
    if lines and lines[0].startswith(MAGIC):
        return [f"#{lines[0]}", *lines[1:]]
    return lines


def keep(shell: Any, result: Any) -> None:
    """Remember what a cell under the magic wrote and made, if it ran."""
    first, _, source = (result.info.raw_cell or "").lstrip().partition("\n")
    if not first.startswith(MAGIC) or not result.success:
        return
    name = first.removeprefix(MAGIC).strip()
    if name not in shell.user_ns:
        print(f"{MAGIC} {name}: this cell defines no {name or 'name'}, so nothing is kept of it.")
        return
    WRITTEN[name] = Written(source, shell.user_ns[name])


def explain_missing(
    shell: Any, kind: type, error: NameError, trace: Any, tb_offset: int = 1
) -> Any:
    """The traceback of a NameError, and where such a name may come from."""
    name = getattr(error, "name", None)
    if name and not getattr(error, "__notes__", None):
        error.add_note(OUT_OF_ORDER.format(name=name))
    told = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
    shell._showtraceback(kind, error, told)
    return told
