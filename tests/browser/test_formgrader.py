"""formgrader, as docs/teaching.md opens it, shows the marks of record and keeps what one sets."""

import os
import re
import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed_in import filled, laid_down, solution

from harness_zero.cli import main

LAB = "00_one_call"
WRONG = "def answer(call, tools): return None"
MATHJAX = "https://cdnjs.cloudflare.com/"  # nbgrader's page asks for it, and does without
PAGE = Path(__file__).parents[2] / "docs" / "teaching.md"
OPENED = re.search(r"^jupyter (lab.*)$", PAGE.read_text("utf-8"), re.MULTILINE)[1]


def harness_zero(*args):
    done = CliRunner().invoke(main, [*map(str, args)])
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in which two learners were graded."""
    folder = tmp_path_factory.mktemp("formgrader") / "teaching"
    harness_zero("course", folder, "0", "1", "--exchange", folder.parent / "exchange")
    laid_down(solution(), folder / "submitted", "ada")
    laid_down(filled(solution(), answer=WRONG), folder / "submitted", "bob")
    harness_zero("grade", "--course", folder)
    return folder


@pytest.fixture(scope="module")
def formgrader(course, serve):
    """The address of formgrader, in a JupyterLab that was opened in the course directory."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", *OPENED.split(), "--allow-root"]
    command += [f"--port={port}", "--IdentityProvider.token=secret"]
    address = f"http://127.0.0.1:{port}"
    with serve(command, course.parent, f"{address}/api/status?token=secret", cwd=course):
        yield f"{address}/formgrader"


@pytest.fixture
def page(another_screen, formgrader):
    """Opens a page of formgrader."""
    screen = another_screen
    screen.page.goto(f"{formgrader}?token=secret")

    def opened(name):
        screen.page.goto(f"{formgrader}/{name}")
        screen.page.wait_for_load_state("networkidle")
        if folder := os.environ.get("SCREENSHOTS"):
            file = Path(folder) / f"formgrader_{name.replace('/', '_')}.png"
            screen.page.screenshot(path=file, full_page=True)
        return screen.page

    yield opened
    assert all(url.startswith(MATHJAX) for url in screen.outside)
    assert {*screen.errors} <= {"MathJax is not defined"}


def test_it_lists_labs_with_what_was_handed_in(page):
    shown = page("manage_assignments").locator("tbody").inner_text()
    assert LAB in shown and "01_structural_stop" in shown
    graded = page(f"manage_submissions/{LAB}").locator("tbody").inner_text()
    assert graded.count("graded") == 2 and "needs" not in graded
    assert "12 / 12" in graded and "9 / 12" in graded


def test_it_lists_learners_with_their_points(page):
    shown = page("manage_students").locator("tbody").inner_text()
    assert "12 / 29" in shown and "9 / 29" in shown


def test_a_mark_can_be_changed_and_grading_again_keeps_it(page, course):
    shown = page(f"manage_students/bob/{LAB}")
    shown.locator("tbody a", has_text=LAB).click()
    mark = shown.locator("#answer-check")
    mark.wait_for()
    shown.wait_for_function("() => document.querySelector('#answer-check').placeholder === '0'")
    shown.wait_for_function("() => document.querySelector('#answer-comment').placeholder")
    why = shown.locator("#answer-comment").get_attribute("placeholder")
    assert "expected" in why and WRONG in shown.locator("body").inner_text()
    with shown.expect_response(lambda r: "/api/grade/" in r.url and r.request.method == "PUT"):
        mark.fill("2")
        mark.blur()
    harness_zero("grade", "--course", course)
    assert "11 / 12" in page(f"manage_submissions/{LAB}").locator("tbody").inner_text()


def test_its_button_for_autograding_says_what_grades_here(page):
    shown = page(f"manage_submissions/{LAB}")
    before = shown.locator("tbody").inner_text()
    shown.locator("tbody .glyphicon-flash").first.click()
    shown.get_by_text("judges answers from outside").first.wait_for()
    assert page(f"manage_submissions/{LAB}").locator("tbody").inner_text() == before
