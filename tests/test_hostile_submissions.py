"""A hostile submission costs the exercises that it touches, and grading goes on."""

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

import pytest
from handed_in import SOLUTIONS, cell, filled, grade_id, laid_down, solution

import harness_zero
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record.feedback import page
from harness_zero.grading.record.grade import Room, graded, laid
from harness_zero.grading.record.isolation import Limits, covered, isolates
from harness_zero.grading.record.submissions import submission

SECRET = b"a secret of tests"
FULL = {"conversation": 3, "answer": 3, "next_array": 4, "wrong_sums": 2}
ANSWER = """
def answer(call, tools):
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    if why := isolates():
        if os.environ.get("CI"):
            pytest.fail(f"no isolation in CI: {why}")
        pytest.skip(f"no isolation here: {why}")
    folder = tmp_path_factory.mktemp("inside")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    laid(folder, LABS)
    return Room(folder, Limits(), isolated=True, secret=SECRET)


def marks(notebook, tmp_path, room, lab="00_one_call"):
    """What each exercise earned."""
    grade = graded(submission(laid_down(notebook, tmp_path, lab=lab)), room)
    return {mark.exercise: mark.points for mark in grade.marks}


def test_our_own_solution_earns_all_points(tmp_path, room):
    assert marks(solution(), tmp_path, room) == FULL


LOST = {
    "ends its process": "import os\nos._exit(0)",
    "raises SystemExit": "raise SystemExit",
    "presses Ctrl+C": "raise KeyboardInterrupt",
    "is no Python": "def answer(call, tools:\n",
    "loops for ever": "while True: pass",
    "ignores every signal": (
        "import signal\n"
        "for n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\n"
        "while True:\n"
        "    try:\n"
        "        while True: pass\n"
        "    except BaseException: pass\n"
    ),
    "takes all memory": "hoard = [bytearray(10**8) for _ in range(1000)]",
    "forks for ever": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    "fills the disk": (
        "for n in range(1000):\n    open(f'/tmp/{n}', 'wb').write(b'x' * 9_000_000)\n"
    ),
    "prints for ever": "while True: print('x' * 10**6)",
    "asks for keys": "input()",
    "writes what is no message": (
        "import os\nfor fd in range(3, 20):\n"
        "    try: os.write(fd, b'{]\\n')\n"
        "    except OSError: pass\n"
    ),
    "forges an answer": (
        "import os\nfor fd in range(3, 20):\n"
        '    try: os.write(fd, b\'{"lane":"main","is":{"$":"yours","of":0}}\\n\' * 9)\n'
        "    except OSError: pass\n"
    ),
    "writes without an end": (
        "import os\nfor fd in range(3, 20):\n"
        "    try: \n"
        "        while True: os.write(fd, b'x' * 65536)\n"
        "    except OSError: pass\n"
    ),
    "reads the solutions": (
        "import glob\n"
        "from harness_zero.stages.s1_structural_stop import answer as ours\n"
        "found = glob.glob('/**/solutions', recursive=True)\n"
        "answer = ours if found else None\n"
    ),
    "only imports ours": "from harness_zero.stages.s1_structural_stop import answer",
    "gives back what is equal to all": (
        "class Same(dict):\n"
        "    def __eq__(self, other): return True\n"
        "    def get(self, *_): return 'tool_result'\n"
        "class All:\n"
        "    def __eq__(self, other): return True\n"
        "    def __getattr__(self, name): return self\n"
        "def answer(call, tools): return All()\n"
    ),
    "strips asserts": (
        "import ast, builtins\n"
        "ast.Assert._fields = ()\n"
        "builtins.AssertionError = type('Nothing', (BaseException,), {})\n"
        "def answer(call, tools): return None\n"
    ),
    "patches our modules": (
        "import harness_zero.messages as m, harness_zero.grading.checks as c, sys\n"
        "c.passed = lambda *_: True\n"
        "c.findings = lambda *_: []\n"
        "def answer(call, tools): return None\n"
    ),
}


@pytest.mark.parametrize("what", LOST)
def test_a_cell_that_does_this_costs_its_own_exercise_alone(what, tmp_path, room):
    began = time.monotonic()
    assert marks(filled(solution(), answer=LOST[what]), tmp_path, room) == {**FULL, "answer": 0}
    assert time.monotonic() - began < 15  # on a machine that is busy


SPOILS = {
    "patches builtins": "import builtins\nbuiltins.len = builtins.str = lambda *_: 0\n",
    "patches the messages": "import harness_zero.messages as m\nm.said = m.user = None\n",
    "leaves a thread at work": (
        "import threading\n"
        "def work():\n    while True: pass\n"
        "for _ in range(4): threading.Thread(target=work).start()\n"
    ),
    "replaces the names of others": "conversation = next_array = wrong_sums = None\n",
}


@pytest.mark.parametrize("what", SPOILS)
def test_a_cell_that_spoils_the_process_costs_no_other_exercise(what, tmp_path, room):
    found = marks(filled(solution(), answer=SPOILS[what] + ANSWER), tmp_path, room)
    assert {**found, "answer": 3} == FULL


IN_THE_CALL = {
    "ends its process": "import os; os._exit(0)",
    "loops for ever": "while True: pass",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "raises KeyboardInterrupt": "raise KeyboardInterrupt",
    "calls itself for ever": "return answer(call, tools)",
    "gives back a bomb": "return {'type': 'tool_result', 'content': 'x' * 10**9}",
    "gives back what holds itself": "loop = []; loop.append(loop); return loop",
    "gives back a number without an end": "return 10 ** 10 ** 6",
}


@pytest.mark.parametrize("what", IN_THE_CALL)
def test_an_answer_that_does_this_when_it_is_called_costs_its_own_exercise(what, tmp_path, room):
    source = f"def answer(call, tools):\n    {IN_THE_CALL[what]}\n"
    assert marks(filled(solution(), answer=source), tmp_path, room) == {**FULL, "answer": 0}


def test_without_isolation_a_process_that_outlives_its_own_holds_up_nobody(tmp_path, room):
    outlives = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(30)\n"
        "    os._exit(0)\n"
        "os._exit(0)\n"
    )
    began, weak = time.monotonic(), Room(room.folder, room.limits, False, SECRET)
    assert marks(filled(solution(), answer=outlives), tmp_path, weak) == {**FULL, "answer": 0}
    assert time.monotonic() - began < 20


def test_the_network_is_out_of_reach(tmp_path, room):
    with socket.create_server(("127.0.0.1", 0)) as server:
        at = server.getsockname()
        connects = f"import socket\nsocket.create_connection({at!r}, timeout=1).close()\n"
        exec(connects)  # from here it can be reached
        found = marks(filled(solution(), answer=connects + ANSWER), tmp_path, room)
    assert found == {**FULL, "answer": 0}


def test_files_of_this_machine_are_out_of_reach(tmp_path, room):
    for path in (Path(__file__), SOLUTIONS, Path(harness_zero.__file__).parent / "desk.py"):
        reads = f"import os\nif not os.path.exists({str(path)!r}): raise OSError\n"
        exec(reads)
        found = marks(filled(solution(), answer=reads + ANSWER), tmp_path, room)
        assert found == {**FULL, "answer": 0}


IN_MEMORY = """
import gc, types
functions = [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]
{} = next(each for each in functions if each.__name__ == {!r})
"""
OURS = {  # where our answer to an exercise would be, and how to have it
    "imports": ("03_errors_as_data", "excerpt", "from harness_zero.brief import excerpt"),
    "looks behind a function": (
        "01_structural_stop",
        "pairing-fault",
        "pairing_fault = said.__globals__['pairing_fault']",
    ),
    "reads a file": (
        "01_structural_stop",
        "pairing-fault",
        "exec(open('/course/harness_zero/messages.py').read())",
    ),
    "looks through memory": ("10_try_again", "retried", IN_MEMORY.format("retried", "retried")),
    "finds another name of it": ("10_try_again", "key", IN_MEMORY.format("key", "key_of")),
    "finds a policy": (
        "05_two_halves",
        "structural-stop",
        IN_MEMORY.format("structural_stop", "structural_stop"),
    ),
}


@pytest.mark.parametrize("how", OURS)
def test_our_own_answer_is_not_there_to_be_found(how, tmp_path, room):
    lab, slot, source = OURS[how]
    notebook = filled(solution(lab), **{slot.replace("-", "_"): source})
    assert marks(notebook, tmp_path, room, lab)[slot.replace("-", "_")] == 0


def test_packages_and_the_name_of_this_machine_are_out_of_reach(tmp_path, room):
    looks = "import glob, os, socket\n"
    looks += f"places = ['/usr', '/usr/local', {sys.base_prefix!r}]\n"
    looks += "found = [f for p in places for f in glob.glob(p + '/lib/python3*/*-packages/*')]\n"
    looks += f"if found or socket.gethostname() == {socket.gethostname()!r}: raise OSError\n"
    assert marks(filled(solution(), answer=looks + ANSWER), tmp_path, room) == FULL


def test_a_course_that_lies_where_python_does_is_covered():
    course = Path(harness_zero.__file__).parents[1]
    assert str(course) in covered(str(course.parent)) and str(course) not in covered("/usr/lib")


def test_memory_that_looks_like_files_has_a_limit(tmp_path, room):
    for folder in ("/dev/shm", "/tmp"):
        fills = f"for n in range(9): open(f'{folder}/{{n}}', 'wb').write(b'x' * 9_000_000)\n"
        found = marks(filled(solution(), answer=fills + ANSWER), tmp_path, room)
        assert found == {**FULL, "answer": 0}


def test_locks_between_processes_work(tmp_path, room):
    shares = "import multiprocessing\nlock = multiprocessing.Lock()\n"
    assert marks(filled(solution(), answer=shares + ANSWER), tmp_path, room) == FULL


def test_what_is_there_to_read_is_nobodys_to_write(tmp_path, room):
    for folder in ("/", "/course", "/usr", "/dev", "/course/harness_zero"):
        writes = f"open('{folder}/left', 'w')\n"
        found = marks(filled(solution(), answer=writes + ANSWER), tmp_path, room)
        assert found == {**FULL, "answer": 0}


def test_checks_that_are_edited_or_deleted_change_nothing(tmp_path, room):
    notebook = filled(solution(), answer="def answer(call, tools): return None")
    notebook["cells"] = [c for c in notebook["cells"] if grade_id(c) != "answer-check"]
    filled(notebook, next_array_check="check = lambda *_: None", conversation_check="")
    assert marks(notebook, tmp_path, room) == {**FULL, "answer": 0}


def test_metadata_that_is_edited_changes_nothing(tmp_path, room):
    notebook = solution()
    for each in notebook["cells"]:
        if "nbgrader" in each["metadata"]:
            each["metadata"]["nbgrader"].update(points=1000, locked=False, grade=True)
        each["metadata"]["tags"] = "none"
    notebook["metadata"] = {"kernelspec": {"name": "rust"}, "nbgrader": 7}
    assert marks(notebook, tmp_path, room) == FULL


def test_a_cell_that_is_there_twice_costs_no_other_exercise(tmp_path, room):
    notebook = solution()
    notebook["cells"].append(cell("raise OSError", grade_id="answer", solution=True))
    assert marks(notebook, tmp_path, room) == FULL
    notebook["cells"][-1]["source"] = "answer = None"
    assert marks(notebook, tmp_path, room) == {**FULL, "answer": 0}


def test_a_cell_of_ones_own_does_not_run(tmp_path, room):
    notebook = solution()
    notebook["cells"].insert(0, cell("while True: pass"))
    assert marks(notebook, tmp_path, room) == FULL


def test_what_an_answer_printed_or_wrote_is_gone_for_the_next_submission(tmp_path, room):
    leaves = "open('/tmp/left', 'w').write('x')\n" + ANSWER
    finds = "import os\nif os.path.exists('/tmp/left'): raise OSError\n" + ANSWER
    assert marks(filled(solution(), answer=leaves), tmp_path, room) == FULL
    assert marks(filled(solution(), answer=finds), tmp_path, room) == FULL


def test_a_process_that_is_patched_cannot_tell_of_it_either(tmp_path, room):
    tells = (
        "import gc\n"
        "worker = next(each for each in gc.get_objects() if type(each).__name__ == 'Worker')\n"
        "find, asked = worker.find, []\n"
        "def tells(frame):\n"
        "    asked.append(frame['name'])\n"
        "    if asked.count('next_array') > 1 or not met: raise ValueError(met)\n"
        "    return find(frame)\n"
        "worker.find, met = tells, globals().get('met')\n"
        "def next_array(messages, reply, results):\n"
        "    return [*messages, said(reply), user(*results)]\n"
    )
    meets = "met = {'id': ''}\n" + ANSWER.replace("tools):\n", "tools):\n    met.update(call)\n")
    path = laid_down(filled(solution(), answer=meets, next_array=tells), tmp_path)
    grade = graded(submission(path), room)
    assert [mark.points for mark in grade.marks] == [3, 3, 0, 2]
    assert "ValueError" not in page(grade)


def test_an_answer_that_knows_the_inputs_of_the_promises_is_found_out(tmp_path, room):
    knows = (
        "def answer(call, tools):\n"
        "    if len(call['id']) == 14: return tool_result('x', 'y')\n"
        "    return tool_result(call['id'], str(tools[call['name']](**call['input'])))\n"
    )
    assert marks(filled(solution(), answer=knows), tmp_path, room) == {**FULL, "answer": 0}


JOURNALS = "09_what_survives_a_crash"
OF_JOURNALS = {exercise.name: exercise.points for exercise in LABS[JOURNALS].exercises}
JOURNALED = """
import os, threading, time
from harness_zero.messages import tool_result
def journaled(path, model, tool, clock, safe):
    {}
    step = journal(path)
    return (
        lambda request: step("model", lambda: model(request)),
        lambda call: step(call, lambda: tool(call), lambda: in_doubt(call, tool, safe)),
        lambda: step("clock", clock),
    )
"""
TO_THE_SYSTEM = "os.rename(path.parent, '/tmp/away'); os.symlink('/usr/bin', path.parent)"
WITH_FILES = {
    "a link to the system in its place": "path.unlink(True); path.symlink_to('/etc/passwd')",
    "a link to the system in its folder's place": TO_THE_SYSTEM,
    "a thousand files": "[(path.parent / str(n)).touch() for n in range(1000)]",
    "a huge file": "(path.parent / 'huge').write_bytes(b'x' * 2_000_000)",
    "a huge file of nothing": "open('holes', 'wb').truncate(9_000_000)",
    "a fifo in its place": "path.unlink(True); os.mkfifo(path)",
    "a folder in its place": "path.unlink(True); path.mkdir()",
}


def with_files(what, tmp_path, room):
    """What each exercise of lab 09 earns where `journaled` does this with its file."""
    return marks(
        filled(solution(JOURNALS), journaled=JOURNALED.format(what)), tmp_path, room, JOURNALS
    )


@pytest.mark.parametrize("what", WITH_FILES)
def test_an_answer_that_leaves_this_for_its_journal_costs_its_own_exercise(what, tmp_path, room):
    assert with_files(WITH_FILES[what], tmp_path, room) == {**OF_JOURNALS, "journaled": 0}


HARMLESS_FILES = {
    "nothing": "pass",
    "writes above its folder": "(path.parent / '..' / 'left').write_text('x')",
    "links beside its file": "os.path.lexists('etc') or os.symlink('/etc', 'etc')",
    "makes a fifo beside its file": "os.path.lexists('fifo') or os.mkfifo('fifo')",
}


@pytest.mark.parametrize("what", HARMLESS_FILES)
def test_what_does_not_cross_costs_nothing_and_is_left_nowhere(what, tmp_path, room):
    assert with_files(HARMLESS_FILES[what], tmp_path, room) == OF_JOURNALS
    assert not Path(tempfile.gettempdir(), "left").exists()


def test_who_writes_while_an_effect_runs_costs_nobody_else(tmp_path, room):
    work = (
        "def work():\n"
        "        while True:\n"
        "            try: path.write_text('x' * 5000); (path.parent / 'noise').touch()\n"
        "            except OSError: time.sleep(0.01)\n"
        "    threading.Thread(target=work, daemon=True).start()"
    )
    assert with_files(work, tmp_path, room) == {**OF_JOURNALS, "journaled": 0}


LAB_06 = "06_repetition_detector"
LEAVES_A_CROWD = {
    "threads": SPOILS["leaves a thread at work"],
    "a process that ends unseen": "import builtins\nbuiltins.len = lambda *_: 0\n",
}


@pytest.mark.parametrize("what", LEAVES_A_CROWD)
def test_what_a_cell_leaves_behind_costs_no_exercise_that_takes_long(what, tmp_path, room):
    notebook = solution(LAB_06)
    (source,) = ["".join(c["source"]) for c in notebook["cells"] if grade_id(c) == "window"]
    filled(notebook, window=f"{source}\n{LEAVES_A_CROWD[what]}")
    found = marks(notebook, tmp_path, room, LAB_06)
    assert {**found, "window": 3} == {e.name: e.points for e in LABS[LAB_06].exercises}
