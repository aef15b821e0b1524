"""`harness-zero run --ask` as a process: whoever sits there decides what writes or runs."""

import os
import shlex
import subprocess
import sys

import pytest

from harness_zero.flight.worlds import PROMPT, world

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
OFFLINE = {name: value for name, value in os.environ.items() if name not in KEYS}
COMMAND = [sys.executable, "-u", "-m", "harness_zero.cli", "run", PROMPT, "--project", "login"]
ASKED = "may it? run_command("


def play(folder, *more, typed=""):
    """A run in which this is typed, and then nobody is there any more."""
    command = [*COMMAND, "--workspace", folder / "login", "--ask", *more]
    given = {"input": typed, "capture_output": True, "text": True, "env": OFFLINE}
    return subprocess.run(command, timeout=60, **given)


def test_what_reads_is_not_asked_about_and_what_writes_or_runs_is(tmp_path):
    done = play(tmp_path, typed="y\n" * 9)
    assert done.returncode == 0, done.stderr
    assert world("login").reached(tmp_path / "login")
    assert (done.stdout.count("may it?"), done.stdout.count("may it? read_file")) == (3, 0)


def test_a_no_is_read_by_the_model_with_its_words(tmp_path):
    done = play(tmp_path, typed="y\nnot in that file\n" + "y\n" * 9)
    assert "not executed: denied: the user said no: not in that file" in done.stdout
    assert world("login").reached(tmp_path / "login")


def test_where_nobody_is_there_nothing_is_run(tmp_path):
    done = play(tmp_path)
    assert "not executed: denied: nobody is there to be asked" in done.stdout
    assert not world("login").reached(tmp_path / "login")


def test_a_question_that_waits_when_the_process_is_killed_is_asked_again(tmp_path):
    journal = ["--journal", tmp_path / "run.jsonl"]
    command = [*COMMAND, "--workspace", tmp_path / "login", "--ask", *journal]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": OFFLINE}
    with subprocess.Popen(command, **pipes) as waiting:
        while ASKED not in waiting.stdout.readline():
            pass
        waiting.kill()
    again = play(tmp_path, *journal, typed="y\n" * 9)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("may it?") == 3
    assert world("login").reached(tmp_path / "login")


def test_it_belongs_to_the_library(tmp_path):
    done = play(tmp_path, "--stage", "3")
    assert done.returncode == 2
    assert "--ask is a part of the library" in done.stderr


def test_where_the_input_is_closed_nothing_is_run(tmp_path):
    command = shlex.join(map(str, [*COMMAND, "--workspace", tmp_path / "login", "--ask"]))
    done = subprocess.run(
        ["sh", "-c", f"{command} <&-"], timeout=60, capture_output=True, text=True, env=OFFLINE
    )
    assert "not executed: denied: nobody is there to be asked" in done.stdout
    assert not world("login").reached(tmp_path / "login")


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        ("strict", rb"the user said no, in an encoding that is not the terminal's"),
        ("surrogateescape", rb"the user said no: \udcff"),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_no(tmp_path, errors, told):
    command = [*COMMAND, "--workspace", tmp_path / "login", "--ask"]
    given = {"env": {**OFFLINE, "PYTHONIOENCODING": f"utf-8:{errors}"}, "capture_output": True}
    done = subprocess.run(command, input=b"\xff\n", timeout=60, **given)
    assert b"denied: " + told in done.stdout


def test_the_name_of_a_tool_cannot_move_the_cursor_over_the_question():
    asking = (
        "from harness_zero.messages import tool_use\nfrom harness_zero.terminal import asked\n"
        "asked(lambda line, style: print(line))(tool_use('c1', 'read\\x1b[2K\\rfile'))"
    )
    done = subprocess.run([sys.executable, "-c", asking], input=b"no\n", capture_output=True)
    assert rb"may it? read\x1b[2K\rfile({})" in done.stdout
