"""The command line: one verb for each thing that a learner does outside a notebook.

A verb imports what it needs when it runs, so that --help answers at once.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from harness_zero.flight.command import fly
from harness_zero.grading.course.command import course
from harness_zero.grading.record.command import grade

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness_zero.attendant import Report
    from harness_zero.grading.exercise import Lab


class Misnamed(click.ClickException):
    """What was named is not there; the sentence says what is."""

    exit_code = 2


def named(context: click.Context, option: click.Parameter, folder: str | None) -> Path | None:
    """The folder that was named; no name is none, and not the folder that one is in."""
    if folder == "":
        raise Misnamed("The folder after --to is empty: name one.")
    return None if folder is None else Path(folder)


elsewhere = click.option(
    "--to", "folder", callback=named, metavar="PATH", help="A folder other than workspace/."
)


@click.group()
def main() -> None:
    """Harness Zero: build an agent loop by hand, until you own it."""


main.add_command(course)
main.add_command(fly)
main.add_command(grade)


@main.command()
@elsewhere
def start(folder: Path | None) -> None:
    """Lay down your copy of the course, or bring it up to date."""
    lay_copy(folder)


@main.command(context_settings={"ignore_unknown_options": True})
@elsewhere
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def lab(folder: Path | None, args: tuple[str, ...]) -> None:
    """Open your copy of the course in JupyterLab.

    ARGS go to JupyterLab; --no-browser --port 8899 serves a remote machine.
    """
    from harness_zero.jupyterlab import NotOpened, open_jupyterlab, refuse_taken_port

    try:
        refuse_taken_port(args)
        open_jupyterlab(lay_copy(folder), args)
    except NotOpened as reason:
        raise click.ClickException(str(reason)) from reason


@main.command()
@elsewhere
def progress(folder: Path | None) -> None:
    """Show what you have read and solved, and what is next."""
    from harness_zero.grading.exercises import LABS
    from harness_zero.notebook.progress import as_text
    from harness_zero.progress import chapters_in
    from harness_zero.progress import progress as noted

    spell_out()
    copy = copy_at(folder)
    tell(as_text(noted(copy), chapters_in(copy), LABS, shown(copy), copy))


@main.command()
@elsewhere
@click.argument("name", metavar="LAB")
def reset(folder: Path | None, name: str) -> None:
    """Bring a lab back as it is shipped; what you wrote is kept beside it.

    LAB is its number or its name: 1, 01 or 01_structural_stop.
    """
    from harness_zero.course import NotLaid, brought_back, checkout
    from harness_zero.course import reset as bring_back
    from harness_zero.grading.exercises import LABS

    spell_out()
    lab, copy = lab_called(name, LABS.values()), copy_at(folder)
    try:
        tell(brought_back(bring_back(checkout(), copy, lab.name), lab.name, shown(copy)))
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason


@main.command()
@elsewhere
@click.argument("name", metavar="LAB")
def check(folder: Path | None, name: str) -> None:
    """Run your answers to a lab and hold them to the visible checks.

    LAB is its number or its name: 1, 01 or 01_structural_stop. The exit code is 0 if all
    exercises pass, 1 if not, and 2 if there is no such lab. A cell has 10 seconds; one that
    cannot be stopped then ends the check.
    """
    from harness_zero.attendant import NotEnded, attended
    from harness_zero.grading.exercises import LABS

    spell_out()
    lab, copy = lab_called(name, LABS.values()), copy_at(folder)
    give_up_when_ended()
    try:
        code = attended(lambda report: answered(lab, copy, report), warn)
    except NotEnded as reason:
        warn(str(reason))
        code = reason.code
    sys.exit(code)


@main.command()
@click.argument("prompt")
@click.option(
    "--workspace",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The folder to work in; the file tools reach nothing else. This folder unless given.",
)
@click.option("--project", default="", help="Lay this shipped project there, if nothing is there.")
@click.option(
    "--stage",
    type=click.IntRange(1, 5),
    default=None,
    help="A stage of the course; the whole library unless given.",
)
@click.option("--mine", is_flag=True, help="Your own harness, from my_harness/ in your copy.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Write what is done into this file. With the same file again, go on where it stopped.",
)
@click.option("--ask", is_flag=True, help="Be asked before a tool writes or runs something.")
@click.option("--offline", is_flag=True, help="Play with a rehearsed model even if there is a key.")
@click.option(
    "--verify",
    metavar="COMMAND",
    help="A command that has to pass before the turn may end as finished, such as 'pytest -q'.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="PATTERN",
    help="Files that the check relies on: changing them fails it. Test files unless given.",
)
def run(
    prompt: str,
    folder: Path,
    project: str,
    stage: int | None,
    mine: bool,
    journal: Path | None,
    ask: bool,
    offline: bool,
    verify: str | None,
    keep: tuple[str, ...],
) -> None:
    """Play one turn in a folder, and print it as it happens.

    With ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL set a real model plays it; offline
    the shipped projects are known.
    """
    if mine and stage:
        raise click.UsageError("--mine is your own harness and --stage one of ours: take one.")
    if verify is not None and (mine or stage):
        raise click.UsageError("--verify is a contract of the library: leave --mine and --stage.")
    if verify is not None and not verify.strip():
        raise click.UsageError("The command after --verify is empty: name what has to pass.")
    if keep and verify is None:
        raise click.UsageError("--keep says what the command after --verify relies on: name one.")
    if journal and (mine or stage):
        raise click.UsageError("--journal is a part of the library: leave --mine and --stage out.")
    if ask and (mine or stage):
        raise click.UsageError("--ask is a part of the library: leave --mine and --stage out.")
    own = copy_at(None) if mine else None
    with_parts = verify, keep, journal, ask
    try:
        sys.exit(played(prompt, folder, stage or 0, project, offline, own, *with_parts))
    except KeyboardInterrupt:
        sys.exit(130)


def played(
    prompt: str,
    folder: Path,
    number: int,
    project: str,
    offline: bool,
    mine: Path | None,
    verify: str | None,
    keep: tuple[str, ...],
    journal: Path | None = None,
    ask: bool = False,
) -> int:
    """Play a turn; a fault of the set-up is one sentence."""
    from harness_zero.faults import SetupFault
    from harness_zero.terminal import play

    give_up_when_ended()
    if not prompt.strip():
        raise click.ClickException("The prompt is empty: say what is to be done.")
    spell_out()
    try:
        return play(prompt, folder, number, project, offline, mine, verify, keep, journal, ask)
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--cache", "cached", is_flag=True, help="What the cache makes of its requests.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Write an HTML page in which it can be stepped through.",
)
def step(file: Path, cached: bool, page: Path | None) -> None:
    """Show a run that `recorded` wrote to FILE: its messages, or with --cache its requests."""
    from harness_zero.faults import SetupFault
    from harness_zero.models.tape import read
    from harness_zero.notebook.export import page_of
    from harness_zero.notebook.recording import stepped, under_the_lens

    spell_out()
    if page and page.exists() and page.samefile(file):
        raise click.ClickException(f"{page} is the recording itself: name another page.")
    try:
        if note := read(file).note:
            warn(f"{file}: {note}.")
        shown = under_the_lens(file) if cached else stepped(file)
        tell(repr(shown))
        if page:
            page.write_text(page_of(shown, file.stem), encoding="utf-8")
            tell(f"{page} steps through it, in any browser.")
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault
    except OSError as error:
        raise click.ClickException(f"{page} cannot be written: {error.strerror}") from error


def give_up_when_ended() -> None:
    """What is ended from outside ends and keeps first what it runs, as after Ctrl+C."""
    import signal

    def give_up(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), give_up)


def answered(lab: Lab, copy: Path, report: Report) -> int:
    """Check a lab's answers; the exit code, also of what is refused in a sentence."""
    try:
        return checked(lab, copy, report)
    except click.ClickException as reason:
        reason.show()
        return reason.exit_code


def checked(lab: Lab, copy: Path, report: Report) -> int:
    """Check a lab's answers; the exit code. Without a notebook it is one sentence."""
    from harness_zero.grading import answers
    from harness_zero.watch import printable

    def say(line: str) -> None:
        tell(printable(line))

    try:
        return 0 if answers.check_lab(copy, lab, say, answers.PATIENCE, report) else 1
    except answers.NoAnswers as reason:
        raise click.ClickException(str(reason)) from reason


def tell(text: str) -> None:
    """Print it; where nothing can be written any more, that is a sentence."""
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as fault:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still to be written at the end
        said = f"What there is to say cannot be written ({fault.strerror})."
        raise click.ClickException(said) from fault


def warn(sentence: str) -> None:
    """Say it where it does not mix with what is asked for, with nothing that moves the cursor."""
    from harness_zero.watch import printable

    click.echo(printable(sentence), err=True)


def spell_out() -> None:
    """From now on a character that the terminal does not know is spelled out, and no fault."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lab_called(name: str, labs: Iterable[Lab]) -> Lab:
    """The lab of this name or number."""
    labs, last = [*labs], PurePath(name).name.removesuffix(".ipynb")
    found = [lab for lab in labs if last in (lab.name, lab.name[:2], str(int(lab.name[:2])))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(lab.name for lab in found or labs)
    if found:
        raise Misnamed(f"{name} can be any of {names}: type the whole name.")
    raise Misnamed(f"There is no lab {name!r}. There are {names}; the number will do.")


def copy_at(folder: Path | None) -> Path:
    """The copy of the course that is meant: the one named, the one around here, or workspace/."""
    from harness_zero.course import NotLaid, checkout
    from harness_zero.progress import copy_around, is_copy, lost_record

    here = in_full(folder or Path())
    try:
        copy = here if folder else copy_around(here) or checkout() / "workspace"
    except NotLaid as reason:
        raise click.ClickException(lost_record(here) or str(reason)) from reason
    if not is_copy(copy):
        raise Misnamed(lost_record(here) or no_copy(copy, folder))
    return copy


def no_copy(copy: Path, named: Path | None) -> str:
    """That there is no copy here, and what makes one."""
    from shlex import quote

    if copy.exists() and not copy.is_dir():
        return f"{copy} is a file: name the folder of your copy."
    make = f"harness-zero start --to {quote(str(named))}" if named else "make lab"
    return f"There is no copy of the course in {shown(copy)}: {make} makes one."


def in_full(folder: Path) -> Path:
    """A folder by its whole name."""
    try:
        return Path(os.path.abspath(folder))
    except FileNotFoundError:
        raise Misnamed("The folder that you are in is gone: cd to another one.") from None


def lay_copy(folder: Path | None) -> Path:
    """Lay the course down where it belongs, and say what was done."""
    from harness_zero.course import NotLaid, checkout, lay, told

    try:
        source = checkout()
        copy = in_full(folder) if folder else source / "workspace"
        tell(told(lay(source, copy), shown(copy)))
        begin_package(copy)
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason
    return copy


def begin_package(copy: Path) -> None:
    """Lay down the page of my_harness/, so that it can be imported from the first day on."""
    from harness_zero.mine import HarnessFault, write_page

    try:
        write_page(copy)
    except HarnessFault as fault:
        tell(str(fault))
    except OSError as fault:
        tell(f"my_harness/ cannot be written ({fault.strerror}).")


def shown(folder: Path) -> str:
    """A folder as one would type it here."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it is gone
        return f"{folder}/"
    return f"{folder.relative_to(here) if folder.is_relative_to(here) else folder}/"


if __name__ == "__main__":
    main()
