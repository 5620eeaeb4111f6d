"""Members of archives from strangers, read without unpacking and within limits."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from harness.errors import DataError

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` in bytes; the total is 0 when unknown."""
MOST_MEMBERS = 100_000
BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tarfile.TarError,
    zlib.error,
    NotImplementedError,  # zipfile's, of a compression that it does not know
    EOFError,
    ValueError,
    OSError,
)


class Watched(io.RawIOBase):
    """A stream of some `total` bytes whose progress is shown.

    As the `member` of an archive, so called in messages, it may not be much larger than announced.
    """

    def __init__(
        self, stream: IO[bytes], progress: Progress | None, total: int, member: str = ""
    ) -> None:
        self._stream, self._progress, self._total = stream, progress, total
        self._member, self._done = member, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as there are bytes."""
        try:
            data = self._stream.read(len(buffer))
        except BROKEN as error:
            if not self._member:
                raise
            raise DataError(f"{self._member}: broken ({error}); fetch the archive again") from None
        buffer[: len(data)] = data
        self._done += len(data)
        if self._progress:
            self._progress(min(self._done, self._total), self._total)
        if self._member and self._done > (most := most_bytes(self._total)):
            raise DataError(_too_large(self._member, most))
        return len(data)

    def buffered(self) -> io.BufferedReader:
        """Return the stream with a buffer."""
        return io.BufferedReader(self, 1 << 18)


def most_bytes(expected: int) -> int:
    """Return the largest size to accept for an approximate size."""
    return 2 * expected + (1 << 20)


@contextmanager
def open_member(
    archive: Path, member: str, expected: int, progress: Progress | None = None
) -> Iterator[io.BufferedReader]:
    """Open a member of a zip or a gzipped tar archive for reading; nothing is unpacked to disk.

    A wheel is a zip archive too. A member of more than twice its `expected`, approximate size is
    refused as a zip bomb; so is one that is a link or encrypted. A wrong checksum is found while
    reading.
    """
    is_tar = archive.name.casefold().endswith(".tar.gz")
    with ExitStack() as held:
        try:
            stream = _find(archive, member, most_bytes(expected), is_tar, held)
        except FileNotFoundError:
            raise DataError(f"{archive}: no such file; fetch it again") from None
        except BROKEN as error:
            kind = "gzipped tar" if is_tar else "zip"
            raise DataError(f"{archive}: not a {kind} archive ({error}); fetch it again") from None
        yield Watched(stream, progress, expected, f"{archive}!{member}").buffered()


Entry = tuple[str, int, str, Callable[[], IO[bytes] | None]]
"""A member of an archive: name, size, why it cannot be read, and what opens it."""


def _entries(archive: Path, is_tar: bool, held: ExitStack) -> Iterator[Entry]:
    no_file = "a link or a folder, not a file; fetch the archive again"
    if is_tar:
        unpacked = held.enter_context(gzip.GzipFile(archive))
        opened = held.enter_context(tarfile.TarFile.open(fileobj=unpacked, mode="r|"))
        for entry in opened:
            name, fault = entry.name.removeprefix("./"), "" if entry.isreg() else no_file
            yield name, entry.size, fault, partial(opened.extractfile, entry)
        return
    zipped = held.enter_context(zipfile.ZipFile(archive))
    for info in zipped.infolist():
        fault = "encrypted; give an archive that is not" if info.flag_bits & 0x1 else ""
        if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16):
            fault = no_file
        yield info.filename, info.file_size, fault, partial(zipped.open, info)


def _find(archive: Path, member: str, most: int, is_tar: bool, held: ExitStack) -> IO[bytes]:
    """Return a member; a tar archive is unpacked up to there, so what is before it has limits."""
    names: list[str] = []
    n_unpacked = 0
    for name, size, fault, opener in _entries(archive, is_tar, held):
        names.append(name)
        if len(names) > MOST_MEMBERS:
            raise DataError(f"{archive}: {len(names):,} members; give the archive as published")
        if (is_tar or name == member) and max(size, n_unpacked) > most:
            raise DataError(_too_large(f"{archive}!{name}", most))
        n_unpacked += size * is_tar
        if name == member:
            if fault or (stream := opener()) is None:
                raise DataError(f"{archive}!{member}: {fault}")
            return held.enter_context(stream)
    listed = ", ".join(name[:60] for name in names[:8]) or "nothing"
    raise DataError(f"{archive}: holds no {member} (but {listed}); fetch it again")


def _too_large(where: str, most: int) -> str:
    return f"{where}: unpacks to more than {most:,} bytes; give the archive as published"
