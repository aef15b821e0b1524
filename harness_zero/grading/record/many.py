"""Many submissions: graded in parallel, kept as they come, and none of them lost."""

import hmac
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from harness_zero.grading.record import feedback
from harness_zero.grading.record.book import Kept, row
from harness_zero.grading.record.grade import Grade, Room, graded
from harness_zero.grading.record.submissions import Submission, submission

GRADING = Path(__file__).parents[1]
Graded = dict[str, Any]  # a row, and a page of feedback with its name
Tell = Callable[[Path], None]


def in_order(files: Iterable[Path], shard: tuple[int, int] = (1, 1)) -> list[Path]:
    """The files of one shard, each once, in an order that does not depend on who asks."""
    return sorted({*files}, key=str)[shard[0] - 1 :: shard[1]]


def fingerprint(room: Room) -> str:
    """What a grade depends on besides its submission: this grader, the secret and the walls."""
    print_ = hmac.new(room.secret, b"harness-zero", sha256)
    for path in sorted(GRADING.rglob("*.py")):
        print_.update(path.read_bytes())
    print_.update(repr((room.limits, room.isolated)).encode())
    return print_.hexdigest()[:32]


def grade_all(
    files: list[Path], room: Room, kept: Kept, jobs: int, tell: Tell = lambda path: None
) -> list[Graded]:
    """Every submission graded, those that were graded before as they were."""
    keys = {path: kept.key(path, digest_of(path)) for path in files}
    for path in [path for path in files if keys[path] in kept.known]:
        tell(path)
    todo = [path for path in files if keys[path] not in kept.known]
    for path, done in in_parallel(todo, room, jobs):
        kept.add(keys[path], done)
        tell(path)
    return [kept.known[keys[path]] for path in files]


def digest_of(path: Path) -> str:
    """What a file holds, in short; of one that cannot be read, nothing."""
    try:
        with open(path, "rb") as file:
            return sha256(file.read(50_000_000)).hexdigest()
    except OSError:
        return ""


def in_parallel(files: list[Path], room: Room, jobs: int) -> Iterator[tuple[Path, Graded]]:
    """Each file with its grade, as they come; what ends a grader is graded alone once more."""
    left = dict.fromkeys(files)
    for workers in (jobs, 1):
        for batch in [[*left]] if workers > 1 else [[path] for path in left]:
            for path, done in in_pool(batch, room, workers):
                del left[path]
                yield path, done
        if not left:
            return
    for path in left:
        yield path, as_graded(Grade(Submission(path, path.stem, ""), notes=(ENDED,)))


ENDED = "the grader itself was ended while it graded this; try it alone"


def in_pool(files: list[Path], room: Room, workers: int) -> Iterator[tuple[Path, Graded]]:
    """Each file with its grade, until a process of the pool is ended."""
    if not files:
        return
    alone = get_context("spawn")
    with ProcessPoolExecutor(workers, alone, initializer=undisturbed) as pool:
        asked = {pool.submit(one, path, room): path for path in files}
        try:
            for each in as_completed(asked):
                yield asked[each], each.result()
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(cancel_futures=True)


def undisturbed() -> None:
    """An interrupt is for the process that waits for us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def one(path: Path, room: Room) -> Graded:
    """One submission graded; a fault of the grader's own is told, and stops nothing."""
    try:
        return as_graded(graded(submission(path), room))
    except Exception as fault:
        words = f"the grader failed ({type(fault).__name__}); this is a fault of the course"
        return as_graded(Grade(Submission(path, path.stem, ""), notes=(words,)))


def as_graded(grade: Grade) -> Graded:
    """A grade as it is kept."""
    return {"row": row(grade), "name": feedback.name_of(grade), "page": feedback.page(grade)}
