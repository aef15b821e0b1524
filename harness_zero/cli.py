"""The command line: one verb for each thing that a learner does outside a notebook.

A verb imports what it needs when it runs, so that --help answers at once.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import click

elsewhere = click.option(
    "--to", "folder", type=click.Path(path_type=Path), help="A folder other than workspace/."
)


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
    refuse_taken_port(args)
    open_jupyterlab(lay_copy(folder), args)


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
    from harness_zero.faults import SetupFault
    from harness_zero.terminal import play

    try:
        code = play(prompt, folder, stage or 0, project, offline)
    except SetupFault as fault:
        raise click.ClickException(str(fault)) from fault
    sys.exit(code)


def lay_copy(folder: Path | None) -> Path:
    """Lay the course down where it belongs, and say what was done."""
    from harness_zero.course import NotLaid, checkout, lay, told

    try:
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


def open_jupyterlab(copy: Path, args: tuple[str, ...]) -> None:
    """Become JupyterLab, so that Ctrl+C and the exit code are its own."""
    import subprocess
    from importlib.util import find_spec

    if not find_spec("jupyterlab"):
        raise click.ClickException("JupyterLab is not installed here: type make lab.")
    environment = jupyter_environment(copy, asked_port(args))
    click.echo("JupyterLab starts; Ctrl+C here ends it.")
    # -P: a file in this folder that is named like one of JupyterLab's modules is not taken for it
    command = [sys.executable, "-P", "-m", "jupyterlab", *args]
    if os.name == "posix":
        os.execve(sys.executable, command, environment)
    sys.exit(subprocess.call(command, env=environment))


def jupyter_environment(copy: Path, port: int) -> dict[str, str]:
    """What leads JupyterLab to our settings, in the copy; the user's own stay as they are."""
    import json

    from harness_zero.course import OURS, put

    ours = copy / OURS / "jupyter"
    try:
        for name, settings in jupyter_settings(copy, ours, port).items():
            put(ours / name, json.dumps(settings, indent=1).encode())
        (ours / "home").mkdir(exist_ok=True)
    except OSError as fault:
        raise click.ClickException(f"{ours} cannot be written ({fault.strerror}).") from fault
    folders = [str(ours), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, folders))}
    if not os.access(os.path.expanduser("~"), os.W_OK):
        environment["HOME"] = str(ours / "home")  # JupyterLab does not start without one
    return environment


def jupyter_settings(copy: Path, ours: Path, port: int) -> dict[str, Any]:
    """JupyterLab's settings, in files, so that what is typed on the command line outdoes them."""
    log_level = "ERROR"  # the address is still told, and what goes wrong
    server = {
        "root_dir": str(copy),
        "answer_yes": True,  # one Ctrl+C is enough
        "allow_root": True,  # as in a container
        "log_level": log_level,
        **({"port_retries": 0} if port else {}),
    }
    page = {
        "default_url": "/lab/tree/chapters/start.ipynb",
        "workspaces_dir": str(ours / "tabs"),  # or tabs of the user's other projects would open
        "log_level": log_level,
    }
    news = {"fetchNews": "false", "checkForUpdates": False}
    return {
        "jupyter_server_config.json": {
            "ServerApp": server,
            "LanguageServerManager": {"autodetect": False},  # it would look around with npm
        },
        "jupyter_lab_config.json": {"LabApp": page},
        "labconfig/default_setting_overrides.json": {
            "@jupyterlab/apputils-extension:notification": news
        },
    }


def refuse_taken_port(args: tuple[str, ...]) -> None:
    """JupyterLab would take another port without a word; who asked for one has a reason."""
    host, port = asked(args, "ip").replace("*", "") or "localhost", asked_port(args)
    if port > 65535:
        raise click.ClickException(f"There is no port {port}: use --port 8888.")
    if port and is_taken(host, port):
        free = next(other for other in [*range(port + 1, 65536), 8888] if not is_taken(host, other))
        raise click.ClickException(f"Port {port} is taken by another program: use --port {free}.")


def asked_port(args: tuple[str, ...]) -> int:
    """The port that was asked for, or 0: any will do."""
    port = asked(args, "port")
    return int(port) if port.isdecimal() else 0


def asked(args: tuple[str, ...], name: str) -> str:
    """An option's value among JupyterLab's, in any of the ways in which it can be written."""
    found = re.findall(rf"--(?:\w+\.)?{name}[= ](\S+)", " ".join(args))
    return found[-1] if found else ""


def is_taken(host: str, port: int) -> bool:
    """Whether another program listens there."""
    import errno
    import socket

    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as fault:
        raise click.ClickException(f"{host} is no address of this machine.") from fault
    for family, kind, _, _, address in places:
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as fault:
                if fault.errno == errno.EADDRINUSE:
                    return True
    return False


if __name__ == "__main__":
    main()
