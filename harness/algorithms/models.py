"""Training sets in columns, and models that are fitted and scored in compiled loops.

`fit` sets on a model the attributes that ``model.fit`` sets, so that it can be dumped, loaded and
used like any other; `estimate` and `catalogue` give for whole blocks of users and items what
``model.predict`` gives for each pair. Where a model is not one of Surprise's own, or does something
of its own, they call it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.algorithms import registry, surprise
from harness.errors import AlgorithmError
from harness.kernels import group_rows

__all__ = ["catalogue", "estimate", "fit"]

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
RawIds = npt.NDArray[np.generic] | Sequence[object]
Ratings = list[tuple[int, float]]
"""Surprise's ratings of a user, or of an item: inner ids of the other side, and ratings."""
Path = Literal["accelerated", "surprise"]

BLOCK_BYTES = 32_000_000
"""Of the estimates that `catalogue` makes at a time."""


class Lists(NamedTuple):
    """The ratings of every user, or of every item, one list after the other."""

    offsets: Offsets
    """Where the list of each user or item begins and ends, shape (n + 1,)."""
    ids: Codes
    """Inner ids of the other side, shape (n_ratings,)."""
    ratings: Floats
    """Aligned with `ids`."""

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
    """`Lists` in the order of inner ids, without ratings."""

    offsets: Offsets
    ids: Codes
    """Inner ids of the other side, ascending within a list."""
    places: Offsets
    """Where the other side's `Lists` hold the same rating."""

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


class RatingLists(Mapping[int, Ratings]):
    """Surprise's dictionary of the ratings of every user or item, each list built on first use.

    An unknown key gives an empty list, as a ``defaultdict`` would, but is not remembered.
    """

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._built: dict[int, Ratings] = {}

    def __getitem__(self, key: object) -> Ratings:
        ratings: Ratings = self.get(key, [])
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

    def __reduce__(self) -> tuple[type, tuple[Lists]]:
        return RatingLists, (self._lists,)


class ColumnTrainset(surprise.Trainset):  # type: ignore[misc]
    """Surprise's training set with the same ratings in the same order, kept in columns.

    Surprise keeps two dictionaries of lists of tuples, about 250 bytes a rating; the columns take
    24, and the lists of a user or an item are built on first use. *Codes* number the users and
    items of a data set, *inner ids* those of this training set, in the order in which they first
    appear; `inner_users` and `inner_items` hold the inner id of each code, -1 where it is unknown.
    """

    _inner2raw_id_users = _inner2raw_id_items = None  # Surprise makes them when it needs them

    def __init__(
        self,
        by_user: Lists,
        by_item: Lists,
        codes: tuple[Codes, Codes],
        raw_ids: tuple[RawIds, RawIds],
        scale: tuple[float, float],
    ) -> None:
        """Keep the ratings twice, each list in training order.

        `codes` hold that of each inner user and item, `raw_ids` the name of each code.
        """
        # Surprise's own constructor would store dictionaries where this class has properties.
        self.by_user, self.by_item = by_user, by_item
        self.user_codes, self.item_codes = codes
        self.user_ids, self.item_ids = raw_ids
        self.inner_users, self.inner_items = (
            _inverse(known, len(ids)) for known, ids in zip(codes, raw_ids, strict=True)
        )
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

        Examples
        --------
        >>> trainset = ColumnTrainset.from_columns(
        ...     [1, 0, 1], [2, 2, 0], [4, 3, 5],
        ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
        >>> trainset.to_inner_uid("bob"), trainset.ur[0], trainset.global_mean
        (0, [(0, 4.0), (1, 5.0)], np.float64(4.0))
        """
        values = np.asarray(ratings, np.float64)
        user_codes, inner_users = _numbered(np.asarray(users), len(user_ids))
        item_codes, inner_items = _numbered(np.asarray(items), len(item_ids))
        user_offsets, by_user = group_rows(inner_users, len(user_codes))
        item_offsets, by_item = group_rows(inner_items, len(item_codes))
        return cls(
            Lists(user_offsets, inner_items[by_user], values[by_user]),
            Lists(item_offsets, inner_users[by_item], values[by_item]),
            (user_codes, item_codes),
            (user_ids, item_ids),
            scale,
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
        from scipy.sparse import csr_array

        offsets, items, ratings = self.by_user
        shape = (self.n_users, self.n_items)
        matrix = csr_array((ratings, items, offsets), shape=shape, copy=True)
        matrix.sum_duplicates()
        return matrix

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
        derived = ("item_order", "user_order", "matrix")
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


def _names(ids: RawIds, codes: Codes) -> list[object]:
    return list(ids[codes].tolist() if isinstance(ids, np.ndarray) else map(ids.__getitem__, codes))


def _flatten(lists: list[Ratings]) -> Lists:
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=offsets[1:])
    ids = np.fromiter((other for row in lists for other, _ in row), np.int32, offsets[-1])
    ratings = np.fromiter((rating for row in lists for _, rating in row), np.float64, offsets[-1])
    return Lists(offsets, ids, ratings)


def fit(
    model: surprise.AlgoBase,
    trainset: surprise.Trainset,
    *,
    accelerate: bool = True,
    as_surprise: bool = False,
    progress: registry.Progress | None = None,
) -> Path:
    """Fit a model, with the same attributes afterwards as from its own ``fit``.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted in place; its ``trainset`` is a `ColumnTrainset` afterwards. Of parameters that
        Surprise does not have, a ``random_state`` on a `surprise.NormalPredictor` seeds its draws.
    trainset : surprise.Trainset
        What to fit on; copied into columns if it is not in columns yet.
    accelerate : bool
        False calls ``model.fit`` whatever the model is.
    as_surprise : bool
        `SlopeOne` and `CoClustering` cast ratings to integers in Surprise, so that 4.5 stars count
        as 4. By default the true ratings are used here; True does as Surprise does. Whole stars
        give the same either way, and ``model.fit`` always casts.
    progress : callable, optional
        Called with steps done and steps in all, from time to time.

    Returns
    -------
    str
        ``accelerated``, or ``surprise`` where the model's own ``fit`` was called: for a class that
        Surprise does not have, a subclass that changes how it is fitted, parameters of unusual
        types, parameters that Surprise refuses, and a few algorithms where a user rated an item
        twice.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> fit(model, trainset)
    'accelerated'
    >>> model.predict("bob", "y").est
    np.float64(3.0)
    """
    columns = ColumnTrainset.from_surprise(trainset)
    entry = registry.entry_of(type(model)) if accelerate and columns.n_ratings else None
    seed = getattr(model, "random_state", None)
    if isinstance(model, surprise.NormalPredictor) and seed is not None:
        model.generator = surprise.utils.get_rng(seed)
    if entry is None or not entry.may_fit(model, columns):
        model.fit(columns)
        return "surprise"
    surprise.AlgoBase.fit(model, columns)
    how = registry.FitOptions(progress or (lambda done, total: None), as_surprise)
    entry.fit(model, columns, how)
    return "accelerated"


def estimate(
    model: surprise.AlgoBase,
    users: npt.ArrayLike,
    items: npt.ArrayLike,
    *,
    clip: bool = True,
    accelerate: bool = True,
) -> tuple[Floats, Bools]:
    """Estimate many ratings at once.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted by `fit`.
    users, items : array-like of int, shape (n,)
        Data set codes of each pair; the training set need not know them.
    clip : bool
        Clip estimates to the rating scale, as ``predict`` does by default.
    accelerate : bool
        False calls ``model.predict`` for each pair.

    Returns
    -------
    estimates : ndarray of float64, shape (n,)
        What ``model.predict(user, item, clip=clip).est`` gives for each pair.
    impossible : ndarray of bool, shape (n,)
        Where the model has no estimate and its default prediction is used.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> estimates, impossible = estimate(model, [1, 1], [1, 2])
    >>> estimates.round(3).tolist(), impossible.tolist()
    ([3.0, 3.667], [False, True])
    """
    scorer = _scorer(model, accelerate)
    return _estimates(model, scorer, _codes(users), _codes(items), clip)


def catalogue(
    model: surprise.AlgoBase,
    users: npt.ArrayLike,
    *,
    clip: bool = True,
    accelerate: bool = True,
    block: int | None = None,
) -> Iterator[tuple[int, int, Floats]]:
    """Estimate the rating of every training item for each user, some users at a time.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted by `fit`.
    users : array-like of int, shape (n,)
        Data set codes.
    clip : bool
        Clip estimates to the rating scale.
    accelerate : bool
        False calls ``model.predict`` for each pair.
    block : int, optional
        Users at a time; by default as many as have 32 MB of estimates.

    Yields
    ------
    start, stop : int
        Which part of `users` it is.
    estimates : ndarray of float64, shape (stop - start, n_items)
        Items in the order of inner ids; the array is the caller's to change.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> for start, stop, estimates in catalogue(model, [1, 0]):
    ...     print(start, stop, estimates.tolist())
    0 2 [[5.0, 3.0], [4.0, 2.0]]
    """
    codes = _codes(users)
    scorer = _scorer(model, accelerate)
    size = block or max(1, BLOCK_BYTES // (8 * max(model.trainset.n_items, 1)))
    for start in range(0, len(codes), size):
        stop = min(start + size, len(codes))
        yield start, stop, _estimates(model, scorer, codes[start:stop], None, clip)[0]


def is_preference(model: surprise.AlgoBase) -> bool:
    """Return whether a model's estimates are no ratings, so that the scale does not bound them."""
    return bool(getattr(model, "is_preference", False))


def not_ratings(model: surprise.AlgoBase) -> str:
    """Return what a model's estimates are if they are not estimates of ratings, else nothing."""
    entry = registry.entry_of(type(model))
    return "a preference" if is_preference(model) else entry.not_ratings if entry else ""


def scoring_path(model: surprise.AlgoBase) -> Path:
    """Return which code `estimate` and `catalogue` use for a fitted model."""
    entry = registry.entry_of(type(model))
    return "accelerated" if entry and entry.may_score(model) else "surprise"


def _codes(given: npt.ArrayLike) -> Codes:
    codes = np.asarray(given)
    if not codes.size:
        return codes.astype(np.int32)
    if codes.min() < 0:  # NumPy would count from the end
        raise AlgorithmError(f"users or items: {codes.min()} is not a code; give codes from 0")
    return codes


def _scorer(model: surprise.AlgoBase, accelerate: bool) -> registry.Algorithm | None:
    """Return what scores a fitted model in blocks; None where its own ``predict`` must."""
    if not isinstance(getattr(model, "trainset", None), ColumnTrainset):
        raise AlgorithmError(
            f"{type(model).__name__}: the model was not fitted on a training set in columns; "
            "fit it with harness.algorithms.models.fit"
        )
    entry = registry.entry_of(type(model))
    if not accelerate or entry is None or not entry.may_score(model):
        return None
    try:
        return entry(model)
    except registry.NeedsSurprise:
        return None


def _estimates(
    model: surprise.AlgoBase,
    scorer: registry.Algorithm | None,
    users: Codes,
    items: Codes | None,
    clip: bool,
) -> tuple[Floats, Bools]:
    """Return the estimates of pairs or, without items, of all training items for each user."""
    trainset: ColumnTrainset = model.trainset
    clip = clip and not is_preference(model)
    if scorer is None:
        return _predicted(model, users, items, clip)
    inner_users = users if scorer.takes_codes else trainset.inner_users[users]
    try:
        if items is None:
            estimates, none = scorer.rows(inner_users)
        else:
            inner_items = items if scorer.takes_codes else trainset.inner_items[items]
            estimates, none = scorer.pairs(inner_users, inner_items)
    except registry.NeedsSurprise:  # these similarities have no order
        return _predicted(model, users, items, clip)
    impossible = np.broadcast_to(none, estimates.shape)
    if impossible.any():
        estimates[impossible] = model.default_prediction()
    if clip:
        lowest, highest = trainset.rating_scale
        # fmin and fmax let go of NaN as Python's min and max do in `predict`.
        np.fmin(estimates, highest, out=estimates)
        np.fmax(estimates, lowest, out=estimates)
    return estimates, impossible


def _predicted(
    model: surprise.AlgoBase, users: Codes, items: Codes | None, clip: bool
) -> tuple[Floats, Bools]:
    """Return what ``model.predict`` gives, called for one pair after the other."""
    trainset: ColumnTrainset = model.trainset
    pairs = (users, items) if items is not None else (users[:, None], trainset.item_codes)
    every_user, every_item = np.broadcast_arrays(*pairs)
    estimates = np.empty(every_user.shape)
    impossible = np.empty(every_user.shape, np.bool_)
    raw = trainset.raw_users(every_user.ravel()), trainset.raw_items(every_item.ravel())
    with drawing_from(own_generator(model)):
        for place, (user, item) in enumerate(zip(*raw, strict=True)):
            prediction = model.predict(user, item, clip=clip)
            estimates.flat[place] = prediction.est
            impossible.flat[place] = prediction.details["was_impossible"]
    return estimates, impossible


def own_generator(model: surprise.AlgoBase) -> np.random.RandomState | None:
    """Return what a seeded NormalPredictor draws from.

    Surprise's class takes no seed and draws from NumPy's global generator. With an attribute
    ``random_state``, a model draws what that generator would after ``numpy.random.seed``, while the
    generator itself does not change. Every fit starts again.
    """
    if isinstance(model, surprise.NormalPredictor):
        return getattr(model, "generator", None)
    return None


@contextmanager
def drawing_from(own: np.random.RandomState | None) -> Iterator[None]:
    """Let what draws from NumPy's global generator draw from another, if there is one."""
    if own is None:
        yield
        return
    before = np.random.get_state()  # noqa: NPY002
    np.random.set_state(own.get_state())  # noqa: NPY002
    try:
        yield
    finally:
        own.set_state(np.random.get_state())  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002


_warm: set[str] = set()
_CHEAP = {**dict.fromkeys(("n_epochs", "min_k", "n_cltr_u", "n_cltr_i"), 1), "n_factors": 2, "k": 2}
_UNFILTERED = {"k_core": 1, "min_rating": None}  # the toy would not pass filters


def warm_up(name: str, params: registry.Params, *, whole_catalogue: bool = True) -> None:
    """Compile what an algorithm needs before the clock starts, by fitting and scoring a toy.

    It does so once in each process for each set of options. Ranking and metrics have theirs in
    `harness.experiment.cell.compile_scoring`. Of a class of your own, what it derives from is
    compiled; numbers that select no other compiled code are small.
    """
    if "/" in name:
        registry.libraries().prepare(name, params)
        return
    entry = registry.entry_of(registry.find(name)) or registry.algorithms()["Random"]
    names, _ = registry.accepted(entry.model_class)
    small = {**_CHEAP, **_UNFILTERED}
    cheap = {key: small.get(key, value) for key, value in params.items() if key in names}
    identity = json.dumps([entry.name, cheap, whole_catalogue], sort_keys=True, default=str)
    if identity in _warm:
        return
    _warm.add(identity)
    users, items = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 2]], np.int32)
    ratings, ids = [1.0, 2.0, 3.0, 4.0, 5.0, 3.0], ["a", "b", "c"]
    toy = ColumnTrainset.from_columns(
        users, items, ratings, user_ids=ids, item_ids=ids, scale=(1.0, 5.0)
    )
    model = registry.create(entry.name, cheap, seed=0)
    fit(model, toy)
    estimate(model, users, items)
    if whole_catalogue:
        next(catalogue(model, users[:1]))
