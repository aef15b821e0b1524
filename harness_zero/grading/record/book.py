"""The book of grades: a row a submission, kept as they come, and written in one fixed order."""

import csv
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from io import StringIO
from os import SEEK_END, fsync, replace
from pathlib import Path
from typing import IO, Any

from harness_zero.brief import cut
from harness_zero.grading.exercises import EXERCISES
from harness_zero.grading.record.grade import Grade

FIRST = ("learner", "file", "lab")
LAST = ("total", "of", "of_record", "notes")
BETWEEN = " | "  # the notes of one submission, in which there may be any other mark
LONGEST = 1_000  # characters of the notes of one submission
Row = dict[str, str]


class NotKept(Exception):
    """What is graded cannot be kept in this file; the sentence says why."""


class Unmergeable(Exception):
    """These books cannot be one; the sentence says why."""


def row(grade: Grade) -> Row:
    """A grade as the book holds it."""
    given = grade.submission
    notes = [*grade.notes, *(f"{m.exercise}: {m.reason}" for m in grade.marks if m.reason)]
    return {
        "learner": named(given.learner),
        "file": named(str(given.path)),
        "lab": given.lab.name if given.lab else "",
        **{mark.exercise: str(mark.points) for mark in grade.marks},
        "total": str(grade.total),
        "of": str(sum(mark.of for mark in grade.marks)),
        "of_record": "yes" if grade.of_record else "no",
        "notes": plain(cut(BETWEEN.join(notes), LONGEST)),
    }


def plain(text: str) -> str:
    """Text for one cell of a table."""
    return no_formula(" ".join(text.encode("utf-8", "replace").decode().split()))


def named(name: str) -> str:
    """A name for one cell of a table; two that differ still do, whatever is in them."""
    return no_formula("".join(c if c.isprintable() else ascii(c)[1:-1] for c in name))


def no_formula(line: str) -> str:
    """A line that no spreadsheet takes for a formula."""
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
        notes = each["notes"] if known else BETWEEN.join(filter(None, [each["notes"], twice]))
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
        if strange := {*(sheet.fieldnames or ())} - {*FIRST, *EXERCISES, *LAST}:
            raise Unmergeable(f"{path} has columns of another course: {', '.join(sorted(strange))}")
        rows = [*sheet]
        if any(None in each or None in each.values() for each in rows):
            raise Unmergeable(f"{path} has rows with more or fewer cells than columns")
        return [{name: cell for name, cell in each.items() if cell} for each in rows]


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
    """What is graded already, in an append-only file beside the book: a killed run goes on.

    Of what is in it only the places are held in memory; it is read again one by one.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.at: dict[bytes, int] = {}  # where in the file, by key
        if path.exists() and not path.is_file():
            raise NotKept(f"{path} is no file")
        self.file = open(path, "a+b")  # noqa: SIM115
        try:
            held_by_us(self.file, path)
            self.read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Be done with it."""
        self.file.close()

    def read(self) -> None:
        """Find what is there, less what is to be tried again and lines that were torn."""
        self.file.seek(0)
        start, line = 0, b""
        for line in self.file:
            if not start and not line.startswith(BEGINS[: len(line)]):
                raise NotKept(f"{self.path} holds something else than grades; move it away")
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                entry = json.loads(line)
                if not entry["graded"].get("again"):
                    self.at[short(entry["key"])] = start
            start += len(line)
        if line and not line.endswith(b"\n"):
            self.file.write(b"\n")
            self.file.flush()

    def key(self, file: Path, digest: str) -> bytes:
        """What has to be the same for a grade to be the same."""
        named = f"{self.fingerprint}\0{file}\0{digest}"
        return short(sha256(named.encode("utf-8", "surrogateescape")).hexdigest())

    def __contains__(self, key: bytes) -> bool:
        return key in self.at

    def __getitem__(self, key: bytes) -> dict[str, Any]:
        self.file.seek(self.at[key])
        graded: dict[str, Any] = json.loads(self.file.readline())["graded"]
        return graded

    def add(self, key: bytes, graded: Mapping[str, Any]) -> None:
        """Keep one more."""
        start = self.file.seek(0, SEEK_END)
        line = json.dumps({"key": key.hex(), "graded": graded}) + "\n"
        self.file.write(line.encode())
        self.file.flush()
        self.at[key] = start


BEGINS = b'{"key": "'


def short(key: str) -> bytes:
    """A key as it is held in memory."""
    return bytes.fromhex(key)[:16]


def held_by_us(file: IO[bytes], path: Path) -> None:
    """Refuse to write what another run writes, where the system can tell."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotKept(f"another run is grading into {path}") from None
    except (ImportError, OSError):
        return
