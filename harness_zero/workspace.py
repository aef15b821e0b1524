"""A workspace: a folder, and three tools that reach nothing outside it.

The file tools hold the wall themselves, whatever path they are given; a
command is held by the runner. Their errors are one sentence each, written for
the model that has to act on them, and free of this machine's paths.
"""

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import IO

from harness_zero.doubt import reads
from harness_zero.faults import SetupFault
from harness_zero.runner import run as run_by_shell

Tool = Callable[..., str]

SHOWN = 100_000  # bytes of a file that are read
LISTED = 20  # files that an error names
WALKED = 500  # folders that are searched for them
LONGEST = 4096  # characters of a path


class WorkspaceFault(SetupFault):
    """This folder cannot be a workspace."""


class OutsideWorkspace(PermissionError):
    """A path leads outside the workspace."""


def workspace(folder: str | Path, run: Callable[[str, str], str] = run_by_shell) -> dict[str, Tool]:
    """The three tools of a workspace, by name."""
    root = usable(folder)

    @reads
    @takes_text
    def read_file(path: str) -> str:
        """Read a text file. The path is relative to the top folder of the workspace."""
        return read(root, path)

    @takes_text
    def write_file(path: str, content: str) -> str:
        """Create a text file, or replace all of an existing one. Missing folders are made."""
        return write(root, path, content)

    @takes_text
    def run_command(command: str) -> str:
        """Run a shell command in the top folder of the workspace. Returns exit code and output.

        Each command starts anew; it cannot ask for input, and what it leaves
        running in the background is ended.
        """
        return run(command, root)

    return {"read_file": read_file, "write_file": write_file, "run_command": run_command}


def usable(folder: str | Path) -> str:
    """The folder's real path, if it can be worked in."""
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise WorkspaceFault(f"{folder!r} is not the path of a folder")
    root = os.path.realpath(folder)
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.exists(root) else "does not exist"
        raise WorkspaceFault(f"{folder} {what}; a workspace is a folder that is there")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        raise WorkspaceFault(f"{folder} cannot be written to; a workspace has to be")
    return root


def takes_text(function: Tool) -> Tool:
    """The function, with wrong arguments told in words that are the same on every Python."""
    expected = signature(function)

    @wraps(function)
    def tool(*values: str, **named: str) -> str:
        try:
            given = expected.bind(*values, **named).arguments
        except TypeError:
            got = [*map(quoted, map(str, values)), *named]
            raise TypeError(
                f"{function.__name__} takes {' and '.join(expected.parameters)}; "
                f"it was given {' and '.join(got) or 'nothing'}"
            ) from None
        for name, value in given.items():
            refuse_unless_text(name, value)
        return function(**given)

    return tool


def refuse_unless_text(name: str, value: object) -> None:
    """Raise unless the argument is a string that can be written as UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a character, which UTF-8 cannot write") from None


def inside(root: str, path: str) -> Path:
    """Where a path really leads, every link followed; raise unless that is in the workspace."""
    if not path.strip():
        raise ValueError("the path is empty; name a file, such as 'auth.py'")
    if "\0" in path or len(path) > LONGEST:
        raise ValueError(f"{quoted(path)} is no path: it holds a NUL character or is too long")
    place = os.path.realpath(os.path.join(root, path))
    # Behind a circle of links the rest of a path is not resolved, and may be a link in turn.
    settled = os.path.realpath(place) == place
    if not settled or not Path(place).is_relative_to(root):
        raise OutsideWorkspace(
            f"{quoted(path)} leads outside the workspace; only files inside it can be reached"
        )
    return Path(place)


def read(root: str, path: str) -> str:
    """The text of a file, cut at a limit."""
    place = inside(root, path)
    with plainly(path, "read"):
        if mode_of(root, place, path) is None:
            holds = listing(root, root)
            raise FileNotFoundError(f"there is no file {quoted(path)}; the workspace holds {holds}")
        with opened(place, path) as file:
            raw, size = file.read(SHOWN + 1), os.fstat(file.fileno()).st_size
    return decoded(raw, size, path)


@contextmanager
def opened(place: Path, path: str) -> Iterator[IO[bytes]]:
    """The file at a place; not a link or a pipe that was put there after it was looked at."""
    wary = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(place, "rb", opener=lambda name, flags: os.open(name, flags | wary)) as file:
        refuse_unless_file(os.fstat(file.fileno()).st_mode, path)
        yield file


def decoded(raw: bytes, size: int, path: str) -> str:
    """The bytes as text, with a last line that says what was cut."""
    if b"\0" in raw:
        raise ValueError(f"{quoted(path)} is a binary file of {size:,} bytes; it is not shown")
    cut = len(raw) > SHOWN
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(raw[:SHOWN], final=not cut)
    except UnicodeDecodeError as error:
        where = f"byte 0x{raw[error.start]:02x} at position {error.start:,}"
        raise ValueError(f"{quoted(path)} is not UTF-8 text: {where}") from None
    if cut:
        text += f"\n[... cut: these are the first {SHOWN:,} of {size:,} bytes ...]"
    return text


def write(root: str, path: str, content: str) -> str:
    """Put the whole content into a file, or leave everything as it was."""
    place = inside(root, path)
    with plainly(path, "written"):
        mode = writable(root, place, path)
        os.makedirs(place.parent, exist_ok=True)
        replace(place, content.encode(), mode)
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return f"wrote {lines} line{'' if lines == 1 else 's'} to {relative(root, str(place))}"


def writable(root: str, place: Path, path: str) -> int | None:
    """The mode of the file to be replaced, None if it is new; raise unless it may be written."""
    if os.path.basename(path) in ("", "."):
        raise IsADirectoryError(f"{quoted(path)} names a folder; name a file")
    if blocker := next((folder for folder in place.parents if folder.is_file()), None):
        above = relative(root, str(blocker))
        raise NotADirectoryError(f"{quoted(path)} cannot be written: {above} is a file")
    mode = mode_of(root, place, path)
    if mode is not None and not mode & 0o222:
        raise PermissionError(f"{quoted(path)} is read-only")
    return mode


def replace(place: Path, raw: bytes, mode: int | None) -> None:
    """Exchange a file's content in one instant; nothing is left behind if that fails."""
    draft = place.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        with open(draft, "xb") as file:
            file.write(raw)
        if mode is not None:
            os.chmod(draft, stat.S_IMODE(mode))
        os.replace(draft, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def mode_of(root: str, place: Path, path: str) -> int | None:
    """The mode of the file at a place, None if nothing is there; raise if it is no file."""
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        holds = listing(root, place)
        raise IsADirectoryError(f"{quoted(path)} is a folder, not a file; it holds {holds}")
    refuse_unless_file(mode, path)
    return mode


def refuse_unless_file(mode: int, path: str) -> None:
    """Raise unless the mode is that of a regular file."""
    if stat.S_ISLNK(mode):
        raise OSError(f"{quoted(path)} is a link that leads round in a circle")
    if not stat.S_ISREG(mode):
        raise OSError(f"{quoted(path)} is a pipe, a socket or a device, not a file")


@contextmanager
def plainly(path: str, done: str) -> Iterator[None]:
    """Tell the system's own errors by the path that was given, not by this machine's."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        reason = error.strerror.lower()
        raise type(error)(f"{quoted(path)} cannot be {done}: {reason}") from None


def listing(root: str, folder: str | Path) -> str:
    """The first files in a folder, by names that the tools take."""
    names = list(islice(files(root, folder), LISTED + 1))
    more = " and more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more if names else "no files"


def files(root: str, folder: str | Path) -> Iterator[str]:
    """The files in a folder and below, without those of caches and hidden folders."""
    for place, folders, names in islice(os.walk(folder), WALKED):
        folders[:] = sorted(n for n in folders if not n.startswith((".", "__pycache__")))
        yield from (relative(root, os.path.join(place, name)) for name in sorted(names))


def relative(root: str, place: str) -> str:
    """A place inside, as a path that the tools take."""
    name = Path(place).relative_to(root).as_posix()
    return name if name.isprintable() else repr(name)


def quoted(path: str) -> str:
    """A path between quotes, at a length that a sentence bears."""
    return repr(path if len(path) <= 200 else f"{path[:200]}...")
