"""Surprise's training set, with the ratings in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness._util.kernels import group_rows
from harness._util.libraries import pd, scipy
from harness.algorithms import surprise

if TYPE_CHECKING:
    from harness.datasets import Ratings


Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
RawIds = npt.NDArray[np.generic] | Sequence[object]
Rated = list[tuple[int, float]]  # of a user or an item, as in Surprise: inner ids and ratings


class GroupedLists(NamedTuple):
    """The ratings of every user, or of every item, one list after the other."""

    offsets: Offsets  # where the list of each user or item begins and ends, shape (n + 1,)
    ids: Codes  # inner ids of the other side, shape (n_ratings,)
    ratings: Floats  # aligned with `ids`

    def means(self) -> Floats:
        """Return the mean rating of each user or item, shape (n,): ``numpy.mean`` of each list.

        >>> Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])).means()
        array([3.5, 5. ])
        """
        # NumPy adds pairwise; `np.add.reduceat` and other loops round differently in the last bit.
        add = np.add.reduce
        edges = pairwise(self.offsets.tolist())
        sums = np.fromiter((add(self.ratings[a:b]) for a, b in edges), np.float64)
        means: Floats = sums / np.diff(self.offsets)
        return means

    def truncated(self) -> GroupedLists:
        """Return lists whose ratings are cut to whole numbers, as a C ``int`` would hold them."""
        return self._replace(ratings=np.trunc(self.ratings))


class Order(NamedTuple):
    """`Lists` in the order of inner ids, without ratings."""

    offsets: Offsets
    ids: Codes  # inner ids of the other side, ascending within a list
    places: Offsets  # where the other side's `Lists` hold the same rating

    def lists(self, ratings: Floats) -> GroupedLists:
        """Return lists in this order of what the other side's `Lists` hold."""
        return GroupedLists(self.offsets, self.ids, ratings[self.places])

    @classmethod
    def of(cls, offsets: Offsets, ids: Codes, n_ids: int) -> Order:
        """Turn lists of ids by owner into lists of owners by id, owners ascending.

        >>> Order.of(np.array([0, 1, 3]), np.array([1, 0, 1]), 2)
        Order(offsets=array([0, 1, 3]), ids=array([1, 0, 1], dtype=int32), places=array([1, 0, 2]))
        """
        starts, places = group_rows(ids, n_ids)
        owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
        return cls(starts, owners[places], places)


class RatingLists(Mapping[int, Rated]):
    """Surprise's dictionary of the ratings of every user or item, each list built on first use."""

    def __init__(self, lists: GroupedLists) -> None:
        self._lists = lists
        self._built: dict[int, Rated] = {}

    def __getitem__(self, key: object) -> Rated:
        ratings: Rated = self.get(key, [])
        return ratings

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the list of a key, or the default where there is none."""
        if key not in self:
            return default
        inner = int(key)
        if inner not in self._built:
            offsets, ids, ratings = self._lists
            rows = slice(offsets[inner], offsets[inner + 1])
            pairs = zip(ids[rows].tolist(), ratings[rows].tolist(), strict=True)
            self._built[inner] = list(pairs)
        return self._built[inner]

    def __contains__(self, key: object) -> bool:
        try:
            return 0 <= key < len(self) and key == int(key)  # type: ignore[operator, call-overload]
        except TypeError:  # Surprise asks for names such as "UKN__42"
            return False

    def __len__(self) -> int:
        return len(self._lists.offsets) - 1

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __reduce__(self) -> tuple[type, tuple[GroupedLists]]:
        return RatingLists, (self._lists,)


class ColumnTrainset(surprise.Trainset):  # type: ignore[misc]
    """Surprise's training set with the same ratings in the same order, kept in columns.

    *Codes* number the users and items of a data set, *inner ids* number them in this training set,
    in the order in which they first appear; `inner_users` and `inner_items` are -1 for an unknown
    code.
    """

    _inner2raw_id_users = _inner2raw_id_items = None  # Surprise makes them when it needs them
    _timed: tuple[Codes, npt.NDArray[np.int64], Offsets | slice] | None = None
    """Users and times of the data, and the rows that are in here; not part of a dump."""

    def __init__(
        self,
        by_user: GroupedLists,
        by_item: GroupedLists,
        codes: tuple[Codes, Codes],
        raw_ids: tuple[RawIds, RawIds],
        scale: tuple[float, float],
    ) -> None:
        """Keep the ratings twice; `codes` are of inner ids, `raw_ids` the name of each code."""
        # Surprise's own constructor would store dictionaries where this class has properties.
        self.by_user, self.by_item = by_user, by_item
        self.user_codes, self.item_codes = codes
        self.user_ids, self.item_ids = raw_ids
        self.inner_users = _inverse(self.user_codes, len(self.user_ids))
        self.inner_items = _inverse(self.item_codes, len(self.item_ids))
        self.n_users, self.n_items = map(len, codes)
        self.n_ratings = len(by_user.ratings)
        self.rating_scale = scale

    @classmethod
    def from_columns(
        cls,
        users: npt.ArrayLike,
        items: npt.ArrayLike,
        ratings: npt.ArrayLike,
        *,
        user_ids: RawIds,
        item_ids: RawIds,
        scale: tuple[float, float],
    ) -> ColumnTrainset:
        """Group columns of codes and ratings by user and by item.

        >>> trainset = ColumnTrainset.from_columns(
        ...     [1, 0, 1], [2, 2, 0], [4, 3, 5],
        ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
        >>> trainset.to_inner_uid("bob"), trainset.ur[0], trainset.global_mean
        (0, [(0, 4.0), (1, 5.0)], np.float64(4.0))
        """
        values = np.asarray(ratings, np.float64)
        inner_users, user_codes = _numbered(users)
        inner_items, item_codes = _numbered(items)
        by_user = group_lists(inner_users, inner_items, values, len(user_codes))
        by_item = group_lists(inner_items, inner_users, values, len(item_codes))
        return cls(by_user, by_item, (user_codes, item_codes), (user_ids, item_ids), scale)

    @classmethod
    def of_ratings(cls, data: Ratings, rows: Offsets | slice = slice(None)) -> ColumnTrainset:
        """Group some rows of a data set, or all."""
        named = {"user_ids": data.user_ids, "item_ids": data.item_ids}
        columns = (column[rows] for column in (data.users, data.items, data.ratings))
        trainset = cls.from_columns(*columns, **named, scale=data.scale)
        if data.timestamps is not None:
            trainset._timed = (data.users, data.timestamps, rows)
        return trainset

    @classmethod
    def from_surprise(cls, trainset: surprise.Trainset) -> ColumnTrainset:
        """Copy a training set that Surprise made; its codes are its inner ids."""
        if isinstance(trainset, cls):
            return trainset
        users, items = range(trainset.n_users), range(trainset.n_items)
        return cls(
            _flatten([trainset.ur[u] for u in users]),
            _flatten([trainset.ir[i] for i in items]),
            (np.arange(len(users), dtype=np.int32), np.arange(len(items), dtype=np.int32)),
            ([*map(trainset.to_raw_uid, users)], [*map(trainset.to_raw_iid, items)]),
            trainset.rating_scale,
        )

    @cached_property
    def ur(self) -> RatingLists:
        """The ratings of each inner user, as lists of (inner item, rating)."""
        return RatingLists(self.by_user)

    @cached_property
    def ir(self) -> RatingLists:
        """The ratings of each inner item, as lists of (inner user, rating)."""
        return RatingLists(self.by_item)

    @cached_property
    def _raw2inner_id_users(self) -> dict[object, int]:
        return {raw: inner for inner, raw in enumerate(self.raw_users(self.user_codes))}

    @cached_property
    def _raw2inner_id_items(self) -> dict[object, int]:
        return {raw: inner for inner, raw in enumerate(self.raw_items(self.item_codes))}

    def raw_users(self, codes: Codes) -> list[object]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.user_ids, codes)

    def raw_items(self, codes: Codes) -> list[object]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.item_ids, codes)

    @cached_property
    def global_mean(self) -> np.floating:
        """The mean of all ratings."""
        return np.mean(self.by_user.ratings)

    @cached_property
    def item_order(self) -> Order:
        """Each item's raters in the order of inner users, with their places in `by_user`."""
        return Order.of(self.by_user.offsets, self.by_user.ids, self.n_items)

    @cached_property
    def user_order(self) -> Order:
        """Each user's items in the order of inner items, with their places in `by_item`."""
        return Order.of(self.by_item.offsets, self.by_item.ids, self.n_users)

    @cached_property
    def matrix(self) -> Any:
        """The ratings as SciPy's ``csr_array``, shape (n_users, n_items)."""
        offsets, items, ratings = self.by_user
        shape = (self.n_users, self.n_items)
        matrix = scipy.sparse.csr_array((ratings, items, offsets), shape=shape, copy=True)
        matrix.sum_duplicates()
        return matrix

    @property
    def moments(self) -> npt.NDArray[np.int64] | None:
        """The time of each rating in the order of `by_user`, where the data have times."""
        if self._timed is None:
            return None
        users, timestamps, rows = self._timed
        inner = self.inner_users[users[rows]]
        moments: npt.NDArray[np.int64] = timestamps[rows][group_rows(inner, self.n_users)[1]]
        return moments

    @property
    def has_repeats(self) -> bool:
        """Whether a user rated an item twice, which the harness never lets through."""
        offsets, items, _ = self.user_order
        same = np.flatnonzero(items[1:] == items[:-1]) + 1
        return not np.isin(same, offsets).all()

    def drop_derived(self) -> None:
        """Delete cached values, so that each cell computes and measures its own."""
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, object]:
        derived = ("item_order", "user_order", "matrix", "_timed")
        return {name: value for name, value in vars(self).items() if name not in derived}


def group_lists(owners: Codes, others: Codes, ratings: Floats, n_owners: int) -> GroupedLists:
    """Group columns of inner ids and ratings by owner, in their order."""
    offsets, places = group_rows(owners, n_owners)
    return GroupedLists(offsets, others[places], ratings[places])


def _numbered(rows: npt.ArrayLike) -> tuple[Codes, Codes]:
    """Return the inner id of each row, and the codes in the order in which they first appear."""
    inner, codes = pd.factorize(np.asarray(rows, np.int32))
    return inner.astype(np.int32), codes


def _inverse(codes: Codes, n_codes: int) -> Codes:
    inner = np.full(n_codes, -1, np.int32)
    inner[codes] = np.arange(len(codes), dtype=np.int32)
    return inner


def _names(ids: RawIds, codes: Codes) -> list[object]:
    return list(ids[codes].tolist() if isinstance(ids, np.ndarray) else map(ids.__getitem__, codes))


def _flatten(lists: list[Rated]) -> GroupedLists:
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    ids = np.fromiter((other for row in lists for other, _ in row), np.int32, offsets[-1])
    ratings = np.fromiter((rating for row in lists for _, rating in row), np.float64, offsets[-1])
    return GroupedLists(offsets, ids, ratings)


Lists = GroupedLists
"""The name in models that version 0.3 dumped."""
