"""The command line: one verb for each thing that a learner does outside a notebook.

A verb imports what it needs when it runs, so that --help answers at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from threading import Thread

    from harness_zero.grading.exercise import Lab

elsewhere = click.option(
    "--to", "folder", type=click.Path(path_type=Path), help="A folder other than workspace/."
)


class Misnamed(click.ClickException):
    """What was named is not there; the sentence says what is."""

    exit_code = 2


@click.group()
def main() -> None:
    """Harness Zero: build an agent loop by hand, until you own it."""


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
    click.echo(as_text(noted(copy), chapters_in(copy), LABS, shown(copy)))


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
        click.echo(brought_back(bring_back(checkout(), copy, lab.name), lab.name, shown(copy)))
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason


@main.command()
@elsewhere
@click.argument("name", metavar="LAB")
def check(folder: Path | None, name: str) -> None:
    """Run your answers to a lab and hold them to the visible checks.

    LAB is its number or its name: 1, 01 or 01_structural_stop. The exit code is 0 if all
    exercises pass, 1 if not, and 2 if there is no such lab.
    """
    from threading import enumerate as threads

    from harness_zero.grading.exercises import LABS

    spell_out()
    ours = threads()
    try:
        code = checked(lab_called(name, LABS.values()), copy_at(folder))
    except KeyboardInterrupt:
        code = 130
    leave(code, ours)


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
@click.option("--offline", is_flag=True, help="Play with a rehearsed model even if there is a key.")
def run(
    prompt: str, folder: Path, project: str, stage: int | None, mine: bool, offline: bool
) -> None:
    """Play one turn in a folder, and print it as it happens.

    With ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL set a real model plays it; offline
    the shipped projects are known.
    """
    if mine and stage:
        raise click.UsageError("--mine is your own harness and --stage one of ours: take one.")
    own = copy_at(None) if mine else None
    try:
        sys.exit(played(prompt, folder, stage or 0, project, offline, own))
    except KeyboardInterrupt:
        sys.exit(130)


def played(
    prompt: str, folder: Path, number: int, project: str, offline: bool, mine: Path | None
) -> int:
    """Play a turn; a fault of the set-up is one sentence."""
    import signal

    from harness_zero.faults import SetupFault
    from harness_zero.terminal import play

    def give_up(*_: object) -> None:
        raise KeyboardInterrupt

    for name in ("SIGTERM", "SIGHUP"):  # ended from outside: what runs is ended and kept first
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), give_up)
    if not prompt.strip():
        raise click.ClickException("The prompt is empty: say what is to be done.")
    spell_out()
    try:
        return play(prompt, folder, number, project, offline, mine)
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault


def checked(lab: Lab, copy: Path) -> int:
    """Check a lab's answers; the exit code. Without a notebook it is one sentence."""
    from harness_zero.grading.answers import NoAnswers, check_lab
    from harness_zero.watch import printable

    try:
        return 0 if check_lab(copy, lab, lambda line: click.echo(printable(line))) else 1
    except NoAnswers as reason:
        raise click.ClickException(str(reason)) from reason


def leave(code: int, ours: Collection[Thread]) -> NoReturn:
    """End with this exit code, also if a learner's thread is still at work."""
    import os
    from threading import enumerate as threads

    if any(not thread.daemon for thread in threads() if thread not in ours):
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def spell_out() -> None:
    """From now on a character that the terminal does not know is spelled out, and no fault."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lab_called(name: str, labs: Iterable[Lab]) -> Lab:
    """The lab of this name or number."""
    labs = [*labs]
    found = [lab for lab in labs if name in (lab.name, lab.name[:2], str(int(lab.name[:2])))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(lab.name for lab in found or labs)
    if found:
        raise Misnamed(f"{name} can be any of {names}: type the whole name.")
    raise Misnamed(f"There is no lab {name!r}. There are {names}; the number will do.")


def copy_at(folder: Path | None) -> Path:
    """The copy of the course that is meant: the one named, the one around here, or workspace/."""
    from harness_zero.course import NotLaid, checkout
    from harness_zero.progress import copy_around, is_copy

    try:
        copy = (folder or copy_around(Path.cwd()) or checkout() / "workspace").absolute()
    except FileNotFoundError:
        raise Misnamed("The folder that you are in is gone: cd to another one.") from None
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason
    if not is_copy(copy):
        make = f"harness-zero start --to {folder}" if folder else "make lab"
        raise Misnamed(f"There is no copy of the course in {shown(copy)}: {make} makes one.")
    return copy


def lay_copy(folder: Path | None) -> Path:
    """Lay the course down where it belongs, and say what was done."""
    from harness_zero.course import NotLaid, checkout, lay, told

    try:
        if folder is not None and not folder.name:
            raise NotLaid("The folder after --to is empty: name one.")
        source = checkout()
        copy = (folder or source / "workspace").absolute()
        click.echo(told(lay(source, copy), shown(copy)))
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason
    return copy


def shown(folder: Path) -> str:
    """A folder as one would type it here."""
    here = Path.cwd()
    return f"{folder.relative_to(here) if folder.is_relative_to(here) else folder}/"


if __name__ == "__main__":
    main()
