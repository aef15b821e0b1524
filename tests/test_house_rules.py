"""What conftest.py at the root holds every test run to, tried on test runs of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDY = """
def test_a(needs):
    needs("no-such-program", to="browser tests", install="install it")

def test_b(needs):
    test_a(needs)

def test_c(needs):
    assert needs("no-such-program", "python3", "python", to="run", install="install it")
"""


def test_a_part_that_is_missing_is_told_at_the_end(tmp_path):
    said = pytest_run(tmp_path, "test_needy.py", NEEDY, CI="")
    assert "NOT RUN: browser tests: no no-such-program found; install it (2 tests)" in said
    assert "1 passed, 2 skipped" in said


def test_under_ci_a_part_that_is_missing_is_a_failure(tmp_path):
    assert "2 failed, 1 passed" in pytest_run(tmp_path, "test_needy.py", NEEDY, CI="true")


def test_nbval_refuses_what_it_cannot_compare(tmp_path):
    never_run = cell("print(1)", "a", count=None)
    skipped = cell("print(2)", "b", count=None, tags=["nbval-skip"])
    address = cell("print(' at 0x' + '7f')", "c", " at 0x7f\n")
    sound = cell("print(3)", "d", "3\n")
    cells = [never_run, skipped, address, sound]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    said = pytest_run(tmp_path, "sample.ipynb", json.dumps(notebook), "--nbval")
    assert "sample.ipynb, Cell 0: it was never run" in said
    assert "sample.ipynb, Cell 2: its output holds an object's address" in said
    assert "2 failed, 1 passed, 1 skipped" in said


def cell(source, id, *printed, count=1, tags=()):
    said = [{"output_type": "stream", "name": "stdout", "text": text} for text in printed]
    run = {"cell_type": "code", "execution_count": count, "outputs": said}
    return run | {"id": id, "metadata": {"tags": [*tags]}, "source": source}


def pytest_run(folder, name, content, *options, **environment):
    """What pytest says of one file under the rules of this house."""
    shutil.copy(ROOT / "conftest.py", folder)
    (folder / name).write_text(content, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", *options]
    command += ["--rootdir", folder, folder]
    environment = os.environ | environment
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return ran.stdout
