"""Grades of record: what is handed in is graded or named with the reason, always the same way."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from handed_in import cell as cell_of
from handed_in import filled, grade_id, laid_down, solution

from harness_zero.cli import main
from harness_zero.grading.exercises import LABS
from harness_zero.grading.record import isolation
from harness_zero.grading.record.plan import plan
from harness_zero.grading.record.submissions import submission

SECRET = "a secret of sixteen bytes and more"
RIGHT = """
def answer(call, tools):
    return tool_result(call["id"], str(tools[call["name"]](**call["input"])))
"""


@pytest.fixture
def seed(tmp_path):
    path = tmp_path / "seed"
    path.write_text(SECRET)
    return path


def grade(*args, code=0):
    done = CliRunner().invoke(main, ["grade", "--jobs", "1", *map(str, args)])
    assert done.exit_code == code, done.output
    return done.output


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def handed_in(folder):
    """Three learners: one is right, one is wrong, one has written nothing."""
    wrong = filled(solution(), answer="def answer(call, tools): return None")
    return [
        laid_down(solution(), folder, "ada"),
        laid_down(wrong, folder, "bob"),
        laid_down(filled(solution(), answer=""), folder, "Zoë 🦊 of O'Neill"),
    ]


def test_a_book_has_points_reasons_and_totals(tmp_path, seed):
    out, pages = tmp_path / "grades.csv", tmp_path / "pages"
    said = grade(*handed_in(tmp_path), "--secret", seed, "--out", out, "--feedback", pages)
    assert "3 graded, 0 not" in said
    found = {row["learner"]: row for row in rows(out)}
    assert [found["ada"][name] for name in ("total", "of", "answer")] == ["12", "12", "3"]
    assert [found["bob"][name] for name in ("total", "of", "answer")] == ["9", "12", "0"]
    assert "a tool_result block" in found["bob"]["notes"]
    assert "its cell defines no such function" in found["Zoë 🦊 of O'Neill"]["notes"]

    texts = [page.read_text("utf-8") for page in pages.iterdir()]
    assert len(texts) == 3 and not any(SECRET in text for text in (*texts, said))
    assert any("<dt>expected</dt>" in text for text in texts)


def test_grading_again_changes_nothing_and_takes_what_is_kept(tmp_path, seed):
    files, out = handed_in(tmp_path), tmp_path / "grades.csv"
    grade(*files, "--secret", seed, "--out", out)
    before, kept = out.read_bytes(), (tmp_path / "grades.csv.kept.jsonl").read_bytes()
    grade(*reversed(files), files[0], "--secret", seed, "--out", out)
    assert out.read_bytes() == before
    assert (tmp_path / "grades.csv.kept.jsonl").read_bytes() == kept
    (tmp_path / "grades.csv.kept.jsonl").unlink()
    grade(*files, "--secret", seed, "--out", out)
    assert out.read_bytes() == before


def test_a_wrong_answer_is_told_in_the_same_words_each_time(tmp_path, seed):
    source = "def answer(call, tools): return tools[call['name']]"
    path, told = laid_down(filled(solution(), answer=source), tmp_path), set()
    for n in range(2):
        grade(path, "--secret", seed, "--out", tmp_path / f"{n}.csv")
        told.add(rows(tmp_path / f"{n}.csv")[0]["notes"])
    assert len(told) == 1 and "function" in (words := told.pop()) and " at 0x" not in words


AS_IN_THE_NOTEBOOK = {
    "magics of all kinds": "%%time\n%matplotlib inline\nif True:\n    !ls\nfiles = !ls\nlen?\n"
    + RIGHT,
    "a line that begins with %": "text = ('%s'\n% 1)\n" + RIGHT,
    "a text whose line begins with !": 'if len("""\n!\n""") != 3: raise OSError\n' + RIGHT,
    "await at the top": "import asyncio\nawait asyncio.sleep(0)\n" + RIGHT,
    "what is shown": "from IPython.display import Markdown\ndisplay(Markdown('x'))\n" + RIGHT,
    "a class that is pickled": (
        "import pickle\nclass A: pass\npickle.loads(pickle.dumps(A()))\n" + RIGHT
    ),
    "a main program": RIGHT + "if __name__ != '__main__': answer = None\n",
    "a class that can be called": (
        "class Answers:\n"
        "    def __call__(self, call, tools):\n"
        "        return tool_result(call['id'], str(tools[call['name']](**call['input'])))\n"
        "answer = Answers()\n"
    ),
    "annotations of later": "from __future__ import annotations\n"
    + RIGHT.replace("tools)", "tools: X)"),
    "much that is printed": RIGHT.replace("    return", "    print('x' * 10**6)\n    return"),
    "an event loop": (
        "import asyncio\n"
        "async def later(call, tools):\n"
        "    return tool_result(call['id'], str(tools[call['name']](**call['input'])))\n"
        "def answer(call, tools): return asyncio.run(later(call, tools))\n"
    ),
    "a thread": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def answer(call, tools):\n"
        "    with ThreadPoolExecutor() as pool:\n"
        "        output = pool.submit(tools[call['name']], **call['input']).result()\n"
        "    return tool_result(call['id'], str(output))\n"
    ),
}


def test_what_works_in_a_notebook_works_for_the_record(tmp_path, seed):
    files = [
        laid_down(filled(solution(), answer=source), tmp_path, what)
        for what, source in AS_IN_THE_NOTEBOOK.items()
    ]
    grade(*files, "--secret", seed, "--out", tmp_path / "g.csv")
    assert {row["learner"]: row["notes"] for row in rows(tmp_path / "g.csv")} == dict.fromkeys(
        AS_IN_THE_NOTEBOOK, ""
    )


def test_a_cell_that_was_split_counts_as_one(tmp_path, seed):
    notebook = filled(solution(), answer="def text(tool, input):\n    return str(tool(**input))\n")
    at = next(n for n, each in enumerate(notebook["cells"]) if grade_id(each) == "answer")
    second = RIGHT.replace(
        'str(tools[call["name"]](**call["input"]))', "text(tools[call['name']], call['input'])"
    )
    notebook["cells"].insert(at + 1, cell_of(second, grade_id="answer", solution=True))
    grade(laid_down(notebook, tmp_path), "--secret", seed, "--out", tmp_path / "g.csv")
    (found,) = rows(tmp_path / "g.csv")
    assert found["total"] == "12" and "count as one" in found["notes"]


def test_what_python_says_of_a_slip_is_told(tmp_path, seed):
    path = laid_down(filled(solution(), answer="def answer(call, tools:"), tmp_path)
    grade(path, "--secret", seed, "--out", tmp_path / "g.csv")
    assert (
        "SyntaxError: '(' was never closed (in your cell, line 1: `def answer(call, tools:`)"
        in rows(tmp_path / "g.csv")[0]["notes"]
    )


def test_a_line_that_fails_behind_an_answer_costs_it_nothing_as_in_the_notebook(tmp_path, seed):
    source = RIGHT + "print(answer(my_own_call, tools))\n"
    path = laid_down(filled(solution(), answer=source), tmp_path)
    grade(path, "--secret", seed, "--out", tmp_path / "g.csv")
    assert rows(tmp_path / "g.csv")[0]["total"] == "12"


def test_a_file_that_changed_is_graded_anew(tmp_path, seed):
    out = tmp_path / "grades.csv"
    grade(*handed_in(tmp_path), "--secret", seed, "--out", out)
    path = laid_down(filled(solution(), wrong_sums=""), tmp_path, "ada")
    grade(path, "--secret", seed, "--out", out)
    assert rows(out)[0]["total"] == "10"


def test_a_run_that_was_killed_goes_on(tmp_path, seed):
    out, kept = tmp_path / "grades.csv", tmp_path / "grades.csv.kept.jsonl"
    files = [laid_down(solution(), tmp_path, f"learner_{n}") for n in range(12)]
    argv = ["grade", "--jobs", "1", *files, "--secret", seed, "--out", out]
    program = "from harness_zero.cli import main; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, argv)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while not (kept.exists() and kept.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < until and run.poll() is None
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    done = kept.read_bytes().count(b"\n")
    assert done < 12 and not out.exists()
    with open(kept, "a") as file:
        file.write('{"key": "torn')
    grade(*files, "--secret", seed, "--out", out)
    assert [row["total"] for row in rows(out)] == ["12"] * 12


def test_shards_together_are_the_whole(tmp_path, seed):
    files = handed_in(tmp_path)
    parts = [tmp_path / f"{n}.csv" for n in (1, 2)]
    for n, part in enumerate(parts, 1):
        grade(*files, "--secret", seed, "--out", part, "--shard", f"{n}/2")
    grade(*files, "--secret", seed, "--out", tmp_path / "all.csv")
    said = grade("--merge", *parts, "--out", tmp_path / "merged.csv")
    assert f"in {tmp_path / 'merged.csv'}." in said
    assert (tmp_path / "merged.csv").read_text("utf-8") == (tmp_path / "all.csv").read_text("utf-8")


def test_books_that_differ_about_a_file_are_not_merged(tmp_path, seed):
    (path,) = [laid_down(solution(), tmp_path, "ada")]
    grade(path, "--secret", seed, "--out", tmp_path / "1.csv")
    laid_down(filled(solution(), answer=""), tmp_path, "ada")
    grade(path, "--secret", seed, "--out", tmp_path / "2.csv")
    books = [tmp_path / "1.csv", tmp_path / "2.csv"]
    assert "differ about" in grade("--merge", *books, "--out", tmp_path / "m.csv", code=1)
    assert "no book" in grade("--merge", seed, "--out", tmp_path / "m.csv", code=1)


BAD = {
    "is missing": (None, "no such file"),
    "is a page": (b"<html>", "not JSON"),
    "is a list": (b"[]", "no list of cells"),
    "holds no code": (b'{"cells": [{"cell_type": "markdown"}]}', "no code cell"),
    "is of another course": (
        b'{"cells": [{"cell_type": "code", "source": "1", "metadata": {}}]}',
        "a lab of this course",
    ),
    "is deep": (b'{"cells":' + b"[" * 100_000, "not JSON"),
    "is no text": (b"\xff\xfe\x00", "not JSON"),
    "is huge": (b" " * 21_000_000, "bytes, of"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_graded_is_named_with_the_reason(what, tmp_path):
    content, words = BAD[what]
    path = tmp_path / "ada.ipynb"
    if content is not None:
        path.write_bytes(content)
    found = submission(path)
    assert found.lab is None and words in found.fault


def windows(notebook):
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return json.dumps(notebook).encode("utf-8-sig")


def of_4_0(notebook):
    for cell in notebook["cells"]:
        cell.pop("id", None)
        cell["metadata"].pop("tags", None)
    return json.dumps({**notebook, "nbformat_minor": 0}).encode()


def of_colab(notebook):
    for at, cell in enumerate(notebook["cells"]):
        cell["metadata"]["id"] = f"x{at}"
        cell["metadata"]["colab"] = {"base_uri": "https://localhost:8080/"}
        cell["source"] = "".join(cell["source"]).splitlines(True)
    return json.dumps({**notebook, "metadata": {"colab": {"provenance": []}}}).encode()


def of_vs_code(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell.pop("id", None)
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode()


@pytest.mark.parametrize("saved", [windows, of_4_0, of_colab, of_vs_code])
def test_a_notebook_is_read_as_others_save_it(saved, tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(saved(solution()))
    found = submission(path)
    assert (found.learner, found.lab.name, found.notes) == ("ada", "00_one_call", ())
    assert {*found.cells} == {"conversation", "answer", "next-array", "wrong-sums"}


def test_a_bad_file_stops_no_other_and_two_of_one_learner_are_told(tmp_path, seed):
    out = tmp_path / "grades.csv"
    ours = laid_down(solution(), tmp_path, "ada")
    second = laid_down(solution(), tmp_path / "late", "ada")
    grade(ours, second, tmp_path / "gone.ipynb", "--secret", seed, "--out", out)
    found = {row["file"]: row for row in rows(out)}
    assert "no such file" in found[str(tmp_path / "gone.ipynb")]["notes"]
    assert str(second) in found[str(ours)]["notes"] and found[str(ours)]["total"] == "12"


def test_without_isolation_it_grades_and_says_so(tmp_path, seed, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    isolation.isolates.cache_clear()
    try:
        out = tmp_path / "grades.csv"
        said = grade(laid_down(solution(), tmp_path), "--secret", seed, "--out", out)
    finally:
        isolation.isolates.cache_clear()
    assert "not of record" in said
    assert [(row["of_record"], row["total"]) for row in rows(out)] == [("no", "12")]


def test_a_secret_is_asked_for_and_not_too_short(tmp_path):
    path = laid_down(solution(), tmp_path)
    assert "--secret is missing" in grade(path, "--out", tmp_path / "g.csv", code=2)
    (tmp_path / "short").write_text("too short")
    args = (path, "--out", tmp_path / "g.csv", "--secret", tmp_path / "short")
    assert "less than 16 bytes" in grade(*args, code=1)


def test_a_name_is_no_formula(tmp_path, seed):
    out = tmp_path / "grades.csv"
    grade(laid_down(solution(), tmp_path, "=1+1"), "--secret", seed, "--out", out)
    assert rows(out)[0]["learner"] == "'=1+1"


@pytest.mark.parametrize("lab", LABS)
def test_every_exercise_has_its_cell_in_the_plan_and_no_piece_of_ours_is_shown(lab):
    there = plan(lab)
    names = [slot.exercise for slot in there.slots if slot.exercise]
    assert names == [exercise.name for exercise in LABS[lab].exercises]
    assert not {*names} & {name for shown in there.settings["shown"].values() for name in shown}
