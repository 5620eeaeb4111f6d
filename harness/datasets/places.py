"""Places of the files of one data set: a path, list, pattern, folder of parts, or address."""

from __future__ import annotations

import glob
import hashlib
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from harness._util.arguments import check_path
from harness._util.files import PATTERN, file_name, placed
from harness.datasets.limits import MEGABYTE, PATIENCE, REMOTE_SECONDS, SLOWEST, Limits, too_slow
from harness.datasets.members import choose, is_document, scratch
from harness.datasets.openers import named, opener_of, scheme_of
from harness.datasets.readers import check_keys, kind_of, kind_of_content, takes_folders
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.folders import folder_not_read
from harness.datasets.readers.packed import (
    TAR,
    ZIP,
    Member,
    extracted,
    is_of_system,
    members_of,
    packing_of,
)
from harness.datasets.readers.workbooks import is_workbook, sheets_of
from harness.errors import (
    DataError,
    is_masked,
    is_url,
    masked,
    reason_of,
    suggestion,
    without_secrets,
)
from harness.notes.note import Note
from harness.plugins.registry import foreign_origin

PIECE = 1 << 16
DEEPEST = 3
"""How often an archive may be inside another."""
SPARE = 1 << 30
"""Bytes of the disk that stay free."""


@contextmanager
def fetched(paths: Sequence[str], sha256: str | None, limits: Limits) -> Iterator[dict[str, Path]]:
    """Yield a copy of each file that is not on this machine, by its URL.

    Raises
    ------
    DataError
        If nothing opens an address or what opens it is not installed, if the file cannot be
        fetched, is larger or comes more slowly than allowed, or if its hash is another one.
    """
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as folder:
        places = {}
        for number, url in enumerate(filter(is_url, paths)):
            place = Path(folder) / str(number) / (file_name(url) or "ratings")
            place.parent.mkdir()
            digest = fetch(url, place, limits)
            if sha256 is not None and digest != sha256.casefold():
                raise DataError(
                    f"{masked(url)}: its SHA-256 is {digest}, not {sha256}; the file has changed: "
                    "check it, and correct `sha256`"
                )
            places[url] = place
        yield places


def fetch(url: str, place: Path, limits: Limits) -> str:
    """Copy what an opener reads into a file, within limits, and return its SHA-256.

    Raises
    ------
    DataError
        If that cannot be; no message has a password or a query of the address.
    """
    where = masked(url)
    if is_masked(url):
        raise DataError(
            f"{where}: an address without its password or query, which no record keeps; give all "
            "of it, for example --set dataset.path=…"
        )
    transfer = _Transfer(url, place, limits)
    # An opener may wait as long as it likes; this thread does not.
    threading.Thread(target=transfer.run, name="fetch", daemon=True).start()
    try:
        transfer.watch(where)
    finally:
        transfer.is_given_up = True
    error = transfer.error
    if error is None:
        return transfer.digest.hexdigest()
    # Errors of libraries hold the address with its secrets, in their texts and their causes.
    if isinstance(error, DataError):
        raise DataError(without_secrets(str(error), url)) from None
    reason = without_secrets(f"{type(error).__name__}: {reason_of(error)}", url)
    if foreign_origin("openers", scheme := scheme_of(url)):
        reason += f"; opener {named(scheme)}"
    raise DataError(
        f"{where}: cannot be fetched ({reason}); check it, or fetch the file and give its path"
    ) from None


class _Transfer:
    """A file on its way, copied by a thread and watched by another."""

    def __init__(self, url: str, place: Path, limits: Limits) -> None:
        self.url, self.place, self.limits = url, place, limits
        self.opener = opener_of(url)
        self.most = limits.most_fetched()
        self.n_bytes = 0
        self.digest = hashlib.sha256()
        self.error: BaseException | None = None
        self.is_given_up = False
        self.ended = threading.Event()

    def run(self) -> None:
        """Copy the file; what goes wrong is kept as `error`."""
        try:
            self._copy()
        except (Exception, SystemExit) as error:  # of any opener
            self.error = error
        finally:
            self.ended.set()

    def _copy(self) -> None:
        with self.opener.open(self.url) as stream, self.place.open("wb") as file:
            announced = self.opener.size(stream)
            self._check(announced)
            if self.opener.is_packed(stream):  # it unpacks to no more than a packed file
                self.most = min(self.most, self.limits.most_unpacked(announced or self.most))
            while not self.is_given_up and (data := stream.read(PIECE)):
                if shutil.disk_usage(self.place.parent).free < len(data) + SPARE:
                    raise OSError("the disk is full")
                self.n_bytes += len(data)
                self._check(self.n_bytes)
                self.digest.update(data)
                file.write(data)

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self.most:
            raise DataError(
                f"{masked(self.url)}: more than {self.most / MEGABYTE:,.0f} MB; check the address, "
                "or allow more with dataset.most_megabytes"
            )

    def watch(self, where: str) -> None:
        """Wait until the copy ends, or raise a `DataError` if it takes too long."""
        most = self.limits.seconds or REMOTE_SECONDS
        begun = since = time.monotonic()
        mark = 0
        while not self.ended.wait(min(0.2, most)):
            now = time.monotonic()
            if now - begun > most:
                raise too_slow(where, "did not arrive", most)
            if now - since > PATIENCE:
                if (self.n_bytes - mark) / (now - since) < SLOWEST:
                    raise DataError(
                        f"{where}: sent fewer than {SLOWEST:,.0f} bytes a second for "
                        f"{PATIENCE:,.0f} s; try again later, or fetch the file and give its path"
                    )
                since, mark = now, self.n_bytes


_TEXTS = (".data", ".txt")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst")


def is_ratings_file(name: str) -> bool:
    """Return whether a name ends like the names of files of ratings."""
    return name.casefold().endswith((*_TEXTS, *_ARCHIVES)) or kind_of(name) is not None


def find_file(path: str | Path, base: Path | None) -> Path:
    """Return the place of a user's file, or raise a DataError that says what is there."""
    place = placed(path, base)
    check_path(f"{path!s:.60}", place, DataError)
    folder = place.parent
    if place.is_file():
        return place
    if place.is_dir():
        finding = "a folder; give a file in it"
    elif place.exists():
        finding = "not a regular file; give another"
    elif not folder.is_dir():
        finding = f"no such file, as there is no folder {folder}; check the path"
    else:
        names = (entry.name for entry in folder.iterdir() if entry.is_file())
        beside = [name for name in names if is_ratings_file(name)]
        advice = suggestion(place.name, beside, most=10) if beside else "check the path"
        finding = f"no such file in {folder.resolve()}; {advice}"
    raise DataError(f"{path}: {finding}")


class Place(NamedTuple):
    """A file, or a folder that a reader takes, what messages call it, and its notes."""

    path: Path
    where: str
    notes: tuple[Note, ...] = ()
    is_sheet: bool = False
    """Whether it is a sheet of a workbook, as text."""


@contextmanager
def found(
    paths: Sequence[str],
    base: Path | None,
    sha256: str | None,
    limits: Limits,
    options: ReadOptions | None = None,
) -> Iterator[list[Place]]:
    """Yield the files that paths stand for, in order; those from elsewhere are removed after it.

    For an archive, a folder or a workbook these are the members that hold ratings under `options`.

    Raises
    ------
    DataError
        For a path without a file, and for an archive or a folder of which it cannot be told what
        holds the ratings.
    """
    options = options or ReadOptions(limits=limits)
    with ExitStack() as stack:
        copies: dict[str, Path] = {}
        if any(map(is_url, paths)):
            copies = stack.enter_context(fetched(paths, sha256, limits))
        yield [
            place
            for path in paths
            for whole in (
                [Place(copies[path], masked(path))] if path in copies else _expanded(path, base)
            )
            for place in stack.enter_context(_taken_out(whole, options))
        ]


OF_SHEETS = {None: None, "excel": None, "matrix": "matrix"}
"""The format of the sheets of a workbook, by the format that the config names."""


@contextmanager
def _taken_out(whole: Place, options: ReadOptions, depth: int = 0) -> Iterator[list[Place]]:
    """Yield the files of ratings of an archive, a folder or a workbook; another file as it is."""
    path, where, notes, is_sheet = whole
    if path.is_dir():
        yield _of_folder(whole, options)
        return
    with ExitStack() as stack:
        is_archive = (packing := packing_of(path)) in (ZIP, TAR)
        if is_archive and depth == DEEPEST:
            raise DataError(f"{where}: an archive inside {depth} others; unpack it and give a file")
        key, kind = ("member", "file") if is_archive else ("table", "sheet")
        if is_archive:
            members = stack.enter_context(members_of(path, where, options.limits))
        elif not packing and options.kind in OF_SHEETS and is_workbook(path):
            check_keys("excel", options, where)
            options, is_sheet = replace(options, kind=OF_SHEETS[options.kind]), True
            members = stack.enter_context(sheets_of(path, where, options.limits))
        else:
            if options.member is not None:
                raise DataError(f"{where}: a file, not an archive or a folder; leave `member` out")
            yield [whole]
            return
        folder = Path(stack.enter_context(scratch()))

        def take_out(member: Member, most: int | None) -> Path:
            place = Path(tempfile.mkdtemp(dir=folder))
            return extracted(member, path, place, where, options.limits, most)

        chosen = choose(members, where, options, take_out, key=key, kind=kind)
        inner = replace(options, member=None) if is_archive else replace(options, table=None)
        yield [
            place
            for member in chosen.members
            for place in stack.enter_context(
                _taken_out(
                    Place(
                        take_out(member, None),
                        f"{where}!{member.name}",
                        (*notes, *chosen.notes),
                        is_sheet,
                    ),
                    inner,
                    depth + 1,
                )
            )
        ]


def _of_folder(whole: Place, options: ReadOptions) -> list[Place]:
    """Return a folder that a reader takes as it is, else its files of ratings."""
    path, where = whole.path, whole.where
    if takes_folders(options.kind or kind_of_content(path)):
        return [whole]
    if fault := folder_not_read(path, where):
        raise DataError(f"{where}: {fault}")
    files = sorted(file for file in path.iterdir() if file.is_file())
    files = [file for file in files if not is_of_system(file.name)]
    folders = [each for each in path.iterdir() if each.is_dir() and not is_of_system(each.name)]
    has_data = not all(is_document(file.name) for file in files)
    if not has_data and len(folders) == 1:  # as archives unpack, and the hub of Hugging Face
        return _of_folder(Place(folders[0], str(Path(where) / folders[0].name)), options)
    if not files:
        advice = "give a file or a pattern" if folders else "give a file, as this folder is empty"
        raise DataError(f"{where}: a folder without files of ratings; {advice}")
    members = [Member(file.name, file.stat().st_size, partial(file.open, "rb")) for file in files]
    with scratch() as held:

        def take_out(member: Member, most: int | None) -> Path:
            if most is None or member.size <= most:
                return path / member.name
            place = Path(tempfile.mkdtemp(dir=held))
            with member.open() as stream:
                (place / member.name).write_bytes(stream.read(most))
            return place / member.name

        chosen = choose(members, where, options, take_out)
    return [
        Place(path / member.name, str(Path(where) / member.name), chosen.notes)
        for member in chosen.members
    ]


def _expanded(path: str, base: Path | None) -> list[Place]:
    place = placed(path, base)
    if place.is_dir():
        return [Place(place, str(Path(path)))]
    if PATTERN.search(path) and not place.exists():
        files = sorted(Path(name) for name in glob.glob(str(place)))  # noqa: PTH207 - of any folder
        files = [file for file in files if file.is_file()]
        if not files:
            raise DataError(f"{path}: no file of that pattern; check the path")
        folder = Path(path).parent
        named = [str(folder / file.name) for file in files]
        if len({file.parent for file in files}) > 1:  # as of */*.parquet
            start = base or Path()
            named = [str(file.relative_to(start) if file.is_relative_to(start) else file)
                     for file in files]  # fmt: skip
        return [Place(file, name) for file, name in zip(files, named, strict=True)]
    return [Place(find_file(path, base), str(Path(path)))]
