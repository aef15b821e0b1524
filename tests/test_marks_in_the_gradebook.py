"""Marks of record in nbgrader's gradebook: written by its API, beside what an instructor sets."""

import json
import shutil
import sqlite3
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from handed_in import cell, filled, laid_down, solution
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI

from harness_zero.cli import main
from harness_zero.course import entry_of
from harness_zero.grading.course import settings
from harness_zero.grading.record import isolation

LAB = "00_one_call"
WRONG = "def answer(call, tools): return None"
SCRIPT = "<script>alert('handed in')</script>"
AT = "2026-11-30 16:00:00.000000 UTC"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course in which two learners were graded, and what was said."""
    folder = tmp_path_factory.mktemp("graded") / "teaching"
    done = CliRunner().invoke(main, ["course", str(folder), "0", "1", "--id", "agents"])
    assert done.exit_code == 0, done.output
    hand_in(folder, "ada", solution())
    hand_in(folder, "bob", filled(solution(), answer=WRONG))
    return folder, grade(folder)


@pytest.fixture
def course(graded, tmp_path):
    """A graded course to change."""
    return shutil.copytree(graded[0], tmp_path / "teaching")


def hand_in(folder, learner, notebook, lab=LAB, at=AT):
    path = laid_down(notebook, folder / "submitted", learner, lab)
    (path.parent / "timestamp.txt").write_text(at)
    (path.parent / "submission_secret.txt").write_text(f"secret of {learner}")
    return path


def grade(folder, *args, code=0):
    argv = ["grade", "--course", str(folder), "--jobs", "1", *args]
    done = CliRunner().invoke(main, argv)
    assert done.exit_code == code, done.output
    return done.output


@contextmanager
def book(folder):
    with Gradebook(f"sqlite:///{folder}/gradebook.db", "agents") as opened:
        yield opened


def marks(folder, learner, lab=LAB):
    """The marks of a submission by the ids of their cells."""
    with book(folder) as opened:
        notebook = opened.find_submission_notebook(lab, lab, learner)
        return {each.name.removesuffix("-check"): each.score for each in notebook.grades}


def comments(folder, learner):
    with book(folder) as opened:
        notebook = opened.find_submission_notebook(LAB, LAB, learner)
        return {each.name: each.comment for each in notebook.comments if each.comment}


def waiting(folder, learner):
    """The cells at which formgrader asks for a look."""
    with book(folder) as opened:
        notebook = opened.find_submission_notebook(LAB, LAB, learner)
        return {each.name for each in notebook.grades if each.needs_manual_grade}


def by_hand(folder, learner, check="answer-check", **given):
    """What an instructor sets in formgrader."""
    with book(folder) as opened:
        found = opened.find_grade(check, LAB, LAB, learner)
        for name, value in {"needs_manual_grade": False, **given}.items():
            setattr(found, name, value)
        opened.db.commit()


FULL = {"conversation": 3, "answer": 3, "next-array": 4, "wrong-sums": 2}


def test_each_exercise_has_its_mark_and_its_reason(graded):
    folder = graded[0]
    assert marks(folder, "ada") == FULL and comments(folder, "ada") == {}
    assert marks(folder, "bob") == {**FULL, "answer": 0}
    assert "expected" in comments(folder, "bob")["answer"]
    assert not waiting(folder, "ada") and not waiting(folder, "bob")


def test_the_book_of_grades_says_the_same_by_names_within_the_course(graded):
    written = (graded[0] / "marks_of_record.csv").read_text("utf-8")
    assert f"ada,submitted/ada/{LAB}/{LAB}.ipynb,{LAB},3,3,4,2,12,12,yes" in written


def test_who_was_not_known_is_added_and_told(graded):
    assert "ada was not in the gradebook, and is added." in graded[1]


def test_who_is_not_known_is_left_out_if_nbgrader_is_told_to(course):
    with open(course / "nbgrader_config.py", "a") as settings:
        settings.write("c.Autograde.create_student = False\n")
    hand_in(course, "eve", solution())
    assert "knows no such student" in grade(course)
    with book(course) as opened:
        assert [each.id for each in opened.students] == ["ada", "bob"]


def test_grading_again_with_another_mark_updates_it(course):
    hand_in(course, "bob", solution(), at="2026-11-30 17:00:00.000000 UTC")
    grade(course)
    assert marks(course, "bob") == FULL and comments(course, "bob") == {}
    with book(course) as opened:
        assert opened.find_submission(LAB, "bob").timestamp.hour == 17


def test_what_an_instructor_set_stays_and_is_asked_about_where_ours_changed(course):
    by_hand(course, "bob", manual_score=1, extra_credit=0.5)
    with book(course) as opened:
        opened.find_comment("answer", LAB, LAB, "bob").manual_comment = "nearly"
        opened.db.commit()
    grade(course)
    assert marks(course, "bob")["answer"] == 1.5 and not waiting(course, "bob")
    hand_in(course, "bob", solution())
    grade(course)
    assert marks(course, "bob")["answer"] == 1.5 and waiting(course, "bob") == {"answer-check"}
    assert comments(course, "bob") == {"answer": "nearly"}


def told_by_nbgrader(folder, what, lab=LAB):
    """What nbgrader tells of doing something, with the settings of the course."""
    return getattr(NbGraderAPI(config=settings.read(folder)), what)(lab)


def feedback(folder, learner):
    told = told_by_nbgrader(folder, "generate_feedback")
    assert told["success"], told
    return (folder / "feedback" / learner / LAB / f"{LAB}.html").read_text("utf-8")


def test_nbgrader_generates_our_pages_of_feedback(course):
    page = feedback(course, "bob")
    assert "<strong>9 of 12 points.</strong>" in page and "<dt>expected</dt>" in page
    assert "From your instructor" not in page
    names = {each.name for each in (course / "feedback" / "bob" / LAB).iterdir()}
    assert names == {f"{LAB}.html", "timestamp.txt", "submission_secret.txt"}


def test_a_page_of_feedback_says_first_what_the_instructor_changed(course):
    by_hand(course, "bob", manual_score=2)
    by_hand(course, "bob", "wrong-sums-check", extra_credit=0.5)
    with book(course) as opened:
        opened.find_comment("answer", LAB, LAB, "bob").manual_comment = "<b>nearly</b>"
        opened.db.commit()
    page = feedback(course, "bob")
    assert page.index("From your instructor: 11.5 of 12 points") < page.index("9 of 12 points")
    for line in (
        "This is what counts",
        "Answer a tool call: 2 of 3 points",
        "0.5 points of extra credit",
        "&lt;b&gt;nearly",
    ):
        assert line in page


def test_a_comment_is_read_as_the_markdown_that_formgrader_takes(course):
    with book(course) as opened:
        opened.find_comment("answer", LAB, LAB, "bob").manual_comment = "**look** at `id`"
        opened.db.commit()
    line = "Answer a tool call: <strong>look</strong> at <code>id</code></li>"
    assert line in feedback(course, "bob")


def test_a_page_of_feedback_says_what_an_exercise_counts_if_an_instructor_changed_that(course):
    with book(course) as opened:
        opened.find_grade_cell("answer-check", LAB, LAB).max_score = 6
        opened.db.commit()
    grade(course)
    page = feedback(course, "ada")
    assert "From your instructor: 15 of 15 points" in page
    assert "Answer a tool call: counts 6 points in place of 3" in page


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
def test_an_assignment_of_the_instructors_own_is_autograded_as_ever(course):
    code = cell(
        "x = 1", grade=True, grade_id="x", points=2, locked=True, solution=False, task=False
    )
    code["metadata"]["nbgrader"]["schema_version"] = 3
    notebook = {"cells": [code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    source = course / "source" / "essay" / "essay.ipynb"
    source.parent.mkdir()
    source.write_text(json.dumps(notebook))
    with open(course / "nbgrader_config.py", "a") as own:  # nothing is to be run in a test
        own.write("c.Autograde.autograde_preprocessors = []\n")
    assert told_by_nbgrader(course, "generate_assignment", "essay")["success"]
    hand_in(course, "ada", notebook, "essay")
    api = NbGraderAPI(config=settings.read(course))
    assert api.autograde("essay", "ada")["success"]
    refused = api.autograde(LAB, "ada")
    assert not refused["success"] and "judges answers from outside" in refused["log"]


def test_cells_that_change_after_something_was_handed_in_are_left_and_told(course):
    with book(course) as opened:
        opened.find_source_cell("answer", LAB, LAB).name = "an older answer"
        opened.db.commit()
    record = course / ".harness_zero" / "course.json"
    older = json.loads(record.read_text())
    name = f"source/{LAB}/{LAB}.ipynb"
    changed = (course / name).read_text("utf-8").replace("by hand", "with your hands")
    (course / name).write_text(changed, "utf-8")
    older["laid"][name] = entry_of(name, changed.encode())
    record.write_text(json.dumps(older))
    said = CliRunner().invoke(main, ["course", str(course)]).output
    assert "the gradebook keeps what it knew (Cannot add or remove cells" in said


def test_points_that_an_instructor_changed_are_what_a_mark_is_out_of(course):
    with book(course) as opened:
        opened.find_grade_cell("answer-check", LAB, LAB).max_score = 10
        opened.db.commit()
    grade(course)
    assert marks(course, "ada")["answer"] == 10 and marks(course, "bob")["answer"] == 0


def test_what_is_late_has_the_penalty_that_nbgrader_is_set_to(course):
    with open(course / "nbgrader_config.py", "a") as settings:
        settings.write("c.LateSubmissionPlugin.penalty_method = 'zero'\n")
    with book(course) as opened:
        opened.update_or_create_assignment(LAB, duedate="2026-11-30 14:30:00 UTC")
    assert "ada, 00_one_call: 1 h 30 min late, 12 points less." in grade(course)
    with book(course) as opened:
        assert opened.find_submission(LAB, "ada").late_submission_penalty == 12
        opened.update_or_create_assignment(LAB, duedate="2026-11-30 18:00:00 UTC")
    assert " late" not in grade(course)
    with book(course) as opened:
        assert not opened.find_submission(LAB, "ada").late_submission_penalty


def shown(folder, learner):
    return (folder / "autograded" / learner / LAB / f"{LAB}.ipynb").read_text("utf-8")


def test_formgrader_is_shown_the_learners_code_and_nothing_else_of_theirs(course):
    notebook = filled(solution(), answer=WRONG)
    notebook["cells"].insert(
        0, {"cell_type": "markdown", "id": "own", "source": SCRIPT, "metadata": {}}
    )
    notebook["cells"] += [cell(f"'{SCRIPT}'", grade=True, grade_id="mine", points=100)]
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            each["outputs"] = [
                {"output_type": "display_data", "data": {"text/html": SCRIPT}, "metadata": {}}
            ]
    notebook["metadata"] = {"title": SCRIPT}
    hand_in(course, "bob", notebook)
    grade(course)
    assert WRONG in shown(course, "bob") and "handed in')" not in shown(course, "bob")
    assert "0 of 3 points" in shown(course, "bob")
    cells = json.loads(shown(course, "bob"))["cells"]
    assert sum(bool(each.get("outputs")) for each in cells) == 4  # what was told of each check
    assert {each["id"] for each in cells} >= {"answer", "setup"}


def test_a_notebook_that_cannot_be_graded_waits_for_the_instructor(course):
    hand_in(course, "bob", solution()).write_text("<html>")
    assert "not JSON" in grade(course)
    assert sum(marks(course, "bob").values()) == 0
    assert len(waiting(course, "bob")) == 4
    assert "not JSON" in comments(course, "bob")["answer"]


def test_a_notebook_of_another_lab_has_no_marks_here(course):
    hand_in(course, "bob", solution("01_structural_stop"))
    assert "this is a notebook of lab 01_structural_stop" in grade(course)
    assert sum(marks(course, "bob").values()) == 0 and len(waiting(course, "bob")) == 4


def test_one_notebook_counts_under_any_name_and_of_more_the_one_of_the_labs_name(course):
    ada = course / "submitted" / "ada" / LAB
    (ada / f"{LAB}.ipynb").rename(ada / "Copy1.ipynb")
    laid_down(filled(solution(), answer=WRONG), course / "submitted", "bob")
    (course / "submitted" / "bob" / LAB / "scratch.ipynb").write_text(json.dumps(solution()))
    assert f"bob, {LAB}: scratch.ipynb is left out" in grade(course)
    assert marks(course, "ada") == FULL and marks(course, "bob")["answer"] == 0


def test_halves_of_characters_stop_nothing(course):
    raising = "def answer(call, tools): raise ValueError(chr(0xd800))  # \ud800"
    hand_in(course, "bob", filled(solution(), answer=raising))
    grade(course)
    assert marks(course, "bob")["answer"] == 0 and "Error" in comments(course, "bob")["answer"]
    json.dumps(json.loads(shown(course, "bob")), ensure_ascii=False).encode()


def test_a_submission_without_a_notebook_is_named(course):
    (course / "submitted" / "ada" / LAB / f"{LAB}.ipynb").unlink()
    assert f"ada, {LAB}: there is no such file" in grade(course)
    assert len(waiting(course, "ada")) == 4


def test_what_the_gradebook_does_not_know_is_told_and_stops_nothing(course):
    hand_in(course, "ada", solution("02_brakes"), "02_brakes")
    (course / "submitted" / "ada" / "essay").mkdir()
    said = grade(course)
    assert "ada, 02_brakes: the gradebook knows no such lab" in said
    assert "`harness-zero course . 02_brakes` makes it known" in said
    assert "has the marks of 2 of 3." in said
    assert "essay is no lab of this course" in said
    assert marks(course, "ada") == FULL


def test_a_time_that_is_none_is_told_and_stops_nothing(course):
    hand_in(course, "bob", solution(), at="yesterday, or so")
    assert "timestamp.txt holds no time" in grade(course)
    assert marks(course, "bob") == FULL


def test_a_locked_gradebook_is_told_in_a_sentence_and_keeps_what_is_graded(course):
    hand_in(course, "bob", solution())
    other = sqlite3.connect(course / "gradebook.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    said = grade(course, code=1)
    other.close()
    assert "locked by another program" in said and "Traceback" not in said
    grade(course)
    assert marks(course, "bob") == FULL


def test_marks_without_isolation_say_so_in_the_gradebook(course, monkeypatch):
    monkeypatch.setenv("PATH", str(course))
    isolation.isolates.cache_clear()
    try:
        assert "not of record" in grade(course)
    finally:
        isolation.isolates.cache_clear()
    assert {*comments(course, "ada").values()} == {"Not of record: graded without isolation."}
    assert "Not of record" in shown(course, "ada")


def test_a_folder_that_is_no_course_and_a_course_without_submissions_are_named(course, tmp_path):
    assert f"{tmp_path} is no course directory" in grade(tmp_path, code=1)
    shutil.rmtree(course / "submitted")
    assert "nbgrader collect" in grade(course, code=1)


def test_files_and_a_course_are_not_graded_together(course, tmp_path):
    assert "leave FILES out" in grade(course, "x.ipynb", code=2)


@pytest.mark.parametrize("name", ["gradebook.db", "seed", f"submitted/ada/{LAB}/{LAB}.ipynb"])
def test_the_book_is_not_written_over_what_is_there_to_be_read(name, course):
    before = (course / name).read_bytes()
    assert "would be lost" in grade(course, "--out", str(course / name), code=2)
    assert (course / name).read_bytes() == before


@pytest.mark.parametrize("option", [("--shard", "1/2"), ("--merge",)])
def test_shards_are_not_for_a_course(option, course):
    assert f"leave {option[0]} out" in grade(course, *option, code=2)


def test_where_submissions_lie_is_nbgraders_to_say_and_any_name_does(course):
    moved = course.rename(course.with_name("teaching [2026] *"))
    with open(moved / "nbgrader_config.py", "a", encoding="utf-8") as file:
        structure = "{nbgrader_step}/{assignment_id}/{student_id}"
        file.write(f"c.CourseDirectory.directory_structure = {structure!r}\n")
    for learner in ("ada", "bob"):
        (moved / "submitted" / LAB).mkdir(exist_ok=True)
        (moved / "submitted" / learner / LAB).rename(moved / "submitted" / LAB / learner)
        (moved / "submitted" / learner).rmdir()
    (moved / "submitted" / "essay" / "ada").mkdir(parents=True)
    said = grade(moved)
    assert "gradebook.db has the marks of 2." in said and "2 graded, 0 not" in said
    assert "essay is no lab of this course" in said and "ada is no lab" not in said
