"""Running a command: what is told of it, and what it can never do."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness_zero import runner
from harness_zero.runner import run, sandboxed

REPOSITORY = Path(runner.__file__).parents[1]


@pytest.fixture
def sandbox():
    """The sandbox, where this machine has one; under CI it has to have one."""
    if not sandboxed():
        leave = pytest.fail if os.environ.get("CI", "") not in ("", "0", "false") else pytest.skip
        leave("NOT RUN: keep commands in a sandbox: bubblewrap is missing or may not be used here")
    return True


@pytest.fixture(params=["in a sandbox", "without a sandbox"])
def sh(request, tmp_path):
    """Runs a command in a folder of its own: sh(command, ...)."""
    fenced = request.param == "in a sandbox" and request.getfixturevalue("sandbox")
    (tmp_path / "ws").mkdir()
    return partial(run, folder=tmp_path / "ws", sandbox=fenced)


@pytest.fixture
def folder(sh):
    return sh.keywords["folder"]


def in_time(question):
    """Whether the answer becomes yes within some seconds."""
    for _ in range(100):
        if question():
            return True
        time.sleep(0.05)
    return False


def is_quiet(file):
    """Whether nobody writes to the file any more."""
    before = file.stat().st_size
    time.sleep(0.05)
    return file.stat().st_size == before


@pytest.fixture
def is_childless():
    """Whether this process has no child, running or zombie, that it did not have before."""
    before = {child.pid for child in psutil.Process().children()}
    return lambda: {child.pid for child in psutil.Process().children()} <= before


BEATING = "(while :; do echo beat >> beats; sleep 0.01; done)"


# What is told


def test_the_exit_code_stands_before_what_was_printed(sh):
    assert sh("echo hello") == "exit code 0\nhello\n"


def test_a_command_that_fails_is_told_not_raised(sh):
    assert sh("echo no >&2; exit 3") == "exit code 3\nno\n"


def test_a_command_that_prints_nothing_is_told_in_one_line(sh):
    assert sh("true") == "exit code 0\n"


def test_what_no_shell_understands_is_told(sh):
    assert sh("echo 'unfinished").startswith("exit code 2\n")
    assert sh("no-such-program").startswith("exit code 127\n")


def test_an_end_by_a_signal_has_the_shells_number(sh):
    assert sh("kill -9 $$") == "exit code 137\n"


def test_prints_and_errors_come_in_the_order_in_which_they_were_written(sh):
    program = "import sys; print(1); print(2, file=sys.stderr); print(3); sys.exit('4')"
    assert sh(f'python -c "{program}"') == "exit code 1\n1\n2\n3\n4\n"


def test_bytes_that_are_no_text_are_replaced(sh):
    assert sh(r"printf 'a\377b\342\202\254\342'") == "exit code 0\na\ufffdb€\ufffd"


def test_characters_are_whole_however_they_arrive(sh):
    assert sh(r"printf '\342\202'; sleep 0.05; printf '\254'") == "exit code 0\n€"


def test_lines_end_as_they_were_printed(sh):
    assert sh(r"printf 'a\r\nb\n\n'") == "exit code 0\na\r\nb\n\n"


def test_of_a_long_print_beginning_and_end_are_kept(sh):
    told = sh("python -c \"print('a' * 500 + 'b' * 1234 + 'c' * 499)\"", limit=1000)
    assert told == f"exit code 0\n{'a' * 500}\n[... 1,234 characters cut ...]\n{'c' * 499}\n"


def test_a_print_of_the_limit_is_kept_whole(sh):
    program = "python -c \"print('€' * 999)\""
    assert sh(program, limit=1000) == f"exit code 0\n{'€' * 999}\n"
    assert "[... 1 characters cut ...]" in sh(program, limit=999)


def test_a_limit_of_nothing_keeps_nothing(sh):
    assert sh("echo abc", limit=0) == "exit code 0\n\n[... 4 characters cut ...]\n"


# What it starts with


def test_it_starts_in_the_folder(sh, folder):
    assert sh("pwd; echo x > made.txt") == f"exit code 0\n{os.path.realpath(folder)}\n"
    assert (folder / "made.txt").read_text() == "x\n"


@pytest.mark.parametrize("name", ["two words", "it's", 'a"b', "ü€", "$HOME", "-rf", "a\nb"])
def test_the_folder_may_have_any_name(sh, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "here").write_text("")
    assert sh("ls", folder=str(tmp_path / name)) == "exit code 0\nhere\n"


def test_it_has_nothing_to_read(tmp_path):
    command = "cat; read line || echo nothing"
    program = f"from harness_zero.runner import run; print(run({command!r}, {str(tmp_path)!r}))"
    assert python("-c", program, typed="a line\n") == "exit code 0\nnothing\n\n"


def test_it_runs_the_python_that_runs_us(sh):
    told = sh("python -c 'import sys; print(sys.prefix, sys.version)'")
    assert told == f"exit code 0\n{sys.prefix} {sys.version}\n"


def test_it_inherits_no_secret(sh, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "DATABASE_URL", "LESSOPEN", "PYTHONPATH"):
        monkeypatch.setenv(name, "sesame")
    assert "sesame" not in sh("env; cat /proc/$PPID/environ 2> /dev/null | tr '\\0' '\\n'")


def test_it_finds_the_same_surroundings_on_every_machine(sh, monkeypatch):
    for name in ("LC_ALL", "LANG", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.ISO-8859-1")
    told = set(sh("env").splitlines())
    locale = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    assert {f"LC_ALL={locale}", "NO_COLOR=1", "COLUMNS=80", "TERM=dumb"} <= told
    assert sh("python -c \"print('€', ascii(open('x', 'w').encoding))\"").count("€ 'utf-8'".upper())


def test_it_leaves_no_bytecode_in_the_folder(sh, folder):
    (folder / "one.py").write_text("x = 1\n")
    assert sh("python -c 'import one; print(one.x)'") == "exit code 0\n1\n"
    assert [place.name for place in folder.iterdir()] == ["one.py"]


@pytest.mark.parametrize(
    ("command", "fault", "words"),
    [
        (3, TypeError, "a command is a string, not int"),
        (None, TypeError, "a command is a string, not NoneType"),
        (["ls"], TypeError, "a command is a string, not list"),
        ("", ValueError, "the command is empty"),
        (" \n\t", ValueError, "the command is empty"),
        ("echo a\0b", ValueError, "the command holds a NUL character"),
        ("echo \ud800", ValueError, "the command holds half a character"),
        ("echo " + "€" * 50_000, ValueError, "the command is 150,005 bytes long"),
    ],
)
def test_what_no_shell_could_run_is_refused_in_a_sentence(tmp_path, command, fault, words):
    with pytest.raises(fault, match=words):
        run(command, tmp_path)


def test_the_longest_command_runs(sh):
    assert sh("true " + "x" * (runner.LONGEST - 5)) == "exit code 0\n"


def test_a_folder_that_is_gone_is_told(tmp_path):
    with pytest.raises(NotADirectoryError, match=r"there is no folder .*gone to run a command in"):
        run("ls", tmp_path / "gone")


# How it ends


def test_a_command_that_takes_too_long_is_ended_and_told_with_what_it_printed(sh):
    told = sh("echo begun; sleep 1000", timeout=0.2)
    assert told == "timed out after 0.2 s; everything it had started was ended\nbegun\n"


def test_what_python_printed_before_time_was_up_is_told(sh):
    told = sh("python -c 'import time; print(1); time.sleep(1000)'", timeout=1)
    assert told.endswith("was ended\n1\n")


def test_a_command_that_closes_its_output_is_still_waited_for(sh):
    assert sh("exec > /dev/null 2>&1; sleep 0.2; exit 4") == "exit code 4\n"


def test_a_command_that_prints_for_ever_fills_no_memory(tmp_path):
    program = (
        "import resource; from harness_zero.runner import run;"
        "resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, 100 << 20));"
        f"print(run('yes', {str(tmp_path)!r}, timeout=1, limit=100, sandbox=False))"
    )
    done = python("-c", program)
    assert done.startswith("timed out after 1 s")
    assert int(done.split("[... ")[1].split()[0].replace(",", "")) > 200 << 20


def test_what_it_left_in_the_background_does_not_hold_it_up_and_is_ended(sh, folder):
    began = time.monotonic()
    assert sh(f"{BEATING} & until test -e beats; do :; done; echo done") == "exit code 0\ndone\n"
    assert time.monotonic() - began < 5
    assert in_time(lambda: is_quiet(folder / "beats"))


def test_when_time_is_up_what_it_left_in_the_background_is_ended_too(sh, folder):
    assert sh(f"{BEATING} & sleep 1000", timeout=0.3).startswith("timed out")
    assert in_time(lambda: is_quiet(folder / "beats"))


def test_what_moved_to_a_group_of_its_own_does_not_hold_it_up(sh):
    began = time.monotonic()
    assert sh("setsid sleep 5 & sleep 0.1; echo done") == "exit code 0\ndone\n"
    assert time.monotonic() - began < 3


def test_in_a_sandbox_even_a_group_of_its_own_is_ended(sandbox, tmp_path):
    run(f"setsid sh -c '{BEATING}' & until test -e beats; do :; done", tmp_path)
    assert in_time(lambda: is_quiet(tmp_path / "beats"))


def test_what_ignores_every_polite_signal_is_ended(sh, folder):
    assert sh(f"trap '' TERM INT HUP; {BEATING}", timeout=0.3).startswith("timed out")
    assert in_time(lambda: is_quiet(folder / "beats"))


def test_an_interrupt_passes_through_once_everything_is_ended(sh, folder, is_childless):
    def interrupt_once_it_beats():
        while not (folder / "beats").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt_once_it_beats).start()
    with pytest.raises(KeyboardInterrupt):
        sh(f"{BEATING} & sleep 1000")
    assert in_time(is_childless)
    assert in_time(lambda: is_quiet(folder / "beats"))


def test_any_other_fault_passes_through_once_everything_is_ended(sh, is_childless):
    with pytest.raises(TypeError):
        sh("sleep 1000", timeout="a while")
    assert in_time(is_childless)


INTERRUPTED = """
import os, signal, sys, threading, time
from harness_zero.runner import run
for tenths in range(3, 60):
    hit = threading.Timer(tenths / 10_000, os.kill, (os.getpid(), signal.SIGINT))
    try:
        hit.start()
        run("exec sleep 4321", sys.argv[1], sandbox=False)
    except KeyboardInterrupt:
        hit.join()
    until = time.monotonic() + 5
    try:
        while os.waitpid(-1, os.WNOHANG) == (0, 0):
            if time.monotonic() > until:
                sys.exit(f"left running, when interrupted after {tenths / 10} ms")
        sys.exit(f"left a zombie, when interrupted after {tenths / 10} ms")
    except ChildProcessError:
        pass
print("nothing left")
"""


def test_an_interrupt_at_any_instant_leaves_nothing_running(tmp_path):
    assert python("-c", INTERRUPTED, str(tmp_path)) == "nothing left\n"


def test_it_leaves_no_zombie_no_thread_and_no_open_file(sh, is_childless):
    def left():
        return threading.active_count(), len(os.listdir("/dev/fd"))

    before = left()
    for command in ("true", "sleep 100 & true", "sleep 100", "setsid yes & true"):
        sh(command, timeout=0.2)
    assert in_time(is_childless)
    assert in_time(lambda: left() == before)


def test_many_commands_run_at_once_each_with_its_own_output(sh):
    began = time.monotonic()
    with ThreadPoolExecutor(20) as threads:
        told = list(threads.map(lambda n: sh(f"sleep 0.5; echo {n}"), range(20)))
    assert told == [f"exit code 0\n{n}\n" for n in range(20)]
    assert time.monotonic() - began < 5


# What it can never do in a sandbox


def test_in_a_sandbox_only_the_folder_can_be_written(sandbox, tmp_path):
    (tmp_path / "ws").mkdir()
    outside = [tmp_path / "beside.txt", Path.home() / f".harness-zero-{os.getpid()}"]
    try:
        run(f"for file in inside.txt {outside[0]} {outside[1]}; do > $file; done", tmp_path / "ws")
        assert (tmp_path / "ws" / "inside.txt").exists()
        assert not any(file.exists() for file in outside)
    finally:
        for file in outside:
            file.unlink(missing_ok=True)


def test_in_a_sandbox_what_lies_beside_the_folder_cannot_be_reached_by_a_link(sandbox, tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "link").symlink_to("../beside.txt")
    run("echo x > link; rm -rf ../*; mkdir ../new", tmp_path / "ws")
    assert [place.name for place in tmp_path.iterdir()] == ["ws"]


def test_in_a_sandbox_not_even_root_can_make_the_system_writable(sandbox, tmp_path):
    told = run("mount -o remount,rw,bind / || mount --bind . /mnt || echo refused", tmp_path)
    assert told.endswith("refused\n")
    as_it_is = Path("/proc/sys/kernel/panic").read_text().strip()
    told = run(f"echo {as_it_is} > /proc/sys/kernel/panic", tmp_path)
    assert not told.startswith("exit code 0\n")


def test_in_a_sandbox_tmp_is_its_own(sandbox, tmp_path):
    with tempfile.NamedTemporaryFile(dir="/tmp") as ours:
        told = run(f"ls {ours.name}; echo x > /tmp/theirs-{os.getpid()} && echo $TMPDIR", tmp_path)
    assert "No such file" in told and told.endswith("\n/tmp\n")
    assert not Path(f"/tmp/theirs-{os.getpid()}").exists()


def test_in_a_sandbox_no_other_process_is_seen(sandbox, tmp_path):
    assert run(f"kill -0 {os.getpid()}", tmp_path).startswith("exit code 1\n")


def test_in_a_sandbox_an_interpreter_and_a_package_under_tmp_are_there(sandbox, tmp_path):
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{place}/v"], check=True)
        shutil.copytree(REPOSITORY / "harness_zero", f"{place}/harness_zero")
        tried = f"python -c 'import sys; print(sys.prefix)'; echo $VIRTUAL_ENV; ls {place}"
        tried += f"; touch {place}/v/x {place}/harness_zero/x || echo refused"
        program = f"from harness_zero.runner import run; print(run({tried!r}, {str(tmp_path)!r}))"
        done = python("-c", program, program=f"{place}/v/bin/python", path=place)
    assert done.startswith(f"exit code 0\n{place}/v\n{place}/v\nharness_zero\nv\n")
    assert done.endswith("refused\n\n")


def test_in_a_sandbox_what_was_started_dies_with_the_process_that_started_it(sandbox, tmp_path):
    program = f"from harness_zero.runner import run; run({BEATING!r}, {str(tmp_path)!r})"
    with subprocess.Popen([sys.executable, "-c", program], env=surroundings()) as process:
        while not (tmp_path / "beats").exists():
            time.sleep(0.01)
        process.kill()
    assert in_time(lambda: is_quiet(tmp_path / "beats"))


def test_whoever_asks_for_no_sandbox_gets_none(tmp_path):
    (tmp_path / "ws").mkdir()
    run("echo x > ../beside.txt", tmp_path / "ws", sandbox=False)
    assert (tmp_path / "beside.txt").exists()


def test_where_bubblewrap_cannot_be_used_commands_run_without():
    program = (
        "import os; from harness_zero.runner import run, sandboxed;"
        "print(sandboxed(), run('echo hello', os.curdir))"
    )
    assert python("-c", program, PATH="/nowhere") == "False exit code 0\nhello\n\n"


def surroundings(path=REPOSITORY, **more):
    return {**os.environ, "PYTHONPATH": str(path), **more}


def python(*words, program=sys.executable, path=REPOSITORY, typed="", **more):
    """What a fresh Python prints."""
    done = subprocess.run(
        [program, *words],
        cwd=path,
        env=surroundings(path, **more),
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout
