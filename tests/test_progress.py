"""How far a learner has come: noted in their copy of the course, through whatever goes wrong."""

import json
import os
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness_zero.faults import SetupFault
from harness_zero.grading.exercise import Exercise, Lab
from harness_zero.grading.exercises import LABS
from harness_zero.notebook.progress import as_page, as_text, chapter_read, followed
from harness_zero.notebook.progress import progress as front_page
from harness_zero.progress import (
    Progress,
    chapters_in,
    copy_around,
    next_step,
    note_checked,
    note_read,
    progress,
    steps,
)

ROOT = Path(__file__).parents[1]
NOTED = ".harness_zero/progress.jsonl"
DAY = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
CHAPTERS = ["00_one_call", "01_structural_stop", "02_two_halves"]


def exercise(name, title, points):
    return Exercise(name, title, 10, "easy", 2, points, (1,), (), f"{name}()")


ANSWER, NEXT = exercise("answer", "Answer a call", 3), exercise("next", "What is next?", 4)
RUN = exercise("run", "Close the loop", 5)
COURSE = {
    "00_one_call": Lab("00_one_call", "One call", (ANSWER, NEXT)),
    "01_structural_stop": Lab("01_structural_stop", "The stop", (RUN,)),
}


@pytest.fixture
def copy(tmp_path):
    """A learner's copy of a course of three chapters, of which the last has no lab."""
    copy = tmp_path / "workspace"
    names = [f"chapters/{name}.ipynb" for name in [*CHAPTERS, "start"]]
    names += [f"labs/{name}/{name}.ipynb" for name in COURSE]
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("{}", encoding="utf-8")
    (copy / ".harness_zero").mkdir()
    record = json.dumps({name: {} for name in names})
    (copy / ".harness_zero/laid.json").write_text(record, encoding="utf-8")
    return copy


def at(*time):
    """A clock that stands still."""
    return lambda: datetime(2026, 12, *time, tzinfo=UTC)


def lines(copy):
    return (copy / NOTED).read_bytes().split(b"\n")


# the copy


@pytest.mark.parametrize("inside", ["", "chapters", "labs/00_one_call", "labs/../chapters"])
def test_a_folder_in_a_copy_knows_its_copy(copy, inside):
    assert copy_around(copy / inside) == copy


def test_of_a_copy_inside_another_one_the_nearest_counts(copy):
    (copy / "mine/.harness_zero").mkdir(parents=True)
    (copy / "mine/.harness_zero/laid.json").touch()
    (copy / "mine/chapters").mkdir()
    assert copy_around(copy / "mine/chapters") == copy / "mine"


def test_a_folder_in_which_a_run_was_kept_is_no_copy(tmp_path):
    (tmp_path / "cart/.harness_zero").mkdir(parents=True)
    assert copy_around(tmp_path / "cart") is None


def test_the_repository_is_no_copy():
    assert [copy_around(ROOT / name) for name in ("", "chapters", "labs")] == [None] * 3


# noting


def test_an_event_is_a_line_with_its_time(copy):
    assert note_read(copy, "00_one_call", at(1, 9, 30)) == ""
    assert note_checked(copy, "answer", 1, 3, at(1, 9, 40)) == ""
    assert (copy / NOTED).read_text("utf-8") == (
        '{"read": "00_one_call", "at": "2026-12-01T09:30:00+00:00"}\n'
        '{"checked": "answer", "kept": 1, "of": 3, "at": "2026-12-01T09:40:00+00:00"}\n'
    )


def test_the_time_is_now_unless_it_is_given(copy):
    before = datetime.now(UTC).replace(microsecond=0)
    note_read(copy, "00_one_call")
    assert before <= datetime.fromisoformat(progress(copy).read["00_one_call"]) <= datetime.now(UTC)


def test_what_was_done_counts_from_its_first_time_and_for_ever(copy):
    for hour, kept in enumerate([0, 1, 3, 3, 1]):
        note_checked(copy, "answer", kept, 3, at(1, hour))
        note_read(copy, "00_one_call", at(1, hour))
    done = progress(copy)
    assert done.read == {"00_one_call": "2026-12-01T00:00:00+00:00"}
    assert done.passed == {"answer": "2026-12-01T02:00:00+00:00"}
    assert done.tries == {"answer": 5}


def test_an_exercise_without_a_promise_kept_is_not_passed(copy):
    note_checked(copy, "answer", 0, 0)
    assert progress(copy).passed == {}


def test_outside_of_a_copy_nothing_is_noted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert note_read(None, "00_one_call") == note_checked(None, "answer", 3, 3) == ""
    assert progress(None) == Progress()
    assert list(tmp_path.iterdir()) == []


def test_before_anything_is_noted_nothing_is_done(copy):
    assert progress(copy) == Progress()


# what may stand in the file

FOREIGN = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"read"',
    b"\xff\xfe\x00",
    b'{"read": 7}',
    b'{"read": ["00_one_call"]}',
    b'{"checked": "act"}',
    b'{"checked": "act", "kept": "4", "of": "4"}',
    b'{"checked": "act", "kept": NaN, "of": NaN}',
    b'{"checked": "act", "kept": %s, "of": 4}' % (b"9" * 5000),
    b"[" * 100_000,
    '{"gelesen": "früher"}'.encode("latin-1"),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda line: repr(line[:30]))
def test_a_foreign_line_is_passed_over(copy, foreign):
    note_read(copy, "00_one_call", lambda: DAY)
    with open(copy / NOTED, "ab") as file:
        file.write(foreign + b"\n")
    note_checked(copy, "answer", 3, 3, lambda: DAY)
    stamp = DAY.isoformat()
    assert progress(copy) == Progress({"00_one_call": stamp}, {"answer": stamp}, {"answer": 1})


def test_a_torn_line_does_not_swallow_the_next_one(copy):
    (copy / NOTED).write_bytes(b'{"read": "00_one_ca')
    note_read(copy, "01_structural_stop")
    note_read(copy, "02_two_halves")
    assert [*progress(copy).read] == ["01_structural_stop", "02_two_halves"]
    assert b"" not in lines(copy)[:-1]


def test_a_torn_line_does_not_hide_the_whole_one_that_follows(copy):
    (copy / NOTED).write_bytes(b'{"read": "00_one_call", "at": "2026\n')
    note_read(copy, "00_one_call", lambda: DAY)
    assert progress(copy).read == {"00_one_call": DAY.isoformat()}


def test_many_lines_that_say_the_same_are_counted_without_being_taken_apart(copy):
    note_checked(copy, "answer", 1, 3, at(1, 9))
    line = (copy / NOTED).read_bytes()
    (copy / NOTED).write_bytes(line * 400_000)
    note_checked(copy, "answer", 3, 3, lambda: DAY)
    begun = time.monotonic()
    assert progress(copy).tries == {"answer": 400_001}
    assert time.monotonic() - begun < 1


def test_an_event_without_a_time_counts_all_the_same(copy):
    (copy / NOTED).write_bytes(b'{"read": "00_one_call"}\n')
    assert progress(copy).read == {"00_one_call": ""}


WRITER = """
import sys
from pathlib import Path
from harness_zero.progress import note_checked

print("ready", flush=True)
sys.stdin.readline()
for _ in range(200):
    note_checked(Path(sys.argv[1]), "x" * int(sys.argv[2]), 1, 1)
"""


def test_kernels_that_write_at_once_lose_no_line(copy):
    sizes = ["1", "90", "900", "3000"]
    command = [sys.executable, "-c", WRITER, copy]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = [subprocess.Popen([*command, size], **pipes) for size in sizes]
    for writer in writers:
        writer.stdout.readline()
    for writer in writers:
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [*progress(copy).tries.values()] == [200] * 4
    assert len([line for line in lines(copy) if line]) == 800


# where it cannot be noted


def linked_folder(copy, away):
    (copy / ".harness_zero").rename(away / "there")
    (copy / ".harness_zero").symlink_to(away / "there")


def linked_file(copy, away):
    (away / "there").write_bytes(b"")
    (copy / NOTED).symlink_to(away / "there")


def dangling_link(copy, away):
    (copy / NOTED).symlink_to(away / "there")


def folder_for_file(copy, away):
    (copy / NOTED).mkdir()


def pipe_for_file(copy, away):
    os.mkfifo(copy / NOTED)


def file_for_folder(copy, away):
    (copy / ".harness_zero").rename(away / "there")
    (copy / ".harness_zero").touch()


UNFIT = [linked_folder, linked_file, dangling_link, folder_for_file, pipe_for_file, file_for_folder]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("unfit", UNFIT, ids=lambda change: change.__name__)
def test_what_cannot_be_kept_is_said_in_a_sentence_and_nothing_is_written(copy, tmp_path, unfit):
    away = tmp_path / "away"
    away.mkdir()
    unfit(copy, away)
    before = contents(tmp_path)
    said = note_read(copy, "00_one_call")
    assert said == note_checked(copy, "answer", 3, 3)
    assert said.startswith("Not noted in your progress: .harness_zero/progress.jsonl cannot be")
    assert said.endswith(").") and "\n" not in said
    assert contents(tmp_path) == before


@pytest.mark.parametrize("unfit", UNFIT, ids=lambda change: change.__name__)
def test_what_cannot_be_read_is_nothing_done_and_said_in_a_sentence(copy, tmp_path, unfit):
    away = tmp_path / "away"
    away.mkdir()
    unfit(copy, away)
    done = progress(copy)
    assert (done.read, done.passed) == ({}, {})
    assert done.fault.startswith(".harness_zero/progress.jsonl cannot be read (")
    assert done.fault in as_text(done, CHAPTERS, COURSE)
    assert f"<p>{done.fault}</p>" in as_page(done, CHAPTERS, COURSE)


FILLED = """
import resource, sys
from pathlib import Path
from harness_zero.progress import note_read

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
print(note_read(Path(sys.argv[1]), "00_one_call"))
"""


@pytest.mark.parametrize("room", [0, 20])
def test_where_there_is_no_room_left_that_is_said_and_the_next_line_is_whole(copy, room):
    command = [sys.executable, "-c", FILLED, copy, str(room)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout.startswith("Not noted in your progress: "), ran.stderr
    assert len((copy / NOTED).read_bytes()) == room
    note_read(copy, "01_structural_stop")
    assert [*progress(copy).read] == ["01_structural_stop"]


# the course, and what is next


def test_the_chapters_are_those_of_the_course_and_no_notebook_of_the_learners(copy):
    for name in ("01_structural_stop.old", "01_structural_stop-Copy1", "03_mine", "notes"):
        (copy / f"chapters/{name}.ipynb").touch()
    assert chapters_in(copy) == CHAPTERS


@pytest.mark.parametrize("record", ["", "{", "[]"])
def test_without_a_readable_record_a_chapter_is_known_by_its_number(copy, record):
    (copy / ".harness_zero/laid.json").write_text(record, encoding="utf-8")
    assert chapters_in(copy) == CHAPTERS


def test_the_chapters_of_the_repository_are_those_that_lie_there():
    there = sorted(path.stem for path in ROOT.glob("chapters/[0-9][0-9]_*.ipynb"))
    assert chapters_in(ROOT) == there != []


def test_a_lab_comes_after_its_chapter():
    assert [step.path for step in steps(CHAPTERS, COURSE)] == [
        "chapters/00_one_call.ipynb",
        "labs/00_one_call/00_one_call.ipynb",
        "chapters/01_structural_stop.ipynb",
        "labs/01_structural_stop/01_structural_stop.ipynb",
        "chapters/02_two_halves.ipynb",
    ]


DONE = Progress({CHAPTERS[0]: "", CHAPTERS[1]: ""}, {"answer": "", "next": "", "run": ""})
AHEAD = [
    (Progress(), "chapter 00, One call: chapters/00_one_call.ipynb"),
    (
        Progress(read={CHAPTERS[0]: ""}),
        "lab 00, exercise 1, Answer a call: labs/00_one_call/00_one_call.ipynb",
    ),
    (
        Progress(read={CHAPTERS[0]: ""}, passed={"answer": ""}),
        "lab 00, exercise 2, What is next?: labs/00_one_call/00_one_call.ipynb",
    ),
    (
        Progress(read={CHAPTERS[1]: ""}, passed={"answer": "", "next": ""}),
        "chapter 00, One call: chapters/00_one_call.ipynb",
    ),
    (DONE, "chapter 02, Two halves: chapters/02_two_halves.ipynb"),
]


@pytest.mark.parametrize(("done", "said"), AHEAD)
def test_next_is_the_first_thing_in_the_course_that_is_not_done(done, said):
    assert as_text(done, CHAPTERS, COURSE).endswith(f"\n\nNext: {said}")


def test_after_the_last_thing_there_is_nothing_next():
    assert next_step(DONE, CHAPTERS[:2], COURSE) is None
    said = "All that there is so far is done."
    assert as_text(DONE, CHAPTERS[:2], COURSE).endswith(f"\n\n{said}")
    assert as_page(DONE, CHAPTERS[:2], COURSE).endswith(f"<p>{said}</p>")


# how it is shown

SOME = Progress({CHAPTERS[0]: ""}, {"answer": ""}, {"answer": 2, "next": 1})


def test_it_is_a_line_a_chapter_then_the_totals_then_what_is_next():
    assert as_text(SOME, CHAPTERS, COURSE, folder="mine/") == (
        "chapter        read    exercises  points\n"
        "00 One call    yes     1 of 2     3 of 7\n"
        "01 The stop    no      0 of 1     0 of 5\n"
        "02 Two halves  no      -          -\n"
        "in all         1 of 3  1 of 3     3 of 12\n"
        "\n"
        "Next: lab 00, exercise 2, What is next?: mine/labs/00_one_call/00_one_call.ipynb"
    )


def test_a_lab_whose_chapter_is_not_there_is_shown_without_one():
    told = as_text(SOME, [], COURSE).splitlines()
    assert told[1].split() == ["00", "One", "call", "-", "1", "of", "2", "3", "of", "7"]


def test_chapters_and_exercises_that_are_no_more_are_not_shown():
    gone = Progress({"09_gone": ""} | SOME.read, {"lost": ""} | SOME.passed)
    assert as_text(gone, CHAPTERS, COURSE) == as_text(SOME, CHAPTERS, COURSE)
    assert as_page(gone, CHAPTERS, COURSE) == as_page(SOME, CHAPTERS, COURSE)


class Table(HTMLParser):
    """The rows of a page's table, what its header cells head, and where its links lead."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.scopes, self.links, self.inside = [], [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.inside = True
        self.scopes += [value for name, value in attributes if name == "scope"]
        self.links += [value for name, value in attributes if name == "href"]

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("th", "td")

    def handle_data(self, words):
        if self.inside:
            self.rows[-1][-1] += words


def test_the_page_says_the_same_with_header_cells_that_name_columns_and_rows():
    table = Table(as_page(SOME, CHAPTERS, COURSE))
    assert table.rows == [
        ["chapter", "read", "exercises", "points"],
        ["00 One call", "yes", "1 of 2, lab 00", "3 of 7"],
        ["01 The stop", "no", "0 of 1, lab 01", "0 of 5"],
        ["02 Two halves", "no", "-", "-"],
        ["in all", "1 of 3", "1 of 3", "3 of 12"],
    ]
    assert table.scopes == ["col"] * 4 + ["row"] * 4


def test_every_link_leads_from_the_chapters_to_a_notebook(copy):
    links = Table(as_page(SOME, CHAPTERS, COURSE)).links
    assert len(links) == 6
    assert all((copy / "chapters" / link).is_file() for link in links)


def test_the_page_leaves_all_colours_to_the_notebook_so_that_none_means_anything():
    page = as_page(SOME, CHAPTERS, COURSE)
    assert not any(word in page for word in ("color", "background", "class="))


def test_a_title_is_no_markup():
    odd = {"00_one_call": Lab("00_one_call", "<b>1 & 2</b>", (exercise("a", "<i>", 1),))}
    page = as_page(Progress(read={"00_one_call": ""}), ["00_one_call"], odd)
    assert "&lt;b&gt;1 &amp; 2&lt;/b&gt;" in page and "&lt;i&gt;" in page
    assert "<b>" not in page and "<i>" not in page


# in a notebook


def test_in_the_repository_the_front_page_shows_nothing_done(monkeypatch):
    monkeypatch.chdir(ROOT / "chapters")
    shown = front_page()
    assert repr(shown) == as_text(Progress(), chapters_in(ROOT), LABS)
    assert as_page(Progress(), chapters_in(ROOT), LABS) in shown._repr_html_()


def test_in_a_copy_the_front_page_shows_what_was_done(copy, monkeypatch):
    monkeypatch.chdir(copy / "chapters")
    chapter_read("00_one_call")
    assert repr(front_page()).splitlines()[1].split("  ")[1].strip() == "yes"


def test_a_chapter_that_was_read_is_noted_in_the_copy(copy, monkeypatch):
    monkeypatch.chdir(copy / "chapters")
    chapter_read("01_structural_stop")
    assert [*progress(copy).read] == ["01_structural_stop"]


def test_a_chapter_of_the_repository_says_the_same_and_notes_nothing(copy, monkeypatch):
    monkeypatch.chdir(copy / "chapters")
    told = [repr(chapter_read("00_one_call")) for _ in range(2)]
    note_checked(copy, LABS["00_one_call"].exercises[0].name, 1, 1)
    monkeypatch.chdir(ROOT / "chapters")
    assert {*told, repr(chapter_read("00_one_call"))} == {told[0]}
    assert not (ROOT / NOTED).exists()


def test_after_a_chapter_comes_its_lab_with_its_minutes():
    shown = followed("00_one_call", CHAPTERS, COURSE)
    assert repr(shown) == (
        "Chapter 00 is read.\n"
        "Next: lab 00, One call, 20 minutes: labs/00_one_call/00_one_call.ipynb"
    )
    link = '<a href="../labs/00_one_call/00_one_call.ipynb">lab 00, One call, 20 minutes</a>'
    assert shown.page == f"<p>Chapter 00 is read.</p>\n<p>Next: {link}</p>"


def test_after_a_chapter_without_a_lab_comes_the_next_chapter_if_there_is_one():
    assert repr(followed("00_one_call", CHAPTERS, {})) == (
        "Chapter 00 is read.\nNext: chapter 01, Structural stop: chapters/01_structural_stop.ipynb"
    )
    last = "Chapter 02 is read. It is the last one so far."
    assert repr(followed("02_two_halves", CHAPTERS, COURSE)) == last


def test_a_chapter_that_cannot_be_noted_says_so_and_what_comes_next_all_the_same(copy, monkeypatch):
    (copy / NOTED).mkdir()
    monkeypatch.chdir(copy / "chapters")
    told = repr(chapter_read("00_one_call")).splitlines()
    assert told[1].startswith("Not noted in your progress: ") and told[2].startswith("Next: ")


@pytest.mark.parametrize("name", ["", "00", "start", "09_gone", "../labs", None, ["00_one_call"]])
def test_an_unknown_chapter_is_a_sentence_that_names_those_there_are(copy, monkeypatch, name):
    monkeypatch.chdir(copy / "chapters")
    with pytest.raises(SetupFault, match=r"^no chapter .*; there are 00_one_call, 01_struct.*\.$"):
        chapter_read(name)
    assert not (copy / NOTED).exists()


# in a terminal


def harness_zero(*args, **options):
    command = [sys.executable, "-m", "harness_zero.cli", *args]
    options = {"capture_output": True, "text": True, "timeout": 60} | options
    return subprocess.run(command, **options)


@pytest.mark.parametrize(("where", "before"), [("labs", "{copy}/"), ("..", "workspace/")])
def test_the_terminal_shows_the_same_for_the_copy_around_it_or_named(copy, where, before):
    note_read(copy, "00_one_call")
    named = () if copy_around(copy / where) else ("--to", "workspace")
    told = harness_zero("progress", *named, cwd=copy / where)
    folder = before.format(copy=copy)
    assert told.stdout == as_text(progress(copy), CHAPTERS, LABS, folder) + "\n"
    assert (told.returncode, told.stderr) == (0, "")


PLAIN = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1:strict"},
]


@pytest.mark.parametrize("plain", PLAIN, ids=["ascii", "latin-1"])
def test_a_narrow_terminal_that_does_not_know_every_letter_gets_every_line(copy, plain):
    (copy / "chapters/03_ππ.ipynb").touch()
    (copy / ".harness_zero/laid.json").write_text("{}", encoding="utf-8")
    told = harness_zero("progress", cwd=copy, env=os.environ | plain | {"COLUMNS": "20"})
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1].startswith("Next: ")


@pytest.mark.parametrize("folder", ["nowhere", "labs", "my own"])
def test_a_folder_that_is_no_copy_is_said_in_a_sentence(copy, folder):
    told = harness_zero("progress", "--to", folder, cwd=copy)
    assert told.stderr == (
        f"Error: There is no copy of the course in {folder}/:"
        f" harness-zero start --to {shlex.quote(folder)} makes one.\n"
    )
    assert (told.returncode, told.stdout) == (2, "")


@pytest.mark.parametrize("verb", [["progress"], ["reset", "0"], ["check", "0"]])
def test_a_file_is_no_place_to_start_and_no_name_is_no_folder(copy, verb):
    told = harness_zero(*verb, "--to", "/etc/passwd", cwd=copy)
    assert told.stderr == "Error: /etc/passwd is a file: name the folder of your copy.\n"
    unnamed = harness_zero(*verb, "--to", "", cwd=copy)
    assert unnamed.stderr == "Error: The folder after --to is empty: name one.\n"
    assert (told.returncode, unnamed.returncode) == (2, 2)


@pytest.mark.parametrize("named", [(), ("--to", "{copy}")])
def test_a_copy_whose_record_is_lost_is_named_with_what_brings_it_back(copy, named):
    (copy / "chapters/start.ipynb").touch()
    (copy / ".harness_zero/laid.json").unlink()
    named = [each.format(copy=copy) for each in named]
    told = harness_zero("progress", *named, cwd=copy / "labs")
    assert told.stderr == (
        f"Error: {copy}/ has lost its .harness_zero/laid.json:"
        f" harness-zero start --to {copy} brings it back, and changes nothing of yours.\n"
    )


def test_in_a_copy_whose_record_is_lost_a_notebook_says_what_is_not_noted(copy, monkeypatch):
    (copy / ".harness_zero/laid.json").unlink()
    monkeypatch.chdir(copy / "chapters")
    lost = f"{copy}/ has lost its .harness_zero/laid.json"
    assert lost in repr(front_page()) and lost in repr(chapter_read("00_one_call"))


@pytest.mark.parametrize("verb", ["progress", "start"])
def test_what_cannot_be_written_to_the_terminal_is_a_sentence(copy, verb):
    with open("/dev/full", "w") as full:
        named = ("--to", copy)
        command = [sys.executable, "-m", "harness_zero.cli", verb, *named]
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "Error: What there is to say cannot be written (No space left on device).\n"
    assert (told.stderr, told.returncode) == (said, 1)


def test_who_is_sent_to_a_lab_that_is_gone_is_told_what_brings_it_back(copy):
    for name in chapters_in(copy):
        note_read(copy, name)
    (copy / "labs/00_one_call/00_one_call.ipynb").unlink()
    told = harness_zero("progress", cwd=copy).stdout.splitlines()
    gone = "It is not there: harness-zero reset 00 brings it back."
    assert told[-1] == gone
    page = as_page(progress(copy), CHAPTERS, COURSE, copy)
    assert f"<p>{gone}</p>" in page


GONE = """
import os, sys, tempfile
os.chdir(folder := tempfile.mkdtemp())
os.rmdir(folder)
from harness_zero.cli import main
main()
"""


def in_a_folder_that_is_gone(*args):
    command = [sys.executable, "-c", GONE, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "verb", [["progress"], ["start", "--to", "foo"], ["progress", "--to", "foo"], ["check", "0"]]
)
def test_a_terminal_whose_folder_is_gone_is_told_so(verb):
    told = in_a_folder_that_is_gone(*verb)
    assert told.stderr == "Error: The folder that you are in is gone: cd to another one.\n"


def test_where_the_copy_is_named_in_full_every_verb_works_in_a_folder_that_is_gone(tmp_path):
    mine = tmp_path / "mine"
    assert in_a_folder_that_is_gone("start", "--to", mine).stdout.startswith(f"{mine}/ is ready: ")
    lab = mine / "labs/00_one_call/00_one_call.ipynb"
    lab.write_text("{")
    told = in_a_folder_that_is_gone("reset", "0", "--to", mine)
    assert f"Yours is kept in {lab.with_suffix('.old.ipynb')}." in told.stdout
    told = in_a_folder_that_is_gone("check", "0", "--to", mine)
    assert told.stdout.endswith(" points by visible checks.\n") and not told.stderr
    told = in_a_folder_that_is_gone("progress", "--to", mine)
    assert f"Next: chapter 00, One call remembers nothing: {mine}/chapters/" in told.stdout
