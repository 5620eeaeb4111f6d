"""``test`` and ``predict`` of fitted models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from harness.algorithms import base, surprise
from harness.extras.accelerate import traps
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import columns_of, is_known, require_ordinary
from harness.extras.accelerate.estimates import (
    Estimated,
    Estimator,
    class_of,
    estimator_of,
    kind_of,
    read_by,
)
from harness.extras.accelerate.predictions import LazyList, estimates, listed, predictions
from harness.extras.accelerate.scored import Scored, scored_rows
from harness.extras.accelerate.testsets import AntiTestset

MEAN_IN_EACH = {
    surprise.SVDpp,
    surprise.BaselineOnly,
    surprise.NormalPredictor,
    surprise.KNNBaseline,
}
"""Algorithms whose estimates all add to the mean of all ratings."""
FEW = 50
"""A training set has so many ratings whose columns are made in the time of an estimate."""


def estimator_for(model: surprise.AlgoBase, rows: Scored | None = None) -> Estimator:
    """Return what estimates for a fitted model, of the users and items of some rows or of all."""
    trainset = trainset_of(model)
    if rows is None:
        return estimator_of(model, columns_of(trainset, needs_mean=needs_mean(model)))
    if not is_known(trainset) and FEW * len(rows.members) < trainset.n_ratings:
        raise NotAccelerated("few pairs, and a training set whose columns take longer to make")
    inner_ids = np.unique(rows.users).tolist(), np.unique(rows.items).tolist()
    used = read_by(model, *inner_ids)
    return estimator_of(model, columns_of(trainset, used, needs_mean=needs_mean(model)))


def trainset_of(model: surprise.AlgoBase) -> surprise.Trainset:
    """Return the training set of a fitted model; refuse a model that does something else."""
    kind_of(model)
    trainset = getattr(model, "trainset", None)
    if trainset is None:
        raise NotAccelerated("a model that is not fitted")
    require_ordinary(trainset)
    return trainset


def needs_mean(model: surprise.AlgoBase) -> bool:
    """Return whether every estimate of a model asks for the mean of all ratings."""
    kind = class_of(model)
    if kind in (surprise.SVD, surprise.NMF):
        return bool(model.biased)
    return kind in MEAN_IN_EACH


def mean_for(model: surprise.AlgoBase, outcome: Estimated) -> Any:
    """Return the mean of all ratings, if an estimate needs it; else Surprise computes it later."""
    mean = model.trainset._global_mean
    if mean is None and outcome.reasons.any():
        mean = model.trainset.global_mean
    return np.float64("nan") if mean is None else mean


def test(model: surprise.AlgoBase, testset: Sequence[Any]) -> list[Any] | LazyList:
    """Return what ``model.test(testset)`` returns."""
    trainset = trainset_of(model)
    if isinstance(testset, AntiTestset) and testset.is_of(trainset):
        return _test_lazily(model, estimator_for(model), testset)
    rows = scored_rows(trainset, testset)
    estimator = estimator_for(model, rows)
    if not rows.members:
        return []
    outcome = outcome_of(model, estimator, rows)
    numbers = estimates(outcome, mean_for(model, outcome), trainset.rating_scale)
    users, items, ratings = (rows.column(place) for place in range(3))
    return listed(predictions(users, items, ratings, numbers, outcome))


def outcome_of(model: surprise.AlgoBase, estimator: Estimator, rows: Scored) -> Estimated:
    """Return the estimates of a test set before they are clipped."""
    trainset = model.trainset
    for side, place, inner, inner_ids in (
        ("user", 0, rows.users, trainset._raw2inner_id_users),
        ("item", 1, rows.items, trainset._raw2inner_id_items),
    ):
        unknown = np.flatnonzero(inner < 0)[: traps.LOOKED_AT].tolist()
        names = [rows.members[row][place] for row in unknown]
        traps.warn_of_types(side, names, inner_ids)
    try:
        return estimator.outcome(rows.users, rows.items)
    except base.NeedsSurprise:
        raise NotAccelerated("similarities or spreads that have no order") from None


def _test_lazily(model: surprise.AlgoBase, estimator: Estimator, testset: AntiTestset) -> LazyList:
    """Estimate all pairs now; make their predictions when they are read."""
    every = Estimated.empty(len(testset), with_counts=estimator.counts_neighbours)
    for start, users, items in testset.blocks():
        try:
            every.fill(start, estimator.outcome(users, items))
        except base.NeedsSurprise:
            raise NotAccelerated("similarities or spreads that have no order") from None
    mean, scale = mean_for(model, every), model.trainset.rating_scale

    def make(start: int, stop: int) -> Iterator[Any]:
        part = every.part(slice(start, stop))
        names = testset.names(start, stop)
        numbers = estimates(part, mean, scale)
        return predictions(*names, repeat(testset.fill, stop - start), numbers, part)

    return LazyList(len(testset), make)
