"""The command line: one verb for each thing that a learner does outside a notebook.

A verb imports what it needs when it runs, so that --help answers at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path

import click

from harness_zero.flight.command import fly

elsewhere = click.option(
    "--to", "folder", type=click.Path(path_type=Path), help="A folder other than workspace/."
)


@click.group()
def main() -> None:
    """Harness Zero: build an agent loop by hand, until you own it."""


main.add_command(fly)


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
@click.option("--offline", is_flag=True, help="Play with a rehearsed model even if there is a key.")
def run(prompt: str, folder: Path, project: str, stage: int | None, offline: bool) -> None:
    """Play one turn in a folder, and print it as it happens.

    With ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL set a real model plays it; offline
    the shipped projects are known.
    """
    try:
        sys.exit(played(prompt, folder, stage or 0, project, offline))
    except KeyboardInterrupt:
        sys.exit(130)


def played(prompt: str, folder: Path, number: int, project: str, offline: bool) -> int:
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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return play(prompt, folder, number, project, offline)
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault


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
