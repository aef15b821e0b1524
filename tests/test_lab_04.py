"""Lab 04 in a learner's copy: their loop says how it ended, in the terminal too."""

import pytest
from click.testing import CliRunner
from test_mine import as_before, copy

from harness_zero import kernel
from harness_zero.cli import main
from harness_zero.flight.fly import fly
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.references import reference
from harness_zero.mine import load
from harness_zero.taking import take

__all__ = ["as_before", "copy"]  # fixtures

CELLS = """import time
from harness_zero.messages import not_executed, said, tool_uses, user, words
from harness_zero.stages.s3_error_as_data import answer

def act(reply, tools):
    return user(*[answer(call, tools) for call in tool_uses(reply)])

def close_calls(reply, why):
    return user(*[not_executed(call, why) for call in tool_uses(reply)])
"""
SILENT, CUT = "silent/login-bug/calm#3", "windy/big-file/calm#24"


@pytest.fixture
def labelled(copy):
    """A copy in which both pieces of the lab were checked, and what was said of them."""
    space, said = {"__name__": "__main__"}, []
    exec(CELLS, space)
    kernel.CELLS.append(CELLS)
    for name in ("ending", "labelled"):
        exec(source := reference(name).source, space)
        kernel.CELLS.append(source)
        kernel.WRITTEN[name] = space[name]
        said.append(take(copy, EXERCISES[name], space[name]))
    return copy, said


def test_the_loop_with_labels_is_theirs_and_uses_their_endings(labelled):
    copy, said = labelled
    assert "my_harness/run.py is yours now" in said[1] and "ending (yours)" in said[1]
    page = (copy / "my_harness/__init__.py").read_text()
    assert "from .run import labelled as run  # yours" in page


@pytest.mark.parametrize(("name", "label"), [(SILENT, "empty_reply"), (CUT, "truncated")])
def test_a_harness_of_ones_own_names_its_endings(labelled, name, label):
    outcome = fly(load(labelled[0]), name)[0]
    assert (outcome.label, outcome.leftover) == (label, "")


def test_the_terminal_shows_the_label_of_a_harness_of_ones_own(labelled, tmp_path, monkeypatch):
    monkeypatch.chdir(labelled[0])
    command = ["run", "--mine", "fix it", "--project", "login", "--workspace", str(tmp_path / "w")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0 and "finished. 5 rounds" in result.output
