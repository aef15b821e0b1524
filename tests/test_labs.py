"""Labs are made of solutions: what a lab holds, when it is stale, and what no lab is made of."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness_zero.grading.holes import source_fault
from harness_zero.grading.staleness import staleness

ROOT = Path(__file__).parents[1]
AUTHOR = {"ANTHROPIC_API_KEY": "an author's own", "HARNESS_ZERO_MODEL": "an author's own"}
SEEN = "import os\nprint([name for name in os.environ if name[:7] in ('ANTHROP', 'HARNESS')])"
WORKED = '''def add(a, b):
    """The sum."""
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION'''
HOLE = '''def add(a, b):
    """The sum."""
    # your code here
    raise NotImplementedError'''
CHECK = """try:
    assert add(1, 2) == 3
except NotImplementedError:
    print("not done yet")
### BEGIN HIDDEN TESTS
assert add(2, 2) == 4
### END HIDDEN TESTS"""


@pytest.fixture(scope="module")
def author(tmp_path_factory):
    """A course with one sound solution among some that no lab can be made of, and what was said."""
    course = tmp_path_factory.mktemp("course")
    beside = write(course, "01_adding", sound()).with_name("notes.txt")
    beside.write_text("as it was", encoding="utf-8")
    write(course, "02_raising", [*sound(), code("import os\n\nraise KeyError('a\\nb')", "late")])
    write(course, "03_twice", [*sound(), code("2", "again", solution=True, grade_id="add")])
    write(course, "04_torn", "{")
    (course / "labs" / "05_left_over").mkdir(parents=True)
    return course, labs("--course", course)


@pytest.fixture(scope="module")
def lab(author):
    """The cells of the lab that came of the sound solution, by their ids."""
    notebook = read(author[0] / "labs/01_adding/01_adding.ipynb")
    return {cell["id"]: cell for cell in notebook["cells"]}


def test_a_lab_has_a_hole_where_its_solution_is_worked(lab):
    assert source(lab["add"]) == HOLE
    assert source(lab["why"]) == "Your answer here."


def test_what_is_hidden_from_learners_is_not_in_their_lab(author):
    told = (author[0] / "labs/01_adding/01_adding.ipynb").read_text(encoding="utf-8")
    assert not [secret for secret in ("a + b", "Because", "(2, 2)", "BEGIN") if secret in told]


def test_a_lab_holds_what_an_untouched_one_says(lab):
    assert printed(lab["check"]) == "not done yet\n"
    assert printed(lab["flush"]) == "1\n2\n"
    assert [lab[name]["execution_count"] for name in ("seen", "add", "check")] == [1, 2, 3]


def test_an_authors_keys_and_settings_are_not_there_when_a_lab_is_run(lab):
    assert printed(lab["seen"]) == "[]\n"


def test_files_beside_a_solution_come_along_as_they_were(author):
    assert (author[0] / "labs/01_adding/notes.txt").read_text(encoding="utf-8") == "as it was"


def test_a_lab_keeps_its_cells_ids_tags_and_points(lab):
    assert list(lab) == ["title", "seen", "add", "check", "why", "boom", "button", "flush"]
    assert lab["check"]["metadata"]["tags"] == ["check"]
    assert lab["check"]["metadata"]["nbgrader"]["points"] == 2


def test_a_lab_tells_nothing_of_the_machine_and_the_moment_in_which_it_was_made(author, lab):
    metadata = read(author[0] / "labs/01_adding/01_adding.ipynb")["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"
    assert set(metadata) == {"kernelspec", "language_info"}
    assert "version" not in metadata["language_info"]
    assert not [name for name, cell in lab.items() if "execution" in cell["metadata"]]
    assert lab["boom"]["outputs"][0]["traceback"] == ["ZeroDivisionError: division by zero"]
    assert list(lab["button"]["outputs"][0]["data"]) == ["text/plain"]


def test_what_no_lab_can_be_made_of_is_told_in_a_sentence_each(author):
    course, told = author
    assert told.returncode == 1
    assert told.stdout == "labs/01_adding written\n"
    torn, twice = (course / f"solutions/{n}/{n}.ipynb" for n in ("04_torn", "03_twice"))
    assert sorted(told.stderr.splitlines()) == sorted(
        [
            "labs/05_left_over has no solution: remove it, or write solutions/05_left_over.",
            "labs/02_raising/02_raising.ipynb, code cell 7 (import os) raises KeyError: 'a\\nb'",
            f"{twice} is refused by nbgrader: Duplicate grade id: add",
            f"{torn} is not JSON: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1)",
        ]
    )


def test_making_labs_leaves_nothing_else_behind(author):
    course, _ = author
    assert sorted(path.name for path in course.iterdir()) == ["labs", "solutions"]
    assert sorted(path.name for path in (course / "labs").iterdir()) == [
        "01_adding",
        "05_left_over",
    ]


def test_check_names_the_stale_lab_alone_and_leaves_it(author, tmp_path):
    shutil.copytree(author[0] / "solutions/01_adding", tmp_path / "solutions/01_adding")
    shutil.copytree(author[0] / "labs/01_adding", tmp_path / "labs/01_adding")
    write(tmp_path, "02_adding", sound())
    told = labs("--check", "--course", tmp_path)
    assert told.stderr == (
        "labs/02_adding is stale: it has not been written yet. `make labs` writes it anew.\n"
    )
    assert told.stdout == "labs/01_adding is up to date\n"
    assert (told.returncode, (tmp_path / "labs/02_adding").exists()) == (1, False)


def test_without_nbgrader_it_says_what_to_install():
    absent = "import sys; sys.modules['nbgrader'] = None; sys.argv = ['labs']; import runpy; "
    told = python("-c", f"{absent} runpy.run_module('harness_zero.grading.labs', None, '__main__')")
    assert told.stderr.startswith("Labs are made with nbgrader; `pip install")
    assert (told.returncode, len(told.stderr.splitlines())) == (1, 1)


def test_a_folder_without_solutions_is_told(tmp_path):
    told = labs("--course", tmp_path)
    assert told.stderr == f"{tmp_path}/solutions holds no folder to make a lab of.\n"
    assert told.returncode == 1


@pytest.mark.skipif(not [*ROOT.glob("solutions/[0-9]*")], reason="no solution is written yet")
def test_the_labs_of_the_course_are_what_its_solutions_make():
    told = labs("--check")
    assert (told.stderr, told.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lab: lab["cells"][2].update(source="def add(): ..."), "'add' differs in source"),
        (lambda lab: lab["cells"][3].update(outputs=[]), "'check' differs in outputs"),
        (lambda lab: lab["cells"][3]["metadata"].clear(), "'check' differs in metadata"),
        (lambda lab: lab["cells"].pop(), "a cell is missing"),
        (lambda lab: lab["cells"].append(code("1", "mine")), "a cell too many"),
        (lambda lab: lab["metadata"].update(version="3.11"), "metadata of the notebook differs"),
    ],
)
def test_a_lab_that_was_edited_is_stale_and_told_where(author, tmp_path, change, said):
    due, there = author[0] / "labs/01_adding", tmp_path / "01_adding"
    notebook = read(shutil.copytree(due, there) / "01_adding.ipynb")
    change(notebook)
    (there / "01_adding.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    assert said in staleness(due, there)


def test_a_file_that_was_edited_lost_or_added_makes_a_lab_stale(author, tmp_path):
    due, there = author[0] / "labs/01_adding", tmp_path / "01_adding"
    assert staleness(due, there) == "it has not been written yet"
    shutil.copytree(due, there)
    shutil.copytree(due, there / ".ipynb_checkpoints")
    assert staleness(due, there) == ""
    (there / "notes.txt").write_text("edited", encoding="utf-8")
    assert staleness(due, there) == "notes.txt differs"
    (there / "mine.txt").touch()
    assert staleness(due, there) == "mine.txt does not come from its solution"
    (there / "notes.txt").unlink()
    assert staleness(due, there) == "notes.txt is missing"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda cell: cell.pop("id"), "without an id"),
        (lambda cell: cell["metadata"].clear(), "no cell that nbgrader knows as a solution"),
        (lambda cell: cell.update(source=WORKED[:-20]), "BEGIN SOLUTION that is never closed"),
        (
            lambda cell: cell.update(source=WORKED + "\n### END SOLUTION"),
            "END SOLUTION out of turn",
        ),
        (lambda cell: cell.update(source="### BEGIN HIDDEN TESTS"), "HIDDEN TESTS that is never"),
        (lambda cell: cell.clear(), "is JSON, but no notebook"),
    ],
)
def test_a_source_that_no_lab_can_be_made_of_is_told(tmp_path, change, said):
    hole = code(WORKED, "add", solution=True, grade_id="add")
    assert source_fault(write(tmp_path, "01_adding", [hole])) is None
    change(hole)
    shutil.rmtree(tmp_path / "solutions")
    assert said in source_fault(write(tmp_path, "01_adding", [hole]))


def test_a_source_that_is_json_and_no_notebook_is_told(tmp_path):
    assert source_fault(write(tmp_path, "01_list", "[]")) == "is JSON, but no notebook"
    assert "has the name of its folder" in source_fault(tmp_path / "solutions/01_list/01.ipynb")


def sound():
    return [
        words("Add two numbers.", "title"),
        code(SEEN, "seen"),
        code(WORKED, "add", solution=True, grade_id="add"),
        code(CHECK, "check", ["check"], grade=True, locked=True, points=2, grade_id="check"),
        words("Because it adds.", "why", solution=True, grade=True, points=1, grade_id="why"),
        code("open('notes.txt', 'a').write('!')\n1 / 0", "boom", ["raises-exception"]),
        code("import ipywidgets\nipywidgets.Button()", "button"),
        code("print(1, flush=True)\nprint(2, flush=True)", "flush"),
    ]


def words(source, id, **nbgrader):
    return {"cell_type": "markdown", "id": id, "metadata": graded(nbgrader), "source": source}


def code(source, id, tags=(), **nbgrader):
    """A cell as its author left it: run, with an output that no lab may show."""
    metadata = graded(nbgrader) | {"tags": [*tags], "execution": {"iopub.status.busy": "now"}}
    said = {"output_type": "stream", "name": "stdout", "text": "Because"}
    ran = {"cell_type": "code", "execution_count": 7, "outputs": [said]}
    return ran | {"id": id, "metadata": metadata, "source": source}


def graded(flags):
    none = dict.fromkeys(("grade", "locked", "solution", "task"), False)
    return {"nbgrader": {"schema_version": 3, **none, **flags}} if flags else {}


def write(course, name, cells):
    """Write a solution, of cells or of any text, and give its path."""
    kernel = {"kernelspec": {"name": "my-env", "display_name": "Mine", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path = course / "solutions" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(cells if isinstance(cells, str) else json.dumps(notebook), encoding="utf-8")
    return path


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def printed(cell):
    return "".join(cell["outputs"][0]["text"])


def labs(*options):
    """Call the program as an author does, whose keys are in the environment."""
    return python("-m", "harness_zero.grading.labs", *options)


def python(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | AUTHOR, capture_output=True, text=True
    )
