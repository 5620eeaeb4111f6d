"""One member of an archive, read as a stream: nothing is unpacked to disk."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from harness.errors import DataError

__all__ = ["is_archive", "member_names", "open_member"]

MOST_MEMBERS = 100_000
ENDINGS = (".zip", ".tar.gz")
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    NotImplementedError,  # zipfile's, of a compression that it does not know
    EOFError,
    ValueError,
)


def is_archive(path: Path) -> bool:
    """Return whether a file is a readable archive, by its name.

    Examples
    --------
    >>> is_archive(Path("ml-100k.zip")), is_archive(Path("a.tar.gz")), is_archive(Path("u.data"))
    (True, True, False)
    """
    return path.name.casefold().endswith(ENDINGS)


class _Measured:
    """A member that may not exceed its declared size."""

    def __init__(self, stream: IO[bytes], most: int, where: str) -> None:
        self._stream, self._left, self._most, self._where = stream, most, most, where

    def read(self, size: int, /) -> bytes:
        try:
            data = self._stream.read(size)
        except BROKEN as error:
            raise DataError(f"{self._where}: broken ({error}); fetch the archive again") from None
        self._left -= len(data)
        if self._left < 0:
            raise DataError(_too_large(self._where, self._most))
        return data


@contextmanager
def open_member(archive: Path, member: str, most: int) -> Iterator[_Measured]:
    """Open a member of a zip or a gzipped tar archive for reading.

    Parameters
    ----------
    archive : Path
        A zip archive, as a wheel is, unless it ends with ``.tar.gz``.
    member : str
        Its path inside the archive, exactly.
    most : int
        A larger member is refused as a zip bomb.

    Raises
    ------
    DataError
        If the archive is broken or holds no such member, or the member is a link, encrypted or
        larger than `most`; while reading, if its checksum is wrong.
    """
    where = f"{archive}!{member}"
    if archive.name.casefold().endswith(".tar.gz"):
        with _member_of_tar(archive, member, most, where) as stream:
            yield _Measured(stream, most, where)
        return
    with _opened(archive) as opened:
        try:
            info = opened.getinfo(member)
        except KeyError:
            names = ", ".join(name[:60] for name in opened.namelist()[:8])
            raise DataError(
                f"{archive}: holds no {member} (but {names or 'nothing'}); fetch it again"
            ) from None
        if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
            raise DataError(_no_file(where))
        if info.flag_bits & 0x1:
            raise DataError(f"{where}: encrypted; give an archive that is not")
        if info.file_size > most:
            raise DataError(_too_large(where, most))
        try:
            stream = opened.open(info)
        except BROKEN as error:
            raise DataError(f"{where}: broken ({error}); fetch the archive again") from None
        with stream:
            yield _Measured(stream, most, where)


@contextmanager
def _member_of_tar(archive: Path, member: str, most: int, where: str) -> Iterator[IO[bytes]]:
    """Open a member of a gzipped tar archive, which is read from its start up to the member."""
    with ExitStack() as held:
        try:
            unpacked = held.enter_context(gzip.open(archive))
            opened = held.enter_context(tarfile.open(fileobj=unpacked, mode="r|"))
            found = _find_in_tar(opened, archive, member, most)
            stream = opened.extractfile(found) if found.isreg() else None
        except FileNotFoundError:
            raise DataError(f"{archive}: no such file; fetch it again") from None
        except (*BROKEN, OSError) as error:
            raise DataError(
                f"{archive}: not a gzipped tar archive ({error}); fetch it again"
            ) from None
        if stream is None:
            raise DataError(_no_file(where))
        yield stream


def _find_in_tar(opened: tarfile.TarFile, archive: Path, member: str, most: int) -> tarfile.TarInfo:
    """Return the member, with a limit on the bytes before it."""
    names: list[str] = []
    n_before = 0
    for info in opened:
        names.append(info.name)
        if len(names) > MOST_MEMBERS:
            raise DataError(_too_many(archive, len(names)))
        if info.size > most or n_before > most:
            raise DataError(_too_large(f"{archive}!{info.name}", most))
        if info.name.removeprefix("./") == member:
            return info
        n_before += info.size
    shown = ", ".join(name[:60] for name in names[:8])
    raise DataError(f"{archive}: holds no {member} (but {shown or 'nothing'}); fetch it again")


def member_names(archive: Path) -> list[str]:
    """Return the paths inside a zip archive."""
    with _opened(archive) as opened:
        return opened.namelist()


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        opened = zipfile.ZipFile(archive)
    except FileNotFoundError:
        raise DataError(f"{archive}: no such file; fetch it again") from None
    except (*BROKEN, OSError) as error:
        raise DataError(f"{archive}: not a zip archive ({error}); fetch it again") from None
    with opened:
        if len(opened.filelist) > MOST_MEMBERS:
            raise DataError(_too_many(archive, len(opened.filelist)))
        yield opened


def _no_file(where: str) -> str:
    return f"{where}: a link or a folder, not a file; fetch the archive again"


def _too_many(archive: Path, n_members: int) -> str:
    return f"{archive}: {n_members:,} members; give the archive as published"


def _too_large(where: str, most: int) -> str:
    return f"{where}: unpacks to more than {most:,} bytes; give the archive as published"
