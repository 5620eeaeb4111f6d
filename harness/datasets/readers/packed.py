"""Packed files and archives: gzip, bzip2, xz, Zstandard, zip and tar, told by their bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
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
from typing import IO, Any, NamedTuple

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


ZIP, TAR = ".zip", ".tar"
_MAGIC = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
}
_TAR_MARK = slice(257, 262)
"""The place of the mark in the header of a member of a tar archive."""


def packing_of(path: Path) -> str:
    """Return how a file is packed, by its bytes: an ending of `ENDINGS`, ``.tar``, or nothing.

    A tar archive that is packed itself is one of tar. Workbooks and arrays of NumPy, which are zip
    archives too, are what they are, and so is a text that is called as if it were packed.

    Examples
    --------
    >>> import gzip
    >>> path = getfixture("tmp_path") / "ratings.csv"
    >>> _ = path.write_bytes(gzip.compress(b"user,item,rating"))
    >>> packing_of(path)
    '.gz'
    """
    kind, head = "", b""
    with suppress(*BROKEN):
        kind = _compression(path)
        if kind == ZIP:
            return "" if _is_document(path) else ZIP
        with OPENERS[kind](path) if kind else path.open("rb") as stream:
            head = stream.read(TAR_BLOCK)
    return TAR if head[_TAR_MARK] == b"ustar" else kind


def _compression(path: Path) -> str:
    """Return the ending of the kind of packed file whose bytes begin like this file's."""
    with path.open("rb") as file:
        head = file.read(6)
    return next((kind for mark, kind in _MAGIC.items() if head.startswith(mark)), "")


TAR_BLOCK = 512
"""Bytes of the header of a member of a tar archive."""


_DOCUMENTS = (".xlsx", ".xlsm", ".xlsb", ".ods", ".npz")


def _is_document(path: Path) -> bool:
    """Return whether a zip archive is a workbook, or arrays of NumPy."""
    if path.suffix.casefold() in _DOCUMENTS:
        return True
    with suppress(*BROKEN), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        is_office = "[Content_Types].xml" in names or names[:1] == ["mimetype"]
        return is_office or (bool(names) and all(name.endswith(".npy") for name in names))
    return False


class Member(NamedTuple):
    """A file of an archive, a folder or a workbook."""

    name: str
    size: int
    open: Callable[[], Any]
    """Returns a stream of its bytes; of archives, while the archive is open."""
    ending: str | None = None
    """The ending of the file it becomes, if its name has another."""


@contextmanager
def members_of(path: Path, where: str, limits: Limits) -> Iterator[list[Member]]:
    """Yield the files of an archive, without files that programs add by themselves.

    Raises
    ------
    DataError
        If the archive is broken, or holds more than is plausible.
    """
    with ExitStack() as stack:
        try:
            if packing_of(path) == ZIP:
                zipped = stack.enter_context(zipfile.ZipFile(path))
                if any(info.flag_bits & 0x1 for info in zipped.infolist()):
                    raise DataError(
                        f"{where}: encrypted; unpack it with its password, and give the unpacked "
                        "file or folder"
                    )
                found = [
                    Member(info.filename, info.file_size, partial(zipped.open, info))
                    for info in zipped.infolist()
                    if not info.is_dir() and not stat.S_ISLNK(info.external_attr >> 16)
                ]
            else:
                found = _members_of_tar(path, where, limits, stack)
        except BROKEN_ARCHIVE as error:
            reason = reason_of(error)
            raise DataError(f"{where}: cannot be unpacked ({reason}); give a whole file") from None
        if len(found) > MOST_MEMBERS:
            raise DataError(f"{where}: {len(found):,} files in the archive; unpack it and give one")
        yield [member for member in found if not is_of_system(member.name)]


def _members_of_tar(path: Path, where: str, limits: Limits, stack: ExitStack) -> list[Member]:
    """Return the members of a tar archive, each of which is found again where it is opened."""
    kind = _compression(path)
    stream = stack.enter_context(OPENERS[kind](path) if kind else path.open("rb"))
    if kind == ".zst":  # pyarrow's stream cannot go back
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True)
        )
        place = Path(folder, "unpacked.tar")
        _copy(stream, place, where, limits, path.stat().st_size)
        stream = stack.enter_context(place.open("rb"))
    archive = stack.enter_context(tarfile.TarFile.open(fileobj=stream, mode="r:"))
    found: list[Member] = []
    n_bytes = 0
    for entry in archive:
        n_bytes += entry.size
        limits.check_unpacked(n_bytes, path.stat().st_size, where, least=True)
        if len(found) > MOST_MEMBERS:
            break
        if entry.isreg():
            name = entry.name.removeprefix("./")
            found.append(Member(name, entry.size, partial(archive.extractfile, entry)))
    while stream.read(PIECE):  # so that a packed archive is seen to be whole
        pass
    return found


def is_of_system(name: str) -> bool:
    """Return whether a file is none of a person's: hidden, of macOS, or a mark of Spark.

    Examples
    --------
    >>> [is_of_system(name) for name in ("__MACOSX/._a.csv", "out/_SUCCESS", "out/.a.crc", "a.csv")]
    [True, True, True, False]
    """
    parts = PurePosixPath(name).parts
    return not parts or parts[0] == "__MACOSX" or parts[-1][0] in "._"


def beginning(path: Path, n_bytes: int) -> bytes:
    """Return the first bytes of a file, or of the file that a packed one holds.

    Empty where the file cannot be read or unpacked: the error comes when it is read as a whole.
    """
    with suppress(*BROKEN, DataError), ExitStack() as stack:
        kind = packing_of(path)
        if not kind:
            stream: Any = path.open("rb")
        elif kind in OPENERS:
            stream = OPENERS[kind](path)
        else:
            members = stack.enter_context(members_of(path, path.name, Limits()))
            stream = only_member(members, path.name).open()
        return bytes(stack.enter_context(stream).read(n_bytes))
    return b""


@contextmanager
def unpacked(path: Path, where: str, limits: Limits | None = None) -> Iterator[tuple[Path, str]]:
    """Yield the file that a packed one holds, and what messages call it; others as they are.

    It is unpacked to a folder that is removed at the end, as far as limits and disk allow. For an
    archive this is its only file: `harness.datasets.places.found` chooses among several.
    """
    kind = "" if path.is_dir() else packing_of(path)
    if not kind:
        yield path, where
        return
    limits = limits or Limits()
    with ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True)
        )
        if kind in OPENERS:
            try:
                n_packed = path.stat().st_size
                stream: IO[bytes] = stack.enter_context(OPENERS[kind](path))
                name = path.stem if is_packed(path.name) else path.name
                place = Path(folder) / f"unpacked{Path(name).suffix}"
                _copy(stream, place, where, limits, n_packed)
            except BROKEN as error:
                raise broken(where, error) from None
        else:
            member = only_member(stack.enter_context(members_of(path, where, limits)), where)
            place = extracted(member, path, Path(folder), where, limits)
            where = f"{where}!{member.name}"
        yield place, where


def broken(where: str, error: BaseException) -> DataError:
    """Return the error about a packed file that is not whole."""
    reason = reason_of(error)
    return DataError(f"{where}: cannot be unpacked ({reason}); give a whole file")


def extracted(
    member: Member, path: Path, folder: Path, where: str, limits: Limits, most: int | None = None
) -> Path:
    """Copy a member of the archive at `path` to a folder, or its first `most` bytes."""
    n_packed = path.stat().st_size
    ending = PurePosixPath(member.name).suffix if member.ending is None else member.ending
    place = folder / f"unpacked{ending}"
    try:
        if most is not None:
            with member.open() as stream:
                place.write_bytes(stream.read(most))
            return place
        limits.check_unpacked(member.size, n_packed, where, least=False)
        with member.open() as stream:
            _copy(stream, place, where, limits, n_packed)
    except BROKEN as error:
        raise broken(where, error) from None
    return place


def only_member(members: list[Member], where: str) -> Member:
    """Return the only file of an archive, or refuse those that hold several or none."""
    if len(members) != 1:
        names = listed([member.name for member in members], 10) or "nothing"
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
    "text (CSV, TSV, ::), JSON, Parquet, Arrow, ORC, SQLite, DuckDB, Excel, Stata, SPSS, Matrix "
    "Market and SQL dumps, also packed with gzip, bzip2, xz, Zstandard, zip or tar"
)
"""The formats that are read, in words."""
_ARRAY = (
    "harness.load(scipy.sparse.coo_array(numpy.load({path!r}))) reads a matrix of users and items"
)
_KINDS = (
    ((b"\x89HDF",), "", "HDF5", "harness.load(pandas.read_hdf({path!r})) reads what pandas wrote"),
    ((b"MATLAB 7.3",), "", "a MATLAB 7.3 file, which is HDF5",
     "harness.load(scipy.sparse.coo_array(h5py.File({path!r})['M'][()].T)) reads the matrix M of "
     "users and items (pip install h5py; list(h5py.File({path!r})) names the matrices)"),
    ((b"MATLAB 5.0",), "", "a MATLAB file",
     "harness.load(scipy.sparse.coo_array(scipy.io.loadmat({path!r})['M'])) reads the matrix M of "
     "users and items; scipy.io.whosmat({path!r}) names the matrices"),
    ((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "", "a pickle, which can run code",
     "if you trust where it is from, harness.load(pandas.read_pickle({path!r})) reads it"),
    ((b"\x93NUMPY",), "", "a NumPy array", _ARRAY),
    ((b"PK\x03\x04",), ".npz", "NumPy arrays",
     "harness.load(scipy.sparse.load_npz({path!r})) reads a matrix of SciPy"),
    ((b"%PDF",), "", "a PDF", "save its table as CSV"),
    ((b"\x7fELF", b"\xcf\xfa\xed\xfe"), "", "a program", "give a file of ratings"),
    ((b"RDX", b"RDA"), "", "an R file", "in R, write.csv(…, 'ratings.csv', row.names = FALSE) "
     "writes a file that is read"),
    ((b"HEADER RECORD*******LIBRARY",), "", "a SAS transport file",
     "harness.load(pandas.read_sas({path!r}, format='xport', encoding='utf-8')) reads it"),
    ((b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60",), "", "a SAS file",
     "harness.load(pandas.read_sas({path!r}, format='sas7bdat', encoding='utf-8')) reads it"),
    ((b"\x03", b"\x30", b"\x83", b"\x8b", b"\xf5"), ".dbf", "a dBASE table",
     "harness.load(pandas.DataFrame(iter(dbfread.DBF({path!r})))) reads it (pip install dbfread)"),
    ((b"ASCII SPSS PORT FILE",), "", "an SPSS portable file",
     "harness.load(pyreadstat.read_por({path!r})[0]) reads it (pip install pyreadstat)"),
    ((b"Obj\x01",), "", "Avro", "write it as Parquet"),
    ((b"7z\xbc\xaf\x27\x1c",), "", "a 7-Zip archive", "unpack it (7z x {path}), and give the "
     "unpacked file or folder"),
    ((b"Rar!",), "", "a RAR archive", "unpack it (unrar x {path}), and give the unpacked file "
     "or folder"),
    ((b"\x1f\x9d",), "", "packed with compress", "unpack it (gunzip {path})"),
    ((b"\x04\x22\x4d\x18",), "", "packed with LZ4", "unpack it (lz4 -d {path})"),
    ((b"PGDMP",), "", "a dump of pg_dump in its own format", "pg_restore -f dump.sql {path} writes "
     "one that is read"),
    ((b"X\n\0\0\0", b"A\n2\n", b"A\n3\n"), "", "an R object", "in R, write.csv(readRDS({path!r}), "
     "'ratings.csv', row.names = FALSE) writes a file that is read"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM\x00", b"RIFF"), "", "a picture or a recording",
     "give the table as CSV"),
    ((b"[InternetShortcut]",), "", "a shortcut to an address", "open it, and fetch the file"),
    ((b"version https://git-lfs",), "", "a Git-LFS pointer to a file, not the file",
     "git lfs pull in its repository fetches the file"),
)  # fmt: skip
_TEXTS = {
    rb"[-+\d.]+( \d+:[-+\d.e]+)+\s*\n": "features of LibSVM or LibFM by number, in which nothing "
    "says what is a user or an item; if each line is a user and each feature an item, harness.load("
    "scipy.sparse.coo_array(sklearn.datasets.load_svmlight_file({path!r})[0])) reads it",
    rb"[-+\d.]+ \|\w+ [^,\t\n]*\|": "lines of Vowpal Wabbit, which are not read; give the table "
    "that they were made from",
    rb"\+(-+\+)+\r?\n": "a table as the terminal of MySQL shows it; write it with mysql --batch, "
    "which separates by tabs",
    rb"(\w+)?\([^()\n]*,[^()\n]*\)\.?\r?\n\w*\(": "tuples in parentheses, as saveAsTextFile of "
    "Spark writes them; sed 's/.*(//; s/).*//' {parts} > ratings.csv writes a file that is read",
    rb"(---\r?\n)?- ?\w+: ": "YAML, which is not read; harness.load(pandas.DataFrame(ruamel.yaml."
    "YAML(typ='safe').load(pathlib.Path({path!r})))) reads a list of records",
    rb"[^\t\n{\"]*\t\{\"": "objects of JSON behind a key, such as from Kafka; cut -f2- {path} > "
    "ratings.jsonl writes a file that is read",
    rb"(\d{4}-\d\d-\d\d[^\t\n{\"]*|[^\t\n{\",;]+) \{\"": "objects of JSON behind other text, as in "
    "a log; sed 's/^[^{{]*//' {path} > ratings.jsonl writes a file that is read",
    rb"[\w.$]+\(\s*[\[{]": "JSON in a call of JavaScript (JSONP); sed '1s/^[^(]*(//; $s/);*$//' "
    "{path} > ratings.json writes a file that is read",
    rb"([\w.]+=\S* ){2,}[\w.]+=\S*\s*\n": "lines of key=value; harness.load(pandas.DataFrame([dict("
    "p.split('=', 1) for p in line.split()) for line in pathlib.Path({path!r}).read_text()."
    "splitlines()])) reads lines whose values have no blanks",
    rb"(\w+=[^&\s]*&){2,}\w+=[^&\s]*\s*\n": "queries of addresses; harness.load(pandas.DataFrame(["
    "dict(urllib.parse.parse_qsl(line)) for line in pathlib.Path({path!r}).read_text()."
    "splitlines()])) reads them",
    rb"\w+ ?\{\s*\n\s*\w+: ": "text of protocol buffers, which is not read; write it as JSON",
    rb"(hset|hmset|zadd) \S+ \S+ \S+\s*\n": "commands of Redis, which are not read; give the table "
    "that they were made from",
    rb"\[\(": "a list of tuples as Python prints it; harness.load(ast.literal_eval(pathlib.Path("
    "{path!r}).read_text())) reads it",
    rb"(%[^\n]*\n|\\(?!begin\{{tabular)[^\n]*\n|\s)*\\begin\{tabular": "a table of LaTeX, which is "
    "not read; give the table that it was made from",
    rb"\|\|[^\n]*\|\|\r?\n\|[^|]": "a table of Jira or Confluence; export it as CSV",
    rb"([^\n]*\n){0,4}-{9,}\r?\n\|[^\n]*\|\r?\n-{9,}\r?\n\|": "a list between dashes, as SAP "
    "shows it; export it as a spreadsheet or as CSV",
    rb"\*vertices \d+": "a network of Pajek, which is not read; give the table that it was "
    "made from",
    rb"\d+:\r?\n\d+\r?\n": "pairs without ratings, such as the probe set of the Netflix Prize; "
    "give the files of ratings, such as combined_data_1.txt",
}
"""Beginnings of texts that are not a table of ratings, in small letters, and their names."""
_WEB = (b"<!doctype html", b"<html", b"<head", b"<body", b"<table")


def not_read(path: Path, where: str = "") -> str:
    """Return what a file is and what to do, if it is of a kind that is not read; else empty.

    `where` is what the advice calls it, by default its path.
    """
    shown = where or str(path)
    with path.open("rb") as file:
        head = file.read(4096)
    ending = path.suffix.casefold()
    if not head:
        return "no rows of data, as the file has 0 bytes; write or fetch it again"
    for marks, endings, kind, advice in _KINDS:
        if head.startswith(marks) and (not endings or ending in endings.split()):
            return f"{kind}, which is not read; {advice.format(path=shown)}. Read are {READ}"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith(_WEB) or (text.startswith(b"<?xml") and b"<html" in text):
        if b"<table" in text or b"<td" in text:
            return (
                f"a web page with a table; harness.load(pandas.read_html({shown!r})[0]) reads its "
                "first table (pip install lxml)"
            )
        title = re.search(rb"<title[^>]*>\s*([^<]{1,60})", head, re.IGNORECASE)
        named = f" ({title[1].decode('utf-8', 'replace').strip()!r})" if title else ""
        return (
            f"a web page{named} in place of the file, such as a login or an error page; open the "
            "address in a browser, log in where it asks, and fetch the file again"
        )
    if b"urn:schemas-microsoft-com:office:spreadsheet" in text:
        return "a workbook of Excel 2003 as XML, which is not read; save it as .xlsx or CSV"
    if text.startswith(b"<?xml") or re.match(rb"<([a-z]\w*)[^<>]*>\s*<", text):
        return (
            "XML, which is not read; harness.load(pandas.read_xml("
            f"{shown!r}, parser='etree')) reads a list of records. Read are {READ}"
        )
    for form, what in _TEXTS.items():
        if re.match(form, text):
            parts = str(Path(shown).parent / "part-*")  # one part alone would lose the others
            return what.format(path=shown, parts=parts if path.name.startswith("part-") else shown)
    if ending == ".bson" and len(head) > 5 and head[4] in (1, 2, 7, 16, 18):
        return f"BSON of mongodump, which is not read; bsondump {shown} > ratings.json writes JSON"
    if ending == ".br" and not head.isascii():
        return f"packed with Brotli, which is not read; unpack it (brotli -d {shown})"
    if not head.strip():
        return "no rows of data, nothing but blanks; write or fetch it again"
    if re.match(rb"\(\w+, ?\w+\)\t\w+\t\w+", head):
        return (
            "for each user and item, other items that are not rated (such as .test.negative of "
            "NCF), and no ratings; give the file of ratings beside it, such as "
            f"{path.name.replace('.negative', '.rating')}"
        )
    if not head.strip(b"\0"):
        return "nothing but null bytes, as after a broken download; fetch it again"
    return _binary(head, ending)


def _binary(head: bytes, ending: str) -> str:
    """Return what to do about binary data of an unknown format; empty for other data.

    Null bytes are in the first line, and not as in UTF-16 or UTF-32.
    """
    places = [place for place, byte in enumerate(head[:256].split(b"\n")[0]) if not byte]
    of_utf_16 = len({place % 2 for place in places}) < 2
    of_utf_32 = len({place % 4 for place in places}) < 4
    is_binary = len(places) >= 8 and not of_utf_16 and not of_utf_32
    if not is_binary and ending not in (".msgpack", ".mpk"):
        return ""
    return (
        f"binary data of a format that is not known (it begins with {head[:8].hex(' ')}); save its "
        f"table as CSV or Parquet. Read are {READ}"
    )
