"""A lab brought back as it is shipped: what the learner wrote is kept beside it, always."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness_zero.course import NotLaid, brought_back, clear_outputs, lay, reset

ROOT = Path(__file__).parents[1]
LAB = "labs/01_stop/01_stop.ipynb"
OLD = "labs/01_stop/01_stop.old.ipynb"
TODO = "labs/01_stop/todo.txt"
TWO = "labs/02_brakes/02_brakes.ipynb"


@pytest.fixture
def course(tmp_path):
    """A small course: a chapter, a lab with a file that it reads, and another lab."""
    write(tmp_path / "course", "chapters/01_stop.ipynb", notebook("# Chapter 1"))
    write(tmp_path / "course", LAB, notebook("# Lab 1 →", "def run(): ...", "run()"))
    write(tmp_path / "course", TODO, "wörds\n")
    write(tmp_path / "course", TWO, notebook("# Lab 2", "def stop(): ..."))
    return tmp_path / "course"


@pytest.fixture
def copy(course, tmp_path):
    """A learner's copy of it, with progress and a notebook of their own in the lab."""
    copy = tmp_path / "workspace"
    lay(course, copy)
    write(copy, "labs/01_stop/notes.ipynb", notebook("my notes"))
    write(copy, ".harness_zero/progress.jsonl", '{"checked": "run", "kept": 1, "of": 1}\n')
    return copy


def notebook(title, *codes):
    """A notebook that was run: a heading, and cells of code with an output each."""
    output = {"output_type": "stream", "name": "stdout", "text": ["the answer"]}
    marks = {"tags": ["check"], "nbgrader": {"grade_id": "run-check", "points": 3}}
    ran = {"cell_type": "code", "execution_count": 7, "metadata": marks, "outputs": [output]}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [title]}]
    cells += [{**ran, "source": code} for code in codes]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def fresh(course, name):
    return clear_outputs((course / name).read_bytes())


def contents(folder):
    """Every file's bytes, the record of what was laid down left out; of a link, where it leads."""
    files = [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in files
        if path.name != "laid.json"
    }


def edited(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"][1]["source"] = "def run(): return 'my own'"
    path.write_text(json.dumps(content), encoding="utf-8")


def only_run(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"][2]["execution_count"] = 3
    path.write_text(json.dumps(content), encoding="utf-8")


def printed(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
    path.write_text(json.dumps(content), encoding="utf-8")


def broken(path):
    path.write_text("{ no notebook any more", encoding="utf-8")


def without_cells(path):
    path.write_text("[]", encoding="utf-8")


def emptied(path):
    path.write_bytes(b"")


def binary(path):
    path.write_bytes(b"\xff\xfe\x00")


def linked(path):
    elsewhere = path.parents[3] / "elsewhere.ipynb"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def dangling(path):
    path.unlink()
    path.symlink_to("nowhere")


def untagged(path):
    path.write_text(path.read_text("utf-8").replace('"check"', '"mine"'), "utf-8")


def ungraded(path):
    path.write_text(path.read_text("utf-8").replace('"nbgrader"', '"lost"'), "utf-8")


def regraded(path):
    path.write_text(path.read_text("utf-8").replace("run-check", "mine"), "utf-8")


def of_another_language(path):
    content = json.loads(path.read_text("utf-8"))
    content["metadata"]["kernelspec"]["name"] = "ir"
    path.write_text(json.dumps(content), "utf-8")


def without_metadata(path):
    content = json.loads(path.read_text("utf-8"))
    content["metadata"] = content["cells"][2]["metadata"] = None
    path.write_text(json.dumps(content), "utf-8")


METADATA = [untagged, ungraded, regraded, of_another_language, without_metadata]
CHANGES = [edited, only_run, printed, broken, without_cells, emptied, binary, linked, dangling]
CHANGES += METADATA


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_shipped_lab_comes_back_and_what_stood_there_is_kept_beside_it(course, copy, change):
    change(copy / LAB)
    before = contents(copy)
    assert reset(course, copy, "01_stop") == {LAB: OLD}
    assert contents(copy) == before | {LAB: fresh(course, LAB), OLD: before[LAB]}


def test_an_old_one_is_never_overwritten(course, copy):
    names = [f"labs/01_stop/01_stop.old{number}.ipynb" for number in ("", "2", "3")]
    for name in names:
        edited(copy / LAB)
        before = contents(copy)
        assert reset(course, copy, "01_stop") == {LAB: name}
        assert contents(copy).items() >= before.items() - {(LAB, before[LAB])}
    (copy / names[1]).unlink()
    (copy / names[1]).symlink_to("nowhere")
    edited(copy / LAB)
    assert reset(course, copy, "01_stop")[LAB].endswith(".old4.ipynb")


def test_a_file_beside_the_notebook_is_kept_the_same_way(course, copy):
    (copy / TODO).write_text("mine", encoding="utf-8")
    assert reset(course, copy, "01_stop") == {TODO: "labs/01_stop/todo.old.txt"}
    assert (copy / TODO).read_text("utf-8") == "wörds\n"
    assert (copy / "labs/01_stop/todo.old.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("lost", [[LAB], [TODO], [LAB, TODO]])
def test_what_was_deleted_comes_back(course, copy, lost):
    before = contents(copy)
    for name in lost:
        (copy / name).unlink()
    assert reset(course, copy, "01_stop") == dict.fromkeys(lost, "")
    assert contents(copy) == before


def test_a_folder_that_was_deleted_comes_back(course, copy):
    shutil.rmtree(copy / "labs/01_stop")
    assert [*reset(course, copy, "01_stop")] == [LAB, TODO]
    assert (copy / LAB).read_bytes() == fresh(course, LAB)


def test_the_other_labs_and_the_chapters_are_left_alone(course, copy):
    for name in (LAB, TWO):
        edited(copy / name)
    (copy / "chapters/01_stop.ipynb").unlink()
    assert [*reset(course, copy, "01_stop")] == [LAB]
    assert not (copy / "chapters/01_stop.ipynb").exists()


# where nothing was changed


def saved_otherwise(path):
    """As JupyterLab saves it: other spaces, another order, a blank cell and more metadata."""
    content = json.loads(path.read_text("utf-8"))
    blank = {"cell_type": "code", "metadata": {}, "source": "", "outputs": []}
    content["cells"].append({**blank, "execution_count": None})
    content["cells"][1]["metadata"] |= {"collapsed": True, "jupyter": {"source_hidden": True}}
    content["cells"][1]["id"] = "a1"
    content["metadata"]["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    content["metadata"]["language_info"] = {"name": "python", "version": "3.14"}
    path.write_text(json.dumps(content, indent=4, sort_keys=True), encoding="utf-8")


def untouched(path):
    pass


@pytest.mark.parametrize("change", [untouched, saved_otherwise], ids=lambda change: change.__name__)
def test_where_neither_words_nor_outputs_were_changed_nothing_is_moved(course, copy, change):
    change(copy / LAB)
    before = contents(copy)
    times = [path.stat().st_mtime_ns for path in sorted(copy.rglob("*"))]
    assert reset(course, copy, "01_stop") == {}
    assert contents(copy) == before
    assert [path.stat().st_mtime_ns for path in sorted(copy.rglob("*"))] == times


def test_a_second_reset_moves_nothing(course, copy):
    edited(copy / LAB)
    reset(course, copy, "01_stop")
    assert reset(course, copy, "01_stop") == {}


# afterwards


def test_a_later_update_knows_the_lab_as_ours_and_the_old_one_as_the_learners(course, copy):
    edited(copy / LAB)
    reset(course, copy, "01_stop")
    kept = (copy / OLD).read_bytes()
    write(course, LAB, notebook("# Lab 1", "def run(): better"))
    assert lay(course, copy).updated == [LAB]
    assert "better" in (copy / LAB).read_text("utf-8")
    assert (copy / OLD).read_bytes() == kept


def test_who_resets_after_the_course_was_updated_gets_the_newer_lab(course, copy):
    edited(copy / LAB)
    write(course, LAB, notebook("# Lab 1", "def run(): better"))
    reset(course, copy, "01_stop")
    assert (copy / LAB).read_bytes() == fresh(course, LAB)
    write(course, LAB, notebook("# Lab 1", "def run(): best"))
    assert lay(course, copy).updated == [LAB]


@pytest.mark.parametrize("record", ["", "{", "[]"])
def test_a_record_that_nobody_can_read_is_no_hindrance(course, copy, record):
    (copy / ".harness_zero/laid.json").write_text(record, encoding="utf-8")
    edited(copy / LAB)
    assert reset(course, copy, "01_stop") == {LAB: OLD}


# when it cannot be done


def away_with(folder):
    shutil.move(folder, folder.parents[2] / "away")


def linked_lab(copy):
    away_with(copy / "labs/01_stop")
    (copy / "labs/01_stop").symlink_to(copy.parent / "away")


def linked_labs(copy):
    shutil.move(copy / "labs", copy.parent / "away")
    (copy / "labs").symlink_to(copy.parent / "away")


def linked_record(copy):
    shutil.move(copy / ".harness_zero", copy.parent / "away")
    (copy / ".harness_zero").symlink_to(copy.parent / "away")


def file_for_lab(copy):
    away_with(copy / "labs/01_stop")
    (copy / "labs/01_stop").touch()


def folder_for_notebook(copy):
    (copy / LAB).unlink()
    (copy / LAB).mkdir()


def folder_for_record(copy):
    (copy / ".harness_zero/laid.json").unlink()
    (copy / ".harness_zero/laid.json").mkdir()


def file_for_record(copy):
    shutil.move(copy / ".harness_zero", copy.parent / "away")
    (copy / ".harness_zero").touch()


UNFIT = [
    (linked_lab, "01_stop is a link"),
    (linked_labs, "labs is a link; .* Move it away, "),
    (linked_record, ".harness_zero is a link"),
    (file_for_lab, "01_stop cannot be used"),
    (folder_for_notebook, r"01_stop.ipynb cannot be used \(Is a directory\). Move it away\.$"),
    (folder_for_record, r"laid.json cannot be used \(Is a directory\). Move it away\.$"),
    (file_for_record, ".harness_zero is a file, where a folder should be"),
]


@pytest.mark.parametrize(("unfit", "said"), UNFIT, ids=[unfit.__name__ for unfit, _ in UNFIT])
def test_what_stands_in_the_way_is_said_and_every_file_is_where_it_was(course, copy, unfit, said):
    edited(copy / LAB)
    (copy / TODO).write_text("mine", encoding="utf-8")
    unfit(copy)
    before = contents(copy.parent)
    with pytest.raises(NotLaid, match=said):
        reset(course, copy, "01_stop")
    assert contents(copy.parent) == before


@pytest.mark.parametrize("change", [edited, linked, os.unlink], ids=lambda each: each.__name__)
def test_what_fails_at_the_last_file_is_undone_for_all_of_them(course, copy, change):
    change(copy / LAB)
    (copy / TODO).unlink()
    (copy / TODO).mkdir()
    before = contents(copy)
    with pytest.raises(NotLaid, match=r"todo.txt cannot be used"):
        reset(course, copy, "01_stop")
    assert contents(copy) == before


def test_a_pipe_in_the_notebooks_place_is_moved_and_keeps_nobody_waiting(course, copy):
    (copy / LAB).unlink()
    os.mkfifo(copy / LAB)
    assert reset(course, copy, "01_stop") == {LAB: OLD}
    assert (copy / OLD).is_fifo()


def test_a_lab_that_is_not_shipped_is_a_sentence(course, copy):
    with pytest.raises(NotLaid, match="No lab 09_gone lies in"):
        reset(course, copy, "09_gone")


RESET = """
import sys
from pathlib import Path
from harness_zero.course import NotLaid, reset

try:
    print(reset(Path(sys.argv[1]), Path(sys.argv[2]), "01_stop"))
except NotLaid as reason:
    sys.exit(str(reason))
"""


def in_a_process(course, copy, *before, **options):
    command = [*before, sys.executable, "-c", RESET, course, copy]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)


def test_a_full_disk_moves_nothing(course, copy, needs):
    bwrap = needs("bwrap", to="fill a disk", install="apt install bubblewrap")
    write(course, LAB, notebook("# Lab 1", "x" * 100_000))
    edited(copy / LAB)
    before = contents(copy)
    disk = ("--size", "65536", "--tmpfs", copy.parent / "disk")
    fill = "cp -r workspace/. disk && "  # the copy on a small disk of its own
    (copy.parent / "disk").mkdir()
    script = (
        f'{fill}"$0" -c "$1" course disk; find disk -type f ! -name laid.json | sort | xargs md5sum'
    )
    sealed = (bwrap, "--dev-bind", "/", "/", *disk, "--chdir", copy.parent)
    told = subprocess.run(
        [*sealed, "sh", "-c", script, sys.executable, RESET], capture_output=True, text=True
    )
    assert "The disk is full" in told.stderr
    there = {line.split("  ")[1].removeprefix("disk/") for line in told.stdout.splitlines()}
    assert there == {*before}


def test_a_copy_that_cannot_be_written_is_a_sentence(course, copy, needs):
    bwrap = needs("bwrap", to="forbid writing", install="apt install bubblewrap")
    edited(copy / LAB)
    before = contents(copy)
    told = in_a_process(course, copy, bwrap, "--dev-bind", "/", "/", "--ro-bind", copy, copy)
    cure = "cannot be used (Read-only file system). See to it that it can be written."
    assert told.stderr == f"{copy / LAB} {cure}\n"
    assert contents(copy) == before


def test_a_kill_at_any_moment_loses_no_word_of_the_learners(course, copy):
    for number in range(30):
        write(course, f"labs/01_stop/{number}.txt", "x" * 100_000)
        write(copy, f"labs/01_stop/{number}.txt", f"mine {number}")
    mine = {(copy / f"labs/01_stop/{number}.txt").read_bytes() for number in range(30)}
    for moment in range(6):
        command = [sys.executable, "-c", RESET, course, copy]
        begun = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        time.sleep(0.06 + moment / 100)
        begun.send_signal(signal.SIGKILL)
        begun.wait()
        assert {*contents(copy).values()} >= mine


# from the command line


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A copy of the real course."""
    folder = tmp_path_factory.mktemp("ours") / "mine"
    lay(ROOT, folder)
    return folder


def harness_zero(*args, **options):
    command = [sys.executable, "-m", "harness_zero.cli", *args]
    options = {"capture_output": True, "text": True, "timeout": 60} | options
    return subprocess.run(command, **options)


@pytest.mark.parametrize(
    "lab",
    [
        *("1", "01", "01_structural_stop", "01_structural_stop/", "labs/01_structural_stop"),
        *("../labs/01_structural_stop/", "01_structural_stop/01_structural_stop.ipynb"),
    ],
)
def test_a_lab_is_called_by_its_number_or_name(ours, lab):
    path = ours / "labs/01_structural_stop/01_structural_stop.ipynb"
    edited(path)
    told = harness_zero("reset", lab, "--to", "mine", cwd=ours.parent)
    name = "mine/labs/01_structural_stop/01_structural_stop"
    [old] = path.parent.glob("*.old.ipynb")
    assert told.stdout.splitlines() == [
        f"{name}.ipynb is as it is shipped. Yours is kept in {name}.old.ipynb.",
        "If it is open in JupyterLab, reload it: File → Reload Notebook from Disk.",
    ]
    assert "'my own'" in old.read_text("utf-8") and "'my own'" not in path.read_text("utf-8")
    old.unlink()


def test_the_copy_around_the_terminal_is_meant_unless_one_is_named(ours):
    told = harness_zero("reset", "1", cwd=ours / "labs")
    lab = f"{ours}/labs/01_structural_stop/"
    assert told.stdout == f"Nothing is changed in {lab}, so nothing was moved.\n"


@pytest.mark.parametrize(
    "lab", ["", "99", "001", "01_", "structural_stop", "../labs", "-", "/", "1/.."]
)
def test_an_unknown_lab_is_a_sentence_that_names_those_there_are(ours, lab):
    told = harness_zero("reset", lab, cwd=ours)
    assert told.stderr.startswith(f"Error: There is no lab {lab!r}. There are 00_one_call, 01_st")
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1)


def test_without_a_copy_it_says_what_makes_one(tmp_path):
    told = harness_zero("reset", "1", "--to", "here", cwd=tmp_path)
    assert "There is no copy of the course in here/" in told.stderr
    assert (told.returncode, list(tmp_path.iterdir())) == (2, [])


PLAIN = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1:strict"},
]


@pytest.mark.parametrize("plain", PLAIN, ids=["ascii", "latin-1"])
def test_a_terminal_that_does_not_know_every_letter_is_told_all_the_same(ours, plain):
    edited(ours / "labs/00_one_call/00_one_call.ipynb")
    told = harness_zero("reset", "0", cwd=ours, env=os.environ | plain)
    assert (told.returncode, told.stderr) == (0, "")
    assert "Reload Notebook from Disk" in told.stdout


def test_what_had_been_deleted_is_told_without_an_old_one():
    assert brought_back({LAB: ""}, "01_stop", "here/").splitlines()[0] == (
        f"here/{LAB} is as it is shipped."
    )
