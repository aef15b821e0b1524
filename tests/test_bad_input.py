"""Whatever is handed in is graded, or named with the reason, and the rest goes on."""

import csv
import json
import os
import resource
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed_in import cell, filled, grade_id, laid_down, solution

from harness_zero.cli import main
from harness_zero.grading.record.submissions import submission

SECRET = "a secret of sixteen bytes and more"
FULL, ALL_BUT_ONE = "12", "9"  # with and without the points of `answer`
LAB = "00_one_call"
CHAPTERS = Path(__file__).parents[1] / "chapters"


def run(*args):
    done = CliRunner().invoke(main, ["grade", "--jobs", "1", *map(str, args)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# files, each of which is one learner's


def without_ids(notebook):
    for each in notebook["cells"]:
        each.pop("id", None)
    return notebook


def of_minor(minor, lines=False):
    notebook = {**solution(), "nbformat_minor": minor}
    for each in notebook["cells"]:
        each["source"] = "".join(each["source"])
        if lines:
            each["source"] = each["source"].splitlines(True)
    return json.dumps(notebook if minor >= 5 else without_ids(notebook))


def windows(in_cells):
    notebook = solution()
    for each in notebook["cells"]:
        text = "".join(each["source"])
        each["source"] = text.replace("\n", "\r\n") if in_cells else text
    return json.dumps(notebook, indent=1).replace("\n", "\n" if in_cells else "\r\n")


def of_3():
    cells = [{**each, "input": each.pop("source")} for each in solution()["cells"]]
    return json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]})


def of_vs_code():
    notebook = without_ids(solution())
    for at, each in enumerate(notebook["cells"]):
        each["id"] = f"W{at}sZmlsZQ=="
        each["metadata"] |= {"vscode": {"languageId": "python"}}
        each["source"] = "".join(each["source"]).splitlines(True)
    notebook["metadata"] = {"kernelspec": {"display_name": ".venv", "name": "python3"}}
    return json.dumps({**notebook, "nbformat_minor": 2}, indent=2, ensure_ascii=False)


def of_colab():
    notebook = without_ids(solution())
    for at, each in enumerate(notebook["cells"]):
        each["metadata"] |= {"id": f"x{at}", "outputId": f"0c{at}", "cellView": "form"}
        each["metadata"]["colab"] = {"base_uri": "https://localhost:8080/", "height": 35}
        lines = "".join(each["source"]).splitlines(True)
        each["source"] = ["#@title A cell { run: 'auto' }\n", *lines]
        if grade_id(each) == "answer":
            each["source"] = ["%%my_harness answer\n", "!pip list\n", "answer?\n", *each["source"]]
    notebook["metadata"] = {"colab": {"provenance": [], "toc_visible": True}}
    return json.dumps({**notebook, "nbformat_minor": 0})


def who_lost_its_metadata(place):
    """Where a program took nbgrader's metadata out, a cell's own id is left."""
    notebook = solution()
    for each in notebook["cells"]:
        name = grade_id(each) or each["id"]
        each["metadata"] = {"id": each.pop("id") and name} if place == "in the metadata" else {}
    return json.dumps(notebook)


def deep(source):
    return json.dumps(filled(solution(), answer=source))


def with_more(**more):
    return json.dumps({**solution(), **more})


GRADED = {
    **{f"format 4.{minor}, in one piece": lambda m=minor: of_minor(m) for minor in range(6)},
    **{f"format 4.{minor}, in lines": lambda m=minor: of_minor(m, True) for minor in range(6)},
    "a minor format that is not there yet": lambda: of_minor(99),
    "Windows line ends in cells": lambda: windows(True),
    "Windows line ends in the file": lambda: windows(False),
    "UTF-8 with a mark": lambda: json.dumps(solution()).encode("utf-8-sig"),
    "UTF-16": lambda: json.dumps(solution(), ensure_ascii=False).encode("utf-16"),
    "saved by VS Code": of_vs_code,
    "saved by Colab": of_colab,
    "metadata lost, ids kept": lambda: who_lost_its_metadata("at the cell"),
    "metadata lost, ids in it": lambda: who_lost_its_metadata("in the metadata"),
    "NaN in it": lambda: with_more(metadata={"score": float("nan"), "most": float("inf")}),
    "much beside its cells": lambda: with_more(attachments={"x": "y" * 10**6}, cells_={}),
    "an odd cell": lambda: with_more(cells=[*solution()["cells"], None, 7, {"cell_type": []}]),
}
COSTS_ITS_OWN = {
    "brackets in brackets": lambda: deep("(" * 90_000),
    "lists in lists": lambda: deep("answer = " + "[" * 3_000 + "]" * 3_000),
    "a long chain": lambda: deep("answer = a" + ".b" * 40_000),
    "minus of minus": lambda: deep("answer = " + "-" * 90_000 + "1"),
    "tab after tab": lambda: deep("".join(" " * n + "if 1:\n" for n in range(200))),
    "a NUL": lambda: deep("def answer(call, tools):\n    return '\0'"),
    "half a letter": lambda: deep("def answer(call, tools):\n    return '\ud800'"),
    "a cell that is too long": lambda: deep("#" * 200_000),
    "a magic alone": lambda: deep("%%bash\nrm -rf /"),
}
NOT_GRADED = {
    "empty": (lambda: "", "the file is empty"),
    "blanks": (lambda: " \n\t\n", "the file is empty"),
    "a page": (lambda: "<html>", "not JSON"),
    "cut in the middle": (lambda: json.dumps(solution())[:9_000], "not JSON"),
    "pickled": (lambda: b"\x80\x04\x95\x00\xff\xfe", "not JSON"),
    "format 3": (of_3, "no notebook of format 4"),
    "a number": (lambda: "7", "no notebook of format 4"),
    "a chapter": (
        lambda: (CHAPTERS / "01_structural_stop.ipynb").read_bytes(),
        "none of its cells is one of a lab's",
    ),
    "metadata deep": (lambda: with_more(metadata="X").replace('"X"', "[" * 90_000), "not JSON"),
}
NAMES = {
    "spaces": "Ada  Lovelace ",
    "accents": "Zoë Ångström",
    "emoji": "👩🏽‍🔬 🦊",
    "newlines": "two\nlines\r\n",
    "quotes": 'O\'Neill "Bo" `x` $HOME',
    "a leading dash": "--help",
    "a formula": "=SUM(1)",
    "commas": "a,b;c\td",
    "right to left": "ש‏לום",
    "great length": "x" * 250,
    "bytes that are no text": os.fsdecode(b"caf\xe9"),
    "HTML": "<b>&amp;<script>",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """One grading of all of them together: the rows by learner's folder, and the pages."""
    folder = tmp_path_factory.mktemp("many")
    seed, out, files = folder / "seed", folder / "grades.csv", {}
    seed.write_text(SECRET)
    made = {**GRADED, **COSTS_ITS_OWN, **{name: make for name, (make, _) in NOT_GRADED.items()}}
    for number, (name, make) in enumerate(made.items()):
        files[name] = folder / f"learner_{number}" / LAB / f"{LAB}.ipynb"
        files[name].parent.mkdir(parents=True)
        content = make()
        raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        files[name].write_bytes(raw)
    for name, learner in NAMES.items():
        files[name] = laid_down(solution(), folder, learner)
    files["missing"] = folder / "gone" / f"{LAB}.ipynb"
    files["a folder"] = folder / "learner_0"
    files["a device"] = Path("/dev/zero")
    files["unreadable"] = Path("/proc/self/mem")
    done = run(*files.values(), "--secret", seed, "--out", out, "--feedback", folder / "pages")
    assert done.exit_code == 0, done.output
    found = rows(out)
    assert len(found) == len(files)
    by_file = {row["file"]: row for row in found}
    pages = [*(folder / "pages").iterdir()]
    assert len(pages) == len(files)
    return {name: by_file.get(str(path)) for name, path in files.items()}, found, pages


@pytest.mark.parametrize("name", GRADED)
def test_it_is_graded_however_it_was_saved(name, book):
    row = book[0][name]
    assert (row["total"], row["of"], row["lab"], row["notes"]) == (FULL, FULL, LAB, "")


@pytest.mark.parametrize("name", COSTS_ITS_OWN)
def test_an_odd_cell_costs_its_own_exercise_alone(name, book):
    row = book[0][name]
    assert (row["total"], row["answer"]) == (ALL_BUT_ONE, "0") and row["notes"]


@pytest.mark.parametrize("name", NOT_GRADED)
def test_what_is_no_lab_is_named_with_the_reason(name, book):
    row = book[0][name]
    assert NOT_GRADED[name][1] in row["notes"] and (row["total"], row["lab"]) == ("0", "")


@pytest.mark.parametrize("path", [*CHAPTERS.glob("*.ipynb")], ids=lambda path: path.stem)
def test_a_chapter_is_no_lab(path):
    assert "none of its cells is one of a lab's" in submission(path).fault


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "there is no such file"),
        ("a folder", "it is a folder"),
        ("a device", "there is no such file"),
        ("unreadable", "cannot be read"),
    ],
)
def test_what_is_no_file_is_named_with_the_reason(name, words, book):
    assert words in book[0][name]["notes"]


def test_a_name_may_be_anything(book):
    graded = [row for row in book[1] if row["lab"] and "learner_" not in row["file"]]
    assert len({row["learner"] for row in graded}) == len({row["file"] for row in graded})
    assert len(graded) == len(NAMES) and {row["total"] for row in graded} == {FULL}
    names = {row["learner"] for row in graded}
    assert {"Ada  Lovelace ", "Zoë Ångström", "two\\nlines\\r\\n", "'=SUM(1)", "'--help"} <= names
    assert not any("<script>" in page.read_text("utf-8") for page in book[2])


def test_a_file_that_only_its_owner_reads_is_named(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = laid_down(solution(), tmp_path)
    path.chmod(0)
    (tmp_path / "seed").write_text(SECRET)
    run(path, "--secret", tmp_path / "seed", "--out", tmp_path / "g.csv")
    assert "cannot be read" in rows(tmp_path / "g.csv")[0]["notes"]


# the command's own arguments


@pytest.fixture
def given(tmp_path):
    """A submission, the seed, and the book."""
    seed = tmp_path / "seed"
    seed.write_text(SECRET)
    seed.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return laid_down(solution(), tmp_path), seed, tmp_path / "grades.csv"


def test_a_lab_under_the_name_of_another_is_graded_as_what_it_is(tmp_path, given):
    other = tmp_path / "bob" / "06_repetition_detector" / "06_repetition_detector.ipynb"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps(solution()))
    run(other, "--secret", given[1], "--out", given[2])
    (row,) = rows(given[2])
    assert (row["learner"], row["lab"], row["total"]) == ("bob", LAB, FULL)
    assert f"what stands in it is {LAB}" in row["notes"]


def test_a_file_that_is_named_twice_is_graded_once(given):
    path, seed, out = given
    twice = path.parent / "." / path.name, f"{path.parent}//{path.name}"
    assert run(path, *twice, "--secret", seed, "--out", out).exit_code == 0
    assert len(rows(out)) == 1


def test_a_relative_name_may_begin_with_a_dash(tmp_path, given, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-rf.ipynb").write_text(json.dumps(solution()))
    done = run("--secret", given[1], "--out", given[2], "--", "-rf.ipynb")
    assert done.exit_code == 0 and [row["total"] for row in rows(given[2])] == [FULL]


def test_a_line_that_only_looks_like_a_magic_stays(tmp_path, given):
    source = (
        "NAME = '''\n%s\n'''\n"
        "def answer(call, tools):\n"
        "    said = (NAME\n% tools[call['name']](**call['input']))\n"
        "    return tool_result(call['id'], said[1:-1])\n"
    )
    path = laid_down(filled(solution(), answer=source), tmp_path, "carl")
    run(path, "--secret", given[1], "--out", given[2])
    assert [row["total"] for row in rows(given[2])] == [FULL]


def test_a_cell_of_ones_own_is_taken_for_no_other(tmp_path, given):
    notebook = solution()
    notebook["cells"].insert(0, {**cell("raise OSError"), "id": "answer"})
    path = laid_down(notebook, tmp_path, "carl")
    run(path, "--secret", given[1], "--out", given[2])
    assert [row["answer"] for row in rows(given[2])] == ["3"]


SEEDS = {
    "missing": (lambda path: None, "cannot be read"),
    "a folder": (lambda path: path.mkdir(), "cannot be read"),
    "empty": (lambda path: path.write_text(""), "less than 16 bytes"),
    "too short": (lambda path: path.write_text("too short\n" * 1), "less than 16 bytes"),
    "blanks": (lambda path: path.write_text(" " * 100), "less than 16 bytes"),
}


@pytest.mark.parametrize("name", SEEDS)
def test_a_seed_that_is_none_is_refused(name, tmp_path, given):
    make, words = SEEDS[name]
    make(tmp_path / "other")
    done = run(given[0], "--secret", tmp_path / "other", "--out", given[2])
    assert done.exit_code == 1 and words in done.output and not given[2].exists()


def test_a_seed_that_everybody_can_read_is_told(given):
    path, seed, out = given
    assert "Everybody" not in run(path, "--secret", seed, "--out", out).output
    seed.chmod(0o644)
    assert f"chmod 600 {seed}" in run(path, "--secret", seed, "--out", out).output


@pytest.mark.parametrize("shard", ["11/10", "0/3", "1/0", "3", "a/b", "-1/3", "1/2/3", "1.5/3", ""])
def test_a_shard_that_is_none_is_refused(shard, given):
    path, seed, out = given
    done = run(path, "--secret", seed, "--out", out, f"--shard={shard}")
    assert done.exit_code == 2 and "such as 3/10" in done.output and not out.exists()


def a_pipe(path):
    """Something at a name that is neither a file nor a folder, as devices are."""
    os.mkfifo(path / "pipe")
    return path / "pipe"


OUTS = {
    "in a folder that is missing": (lambda path: path / "gone" / "g.csv", "No such file"),
    "in a folder that is read-only": (lambda path: Path("/proc/g.csv"), "No such file"),
    "in a file": (lambda path: path / "seed" / "g.csv", "Not a directory"),
    "a folder": (lambda path: path, "is a directory"),
    "nothing": (lambda path: "", "is no name of a file"),
    "a pipe": (lambda path: a_pipe(path), "is no file"),
    "what is handed in": (lambda path: path / "ada" / LAB / f"{LAB}.ipynb", "would be lost"),
    "the seed": (lambda path: path / "seed", "would be lost"),
}


@pytest.mark.parametrize("name", OUTS)
def test_where_no_book_can_be_that_is_said_before_anything_is_graded(name, tmp_path, given):
    make, words = OUTS[name]
    before = given[0].read_bytes()
    done = run(given[0], "--secret", given[1], "--out", make(tmp_path))
    assert done.exit_code and words in done.output and given[0].read_bytes() == before
    assert "graded" not in done.stdout


def test_a_disk_that_is_full_is_told_and_what_is_kept_stays(given):
    path, seed, out = given
    others = [laid_down(solution(), path.parents[2], f"learner_{n}") for n in range(3)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # lays down what is needed
        kept = out.with_name(f"{out.name}.kept.jsonl")
        kept.write_text('{"key": "' + "x" * 198_000 + "\n")
        done = run(path, *others, "--secret", seed, "--out", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert done.exit_code == 1 and "goes on where it was" in done.output and not out.exists()
    assert run(path, *others, "--secret", seed, "--out", out).exit_code == 0
    assert [row["total"] for row in rows(out)] == [FULL] * 4


def test_what_is_kept_beside_the_book_and_is_not_ours_is_left_alone(given):
    path, seed, out = given
    kept = out.with_name(f"{out.name}.kept.jsonl")
    kept.write_text("my notes\n")
    done = run(path, "--secret", seed, "--out", out)
    assert done.exit_code == 1 and "something else" in done.output
    assert kept.read_text() == "my notes\n"


HEAD = "learner,file,lab,answer,total,of,of_record,notes\n"
BOOKS = {
    "a notebook": (lambda: json.dumps(solution()), "no book"),
    "empty": (lambda: "", "no book"),
    "no text": (lambda: b"\xff\xfe\x00\x01", "no book"),
    "a NUL": (lambda: HEAD + "\0,b\n", "more or fewer cells"),
    "a row that is too long": (lambda: HEAD + "a,b,c,1,1,1,yes,x,more\n", "more or fewer cells"),
    "a row that is too short": (lambda: HEAD + "a,b\n", "more or fewer cells"),
    "of another course": (lambda: HEAD.replace("answer", "essay"), "columns of another course"),
    "a folder": (None, "Is a directory"),
    "missing": (False, "No such file"),
}


@pytest.mark.parametrize("name", BOOKS)
def test_what_is_no_book_is_not_merged(name, tmp_path):
    make, words = BOOKS[name]
    path, out = tmp_path / "part.csv", tmp_path / "grades.csv"
    if make is None:
        path.mkdir()
    elif make:
        content = make()
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    done = run("--merge", path, "--out", out)
    assert done.exit_code == 1 and words in done.output and not out.exists()


def test_a_file_that_cannot_be_graded_is_named_with_the_reason(given, tmp_path):
    done = run(tmp_path / "typo.ipynb", "--secret", given[1], "--out", given[2])
    assert f"{tmp_path / 'typo.ipynb'}: there is no such file" in done.output


def test_a_hundred_mixed_files_have_a_hundred_rows(tmp_path, given):
    files = []
    kinds = [make for make, _ in NOT_GRADED.values()]
    for number in range(100):
        path = tmp_path / f"learner {number}" / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        content = kinds[number % len(kinds)]() if number % 10 else json.dumps(solution())
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        files.append(path)
    done = run(*files, "--secret", given[1], "--out", given[2])
    assert "10 graded, 90 not" in done.output and "and 80 more" in done.output
    assert len({row["file"] for row in rows(given[2])}) == 100
