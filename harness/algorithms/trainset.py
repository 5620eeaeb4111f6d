"""The training set that every algorithm is fitted on: Surprise's own kind, kept in columns.

Surprise keeps two dictionaries of lists of tuples, about 250 bytes a rating. `ColumnTrainset` is a
`surprise.Trainset` that keeps the same ratings in the same order in arrays, 24 bytes a rating, and
builds the lists of a user or an item on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.algorithms.surprise_import import surprise
from harness.kernels import group_rows

__all__ = ["Bools", "Codes", "ColumnTrainset", "Floats", "Lists", "Offsets", "Order"]

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
RawIds = npt.NDArray[Any] | Sequence[Any]


class Lists(NamedTuple):
    """The ratings of every user, or of every item, one list after the other.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where the list of each user or item begins and ends.
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side.
    ratings : ndarray of float64, shape (n_ratings,)
        The ratings, aligned with `ids`.
    """

    offsets: Offsets
    ids: Codes
    ratings: Floats

    def means(self) -> Floats:
        """Return the mean rating of each user or item, shape (n,), as ``numpy.mean`` of each list.

        Examples
        --------
        >>> Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])).means()
        array([3.5, 5. ])
        """
        # NumPy adds pairwise; `np.add.reduceat` and other loops round differently in the last bit.
        add = np.add.reduce
        edges = pairwise(self.offsets.tolist())
        sums = np.fromiter((add(self.ratings[a:b]) for a, b in edges), np.float64)
        means: Floats = sums / np.diff(self.offsets)
        return means

    def truncated(self) -> Lists:
        """Return lists whose ratings are cut to whole numbers, as a C ``int`` would hold them."""
        return self._replace(ratings=np.trunc(self.ratings))


class Order(NamedTuple):
    """`Lists` in the order of inner ids, without ratings.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
    ids : ndarray of int32, shape (n_ratings,)
        Inner ids of the other side, ascending within a list.
    places : ndarray of int64, shape (n_ratings,)
        Where the other side's `Lists` hold the same rating.
    """

    offsets: Offsets
    ids: Codes
    places: Offsets

    def lists(self, ratings: Floats) -> Lists:
        """Return lists in this order of what the other side's `Lists` hold."""
        return Lists(self.offsets, self.ids, ratings[self.places])

    @classmethod
    def of(cls, offsets: Offsets, ids: Codes, n_ids: int) -> Order:
        """Turn lists of ids by owner into lists of owners by id, owners ascending.

        Examples
        --------
        >>> Order.of(np.array([0, 1, 3]), np.array([1, 0, 1]), 2)
        Order(offsets=array([0, 1, 3]), ids=array([1, 0, 1], dtype=int32), places=array([1, 0, 2]))
        """
        starts, places = group_rows(ids, n_ids)
        owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
        return cls(starts, owners[places], places)


class RatingLists(Mapping[int, list[tuple[int, float]]]):
    """The lists of (id, rating) of every user or item, each built on first use.

    Replaces Surprise's ``defaultdict(list)``: an unknown key gives an empty list, but is not
    remembered.

    Examples
    --------
    >>> lists = RatingLists(
    ...     Lists(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([4.0, 3.0, 5.0])))
    >>> lists[0]
    [(0, 4.0), (1, 3.0)]
    >>> 1 in lists, 2 in lists, len(lists)
    (True, False, 2)
    """

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._built: dict[int, list[tuple[int, float]]] = {}

    def __getitem__(self, key: Any) -> list[tuple[int, float]]:
        if key not in self:
            return []
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

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the list of a key, or the default where there is none."""
        return self[key] if key in self else default  # noqa: SIM401 - that would call this again

    def __reduce__(self) -> tuple[Any, ...]:
        return RatingLists, (self._lists,)


class ColumnTrainset(surprise.Trainset):  # type: ignore[misc]
    """A `surprise.Trainset` in columns.

    Build one with `from_columns` or `from_surprise`.

    Parameters
    ----------
    by_user, by_item : Lists
        The ratings twice, each list in training order.
    user_codes, item_codes : ndarray of int32
        Data set code of each inner id.
    user_ids, item_ids : array-like
        Raw id of each data set code.
    scale : tuple of float
        Lowest and highest rating.

    Attributes
    ----------
    inner_users, inner_items : ndarray of int32
        Inner id of each data set code, -1 where the training set does not know it.
    """

    def __init__(
        self,
        by_user: Lists,
        by_item: Lists,
        *,
        user_codes: Codes,
        item_codes: Codes,
        user_ids: RawIds,
        item_ids: RawIds,
        scale: tuple[float, float],
    ) -> None:
        # Surprise's own constructor would store dictionaries where this class has properties.
        self.by_user, self.by_item = by_user, by_item
        self.user_codes, self.item_codes = user_codes, item_codes
        self.user_ids, self.item_ids = user_ids, item_ids
        self.inner_users = _inverse(user_codes, len(user_ids))
        self.inner_items = _inverse(item_codes, len(item_ids))
        self.n_users, self.n_items = len(user_codes), len(item_codes)
        self.n_ratings = len(by_user.ratings)
        self.rating_scale = scale
        self._global_mean: Any = None
        self._inner2raw_id_users = None
        self._inner2raw_id_items = None

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
        """Group columns by user and by item.

        Inner ids are given in the order in which users and items first appear, as Surprise's
        ``construct_trainset`` gives them.

        Parameters
        ----------
        users, items : array-like of int, shape (n_ratings,)
            Codes into `user_ids` and `item_ids`.
        ratings : array-like of float, shape (n_ratings,)
            The ratings, in the units of `scale`.
        user_ids, item_ids : array-like
            Raw ids: what ``model.predict`` is called with.
        scale : tuple of float
            Lowest and highest rating; estimates are clipped to it.

        Examples
        --------
        >>> trainset = ColumnTrainset.from_columns(
        ...     [1, 0, 1], [2, 2, 0], [4, 3, 5],
        ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
        >>> trainset.to_inner_uid("bob"), trainset.ur[0], trainset.global_mean
        (0, [(0, 4.0), (1, 5.0)], np.float64(4.0))
        """
        rating_rows = np.asarray(ratings, np.float64)
        user_codes, inner_users = _numbered(np.asarray(users), len(user_ids))
        item_codes, inner_items = _numbered(np.asarray(items), len(item_ids))
        user_offsets, by_user = group_rows(inner_users, len(user_codes))
        item_offsets, by_item = group_rows(inner_items, len(item_codes))
        return cls(
            Lists(user_offsets, inner_items[by_user], rating_rows[by_user]),
            Lists(item_offsets, inner_users[by_item], rating_rows[by_item]),
            user_codes=user_codes,
            item_codes=item_codes,
            user_ids=user_ids,
            item_ids=item_ids,
            scale=scale,
        )

    @classmethod
    def from_surprise(cls, trainset: surprise.Trainset) -> ColumnTrainset:
        """Copy a training set that Surprise made; its codes are its inner ids."""
        if isinstance(trainset, cls):
            return trainset
        users, items = range(trainset.n_users), range(trainset.n_items)
        return cls(
            _flatten([trainset.ur[u] for u in users]),
            _flatten([trainset.ir[i] for i in items]),
            user_codes=np.arange(trainset.n_users, dtype=np.int32),
            item_codes=np.arange(trainset.n_items, dtype=np.int32),
            user_ids=[trainset.to_raw_uid(u) for u in users],
            item_ids=[trainset.to_raw_iid(i) for i in items],
            scale=trainset.rating_scale,
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
    def _raw2inner_id_users(self) -> dict[Any, int]:
        return {raw: inner for inner, raw in enumerate(self.raw_users(self.user_codes))}

    @cached_property
    def _raw2inner_id_items(self) -> dict[Any, int]:
        return {raw: inner for inner, raw in enumerate(self.raw_items(self.item_codes))}

    def raw_users(self, codes: Codes) -> list[Any]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.user_ids, codes)

    def raw_items(self, codes: Codes) -> list[Any]:
        """Return the raw ids of data set codes, as Python objects."""
        return _names(self.item_ids, codes)

    @property
    def global_mean(self) -> float:
        """The mean of all ratings."""
        if self._global_mean is None:
            self._global_mean = np.mean(self.by_user.ratings)
        return self._global_mean  # type: ignore[no-any-return]

    @cached_property
    def item_order(self) -> Order:
        """Each item's raters in the order of inner users, with their places in `by_user`."""
        return Order.of(self.by_user.offsets, self.by_user.ids, self.n_items)

    @cached_property
    def user_order(self) -> Order:
        """Each user's items in the order of inner items, with their places in `by_item`."""
        return Order.of(self.by_item.offsets, self.by_item.ids, self.n_users)

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

    def __getstate__(self) -> dict[str, Any]:
        derived = ("item_order", "user_order")
        return {name: value for name, value in vars(self).items() if name not in derived}


def _numbered(rows: Codes, n_codes: int) -> tuple[Codes, Codes]:
    """Return the codes in the order in which they first appear, and the inner id of each row."""
    first = np.full(n_codes, len(rows))
    np.minimum.at(first, rows, np.arange(len(rows)))
    seen = np.flatnonzero(first < len(rows))
    codes: Codes = seen[np.argsort(first[seen])].astype(np.int32)
    return codes, _inverse(codes, n_codes)[rows]


def _inverse(codes: Codes, n_codes: int) -> Codes:
    inner = np.full(n_codes, -1, np.int32)
    inner[codes] = np.arange(len(codes), dtype=np.int32)
    return inner


def _names(ids: RawIds, codes: Codes) -> list[Any]:
    if isinstance(ids, np.ndarray):
        return ids[codes].tolist()  # type: ignore[no-any-return]
    return [ids[code] for code in codes]


def _flatten(lists: list[list[tuple[int, float]]]) -> Lists:
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    ids = np.fromiter((other for row in lists for other, _ in row), np.int32, offsets[-1])
    ratings = np.fromiter((rating for row in lists for _, rating in row), np.float64, offsets[-1])
    return Lists(offsets, ids, ratings)
