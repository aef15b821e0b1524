"""The learner's copy: laid down, brought up to date, and theirs as soon as they change it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness_zero.course import NotLaid, clear_outputs, lay, told

ROOT = Path(__file__).parents[1]
START, ONE = "chapters/start.ipynb", "labs/01_stop/01_stop.ipynb"


@pytest.fixture
def course(tmp_path):
    """A small course: a front page, a lab and a file that the lab reads."""
    write(tmp_path / "course", START, notebook("# Welcome → here", "1 + 1"))
    write(tmp_path / "course", ONE, notebook("# Lab 1", "def run(): ..."))
    write(tmp_path / "course", "labs/01_stop/todo.txt", "wörds\n")
    return tmp_path / "course"


@pytest.fixture
def copy(tmp_path):
    return tmp_path / "workspace"


def notebook(title, *codes, tag="setup"):
    """A notebook that was run: a heading, and cells of code with an output each."""
    ran = {"cell_type": "code", "execution_count": 7, "metadata": {"tags": [tag]}}
    output = {"output_type": "stream", "name": "stdout", "text": ["the answer"]}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": [title]}]
    cells += [{**ran, "outputs": [output], "source": code} for code in codes]
    metadata = {"language_info": {"name": "python", "version": "3.11.2"}, "widgets": {"a": 1}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def run_and_saved(path):
    """Do to a notebook what JupyterLab does when its cells are run and it is saved."""
    content = json.loads(path.read_text("utf-8"))
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell.update(execution_count=1, outputs=[{"output_type": "stream", "text": "mine"}])
    blank = {"cell_type": "code", "metadata": {}, "source": "", "outputs": []}
    content["cells"].append({**blank, "execution_count": None})
    content["metadata"]["kernelspec"] = {"name": "python3"}
    path.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


def contents(folder):
    """Every file's bytes, and when it was written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# laying it down


def test_the_first_start_lays_down_all_chapters_and_labs(course, copy):
    laid = lay(course, copy)
    assert laid.new == [START, ONE, "labs/01_stop/todo.txt"]
    assert (copy / "labs/01_stop/todo.txt").read_text("utf-8") == "wörds\n"
    assert told(laid, "workspace/") == "workspace/ is ready: 3 new."


def test_nothing_stands_under_a_prediction(course, copy):
    lay(course, copy)
    for name in (START, ONE):
        code = json.loads((copy / name).read_text("utf-8"))["cells"][1]
        assert (code["outputs"], code["execution_count"]) == ([], None)
        assert code["metadata"] == {"tags": ["setup"]}


def test_the_course_itself_stays_executed(course, copy):
    before = contents(course)
    lay(course, copy)
    assert contents(course) == before


def test_what_tools_leave_in_the_course_is_not_laid_down(course, copy):
    write(course, "chapters/.ipynb_checkpoints/start-checkpoint.ipynb", "{}")
    write(course, "labs/01_stop/__pycache__/x.pyc", "")
    assert len(lay(course, copy).new) == 3


def test_a_second_start_writes_nothing(course, copy):
    lay(course, copy)
    before = contents(copy)
    assert told(lay(course, copy), "workspace/") == "workspace/ is ready: nothing new."
    assert contents(copy) == before


def test_a_deleted_file_comes_back(course, copy):
    lay(course, copy)
    (copy / ONE).unlink()
    assert lay(course, copy).new == [ONE]


def test_what_the_learner_added_stays(course, copy):
    write(copy, "my_harness/loop.py", "mine")
    write(copy, "labs/notes.ipynb", notebook("my notes"))
    before = contents(copy)
    lay(course, copy)
    assert contents(copy).items() >= before.items()


# bringing it up to date


def test_an_unchanged_file_is_brought_up_to_date(course, copy):
    lay(course, copy)
    write(course, START, notebook("# Welcome", "1 + 2"))
    laid = lay(course, copy)
    assert "1 + 2" in (copy / START).read_text("utf-8")
    assert told(laid, "workspace/").splitlines() == [
        "workspace/ is ready: 1 brought up to date.",
        f"  brought up to date: {START}",
    ]


def test_running_and_saving_a_notebook_does_not_change_it(course, copy):
    lay(course, copy)
    run_and_saved(copy / START)
    write(course, START, notebook("# Welcome", "1 + 2"))
    assert lay(course, copy).updated == [START]


def test_outputs_of_the_learner_outlive_a_start_without_news(course, copy):
    lay(course, copy)
    run_and_saved(copy / START)
    write(course, START, notebook("# Welcome → here", "1 + 1").replace("3.11.2", "3.13.0"))
    before = contents(copy)
    assert lay(course, copy).updated == []
    assert contents(copy) == before


def test_a_change_of_a_tag_alone_is_brought_over(course, copy):
    lay(course, copy)
    write(course, START, notebook("# Welcome → here", "1 + 1", tag="predict"))
    assert lay(course, copy).updated == [START]


# what the learner changed


def edited(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"][1]["source"] = "def run(): return 'mine'"
    path.write_text(json.dumps(content), encoding="utf-8")


def moved(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"].reverse()
    path.write_text(json.dumps(content), encoding="utf-8")


def retyped(path):
    content = json.loads(path.read_text("utf-8"))
    content["cells"][1]["cell_type"] = "markdown"
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


CHANGES = [edited, moved, retyped, broken, without_cells, emptied, binary, linked]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_file_is_never_touched_and_the_newer_one_laid_beside(change, course, copy):
    lay(course, copy)
    change(copy / ONE)
    before = contents(copy / "labs")
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    laid = lay(course, copy)
    assert (laid.updated, laid.offered) == ([], ["labs/01_stop/01_stop.new.ipynb"])
    assert "better" in (copy / laid.offered[0]).read_text("utf-8")
    assert contents(copy / "labs").items() >= before.items()


def test_without_news_a_changed_file_is_left_in_peace(course, copy):
    lay(course, copy)
    edited(copy / ONE)
    assert lay(course, copy).offered == []
    assert len(list((copy / "labs").rglob("*.ipynb"))) == 1


def test_a_version_is_offered_once_even_when_the_offer_is_thrown_away(course, copy):
    lay(course, copy)
    edited(copy / ONE)
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    [beside] = lay(course, copy).offered
    (copy / beside).unlink()
    assert lay(course, copy).offered == []
    write(course, ONE, notebook("# Lab 1", "def run(): best"))
    assert lay(course, copy).offered == [beside]


def test_an_offer_is_replaced_by_a_newer_one_unless_it_was_changed(course, copy):
    lay(course, copy)
    edited(copy / ONE)
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    [first] = lay(course, copy).offered
    write(course, ONE, notebook("# Lab 1", "def run(): best"))
    assert lay(course, copy).offered == [first]
    edited(copy / first)
    before = (copy / first).read_bytes()
    write(course, ONE, notebook("# Lab 1", "def run(): best of all"))
    assert lay(course, copy).offered == ["labs/01_stop/01_stop.new2.ipynb"]
    assert (copy / first).read_bytes() == before


def test_who_takes_the_newer_version_over_is_brought_up_to_date_again(course, copy):
    lay(course, copy)
    edited(copy / ONE)
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    [beside] = lay(course, copy).offered
    os.replace(copy / beside, copy / ONE)
    assert lay(course, copy).updated == []
    write(course, ONE, notebook("# Lab 1", "def run(): best"))
    assert lay(course, copy).updated == [ONE]


def test_an_offer_is_told_by_name(course, copy):
    lay(course, copy)
    edited(copy / ONE)
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    assert told(lay(course, copy), "workspace/").splitlines() == [
        "workspace/ is ready: 1 newer than the one you changed, laid beside it.",
        "  newer than the one you changed, laid beside it: labs/01_stop/01_stop.new.ipynb",
    ]


# the record of what was laid down

RECORDS = ["", "{", "[]", "null", "7", '"x"', '{"a": 1}', '{"labs/01_stop/01_stop.ipynb": "?"}']


@pytest.mark.parametrize("record", [None, b"\xff\xfe", *RECORDS])
def test_without_a_readable_record_every_file_is_the_learners(record, course, copy):
    lay(course, copy)
    path = copy / ".harness_zero/laid.json"
    path.unlink() if record is None else path.write_bytes(
        record if isinstance(record, bytes) else record.encode()
    )
    before = contents(copy / "labs") | contents(copy / "chapters")
    for name in (START, ONE):
        write(course, name, notebook("# New", "new"))
    assert len(lay(course, copy).offered) == 2
    assert contents(copy).items() >= before.items()


def test_a_lost_record_is_made_anew_where_nothing_was_changed(course, copy):
    lay(course, copy)
    (copy / ".harness_zero/laid.json").unlink()
    assert lay(course, copy).offered == []
    write(course, ONE, notebook("# Lab 1", "def run(): better"))
    assert lay(course, copy).updated == [ONE]


# when it cannot be done


def test_a_file_where_the_copy_should_be_is_said_in_a_sentence(course, copy):
    write(copy.parent, "workspace", "a file")
    with pytest.raises(NotLaid, match="is a file, where a folder should be"):
        lay(course, copy)


def test_a_file_where_a_folder_of_the_copy_should_be_is_said_in_a_sentence(course, copy):
    write(copy, "labs", "a file")
    with pytest.raises(NotLaid, match="labs is a file, where a folder should be"):
        lay(course, copy)


@pytest.mark.parametrize("name", ["", "chapters", "labs"])
def test_a_link_is_not_followed(name, course, copy, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotLaid, match="is a link"):
        lay(course, copy)
    assert not any((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["", "chapters", "labs/mine"])
def test_the_course_is_not_laid_into_itself(name, course):
    before = contents(course)
    with pytest.raises(NotLaid, match="is where the course itself lies"):
        lay(course, course / name)
    assert contents(course) == before


def test_a_folder_in_a_files_place_is_said_in_a_sentence(course, copy):
    (copy / START).mkdir(parents=True)
    with pytest.raises(NotLaid, match=r"start.ipynb cannot be used \(Is a directory\). Move it"):
        lay(course, copy)


def test_an_unfinished_merge_in_the_course_is_said_in_a_sentence(course, copy):
    write(course, ONE, "<<<<<<< HEAD\n{}")
    with pytest.raises(NotLaid, match=r"01_stop.ipynb is no notebook; git status may say why"):
        lay(course, copy)


@pytest.mark.parametrize("name", [".harness_zero", "labs/01_stop"])
def test_a_link_on_the_way_to_a_file_is_refused_and_nothing_is_laid_behind_it(course, copy, name):
    away = course.parent / "away"
    away.mkdir()
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).symlink_to(away)
    with pytest.raises(NotLaid, match="is a link"):
        lay(course, copy)
    assert list(away.iterdir()) == []


@pytest.mark.parametrize("name", ["solutions", "harness_zero/deep"])
def test_the_sources_of_the_course_are_no_place_for_the_copy(course, name):
    with pytest.raises(NotLaid, match="where the course itself lies"):
        lay(course, course / name)


def test_a_pipe_in_a_files_place_is_the_learners_and_keeps_nobody_waiting(course, copy):
    lay(course, copy)
    (copy / START).unlink()
    os.mkfifo(copy / START)
    write(course, START, notebook("new words"))
    assert lay(course, copy).offered


def test_a_folder_without_a_name_is_refused(harness_zero):
    told = harness_zero("start", "--to", "")
    assert told.stderr == "Error: The folder after --to is empty: name one.\n"
    assert (told.returncode, told.stdout) == (2, "")


def test_the_folder_that_one_is_in_can_hold_the_copy(harness_zero, course, tmp_path):
    (tmp_path / "mine").mkdir()
    environment = os.environ | {"PYTHONPATH": str(course)}
    told = harness_zero("start", "--to", ".", cwd=tmp_path / "mine", env=environment)
    assert told.stdout == "./ is ready: 3 new.\n"
    assert (tmp_path / "mine" / START).exists()


def test_the_root_of_the_disk_is_no_place_for_the_copy(harness_zero):
    said = "Error: The course is not laid into the root of the disk: name a folder.\n"
    assert one_sentence(harness_zero("start", "--to", "/")) == said


# from the command line


@pytest.fixture
def harness_zero(course):
    """The command line as it runs in a clone with this course."""
    shutil.copytree(ROOT / "harness_zero", course / "harness_zero")

    def run(*args, before=(), **options):
        command = [*before, sys.executable, "-m", "harness_zero.cli", *args]
        options = {"cwd": course, "capture_output": True, "text": True, "timeout": 60} | options
        return subprocess.run(command, **options)

    return run


def one_sentence(ended):
    """What a refused command says, if it is a single line and no traceback."""
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (1, "", 1), ended
    return ended.stderr


def test_start_lays_the_copy_into_workspace_wherever_it_is_typed(harness_zero, course, tmp_path):
    assert harness_zero("start").stdout == "workspace/ is ready: 3 new.\n"
    away = harness_zero("start", cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(course)})
    assert away.stdout == "course/workspace/ is ready: nothing new.\n"


def test_start_lays_the_copy_where_it_is_told_to(harness_zero, tmp_path):
    assert harness_zero("start", "--to", tmp_path / "mine").stdout.endswith("ready: 3 new.\n")
    assert (tmp_path / "mine" / START).exists()


def test_start_works_where_the_locale_knows_no_letters_but_ascii(harness_zero, course):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert harness_zero("start", env=os.environ | plain).returncode == 0
    assert "→" in (course / "workspace" / START).read_text("utf-8")


def test_a_package_without_its_course_says_so(harness_zero, course):
    shutil.rmtree(course / "chapters")
    assert "clone the repository" in one_sentence(harness_zero("start"))


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(harness_zero, tmp_path, needs):
    bwrap = needs("bwrap", to="forbid writing", install="apt install bubblewrap")
    sealed = (bwrap, "--dev-bind", "/", "/", "--ro-bind", tmp_path, tmp_path)
    for verb in ("start", "lab"):
        assert "(Read-only file system)" in one_sentence(harness_zero(verb, before=sealed))


def test_a_full_disk_is_said_in_a_sentence_and_nothing_is_lost(harness_zero, course, needs):
    bwrap = needs("bwrap", to="fill a disk", install="apt install bubblewrap")
    write(course, "chapters/long.ipynb", notebook("#", "x" * 100_000))
    (course / "workspace").mkdir()
    full = (bwrap, "--dev-bind", "/", "/", "--size", "65536", "--tmpfs", course / "workspace")
    assert "The disk is full" in one_sentence(harness_zero("start", before=full))


def test_a_kill_at_any_moment_leaves_whole_files_and_the_next_start_goes_on(harness_zero, course):
    for number in range(200):
        write(course, f"chapters/{number:03}.ipynb", notebook("#", "x" * 20_000))
    command = [sys.executable, "-m", "harness_zero.cli", "start"]
    for moment in range(8):
        begun = subprocess.Popen(command, cwd=course, stdout=subprocess.DEVNULL)
        time.sleep(0.06 + moment / 50)
        begun.send_signal(signal.SIGKILL)
        begun.wait()
        for path in (course / "workspace").glob("*/[!.]*.ipynb"):
            assert path.read_bytes() == clear_outputs(
                (course / "chapters" / path.name).read_bytes()
            )
    assert harness_zero("start").returncode == 0
    assert "nothing new" in harness_zero("start").stdout


def test_a_port_that_is_taken_is_refused_with_what_to_type_instead(harness_zero):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for asked in (
            ["--port", f"{port}"],
            [f"--port={port}"],
            [f"--ServerApp.port={port}", "--ip=*"],
        ):
            said = one_sentence(harness_zero("lab", "--no-browser", *asked))
            assert said.startswith(f"Error: Port {port} is taken by another program: use --port ")


def test_a_port_that_there_is_not_is_refused(harness_zero):
    assert "There is no port 99999" in one_sentence(harness_zero("lab", "--port", "99999"))


def test_help_does_not_wait_for_what_the_verbs_need(harness_zero):
    listed = "import sys; import harness_zero.cli; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", listed], capture_output=True, text=True, cwd=ROOT
    )
    assert not {"jupyterlab", "nbformat", "harness_zero.course"} & set(loaded.stdout.split())
    assert "lab" in harness_zero("--help").stdout
