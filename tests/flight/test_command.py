"""`harness-zero fly` in a terminal: one flight told, or all of them in a table."""

import os
import subprocess
import sys

import pytest

from harness_zero.course import checkout, lay
from harness_zero.flight.fly import fly
from harness_zero.flight.table import table

DOUBLED = "diligent/one-mail/lost-after@2#11"


def harness_zero(*args, folder):
    command = [sys.executable, "-m", "harness_zero.cli", "fly", *args]
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True)


def test_a_flight_is_told_in_two_lines_and_nothing_is_written(tmp_path):
    run = harness_zero(DOUBLED, "--stage", "3", folder=tmp_path)
    assert run.stdout.splitlines() == [
        f"stage 3, {DOUBLED}: effect doubled, label None, 4 rounds, $0.0009",
        "  round 3: send_mail was done twice",
    ]
    assert [*tmp_path.iterdir()] == []


def test_a_flight_opens_in_the_stepper(tmp_path):
    run = harness_zero(DOUBLED, "--stage", "3", "--step", "--page", "one.html", folder=tmp_path)
    assert "  3  assistant  tool_use     call_2  send_mail(to=" in run.stdout
    assert f'in a notebook: step(flight("{DOUBLED}", 3))' in run.stdout
    page = (tmp_path / "one.html").read_text("utf-8")
    assert "data-widget-module" in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_table_is_the_same_flown_by_many_processes(tmp_path):
    run = harness_zero("--stage", "1", "--stage", "4", "--blocks", "1", folder=tmp_path)
    assert run.stdout.rstrip() == table([fly(1, 0), fly(4, 0)]), run.stderr


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["stuborn/build/calm#1"], "no persona 'stuborn'; there are diligent"),
        (["--step"], "--step and --page need the NAME of a flight"),
        (["hasty/build/calm#0", "--page", "nowhere/one.html"], "cannot be written: No such file"),
        (["--stage", "9"], "9 is not in the range 1<=x<=5"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(args, sentence, tmp_path):
    run = harness_zero(*args, folder=tmp_path)
    assert run.returncode and sentence in run.stderr and "Traceback" not in run.stderr


@pytest.fixture
def copy(tmp_path):
    """A learner's copy in which the loop is their own, and wrong."""
    lay(checkout(), tmp_path / "copy")
    own = tmp_path / "copy" / "my_harness" / "run.py"
    own.parent.mkdir()
    own.write_text("def run(model, tools, prompt):\n    return [model([])]\n")
    return tmp_path / "copy"


def test_a_learners_own_harness_stands_in_the_table_and_in_one_flight(copy):
    run = harness_zero("--mine", "--stage", "1", "--blocks", "1", folder=copy / "labs")
    assert run.stdout.split("\n")[0].split() == ["my_harness", "stage", "1"]
    assert "crashed                          130" in run.stdout
    one = harness_zero("diligent/login-bug/calm#0", "--mine", "--step", folder=copy)
    assert one.stdout.startswith("my_harness, diligent/login-bug/calm#0: crashed")
    assert 'step(flight("diligent/login-bug/calm#0", my_harness))' in one.stdout


def test_a_harness_of_theirs_that_cannot_be_imported_is_one_sentence(copy):
    (copy / "my_harness" / "run.py").write_text("def run(\n")
    run = harness_zero("--mine", folder=copy)
    assert run.returncode == 1 and "Mend the file, or move it away" in run.stderr
    assert "Traceback" not in run.stderr
