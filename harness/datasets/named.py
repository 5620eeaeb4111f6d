"""Load a data set of the catalogue: from the package, from a copy, or from the network."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from harness.datasets import features
from harness.datasets.archives import Progress, Watched, open_member
from harness.datasets.catalogue import DataSet, FeatureFile, is_archive
from harness.datasets.download import fetch, find_local, inspect
from harness.datasets.plays import read_plays, read_plays_as_pandas
from harness.datasets.ratings import Ratings
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.text import read_text
from harness.datasets.section import DatasetSection
from harness.errors import DataError
from harness.files import cache_folder, hold
from harness.named_paths import placed
from harness.notes import Note

LOCK_PATIENCE = 3600.0


def load_named(
    data_set: DataSet,
    section: DatasetSection,
    cache: Path | None,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load a data set from the package, from a copy on this machine, or from the network."""
    policies = section.policies
    if "duplicates" not in section.model_fields_set:
        policies["duplicates"] = data_set.duplicates
    if section.not_rated is None:
        policies["not_rated"] = []  # what its numbers mean is known
    if section.scale is None and math.isfinite(data_set.scale[1]):
        policies["scale"] = data_set.scale
    if data_set.kind == "bundled":
        path = Path(__file__).parent / "bundled/ratings.parquet"
        table = read_file(path, ReadOptions(), data_set.name)
        return Ratings.from_table(table, data_set.name, data_set, **policies)
    notes: list[Note] = []
    with ExitStack() as held:
        if section.path is not None:
            path = inspect(placed(section.paths[0], base), data_set)
        else:
            downloads = (cache or cache_folder()) / "datasets"
            path = _copy(data_set, downloads, base, progress, notes, held)
        where = str(path)
        if is_archive(path):
            where = f"{path}!{data_set.member}"
            stream = held.enter_context(
                open_member(path, data_set.member, data_set.member_bytes, progress)
            )
        else:
            file = held.enter_context(path.open("rb"))
            stream = Watched(file, progress, path.stat().st_size).buffered()
        if section.like == "pandas":
            table = read_plays_as_pandas(stream, where)
        elif data_set.content == "plays":
            table = read_plays(stream, where)
        else:
            options = ReadOptions(separator=data_set.separator, encoding="utf-8")
            table = read_text(stream, options, where)
        published = list(_features(data_set, path))
    known = [note for note in table.notes if note.code != "columns-assumed"]
    table = replace(table, notes=tuple(known))
    ratings = Ratings.from_table(table, data_set.name, data_set, **policies)
    for role, described, data in published:
        ratings = features.add_published(ratings, role, described, data)
    if not is_archive(path) and data_set.known_hash and data_set.hash_of(path) is None:
        size = (len(ratings), ratings.n_users)
        if size != (data_set.n_ratings, data_set.n_users):
            raise DataError(
                f"{path}: {size[0]:,} ratings by {size[1]:,} users, but {data_set.name} has "
                f"{data_set.n_ratings:,} by {data_set.n_users:,}; leave out name "
                "to read it as your own"
            )
    return replace(ratings, notes=(*ratings.notes, *notes))


def _features(data_set: DataSet, path: Path) -> Iterator[tuple[str, FeatureFile, bytes]]:
    """Yield for users and items the first file that a copy holds: an archive, or loose files."""
    for role, files in (("user", data_set.users), ("item", data_set.items)):
        for file in files:
            with suppress(DataError, OSError):
                if is_archive(path):
                    with open_member(path, file.member, file.member_bytes) as stream:
                        data = stream.read()
                else:
                    data = path.with_name(file.name).read_bytes()
                yield role, file, data
                break


def _copy(
    data_set: DataSet,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
    notes: list[Note],
    held: ExitStack,
) -> Path:
    """Return a copy of a data set, which one process at a time may fetch."""
    folder = downloads / data_set.name
    with ExitStack() as lock:
        try:
            lock.enter_context(hold(folder / ".lock", LOCK_PATIENCE))
        except TimeoutError:
            raise DataError(
                f"{folder}: another process has held it for {LOCK_PATIENCE:.0f} s; "
                "wait for it or end it"
            ) from None
        except OSError:  # no process writes to a folder to read only; a disk without locks
            pass
        path, skipped = find_local(data_set, downloads, base)
        notes += skipped
        if path is not None:
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            notes.append(Note("download-not-kept", {"reason": str(error)}))
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))
        return fetch(data_set, folder, progress)
