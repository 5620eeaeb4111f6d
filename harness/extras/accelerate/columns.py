"""The ratings of Surprise's data sets and training sets in columns, kept beside the objects.

A training set that is made here is Surprise's own class. Its dictionaries ``ur`` and ``ir`` are
made when somebody reads them; until then nobody can have changed them, and the columns hold the
same. Afterwards, and for training sets from elsewhere, the columns are compared with the
dictionaries before they are used: with all of them for a fit, and for estimates with the lists of
their users and items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import is_, itemgetter
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, Lists, Rated
from harness.extras.accelerate.calls import NotAccelerated, no_collection

_making = RLock()
UNUSUAL = "a training set that Surprise did not make"
NUMBERS = {float, int, np.float64}


class RawColumns(NamedTuple):
    """The ratings of a data set; codes number raw ids in the order of their first rating."""

    rows: list[Any]  # the tuples themselves, by which a change is noticed
    users: Codes
    items: Codes
    ratings: Floats
    user_ids: list[Any]
    item_ids: list[Any]

    def is_of(self, rows: Sequence[Any]) -> bool:
        """Return whether these are the columns of a list of ratings: of the same tuples."""
        return type(rows) is list and same_objects(self.rows, rows)


class _Read(NamedTuple):
    """What the dictionaries of a training set held when their columns were read."""

    pairs: list[list[Any]]
    lengths: list[list[int]]
    columns: ColumnTrainset


_RAW: WeakKeyDictionary[surprise.Dataset, RawColumns] = WeakKeyDictionary()
_UNREAD: WeakKeyDictionary[surprise.Trainset, ColumnTrainset] = WeakKeyDictionary()
_READ: WeakKeyDictionary[surprise.Trainset, _Read] = WeakKeyDictionary()


def same_objects(first: Sequence[object], second: Sequence[object]) -> bool:
    """Return whether two lists hold the very same objects.

    >>> pair = (1, 2)
    >>> same_objects([pair], [pair]), same_objects([pair], [(1, 2.0)])
    (True, False)
    """
    return len(first) == len(second) and all(map(is_, first, second))


def raw_columns(data: surprise.Dataset) -> RawColumns:
    """Return the columns of a data set, from the last time if it holds the same tuples."""
    columns = _RAW.get(data)
    if columns is None or not columns.is_of(data.raw_ratings):
        columns = _RAW[data] = columns_of_rows(data.raw_ratings)
    return columns


def columns_of_rows(rows: Iterable[Any]) -> RawColumns:
    """Return the columns of ratings ``(user, item, rating, timestamp)``."""
    if type(rows) is not list or not set(map(type, rows)) <= {tuple}:
        raise NotAccelerated("ratings that are no list of tuples")
    if not rows:
        raise NotAccelerated("no ratings")
    if set(map(len, rows)) != {4}:
        raise NotAccelerated("ratings of another length than four")
    users, items, ratings = (list(map(itemgetter(place), rows)) for place in range(3))
    if set(map(type, ratings)) != {float}:
        raise NotAccelerated("ratings that are no floats")
    columns = [_codes(ids) for ids in (users, items)]
    (user_codes, user_ids), (item_codes, item_ids) = columns
    values = np.array(ratings)
    return RawColumns(list(rows), user_codes, item_codes, values, user_ids, item_ids)


def _codes(ids: list[Any]) -> tuple[Codes, list[Any]]:
    """Return the number of each raw id, in the order of their first appearance, and the ids."""
    if len(set(map(type, ids))) > 1:
        raise NotAccelerated("raw ids of several types")
    distinct = list(dict.fromkeys(ids))
    code_of = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(code_of.__getitem__, ids), np.int32, len(ids)), distinct


def make_trainset(
    raw: RawColumns, rows: npt.NDArray[np.int64] | slice, scale: tuple[float, float]
) -> surprise.Trainset:
    """Return Surprise's training set of some rows of a data set, without dictionaries yet."""
    columns = ColumnTrainset.from_columns(
        raw.users[rows],
        raw.items[rows],
        raw.ratings[rows],
        user_ids=raw.user_ids,
        item_ids=raw.item_ids,
        scale=scale,
    )
    trainset = object.__new__(surprise.Trainset)
    vars(trainset).update(
        n_users=columns.n_users,
        n_items=columns.n_items,
        n_ratings=columns.n_ratings,
        rating_scale=scale,
        _raw2inner_id_users=_inner_ids(raw.user_ids, columns.user_codes),
        _raw2inner_id_items=_inner_ids(raw.item_ids, columns.item_codes),
        _global_mean=None,
        _inner2raw_id_users=None,
        _inner2raw_id_items=None,
    )
    _UNREAD[trainset] = columns
    return trainset


def _inner_ids(names: list[Any], codes: Codes) -> dict[Any, int]:
    return dict(zip(map(names.__getitem__, codes.tolist()), range(len(codes)), strict=True))


def is_unread(trainset: surprise.Trainset) -> bool:
    """Return whether nobody has read the dictionaries of a training set that was made here."""
    return trainset in _UNREAD


def read(trainset: surprise.Trainset) -> None:
    """Give a training set its dictionaries."""
    with _making:
        columns = _UNREAD.get(trainset)
        if columns is None:
            return
        sides = columns.by_user, columns.by_item
        pairs = [_pairs(lists) for lists in sides]
        lengths = [np.diff(lists.offsets).tolist() for lists in sides]
        ur, ir = (_dictionary(*side) for side in zip(pairs, lengths, strict=True))
        vars(trainset).update(ur=ur, ir=ir)
        _READ[trainset] = _Read(pairs, lengths, columns)
        del _UNREAD[trainset]


def read_all() -> None:
    """Give every training set its dictionaries, so that all work without the patch."""
    for trainset in list(_UNREAD):
        read(trainset)


def _pairs(lists: Lists) -> Rated:
    with no_collection():
        return list(zip(lists.ids.tolist(), lists.ratings.tolist(), strict=True))


def _dictionary(pairs: Rated, lengths: list[int]) -> defaultdict[int, Rated]:
    dictionary: defaultdict[int, Rated] = defaultdict(list)
    stop = 0
    for inner, length in enumerate(lengths):
        start, stop = stop, stop + length
        dictionary[inner] = pairs[start:stop]
    return dictionary


def is_known(trainset: surprise.Trainset) -> bool:
    """Return whether the columns of a training set have been made, though it may have changed."""
    return trainset in _UNREAD or trainset in _READ


def columns_of(
    trainset: surprise.Trainset, of: tuple[Iterable[int], Iterable[int]] | None = None
) -> ColumnTrainset:
    """Return the columns of a training set, as its dictionaries hold them now, and its mean.

    Surprise computes the mean once, when it is needed: what is called before may not ask for it.
    `of` are inner ids of users and items, -1 for unknown ones, whose lists alone are read.
    """
    columns = lists_of(trainset, of)
    if trainset._global_mean is None:
        trainset._global_mean = columns.global_mean
    columns.__dict__["global_mean"] = trainset._global_mean
    return columns


def lists_of(
    trainset: surprise.Trainset, of: tuple[Iterable[int], Iterable[int]] | None = None
) -> ColumnTrainset:
    """Return the columns of a training set as `columns_of` does, without its mean."""
    if type(trainset) is not surprise.Trainset:
        raise NotAccelerated(f"a training set of type {type(trainset).__name__}")
    columns = _UNREAD.get(trainset)
    if columns is None and of is not None:
        columns = _unchanged_columns(trainset, of)
    if columns is None:
        columns = _columns_of_dictionaries(trainset)
    if columns.n_ratings == 0:
        raise NotAccelerated("a training set without ratings")
    return columns


def _unchanged_columns(
    trainset: surprise.Trainset, of: tuple[Iterable[int], Iterable[int]]
) -> ColumnTrainset | None:
    """Return the columns of the last time if the lists of some users and items are the same."""
    before = _READ.get(trainset)
    if before is None or before.columns.rating_scale != trainset.rating_scale:
        return None
    lists = before.columns.by_user, before.columns.by_item
    for side, inner_ids, pairs, (offsets, _, _) in zip(
        (trainset.ur, trainset.ir), of, before.pairs, lists, strict=True
    ):
        if not isinstance(side, dict) or len(side) != len(offsets) - 1:
            return None
        for inner in inner_ids:
            if inner >= 0 and not (
                inner in side
                and same_objects(pairs[offsets[inner] : offsets[inner + 1]], side[inner])
            ):
                return None
    return before.columns


def _columns_of_dictionaries(trainset: surprise.Trainset) -> ColumnTrainset:
    sides = trainset.ur, trainset.ir
    sizes = trainset.n_users, trainset.n_items
    for side, size in zip(sides, sizes, strict=True):
        if not isinstance(side, dict) or list(side) != list(range(size)):
            raise NotAccelerated(UNUSUAL)
    pairs = [list(chain.from_iterable(side.values())) for side in sides]
    lengths = [list(map(len, side.values())) for side in sides]
    before = _READ.get(trainset)
    if (
        before is not None
        and before.lengths == lengths
        and all(map(same_objects, before.pairs, pairs))
        and before.columns.rating_scale == trainset.rating_scale
    ):
        return before.columns
    lists = [_lists(*side) for side in zip(pairs, lengths, reversed(sizes), strict=True)]
    names = _raw_ids(trainset._raw2inner_id_users), _raw_ids(trainset._raw2inner_id_items)
    if (*map(len, names),) != sizes or {*map(len, pairs)} != {trainset.n_ratings}:
        raise NotAccelerated(UNUSUAL)
    codes = np.arange(sizes[0], dtype=np.int32), np.arange(sizes[1], dtype=np.int32)
    columns = ColumnTrainset(lists[0], lists[1], codes, names, trainset.rating_scale)
    _READ[trainset] = _Read(pairs, lengths, columns)
    return columns


def _lists(pairs: list[Any], lengths: list[int], n_others: int) -> Lists:
    """Return the lists of one side, of which each rating is a tuple."""
    if set(map(type, pairs)) != {tuple} or set(map(len, pairs)) != {2}:
        raise NotAccelerated(UNUSUAL)
    others, ratings = (list(map(itemgetter(place), pairs)) for place in range(2))
    if not set(map(type, ratings)) <= NUMBERS or not set(map(type, others)) <= {int}:
        raise NotAccelerated("ratings that are no floats")
    ids = np.array(others, np.int32)
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= n_others:
        raise NotAccelerated(UNUSUAL)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Lists(offsets, ids, np.array(ratings, np.float64))


def _raw_ids(inner_ids: dict[Any, int]) -> list[Any]:
    """Return the raw ids by inner id, if these are numbered as Surprise does."""
    if list(inner_ids.values()) != list(range(len(inner_ids))):
        raise NotAccelerated(UNUSUAL)
    return list(inner_ids)
