"""The estimates of many pairs, with the details that ``estimate`` gives one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness._util.kernels import kernel
from harness.algorithms import base, registry, surprise
from harness.algorithms.compiled import neighbours as knn
from harness.algorithms.compiled import slope_one
from harness.algorithms.compiled.matrix import each_row
from harness.algorithms.compiled.neighbours import MEANS_A_THREAD, average_pairs
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats, GroupedLists
from harness.extras.accelerate import altered
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import Read, is_unread, made
from harness.extras.accelerate.pending import lazy_rows, pending_name, view_of

NO_COUNT = -1
POSSIBLE, UNKNOWN, TOO_FEW, BOTH_UNKNOWN = range(4)
REASONS = (
    "",
    "User and/or item is unknown.",
    "Not enough neighbors.",
    "User and item are unknown.",
)
"""Surprise's words for why an estimate is impossible."""
PAIRS_AT_ONCE = 1 << 13  # whose vectors fit into a cache
Numbers = npt.NDArray[np.integer[Any]]
Inner = Sequence[int]  # inner ids


class Estimated(NamedTuple):
    """Estimates before they are clipped, shape (n,), and what ``details`` says of each."""

    values: Floats
    reasons: Numbers  # places in `REASONS`
    counts: Numbers | None = None  # ``actual_k``, or NO_COUNT where details have none
    are_floats: Bools | bool = False  # Python's floats, where others are NumPy's

    @classmethod
    def empty(cls, n: int, *, with_counts: bool) -> Estimated:
        """Return arrays that are filled block by block."""
        counts = np.empty(n, np.int32) if with_counts else None
        return cls(np.empty(n), np.empty(n, np.int8), counts, np.empty(n, np.bool_))

    def part(self, rows: slice) -> Estimated:
        """Return some of the estimates."""
        columns = (None if column is None else column[rows] for column in self)  # type: ignore[index]
        return Estimated(*columns)  # type: ignore[arg-type]

    def fill(self, start: int, part: Estimated) -> None:
        """Write a block of estimates."""
        rows = slice(start, start + len(part.values))
        for name in ("values", "reasons", "counts", "are_floats"):
            column, values = getattr(self, name), getattr(part, name)
            if column is not None:
                column[rows] = values


class Estimator:
    """The estimates of one fitted model; a subclass for each kind of algorithm."""

    counts_neighbours = False

    def __init__(self, model: surprise.AlgoBase, columns: ColumnTrainset) -> None:
        self.model = view_of(model, columns)
        self.columns = columns
        self.mean = columns.global_mean

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        """Return the estimates of pairs of inner ids, -1 for unknown ones."""
        raise NotImplementedError

    def biased(self, users: Codes, items: Codes) -> Floats:
        """Return ``mean + b_u + b_i``, of an unknown side nothing."""
        bu, bi = (self.array(name, 1) for name in ("bu", "bi"))
        of_users = np.where(users >= 0, self.mean + bu[users], self.mean)
        return np.where(items >= 0, of_users + bi[items], of_users)

    def array(self, name: str, n_dimensions: int) -> Floats:
        """Return what a model learnt, if it is still as ``fit`` left it."""
        value = getattr(self.model, name)
        n = {"u": self.columns.n_users, "i": self.columns.n_items}.get(name[1:], len(value))
        if not (
            type(value) is np.ndarray
            and value.dtype == np.float64
            and value.ndim == n_dimensions
            and value.flags.c_contiguous
            and len(value) == n
        ):
            raise _unlike(name)
        return value


class Baselines(Estimator):
    """BaselineOnly."""

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        return Estimated(self.biased(users, items), np.zeros(len(users), np.int8))


class Factors(Estimator):
    """SVD and NMF: products of vectors, with or without biases."""

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        both = (users >= 0) & (items >= 0)
        reasons = np.zeros(len(users), np.int8)
        if self.is_biased():
            values = self.biased(users, items)
        else:
            values = np.zeros(len(users))
            reasons[~both] = BOTH_UNKNOWN
        known = np.flatnonzero(both)
        self.add_products(users, items, known, values)
        return Estimated(values, reasons)

    def is_biased(self) -> bool:
        """Return whether mean and biases are part of the estimate."""
        return bool(self.model.biased)

    def vectors(self, users: Codes) -> Floats:
        """Return the vector of each user."""
        return self.array("pu", 2)[users]

    def add_products(self, users: Codes, items: Codes, known: Numbers, values: Floats) -> None:
        """Add ``q_i · p_u`` as ``numpy.dot`` has it: by the same routine of linear algebra."""
        qi = self.array("qi", 2)
        distinct, places = np.unique(users[known], return_inverse=True)
        vectors = self.vectors(distinct)
        if vectors.shape[1] != qi.shape[1]:
            raise NotAccelerated("vectors of users and items of different lengths")
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        if 2 * len(known) > len(starts) * len(qi):  # most items, user after user: none is copied
            for start, stop in pairwise([*starts.tolist(), len(known)]):
                rows = known[start:stop]
                values[rows] += np.vecdot(qi, vectors[places[start]])[items[rows]]
            return
        for start in range(0, len(known), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            rows = known[part]
            values[rows] += np.vecdot(qi[items[rows]], vectors[places[part]])


class ImplicitFactors(Factors):
    """SVD++: a user's vector plus what follows from the items that the user rated."""

    def is_biased(self) -> bool:
        return True

    def vectors(self, users: Codes) -> Floats:
        sums = np.zeros((len(users), self.array("yj", 2).shape[1]))
        add_rows(self.columns.by_user, users.astype(np.int64), self.array("yj", 2), sums)
        lengths = np.diff(self.columns.by_user.offsets)[users]
        vectors: Floats = super().vectors(users) + sums / np.sqrt(lengths)[:, None]
        return vectors


@kernel
def add_rows(by_user: GroupedLists, users: Numbers, yj: Floats, sums: Floats) -> None:
    """Add the y of all that each user rated, one after the other."""
    offsets, items, _ = by_user
    for place in range(len(users)):
        for row in range(offsets[users[place]], offsets[users[place] + 1]):
            for f in range(sums.shape[1]):
                sums[place, f] += yj[items[row], f]


class Clusters(Estimator):
    """CoClustering, whose estimates of known pairs are Python's floats."""

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        known = (users >= 0) & (items >= 0)
        values = np.full(len(users), self.mean)
        us, js = users[known], items[known]
        model = self.model
        of_user, of_item = model.cltr_u[us], model.cltr_i[js]
        means = self.array("user_mean", 1), self.array("item_mean", 1)
        averages = self.array("avg_cltr_u", 1), self.array("avg_cltr_i", 1)
        estimates = self.array("avg_cocltr", 2)[of_user, of_item] + means[0][us]
        estimates -= averages[0][of_user]
        estimates += means[1][js]
        values[known] = estimates - averages[1][of_item]
        return Estimated(values, np.zeros(len(users), np.int8), None, known)


class NormalDraws(Estimator):
    """NormalPredictor: a draw for each pair, known or not."""

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        values = np.random.normal(self.mean, self.model.sigma, len(users))  # noqa: NPY002
        return Estimated(values, np.zeros(len(users), np.int8), None, True)


class Deviations(Estimator):
    """SlopeOne."""

    def __init__(self, model: surprise.AlgoBase, columns: ColumnTrainset) -> None:
        super().__init__(model, columns)
        n = columns.n_items
        if self.model.dev.shape != (n, n) or self.model.freq.shape != (n, n):
            raise _unlike("dev")
        if {*map(type, self.model.user_mean)} != {np.float64}:
            raise _unlike("user_mean")
        if "dev" in vars(model) and ((self.model.freq > 0) != ~np.isnan(self.model.dev)).any():
            raise _unlike("freq")
        self.compiled = slope_one.SlopeOne(self.model)

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        values, unknown = self.compiled.pairs(users, items)
        return Estimated(values, np.where(unknown, UNKNOWN, POSSIBLE).astype(np.int8))


class Neighbours(Estimator):
    """The four neighbour methods, with the number of neighbours that count."""

    counts_neighbours = True

    def __init__(self, model: surprise.AlgoBase, columns: ColumnTrainset) -> None:
        super().__init__(model, columns)
        if columns.has_repeats:
            raise NotAccelerated("a user rated an item twice")
        n = columns.n_users if self.model.sim_options["user_based"] else columns.n_items
        if self.model.sim.shape != (n, n):
            raise _unlike("sim")
        require_own_dictionaries(model)
        entry: Any = registry.entry_of(type(model))
        self.compiled: knn.KNNBasic = entry(self.model)

    def outcome(self, users: Codes, items: Codes) -> Estimated:
        compiled, model = self.compiled, self.model
        known = np.flatnonzero((users >= 0) & (items >= 0))
        counts = np.full(len(users), NO_COUNT, np.int32)
        xs, ys = model.switch(users[known], items[known])
        means = np.full(len(users), compiled.unknown)
        k = compiled.options[1]

        def average(distinct: Codes, rows: Codes, places: Numbers) -> None:
            of_pairs, n_nearest = np.empty(len(places)), np.empty(len(places), np.int32)
            scratch = np.empty(k + 1), np.empty(k + 1, np.int64)
            similarities = compiled.similarities(distinct)
            arguments = rows, ys[places], similarities, compiled.y_lists
            average_pairs(*arguments, *compiled.options, of_pairs, *scratch)
            count_neighbours(*arguments, k, n_nearest)
            means[known[places]] = of_pairs
            counts[known[places]] = n_nearest

        each_row(xs, compiled.rows_at_once, MEANS_A_THREAD, average)
        values = compiled.complete(means, users, items)
        reasons = np.zeros(len(users), np.int8)
        if np.isnan(compiled.unknown):
            reasons[(users < 0) | (items < 0)] = UNKNOWN
        if np.isnan(compiled.too_few):
            reasons[known[counts[known] < max(int(model.min_k), 1)]] = TOO_FEW
        if not np.isfinite(values[reasons == POSSIBLE]).all():
            raise NotAccelerated("estimates that are not finite")
        counts[reasons != POSSIBLE] = NO_COUNT
        return Estimated(values, reasons, counts)


@kernel
def count_neighbours(
    rows: Codes, ys: Codes, similarities: Floats, y_lists: GroupedLists, k: int, counts: Codes
) -> None:
    """Write how many of the k nearest raters of each y have a positive similarity."""
    offsets, xs, _ = y_lists
    for pair in range(len(rows)):
        similarity = similarities[rows[pair]]
        count = 0
        for row in range(offsets[ys[pair]], offsets[ys[pair] + 1]):
            count += similarity[np.uint32(xs[row])] > 0.0
        counts[pair] = min(count, k)


ESTIMATORS: dict[type, Callable[[surprise.AlgoBase, ColumnTrainset], Estimator]] = {
    surprise.SVD: Factors,
    surprise.SVDpp: ImplicitFactors,
    surprise.NMF: Factors,
    surprise.SlopeOne: Deviations,
    surprise.CoClustering: Clusters,
    surprise.BaselineOnly: Baselines,
    surprise.NormalPredictor: NormalDraws,
    **dict.fromkeys(
        (
            surprise.KNNBasic,
            surprise.KNNWithMeans,
            surprise.KNNWithZScore,
            surprise.KNNBaseline,
        ),
        Neighbours,
    ),
}


Shape = tuple[Any, int]  # the type of the numbers, and how many dimensions
_VECTOR: Shape = (np.float64, 1)
_MATRIX: Shape = (np.float64, 2)
_CODES: Shape = (np.intp, 1)
_FACTORS = {"bu": _VECTOR, "bi": _VECTOR, "pu": _MATRIX, "qi": _MATRIX}
_BASELINES = {"bu": _VECTOR, "bi": _VECTOR, "bx": _VECTOR, "by": _VECTOR}
_MEANS = {"sim": _MATRIX, "means": _VECTOR}
_CLUSTERS = {
    **dict.fromkeys(("user_mean", "item_mean", "avg_cltr_u", "avg_cltr_i"), _VECTOR),
    **{"cltr_u": _CODES, "cltr_i": _CODES, "avg_cocltr": _MATRIX},
}
_LEARNT: dict[type, dict[str, tuple[Any, int]]] = {
    surprise.SVD: _FACTORS,
    surprise.SVDpp: _FACTORS | {"yj": _MATRIX},
    surprise.NMF: _FACTORS,
    surprise.SlopeOne: {"dev": _MATRIX, "freq": (np.intp, 2)},
    surprise.CoClustering: _CLUSTERS,
    surprise.BaselineOnly: {"bu": _VECTOR, "bi": _VECTOR},
    surprise.NormalPredictor: {"sigma": (np.float64, 0)},
    surprise.KNNBasic: {"sim": _MATRIX},
    surprise.KNNWithMeans: _MEANS,
    surprise.KNNWithZScore: _MEANS | {"sigmas": _VECTOR},
    surprise.KNNBaseline: _BASELINES | {"sim": _MATRIX},
}
"""The types and dimensions of what each algorithm learns; a script may have set others."""


def _unlike(name: str) -> NotAccelerated:
    return NotAccelerated(f"an attribute {name!r} that is not as `fit` leaves it")


def require_learnt(kind: type, model: Any) -> None:
    """Refuse a model of which a script set something of another type than `fit` sets."""
    attributes = vars(model)
    for name, (number, n_dimensions) in _LEARNT[kind].items():
        if name not in attributes and lazy_rows(model, name) is not None:
            continue
        value = attributes.get(name)
        if n_dimensions == 0:
            is_alike = type(value) is number
        else:
            is_alike = (
                type(value) is np.ndarray
                and value.dtype == number
                and value.ndim == n_dimensions
                and value.flags.c_contiguous
            )
        if not is_alike:
            raise _unlike(name)
    if kind is surprise.SlopeOne:
        means = attributes.get("user_mean")
        if type(means) is not list or len(means) != model.trainset.n_users:
            raise _unlike("user_mean")
    for name, size in _sizes(kind, model).items():
        if len(attributes[name]) != size:
            raise _unlike(name)


def _sizes(kind: type, model: Any) -> dict[str, int]:
    """Return how long the vectors of a model are that a kernel reads without looking."""
    n_users, n_items = model.trainset.n_users, model.trainset.n_items
    if ESTIMATORS[kind] is Neighbours:
        n_x, n_y = (n_users, n_items) if model.sim_options["user_based"] else (n_items, n_users)
        sizes = {"sim": n_x, "means": n_x, "sigmas": n_x, "bx": n_x, "by": n_y}
    else:
        sizes = {"yj": n_items, "qi": n_items, "pu": n_users, "dev": n_items, "freq": n_items}
    sizes |= {"bu": n_users, "bi": n_items, "cltr_u": n_users, "cltr_i": n_items}
    sizes |= {"user_mean": n_users, "item_mean": n_items}
    return {name: n for name, n in sizes.items() if name in _LEARNT[kind] and name in vars(model)}


def require_own_dictionaries(model: Any) -> None:
    """Refuse neighbours whose dictionaries no longer belong to the training set."""
    trainset, attributes = model.trainset, vars(model)
    names = ("ur", "ir") if model.sim_options["user_based"] else ("ir", "ur")
    for own, name in zip(("xr", "yr"), names, strict=True):
        if own in attributes:
            theirs = attributes[own]
        elif pending_name(model, own) == name:
            theirs = None if is_unread(trainset) else made(trainset, name)
        else:
            raise _unlike(own)
        if theirs is not vars(trainset).get(name):
            raise _unlike(own)


def read_by(model: Any, users: Inner, items: Inner) -> Read:
    """Return what the estimates of some users and items use of a training set.

    Vectors, biases and clusters are in the model; the other algorithms look up what a user rated
    or, with users as neighbours, who rated an item.
    """
    kind = class_of(model)
    if ESTIMATORS[kind] is Neighbours:
        is_by_user = bool(model.sim_options["user_based"])
        return Read(users, items, (not is_by_user, is_by_user))
    return Read(users, items, (kind in (surprise.SVDpp, surprise.SlopeOne), False))


def class_of(model: surprise.AlgoBase) -> type:
    """Return the class of Surprise that a model is of, once `kind_of` has found that it is."""
    return next(kind for kind in type(model).__mro__ if kind in ESTIMATORS)


def kind_of(model: surprise.AlgoBase) -> type:
    """Return the class of Surprise that a model estimates as; refuse one that does not."""
    entry = registry.entry_of(type(model))
    if entry is None or entry.model_class not in ESTIMATORS:
        raise NotAccelerated("a class that Surprise does not have")
    altered.require_own_test(entry.model_class)
    if not entry.may_score(model):
        raise NotAccelerated("a subclass that overrides how it estimates, or unusual parameters")
    altered.require_plain_access(type(model))
    return entry.model_class


def estimator_of(model: surprise.AlgoBase, columns: ColumnTrainset) -> Estimator:
    """Return what estimates for a fitted model that `kind_of` has not refused."""
    kind = class_of(model)
    require_learnt(kind, model)
    try:
        return ESTIMATORS[kind](model, columns)
    except base.NeedsSurprise:
        raise NotAccelerated("similarities or spreads that have no order") from None
