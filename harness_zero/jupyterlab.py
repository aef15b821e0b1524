"""JupyterLab, opened on the learner's copy with settings of ours; the user's own stay."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness_zero.course import OURS, put


class NotOpened(Exception):
    """JupyterLab cannot be opened; the sentence says why, and what to do."""


def open_jupyterlab(copy: Path, args: tuple[str, ...]) -> None:
    """Become JupyterLab, so that Ctrl+C and the exit code are its own."""
    if not find_spec("jupyterlab"):
        raise NotOpened("JupyterLab is not installed here: type make lab.")
    environment = jupyter_environment(copy, asked_port(args))
    print("JupyterLab starts; Ctrl+C here ends it.", flush=True)
    # -P: a file in this folder that is named like one of JupyterLab's modules is not taken for it
    command = [sys.executable, "-P", "-m", "jupyterlab", *args]
    os.chdir(copy)  # a terminal starts where JupyterLab did
    if os.name == "posix":
        os.execve(sys.executable, command, environment)
    sys.exit(subprocess.call(command, env=environment))


def jupyter_environment(copy: Path, port: int) -> dict[str, str]:
    """What leads JupyterLab to our settings, in the copy; the user's own stay as they are."""
    ours = copy / OURS / "jupyter"
    try:
        for name, settings in jupyter_settings(copy, ours, port).items():
            put(ours / name, json.dumps(settings, indent=1).encode())
        (ours / "home").mkdir(exist_ok=True)
    except OSError as fault:
        raise NotOpened(f"{ours} cannot be written ({fault.strerror}).") from fault
    folders = [str(ours), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    environment = os.environ | {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, folders))}
    path = [os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]
    environment["PATH"] = os.pathsep.join(path)  # a terminal in JupyterLab knows harness-zero
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
        # no login shell, which would set PATH anew
        "terminado_settings": {"shell_command": [os.environ.get("SHELL") or "/bin/sh"]},
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
            "@jupyterlab/apputils-extension:notification": news,
            # a notebook opened again tomorrow still shows its widgets
            "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
        },
        # the menus of those who grade confuse those who learn
        "labconfig/page_config.json": {"disabledExtensions": {"@jupyter/nbgrader": True}},
    }


def refuse_taken_port(args: tuple[str, ...]) -> None:
    """JupyterLab would take another port without a word; who asked for one has a reason."""
    host, port = asked(args, "ip").replace("*", "") or "localhost", asked_port(args)
    if port > 65535:
        raise NotOpened(f"There is no port {port}: use --port 8888.")
    if port and is_taken(host, port):
        free = next(other for other in [*range(port + 1, 65536), 8888] if not is_taken(host, other))
        raise NotOpened(f"Port {port} is taken by another program: use --port {free}.")


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
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as fault:
        raise NotOpened(f"{host} is no address of this machine.") from fault
    for family, kind, _, _, address in places:
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as fault:
                if fault.errno == errno.EADDRINUSE:
                    return True
    return False
