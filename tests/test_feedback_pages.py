"""Pages of feedback, read by a learner: what was lost, where it is, and what to think of next."""

import re
from html import unescape

import pytest
from handed_in import filled, grade_id, laid_down, solution

from harness_zero.grading.exercises import LABS
from harness_zero.grading.record import feedback
from harness_zero.grading.record.book import row
from harness_zero.grading.record.grade import Room, graded, laid
from harness_zero.grading.record.submissions import submission

SECRET = b"a secret of sixteen bytes and more"


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """Where all labs can be graded."""
    folder = tmp_path_factory.mktemp("room")
    laid(folder, LABS)
    return Room(folder, secret=SECRET)


@pytest.fixture
def hand_in(room, tmp_path):
    """Hands in a solution with other cells; gives back its grade."""

    def graded_with(lab="00_one_call", change=lambda notebook: notebook, **cells):
        notebook = change(filled(solution(lab), **cells))
        return graded(submission(laid_down(notebook, tmp_path, lab=lab)), room)

    return graded_with


def read(page, exercise=""):
    """What a learner reads on a page, or of one exercise."""
    part = re.search(rf'<section class="\w+" id="{exercise}">.*?</section>', page, re.DOTALL)
    body = part[0] if exercise and part else page.partition("<body>")[2]
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", body).split()))


def told(grade, exercise=""):
    return read(feedback.page(grade), exercise)


def notes(grade):
    return row(grade)["notes"]


def without(name):
    """A notebook from which a cell was deleted."""

    def deleted(notebook):
        notebook["cells"] = [each for each in notebook["cells"] if grade_id(each) != name]
        return notebook

    return deleted


def test_each_exercise_stands_under_its_number_title_and_name_in_the_notebook(hand_in):
    page = feedback.page(hand_in())
    headings = [
        line.strip("#").strip()
        for cell in solution()["cells"]
        for line in "".join(cell["source"]).split("\n")
        if cell["cell_type"] == "markdown" and line.startswith("## Exercise ")
    ]
    assert headings and all(f"<h2>{each} <span>" in page for each in headings)
    assert all(f"<code>{each.name}</code>" in page for each in LABS["00_one_call"].exercises)


def test_an_error_is_told_with_the_line_in_which_it_was_raised(hand_in):
    wrong = "def answer(call, tools):\n    return tools[call['name']](call['input'])"
    grade = hand_in(answer=wrong)
    where = "(in answer, line 2: `return tools[call['name']](call['input'])`)"
    assert where in told(grade, "answer") and where in notes(grade)
    assert "could not go on with what it was given back" not in told(grade)


def test_an_error_in_a_cell_itself_is_told_with_its_line(hand_in):
    grade = hand_in(answer="x = 1\nx.y\n", next_array="def next_array(:\n    pass\n")
    assert "'y' (in your cell, line 2: `x.y`)" in told(grade, "answer")
    assert "(in your cell, line 1: `def next_array(:`)" in told(grade, "next_array")
    assert "did not run to its end" in told(grade, "answer")


def test_a_name_from_an_added_cell_is_told_as_the_reason(hand_in):
    grade = hand_in(answer="def answer(call, tools): return helper(call, tools)")
    assert "makes the name helper : a cell that you added is left out" in told(grade, "answer")


def test_who_waits_for_somebody_to_type_reads_what_the_check_says(hand_in):
    grade = hand_in(answer="def answer(call, tools): return input('which? ')")
    assert "input() waits for somebody to type" in told(grade, "answer")


def test_who_ends_the_program_reads_what_the_check_says(hand_in):
    grade = hand_in(answer="def answer(call, tools): exit()")
    assert "exit() ends the whole program; a function ends with return" in told(grade, "answer")


def test_a_name_that_another_exercise_should_have_made_is_told_as_that(hand_in):
    said = told(hand_in("03_errors_as_data", report="x = 1"), "answer_or_report")
    assert "report is an exercise of its own: look there first" in said
    assert "a cell that you added" not in said


def test_an_answer_without_an_end_is_told_in_plain_words(hand_in):
    grade = hand_in(answer="def answer(call, tools):\n    while True: pass")
    said = told(grade, "answer")
    assert "expected an end in time got still running when its time was up" in said
    assert "look for a loop without a way out" in said and "Gone" not in said


def test_an_answer_that_ends_its_process_is_told_in_plain_words(hand_in):
    grade = hand_in(answer="import os\ndef answer(call, tools): os._exit(3)")
    assert "nothing in it may end Python" in told(grade, "answer")
    assert "Gone" not in told(grade)


def test_a_hole_that_is_left_is_named(hand_in):
    hole = "def ending(reply):\n    raise NotImplementedError"
    grade = hand_in("04_termination_labels", ending=hole)
    assert "Not done yet: the hole in ending is still there" in told(grade, "ending")
    assert "it comes to the hole in ending" in told(grade, "labelled")


def test_an_exercise_that_uses_another_one_which_failed_says_so(hand_in):
    three = "def close_calls(reply, why):\n"
    three += "    return user(*[not_executed(call, why) for call in tool_uses(reply)][:3])"
    page = feedback.page(hand_in("02_brakes", close_calls=three))
    for name in ("run_with_limit", "run_with_brakes"):
        if "0 of" in read(page, name):
            assert "It uses close_calls , where points were lost too" in read(page, name)
    assert "It uses" not in read(page, "close_calls")


def test_many_exercises_that_failed_are_named_in_one_sentence(hand_in):
    nothing = "def policy(*_): return 1"
    page = told(
        hand_in(
            "05_two_halves",
            structural_stop=f"{nothing}\nstructural_stop = policy",
            brakes=f"{nothing}\nbrakes = policy",
            first_of=f"{nothing}\nfirst_of = policy",
        ),
        "two_halves",
    )
    assert "It uses structural_stop , brakes and first_of , where points were lost too" in page


def test_a_deleted_cell_is_told_once_with_the_way_back(hand_in):
    grade = hand_in(change=without("next-array"))
    assert "Its cell is not in the notebook that you handed in." in told(grade, "next_array")
    assert "harness-zero reset 00" in told(grade, "next_array")
    assert told(grade).count("is not there") == 0
    assert "its cell is not in what was handed in" in notes(grade)


def test_the_folders_of_whoever_grades_are_not_told(hand_in):
    grade = hand_in(
        "09_what_survives_a_crash",
        entries="from harness_zero.run import nothing_of_this_name",
        journal="def journal(path):\n    return open(path)",
    )
    for said in (told(grade), notes(grade)):
        assert "/course/" not in said and "/scratch/" not in said and "/tmp" not in said
    assert "No such file or directory: 'journal.jsonl'" in told(grade, "journal")


def test_promises_that_were_kept_are_counted_and_listed_before_the_one_that_broke(hand_in):
    said = told(hand_in(answer="def answer(call, tools): return None"), "answer")
    assert "promises not tried yet" in said
    late = told(hand_in(wrong_sums="def wrong_sums(): return 'd', 3"), "wrong_sums")
    assert "2 of 3 promises kept ✓ it is a letter and the number of a message ✓" in late
    assert "✗ Broken: the message is the one where it broke expected" in late


def test_it_is_said_that_an_exercise_earns_all_its_points_or_none(hand_in):
    assert "An exercise earns its points when all its promises are kept" in told(hand_in())


def test_a_file_that_is_no_lab_is_told_what_to_hand_in_instead(room, tmp_path):
    path = tmp_path / "mine.ipynb"
    path.write_text("")
    said = told(graded(submission(path), room))
    assert "The file is empty." in said and "Hand in the notebook of the lab itself" in said
    assert "How this was graded" not in said


def test_a_page_stands_by_itself_and_fits_a_phone(hand_in):
    page = feedback.page(hand_in(answer="def answer(call, tools): return 'x' * 100_000"))
    assert '<meta name="viewport" content="width=device-width' in page
    assert "color-scheme: light dark" in page and len(page) < 20_000
    assert not re.search(r"<script|<link|url\(|https?:|src=", page)
    assert page == feedback.page(hand_in(answer="def answer(call, tools): return 'x' * 100_000"))


def test_what_would_not_stand_still_on_a_page_is_spelled_out(hand_in):
    grade = hand_in(answer="def answer(call, tools): raise OSError('<b>\\u202e\\x1b[31m')")
    page = feedback.page(grade)
    assert "&lt;b&gt;\\u202e\\x1b[31m" in page and "\u202e" not in page


def test_the_six_harnesses_are_named_so_that_they_can_be_told_apart(hand_in):
    said = told(hand_in("09_what_survives_a_crash", judged="def judged(): return {}"), "judged")
    assert "'ours', 'ours, with a key'" in said and "got {} why" in said


def test_in_the_book_one_note_ends_where_the_next_begins(hand_in):
    grade = hand_in(
        answer="def answer(call, tools): raise OSError('; next_array: no')",
        wrong_sums="def wrong_sums(): return 'b', 2",
    )
    assert [note.partition(":")[0] for note in notes(grade).split(" | ")] == [
        "answer",
        "wrong_sums",
    ]


def test_a_promise_that_broke_is_heard_as_broken_where_no_sign_is_seen(hand_in):
    page = feedback.page(hand_in(wrong_sums="def wrong_sums(): return 'd', 3"))
    assert '<span class="heard">Broken: </span>the message is the one where it broke' in page
    assert '<i aria-hidden="true">✗</i>' in page
