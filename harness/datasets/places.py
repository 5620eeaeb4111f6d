"""Where the files of one data set are: a path, a list, a pattern, a folder of parts, a URL."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.datasets.limits import Limits
from harness.datasets.own_files import find_file, is_ratings_file
from harness.datasets.remote import fetched
from harness.errors import DataError, counted, is_url, listed, masked
from harness.named_paths import PATTERN, file_name, placed


class Place(NamedTuple):
    """A file, and what messages call it."""

    path: Path
    where: str


@contextmanager
def found(
    paths: Sequence[str], base: Path | None, sha256: str | None, limits: Limits
) -> Iterator[list[Place]]:
    """Yield the files that paths stand for, in order; those from elsewhere are removed after it.

    Raises
    ------
    DataError
        For a path without a file, and for a folder without one kind of files of ratings.
    """
    if not any(map(is_url, paths)):
        yield [place for path in paths for place in _expanded(path, base)]
        return
    with fetched(paths, sha256, limits) as copies:
        yield [
            place
            for path in paths
            for place in (
                [Place(copies[path], masked(path))] if path in copies else _expanded(path, base)
            )
        ]


def _expanded(path: str, base: Path | None) -> list[Place]:
    place = placed(path, base)
    if place.is_dir():
        return _parts(path, place)
    if PATTERN.search(path) and not place.exists():
        files = sorted(Path(name) for name in glob.glob(str(place)))  # noqa: PTH207 - of any folder
        files = [file for file in files if file.is_file()]
        if not files:
            raise DataError(f"{path}: no file of that pattern; check the path")
        folder = Path(path).parent
        return [Place(file, str(folder / file.name)) for file in files]
    return [Place(find_file(path, base), str(Path(path)))]


def _parts(path: str, folder: Path) -> list[Place]:
    """Return the files of a folder that are parts of one table, as programs write them."""
    files = sorted(file for file in folder.iterdir() if file.is_file())
    parts = [file for file in files if is_ratings_file(file.name) and file.name[0] not in "._"]
    endings = {"".join(file.suffixes[-2:]) if file.suffix in (".gz", ".zst") else file.suffix
               for file in parts}  # fmt: skip
    if len(endings) == 1 and endings <= {".parquet", ".pq"}:
        return [Place(file, str(Path(path) / file.name)) for file in parts]
    names = listed([file.name for file in parts], 10)
    how = f"give one of its files ({names}), or a pattern as *{min(endings)}" if parts else ""
    raise DataError(f"{path}: a folder; {how or 'give a file in it'}")


def name_of(paths: Sequence[str]) -> str:
    """Return what data from some files are called.

    Examples
    --------
    >>> name_of(["a/train.csv", "a/test.csv"]), name_of(["a/ratings-*.csv"]), name_of(["a/parts/"])
    ('train + test', 'ratings', 'parts')
    """
    stems = [
        re.sub(r"[-_ .]*[*?\\[].*", "", Path(file_name(path)).stem) or "ratings" for path in paths
    ]
    more = f" + {counted(len(stems) - 3, 'file')}" if len(stems) > 3 else ""
    return " + ".join(stems[:3]) + more
