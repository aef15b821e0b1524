"""`harness-zero grade`: the marks of record of what was handed in."""

import csv
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness_zero.grading.record.book import Kept, Row
    from harness_zero.grading.record.many import Graded

SHORTEST = 16  # bytes of a secret
SHOWN = 10  # files that could not be graded


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--secret",
    type=click.Path(path_type=Path),
    help="The seed of hidden cases: a file with 16 bytes at least.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The CSV file.")
@click.option(
    "--course",
    type=click.Path(file_okay=False, path_type=Path),
    help="In place of FILES: all that nbgrader collected here, with marks in its gradebook.",
)
@click.option("--feedback", type=click.Path(file_okay=False, path_type=Path), help="For the pages.")
@click.option("--shard", default="1/1", metavar="I/N", help="Only every Nth file, from the Ith on.")
@click.option("--jobs", type=click.IntRange(1, 64), help="At once; as many as there are cores.")
@click.option("--merge", is_flag=True, help="FILES are CSV files of shards: make one of them.")
def grade(
    files: tuple[Path, ...],
    secret: Path | None,
    out: Path | None,
    course: Path | None,
    feedback: Path | None,
    shard: str,
    jobs: int | None,
    merge: bool,
) -> None:
    """Grade notebooks that were handed in, and write their marks of record.

    Each answer runs in a process of its own, without network and within limits; a file that
    cannot be graded is named with the reason. A run that was killed goes on where it was.
    """
    if course:
        from harness_zero.grading.course.command import graded_into

        others = {"FILES": files, "--shard": shard != "1/1", "--merge": merge}
        if out_of_place := ", ".join(name for name, given in others.items() if given):
            why = "--course grades all that was collected there"
            raise click.UsageError(f"{why}: leave {out_of_place} out.")
        return graded_into(course, secret, out, feedback, jobs or cores())
    if not files or out is None:
        raise click.UsageError(f"{'--out is' if files else 'FILES are'} missing.")
    refuse_to_overwrite(out, files, secret)
    if merge:
        return merged(files, out)
    if secret is None:
        raise click.UsageError("--secret is missing: a file from which hidden cases are drawn.")
    graded(files, read_secret(secret), out, feedback, read_shard(shard), jobs or cores())


def refuse_to_overwrite(out: Path, files: tuple[Path, ...], secret: Path | None) -> None:
    """Nothing is written over what was given to be read, nor over a device."""
    if not out.name:
        raise click.UsageError(f"--out {out} is no name of a file.")
    if out.exists() and not out.is_file():
        raise click.UsageError(f"--out {out} is no file: name one, or a new one.")
    kept = kept_beside(out)
    for each in [*files, *filter(None, [secret])]:
        if each.absolute() in (out.absolute(), kept.absolute()):
            raise click.UsageError(f"--out {out}: {each} is there to be read, and would be lost.")


def kept_beside(out: Path) -> Path:
    """Where grades are kept as they come."""
    return out.with_name(f"{out.name}.kept.jsonl")


def merged(files: tuple[Path, ...], out: Path) -> None:
    """Make one book of several."""
    from harness_zero.grading.record import book

    try:
        together = book.merged(files)
        book.put(out, together)
        rows = sum(1 for _ in csv.reader(StringIO(together, newline=""))) - 1
        click.echo(f"{rows} notebook{'' if rows == 1 else 's'} in {out}.")
    except (UnicodeDecodeError, csv.Error) as fault:
        raise click.ClickException(f"one of these files is no book of grades: {fault}") from fault
    except (book.Unmergeable, OSError) as fault:
        raise click.ClickException(str(fault)) from fault


def graded(
    files: tuple[Path, ...],
    secret: bytes,
    out: Path,
    pages: Path | None,
    shard: tuple[int, int],
    jobs: int,
    then: "Callable[[Iterator[Graded]], None] | None" = None,
) -> None:
    """Grade the files of a shard, write the book and the pages, and use the grades in order."""
    from harness_zero.grading.record import book, many
    from harness_zero.grading.record.grade import Room
    from harness_zero.grading.record.isolation import isolates

    refuse_without_course()
    if why_not := isolates():
        click.echo(f"No isolation here: these marks are not of record. {why_not}", err=True)
    mine = many.in_order(files, shard)
    with told(), TemporaryDirectory() as scratch:
        room = Room(Path(scratch), isolated=not why_not, secret=secret)
        with closing(book.Kept(kept_beside(out), many.fingerprint(room))) as kept:
            with progress(len(mine)) as tell:
                keys = many.grade_all(mine, room, kept, jobs, tell)
            rows = [*written(kept, keys, pages)]
            book.put(out, book.table(rows))
            ungraded = [row for row in rows if not row["lab"]]
            click.echo(f"{len(rows) - len(ungraded)} graded, {len(ungraded)} not; marks in {out}.")
            if then:
                then(kept[key] for key in keys)
            else:
                tell_why_not(ungraded)


def tell_why_not(ungraded: "list[Row]") -> None:
    """Name the first files that could not be graded, with the reasons."""
    for row in ungraded[:SHOWN]:
        click.echo(f"{row['file']}: {row['notes']}.", err=True)
    if len(ungraded) > SHOWN:
        click.echo(f"and {len(ungraded) - SHOWN} more, with the reasons, in the notes.", err=True)


def written(kept: "Kept", keys: list[bytes], pages: Path | None) -> "Iterator[Row]":
    """The rows of what is kept, while the pages are written one by one."""
    from harness_zero.grading.record import feedback

    for key in keys:
        each = kept[key]
        if pages:
            feedback.write(pages, each["name"], each["page"])
        yield each["row"]


@contextmanager
def told() -> "Iterator[None]":
    """Whatever keeps grades from being written is told in a sentence; what is done is not lost."""
    from harness_zero.grading.record.book import NotKept

    try:
        yield
    except KeyboardInterrupt:
        click.echo("Interrupted; the same command goes on where it was.", err=True)
        raise SystemExit(130) from None
    except NotKept as fault:
        raise click.ClickException(str(fault)) from fault
    except OSError as fault:
        where = f"{fault.filename}: " if fault.filename else ""
        why = f"{where}{fault.strerror}. The same command goes on where it was."
        raise click.ClickException(why) from fault


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
        open_to_all = path.stat().st_mode & stat.S_IROTH
    except OSError as fault:
        raise click.ClickException(f"{path} cannot be read ({fault.strerror}).") from fault
    if len(secret) < SHORTEST:
        raise click.ClickException(f"{path} holds less than {SHORTEST} bytes: too easy to guess.")
    if open_to_all:
        click.echo(f"Everybody on this machine can read {path}: chmod 600 {path}", err=True)
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
