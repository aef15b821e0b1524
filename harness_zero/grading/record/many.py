"""Many submissions: graded in parallel, kept as they come, and none of them lost."""

import hmac
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from harness_zero.course import checkout
from harness_zero.grading.record import feedback
from harness_zero.grading.record.book import Kept, row
from harness_zero.grading.record.grade import Grade, Room, graded
from harness_zero.grading.record.isolation import PACKAGE
from harness_zero.grading.record.submissions import Submission, learner, submission

Graded = dict[str, Any]  # a row, its marks, and a page of feedback with its name
Tell = Callable[[Path], None]


def in_order(files: Iterable[Path], shard: tuple[int, int] = (1, 1)) -> list[Path]:
    """The files of one shard, each once, in an order that does not depend on who asks."""
    return sorted({*files}, key=str)[shard[0] - 1 :: shard[1]]


def fingerprint(room: Room) -> str:
    """What a grade depends on besides its submission: this course, the secret and the walls."""
    print_ = hmac.new(room.secret, b"harness-zero", sha256)
    solutions = (checkout() / "solutions").rglob("*.ipynb")
    for path in [*sorted(PACKAGE.rglob("*.py")), *sorted(solutions)]:
        print_.update(path.read_bytes())
    print_.update(repr((room.limits, room.isolated)).encode())
    return print_.hexdigest()[:32]


def grade_all(
    files: list[Path], room: Room, kept: Kept, jobs: int, tell: Tell = lambda path: None
) -> list[bytes]:
    """Have every submission graded and kept, unless it is kept already; the keys of all."""
    keys = {path: kept.key(path, digest_of(path)) for path in files}
    for path in [path for path in files if keys[path] in kept]:
        tell(path)
    todo = [path for path in files if keys[path] not in kept]
    for path, done in in_parallel(todo, room, jobs):
        kept.add(keys[path], done)
        tell(path)
    return [*keys.values()]


def digest_of(path: Path) -> str:
    """What a file holds, in short; of one that cannot be read, nothing."""
    try:
        if not path.is_file():
            return ""
        with open(path, "rb") as file:
            return sha256(file.read(50_000_000)).hexdigest()
    except OSError:
        return ""


def in_parallel(files: Iterable[Path], room: Room, jobs: int) -> Iterator[tuple[Path, Graded]]:
    """Each file with its grade, as they come, however many there are.

    What was under way when a grader was ended is graded once more, one by one.
    """
    todo, flying = iter(files), dict[Path, None]()
    while True:
        yield from in_pool(todo, room, jobs, flying)
        if not flying:
            return
        for path in [*flying]:
            yield from in_pool(iter([path]), room, 1, flying)
            if path in flying:
                yield path, again(path, ENDED)
        flying.clear()


ENDED = "the grader itself was ended while it graded this; grade it again"
AHEAD = 2  # submissions for each grader that are asked for at once


def in_pool(
    todo: Iterator[Path], room: Room, workers: int, flying: dict[Path, None]
) -> Iterator[tuple[Path, Graded]]:
    """Each file with its grade, until a process of the pool is ended: then some are in the air."""
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=undisturbed) as pool:
        asked: dict[Future[Graded], Path] = {}
        try:
            while True:
                for path in islice(todo, AHEAD * workers - len(asked)):
                    flying[path] = None
                    asked[pool.submit(one, path, room)] = path
                if not asked:
                    return
                for each in wait(asked, return_when=FIRST_COMPLETED).done:
                    path, done = asked.pop(each), each.result()
                    flying.pop(path)
                    yield path, done
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(cancel_futures=True)


def undisturbed() -> None:
    """A grader's process: an interrupt is for the one that waits for it, and with that it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if asking := parent_process():
        Thread(target=end_after, args=(asking,), daemon=True).start()


def end_after(asking: Any) -> None:
    """End this process as soon as the one that asks is there no more."""
    asking.join()
    os._exit(1)


def one(path: Path, room: Room) -> Graded:
    """One submission graded; a fault of the grader's own is told, and stops nothing."""
    try:
        return as_graded(graded(submission(path), room))
    except Exception as fault:
        words = f"the grader failed ({type(fault).__name__}); this is a fault of the course"
        return again(path, words)


def again(path: Path, why: str) -> Graded:
    """What is told of a submission that the grader itself could not grade; the next run tries."""
    failed = Submission(path, learner(path), "", fault=why)
    return {**as_graded(Grade(failed, notes=(why,), of_record=False)), "again": True}


def as_graded(grade: Grade) -> Graded:
    """A grade as it is kept."""
    marks = {each.exercise: (each.points, each.of, each.reason) for each in grade.marks}
    told = {"name": feedback.name_of(grade), "page": feedback.page(grade)}
    return {"row": row(grade), "marks": marks, **told}
