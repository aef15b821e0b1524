"""`harness-zero run --journal FILE`, and again with the same file: a sentence in every case."""

from shutil import rmtree

import pytest
from click.testing import CliRunner

from harness_zero.cli import main
from harness_zero.journal import Journal


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Play on a shipped project, offline; the exit code, and what was printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    def play(prompt="repair it", *options, journal="run.jsonl"):
        command = ["run", "--offline", "--project", "login", "--workspace", "login"]
        given = CliRunner().invoke(main, [*command, "--journal", journal, *options, prompt])
        return given.exit_code, given.output

    return play


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(run, tmp_path):
    code, said = run()
    assert code == 0 and "finished: " in said and "holds" not in said
    path = tmp_path / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:6]) + lines[6][:25])
    code, said = run()
    assert code == 0 and "its last line was cut off after 25 bytes, and is left out" in said
    assert "run.jsonl holds 2 steps; what is recorded is not done again" in said
    assert "python -m pytest" in lines[4].decode() and said.count("python -m pytest") == 0


def test_what_is_in_doubt_is_said_as_the_model_is_told(run, tmp_path):
    run()
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    _, said = run()
    assert "step 2, the tool run_command({'command': 'python -m pytest'})" in said
    assert "was in doubt: told to the model as unknown, and not made again" in said


@pytest.mark.parametrize(
    ("tool", "which", "done"),
    [
        ("run_command", 0, False),
        ("write_file", 0, False),
        ("write_file", 0, True),
        ("run_command", 1, True),
    ],
)
def test_whatever_is_in_doubt_the_rehearsed_model_repairs_the_project(
    run, tmp_path, tool, which, done
):
    """Nobody knows whether the call was made: here it was, or it was not."""
    run()
    path = tmp_path / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    intents = [n for n, line in enumerate(lines) if f'"tool":"{tool}"'.encode() in line]
    path.write_bytes(b"".join(lines[: intents[which] + 1]))
    if not done:
        rmtree(tmp_path / "login")  # it is laid anew
    code, said = run()
    assert code == 0 and f"the tool {tool}" in said and "was in doubt" in said
    assert "The tests pass" in said
    assert "+ HOUR" in (tmp_path / "login" / "auth.py").read_text("utf-8")


def test_a_run_that_has_ended_has_nothing_to_resume_and_takes_another_prompt(run):
    run()
    code, said = run()
    assert code == 0
    assert "nothing to resume: the run in run.jsonl ended as finished. Another prompt" in said
    code, said = run("and now look again")
    assert code == 0 and "1 round" in said
    assert "nothing to resume" in run("and now look again")[1]


def test_a_check_before_the_end_is_a_step_and_is_not_run_again(run, tmp_path):
    """What the command finds depends on the folder, so a replay has to have what it found then."""
    verified = ("repair it", "--verify", "echo ran >> ran.txt; python -m pytest -q")
    code, said = run(*verified)
    assert code == 0 and "passes" in said
    assert (tmp_path / "login" / "ran.txt").read_text("utf-8") == "ran\n"
    path = tmp_path / "run.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert b'"step":"verify"' in lines[-3]
    path.write_bytes(b"".join(lines[:-1]))  # all but the end of the turn
    code, said = run(*verified)
    assert code == 0 and "finished: " in said
    assert (tmp_path / "login" / "ran.txt").read_text("utf-8") == "ran\n"


def test_a_test_that_was_changed_before_the_crash_is_noticed_after_it(run, tmp_path):
    """What the kept files were is known from the journal, not from what they are by now."""
    verified = ("repair it", "--verify", "python -m pytest -q")
    run(*verified)
    path, test = tmp_path / "run.jsonl", tmp_path / "login" / "test_login.py"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-3]))  # it dies before the check
    test.write_text("def test_login():\n    pass\n", encoding="utf-8")
    code, said = run(*verified)
    assert code == 1 and "have to be what they were: test_login.py" in said
    assert b'"step":"kept files"' in lines[2]


def test_a_test_that_the_user_changes_between_two_turns_is_theirs_to_change(run, tmp_path):
    verify = ("--verify", "python -m pytest -q")
    run("repair it", *verify)
    with (tmp_path / "login" / "test_login.py").open("a", encoding="utf-8") as test:
        test.write("\n\ndef test_nothing():\n    pass\n")
    code, said = run("and look again", *verify)
    assert code == 0 and "passes" in said and "have to be" not in said


def test_a_journal_of_what_was_done_in_another_folder_is_not_gone_on_with(run, tmp_path):
    run()
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:6]))
    before = path.read_bytes()
    code, said = run("repair it", "--workspace", "another")
    assert code == 1 and "run.jsonl tells of what was done in" in said
    assert "Name that folder with --workspace" in said and path.read_bytes() == before
    (tmp_path / "login").rename(tmp_path / "moved")
    code, said = run("repair it", "--workspace", "moved")
    assert code == 0 and "finished: " in said


def test_a_key_in_the_prompt_stands_in_no_file_and_the_prompt_is_known_again(run, tmp_path):
    key = "sk-ant-0123456789abcdef"
    run(f"repair it with {key}")
    files = [tmp_path / "run.jsonl", *(tmp_path / "login" / ".harness_zero").iterdir()]
    assert len(files) == 2 and all(key not in file.read_text("utf-8") for file in files)
    assert "nothing to resume" in run(f"repair it with {key}")[1]


def test_a_journal_that_another_run_holds_is_busy(run, tmp_path):
    with Journal(tmp_path / "run.jsonl"):
        before = (tmp_path / "run.jsonl").read_bytes()
        code, said = run()
    assert code == 1
    assert "busy: another run is at work on run.jsonl" in said and "Nothing was touched." in said
    assert (tmp_path / "run.jsonl").read_bytes() == before


def test_a_journal_of_another_run_diverges(run, tmp_path):
    with Journal(tmp_path / "run.jsonl") as journal:
        journal.step("something else", lambda: 1)()
    code, said = run()
    assert code == 1 and "diverged: run.jsonl cannot be replayed: expected the step" in said
    assert "got a turn with the prompt 'repair it'" in said


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}\n", "run.jsonl is no journal: it begins with '{}"),
        ('{"journal":7,"run":"x"}\n', "is a journal of version 7, and this course reads 1"),
        ('{"journal":1,"run":"x"}\n?\n{}\n', "run.jsonl, line 2 is damaged ('?')"),
    ],
)
def test_a_file_that_cannot_be_resumed_is_a_sentence(run, tmp_path, content, says):
    (tmp_path / "run.jsonl").write_text(content, encoding="utf-8")
    code, said = run()
    assert code == 1 and said.splitlines()[-1].startswith("Error: run.jsonl") and says in said
    assert "Traceback" not in said


def test_a_journal_in_the_workspace_is_said_to_be_within_the_models_reach(run):
    assert "lies in the workspace, where the model's commands" in run(journal="login/run.jsonl")[1]


def test_a_journal_belongs_to_the_library(run):
    code, said = run("go", "--stage", "3")
    assert code == 2 and "--journal is a part of the library" in said
