"""A verifier: before a turn may end, something is really run, and what it says decides.

It is worth as much as what it runs is out of the model's reach. `command` can hold the tests'
own files to what they were. Not held is whatever runs together with the tests: the code under
test is the model's, and a module that leaves the process with exit code 0 passes any test.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from harness_zero.brief import excerpt, told_by
from harness_zero.contracts.veto import Hook
from harness_zero.rounds import NOISE
from harness_zero.run import Run
from harness_zero.runner import run as run_by_shell

Check = Callable[[], str | None]  # runs something; what it says if that fails, None if it passes

LONGEST = 2_000  # characters of a check's output that the model reads
PASSED = "exit code 0\n"
TESTS = ("test_*.py", "*_test.py", "conftest.py", "pytest.ini")


def verifier(check: Check, name: str = "", longest: int = LONGEST) -> Hook:
    """A hook that runs a check whenever the model says that it is finished.

    The output of a check that fails is the feedback, cut in the middle, without times and
    addresses: the same failure has to read the same. A check that raises has not passed either.
    """
    name = name or getattr(check, "__name__", "the check")

    def hook(run: Run, again: bool) -> str | None:
        try:
            failed = check()
        except Exception as error:
            failed = f"it could not be run: {type(error).__name__}: {told_by(str, error)}"
        if failed is None:
            return None
        still = "still does not pass" if again else "does not pass"
        told = excerpt(NOISE.sub("...", str(failed)).strip(), longest)
        return f"You are not done: {name} {still}.\n{told}"

    hook.__name__ = name
    return hook


def command(
    line: str,
    folder: str | Path,
    kept: Iterable[str] = (),
    run: Callable[[str, str | Path], str] = run_by_shell,
) -> Check:
    """A check that runs a shell command in a folder; exit code 0 passes.

    The files that `kept` names, by patterns, have to be what they are now: one that was changed
    or removed fails the check before anything is run. A name without a star that is not there yet
    must not come to be.
    """
    root = Path(folder)
    before = fingerprints(root, kept)

    def check() -> str | None:
        now = {path: fingerprint(root / path) for path in before}
        if changed := sorted(path for path in before if now[path] != before[path]):
            told = ", ".join(changed)
            return f"these files belong to the check and are no longer what they were: {told}"
        told = run(line, folder)
        return None if told.startswith(PASSED) else told

    check.__name__ = line
    return check


def fingerprints(root: Path, patterns: Iterable[str]) -> dict[str, str | None]:
    """The files that patterns find below a folder, and the names that stand for themselves."""
    paths: dict[str, str | None] = {}
    for pattern in patterns:
        found = [path for path in root.rglob(pattern) if path.is_file()]
        names = [] if "*" in pattern else [pattern]
        for each in [*(path.relative_to(root).as_posix() for path in found), *names]:
            paths[each] = fingerprint(root / each)
    return paths


def fingerprint(path: Path) -> str | None:
    """What stands in a file, in short; None if there is none."""
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
