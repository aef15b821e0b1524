"""docs/teaching.md, typed: from an empty directory to feedback that a learner reads."""

import csv
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from handed_in import filled, laid_down, solution

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "teaching.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LAB = "00_one_call"
WRONG = "def answer(call, tools): return None"


def blocks(language):
    """What stands in the page's blocks of a language, in order."""
    return [text for kind, text in BLOCKS if kind == language]


class Machine:
    """A machine with an exchange, an instructor's folder and learners' homes."""

    def __init__(self, folder):
        self.folder = folder
        self.exchange = folder / "exchange"
        self.exchange.mkdir()
        self.exchange.chmod(0o1777)
        # as in grading/quick_nbformat.py: nbgrader starts in less than half of the time
        self.quick = folder / "quick"
        self.quick.mkdir()
        (self.quick / "rfc3987_syntax.py").write_text("raise ImportError")
        self.said = {}

    def typed(self, who, commands, place="."):
        """Type commands in somebody's home; what they said, unless one of them failed."""
        home = self.folder / who
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
        path = os.pathsep.join([os.path.dirname(sys.executable), kept["PATH"]])
        places = {"HOME": str(home), "PATH": path, "IPYTHONDIR": str(home / "ipython")}
        places["PYTHONPATH"] = str(self.quick)
        script = "set -e\n" + commands.replace("/srv/exchange", str(self.exchange))
        ran = subprocess.run(
            ["bash", "-c", script],
            cwd=home / place,
            env=kept | places,
            capture_output=True,
            text=True,
        )
        said = self.said[who] = ran.stdout + ran.stderr
        assert ran.returncode == 0, f"{script}\n{said}"
        return said

    def learner(self, who, notebook=None):
        """All that a learner types, with their notebook in place of the one that was fetched."""
        settings = blocks("python")[0].replace("/srv/exchange", str(self.exchange))
        own = self.folder / who / ".jupyter" / "nbgrader_config.py"
        own.parent.mkdir(parents=True)
        own.write_text(
            f"{settings}c.CourseDirectory.student_id = {who!r}  # a user of the system\n"
        )
        lines = blocks("sh")[0].splitlines()
        fetched = next(at for at, line in enumerate(lines) if "validate" in line)
        self.typed(who, "\n".join(lines[:fetched]))
        if notebook:
            laid_down(notebook, self.folder, who)
        return self.typed(who, "\n".join(lines[fetched:]))


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A machine on which everything on the page was typed."""
    machine = Machine(tmp_path_factory.mktemp("machine"))
    teacher = machine.folder / "teacher"
    teacher.mkdir()
    prepare, release, grade, feedback = blocks("bash")
    (teacher / "students.csv").write_text(blocks("csv")[0])
    machine.typed("teacher", prepare)
    machine.typed("teacher", release, "teaching")
    with ThreadPoolExecutor(2) as both:
        done = both.submit(machine.learner, "ada", solution())
        untouched = both.submit(machine.learner, "bob")
    machine.validated = {"ada": done.result(), "bob": untouched.result()}
    machine.graded = machine.typed("teacher", grade, "teaching")
    machine.typed("teacher", feedback, "teaching")
    machine.typed("ada", blocks("sh")[1])
    return machine


def test_every_command_of_the_page_is_typed():
    assert [len(blocks(kind)) for kind in ("bash", "sh", "python", "csv")] == [4, 2, 1, 1]


def test_a_lab_that_is_solved_is_validated_and_one_that_is_not_is_told_kindly(machine):
    assert "Success! Your notebook passes all the tests." in machine.validated["ada"]
    untouched = machine.validated["bob"]
    assert "NotAllKept: Answer a tool call: no points by the visible checks" in untouched
    assert "Traceback" not in untouched


def test_what_is_released_is_the_lab_that_learners_have(machine):
    released = machine.exchange / "agents" / "outbound" / LAB / f"{LAB}.ipynb"
    ours = shutil.copy(ROOT / "labs" / LAB / f"{LAB}.ipynb", machine.folder)
    from test_course_directory import cells

    assert cells(released) == cells(Path(ours))


def test_both_are_graded_and_known_by_the_list_of_students(machine):
    assert "2 graded, 0 not" in machine.graded and "is added" not in machine.graded
    assert "SAWarning" not in machine.graded


def test_nbgraders_own_table_has_the_marks_of_record(machine):
    with open(machine.folder / "teacher" / "teaching" / "marks.csv") as file:
        found = {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}
    assert [found[LAB, who]["score"] for who in ("ada", "bob")] == ["12.0", "0.0"]
    assert found[LAB, "ada"]["max_score"] == "12.0" and found[LAB, "ada"]["duedate"]
    assert ("01_structural_stop", "bob") in found


def test_feedback_comes_back_to_the_learner(machine):
    (page,) = (machine.folder / "ada" / LAB / "feedback").glob(f"*/{LAB}.html")
    assert "<strong>12 of 12 points.</strong>" in page.read_text("utf-8")


def test_autograding_is_refused_before_anything_is_run_or_removed(machine):
    course = machine.folder / "teacher" / "teaching"
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    with pytest.raises(AssertionError, match="judges answers from outside"):
        machine.typed("teacher", f"nbgrader autograde {LAB} --force", "teaching")
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


def test_of_two_submissions_the_newest_counts_and_its_feedback_is_another(machine):
    laid_down(filled(solution(), answer=WRONG), machine.folder, "ada")
    machine.typed("ada", f"nbgrader submit {LAB}")
    *_, grade, feedback = blocks("bash")
    machine.typed("teacher", grade, "teaching")
    machine.typed("teacher", feedback, "teaching")
    machine.typed("ada", blocks("sh")[1])
    pages = sorted((machine.folder / "ada" / LAB / "feedback").glob(f"*/{LAB}.html"))
    told = [re.search(r"\d+ of 12 points", page.read_text("utf-8"))[0] for page in pages]
    assert told == ["12 of 12 points", "9 of 12 points"]
