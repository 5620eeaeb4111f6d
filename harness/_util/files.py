"""Paths, files and folders replaced completely or not at all, and locks of one process."""

from __future__ import annotations

import errno
import glob
import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO

from harness.errors import MASK, HarnessError, ResultsError, is_url, masked, reason_of

RUN_FILE = "run.json"
"""The record of a run, in its folder."""
BETWEEN_ATTEMPTS = 0.05
"""Seconds between two attempts to get a lock."""
SETTLED_NS = 2_000_000_000
"""Nanoseconds after a change of a file in which another one could have the same time."""
PATIENCE = 60.0
"""Seconds for which another writer of a folder is waited for."""

ELSEWHERE = "choose another place"
"""What to do where a file cannot be written."""

OwnNames = Callable[[Path], set[str]]
"""Returns the names of the files in a folder that may be replaced; the others stay."""
EarlierPlace = Callable[[Path, Path], Path | None]
"""Returns where a folder is kept as a whole, given its name and where it was moved when another one
took its place; None where only the files that are not its own stay."""


def cache_folder() -> Path:
    """Return the folder of downloads and cells: ``HARNESS_CACHE``, or the system's cache folder."""
    if variable := os.environ.get("HARNESS_CACHE"):
        return Path(variable)
    return Path(pooch().os_cache("surprise-harness"))


def pooch() -> ModuleType:
    """Import pooch without what tqdm says in a notebook that lacks widgets, which nothing needs."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress not found")
        return import_module("pooch")


def read_regular(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a regular file, or all.

    A named pipe, on which a reader would wait, or another kind of file raises an OSError.
    """
    with _regular(path) as file:
        return file.read(most)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a regular file."""
    with _regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file, read once while its state is the same.

    One that changed just before it was read is read again: a change within the resolution of the
    clock would leave its state as it was.
    """
    before = _state(path)
    if path in _digests and _digests[path][0] == before:
        return _digests[path][1]
    digest = digest_of(path)
    # On Windows, the last of these times is that of creation.
    is_settled = sys.platform != "win32" and time.time_ns() - before[-1] > SETTLED_NS
    if is_settled and _state(path) == before:
        _digests[path] = before, digest
    return digest


_digests: dict[Path, tuple[tuple[int, ...], str]] = {}
"""By path, the state of a file, and the digest that it had."""


def _state(path: Path) -> tuple[int, ...]:
    """Return what differs after a file was written; last, when that was."""
    status = path.stat()
    size = status.st_dev, status.st_ino, status.st_size
    return (*size, status.st_mtime_ns, status.st_ctime_ns)


@contextmanager
def _regular(path: Path) -> Iterator[io.BufferedReader]:
    at_once = lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))  # noqa: E731
    with open(path, "rb", opener=at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield file


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file so that a reader sees all of it or nothing, even after a power cut.

    One that is not `durable` does not wait for the disk: a power cut may lose or damage it.
    """
    with open_whole(path, durable=durable) as file:
        file.write(data)


@contextmanager
def open_whole(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing that a reader sees when it is complete.

    Its folder is made when it is missing. An OSError, as where the disk is full, leaves what was
    there before untouched.
    """
    with suppress(FileExistsError):  # of a file in its place, as opening the path says
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _beside(path, "part")
    try:
        with temporary.open("xb") as file:  # a new file, with the permissions of the umask
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync(path.parent)


@contextmanager
def report_os_error(
    where: Path | str,
    problem: str = "cannot be written",
    advice: str = ELSEWHERE,
    kind: type[HarnessError] = ResultsError,
) -> Iterator[None]:
    """Turn an OSError into an error that says where, what, why and what to do."""
    try:
        yield
    except OSError as error:
        raise kind(f"{where}: {problem} ({reason_of(error)}); {advice}") from None


def refuse_below_file(path: Path) -> None:
    """Refuse a path that cannot be made, as one of its folders is a file."""
    # Path.is_file raises an error in a folder that may not be read.
    if any(os.path.isfile(folder) for folder in path.parents):  # noqa: PTH113
        raise ResultsError(f"{path}: cannot be written (not a directory); {ELSEWHERE}")


def replace_folder(
    folder: Path, files: Mapping[str, bytes | Path], own_names: OwnNames, earlier: EarlierPlace
) -> Path | None:
    """Put files into a folder in place of the files of `own_names`, all of them or none.

    A path is copied from. Returns where the former folder is kept, if `earlier` keeps it. Writers
    take turns; when one is killed between moving the old folder away and moving the new one in,
    `restore_folder` or the next writer brings the old one back.
    """
    fresh = _beside(folder, "new")
    with hold(folder.with_name(".lock"), PATIENCE):
        _restore(folder, own_names, earlier)
        for unfinished in leftovers(folder, "new"):
            shutil.rmtree(unfinished, ignore_errors=True)
        aside = place = None
        try:
            for name, data in files.items():
                if isinstance(data, bytes):
                    write_whole(fresh / name, data)
                else:
                    with open_whole(fresh / name) as file, data.open("rb") as source:
                        shutil.copyfileobj(source, file)
            if folder.exists():
                replaced = own_names(folder) | files.keys()
                aside = folder.rename(_beside(folder, "old"))
            fresh.rename(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if aside is not None and not folder.exists():
                aside.rename(folder)
            raise
        if aside is not None:
            place = _settle(folder, aside, replaced, earlier)
        _sync(folder.parent)
    return place


def restore_folder(folder: Path, own_names: OwnNames, earlier: EarlierPlace) -> None:
    """Restore the folder that a killed writer had moved away, or keep it where it belongs."""
    if leftovers(folder, "old"):
        # A folder that cannot be written has no writer, and stays as it is.
        with suppress(OSError), hold(folder.with_name(".lock"), PATIENCE):
            _restore(folder, own_names, earlier)


def _restore(folder: Path, own_names: OwnNames, earlier: EarlierPlace) -> None:
    for aside in leftovers(folder, "old"):
        if not folder.exists():
            aside.rename(folder)
        else:
            _settle(folder, aside, own_names(aside) | own_names(folder), earlier)


def _settle(
    folder: Path, aside: Path, replaced: Container[str], earlier: EarlierPlace
) -> Path | None:
    """Keep a folder that was moved aside, or what was not replaced in it; return its place."""
    if (place := earlier(folder, aside)) is None:
        _keep_others(folder, aside, replaced)
        return None
    return aside.rename(place)


def _keep_others(folder: Path, aside: Path, replaced: Container[str]) -> None:
    """Move the files that were not replaced from the old folder to the new, and remove the old."""
    for other in aside.iterdir():
        # Where the new folder has a file of that name, it has the name now.
        if other.name not in replaced and not (folder / other.name).exists():
            other.rename(folder / other.name)
    shutil.rmtree(aside, ignore_errors=True)


def leftovers(path: Path, kind: str = "part") -> list[Path]:
    """Return the temporary files that killed writers left beside a path."""
    # A glob would compile a pattern for each path, which takes longer than all else here.
    ends = [f".{path.name}", kind]
    with suppress(OSError):  # there is no folder, or none that may be listed
        return sorted(p for p in path.parent.iterdir() if p.name.rsplit(".", 2)[::2] == ends)
    return []


def _beside(path: Path, kind: str) -> Path:
    """Return an unused hidden name beside a path, which no other user can predict."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{kind}")


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on disk, if the system supports it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def hold(path: Path, patience: float = -1.0) -> Iterator[None]:
    """Hold a lock that one process at a time can have, and that ends with its process.

    The lock's file stays where it is, empty: if it were removed, a process that had opened it
    before and another that makes it again could both hold it. If another process holds it for
    longer than `patience` seconds (for ever when negative), a TimeoutError is raised; an OSError
    where the disk has no locks.
    """
    with suppress(FileExistsError):  # of a file in its place, as opening the path says
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


def write_output(
    path: Path, data: bytes | str, advice: str = ELSEWHERE, kind: type[HarnessError] = ResultsError
) -> Path:
    """Write a file that a person has named, and return its path; invalid Unicode becomes `?`."""
    with open_output(path, advice, kind) as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
    return path


@contextmanager
def open_output(
    path: Path, advice: str = ELSEWHERE, kind: type[HarnessError] = ResultsError
) -> Iterator[IO[bytes]]:
    """Open a file that a person has named: through a link, and into a device or a pipe."""
    with report_os_error(path, advice=advice, kind=kind):
        special = path.is_symlink() or (path.exists() and not path.is_file())
        opened: AbstractContextManager[IO[bytes]] = path.open("wb") if special else open_whole(path)
        with opened as file:
            yield file


def refuse_other_page(path: Path) -> Path:
    """Return the path of a page; the ending of another format is refused.

    >>> refuse_other_page(Path("report.pdf"))
    Traceback (most recent call last):
    harness.errors.ResultsError: report.pdf: the page is HTML; call it report.html, and print it
    from a browser
    """
    if path.suffix.lower() not in ("", ".html", ".htm"):
        name = f"{path.stem if path.suffix[1:].isalpha() else path.name}.html"
        printed = ", and print it from a browser" if path.suffix.lower() == ".pdf" else ""
        raise ResultsError(f"{path}: the page is HTML; call it {name}{printed}")
    return path


FORMS = frozenset(
    f".{ending}"
    for words in (
        "csv tsv json jsonl parquet xml yaml yml toml xls xlsx ods",
        "md html htm tex pdf ps doc docx odt rtf ppt pptx odp",
        "png svg jpg jpeg gif eps tif tiff webp",
        "zip gz bz2 xz h5 joblib onnx pickle pkl pt pth",
    )
    for ending in words.split()
)
"""Endings that say what a file is."""


def refuse_other_form(path: str | os.PathLike[str], form: str, *endings: str) -> None:
    """Refuse a file whose ending says another form than what is written.

    >>> refuse_other_form("table.xlsx", "CSV", ".csv")
    Traceback (most recent call last):
    harness.errors.ResultsError: table.xlsx: the file is CSV; call it table.csv
    """
    named = Path(path)
    if named.suffix.lower() in FORMS - {*endings}:
        name = named.stem.removesuffix(endings[0]) + endings[0]
        raise ResultsError(f"{named}: the file is {form}; call it {name}")


def refuse_link(path: Path) -> Path:
    """Return a path, or refuse a link there, as a run from elsewhere may hold."""
    if path.is_symlink():
        raise ResultsError(f"{path}: a link to another file; remove the link")
    return path


PATTERN = re.compile(r"[*?\[]")
"""What a path that stands for several files has in it."""


def placed(path: str | Path, base: Path | None) -> Path:
    """Return where a path is that a config names: relative to its folder or the working one."""
    # Path.expanduser raises an error for the home of a user that does not exist.
    return (base or Path()) / os.path.expanduser(path)  # noqa: PTH111


def as_list(paths: str | Sequence[str]) -> list[str]:
    """Return one path, or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def are_there(paths: Sequence[str], base: Path | None) -> bool:
    """Return whether each path, or what a pattern stands for, is on this machine or elsewhere."""
    return all(
        is_url(path)
        or placed(path, base).exists()
        or (PATTERN.search(path) is not None and bool(glob.glob(str(placed(path, base)))))  # noqa: PTH207
        for path in paths
    )


def file_name(path: str) -> str:
    """Return the last part of a path, or of an address without its query.

    Examples
    --------
    >>> file_name("a/b.csv"), file_name("https://ann:secret@example.org/b.csv?key=a/b.c")
    ('b.csv', 'b.csv')
    """
    if is_url(path):
        path = masked(path).partition("://")[2].removesuffix("?" + MASK)
        return PurePosixPath(path.partition("/")[2]).name
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
