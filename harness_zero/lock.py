"""An exclusive lock on a file: one run writes it, and when its process dies the lock is gone.

The system holds the lock, and no second file does: so nothing is left behind that a later run
would have to clean up. On Linux and macOS it is `flock`: it belongs to the open file, so a second
run in the same process is kept out as well, and it ends with the last process that has that file
open, by `kill -9` too. On Windows the first byte behind all that a file can grow to is locked.

Over a network the server has to keep the lock. NFS from version 4 on does, and lets go when the
lease of a dead machine ends, after a minute or so; a file system that knows no locks is refused.
"""

import errno
import os
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
BEHIND_ALL = 2**62


class Held(Exception):
    """Somebody else holds the lock."""


def lock(file: IO[bytes]) -> None:
    """Take the lock and keep it until the file is closed. Held at once if somebody else has it.

    Any other OSError says that this file system knows no locks.
    """
    try:
        hold_region(file) if fcntl is None else fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in HELD:
            raise Held from None
        raise


def hold_region(file: IO[bytes]) -> None:
    """The same on Windows, where only a region can be locked."""
    import msvcrt

    windows: Any = msvcrt
    at = file.tell()
    try:
        os.lseek(file.fileno(), BEHIND_ALL, os.SEEK_SET)
        windows.locking(file.fileno(), windows.LK_NBLCK, 1)
    finally:
        os.lseek(file.fileno(), at, os.SEEK_SET)
