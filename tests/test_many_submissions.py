"""Many submissions: what is held in memory does not grow with them, and none is lost."""

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc

import pytest
from handed_in import laid_down, solution

from harness_zero.grading.record import many
from harness_zero.grading.record.book import Kept, NotKept
from harness_zero.grading.record.grade import Room

COMMAND = [sys.executable, "-c", "from harness_zero.cli import main; main()", "grade"]


def held_after(count, folder):
    """The most bytes that were held while so many bad files were graded, and their pages read."""
    room = Room(folder, isolated=False, secret=b"of sixteen bytes")
    files = [folder / f"{n}.ipynb" for n in range(count)]
    kept = Kept(folder / f"{count}.jsonl", "one grader")
    tracemalloc.start()
    try:
        keys = many.grade_all(files, room, kept, jobs=1)
        pages = sum(len(kept[key]["page"]) for key in keys)
        return tracemalloc.get_traced_memory()[1], pages
    finally:
        tracemalloc.stop()
        kept.close()


def test_memory_holds_no_pages(tmp_path):
    few, _ = held_after(200, tmp_path)
    most, pages = held_after(2000, tmp_path)
    assert (most - few) / 1800 < 600 < pages / 2000  # bytes for each more: a path, and a place


def test_only_a_few_submissions_are_under_way_at_once(tmp_path):
    room, asked = Room(tmp_path, isolated=False, secret=b"of sixteen bytes"), []

    def files():
        for number in range(40):
            asked.append(number)
            yield tmp_path / f"{number}.ipynb"

    for done, _ in enumerate(many.in_parallel(files(), room, jobs=1)):
        assert len(asked) - done <= 1 + many.AHEAD
    assert len(asked) == 40


def test_what_is_kept_is_found_again_by_whoever_comes_next(tmp_path):
    path = tmp_path / "kept.jsonl"
    kept = Kept(path, "one grader")
    keys = [kept.key(tmp_path / name, "digest") for name in "abc"]
    for number, key in enumerate(keys):
        kept.add(key, {"row": {"total": str(number)}})
    kept.close()
    with open(path, "a") as file:
        file.write('{"key": "torn')
    kept = Kept(path, "one grader")
    assert [kept[key]["row"]["total"] for key in keys] == ["0", "1", "2"]
    late = kept.key(tmp_path / "d", "digest")
    kept.add(late, {"row": {"total": "3"}})
    kept.close()
    kept = Kept(path, "one grader")
    assert kept[late]["row"]["total"] == "3"
    kept.close()


def test_another_grader_finds_nothing_in_what_is_kept(tmp_path):
    kept = Kept(tmp_path / "kept.jsonl", "one grader")
    kept.add(kept.key(tmp_path, "digest"), {"row": {}})
    kept.close()
    other = Kept(tmp_path / "kept.jsonl", "another")
    assert other.key(tmp_path, "digest") not in other
    other.close()


def test_what_the_grader_itself_could_not_grade_is_tried_again(tmp_path):
    kept = Kept(tmp_path / "kept.jsonl", "one grader")
    key = kept.key(tmp_path, "digest")
    kept.add(key, many.again(tmp_path / "ada.ipynb", "the grader failed"))
    assert key in kept
    kept.close()
    kept = Kept(tmp_path / "kept.jsonl", "one grader")
    assert key not in kept
    kept.close()


@pytest.mark.parametrize("content", ["a,b,c\n", "\x00\x00", '{"cells": []}\n'])
def test_a_file_that_holds_something_else_is_not_written_into(content, tmp_path):
    path = tmp_path / "kept.jsonl"
    path.write_text(content)
    with pytest.raises(NotKept, match="something else"):
        Kept(path, "one grader")
    assert path.read_text() == content


def test_two_runs_do_not_grade_into_one_file(tmp_path):
    pytest.importorskip("fcntl")
    kept = Kept(tmp_path / "kept.jsonl", "one grader")
    with pytest.raises(NotKept, match="another run"):
        Kept(tmp_path / "kept.jsonl", "one grader")
    kept.close()


@pytest.fixture
def at_work(tmp_path):
    """A grading that has come to its second submission of eight, and what it was told to do."""
    (tmp_path / "seed").write_text("a secret of sixteen bytes and more")
    files = [laid_down(solution(), tmp_path, f"learner_{n}") for n in range(8)]
    args = [*files, "--secret", tmp_path / "seed", "--out", tmp_path / "grades.csv", "--jobs", "1"]
    argv = [*COMMAND, *map(str, args)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen(argv, start_new_session=True, **pipes)
    kept, until = tmp_path / "grades.csv.kept.jsonl", time.monotonic() + 60
    while not (kept.exists() and kept.read_bytes().count(b"\n")):
        assert time.monotonic() < until and run.poll() is None
        time.sleep(0.02)
    yield run, argv
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()


def goes_on(argv, folder):
    """Whether the same command finishes what was begun, and grades nothing twice."""
    kept = folder / "grades.csv.kept.jsonl"
    before = kept.read_bytes()
    done = subprocess.run(argv, capture_output=True, text=True)
    keys = [json.loads(line)["key"] for line in kept.read_text().splitlines()]
    assert kept.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    return done.returncode == 0 and "8 graded" in done.stdout and len({*keys}) == len(keys) == 8


def test_an_interrupt_is_told_in_a_sentence_and_the_next_run_goes_on(at_work, tmp_path):
    run, argv = at_work
    os.killpg(run.pid, signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert run.returncode == 130 and "goes on where it was" in said and "Traceback" not in said
    assert not (tmp_path / "grades.csv").exists()
    assert goes_on(argv, tmp_path)


def test_who_grades_ends_with_the_one_who_asked(at_work, tmp_path):
    run, argv = at_work
    os.kill(run.pid, signal.SIGKILL)  # it alone, not its graders
    run.communicate(timeout=60)  # their standard error ends when they do
    assert goes_on(argv, tmp_path)
