"""A course directory for nbgrader: one command makes it, and never overwrites an instructor."""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from harness_zero.cli import main
from harness_zero.grading.exercises import LABS

ROOT = Path(__file__).parents[1]
LAB = "00_one_call"
SETTINGS = "nbgrader_config.py"


def course(*args, code=0):
    done = CliRunner().invoke(main, ["course", *map(str, args)])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course directory as it is made, and what was said."""
    folder = tmp_path_factory.mktemp("made") / "teaching"
    said = course(folder, "0", "01", "--id", "agents", "--exchange", folder.parent / "exchange")
    return folder, said


@pytest.fixture
def folder(made, tmp_path):
    """A course directory to change."""
    return shutil.copytree(made[0], tmp_path / "teaching")


def cells(path):
    """A notebook's cells without what running them leaves."""
    found = json.loads(path.read_text("utf-8"))["cells"]
    return [{k: v for k, v in c.items() if k not in ("outputs", "execution_count")} for c in found]


def generated(folder, lab=LAB):
    """What nbgrader tells of generating a lab, with the settings that lie there."""
    from nbgrader.apps import NbGraderAPI

    from harness_zero.grading.course import settings

    return NbGraderAPI(config=settings.read(folder)).generate_assignment(lab)


def test_it_is_ready_for_nbgrader(made):
    folder, said = made
    assert "3 new" in said and "knows 2 labs with 29 points" in said
    settings = (folder / SETTINGS).read_text("utf-8")
    assert "course_id = 'agents'" in settings and "/exchange'" in settings
    assert sorted(each.name for each in folder.iterdir() if each.suffix != ".json") == [
        ".harness_zero",
        "gradebook.db",
        SETTINGS,
        "seed",
        "source",
    ]


def test_nobody_else_can_read_solutions_marks_and_the_seed(made):
    folder = made[0]
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "seed").stat().st_mode & 0o077 == 0
    assert len((folder / "seed").read_text().strip()) == 64


def test_the_gradebook_knows_every_exercise_with_its_points(made):
    with Gradebook(f"sqlite:///{made[0]}/gradebook.db", "agents") as book:
        notebooks = [each for lab in book.assignments for each in lab.notebooks]
        found = {(cell.name, cell.max_score) for each in notebooks for cell in each.grade_cells}
    exercises = [*LABS[LAB].exercises, *LABS["01_structural_stop"].exercises]
    ours = {(f"{each.name.replace('_', '-')}-check", each.points) for each in exercises}
    assert found == ours


@pytest.mark.parametrize("lab", [LAB, "01_structural_stop"])
def test_what_nbgrader_makes_of_it_is_the_lab_that_learners_have(folder, lab):
    assert generated(folder, lab)["success"]
    made, ours = (f / lab / f"{lab}.ipynb" for f in (folder / "release", ROOT / "labs"))
    assert cells(made) == cells(ours)


def test_typed_again_it_changes_nothing(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "nothing new" in course(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_an_instructor_changed_stays_and_a_newer_version_lies_beside(folder):
    source = folder / "source" / LAB / f"{LAB}.ipynb"
    (folder / SETTINGS).write_text("c = get_config()  # mine\n")
    source.write_text(source.read_text("utf-8").replace("by hand", "by your own hand"), "utf-8")
    record = folder / ".harness_zero" / "course.json"
    older = json.loads(record.read_text())
    older["laid"] = {name: {"all": "", "words": "an older one"} for name in older["laid"]}
    record.write_text(json.dumps(older))
    said = course(folder)
    assert "laid beside it: nbgrader_config.new.py" in said
    assert f"source/{LAB}/{LAB}.new.ipynb" in said
    assert "mine" in (folder / SETTINGS).read_text()
    assert "by your own hand" in source.read_text("utf-8")


def test_an_update_brings_what_was_not_changed_up_to_date_and_the_gradebook_with_it(folder):
    source = folder / "source" / LAB / f"{LAB}.ipynb"
    fresh = source.read_bytes()
    older = json.loads(fresh)
    older["cells"] = [c for c in older["cells"] if c["id"] != "wrong-sums-check"]
    source.write_text(json.dumps(older))
    generated(folder)
    record = folder / ".harness_zero" / "course.json"
    known = json.loads(record.read_text())
    from harness_zero.course import entry_of

    known["laid"][f"source/{LAB}/{LAB}.ipynb"] = entry_of(source.name, source.read_bytes())
    record.write_text(json.dumps(known))
    said = course(folder)
    assert f"brought up to date: source/{LAB}/{LAB}.ipynb" in said
    assert source.read_bytes() == fresh and "2 labs with 29 points" in said


def test_options_are_remembered_and_can_be_changed(folder):
    course(folder, "--id", "agents-2")
    course(folder)
    settings = (folder / SETTINGS).read_text()
    assert "'agents-2'" in settings and "/exchange'" in settings


def test_a_lab_that_was_taken_out_stays_out_until_it_is_named(folder):
    shutil.rmtree(folder / "source" / LAB)
    course(folder)
    assert not (folder / "source" / LAB).exists()
    course(folder, "0")
    assert (folder / "source" / LAB / f"{LAB}.ipynb").exists()


def test_a_gradebook_that_was_lost_is_made_again(folder):
    (folder / "gradebook.db").unlink()
    assert "knows 2 labs with 29 points" in course(folder)


def test_a_seed_that_was_lost_is_drawn_anew_and_told(made, folder):
    assert "new seed" not in made[1]
    (folder / "seed").unlink()
    assert "A new seed was drawn" in course(folder)
    assert "new seed" not in course(folder)


def test_without_an_exchange_it_says_through_which_folder_labs_pass(made, tmp_path):
    assert "--exchange" not in made[1]
    assert "through nbgrader's own exchange" in course(tmp_path / "teaching", "0")


@pytest.mark.parametrize("labs", [["00", "01"], ["01_structural_stop"]])
def test_a_forgotten_folder_is_not_named_after_a_lab(labs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"{labs[0]} is a lab: name the folder before it." in course(*labs, code=2)
    assert not [*tmp_path.iterdir()]


def test_a_course_that_is_there_already_keeps_its_settings(made, tmp_path):
    shutil.copy(made[0] / "gradebook.db", tmp_path)
    (tmp_path / SETTINGS).write_text("c = get_config()\n")
    assert "nbgrader_config.new.py" in course(tmp_path, "0")
    assert (tmp_path / SETTINGS).read_text() == "c = get_config()\n"


def a_file(path):
    path.write_text("a file")
    return path


def below_a_file(path):
    return a_file(path) / "teaching"


def other_things(path):
    path.mkdir()
    a_file(path / "thesis.tex")
    return path


def no_right(path):
    path.mkdir()
    (path / "source").symlink_to("/nowhere")
    a_file(path / SETTINGS)
    return path


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (a_file, "is a file"),
        (below_a_file, "cannot be used (Not a directory)"),
        (other_things, "holds something else (thesis.tex)"),
        (no_right, "is a link"),
        (lambda path: ROOT / "solutions", "is where the course itself lies"),
        (lambda path: ROOT, "is where the course itself lies"),
    ],
)
def test_a_bad_place_is_refused_in_a_sentence(place, words, tmp_path):
    said = course(place(tmp_path / "there"), "0", code=1)
    assert words in said and "Traceback" not in said and said.count("\n") <= 2


def test_a_place_where_one_may_not_write_is_refused():
    assert "cannot be used" in course("/proc/teaching", "0", code=1)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("c = get_config(", "cannot be read (SyntaxError"),
        ("raise SystemExit", "cannot be read (SystemExit"),
        ("c = get_config(); c.CourseDirectory.course_id = 7", "do not fit"),
    ],
)
def test_settings_that_cannot_be_read_are_refused_in_a_sentence(settings, words, folder):
    (folder / SETTINGS).write_text(settings)
    for command in (["course", folder], ["grade", "--course", folder]):
        done = CliRunner().invoke(main, [*map(str, command)])
        assert done.exit_code == 1 and words in done.output and "Traceback" not in done.output


def test_a_folder_that_everybody_can_look_into_is_told(folder):
    assert "chmod 700" not in course(folder)
    folder.chmod(0o755)
    assert "chmod 700" in course(folder)


def test_without_nbgrader_it_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nbgrader", None)
    assert "[teaching]" in course(tmp_path / "x", code=1)


def test_an_id_that_is_no_name_is_refused(tmp_path):
    assert "no id of a course" in course(tmp_path / "x", "0", "--id", "a/b", code=1)


def database(path, script):
    with sqlite3.connect(path) as book:
        book.executescript(script)
    book.close()


FOREIGN = {
    "is no database": (lambda path: path.write_text("marks, on paper" * 100), "is no database"),
    "is of something else": (
        lambda path: (path.unlink(), database(path, "CREATE TABLE songs (name)")),
        "a database of something else",
    ),
    "is newer": (
        lambda path: database(path, "UPDATE alembic_version SET version_num = 'ffffffffffff'"),
        "of a newer nbgrader",
    ),
    "is older": (
        lambda path: database(path, "UPDATE alembic_version SET version_num = '50a4d84c131a'"),
        "nbgrader db upgrade",
    ),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_gradebook_that_cannot_be_used_is_left_as_it_is(what, folder):
    spoil, words = FOREIGN[what]
    book = folder / "gradebook.db"
    spoil(book)
    before = book.read_bytes()
    assert words in course(folder, code=1)
    assert book.read_bytes() == before
