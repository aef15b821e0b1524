"""`harness-zero grade`: the marks of record of what was handed in."""

import os
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST = 16  # bytes of a secret


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--secret", type=click.Path(path_type=Path), help="A file with 16 bytes at least.")
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The CSV file."
)
@click.option("--feedback", type=click.Path(file_okay=False, path_type=Path), help="For the pages.")
@click.option("--shard", default="1/1", metavar="I/N", help="Only every Nth file, from the Ith on.")
@click.option("--jobs", type=click.IntRange(1, 64), help="At once; as many as there are cores.")
@click.option("--merge", is_flag=True, help="FILES are CSV files of shards: make one of them.")
def grade(
    files: tuple[Path, ...],
    secret: Path | None,
    out: Path,
    feedback: Path | None,
    shard: str,
    jobs: int | None,
    merge: bool,
) -> None:
    """Grade notebooks that were handed in, and write their marks of record.

    Each answer runs in a process of its own, without network and within limits; a file that
    cannot be graded is named with the reason. A run that was killed goes on where it was.
    """
    if merge:
        return merged(files, out)
    if secret is None:
        raise click.UsageError("--secret is missing: a file from which hidden cases are drawn.")
    graded(files, read_secret(secret), out, feedback, read_shard(shard), jobs or cores())


def merged(files: tuple[Path, ...], out: Path) -> None:
    """Make one book of several."""
    from harness_zero.grading.record import book

    try:
        book.put(out, book.merged(files))
    except (book.Unmergeable, OSError, UnicodeDecodeError) as fault:
        raise click.ClickException(str(fault)) from fault


def graded(
    files: tuple[Path, ...],
    secret: bytes,
    out: Path,
    pages: Path | None,
    shard: tuple[int, int],
    jobs: int,
) -> None:
    """Grade the files of a shard, and write the book and the pages."""
    from harness_zero.grading.exercises import LABS
    from harness_zero.grading.record import book, feedback, many
    from harness_zero.grading.record.grade import Room, laid
    from harness_zero.grading.record.isolation import isolates

    refuse_without_course()
    if why_not := isolates():
        click.echo(f"No isolation here: these marks are not of record. {why_not}", err=True)
    mine = many.in_order(files, shard)
    with TemporaryDirectory() as scratch:
        laid(Path(scratch), LABS)
        room = Room(Path(scratch), isolated=not why_not, secret=secret)
        kept = book.Kept(out.with_name(f"{out.name}.kept.jsonl"), many.fingerprint(room))
        with progress(len(mine)) as tell:
            done = many.grade_all(mine, room, kept, jobs, tell)
    book.put(out, book.table(each["row"] for each in done))
    if pages:
        for each in done:
            feedback.write(pages, each["name"], each["page"])
    ungraded = sum(not each["row"]["lab"] for each in done)
    click.echo(f"{len(done) - ungraded} graded, {ungraded} not; marks in {out}.")


def refuse_without_course() -> None:
    """What is graded is graded by the solutions of a course that is here."""
    from harness_zero.course import NotLaid, checkout

    try:
        checkout()
    except NotLaid as reason:
        raise click.ClickException(str(reason)) from reason


def read_secret(path: Path) -> bytes:
    """The secret; it is never shown."""
    try:
        secret = path.read_bytes().strip()
    except OSError as fault:
        raise click.ClickException(f"{path} cannot be read ({fault.strerror}).") from fault
    if len(secret) < SHORTEST:
        raise click.ClickException(f"{path} holds less than {SHORTEST} bytes: too easy to guess.")
    return secret


def read_shard(given: str) -> tuple[int, int]:
    """Which of how many shards: 3/10."""
    number, _, of = given.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.UsageError(f"--shard {given}: it is a number of so many, such as 3/10.")
    return int(number), int(of)


def cores() -> int:
    """How many of this machine's cores there are for us."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def progress(total: int) -> "Iterator[Callable[[Path], None]]":
    """A bar on the standard error, which moves on with each submission."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("grading", total=total)
        yield lambda path: bar.advance(task)
