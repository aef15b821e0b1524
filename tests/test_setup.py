"""The two commands, from nothing: what `make` sets up, notices and says."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON", "TESTS", "LAB_ARGS", "VIRTUAL_ENV"}
NOWHERE = "http://127.0.0.1:9/simple"
OFFLINE = {"PIP_INDEX_URL": NOWHERE, "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
OFFLINE |= {"PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
SETTING_UP, ANEW = "Setting up .venv", "making it anew"

# The real project without what it installs from elsewhere, so that a set-up takes seconds.
SMALL = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "harness-zero"
version = "0"
requires-python = ">=3.11"
dependencies = ["click"]
optional-dependencies = { course = [], authors = [] }
scripts = { harness-zero = "harness_zero.cli:main" }
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Packages can be fetched here."""
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir"]
    got = subprocess.run([*fetch, "-d", tmp_path_factory.mktemp("got"), "hatchling"])
    if got.returncode and not os.environ.get("CI"):
        pytest.skip("NOT RUN: set up an environment: no package index answers; go online")
    assert got.returncode == 0, "no package index answers"


def lay_out(folder, project=None):
    """A clone of the project in `folder`, with a small course in it."""
    shutil.copytree(
        ROOT / "harness_zero",
        folder / "harness_zero",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("Makefile", "constraints.txt", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    if project:
        (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    front = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "chapters").mkdir()
    (folder / "chapters" / "start.ipynb").write_text(json.dumps(front), encoding="utf-8")
    return folder


def make(folder, *args, python=sys.executable, **environment):
    """What `make` says, and whether it was content."""
    ended = subprocess.run(
        ["make", f"PYTHON={python}", *args],
        cwd=folder,
        env=around(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return ended.returncode, ended.stdout


def around(**more):
    """The environment of a person who types a command: without what this test run was given."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | more


@pytest.fixture(scope="module")
def small(tmp_path_factory, network):
    """A clone that was set up for authors, in a folder whose name is not a plain word."""
    folder = lay_out(tmp_path_factory.mktemp("a learner's folder"), SMALL)
    code, said = make(folder, ".venv/authors")
    assert (code, said.count(SETTING_UP), said.count(ANEW)) == (0, 1, 0), said
    return folder


def test_a_second_set_up_is_immediate_and_the_authors_one_serves_learners(small):
    for stamp in (".venv/authors", ".venv/course"):
        assert make(small, stamp) == (0, f"make: '{stamp}' is up to date.\n")


def test_harness_zero_and_its_packages_are_compiled_ahead(small):
    compiled = [path.parts[-3] for path in small.rglob("*.pyc")]
    assert {"harness_zero", "click"} <= set(compiled)


def test_without_jupyterlab_the_verb_lab_says_what_to_type(small):
    code, said = make(small, "lab")
    assert code and "JupyterLab is not installed here: type make lab." in said
    assert "Traceback" not in said


def test_a_failed_update_says_what_to_do_and_leaves_what_worked(small):
    os.utime(small / "pyproject.toml")
    code, said = make(small, ".venv/course", **OFFLINE)
    assert code and "type the same command again" in said
    assert "ERROR: " in said, "pip's own words are missing"
    code, said = make(small, ".venv/course")
    assert (code, said.count(SETTING_UP), said.count(ANEW)) == (0, 1, 0), said


def test_a_set_up_whose_python_is_gone_is_made_anew(small):
    (small / ".venv/bin/python").unlink()
    (small / ".venv/bin/python").symlink_to("/gone/python3")
    code, said = make(small, ".venv/course")
    assert (code, said.count(ANEW)) == (0, 1), said
    assert runs(small)


def test_a_set_up_that_was_moved_is_made_anew(small):
    away = small.rename(small.with_name("moved"))
    try:
        assert ANEW in make(away, "-n", ".venv/course")[1]
    finally:
        away.rename(small)
    assert ANEW not in make(small, "-n", ".venv/course")[1]


def runs(folder):
    """Whether the command line of this set-up runs, from elsewhere, on this folder's code."""
    command = [folder / ".venv/bin/harness-zero", "start", "--to", folder / "copy"]
    return subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL).returncode == 0


def test_a_set_up_that_was_killed_is_made_anew(tmp_path, network):
    lay_out(tmp_path, SMALL)
    assert ANEW not in killed(tmp_path, at=".venv/pyvenv.cfg")
    assert ANEW in killed(tmp_path, at=".venv/bin/pip")
    assert ANEW in make(tmp_path, "-n", ".venv/course")[1]


def killed(folder, at):
    """Kill a set-up and all its children soon after it has made the file `at`."""
    begun = start(folder, ".venv/course")
    wait_for((folder / at).exists, begun)
    time.sleep(0.3)
    os.killpg(begun.pid, signal.SIGKILL)
    return begun.communicate()[0]


def start(folder, *args, **environment):
    """`make` as in a terminal at which nobody types: a process group of its own, and a keyboard."""
    return subprocess.Popen(
        ["make", f"PYTHON={sys.executable}", *args],
        cwd=folder,
        env=around(**environment),
        stdin=os.openpty()[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_for(ready, process):
    """Wait until `ready()`, as long as the process lives."""
    until = time.monotonic() + 200
    while not ready():
        assert process.poll() is None and time.monotonic() < until, process.communicate()[0]
        time.sleep(0.05)


# a Python that will not do

PRETEND = '#!/bin/sh\nexec "{python}" -c "import sys; {pretence}; exec(sys.argv[2])" "$@"\n'
UNFIT = {
    "sys.version_info = (3, 9, 1)": "Python 3.11 or newer is needed; .* is 3.9.",
    "sys.modules['ensurepip'] = None": "apt install python3-venv",
}


@pytest.mark.parametrize("pretence", UNFIT)
def test_an_unfit_python_is_refused_in_a_sentence_and_nothing_is_removed(pretence, tmp_path):
    lay_out(tmp_path, SMALL)
    python = tmp_path / "python"
    python.write_text(PRETEND.format(python=sys.executable, pretence=pretence))
    python.chmod(0o755)
    for prepare in ((lambda: None), (tmp_path / ".venv").mkdir):
        prepare()
        code, said = make(tmp_path, ".venv/course", python="./python")
        sentence, ours = said.splitlines()
        assert code and re.search(UNFIT[pretence], sentence) and ours.startswith("make: ***")
    assert (tmp_path / ".venv").is_dir()


def test_help_names_every_verb():
    verbs = re.search(r"^\.PHONY: (.*) begin-again$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    said = make(ROOT, "help")[1]
    assert re.findall(r"^make (\w+) +\S", said, re.MULTILINE) == verbs[1].split()


def test_the_gate_ends_with_the_command_that_people_type():
    assert (ROOT / ".ci/run").read_text("utf-8").endswith("\nmake check\nmake test\n")


# the real thing


@pytest.fixture(scope="module")
def opened(tmp_path_factory, network):
    """A clone in which `make lab` was typed for the first time, and what it said."""
    folder = lay_out(tmp_path_factory.mktemp("real"))
    (folder / "home").mkdir()
    return folder, open_and_end(folder, home=folder / "home")


def test_make_lab_opens_the_course_from_nothing_and_ctrl_c_ends_it(opened):
    folder, said = opened
    assert SETTING_UP in said and "workspace/ is ready: 1 new." in said
    assert not (folder / "home/.jupyter/lab").exists(), "written among the user's own settings"


def test_a_second_make_lab_opens_at_once_even_where_the_home_cannot_be_written(opened):
    said = open_and_end(opened[0], home="/proc/nobody")
    assert SETTING_UP not in said and "workspace/ is ready: nothing new." in said


def open_and_end(folder, home):
    """What is said from `make lab` until Ctrl+C, with a look in between at what is served."""
    arguments = f"LAB_ARGS=--no-browser --port {free_port()}"
    lab = start(folder, "lab", arguments, HOME=str(home))
    said = "".join(until("http://127.0.0.1:", lab.stdout))
    try:
        look_at(*re.search(r"(http://127\S+)/lab/tree/(\S+)\?(\S+)", said).groups())
    finally:
        os.killpg(lab.pid, signal.SIGINT)
        try:
            said += lab.communicate(timeout=30)[0]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(lab.pid, signal.SIGKILL)
    assert lab.returncode == -signal.SIGINT and "Traceback" not in said, said
    return said


def look_at(url, page, token):
    """The front page is served, may be written, and no pop-up with news will cover it."""
    assert page == "chapters/start.ipynb" and fetched(f"{url}/lab/tree/{page}?{token}")
    assert json.loads(fetched(f"{url}/api/contents/{page}?{token}"))["writable"]
    notices = "@jupyterlab/apputils-extension:notification"
    answer = json.loads(fetched(f"{url}/lab/api/settings/{notices}?{token}"))
    usual = {name: of["default"] for name, of in answer["schema"]["properties"].items()}
    assert (usual["fetchNews"], usual["checkForUpdates"]) == ("false", False)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def until(words, lines):
    """The lines up to the one that holds these words."""
    for line in lines:
        yield line
        if words in line:
            return


def fetched(url):
    """What is served there; JupyterLab tells its address a moment before it listens."""
    for _ in range(50):
        with suppress(urllib.error.URLError), urllib.request.urlopen(url, timeout=20) as answer:
            return answer.read()
        time.sleep(0.1)
    pytest.fail(f"nothing answers at {url}")
