"""Surprise's data sets and cross-validation iterators, with folds from columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness._util.kernels import group_rows
from harness._util.libraries import pd
from harness.algorithms import surprise
from harness.extras.accelerate import altered, scored, traps
from harness.extras.accelerate.attempts import no_collection
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import (
    RawColumns,
    columns_made_for,
    columns_of_rows,
    make_trainset,
    raw_columns,
    require_scale,
)

Fold = tuple[surprise.Trainset, list[Any]]
Places = npt.NDArray[np.int64]


class FoldRows:
    """A data set whose folds are made of the numbers of its rows."""

    def __init__(self, data: surprise.Dataset) -> None:
        self.columns: RawColumns = raw_columns(data)
        self.rows: list[Any] = data.raw_ratings
        self.scale = data.reader.rating_scale
        require_scale(self.scale)

    def fold(self, train: Places, test: Places) -> Fold:
        """Return Surprise's training set and test set of some rows."""
        trainset = make_trainset(self.columns, train, self.scale)
        with no_collection():
            testset = [self.rows[place][:3] for place in test.tolist()]
        raw, columns = self.columns, columns_made_for(trainset)
        users, items = columns.inner_users[raw.users[test]], columns.inner_items[raw.items[test]]
        scored.remember(trainset, testset, users, items, raw.ratings[test])
        return trainset, testset


def rows_of(data: surprise.Dataset) -> FoldRows:
    """Return the rows of a data set; refuse one that makes its folds by itself."""
    altered.require_own_data()
    base = surprise.Dataset
    for name in ("construct_trainset", "construct_testset"):
        if name in vars(data) or getattr(type(data), name, None) is not getattr(base, name):
            raise NotAccelerated("a data set that makes its folds by itself")
    return FoldRows(data)


def k_fold(iterator: Any, data: FoldRows) -> Iterator[Fold]:
    """Yield what ``KFold.split`` does."""
    places = np.arange(len(data.rows))
    if iterator.shuffle:
        surprise.utils.get_rng(iterator.random_state).shuffle(places)
    for test in np.array_split(np.arange(len(places)), iterator.n_splits):
        start, stop = int(test[0]), int(test[-1]) + 1
        yield data.fold(np.concatenate([places[:start], places[stop:]]), places[start:stop])


def check_k_fold(iterator: Any, data: FoldRows) -> None:
    """Let Surprise answer where there are too many folds or too few."""
    n = iterator.n_splits
    if not isinstance(n, int | np.integer) or not 2 <= n <= len(data.rows):
        raise NotAccelerated("a number of folds that does not fit the data")


def shuffle_split(iterator: Any, data: FoldRows) -> Iterator[Fold]:
    """Yield what ``ShuffleSplit.split`` does."""
    sizes = iterator.test_size, iterator.train_size
    # Surprise takes the two that it returns in the other order.
    n_train, n_test = iterator.validate_train_test_sizes(*sizes, len(data.rows))
    rng = surprise.utils.get_rng(iterator.random_state)
    for _ in range(iterator.n_splits):
        n = len(data.rows)
        places = rng.permutation(n) if iterator.shuffle else np.arange(n)
        yield data.fold(places[:n_train], places[n_train : n_train + n_test])


def check_shuffle_split(iterator: Any, data: FoldRows) -> None:
    """Let Surprise answer where no rating is left for training."""
    sizes = iterator.test_size, iterator.train_size
    with suppress(ValueError):  # which the first fold raises
        if iterator.validate_train_test_sizes(*sizes, len(data.rows))[0] < 1:
            raise NotAccelerated("a training set without ratings")


def leave_one_out(iterator: Any, data: FoldRows) -> Iterator[Fold]:
    """Yield what ``LeaveOneOut.split`` does."""
    offsets, places = group_rows(data.columns.users, len(data.columns.user_ids))
    lengths = np.diff(offsets)
    rng = surprise.utils.get_rng(iterator.random_state)
    for _ in range(iterator.n_splits):
        is_test = np.zeros(len(places), np.bool_)
        is_used = np.zeros(len(places), np.bool_)
        for user, length in enumerate(lengths.tolist()):
            if length > iterator.min_n_ratings:
                is_test[offsets[user] + rng.randint(0, length)] = True
                is_used[offsets[user] : offsets[user + 1]] = True
        train = places[is_used & ~is_test]
        if not len(train):
            raise ValueError("Could not build any trainset. Maybe min_n_ratings is too high?")
        yield data.fold(train, places[is_test])


def construct_trainset(data: surprise.Dataset, rows: list[Any]) -> surprise.Trainset:
    """Return what ``construct_trainset`` does."""
    altered.require_own_data()
    columns = columns_of_rows(rows)
    traps.warn_of_ratings(columns.ratings, data.reader.rating_scale)
    return make_trainset(columns, slice(None), data.reader.rating_scale)


def build_full_trainset(data: surprise.Dataset) -> surprise.Trainset:
    """Return what ``build_full_trainset`` does, of columns from the last time."""
    rows = rows_of(data)
    return make_trainset(rows.columns, slice(None), data.reader.rating_scale)


def rows_of_frame(frame: Any) -> list[Any]:
    """Return the ratings of a data frame as Surprise lists them."""
    if frame.shape[1] != 3:
        raise NotAccelerated("a frame without three columns")
    columns = [frame.iloc[:, place] for place in range(3)]
    users, items, ratings = map(_objects, columns)
    with no_collection():
        return list(zip(users, items, map(float, ratings), repeat(None)))


def _objects(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column as ``itertuples`` has them."""
    dtype = column.dtype
    if isinstance(dtype, pd.StringDtype):
        return column.to_numpy(object).tolist()
    if isinstance(dtype, pd.CategoricalDtype) or (
        isinstance(dtype, np.dtype) and dtype.kind in "iufbO"
    ):
        return column.tolist()
    raise NotAccelerated(f"a frame with a column of the type {dtype}")


def read_ratings(data: surprise.Dataset, file_name: Any) -> list[Any]:
    """Return the ratings of a file as Surprise reads them."""
    altered.require_own_data()
    reader = data.reader
    if type(reader) is not surprise.Reader or "parse_line" in vars(reader):
        raise NotAccelerated("a reader that parses lines by itself")
    sep = reader.sep
    user, item, rating, *times = reader.indexes
    with no_collection(), Path(file_name).expanduser().open() as file:
        parts = (line.split(sep) for line in islice(file, reader.skip_lines, None))
        return [
            (
                part[user].strip(),
                part[item].strip(),
                float(part[rating]),
                part[times[0]].strip() if times else None,
            )
            for part in parts
        ]
