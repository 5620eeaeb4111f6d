"""``test`` and ``predict`` of fitted models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from harness.algorithms import base, surprise
from harness.extras.accelerate import traps
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import columns_of, is_known
from harness.extras.accelerate.estimates import (
    Estimator,
    Outcome,
    estimator_of,
    kind_of,
    lists_read,
)
from harness.extras.accelerate.predictions import LazyList, estimates, listed, predictions
from harness.extras.accelerate.scored import Scored, scored_rows
from harness.extras.accelerate.testsets import AntiTestset

FEW = 50
"""A training set has so many ratings whose columns are made in the time of an estimate."""


def estimator_for(model: surprise.AlgoBase, rows: Scored | None = None) -> Estimator:
    """Return what estimates for a fitted model, of the users and items of some rows or of all."""
    trainset = trainset_of(model)
    if rows is None:
        return estimator_of(model, columns_of(trainset))
    if not is_known(trainset) and FEW * len(rows.members) < trainset.n_ratings:
        raise NotAccelerated("few pairs, and a training set whose columns take longer to make")
    inner_ids = np.unique(rows.users).tolist(), np.unique(rows.items).tolist()
    return estimator_of(model, columns_of(trainset, lists_read(model, *inner_ids)))


def trainset_of(model: surprise.AlgoBase) -> surprise.Trainset:
    """Return the training set of a fitted model; refuse a model that does something of its own."""
    kind_of(model)
    trainset = getattr(model, "trainset", None)
    if trainset is None:
        raise NotAccelerated("a model that is not fitted")
    if type(trainset) is not surprise.Trainset:
        raise NotAccelerated(f"a training set of type {type(trainset).__name__}")
    return trainset


def test(model: surprise.AlgoBase, testset: Sequence[Any]) -> list[Any] | LazyList:
    """Return what ``model.test(testset)`` returns."""
    trainset = trainset_of(model)
    if isinstance(testset, AntiTestset) and testset.unread and testset.trainset is trainset:
        return _test_lazily(model, estimator_for(model), testset)
    rows = scored_rows(trainset, testset)
    estimator = estimator_for(model, rows)
    if not rows.members:
        return []
    outcome = outcome_of(model, estimator, rows)
    numbers = estimates(outcome, trainset.global_mean, trainset.rating_scale)
    users, items, ratings = (rows.column(place) for place in range(3))
    return listed(predictions(users, items, ratings, numbers, outcome))


def outcome_of(model: surprise.AlgoBase, estimator: Estimator, rows: Scored) -> Outcome:
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
    every = Outcome.empty(len(testset), with_counts=estimator.counts_neighbours)
    for start, users, items in testset.blocks():
        try:
            every.fill(start, estimator.outcome(users, items))
        except base.NeedsSurprise:
            raise NotAccelerated("similarities or spreads that have no order") from None
    mean, scale = model.trainset.global_mean, model.trainset.rating_scale

    def make(start: int, stop: int) -> Iterator[Any]:
        part = every.part(slice(start, stop))
        names = testset.names(start, stop)
        numbers = estimates(part, mean, scale)
        return predictions(*names, repeat(testset.fill, stop - start), numbers, part)

    return LazyList(len(testset), make)
