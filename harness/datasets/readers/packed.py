"""Packed files: gzip, bzip2, xz, Zstandard, and zip archives of one file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

from harness.datasets.limits import Limits
from harness.errors import DataError, counted, listed, reason_of

SPARE = 1 << 30
"""Bytes of the disk that stay free while a file is unpacked."""
PIECE = 1 << 20
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError,
          NotImplementedError, RuntimeError)  # fmt: skip


def _zstandard(path: Path) -> Any:
    import pyarrow as pa

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
    limits = limits or Limits()
    if not is_packed(path.name):
        yield path, where
        return
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
