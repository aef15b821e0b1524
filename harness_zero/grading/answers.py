"""A learner's answers checked without Jupyter: the cells run in order, then what they made is held.

The cells run in this process, so that what they made is at hand. What a cell does by mistake is
told in a line, and the next one has its turn: it raises, never ends, asks for keys, would end
the program or leave its folder. What is at work is reported, for whoever attends this process
(`patience.attended`): a cell can still end it, or never give the word back.
"""

import atexit
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ParamSpec

from harness_zero.attendant import Report
from harness_zero.brief import cut
from harness_zero.containment import Hush, contained, refuse_exit
from harness_zero.course import NotLaid, refuse_links
from harness_zero.faults import SetupFault
from harness_zero.grading.checks import PATIENCE as EACH
from harness_zero.grading.checks import Finding, findings, passed
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.grading.own import beyond
from harness_zero.patience import within

PATIENCE = 10.0  # seconds a cell
LARGEST = 50_000_000  # bytes of a notebook
LEFT_OUT = {"check", "run"}  # the tags of cells that check or play what the others made
SAVED = "save the notebook (what is checked here is the saved one) and check again"
LONGEST = 100  # characters of a cell's first line, and of an error's
MAGIC = re.compile(r"\s*%%(\w+).*\n?")

Say = Callable[[str], None]
P = ParamSpec("P")


class NoAnswers(Exception):
    """There is no notebook to run; the sentence says why, and what to do."""


@dataclass(frozen=True)
class Cell:
    """A cell of code, with its number among the cells of code."""

    number: int
    source: str
    tags: frozenset[str]

    def __str__(self) -> str:
        return f"code cell {self.number} ({first_line(self.source)})"


def first_line(text: str) -> str:
    return cut(text.strip().partition("\n")[0], LONGEST)


def unreported(what: str, seconds: float) -> None:
    """Nobody attends this."""


def check_lab(
    copy: Path, lab: Lab, say: Say, patience: float = PATIENCE, report: Report = unreported
) -> bool:
    """Run the notebook of a lab in a copy and check its answers; whether all of them pass."""
    cells = cells_of(copy, lab)
    say, report, results = of_this_process(say), of_this_process(report), []
    with shell_in(copy / "labs" / lab.name) as shell:
        run_all(shell, cells, say, patience, report)
        for exercise in lab.exercises:
            report(f"the check of {exercise.title}", EACH * len(exercise.promises))
            results.append(check(copy, exercise, shell.user_ns, say))
    passing = [exercise for exercise, passes in zip(lab.exercises, results, strict=True) if passes]
    points = sum(exercise.points for exercise in passing)
    exercises = f"{len(passing)} of {len(lab.exercises)} exercises pass"
    say(f"{exercises}, {points} of {lab.points} points by visible checks.")
    return all(results)


def of_this_process(call: Callable[P, None]) -> Callable[P, None]:
    """The same call; in a process that a cell forked off, the end of that process."""
    ours = os.getpid()

    def guarded(*args: P.args, **named: P.kwargs) -> None:
        if os.getpid() != ours:
            os._exit(0)
        call(*args, **named)

    return guarded


def check(copy: Path, exercise: Exercise, names: Mapping[str, Any], say: Say) -> bool:
    """Check one answer and tell what became of it, as its notebook does; whether it passes."""
    name = exercise.name
    if name not in names:
        gone = f"{name} is not there: its cell did not run, or the function was renamed"
        say(f"{exercise.title}: {gone}.\n")
        return False
    try:
        found, told = held(exercise, names[name])
    except BaseException as error:
        say(f"{exercise.title}: cannot be checked ({first_line(in_words(error))}).\n")
        return False
    say(told)
    if fault := followed_up(copy, exercise, found, names[name]):
        say(fault)
    say("")
    return passed(exercise, found)


def held(exercise: Exercise, answer: Any) -> tuple[list[Finding], str]:
    """What became of the promises of an exercise, and that in lines."""
    from harness_zero.notebook.check import lines

    with quiet(), whole_modules():
        found = findings(exercise, answer)
        told = [*lines(exercise, found, SAVED), *beyond(exercise, found, answer)]
        return found, "\n".join(told)


def followed_up(copy: Path, exercise: Exercise, found: list[Finding], answer: Any) -> str:
    """Do what a check leads to; what kept that from its end, in words, or nothing."""
    try:
        from harness_zero.notebook.check import follow_up

        follow_up(copy, exercise, found, answer)
    except BrokenPipeError:  # nobody listens any more
        raise
    except SetupFault as fault:
        return in_words(fault)
    except BaseException as error:
        return f"The result is not kept in your copy ({first_line(in_words(error))})."
    return ""


# a notebook's cells


def cells_of(copy: Path, lab: Lab) -> list[Cell]:
    """The cells of code of a lab's notebook; where reset would refuse, its own reason."""
    name = f"labs/{lab.name}/{lab.name}.ipynb"
    try:
        return code_cells(copy / name, f"harness-zero reset {lab.name[:2]}")
    except NoAnswers:
        try:
            refuse_links(copy, name)
        except NotLaid as reason:
            raise NoAnswers(str(reason)) from reason
        raise


def code_cells(notebook: Path, cure: str) -> list[Cell]:
    """The cells of code of what should be a notebook; `cure` is what brings it back."""
    try:
        if (size := notebook.stat().st_size) > LARGEST:
            clear = "Clear its outputs (Edit → Clear Outputs of All Cells) and save it"
            raise NoAnswers(f"{notebook} has {size:,} bytes, of {LARGEST:,} at most. {clear}.")
        if not notebook.is_file():
            raise NoAnswers(f"{notebook} is no file. Move it away; {cure} brings the lab back.")
        cells = json.loads(notebook.read_bytes())["cells"]
        codes = [cell for cell in cells if cell["cell_type"] == "code"]
        return [as_cell(number, cell) for number, cell in enumerate(codes, 1)]
    except FileNotFoundError:
        raise NoAnswers(f"{notebook} is not there. {cure} brings it back.") from None
    except OSError as fault:
        raise NoAnswers(f"{notebook} cannot be read ({fault.strerror}).") from fault
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        back = f"{cure} brings the lab back, and keeps this beside it"
        raise NoAnswers(f"{notebook} is no notebook. {back}.") from fault


def as_cell(number: int, cell: Mapping[str, Any]) -> Cell:
    """A cell as a notebook's file holds it, its source in one piece or in lines."""
    return Cell(number, "".join(cell["source"]), frozenset(cell["metadata"].get("tags", [])))


def run_all(shell: Any, cells: list[Cell], say: Say, patience: float, report: Report) -> None:
    """Run the cells in order, and tell which of them did not come to their end, and why."""
    faults = 0
    for cell in cells:
        if LEFT_OUT & cell.tags:
            continue
        report(str(cell), patience)
        if fault := run(shell, cell, patience):
            say(f"{cell}: {fault}")
            faults += 1
    if faults:
        say("")


def run(shell: Any, cell: Cell, patience: float) -> str:
    """Run a cell; what kept it from its end, in words, or nothing. A hole is no fault."""
    try:
        with quiet(), whole_modules():
            result = within(patience, lambda: shell.run_cell(without_strange_magic(shell, cell)))
        error = result.error_before_exec or result.error_in_exec
    except BaseException as caught:
        error = caught
    if error is None or isinstance(error, NotImplementedError) or "raises-exception" in cell.tags:
        return ""
    return first_line(in_words(error))


def without_strange_magic(shell: Any, cell: Cell) -> str:
    """The cell's source; of a magic that this shell does not know, what stands under it."""
    magic = MAGIC.match(cell.source)
    strange = magic and shell.find_cell_magic(magic[1]) is None
    return cell.source[magic.end() :] if magic and strange else cell.source


def in_words(error: BaseException) -> str:
    """What is wrong with a cell; an error that cannot tell is told by its kind."""
    kind = type(error).__name__
    try:
        if isinstance(error, SetupFault):
            return str(error)
        if isinstance(error, SyntaxError) and error.lineno:
            return f"{kind}: {error.msg} (line {error.lineno} of the cell)"
        return f"{kind}: {error}" if str(error) else kind
    except BaseException:
        return kind


# a shell for them


@contextmanager
def shell_in(folder: Path) -> Iterator[Any]:
    """An IPython shell at work in a folder; afterwards this program is as it was before."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"warn_venv": False}}
    )
    with contained(), found_again(), TemporaryDirectory() as scratch:
        modules = [*sys.path]
        os.chdir(folder)
        shell: Any = InteractiveShell(config=config, ipython_dir=scratch)
        try:
            shell.extension_manager.load_extension("harness_zero.kernel")
            shell.showtraceback = untold
            shell.user_ns.update(exit=refuse_exit, quit=refuse_exit)
            sys.path[:] = ["", *modules]  # as in a notebook, which finds what lies beside it
            yield shell
        finally:
            close(shell)


def untold(*_: Any, **__: Any) -> None:
    """Instead of a traceback, which nobody sees and which takes its time."""


def close(shell: Any) -> None:
    """Take a shell out of this program again, as far as the cells have left that possible."""
    with suppress(Exception):
        shell.restore_sys_module_state()
        atexit.unregister(shell.atexit_operations)
        with quiet():
            shell.atexit_operations()


@contextmanager
def found_again() -> Iterator[None]:
    """Afterwards the program works in its folder again, and finds modules where it did before."""
    modules = [*sys.path]
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))  # it may be gone, and have no name
    try:
        yield
    finally:
        sys.path[:] = modules
        with suppress(OSError):  # a cell closed it
            os.fchdir(here)
            os.close(here)


@contextmanager
def whole_modules() -> Iterator[None]:
    """Afterwards every module that was imported before is imported still."""
    before = dict(sys.modules)
    try:
        yield
    finally:
        for name, module in before.items():
            sys.modules.setdefault(name, module)


@contextmanager
def quiet() -> Iterator[None]:
    """Meanwhile nothing is printed or read, also by the processes that are started."""
    with ExitStack() as afterwards, open(os.devnull, "r+b") as nowhere:
        for stream in (0, 1, 2):
            before = os.dup(stream)
            afterwards.callback(os.close, before)
            afterwards.callback(os.dup2, before, stream)
            os.dup2(nowhere.fileno(), stream)
        afterwards.enter_context(redirect_stdout(Hush()))
        afterwards.enter_context(redirect_stderr(Hush()))
        afterwards.enter_context(warnings.catch_warnings(action="ignore"))
        yield
