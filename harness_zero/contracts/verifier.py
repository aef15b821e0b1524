"""A verifier: before a turn may end, something is really run, and what it says decides.

It is worth as much as what it runs is out of the model's reach. `command` can hold the tests'
own files to what they were. Not held is whatever runs together with the tests: the code under
test is the model's, and a module that leaves the process with exit code 0 passes any test.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePath

from harness_zero.brief import brief, excerpt, told_by
from harness_zero.contracts.veto import Hook, HookFailed
from harness_zero.faults import SetupFault
from harness_zero.rounds import quiet
from harness_zero.run import Run
from harness_zero.runner import run as run_by_shell
from harness_zero.runner import runnable

Files = dict[str, str | None]  # by path, what stands in each, in short
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
        if not isinstance(failed, str):
            wants = "a check gives back in words what is wrong, or None if nothing is"
            raise HookFailed(f"{wants}; {name} gave back {brief(failed)}")
        told = excerpt(quiet(failed).strip(), longest)
        return f"You are not done: {name} does not pass.\n{told}"

    hook.__name__ = name
    return hook


def command(
    line: str,
    folder: str | Path,
    kept: Iterable[str] = (),
    seconds: float = 300,
    run: Callable[[str, str | Path, float], str] = run_by_shell,
    before: Callable[[], Files] | None = None,
) -> Check:
    """A check that runs a shell command in a folder; exit code 0 passes.

    The files that the patterns in `kept` find have to be what they are now, or what `before` says
    that they were (a run that is resumed knows it from its first process): one that was changed
    or removed fails the check before anything is run, and so does a new one whose name is there
    in full. Hidden folders are not searched.
    """
    root, patterns = Path(folder), [kept] if isinstance(kept, str) else [*kept]
    refuse_unusable(line, root, patterns)
    at_first = {} if before else fingerprints(root, patterns)

    def check() -> str | None:
        was, now = before() if before else at_first, fingerprints(root, patterns)
        new = [path for path in now.keys() - was.keys() if PurePath(path).name in patterns]
        changed = [path for path in was if now.get(path) != was[path]]
        if touched := sorted([*new, *changed]):
            held = "these files belong to the check and have to be what they were"
            return f"{held}: {', '.join(touched)}"
        told = run(line, folder, seconds)
        return None if told.startswith(PASSED) else told

    check.__name__ = f"`{line}`"
    return check


def refuse_unusable(line: str, root: Path, patterns: list[str]) -> None:
    """Raise if the command can never be run, or a pattern can find no file."""
    try:
        runnable(line)
    except (TypeError, ValueError) as error:
        raise SetupFault(f"a check needs a command to run: {error}") from None
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern.strip(" ./"):
            raise SetupFault(
                f"what is kept is a pattern of files, as test_*.py; not {brief(pattern)}"
            )
        if (root / pattern).is_dir():
            files_in = f"{pattern.rstrip('/')}/*.py"
            raise SetupFault(f"{pattern} is a folder; name what is kept in it, as {files_in}")


def fingerprints(root: Path, patterns: list[str]) -> Files:
    """The files below a folder that one of the patterns finds, and what stands in each."""
    found = (path.relative_to(root) for path in files(root) if patterns)
    kept = [path for path in found if any(path.match(pattern) for pattern in patterns)]
    return {path.as_posix(): fingerprint(root / path) for path in kept}


def files(root: Path) -> Iterator[Path]:
    """The files below a folder, without those in hidden folders."""
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        yield from (Path(place, name) for name in names)


def fingerprint(path: Path) -> str | None:
    """What stands in a file, in short; None if there is none. A pipe would never end."""
    try:
        return sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    except OSError:
        return None
