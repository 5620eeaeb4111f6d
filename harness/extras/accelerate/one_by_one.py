"""``predict`` of one pair after the other, for the algorithms whose own is a loop in Python.

Nothing is kept from one call to the next: what is read is what the model holds now.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from harness._util.kernels import kernel
from harness.algorithms import surprise
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.extras.accelerate import altered, traps
from harness.extras.accelerate.calls import NotAccelerated, is_active
from harness.extras.accelerate.columns import columns_of, is_known
from harness.extras.accelerate.estimates import (
    REASONS,
    TOO_FEW,
    UNKNOWN,
    add_rows,
    read_by,
    require_learnt,
    require_own_dictionaries,
)
from harness.extras.accelerate.pending import lazy_rows

Estimate = tuple[Any, dict[str, Any]]
NOTHING = np.empty(0)


def may_predict(model: Any) -> bool:
    """Return whether a model is one of Surprise's own on a training set whose columns are made."""
    trainset = vars(model).get("trainset")
    names = ("estimate", "default_prediction", "switch")
    return (
        trainset is not None
        and is_known(trainset)
        and altered.predicts_as_surprise(type(model))
        and not any(name in vars(model) for name in names)
    )


def predict(
    model: Any, estimate: Callable[..., Estimate], uid: Any, iid: Any, r_ui: Any, clip: bool
) -> Any:
    """Return the prediction of one pair of raw ids."""
    trainset = model.trainset
    user = _inner(trainset._raw2inner_id_users, uid, trainset.n_users)
    item = _inner(trainset._raw2inner_id_items, iid, trainset.n_items)
    kind = type(model)
    require_learnt(kind, model)
    needs_mean = kind in (surprise.SVDpp, surprise.KNNBaseline)
    read = read_by(model, (user,), (item,))._replace(is_checked=True)
    columns = columns_of(trainset, read, needs_mean=needs_mean)
    if "sim" in vars(model) or lazy_rows(model, "sim") is not None:
        require_own_dictionaries(model)
    for side, name, inner, inner_ids in (
        ("user", uid, user, trainset._raw2inner_id_users),
        ("item", iid, item, trainset._raw2inner_id_items),
    ):
        if inner < 0:
            traps.warn_of_types(side, [name], inner_ids)
    try:
        value, details = estimate(model, columns, user, item)
        details["was_impossible"] = False
    except surprise.PredictionImpossible as reason:
        value = trainset.global_mean
        details = {"was_impossible": True, "reason": str(reason)}
    if clip:
        lowest, highest = trainset.rating_scale
        value = max(lowest, min(highest, value))
    return surprise.Prediction(uid, iid, r_ui, value, details)


def _inner(inner_ids: dict[Any, int], raw: Any, size: int) -> int:
    """Return an inner id, -1 for what is unknown."""
    inner = inner_ids.get(raw, -1)
    if type(inner) is not int:
        raise NotAccelerated("inner ids that are not whole numbers")
    return inner if 0 <= inner < size else -1


def _require_known(user: int, item: int) -> None:
    if user < 0 or item < 0:
        raise surprise.PredictionImpossible(REASONS[UNKNOWN])


def _by_neighbours(model: Any, columns: ColumnTrainset, user: int, item: int) -> Estimate:
    """Return what the four neighbour methods estimate."""
    kind = type(model)
    x, y = model.switch(user, item)
    if kind is surprise.KNNBaseline:
        estimate: Any = columns.global_mean
        estimate = estimate + model.bu[user] if user >= 0 else estimate
        estimate = estimate + model.bi[item] if item >= 0 else estimate
        if user < 0 or item < 0:
            return estimate, {}
        shift, base, by = model.bx, float(columns.global_mean), float(model.by[y])
    else:
        _require_known(user, item)
        centred = kind is not surprise.KNNBasic
        estimate = model.means[x] if centred else 0.0
        shift, base, by = (model.means if centred else NOTHING), 0.0, 0.0
    spreads = model.sigmas if kind is surprise.KNNWithZScore else NOTHING
    lists = columns.by_item if model.sim_options["user_based"] else columns.by_user
    rows = slice(lists.offsets[y], lists.offsets[y + 1])
    lazy = lazy_rows(model, "sim")
    row = model.sim[x] if lazy is None else lazy[x]
    is_baseline = kind is surprise.KNNBaseline
    k = min(max(int(model.k), 0), rows.stop - rows.start)
    scratch = np.empty((2, k + 1))
    weighted, total, n = average_one(
        row, lists.ids[rows], lists.ratings[rows], shift, is_baseline, base, by, spreads, k, scratch
    )
    if n < 0:
        raise NotAccelerated("similarities that have no order")
    if kind is surprise.KNNBasic:
        if n < model.min_k:
            raise surprise.PredictionImpossible(REASONS[TOO_FEW])
        if n == 0:
            raise NotAccelerated("a division by zero")
        if not np.isfinite(weighted):
            raise NotAccelerated("estimates that are not finite")
        return np.float64(weighted) / total, {"actual_k": n}
    if n:
        mean = np.float64(weighted if n >= model.min_k else 0.0) / total
        estimate = estimate + (mean * model.sigmas[x] if len(spreads) else mean)
    if not np.isfinite(estimate):
        raise NotAccelerated("estimates that are not finite")
    return estimate, {"actual_k": n}


@kernel
def average_one(
    similarity: Floats,
    xs: Codes,
    ratings: Floats,
    shift: Floats,
    is_baseline: bool,
    base: float,
    by: float,
    spreads: Floats,
    k: int,
    scratch: Floats,
) -> tuple[float, float, int]:
    """Return the sums over the k nearest raters, and how many count; -1 where there is no order."""
    weights, values = scratch
    lowest = 0.0 if k > 0 else np.inf
    n = 0
    for row in range(len(xs)):
        x = xs[row]
        weight = similarity[x]
        if weight != weight:
            return 0.0, 0.0, -1
        if not weight > lowest:
            continue
        value = ratings[row]
        if is_baseline:
            value -= base + shift[x] + by
        elif len(shift):
            value -= shift[x]
        value *= weight
        if len(spreads):
            value /= spreads[x]
        place = n
        while place > 0 and weights[place - 1] < weight:
            weights[place] = weights[place - 1]
            values[place] = values[place - 1]
            place -= 1
        weights[place] = weight
        values[place] = value
        n += n < k
        if n == k:
            lowest = weights[k - 1]
    weighted, total = 0.0, 0.0
    for place in range(n):
        total += weights[place]
        weighted += values[place]
    return weighted, total, n


def _by_deviations(model: Any, columns: ColumnTrainset, user: int, item: int) -> Estimate:
    """Return what SlopeOne estimates."""
    _require_known(user, item)
    offsets, items, _ = columns.by_user
    lazy, counts = lazy_rows(model, "dev"), lazy_rows(model, "freq")
    if (lazy is None) != (counts is None):
        raise NotAccelerated("matrices of which one has been read")
    rated = items[offsets[user] : offsets[user + 1]]
    if lazy is None:
        relevant = model.dev[item][rated][model.freq[item][rated] > 0]
    else:
        deviations = lazy[item][rated]
        relevant = deviations[deviations == deviations]
    estimate = model.user_mean[user]
    if type(estimate) is not np.float64:
        raise NotAccelerated("an attribute 'user_mean' that is not as `fit` leaves it")
    if len(relevant):
        estimate = estimate + np.add.accumulate(relevant)[-1] / len(relevant)
    return estimate, {}


def _by_implicit_factors(model: Any, columns: ColumnTrainset, user: int, item: int) -> Estimate:
    """Return what SVD++ estimates."""
    estimate = columns.global_mean
    estimate = estimate + model.bu[user] if user >= 0 else estimate
    estimate = estimate + model.bi[item] if item >= 0 else estimate
    if user >= 0 and item >= 0:
        n = int(columns.by_user.offsets[user + 1] - columns.by_user.offsets[user])
        sums = np.zeros((1, model.yj.shape[1]))
        add_rows(columns.by_user, np.array([user]), model.yj, sums)
        implicit = sums[0] / np.sqrt(n)
        estimate = estimate + np.dot(model.qi[item], model.pu[user] + implicit)
    return estimate, {}


ESTIMATES: dict[type, Callable[..., Estimate]] = {
    surprise.SVDpp: _by_implicit_factors,
    surprise.SlopeOne: _by_deviations,
    surprise.KNNBasic: _by_neighbours,
    surprise.KNNWithMeans: _by_neighbours,
    surprise.KNNWithZScore: _by_neighbours,
    surprise.KNNBaseline: _by_neighbours,
}


def neighbours(model: Any, row: Floats, inner: int, k: int) -> list[int]:
    """Return what ``get_neighbors`` does, from one row of similarities."""
    pairs = [(x, similarity) for x, similarity in enumerate(row) if x != inner]
    return [x for x, _ in heapq.nlargest(k, pairs, key=lambda pair: pair[1])]


def may_list_neighbours(model: Any, inner: Any) -> bool:
    """Return whether a row of similarities that is still pending answers ``get_neighbors``."""
    trainset = vars(model).get("trainset")
    return (
        is_active()
        and type(inner) is int
        and inner >= 0
        and type(trainset) is surprise.Trainset
        and altered.lists_neighbours_as_surprise(trainset)
        and len(lazy_rows(model, "sim") or ()) == _n_listed(model, trainset)
    )


def _n_listed(model: Any, trainset: surprise.Trainset) -> Any:
    return trainset.n_users if model.sim_options["user_based"] else trainset.n_items
