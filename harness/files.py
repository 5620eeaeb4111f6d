"""Files that are written completely or not at all, and locks that end with their process."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import IO

__all__ = [
    "beside",
    "hold",
    "leftovers",
    "read_regular",
    "sync_folder",
    "write_output",
    "write_whole",
]

BETWEEN_ATTEMPTS = 0.05
"""Seconds between two attempts to get a lock."""


def read_regular(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a regular file, or all.

    A named pipe, on which a reader would wait, or another kind of file raises an OSError.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.txt"
    >>> write_whole(path, b"whole")
    >>> read_regular(path, 3)
    b'who'
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return file.read(most)


def _open_at_once(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees all of it or nothing, even after a power cut.

    Its folder is made when it is missing. An OSError, as where the disk is full, leaves what was
    there before untouched.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> write_whole(folder / "a.txt", b"whole")
    >>> [each.name for each in folder.iterdir()]
    ['a.txt']
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = beside(path, "part")
    try:
        with temporary.open("xb") as file:  # a new file, with the permissions of the umask
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_output(path: Path, data: bytes) -> None:
    """Write a file that a person has named: through a link, and into a device or a pipe.

    Examples
    --------
    >>> folder = getfixture("tmp_path")
    >>> (folder / "link").symlink_to(folder / "file")
    >>> write_output(folder / "link", b"text")
    >>> (folder / "link").is_symlink(), (folder / "file").read_bytes()
    (True, b'text')
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
    else:
        write_whole(path, data)


def beside(path: Path, kind: str) -> Path:
    """Return an unused hidden name beside a path, which no other user can predict.

    Examples
    --------
    >>> beside(Path("runs/small"), "new").name
    '.small....new'
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{kind}")


def leftovers(path: Path, kind: str = "part") -> list[Path]:
    """Return the temporary files that killed writers left beside a path."""
    return sorted(path.parent.glob(f".{escape(path.name)}.*.{kind}"))


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, if the system supports it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def hold(path: Path, patience: float = -1.0) -> Iterator[None]:
    """Hold a lock that one process at a time can have, and that ends with its process.

    The lock's file stays where it is, empty: if it were removed, a process that had opened it
    before and another that makes it again could both hold it. Where another process holds it for
    longer than `patience` seconds (for ever when negative), a TimeoutError is raised; an OSError
    where the disk has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + patience
    with path.open("ab") as file:  # closing it ends the lock, and so does the end of the process
        while not _lock(file):
            if patience >= 0 and end <= time.monotonic():
                raise TimeoutError(errno.ETIMEDOUT, "another process holds it", str(path))
            time.sleep(BETWEEN_ATTEMPTS)
        yield


def _lock(file: IO[bytes]) -> bool:
    """Lock an open file; return whether no other process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            raise
        return False
    return True
