"""A terminal in JupyterLab, as the course's texts use it."""

import json
from urllib.request import Request, urlopen

from websocket import create_connection


def test_a_terminal_in_jupyterlab_knows_the_command_and_starts_in_the_copy(jupyterlab):
    server, token = jupyterlab.partition("/lab/")[0], jupyterlab.rpartition("token=")[2]
    made = urlopen(Request(f"{server}/api/terminals?token={token}", method="POST"), timeout=30)
    name = json.load(made)["name"]
    socket = f"{server.replace('http', 'ws')}/terminals/websocket/{name}?token={token}"
    terminal = create_connection(socket, timeout=30)
    try:
        terminal.send(json.dumps(["stdin", "harness-zero run --help && pwd && echo so be'gu'n\n"]))
        said = ""
        while "so begun" not in said and "not found" not in said:
            kind, *words = json.loads(terminal.recv())
            said += "".join(map(str, words)) if kind == "stdout" else ""
    finally:
        terminal.close()
    assert "so begun" in said and "/workspace" in said.split("--help")[-1]
