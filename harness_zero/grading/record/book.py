"""The book of grades: a row a submission, kept as they come, and written in one fixed order."""

import csv
import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from io import StringIO
from os import fsync, replace
from pathlib import Path
from typing import Any

from harness_zero.brief import cut
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.record.grade import Grade

FIRST = ("learner", "file", "lab")
LAST = ("total", "of", "of_record", "notes")
LONGEST = 1_000  # characters of the notes of one submission
Row = dict[str, str]


class Unmergeable(Exception):
    """These books cannot be one; the sentence says why."""


def row(grade: Grade) -> Row:
    """A grade as the book holds it."""
    given = grade.submission
    notes = [*grade.notes, *(f"{m.exercise}: {m.reason}" for m in grade.marks if m.reason and m.of)]
    return {
        "learner": plain(given.learner),
        "file": plain(str(given.path)),
        "lab": given.lab.name if given.lab else "",
        **{mark.exercise: str(mark.points) for mark in grade.marks if mark.of},
        "total": str(grade.total),
        "of": str(sum(mark.of for mark in grade.marks)),
        "of_record": "yes" if grade.of_record else "no",
        "notes": plain(cut("; ".join(notes), LONGEST)),
    }


def plain(text: str) -> str:
    """Text for one cell of a table, which no spreadsheet takes for a formula."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def table(rows: Iterable[Row]) -> str:
    """The whole book, in one order whatever came first."""
    found = sorted(rows, key=lambda row: (row["learner"], row["lab"], row["file"]))
    there = {name for row in found for name in row}
    columns = [*FIRST, *(name for name in EXERCISES if name in there), *LAST]
    written = StringIO()
    sheet = csv.DictWriter(written, columns, restval="", lineterminator="\n")
    sheet.writeheader()
    sheet.writerows(told_apart(found))
    return written.getvalue()


def told_apart(rows: list[Row]) -> Iterable[Row]:
    """The rows; of two by one learner for one lab, each names the other."""
    by: dict[tuple[str, str], list[str]] = {}
    for each in rows:
        by.setdefault((each["learner"], each["lab"]), []).append(each["file"])
    for each in rows:
        others = [file for file in by[each["learner"], each["lab"]] if file != each["file"]]
        twice = f"also handed in: {', '.join(others)}" if others and each["lab"] else ""
        known = twice and twice in each["notes"]
        notes = each["notes"] if known else "; ".join(filter(None, [each["notes"], twice]))
        yield {**each, "notes": notes}


def put(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    with open(beside, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        fsync(file.fileno())
    replace(beside, path)


def read(path: Path) -> list[Row]:
    """The rows of a book."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        sheet = csv.DictReader(file)
        if not {*FIRST, *LAST} <= {*(sheet.fieldnames or ())}:
            raise Unmergeable(f"{path} is no book of grades: it lacks columns")
        return [{name: cell for name, cell in each.items() if cell} for each in sheet]


def merged(books: Iterable[Path]) -> str:
    """Several books as one. Unmergeable if two of them say different things of one file."""
    rows: dict[str, Row] = {}
    for path in books:
        for each in read(path):
            whole = {**dict.fromkeys((*FIRST, *LAST), ""), **each}
            if rows.setdefault(whole["file"], whole) != whole:
                raise Unmergeable(f"{path} and another book differ about {whole['file']}")
    return table(rows.values())


class Kept:
    """What is graded already, in an append-only file beside the book: a killed run goes on."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.known: dict[str, Any] = {}
        for line in path.read_text("utf-8").splitlines() if path.exists() else []:
            try:
                entry = json.loads(line)
                self.known[entry["key"]] = entry["graded"]
            except (ValueError, TypeError, KeyError):
                continue  # a line that was torn when the run was killed

    def key(self, file: Path, digest: str) -> str:
        """What has to be the same for a grade to be the same."""
        return sha256(f"{self.fingerprint}\0{file}\0{digest}".encode()).hexdigest()

    def add(self, key: str, graded: Mapping[str, Any]) -> None:
        """Keep one more."""
        self.known[key] = graded
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "graded": graded}) + "\n")
