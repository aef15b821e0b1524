"""In a real kernel: a learner's mistakes are explained, and the kernel lives on."""

import json

import nbformat
import pytest
from nbclient import NotebookClient

from harness_zero.course import checkout, lay
from harness_zero.mine import write_page

SETUP = "from harness_zero.messages import *\nfrom harness_zero.notebook import *"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Run a cell in a kernel of a learner's copy; gives back what it shows, as text."""
    copy = tmp_path_factory.mktemp("course") / "copy"
    lay(checkout(), copy)
    write_page(copy)
    notebook = nbformat.v4.new_notebook()
    folder = copy / "labs/01_structural_stop"
    client = NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": folder}})
    with client.setup_kernel():

        def run(source):
            cell = nbformat.v4.new_code_cell(source)
            notebook.cells = [cell]
            client.execute_cell(cell, 0)
            return "".join(map(shown, cell.outputs))

        run.copy = copy
        yield run


def shown(output):
    """An output as text: what was printed, displayed or raised."""
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return output.get("text") or json.dumps(output.data, ensure_ascii=False)


@pytest.fixture(autouse=True)
def alive(kernel):
    """After each of these tests the kernel is there, and Python is as it should be."""
    yield
    assert kernel("print(len('abc'), [*range(2)])") == "3 [0, 1]\n"


def test_a_cell_that_runs_before_the_set_up_cell_says_where_names_come_from(kernel):
    said = kernel("check('act', act)")
    assert "If a cell above makes check, it has not run since the kernel started" in said
    assert "Restart Kernel and Run up to Selected Cell" in said


def test_the_magic_is_known_before_any_cell_has_run_and_needs_a_name(kernel):
    assert kernel("%%my_harness act\nx = 1").startswith("%%my_harness act: this cell makes no act")
    assert "wants the name of what the cell makes" in kernel("%%my_harness\nx = 1")
    assert "first line of the cell" in kernel(
        "x = 1\nget_ipython().run_cell_magic('my_harness', 'x', 'y')"
    )


def test_a_fault_in_a_cell_under_the_magic_names_the_line_that_one_sees(kernel):
    assert "line 3" in kernel("%%my_harness act\nx = 1\n1 / 0")
    assert "SyntaxError" in kernel("%%my_harness act\ndef act(:")


def test_an_answer_that_passes_is_noted_taken_and_opens_the_solution(kernel):
    kernel(SETUP)
    kernel(
        "%%my_harness pairing_fault\n"
        "from harness_zero.messages import pairing_fault as theirs\n"
        "def pairing_fault(asking, answering):\n    return theirs(asking, answering)\n"
    )
    said = kernel("check('pairing_fault', pairing_fault)")
    assert "my_harness/pairing_fault.py is yours now." in said
    assert "Our solution, and why" in said and "Comparing the two lists" in said
    assert "theirs" in (kernel.copy / "my_harness/pairing_fault.py").read_text()
    noted = (kernel.copy / ".harness_zero/progress.jsonl").read_text()
    assert '"checked": "pairing_fault", "kept": 6, "of": 6' in noted


def test_the_package_can_be_imported_in_every_notebook_of_the_copy(kernel):
    assert kernel("import my_harness\nprint(my_harness.run.__name__)") == "run\n"


def test_a_broken_promise_offers_its_case_and_opens_no_solution(kernel):
    kernel(SETUP)
    kernel("def act(reply, tools):\n    return user()")
    said = kernel("check('act', act)")
    assert "BROKEN" in said and "Step through the case that broke" in said
    assert "widget-view" in said and "Our solution" not in said


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("exit()", "exit() ends the whole program"),
        ("quit()", "exit() ends the whole program"),
        ("raise SystemExit", "SystemExit"),
        ("input('? ')", "a harness asks the model instead"),
        ("while True: pass", "still running after"),
        ("import builtins; builtins.len = print", "BROKEN"),
    ],
)
def test_what_would_end_or_hang_a_kernel_is_told(kernel, body, words):
    kernel(SETUP)
    kernel(f"def act(reply, tools):\n    {body}")
    assert words in kernel("check('act', act)")


def test_a_builtin_hidden_by_a_variable_is_named(kernel):
    kernel(f"{SETUP}\nstr = 'hello'")
    kernel("def act(reply, tools):\n    return user(str(reply))")
    assert "`del str` brings it back" in kernel("check('act', act)")
    kernel("del str")


def test_a_builtin_replaced_by_a_cell_is_put_back_by_the_next_check(kernel):
    kernel(f"{SETUP}\nimport builtins\nbuiltins.sorted = lambda things: things")
    assert "sorted replaced in the module builtins" in kernel("check('act', print)")


def test_a_loop_that_is_watched_cannot_end_the_kernel_either(kernel):
    kernel(SETUP)
    said = kernel("watch(lambda model, tools, prompt: exit(), None, {}, 'go')")
    assert "a function ends with return" in said and "Traceback" not in said


def test_a_comment_may_stand_above_the_magic(kernel):
    kernel(f"{SETUP}\nfrom harness_zero.messages import pairing_fault as theirs")
    kernel(
        "# my own\n\n%%my_harness pairing_fault\n# mine\n"
        "def pairing_fault(asking, answering):\n    return theirs(asking, answering)\n"
    )
    assert "yours now" in kernel("check('pairing_fault', pairing_fault)")


def test_an_answer_is_kept_though_what_its_cell_tries_after_it_fails(kernel):
    kernel(f"{SETUP}\nfrom harness_zero.messages import pairing_fault as theirs")
    kernel(
        "%%my_harness pairing_fault\n# another\ndef pairing_fault(asking, answering):\n"
        "    return theirs(asking, answering)\n1 / 0"
    )
    assert "yours now" in kernel("check('pairing_fault', pairing_fault)")
    assert "1 / 0" not in (kernel.copy / "my_harness/pairing_fault.py").read_text()


def test_a_cell_that_goes_to_another_folder_takes_nothing_away(kernel):
    kernel(f"{SETUP}\nimport os, tempfile\nos.chdir(tempfile.mkdtemp())\nos.rmdir(os.getcwd())")
    kernel("from harness_zero.messages import pairing_fault as theirs")
    kernel(
        "%%my_harness pairing_fault\n# a third\ndef pairing_fault(asking, answering):\n"
        "    return theirs(asking, answering)"
    )
    said = kernel("check('pairing_fault', pairing_fault)")
    assert "yours now" in said and "Our solution" in said
    assert "pieces are yours" in kernel("mine()")
    kernel(f"import os\nos.chdir({str(kernel.copy)!r})")


def test_what_there_is_in_notebooks_alone_is_named(kernel):
    kernel(f"{SETUP}\nfrom harness_zero.messages import pairing_fault as theirs")
    kernel(
        "%%my_harness pairing_fault\ndef pairing_fault(asking, answering):\n"
        "    display\n    return theirs(asking, answering)"
    )
    said = kernel("check('pairing_fault', pairing_fault)")
    assert "it uses display, which there is in a notebook alone" in said


def test_an_exercise_that_is_no_piece_says_so_under_the_magic(kernel):
    kernel(SETUP)
    kernel('%%my_harness late_results\ndef late_results():\n    return "c", 6')
    assert "no piece of a harness" in kernel("check('late_results', late_results)")


def test_a_check_of_an_older_answer_says_that_the_newer_cell_did_not_run(kernel):
    kernel(f"{SETUP}\ndef act(reply, tools):\n    return user()")
    kernel("%%my_harness act\ndef act(reply, tools):\n    return user(")
    said = kernel("check('act', act)")
    assert "Your cell with act ended in a SyntaxError, so act is checked as it was before." in said
    kernel("def act(reply, tools):\n    return None")
    assert "as it was before" not in kernel("check('act', act)")


def test_a_flight_ends_no_kernel_and_asks_nobody(kernel):
    kernel(SETUP)
    kernel("def ends(model, tools, prompt):\n    exit()")
    assert "crashed" in kernel("print(fly(ends, 'diligent/login-bug/calm#0'))")
    kernel("def asks(model, tools, prompt):\n    return input('? ')")
    said = kernel("print(fly(asks, 'diligent/login-bug/calm#0'))")
    assert "a harness asks the model instead" in said
