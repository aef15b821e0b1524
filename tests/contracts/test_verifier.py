"""A verifier: something is really run, and what the model may not touch is held."""

import os

import pytest

from harness_zero.assembly import assemble, of_messages
from harness_zero.contracts import HookFailed, command, stop_hook, verifier
from harness_zero.desk import Desk
from harness_zero.faults import SetupFault
from harness_zero.messages import reply, tool_use
from harness_zero.policy import structural_stop
from harness_zero.run import Run
from harness_zero.workspace import workspace

TEST = "from sums import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
CHEAT = "def test_total():\n    pass\n"
RIGHT, WRONG = "def total(n):\n    return sum(n)\n", "def total(n):\n    return n\n"
LINE = 'echo "took 0.$(date +%N)s"; python -c "import test_sums; test_sums.test_total()"'
DONE = reply("Done.")


@pytest.fixture
def folder(tmp_path):
    """A project whose test fails."""
    (tmp_path / "test_sums.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "sums.py").write_text(WRONG, encoding="utf-8")
    return tmp_path


def play(folder, *script, kept=()):
    desk = Desk(*script)
    stop = stop_hook(structural_stop, verifier(command(LINE, folder, kept)))
    return assemble(of_messages(desk.model), workspace(folder), stop)(Run("Make it pass."))


def write(path, content, id):
    return reply(tool_use(id, "write_file", path=path, content=content))


def test_the_tests_are_run_and_what_they_say_is_the_feedback(folder):
    run = play(folder, DONE, write("sums.py", RIGHT, "a"), DONE)
    assert run.label == "finished" and run.why.endswith(f"; `{LINE}` agreed")
    (_, feedback), *others = run.spoken
    assert feedback.startswith(f"You are not done: `{LINE}` does not pass.\nexit code 1\n")
    assert "assert total([1, 2]) == 3" in feedback and others == []


def test_a_failure_reads_the_same_though_it_took_another_time(folder):
    run = play(folder, DONE, DONE, DONE)
    assert (run.label, run.rounds) == ("veto_cap", 2)


def test_a_test_that_was_changed_is_not_run(folder):
    run = play(folder, write("test_sums.py", CHEAT, "a"), DONE, DONE, kept=["test_*.py"])
    assert run.label == "veto_cap"
    assert "belong to the check and have to be what they were: test_sums.py" in run.spoken[0][1]


def test_without_that_the_changed_test_passes(folder):
    assert play(folder, write("test_sums.py", CHEAT, "a"), DONE).label == "finished"


def test_what_runs_together_with_the_tests_is_not_held(folder):
    cheat = "import os\n\nos._exit(0)\n"
    run = play(folder, write("sums.py", cheat, "a"), DONE, kept=["test_*.py", "conftest.py"])
    assert run.label == "finished"


@pytest.mark.parametrize("change", ["gone", "new conftest.py"])
def test_kept_files_are_there_and_no_new_ones_of_a_whole_name(folder, change):
    check = command("true", folder, kept=["test_*.py", "conftest.py"])
    (folder / "test_more.py").write_text(CHEAT, encoding="utf-8")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "conftest.py").touch()
    assert check() is None
    if change == "gone":
        (folder / "test_sums.py").unlink()
    else:
        (folder / "sub").mkdir()
        (folder / "sub" / "conftest.py").touch()
    assert check().endswith("test_sums.py" if change == "gone" else "sub/conftest.py")


def test_a_check_that_raises_has_not_passed():
    def check():
        raise OSError("the disk is full")

    run = Run("go")
    told = verifier(check)(run, False)
    assert told == (
        "You are not done: check does not pass.\nit could not be run: OSError: the disk is full"
    )


def test_a_long_output_is_cut_in_the_middle():
    told = verifier(lambda: "first" + "x" * 9_000 + "last", name="it", longest=100)(Run("go"), True)
    assert "first" in told and told.endswith("last") and "characters cut" in told


def test_a_check_that_takes_too_long_does_not_pass(folder):
    assert "time" in command("sleep 5", folder, seconds=0.2)()


@pytest.mark.parametrize("said", [True, False, 0, ["one"]])
def test_what_a_check_says_is_words_or_nothing(said):
    with pytest.raises(HookFailed, match="in words what is wrong, or None if nothing is; it gave"):
        verifier(lambda: said, name="it")(Run("go"), False)


def test_one_pattern_may_stand_alone(folder):
    check = command("true", folder, kept="test_*.py")
    (folder / "sums.py").write_text(RIGHT, encoding="utf-8")
    assert check() is None
    (folder / "test_sums.py").write_text(CHEAT, encoding="utf-8")
    assert check().endswith("test_sums.py")


@pytest.mark.parametrize(
    ("line", "kept", "words"),
    [
        (" ", [], "a check needs a command to run: the command is empty"),
        (None, [], "a check needs a command to run: a command is a string"),
        ("true", [""], "what is kept is a pattern of files"),
        ("true", [None], "what is kept is a pattern of files"),
        ("true", ["sub"], r"sub is a folder; name what is kept in it, as sub/\*.py"),
    ],
)
def test_what_could_check_nothing_is_refused_when_the_contract_is_made(folder, line, kept, words):
    (folder / "sub").mkdir()
    with pytest.raises(SetupFault, match=words):
        command(line, folder, kept)


def test_a_pipe_in_the_place_of_a_test_is_a_change_and_nobody_waits_for_it(folder):
    check = command("true", folder, kept=["test_*.py"])
    os.mkfifo(folder / "test_pipe.py")
    assert check() is None
    (folder / "test_sums.py").unlink()
    os.mkfifo(folder / "test_sums.py")
    assert check().endswith("test_sums.py")
