"""The ratings of Surprise's data sets and training sets in columns, kept beside the objects.

A training set that is made here is Surprise's own class. Its dictionaries ``ur`` and ``ir`` are
made when somebody reads them; until then nobody can have changed them, and the columns hold the
same. Afterwards, and for training sets from elsewhere, the columns are compared with the
dictionaries before they are used: with all of them for a fit, and for estimates with the lists of
their users and items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import is_, itemgetter
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, Order, Rated
from harness.extras.accelerate import altered
from harness.extras.accelerate.attempts import no_collection
from harness.extras.accelerate.calls import NotAccelerated

_making = RLock()
UNUSUAL = "a training set that Surprise did not make"
NUMBERS = {float, int, np.float64}
LARGEST = 2**53  # of whole numbers that are equal as floats
DICTIONARIES = (dict, defaultdict)


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

    sides: tuple[dict[int, Rated], dict[int, Rated]]  # the dictionaries themselves
    pairs: list[list[Any]]
    lengths: list[list[int]]
    columns: ColumnTrainset


Names = tuple[dict[Any, int], dict[Any, int]]  # inner ids by raw id, of users and of items
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
        raise NotAccelerated("ratings that are not a list of tuples")
    if not rows:
        raise NotAccelerated("no ratings")
    if set(map(len, rows)) != {4}:
        raise NotAccelerated("ratings of another length than four")
    users, items, ratings = (list(map(itemgetter(place), rows)) for place in range(3))
    if set(map(type, ratings)) != {float}:
        raise NotAccelerated("ratings that are not floats")
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
    require_scale(scale)
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


def columns_made_for(trainset: surprise.Trainset) -> ColumnTrainset:
    """Return the columns of a training set that was made a moment ago."""
    return _UNREAD[trainset]


def _inner_ids(names: list[Any], codes: Codes) -> dict[Any, int]:
    return dict(zip(map(names.__getitem__, codes.tolist()), range(len(codes)), strict=True))


def is_unread(trainset: surprise.Trainset) -> bool:
    """Return whether nobody has read or set the dictionaries of a training set made here."""
    return trainset in _UNREAD and vars(trainset).keys().isdisjoint(("ur", "ir"))


def read(trainset: surprise.Trainset) -> None:
    """Give a training set the dictionaries that it does not have; a script may have set one."""
    with _making:
        columns = _UNREAD.get(trainset)
        if columns is None:
            return
        lists = columns.by_user, columns.by_item
        pairs = [_pairs(side) for side in lists]
        lengths = [np.diff(side.offsets).tolist() for side in lists]
        ur, ir = (_dictionary(*side) for side in zip(pairs, lengths, strict=True))
        vars(trainset).setdefault("ur", ur)
        vars(trainset).setdefault("ir", ir)
        _READ[trainset] = _Read((ur, ir), pairs, lengths, columns)
        del _UNREAD[trainset]


def made(trainset: surprise.Trainset, name: str) -> Any:
    """Return the dictionary ``ur`` or ``ir`` that a training set had when it was made here."""
    read(trainset)
    return _READ[trainset].sides[name == "ir"]


def names_of(trainset: surprise.Trainset) -> Names:
    """Return the inner ids of a training set by raw id."""
    return trainset._raw2inner_id_users, trainset._raw2inner_id_items


def same_names(first: Names, second: Names) -> bool:
    """Return whether two pairs of dictionaries hold the very same ids in the same order."""
    return all(
        len(one) == len(other)
        and all(map(is_, one, other))
        and all(map(is_, one.values(), other.values()))
        for one, other in zip(first, second, strict=True)
    )


def read_all() -> None:
    """Give every training set its dictionaries, so that all work without the patch."""
    for trainset in list(_UNREAD):
        read(trainset)


def _pairs(lists: GroupedLists) -> Rated:
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
    trainset: surprise.Trainset, of: Read | None = None, *, needs_mean: bool = True
) -> ColumnTrainset:
    """Return the columns of a training set, as its dictionaries hold them now, and its mean.

    Surprise computes the mean once, when it is needed: what is called before may not ask for it.
    """
    mean = trainset._global_mean
    is_asked = mean is None and needs_mean  # so that every rating counts
    columns = lists_of(trainset, None if is_asked else of)
    if is_asked:
        mean = trainset._global_mean = np.mean(columns.by_user.ratings)
    if mean is None:
        columns.__dict__.pop("global_mean", None)
    elif type(mean) is np.float64:
        columns.__dict__["global_mean"] = mean
    else:
        raise NotAccelerated("a training set whose mean was set")
    return columns


@contextmanager
def mean_unless_refused(trainset: Any) -> Iterator[None]:
    """Forget a mean that was computed for a call if the call is refused after all."""
    before = vars(trainset).get("_global_mean", NUMBERS)
    try:
        yield
    except Exception:
        if before is None:
            trainset._global_mean = None
        raise


class Read(NamedTuple):
    """What estimates use of a training set."""

    users: Iterable[int]  # inner ids, -1 for unknown ones
    items: Iterable[int]
    reads: tuple[bool, bool]  # whether the lists of these users are read, and of these items
    is_checked: bool = False  # whether the class of the training set is known to be unchanged


def lists_of(trainset: surprise.Trainset, of: Read | None = None) -> ColumnTrainset:
    """Return the columns of a training set as `columns_of` does, without its mean."""
    require_ordinary(trainset, is_checked=of is not None and of.is_checked)
    columns = _UNREAD.get(trainset) if is_unread(trainset) else None
    if columns is None and of is not None:
        columns = _unchanged_columns(trainset, of)
    if columns is None:
        columns = _columns_of_dictionaries(trainset)
    sizes = trainset.n_users, trainset.n_items, trainset.n_ratings
    if {*map(type, sizes)} != {int} or sizes != (
        columns.n_users,
        columns.n_items,
        columns.n_ratings,
    ):
        raise NotAccelerated("a training set whose numbers of users, items or ratings were set")
    if columns.n_ratings == 0:
        raise NotAccelerated("a training set without ratings")
    return columns


def ratings_of(trainset: surprise.Trainset, columns: ColumnTrainset) -> list[Any]:
    """Return the ratings by user, as the very objects that the dictionaries of `columns` hold."""
    known = _READ.get(trainset)
    if known is None:
        ratings: list[Any] = columns.by_user.ratings.tolist()
        return ratings
    return list(map(itemgetter(1), known.pairs[0]))


def require_ordinary(trainset: surprise.Trainset, *, is_checked: bool = False) -> None:
    """Refuse a training set that is not simply Surprise's, or whose scale is not two numbers."""
    altered.require_own_trainset(trainset, is_checked=is_checked)
    require_scale(trainset.rating_scale)
    if not all(type(names) is dict for names in names_of(trainset)):
        raise NotAccelerated(UNUSUAL)


def require_scale(scale: Any) -> None:
    """Refuse a rating scale that is not two ordinary numbers."""
    if type(scale) not in (tuple, list) or len(scale) != 2 or not {*map(type, scale)} <= NUMBERS:
        raise NotAccelerated("a rating scale that is not two numbers")


def _unchanged_columns(trainset: surprise.Trainset, of: Read) -> ColumnTrainset | None:
    """Return the columns of the last time if the lists of some users and items are the same."""
    before = _READ.get(trainset)
    if before is None:
        return None
    lists = before.columns.by_user, before.columns.by_item
    for side, inner_ids, reads, pairs, (offsets, _, _) in zip(
        (trainset.ur, trainset.ir), of[:2], of.reads, before.pairs, lists, strict=True
    ):
        if type(side) not in DICTIONARIES or len(side) != len(offsets) - 1:
            return None
        for inner in inner_ids:
            if inner < 0:
                continue
            if inner not in side:
                return None
            if reads and not _is_list(side[inner], pairs[offsets[inner] : offsets[inner + 1]]):
                return None
    return before.columns


def _is_list(now: Any, pairs: list[Any]) -> bool:
    return type(now) is list and same_objects(pairs, now)


def _columns_of_dictionaries(trainset: surprise.Trainset) -> ColumnTrainset:
    sides = trainset.ur, trainset.ir
    sizes = trainset.n_users, trainset.n_items
    for side, size in zip(sides, sizes, strict=True):
        if (
            type(size) is not int
            or type(side) not in DICTIONARIES
            or list(side) != list(range(size))
            or not {*map(type, side)} <= {int}
            or not {*map(type, side.values())} <= {list}
        ):
            raise NotAccelerated(UNUSUAL)
    pairs = [list(chain.from_iterable(side.values())) for side in sides]
    lengths = [list(map(len, side.values())) for side in sides]
    before = _READ.get(trainset)
    if (
        before is not None
        and before.lengths == lengths
        and all(map(same_objects, before.pairs, pairs))
    ):
        return before.columns
    lists = [_lists(*side) for side in zip(pairs, lengths, reversed(sizes), strict=True)]
    _require_both_ways(*lists)
    raw_ids = _raw_ids(trainset._raw2inner_id_users), _raw_ids(trainset._raw2inner_id_items)
    if (*map(len, raw_ids),) != sizes or {*map(len, pairs)} != {trainset.n_ratings}:
        raise NotAccelerated(UNUSUAL)
    codes = np.arange(sizes[0], dtype=np.int32), np.arange(sizes[1], dtype=np.int32)
    columns = ColumnTrainset(lists[0], lists[1], codes, raw_ids, trainset.rating_scale)
    _READ[trainset] = _Read(sides, pairs, lengths, columns)
    return columns


def _lists(pairs: list[Any], lengths: list[int], n_others: int) -> GroupedLists:
    """Return the lists of one side, of which each rating is a tuple."""
    if not all(lengths):
        raise NotAccelerated("a user or an item without ratings")
    if set(map(type, pairs)) != {tuple} or set(map(len, pairs)) != {2}:
        raise NotAccelerated(UNUSUAL)
    others, ratings = (list(map(itemgetter(place), pairs)) for place in range(2))
    if not set(map(type, ratings)) <= NUMBERS or not set(map(type, others)) <= {int}:
        raise NotAccelerated("ratings that are not floats")
    if int in set(map(type, ratings)) and max(map(abs, ratings)) > LARGEST:
        raise NotAccelerated("ratings that are not floats")
    ids = np.array(others, np.int32)
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= n_others:
        raise NotAccelerated(UNUSUAL)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return GroupedLists(offsets, ids, np.array(ratings, np.float64))


def _require_both_ways(by_user: GroupedLists, by_item: GroupedLists) -> None:
    """Refuse lists of users and of items that do not hold the same ratings."""
    n_users, n_items = (len(side.offsets) - 1 for side in (by_user, by_item))
    raters = Order.of(by_user.offsets, by_user.ids, n_items)  # of each item, users ascending
    rated = Order.of(raters.offsets, raters.ids, n_users)  # of each user, items ascending
    ours = by_user.ratings[raters.places][rated.places]
    other = Order.of(by_item.offsets, by_item.ids, n_users)
    if not (
        np.array_equal(rated.offsets, other.offsets)
        and np.array_equal(rated.ids, other.ids)
        and np.array_equal(ours, by_item.ratings[other.places], equal_nan=True)
    ):
        raise NotAccelerated("a training set whose users and items hold different ratings")


def _raw_ids(inner_ids: dict[Any, int]) -> list[Any]:
    """Return the raw ids by inner id, if these are numbered as Surprise does."""
    if list(inner_ids.values()) != list(range(len(inner_ids))):
        raise NotAccelerated(UNUSUAL)
    return list(inner_ids)
