"""Folds that a data set was published with, as rows of its `Ratings`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.config.data import DatasetSection
from harness.datasets.archives import open_member
from harness.datasets.cache import cache_folder, hold
from harness.datasets.catalogue import ALIASES, CATALOGUE, Description
from harness.datasets.loading import Progress, load
from harness.datasets.ratings import Ratings
from harness.datasets.rows import Coded
from harness.datasets.sources import Found, fetch, find_local, inspect, most_bytes
from harness.datasets.text import TextFormat, TextRows, read_text
from harness.errors import DataError

__all__ = ["predefined_folds"]

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def predefined_folds(
    source: DatasetSection | str,
    *,
    cache: Path | None = None,
    base: Path | None = None,
    progress: Progress | None = None,
) -> list[Fold]:
    """Return the folds that come with a data set.

    Parameters
    ----------
    source : DatasetSection or str
        The ``dataset`` part of a config, or a name; only ml-100k comes with folds, u1 to u5.
    cache, base, progress
        See `harness.datasets.load`.

    Returns
    -------
    list of (ndarray of int64, ndarray of int64)
        Training and test rows of each fold, positions in what `load` returns, in the order of the
        fold's files, as Surprise's ``load_from_folds`` has them.

    Raises
    ------
    DataError
        If the data set has no folds, or the copy at hand does not hold them or other ratings.
    DownloadError
        If there is no copy with folds and none can be fetched.
    """
    section = source if isinstance(source, DatasetSection) else DatasetSection(name=source)  # type: ignore[arg-type]
    what = CATALOGUE.get(ALIASES.get(section.name or "", section.name or ""))
    if what is None or not what.folds:
        with_folds = ", ".join(each.name for each in CATALOGUE.values() if each.folds)
        raise DataError(
            f"{section.name or section.path}: comes without folds (with folds: {with_folds}); "
            "use another split, as kfold"
        )
    ratings = load(section, cache=cache, base=base, progress=progress)
    found = _with_folds(what, section, cache, base, progress)
    row_of = _RowFinder(ratings)
    folds = []
    for train, test in what.folds:
        fold = row_of(_read(found, what, train)), row_of(_read(found, what, test))
        if len(np.unique(np.concatenate(fold))) != len(ratings):
            raise DataError(
                f"{found.path}: {train} and {test} do not make up {what.name}; fetch it again"
            )
        folds.append(fold)
    return folds


def _with_folds(
    what: Description,
    section: DatasetSection,
    cache: Path | None,
    base: Path | None,
    progress: Progress | None,
) -> Found:
    """Return a copy that holds the folds: the archive, or ratings with the folds beside them."""
    downloads = (cache or cache_folder()) / "datasets"
    if section.path is not None:
        found = inspect((base or Path()) / Path(section.path).expanduser(), what)
        if _holds_folds(found, what):
            return found
        raise DataError(f"{found.path}: no folds beside it; give {what.archive} as path")
    with hold(downloads / what.name):
        local, _ = find_local(what, downloads, base, suits=lambda found: _holds_folds(found, what))
        return local or fetch(what, downloads / what.name, progress, archive_only=True)


def _holds_folds(found: Found, what: Description) -> bool:
    names = [name for fold in what.folds for name in fold]
    return found.packed or all((found.path.parent / name).is_file() for name in names)


def _read(found: Found, what: Description, name: str) -> TextRows:
    known = TextFormat(
        separator=what.separator, header=what.header, columns={"user": 1, "item": 2, "rating": 3}
    )
    if not found.packed:
        with (found.path.parent / name).open("rb") as file:
            return read_text(file, known, str(found.path.parent / name))
    member = f"{what.member.rpartition('/')[0]}/{name}"
    with open_member(found.path, member, most_bytes(what.member_bytes)) as stream:
        return read_text(stream, known, f"{found.path}!{member}")


class _RowFinder:
    """Finds the row of each pair of a fold's file."""

    def __init__(self, ratings: Ratings) -> None:
        import pandas as pd

        self._ratings = ratings
        self._users, self._items = pd.Index(ratings.user_ids), pd.Index(ratings.item_ids)
        pairs = ratings.users.astype(np.int64) * ratings.n_items + ratings.items
        self._order = np.argsort(pairs, kind="stable")
        self._pairs = pairs[self._order]

    def __call__(self, text: TextRows) -> NDArray[np.int64]:
        users = self._codes(self._users, text.rows.users)
        items = self._codes(self._items, text.rows.items)
        wanted = users * self._ratings.n_items + items
        place = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
        rows = self._order[place]
        good = (users >= 0) & (items >= 0) & (self._pairs[place] == wanted)
        good &= self._ratings.ratings[rows] == text.rows.ratings
        if not good.all():
            raise DataError(
                f"{text.at(int(np.argmin(good)))}: no rating of {self._ratings.name}; "
                "fetch the data set and its folds again"
            )
        return rows

    @staticmethod
    def _codes(index: Any, column: Coded) -> NDArray[np.int64]:
        table = np.append(index.get_indexer(column.ids), -1)
        return np.asarray(table[column.codes], dtype=np.int64)
