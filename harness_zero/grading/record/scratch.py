"""Files that both sides have: a folder of the grader's, and one like it in the learner's process.

With each frame that crosses goes what has changed on the disk of its side since the last one, so
an effect finds the files as they stand at its moment. Only plain files directly in the folder
cross, few and small ones: no links, no folders, nothing that is still in a buffer.
"""

import os
from contextlib import suppress
from itertools import count, islice
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # where no path crosses, nobody waits for its module
    from pathlib import Path

MOST_FILES = 32
MOST_BYTES = 1_000_000  # of all files of a folder together
LONGEST = 100  # characters of a name
SAFE = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
Files = dict[str, bytes]


class Unfit(Exception):
    """A folder, a file or a name that does not cross."""


class Folder:
    """A folder of this side, and what both sides know of it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.known: Files = {}
        self.is_new = True

    def changes(self) -> dict[str, str | None]:
        """The files that are other ones than both sides know, and those that are gone."""
        now, before, self.known = standing(self.place), self.known, {}
        self.known.update(now)
        gone = dict.fromkeys(before.keys() - now.keys())
        other = {n: each.decode("latin-1") for n, each in now.items() if before.get(n) != each}
        return {**gone, **other}

    def take(self, changes: dict[str, str | None]) -> None:
        """Put in place what changed at the other side. Unfit if that is too much, or elsewhere."""
        now = {**self.known}
        for name, content in changes.items():
            if not is_name(name):
                raise Unfit("a file with a name that does not cross")
            now.pop(name, None)
            if content is not None:
                now[name] = content.encode("latin-1")
        refuse_more(now)
        self.known = now
        for name in changes:
            with suppress(OSError):  # what stands there otherwise crosses with the next frame
                put(os.path.join(self.place, name), now.get(name))


class Scratch:
    """The folders of one side: the grader's are its own, the learner's are under a root."""

    def __init__(self, root: str | None = None) -> None:
        self.root = root
        self.folders: dict[int, Folder] = {}
        self.numbers = count()
        self.turn = Lock()

    def send(self, path: os.PathLike) -> list[Any] | None:
        """A path as the number of its folder and a name; None if it is in none that both have."""
        whole = os.path.abspath(path)
        parent, name = os.path.split(whole)
        for number, folder in [*self.folders.items()]:
            if whole == folder.place:
                return [number, ""]
            if parent == folder.place and is_name(name):
                return [number, name]
        return None

    def lend(self, path: os.PathLike) -> list[Any]:
        """The same, where the folder becomes one that both have if it is none yet."""
        if sent := self.send(path):
            return sent
        whole = os.path.abspath(path)
        place, name = (whole, "") if os.path.isdir(whole) else os.path.split(whole)
        if not os.path.isdir(place) or (name and not is_name(name)):
            raise Unfit("a path in a folder that is not there, or with a name that does not cross")
        number = next(self.numbers)
        self.folders[number] = Folder(place)
        return [number, name]

    def take(self, number: int, name: str) -> "Path":
        """A path of this side. Unfit if it leads elsewhere."""
        from pathlib import Path

        if number not in self.folders or not (name == "" or is_name(name)):
            raise Unfit("a path to nowhere")
        return Path(self.folders[number].place, name)

    def changes(self) -> list[list[Any]]:
        """What the other side has to hear: what changed in each folder, and which are no more."""
        found: list[list[Any]] = []
        with self.turn:
            for number, folder in [*self.folders.items()]:
                if self.root is None and not os.path.isdir(folder.place):
                    del self.folders[number]
                    found.append([number, None])
                elif (changes := folder.changes()) or folder.is_new:
                    folder.is_new = False
                    found.append([number, changes])
        return found

    def hear(self, told: list[list[Any]]) -> None:
        """Do as the other side tells."""
        with self.turn:
            for number, changes in told:
                if self.root is not None:
                    self.make_room(number, changes is None)
                folder = self.folders.get(number)
                if folder and changes is not None and os.path.isdir(folder.place):
                    folder.take(changes)

    def make_room(self, number: int, over: bool) -> None:
        """Have a folder like one of the grader's, and work in it, until it is over."""
        from shutil import rmtree

        assert self.root
        place = os.path.join(self.root, str(int(number)))
        if over:
            self.folders.pop(number, None)
            os.chdir("/")
            rmtree(place, ignore_errors=True)
        elif number not in self.folders:
            self.folders[number] = Folder(place)
            self.folders[number].is_new = False
            with suppress(OSError):
                os.makedirs(place)
                os.chdir(place)


def is_name(name: Any) -> bool:
    """Whether this is the name of a file, and no way to somewhere else."""
    plain = type(name) is str and 0 < len(name) <= LONGEST and name.isprintable()
    return plain and name not in (".", "..") and not {*name} & {*"/\\:"}


def standing(place: str) -> Files:
    """The plain files of a folder as they stand on the disk; of too many one more than may be."""
    found, left = Files(), MOST_BYTES + 1
    try:
        with os.scandir(place) as entries:
            plain = (e.name for e in entries if is_name(e.name) and is_file(e))
            names = sorted(islice(plain, MOST_FILES + 1))
    except OSError:
        return found
    for name in names:
        with suppress(OSError), reading(os.path.join(place, name)) as file:
            found[name] = file.read(left)
            left -= len(found[name])
    return found


def is_file(entry: os.DirEntry) -> bool:
    """Whether this is a plain file, and no link to one."""
    return entry.is_file(follow_symlinks=False)


def refuse_more(files: Files) -> None:
    """Unfit if there are more files, or larger ones, than may cross."""
    if len(files) > MOST_FILES:
        raise Unfit(f"more than {MOST_FILES} files in the folder that was lent")
    if sum(map(len, files.values())) > MOST_BYTES:
        raise Unfit(f"more than {MOST_BYTES:,} bytes in the folder that was lent")


def reading(path: str) -> IO[bytes]:
    """A plain file, to be read."""
    return open(os.open(path, os.O_RDONLY | SAFE), "rb")


def put(path: str, content: bytes | None) -> None:
    """Write a plain file, in place if it is there, or take it away."""
    if content is None:
        os.unlink(path)
        return
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | SAFE, 0o644), "wb") as file:
        file.write(content)
        file.truncate()
