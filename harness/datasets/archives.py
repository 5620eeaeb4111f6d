"""One member of a zip archive, read as a stream: nothing is ever unpacked onto the disk."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from harness.errors import DataError

__all__ = ["member_names", "open_member"]

MOST_MEMBERS = 100_000
BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, ValueError)


class _Measured:
    """A member that may not grow beyond what was announced."""

    def __init__(self, stream: IO[bytes], most: int, where: str) -> None:
        self._stream, self._left, self._most, self._where = stream, most, most, where

    def read(self, size: int, /) -> bytes:
        import zlib

        try:
            data = self._stream.read(size)
        except (*BROKEN, zlib.error) as error:
            raise DataError(f"{self._where}: broken ({error}); fetch the archive again") from None
        self._left -= len(data)
        if self._left < 0:
            raise DataError(_too_large(self._where, self._most))
        return data


@contextmanager
def open_member(archive: Path, member: str, most: int) -> Iterator[_Measured]:
    """Open a member of a zip archive for reading.

    Parameters
    ----------
    archive : Path
    member : str
        Its path inside the archive, exactly.
    most : int
        Bytes beyond which it is taken for a bomb.

    Raises
    ------
    DataError
        If the archive is broken or holds no such member, or the member is a link, encrypted or
        larger than `most`; while reading, if its checksum is wrong.
    """
    where = f"{archive}!{member}"
    with _opened(archive) as opened:
        try:
            info = opened.getinfo(member)
        except KeyError:
            names = ", ".join(name[:60] for name in opened.namelist()[:8])
            raise DataError(
                f"{archive}: holds no {member} (but {names or 'nothing'}); fetch it again"
            ) from None
        if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
            raise DataError(f"{where}: a link or a folder, not a file; fetch the archive again")
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


def member_names(archive: Path) -> list[str]:
    """Return the paths inside an archive."""
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
            raise DataError(
                f"{archive}: {len(opened.filelist):,} members; give the archive as published"
            )
        yield opened


def _too_large(where: str, most: int) -> str:
    return f"{where}: unpacks to more than {most:,} bytes; give the archive as published"
