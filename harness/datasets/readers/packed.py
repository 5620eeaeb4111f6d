"""Packed files: gzip, bzip2, xz, Zstandard, and zip archives of one file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from harness._util.libraries import pa
from harness.datasets.limits import Limits
from harness.errors import DataError, counted, listed, reason_of

SPARE = 1 << 30
"""Bytes of the disk that stay free while a file is unpacked."""
PIECE = 1 << 20
BUFFER = 1 << 18
"""Bytes that are read at a time from a stream whose progress is shown."""
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError,
          NotImplementedError, RuntimeError)  # fmt: skip


def _zstandard(path: Path) -> Any:
    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstandard,
}
ENDINGS = (*OPENERS, ".zip")
"""Endings of packed files."""


def is_packed(name: str) -> bool:
    """Return whether a file is packed, by the end of its name; archives of tar are not meant.

    Examples
    --------
    >>> is_packed("a.csv.GZ"), is_packed("a.csv"), is_packed("a.tar.gz")
    (True, False, False)
    """
    name = name.casefold()
    return name.endswith(ENDINGS) and not name.endswith((".tar.gz", ".tar.bz2", ".tar.xz"))


def without_packing(name: str) -> str:
    """Return the name of a file without the ending of its packing.

    Examples
    --------
    >>> without_packing("a.run.gz"), without_packing("a.run")
    ('a.run', 'a.run')
    """
    return name.rpartition(".")[0] if is_packed(name) else name


def beginning(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file, of a packed one those of what it holds.

    Empty where the file cannot be read or unpacked: that is said where it is read as a whole.
    """
    with suppress(*BROKEN, DataError), ExitStack() as stack:
        ending = path.suffix.casefold()
        if not is_packed(path.name):
            stream: Any = path.open("rb")
        elif ending == ".zip":
            archive = stack.enter_context(zipfile.ZipFile(path))
            stream = archive.open(_only_member(archive, path.name))
        else:
            stream = OPENERS[ending](path)
        return bytes(stack.enter_context(stream).read(n_bytes))
    return b""


@contextmanager
def unpacked(path: Path, where: str, limits: Limits | None = None) -> Iterator[tuple[Path, str]]:
    """Yield the file that a packed one holds, and what messages call it; others as they are.

    It is unpacked to a folder that is removed at the end, as far as limits and disk allow.
    """
    if not is_packed(path.name):
        yield path, where
        return
    limits = limits or Limits()
    with ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True)
        )
        try:
            n_packed = path.stat().st_size
            if path.suffix.casefold() == ".zip":
                archive = stack.enter_context(zipfile.ZipFile(path))
                member = _only_member(archive, where)
                limits.check_unpacked(member.file_size, n_packed, where, least=False)
                stream: IO[bytes] = stack.enter_context(archive.open(member))
                name, where = PurePosixPath(member.filename).name, f"{where}!{member.filename}"
            else:
                stream = stack.enter_context(OPENERS[path.suffix.casefold()](path))
                name = path.stem
            place = Path(folder) / f"unpacked{Path(name).suffix}"
            _copy(stream, place, where, limits, n_packed)
        except BROKEN as error:
            reason = reason_of(error)
            raise DataError(f"{where}: cannot be unpacked ({reason}); give a whole file") from None
        yield place, where


def _only_member(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    members = [member for member in archive.infolist() if not member.is_dir()]
    members = [member for member in members if not member.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        names = listed([member.filename for member in members], 10) or "nothing"
        raise DataError(
            f"{where}: {counted(len(members), 'file')} in the archive ({names}); unpack it and "
            "give the file of ratings"
        )
    return members[0]


def _copy(stream: IO[bytes], place: Path, where: str, limits: Limits, n_packed: int) -> None:
    with place.open("wb") as file:
        while data := stream.read(PIECE):
            limits.check_unpacked(file.tell() + len(data), n_packed, where, least=True)
            if shutil.disk_usage(place.parent).free < SPARE + len(data):
                raise DataError(
                    f"{where}: unpacks to more than {file.tell():,} bytes, and the disk has no "
                    f"room for more in {place.parent.parent}; free some"
                )
            file.write(data)


Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` in bytes; the total is 0 when unknown."""
MOST_MEMBERS = 100_000
BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    tarfile.TarError,
    zlib.error,
    NotImplementedError,  # zipfile's, of a compression that it does not know
    EOFError,
    ValueError,
    OSError,
)


class CountedStream(io.RawIOBase):
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
        except BROKEN_ARCHIVE as error:
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
        except BROKEN_ARCHIVE as error:
            kind = "gzipped tar" if is_tar else "zip"
            raise DataError(f"{archive}: not a {kind} archive ({error}); fetch it again") from None
        counted_stream = CountedStream(stream, progress, expected, f"{archive}!{member}")
        yield io.BufferedReader(counted_stream, BUFFER)


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


READ = (
    "text (CSV, TSV, ::), JSON lines, Parquet, Feather, ORC, SQLite and DuckDB, also packed with "
    "gzip, bzip2, xz, Zstandard or zip"
)
"""What is read."""
_TABLE = "save the sheet as CSV, or give harness.load the DataFrame of pandas.{}"
_KINDS = (
    ((b"PK\x03\x04",), ".xlsx .xlsm .xlsb", "an Excel workbook", _TABLE.format("read_excel")),
    ((b"PK\x03\x04",), ".ods", "an OpenDocument sheet", _TABLE.format("read_excel")),
    ((b"\xd0\xcf\x11\xe0",), "", "an old Excel or Office file", _TABLE.format("read_excel")),
    ((b"\x89HDF",), "", "HDF5", "give harness.load the DataFrame of pandas.read_hdf"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "", "a pickle, which can run code",
     "load it where you trust it, and give harness.load the DataFrame"),
    ((b"\x93NUMPY",), "", "a NumPy array", "give its columns to harness.Ratings.from_columns"),
    ((b"PK\x03\x04",), ".npz", "NumPy arrays",
     "give a matrix of scipy.sparse.load_npz to harness.load"),
    ((b"%PDF",), "", "a PDF", "give a table as text"),
    ((b"RDX", b"RDA"), "", "an R file", "write it in R as CSV or Parquet"),
    ((b"HEADER RECORD*******LIBRARY",), "", "a SAS file", "give harness.load the DataFrame of "
     "pandas.read_sas"),
    ((b"<stata_dta>",), "", "a Stata file", "give harness.load the DataFrame of pandas.read_stata"),
    ((b"MATLAB 5.0",), "", "a MATLAB file", "give harness.load the matrix of scipy.io.loadmat"),
    ((b"Obj\x01",), "", "Avro", "write it as Parquet"),
    ((b"<?xml", b"<html", b"<!DOCTYPE html"), "", "XML or HTML", "give the table alone, as CSV"),
)  # fmt: skip


def not_read(path: Path) -> str:
    """Return what a file is and what to do, if it is of a kind that is not read; else empty."""
    with path.open("rb") as file:
        head = file.read(64)
    ending = path.suffix.casefold()
    for marks, endings, kind, advice in _KINDS:
        if head.startswith(marks) and (not endings or ending in endings.split()):
            return f"{kind}, which is not read; {advice}. Read are {READ}"
    return ""
