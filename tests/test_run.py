"""`harness-zero run` as a process: its output, its exit code, its files."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness_zero.assembly import USUAL
from harness_zero.flight.worlds import PROMPT, world
from harness_zero.messages import array_fault, reply, tool_use
from harness_zero.terminal import library

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
OFFLINE = {name: value for name, value in os.environ.items() if name not in KEYS}
COMMAND = [sys.executable, "-m", "harness_zero.cli", "run"]


def play(*arguments, env=OFFLINE, **more):
    """One run as a person would type it, offline."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, **more)


def kept(folder):
    """The array that the last run left in its workspace."""
    paths = (folder / ".harness_zero").glob("messages-*.json")
    return json.loads(max(paths, key=lambda path: path.stat().st_mtime_ns).read_text("utf-8"))


def test_it_repairs_a_shipped_project_and_says_what_it_does(tmp_path):
    folder = tmp_path / "cart"
    done = play(PROMPT, "--project", "cart", "--workspace", folder)
    assert done.returncode == 0, done.stderr
    assert world("cart").reached(folder)
    for line in ("run_command(command='python -m pytest')", "exit code 1", "exit code 0"):
        assert line in done.stdout
    assert "finished: stop_reason 'end_turn'. 6 rounds, 7 tool calls." in done.stdout
    assert "\x1b" not in done.stdout, "colour belongs in a terminal alone"


def test_a_turn_is_finished_once_the_command_after_verify_passes(tmp_path):
    verify = "python -m pytest -q"
    done = play(PROMPT, "--project", "login", "--workspace", tmp_path / "a", "--verify", verify)
    assert done.returncode == 0, done.stderr
    assert f"nothing is finished before `{verify}` passes; test_*.py," in done.stdout
    assert f"     `{verify}` passes\n     finished: " in done.stdout


def test_a_veto_is_seen_in_the_terminal_and_so_is_who_ended_the_turn(tmp_path):
    verify = "echo not yet; false"
    done = play(PROMPT, "--project", "login", "--workspace", tmp_path / "a", "--verify", verify)
    assert done.returncode == 1
    veto = (
        f"     veto: You are not done: `{verify}` does not pass.\n     exit code 1\n     not yet\n"
    )
    assert done.stdout.count(veto) == 2
    assert f"veto_cap: `{verify}` says the same again, and no tool was called" in done.stdout


@pytest.mark.parametrize(
    ("keep", "held"), [([], True), (["--keep", "README.md"], False), (["--keep", ""], False)]
)
def test_the_files_of_the_check_stay_as_they_are_unless_others_are_named(tmp_path, keep, held):
    folder = world("login").lay(tmp_path / "login")
    verify = "date +%N >> test_login.py"  # the check itself is what changes a file here
    told = play(PROMPT, "--workspace", folder, "--verify", f"{verify}; false", *keep).stdout
    assert ("have to be what they were: test_login.py" in told) == held


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--verify", "true", "--stage", "2"], "a contract of the library"),
        (["--verify", " "], "is empty"),
        (["--keep", "a.py"], "name one"),
    ],
)
def test_verify_without_sense_is_refused_in_a_sentence(tmp_path, arguments, words):
    done = play(PROMPT, "--workspace", tmp_path, *arguments)
    assert done.returncode == 2 and words in done.stderr


def test_a_pattern_that_finds_no_file_is_told(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    told = play(PROMPT, "--workspace", folder, "--verify", "true", "--keep", "tset_*.py").stdout
    assert "no file is found by tset_*.py, so it keeps none" in told


def test_what_a_command_printed_cannot_move_the_cursor_in_the_line_of_the_end(tmp_path):
    verify = r"printf '\033[2Jall is well'; false"
    done = play(PROMPT, "--project", "login", "--workspace", tmp_path / "a", "--verify", verify)
    assert r"exit code 1 \x1b[2Jall is well" in done.stdout and "\x1b" not in done.stdout


def test_the_array_is_kept_in_the_workspace(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    play(PROMPT, "--workspace", folder)
    assert len(kept(folder)) == 10 and array_fault(kept(folder)[:-1]) is None


def test_it_has_colour_in_a_terminal(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    env = {**OFFLINE, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    assert "\x1b[36m" in play(PROMPT, "--workspace", folder, env=env).stdout


def test_another_folder_needs_a_key_or_a_local_model_and_is_told_how(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    done = play("tidy up", "--workspace", tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    for word in ("login", "cart", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "HARNESS_ZERO_MODEL"):
        assert word in done.stderr


def test_a_key_that_nobody_answers_to_ends_in_a_sentence_without_the_key(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    env = {**OFFLINE, "ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = play(PROMPT, "--workspace", folder, env=env)
    assert done.returncode == 1 and "model_error: no answer came back" in done.stdout
    assert "sk-secret" not in done.stdout + done.stderr
    assert kept(folder) == [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workspace", "nowhere"], "nowhere"),
        (["--workspace", "a-file"], "a-file"),
        (["--project", "spaceship", "--workspace", "new"], "login, cart"),
        (["--stage", "9", "--workspace", "."], "9"),
    ],
)
def test_a_wrong_workspace_project_or_stage_is_one_sentence(tmp_path, arguments, words):
    (tmp_path / "a-file").write_text("mine", encoding="utf-8")
    done = play(PROMPT, *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2) and words in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_a_tool_that_raises_ends_stage_1_and_the_messages_are_kept(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    auth = folder / "auth.py"
    auth.write_bytes(b"\xff\xfe\x00" + auth.read_bytes())
    done = play(PROMPT, "--workspace", folder, "--stage", 1)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    assert "In stages 1 and 2 a tool that fails takes the whole run down" in done.stdout
    assert "without a result, so the API would refuse it" in done.stdout
    assert kept(folder)[-1]["role"] == "assistant"


def test_from_stage_3_on_the_model_reads_the_error_and_the_run_goes_on(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    (folder / "auth.py").write_bytes(b"\xff\xfe\x00")
    done = play(PROMPT, "--workspace", folder, "--stage", 3)
    assert done.returncode == 0 and array_fault(kept(folder)) is None


@pytest.mark.parametrize(
    ("stage", "ending"),
    [
        (1, "finished: the model asked for nothing more. 5 rounds, 5 tool calls."),
        (2, "Stages 2 and 3 do not say"),
        (3, "Stages 2 and 3 do not say"),
        (4, "finished. 5 rounds, 5 tool calls."),
        (5, "finished. 5 rounds, 5 tool calls."),
    ],
)
def test_every_stage_repairs_a_project_and_tells_what_it_can(tmp_path, stage, ending):
    folder = tmp_path / "login"
    done = play(PROMPT, "--project", "login", "--workspace", folder, "--stage", stage)
    assert done.returncode == 0 and world("login").reached(folder)
    assert ending in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said", "count"),
    [
        (["--stage", "1"], b"interrupted by you. 1 round, 1 tool call", 2),
        ([], b"interrupted: by the user.", 3),
    ],
)
def test_ctrl_c_in_the_middle_of_a_tool_ends_the_tool_and_keeps_the_messages(
    tmp_path, arguments, said, count
):
    folder = world("login").lay(tmp_path / "login")
    (folder / "test_slow.py").write_text(
        "import pathlib, time\n\n\ndef test_slow():\n    pathlib.Path('begun').touch()\n"
        "    time.sleep(60)\n    pathlib.Path('ended').touch()\n",
        encoding="utf-8",
    )
    command = [*COMMAND, PROMPT, "--workspace", str(folder), *arguments]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=OFFLINE)
    until(lambda: (folder / "begun").exists())
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 130 and b"Traceback" not in out + err
    assert said in out
    assert len(kept(folder)) == count and not (folder / "ended").exists()


def until(holds, seconds=20):
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.02)


def test_a_second_run_keeps_what_the_first_one_kept(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    for _ in range(2):
        play(PROMPT, "--workspace", folder)
    assert sorted(path.name for path in (folder / ".harness_zero").iterdir()) == [
        "messages-1.json",
        "messages-2.json",
    ]


def test_a_link_is_not_followed_out_of_the_workspace_to_keep_the_messages(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    (tmp_path / "away").mkdir()
    (folder / ".harness_zero").symlink_to(tmp_path / "away")
    done = play(PROMPT, "--workspace", folder)
    assert done.returncode == 0 and "could not be kept" in done.stdout
    assert list((tmp_path / "away").iterdir()) == []


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("nowhere")])
def test_messages_that_cannot_be_kept_are_told_in_a_sentence(tmp_path, make):
    folder = world("login").lay(tmp_path / "login")
    make(folder / ".harness_zero")
    done = play(PROMPT, "--workspace", folder)
    assert "could not be kept" in done.stdout and "Traceback" not in done.stderr


def test_nobody_reading_any_more_does_not_lose_the_messages(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    with open("/dev/full", "w") as full:
        command = [*COMMAND, PROMPT, "--workspace", str(folder)]
        subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=OFFLINE, timeout=60)
    assert len(kept(folder)) == 10 and world("login").reached(folder)


def test_an_end_from_outside_keeps_the_messages_too(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    slow = "import pathlib, time\n\ndef test_slow():\n    pathlib.Path('begun').touch()\n"
    (folder / "test_slow.py").write_text(slow + "    time.sleep(60)\n", encoding="utf-8")
    command = [*COMMAND, PROMPT, "--workspace", str(folder)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=OFFLINE)
    until(lambda: (folder / "begun").exists())
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=20)
    assert len(kept(folder)) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["", "--workspace", "login"], "prompt is empty"),
        ([PROMPT, "--project", "cart", "--workspace", "login"], "something else"),
        ([PROMPT, "--project", "nope", "--workspace", "login"], "login, cart"),
        ([PROMPT, "--project", "login", "--workspace", "a-file/sub"], "a-file/sub"),
        ([PROMPT, "--project", "login", "--workspace", "x" * 300], "cannot be laid"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(tmp_path, arguments, words):
    world("login").lay(tmp_path / "login")
    (tmp_path / "a-file").touch()
    done = play(*arguments, cwd=tmp_path)
    assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "login" / ".harness_zero").exists()


def test_a_project_is_laid_into_an_empty_folder(tmp_path):
    assert play(PROMPT, "--project", "login", "--workspace", tmp_path).returncode == 0


def test_words_that_a_terminal_cannot_write_are_spelled_out(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    plain = {**OFFLINE, "PYTHONIOENCODING": "ascii"}
    done = play("behebe es, gr\u00fcndlich \x1b]0;title\x07", "--workspace", folder, env=plain)
    assert done.returncode == 0 and "gr\\xfcndlich" in done.stdout and "\x1b" not in done.stdout


def test_a_file_that_was_read_in_part_is_not_written_back(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    auth = folder / "auth.py"
    auth.write_text(auth.read_text("utf-8") + "# mine\n" * 20_000, encoding="utf-8")
    before = auth.read_bytes()
    done = play(PROMPT, "--workspace", folder)
    assert auth.read_bytes() == before and "nothing in these files" in done.stdout


@pytest.mark.parametrize("number", range(1, 6))
def test_an_odd_reply_of_a_server_is_one_sentence_in_every_stage(tmp_path, number):
    folder = world("login").lay(tmp_path / "login")
    with serving({"content": ["abc"], "stop_reason": "end_turn", "usage": {}}) as address:
        env = {**OFFLINE, "ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": address}
        done = play(PROMPT, "--workspace", folder, "--stage", number, env=env)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr


def test_a_server_that_echoes_the_key_does_not_put_it_on_the_screen(tmp_path):
    folder = world("login").lay(tmp_path / "login")
    echo = {"type": "error", "error": {"type": "x", "message": "you sent sk-secret " + "y" * 5000}}
    with serving(echo, status=400) as address:
        env = {**OFFLINE, "ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": address}
        done = play(PROMPT, "--workspace", folder, env=env)
    assert "you sent ***" in done.stdout and "sk-secret" not in done.stdout + done.stderr
    assert len(done.stdout) < 1000


@contextmanager
def serving(body, status=200):
    """A server on this machine that gives the same answer to everything."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("number", [2, 4, 5])
def test_a_stage_plays_with_a_model_whose_price_nobody_knows(tmp_path, number):
    folder = world("login").lay(tmp_path / "login")
    says = {"content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"}
    with serving({**says, "usage": {"input_tokens": 1, "output_tokens": 1}}) as address:
        env = {**OFFLINE, "ANTHROPIC_BASE_URL": address, "HARNESS_ZERO_MODEL": "llama-of-mine"}
        done = play(PROMPT, "--workspace", folder, "--stage", number, env=env)
    assert done.returncode == 0 and "hello" in done.stdout, done.stdout


def test_the_library_marks_what_it_sends_and_gives_a_reply_that_was_cut_off_more_room():
    lines = iter([reply(tool_use("a", "look"), stop_reason="max_tokens"), reply("done")])
    requests = []

    def model(request):
        requests.append(request)
        return next(lines)

    run = library(USUAL)(model, {"look": lambda: "nothing"}, PROMPT)
    first, second = requests
    assert run.label == "finished" and second == {**first, "max_tokens": 20_000}
    assert "cache_control" in first["tools"][-1] and "cache_control" not in str(run.messages)
