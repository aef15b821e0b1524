"""`harness-zero check`: a learner's answers held to their promises without Jupyter."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from harness_zero import cli
from harness_zero.course import lay
from harness_zero.desk import Broken
from harness_zero.faults import SetupFault
from harness_zero.grading.answers import LARGEST, NoAnswers, check_lab
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.progress import progress

ROOT = Path(__file__).parents[1]
IMPATIENT = 0.3  # seconds, for cells that would run for ever


def it_doubles(double):
    if (got := double(4)) != 8:
        raise Broken("8", repr(got), "twice four is eight")


def it_doubles_nothing(double):
    if (got := double(0)) != 0:
        raise Broken("0", repr(got))


def it_greets(greet):
    if (got := greet("you")) != "hello you":
        raise Broken("hello you", repr(got))


DOUBLE = Exercise(
    "double", "Twice", 5, "easy", 1, 3, (1,), (it_doubles, it_doubles_nothing), "double(x)"
)
GREET = Exercise("greet", "Say hello", 5, "easy", 1, 4, (1,), (it_greets,), "greet(name)")
LAB = Lab("01_small", "A small lab", (DOUBLE, GREET))
RIGHT = "def double(x):\n    return 2 * x"
GREETS = "def greet(name):\n    return f'hello {name}'"
HOLE = "def double(x):\n    # your code here\n    raise NotImplementedError"
PASSES = [
    "kept    it doubles",
    "kept    it doubles nothing",
    "Twice: 2 of 2 promises kept; all visible checks pass.",
    "",
    "kept    it greets",
    "Say hello: 1 of 1 promises kept; all visible checks pass.",
    "",
    "2 of 2 exercises pass, 7 of 7 points by visible checks.",
]


def code(source, *tags):
    metadata = {"tags": [*tags]} if tags else {}
    ran = {"cell_type": "code", "execution_count": None, "outputs": []}
    return {**ran, "metadata": metadata, "source": source}


def words(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


@pytest.fixture
def copy(tmp_path):
    """A learner's copy with room for one lab."""
    (tmp_path / "workspace/.harness_zero").mkdir(parents=True)
    (tmp_path / "workspace/.harness_zero/laid.json").touch()
    (tmp_path / "workspace/labs/01_small").mkdir(parents=True)
    return tmp_path / "workspace"


@pytest.fixture
def checked(copy):
    """Check a lab of some cells: whether all passes, and the lines that are told."""

    def checked(*cells, patience=60):
        cells = [cell if isinstance(cell, dict) else code(cell) for cell in cells]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        path = copy / "labs/01_small/01_small.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        told = []
        return check_lab(copy, LAB, told.append, patience), "\n".join(told).split("\n")

    return checked


# what is told


def test_answers_that_keep_their_promises_pass(checked):
    assert checked(words("# A lab"), RIGHT, GREETS) == (True, PASSES)


def test_an_answer_that_breaks_a_promise_is_told_what_was_expected(checked):
    assert checked("def double(x):\n    return x", GREETS) == (
        False,
        [
            "BROKEN  it doubles",
            "        expected: 8",
            "        got:      4",
            "        why:      twice four is eight",
            "Twice: 0 of 2 promises kept (1 not tried yet); mend what is broken and check again.",
            "",
            *PASSES[4:7],
            "1 of 2 exercises pass, 4 of 7 points by visible checks.",
        ],
    )


def test_a_hole_is_no_fault_and_not_done_yet(checked):
    passes, told = checked(HOLE, "double(1)", GREETS)
    assert not passes
    assert told[0] == (
        "Twice: not done yet. Fill the hole in double, "
        "save the notebook (what is checked here is the saved one) and check again."
    )
    assert told[1:] == ["", *PASSES[4:7], "1 of 2 exercises pass, 4 of 7 points by visible checks."]


@pytest.mark.parametrize("renamed", ["def twice(x):\n    return 2 * x", "1 / 0\n" + RIGHT, ""])
def test_a_function_that_is_not_there_is_told(checked, renamed):
    passes, told = checked(renamed, GREETS)
    gone = "double is not there: its cell did not run, or the function was renamed."
    assert not passes and f"Twice: {gone}" in told


def test_an_answer_of_another_form_is_told(checked):
    _, told = checked("double = 8", GREETS)
    assert told[:3] == [
        "BROKEN  it can be called",
        "        expected: the function double(x)",
        "        got:      8, which is no function",
    ]


def test_a_later_cell_outdoes_an_earlier_one_and_source_may_stand_in_lines(checked):
    lines = code([line + "\n" for line in RIGHT.split("\n")])
    assert checked(HOLE, lines, GREETS) == (True, PASSES)


def test_what_would_move_the_cursor_is_spelled_out(copy, checked, monkeypatch, capsys):
    checked("raise ValueError('\\x1b[2J')")
    assert cli.checked(LAB, copy, lambda *_: None) == 1
    assert "code cell 1 (raise ValueError('\\x1b[2J')): ValueError: \\x1b[2J" in (
        capsys.readouterr().out.splitlines()
    )


# which cells run, and where


@pytest.mark.parametrize("tag", ["check", "run"])
def test_cells_that_check_or_play_are_left_out(copy, checked, tag):
    left_out = code("open('ran', 'w')\n1 / 0", "other", tag)
    assert checked(RIGHT, left_out, GREETS) == (True, PASSES)
    assert not (copy / "labs/01_small/ran").exists()


def test_they_run_in_the_folder_of_the_notebook_and_find_what_lies_beside_it(copy, checked):
    (copy / "labs/01_small/two_beside_it.py").write_text("two = 2", encoding="utf-8")
    (copy / "labs/01_small/hello.txt").write_text("hello", encoding="utf-8")
    both = ["import two_beside_it", "hello = open('hello.txt').read()"]
    double = "def double(x):\n    return two_beside_it.two * x"
    greet = "def greet(name):\n    return f'{hello} {name}'"
    assert checked(*both, double, greet) == (True, PASSES)


def test_a_cell_under_a_magic_that_is_known_runs_as_it_does_in_a_notebook(checked):
    tried = f"%%time\n{RIGHT}", f"%%my_harness greet\n{GREETS}"
    assert checked("%%capture kept\nprint(1)", *tried, "assert kept.stdout") == (True, PASSES)


@pytest.mark.parametrize("magic", ["%%mine", "%%mine double", "\n%%tomorrow a b --c\n"])
def test_of_a_magic_that_is_unknown_what_stands_under_it_runs(checked, magic):
    assert checked(f"{magic}\n{RIGHT}", GREETS) == (True, PASSES)


def test_nothing_that_they_print_is_shown_nor_what_they_start_prints(checked, capfd):
    loud = [
        "print('loud')",
        "import os, sys\nos.write(1, b'loud')",
        "sys.stderr.write('loud')",
        "!echo loud",
        "import subprocess\nsubprocess.run(['echo', 'loud'])",
        "import warnings\nwarnings.warn('loud')",
        "'loud'",
    ]
    double = "def double(x):\n    subprocess.run(['echo', 'loud'])\n    return 2 * x"
    assert checked(*loud, double, GREETS) == (True, PASSES)
    assert capfd.readouterr() == ("", "")


# whatever a cell does by mistake

ENDLESS = "still running after 0.3 seconds"
ENDS = "exit() ends the whole program; a function ends with return"
MISTAKES = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "\n\nno_such_name": "NameError: name 'no_such_name' is not defined",
    "raise ValueError('one\\ntwo')": "ValueError: one",
    "def f(:": "SyntaxError: invalid syntax (line 1 of the cell)",
    "if True:\nx = 1": "IndentationError: expected an indented block after 'if' statement on"
    " line 1 (line 2 of the cell)",
    "%no_such_magic": "UsageError: Line magic function `%no_such_magic` not found.",
    "while True: pass": ENDLESS,
    "while True:\n    try:\n        pass\n    except:\n        pass": ENDLESS,
    "import time; time.sleep(60)": ENDLESS,
    "!sleep 60": ENDLESS,
    "input()": "input() waits for somebody to type; a harness asks the model instead",
    "exit()": ENDS,
    "quit()": ENDS,
    "import sys; sys.exit(3)": "SystemExit: 3",
    "raise SystemExit": "SystemExit",
    "raise BaseException('odd')": "BaseException: odd",
    "class Odd(Exception):\n    def __str__(self): 1 / 0\nraise Odd": "Odd",
    "def f(): f()\nf()": "RecursionError: maximum recursion depth exceeded",
    "await 1": "TypeError: object int can't be used in 'await' expression",
    "raise ValueError('x' * 10_000)": "ValueError: " + "x" * 88 + "...",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "import os, signal; os.kill(os.getpid(), signal.SIGINT)": "KeyboardInterrupt",
    "class Odd(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise Odd": "Odd",
    "from harness_zero.faults import SetupFault\nclass Odd(SetupFault):\n"
    "    def __str__(self): 1 / 0\nraise Odd": "Odd",
    "raise SyntaxError": "SyntaxError: None",
    "raise SyntaxError('by hand')": "SyntaxError: by hand",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=repr)
def test_a_cell_that_goes_wrong_is_told_in_a_line_and_the_next_ones_run(checked, mistake):
    patience = IMPATIENT if MISTAKES[mistake] == ENDLESS else 60
    passes, told = checked(RIGHT, mistake, GREETS, patience=patience)
    line = mistake.strip().split("\n")[0]
    assert told == [f"code cell 2 ({line}): {MISTAKES[mistake]}", "", *PASSES]
    assert passes


SILENT = {
    "a hole": "raise NotImplementedError",
    "a folder": "import os\nos.chdir('/')",
    "no print": "import sys\nsys.stdout.close()\nsys.stdout = None",
    "no streams": "import os\nos.close(1)\nos.close(2)",
    "no path": "import sys\nsys.path.clear()",
    "a builtin": "import builtins\nbuiltins.sorted = sorted",
    "a thread": "import threading\nthreading.Thread(target=print, daemon=True).start()",
    "a display": "from IPython.display import display, HTML\ndisplay(HTML('<b>'))",
    "a comment": "# nothing",
    "blank": " \n",
    "await": "import asyncio\nawait asyncio.sleep(0)",
    "no modules": "import sys\nsys.modules.clear()",
    "no gathering": "import os\nif not os.fork(): raise ValueError('the child')",
}


@pytest.mark.parametrize("cell", SILENT)
def test_afterwards_the_program_is_as_it_was(checked, cell):
    before = os.getcwd(), sys.stdout, sys.stderr, [*sys.path], sys.modules["__main__"], input
    assert checked(RIGHT, SILENT[cell], GREETS) == (True, PASSES)
    after = os.getcwd(), sys.stdout, sys.stderr, [*sys.path], sys.modules["__main__"], input
    assert after == before


def test_a_cell_that_is_meant_to_raise_is_not_told(checked):
    assert checked(RIGHT, code("1 / 0", "raises-exception"), GREETS) == (True, PASSES)


def test_an_answer_that_would_leave_its_folder_or_the_program_is_held_all_the_same(checked):
    here = os.getcwd()
    leaves = "import os, sys\ndef double(x):\n    os.chdir('/')\n    sys.exit(7)"
    passes, told = checked(leaves, GREETS)
    assert not passes and told[0] == "BROKEN  it doubles" and told[-4:-1] == PASSES[4:7]
    assert os.getcwd() == here


RAISES = {
    "KeyboardInterrupt": "KeyboardInterrupt",
    "SystemExit": "SystemExit",
    "GeneratorExit": "GeneratorExit",
}


@pytest.mark.parametrize("kind", RAISES)
def test_an_answer_that_raises_what_ends_programs_is_told_and_the_next_is_checked(checked, kind):
    passes, told = checked(f"def double(x):\n    raise {kind}", GREETS)
    assert not passes and told[-4:-1] == PASSES[4:7]
    assert any(RAISES[kind] in line for line in told[:-4])


def test_an_answer_whose_error_cannot_be_told_does_not_keep_the_next_from_its_turn(checked):
    odd = "class Odd(Exception):\n    def __str__(self): 1 / 0"
    passes, told = checked(f"{odd}\ndef double(x):\n    raise Odd", GREETS)
    assert not passes and told[-4:-1] == PASSES[4:7] and told[0]


@pytest.mark.parametrize("fault", [TypeError("broken"), SetupFault("broken"), KeyboardInterrupt()])
def test_what_fails_after_a_check_is_told_and_the_next_one_has_its_turn(
    checked, monkeypatch, fault
):
    def fails(*_):
        raise fault

    monkeypatch.setattr(import_module("harness_zero.notebook.check"), "follow_up", fails)
    passes, told = checked(RIGHT, GREETS)
    assert passes and told[-1] == PASSES[-1]
    assert sum("broken" in line or "KeyboardInterrupt" in line for line in told) == 2


def test_a_replaced_part_of_python_is_told_and_every_answer_is_checked(checked, monkeypatch):
    monkeypatch.setattr(json, "dumps", json.dumps)
    passes, told = checked(RIGHT, "import json\njson.dumps = None", GREETS)
    assert passes and told[-1] == PASSES[-1]
    assert sum("TypeError: 'NoneType' object is not callable" in line for line in told) == 2


def test_what_is_at_work_is_reported_with_the_time_that_it_is_given(copy, checked):
    checked(RIGHT, code("1 / 0", "check"), GREETS)
    reported = []
    check_lab(copy, LAB, print, 7, lambda *what: reported.append(what))
    assert reported == [
        ("code cell 1 (def double(x):)", 7),
        ("code cell 3 (def greet(name):)", 7),
        ("the check of Twice", 3),
        ("the check of Say hello", 1.5),
    ]


# what is noted


def test_every_result_is_noted_in_the_progress(copy, checked):
    checked("def double(x):\n    return 8", GREETS)
    checked("def double(x):\n    return 8", GREETS)
    done = progress(copy)
    assert (done.tries, [*done.passed]) == ({"double": 2, "greet": 2}, ["greet"])


def test_a_function_that_is_not_there_is_no_try(copy, checked):
    checked(GREETS)
    assert progress(copy).tries == {"greet": 1}


def test_what_cannot_be_noted_is_said(copy, checked, capsys):
    (copy / ".harness_zero/progress.jsonl").mkdir()
    assert checked(RIGHT, GREETS) == (True, PASSES)
    assert capsys.readouterr().out.count("Not noted in your progress: ") == 2


# what is no notebook


def missing(path):
    pass


def folder(path):
    path.mkdir()


def pipe(path):
    os.mkfifo(path)


def huge(path):
    path.touch()
    os.truncate(path, LARGEST + 1)


def deep(path):
    path.write_text("[" * 100_000, encoding="utf-8")


def dangling(path):
    path.symlink_to("nowhere")


def of(content):
    return lambda path: path.write_bytes(content)


NO_NOTEBOOK = "is no notebook. harness-zero reset 01 brings the lab back, and keeps this beside it."
NONE = [
    (missing, "is not there. harness-zero reset 01 brings it back."),
    (dangling, "is not there. harness-zero reset 01 brings it back."),
    (folder, "is no file. Move it away; harness-zero reset 01 brings the lab back."),
    (pipe, "is no file. Move it away; harness-zero reset 01 brings the lab back."),
    (huge, "has 50,000,001 bytes, of 50,000,000 at most. Clear its outputs"),
    (deep, NO_NOTEBOOK),
    (of(b""), NO_NOTEBOOK),
    (of(b"\xff\xfe\x00"), NO_NOTEBOOK),
    (of(b"<<<<<<< HEAD"), NO_NOTEBOOK),
    (of(b"[]"), NO_NOTEBOOK),
    (of(b"null"), NO_NOTEBOOK),
    (of(b'{"cells": {"a": 1}}'), NO_NOTEBOOK),
    (of(b'{"cells": [7]}'), NO_NOTEBOOK),
    (of(b'{"cells": [{"cell_type": "code"}]}'), NO_NOTEBOOK),
    (of(b'{"cells": [{"cell_type": "code", "source": [1], "metadata": {}}]}'), NO_NOTEBOOK),
    (of(b'{"cells": [{"cell_type": "code", "source": "", "metadata": []}]}'), NO_NOTEBOOK),
    (of(b'{"worksheets": []}'), NO_NOTEBOOK),
]


def test_where_a_link_leads_to_no_lab_it_says_what_reset_says(copy):
    shutil.rmtree(copy / "labs")
    (copy / "labs").symlink_to("nowhere")
    with pytest.raises(NoAnswers, match=r"labs is a link, where a real folder should be\. Move"):
        check_lab(copy, LAB, print)


@pytest.mark.parametrize(("write", "said"), NONE)
def test_what_is_no_notebook_is_said_in_a_sentence_and_nothing_is_noted(copy, write, said):
    path = copy / "labs/01_small/01_small.ipynb"
    write(path)
    with pytest.raises(NoAnswers) as caught:
        check_lab(copy, LAB, print)
    assert str(caught.value).startswith(f"{path} {said}") and "\n" not in str(caught.value)
    assert not (copy / ".harness_zero/progress.jsonl").exists()


# from the command line


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the real course."""
    folder = tmp_path_factory.mktemp("course") / "mine"
    lay(ROOT, folder)
    return folder


@pytest.fixture
def mine(course, tmp_path):
    """A copy of the real course to change."""
    return shutil.copytree(course, tmp_path / "mine")


ONE = "labs/00_one_call/00_one_call.ipynb"


def solved(copy):
    shutil.copy(ROOT / "solutions/00_one_call/00_one_call.ipynb", copy / ONE)


def add(copy, source):
    """Put a cell in front of those of the lab."""
    content = json.loads((copy / ONE).read_text("utf-8"))
    content["cells"].insert(0, code(source))
    (copy / ONE).write_text(json.dumps(content), encoding="utf-8")


def command(*args):
    return [sys.executable, "-m", "harness_zero.cli", *args]


def harness_zero(*args, **options):
    options = {"capture_output": True, "text": True, "timeout": 60} | options
    return subprocess.run(command(*args), **options)


def test_the_exit_code_is_1_as_long_as_an_exercise_does_not_pass(mine):
    told = harness_zero("check", "0", "--to", "mine", cwd=mine.parent)
    assert (told.returncode, told.stderr) == (1, "")
    assert told.stdout.startswith("An array by hand: not done yet.")
    assert "\n0 of " in told.stdout


def test_the_exit_code_is_0_when_all_pass_and_progress_shows_it(mine):
    solved(mine)
    told = harness_zero("check", "00_one_call", cwd=mine / "labs")
    assert (told.returncode, told.stderr) == (0, "")
    shown = harness_zero("progress", cwd=mine).stdout.splitlines()
    passing, _, number, *_ = told.stdout.splitlines()[-1].split()
    assert f"  {passing} of {number}  " in shown[1] and passing == number


def test_an_answer_that_passes_goes_into_the_learners_harness_as_it_does_in_a_notebook(mine):
    solved(mine)
    assert "my_harness/answer.py is yours now." in harness_zero("check", "0", cwd=mine).stdout
    assert "def answer(" in (mine / "my_harness/answer.py").read_text("utf-8")


@pytest.mark.parametrize("lab", ["", "99", "00_one", "00_one_call/.."])
def test_the_exit_code_is_2_for_a_lab_that_there_is_not(course, lab):
    told = harness_zero("check", lab, cwd=course)
    assert told.stderr.startswith(f"Error: There is no lab {lab!r}. There are 00_one_call, 01_")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)


def test_the_exit_code_is_2_without_a_lab_and_without_a_copy(course):
    assert harness_zero("check", cwd=course).returncode == 2
    told = harness_zero("check", "0", "--to", "nowhere", cwd=course)
    assert "There is no copy of the course in nowhere/" in told.stderr and told.returncode == 2


def test_a_notebook_that_is_none_is_a_sentence(mine):
    (mine / ONE).write_text("{", encoding="utf-8")
    told = harness_zero("check", "0", cwd=mine)
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (1, "", 1)
    assert "is no notebook" in told.stderr


def test_two_labs_of_one_number_are_told_apart_by_name():
    labs = [Lab("01_a", "A", ()), Lab("01_b", "B", ())]
    assert cli.lab_called("01_b", labs) == labs[1]
    with pytest.raises(cli.Misnamed, match="1 can be any of 01_a, 01_b: type the whole name"):
        cli.lab_called("1", labs)


@pytest.mark.parametrize("during", ["open('begun', 'w')\nimport time\ntime.sleep(60)", "caught"])
def test_ctrl_c_ends_it_with_130_and_without_a_traceback(mine, during):
    caught = "open('begun', 'w')\nwhile True:\n    try:\n        pass\n    finally:\n        pass"
    add(mine, caught if during == "caught" else during)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    begun = subprocess.Popen(command("check", "0"), cwd=mine, text=True, **pipes)
    until = time.monotonic() + 30
    while not (mine / ONE).with_name("begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    begun.send_signal(signal.SIGINT)
    said = f"Ended at code cell 1 ({during.splitlines()[0]}); what follows it is not checked.\n"
    if during == "caught":
        said = said.replace("caught", "open('begun', 'w')")
    assert (*begun.communicate(timeout=30), begun.returncode) == ("", said, 130)


def test_ctrl_c_in_a_terminal_ends_it_and_all_that_the_cells_started(mine):
    add(mine, "open('begun', 'w')\n!sleep 61.7")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    begun = subprocess.Popen(command("check", "0"), cwd=mine, text=True, **options)
    until = time.monotonic() + 30
    while not (mine / ONE).with_name("begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(begun.pid, signal.SIGINT)
    told, said = begun.communicate(timeout=30)
    assert (told, begun.returncode, said.count("\n")) == ("", 130, 1)
    assert said.startswith("Ended at code cell 1 (open('begun', 'w'));")


# whatever a cell does to the program that checks it

IMPATIENTLY = """
from harness_zero import attendant, cli
from harness_zero.grading import answers

answers.PATIENCE, attendant.GRACE, attendant.NOTICE = 0.5, 0.5, 0.2
cli.main()
"""


def impatiently(copy, **options):
    """The command, with less patience for the cells."""
    run = [sys.executable, "-c", IMPATIENTLY, "check", "0", "--to", str(copy)]
    options = {"capture_output": True, "text": True, "timeout": 60} | options
    return subprocess.run(run, **options)


def test_a_cell_that_takes_long_is_named_while_it_is_waited_for(mine):
    solved(mine)
    add(mine, "while True: pass")
    told = impatiently(mine)
    still = "Still at code cell 1 (while True: pass), which is given 0.5 seconds; Ctrl+C ends it."
    assert told.stderr.splitlines()[0] == still
    assert told.stdout.startswith("code cell 1 (while True: pass): still running after 0.5 seconds")
    assert told.returncode == 0


STUBBORN = {
    "one long call": "sum(range(10**13))",
    "no alarm": "import signal; signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
    "ignored": "import signal; signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass",
}


@pytest.mark.parametrize("stubborn", STUBBORN)
def test_a_cell_that_cannot_be_stopped_ends_the_check_with_a_sentence(mine, stubborn):
    add(mine, STUBBORN[stubborn])
    told = impatiently(mine)
    assert told.stderr.splitlines()[1:] == [
        f"code cell 1 ({STUBBORN[stubborn].splitlines()[0]}) cannot be stopped: it is inside one"
        " long call, or the alarm is off. What follows it is not checked: mend it, and check again."
    ]
    assert (told.returncode, told.stdout) == (1, "")


ENDINGS = {
    "import os; os._exit(0)": "exit code 0",
    "import os; os._exit(3)": "exit code 3",
    "import os; os.abort()": "SIGABRT",
    "import os; os.kill(os.getpid(), 9)": "SIGKILL",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_cell_that_ends_the_program_is_told_and_passes_nothing(mine, ending):
    solved(mine)
    add(mine, ending)
    told = harness_zero("check", "0", cwd=mine)
    assert told.stderr == (
        f"code cell 1 ({ending}) ended the program that runs it ({ENDINGS[ending]})."
        " What follows it is not checked: mend it, and check again.\n"
    )
    assert (told.returncode, told.stdout) == (1, "")


HARM = [
    "import os; os.closerange(3, 200)",
    "import os, shutil; shutil.rmtree(os.getcwd())",
    "import os; os.write = None",
    "import sys; sys.modules.clear(); sys.meta_path.clear()",
    "import builtins; vars(builtins).clear()",
    "import threading, _thread; threading.Timer(0.01, _thread.interrupt_main).start()",
    "import signal; signal.setitimer(signal.ITIMER_REAL, 0.001); signal.alarm = None",
    "import signal; signal.signal = None",
    "import os; os.dup = os.dup2 = None",
    "import time; time.monotonic = time.sleep = None",
    "import gc; [o.clear() for o in gc.get_objects() if type(o) is dict and len(o) > 99]",
]


@pytest.mark.parametrize("harm", HARM)
@pytest.mark.parametrize("where", ["", "labs/00_one_call"])
def test_whatever_a_cell_harms_no_traceback_comes_of_it(mine, harm, where):
    solved(mine)
    add(mine, harm)
    told = harness_zero("check", "0", "--to", mine, cwd=mine / where)
    assert "Traceback" not in told.stdout + told.stderr and "Exception ignored" not in told.stderr
    assert told.stderr.count("\n") <= 1 and told.stdout + told.stderr
    assert told.returncode == (0 if "4 of 4 exercises pass" in told.stdout else 1)


def test_a_cell_that_deletes_its_folder_keeps_no_answer_from_being_checked(mine):
    solved(mine)
    add(mine, "import os, shutil; shutil.rmtree(os.getcwd())")
    told = harness_zero("check", "0", cwd=mine / "labs/00_one_call")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.endswith(" points by visible checks.\n")


def test_a_child_that_a_cell_leaves_does_not_tell_everything_twice_nor_keep_anybody_waiting(mine):
    solved(mine)
    add(mine, "import os\nos.fork()\nif not os.fork():\n    while True: pass")
    told = harness_zero("check", "0", cwd=mine)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.count(" points by visible checks.\n") == 1


def test_who_cannot_be_told_gets_a_sentence(mine):
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            command("check", "0"), cwd=mine, stdout=full, stderr=subprocess.PIPE, text=True
        )
    said = "Error: What there is to say cannot be written (No space left on device).\n"
    assert (told.stderr, told.returncode) == (said, 1)


def test_who_closes_the_pipe_hears_nothing_more(mine):
    both = f"{shlex.join(command('check', '0'))} | true"
    told = subprocess.run(both, shell=True, cwd=mine, capture_output=True, text=True, timeout=60)
    assert (told.stdout, told.stderr) == ("", "")


def test_a_thread_that_is_left_at_work_does_not_keep_the_command_from_ending(mine):
    solved(mine)
    add(mine, "import threading, time\nthreading.Thread(target=lambda: time.sleep(600)).start()")
    told = harness_zero("check", "0", cwd=mine)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.endswith(" points by visible checks.\n")


def test_nothing_is_left_behind_but_what_is_noted(mine, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    homes = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    before = {path for path in tmp_path.rglob("*") if "mine" not in path.name}
    noted = mine / ".harness_zero/progress.jsonl"
    environment = {name: os.environ[name] for name in os.environ if name != "IPYTHONDIR"} | homes
    assert harness_zero("check", "0", cwd=mine, env=environment).returncode == 1
    assert {path for path in tmp_path.rglob("*") if "mine" not in path.name} - before == {noted}


def test_a_terminal_that_does_not_know_every_letter_is_told_all_the_same(mine):
    add(mine, "raise ValueError('→')")
    plain = os.environ | {"PYTHONIOENCODING": "latin-1:strict"}
    told = harness_zero("check", "0", cwd=mine, env=plain)
    assert (told.returncode, told.stderr) == (1, "")
    assert "ValueError: \\u2192" in told.stdout


def test_help_lists_the_verbs():
    told = harness_zero("--help").stdout
    assert all(f"\n  {verb} " in told for verb in ("check", "progress", "reset"))
