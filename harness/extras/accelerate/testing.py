"""``test`` and ``predict`` of fitted models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np

from harness.algorithms import base, surprise
from harness.algorithms.trainset import Codes
from harness.extras.accelerate import traps
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.estimates import Estimator, Outcome, estimator_of
from harness.extras.accelerate.predictions import LazyList, estimates, predictions
from harness.extras.accelerate.testsets import AntiTestset


def estimator_for(model: surprise.AlgoBase) -> Estimator:
    """Return what estimates for a fitted model."""
    trainset = getattr(model, "trainset", None)
    if trainset is None:
        raise NotAccelerated("a model that is not fitted")
    return estimator_of(model, columns_of(trainset))


def test(model: surprise.AlgoBase, testset: Sequence[Any]) -> list[Any] | LazyList:
    """Return what ``model.test(testset)`` returns."""
    estimator = estimator_for(model)
    if isinstance(testset, AntiTestset) and testset.unread and testset.trainset is model.trainset:
        return _test_lazily(model, estimator, testset)
    users, items, ratings = columns_of_testset(testset)
    if not users:
        return []
    numbers, outcome = estimate(model, estimator, users, items)
    return predictions(users, items, ratings, numbers, outcome)


def estimate(
    model: surprise.AlgoBase, estimator: Estimator, users: list[Any], items: list[Any]
) -> tuple[list[Any], Outcome]:
    """Return the estimates of pairs of raw ids, as ``predict`` clips them."""
    trainset = model.trainset
    inner_users = _inner(trainset._raw2inner_id_users, users)
    inner_items = _inner(trainset._raw2inner_id_items, items)
    traps.warn_of_types("user", users, inner_users, trainset._raw2inner_id_users)
    traps.warn_of_types("item", items, inner_items, trainset._raw2inner_id_items)
    try:
        outcome = estimator.outcome(inner_users, inner_items)
    except base.NeedsSurprise:
        raise NotAccelerated("similarities or spreads that have no order") from None
    scale = trainset.rating_scale
    return estimates(outcome, trainset.global_mean, scale), outcome


def columns_of_testset(testset: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the raw users, raw items and ratings of a test set."""
    if not set(map(type, testset)) <= {tuple, list}:
        raise NotAccelerated("a test set whose members are no triples")
    if not set(map(len, testset)) <= {3}:
        raise NotAccelerated("a test set whose members are no triples")
    users, items, ratings = (list(map(itemgetter(place), testset)) for place in range(3))
    return users, items, ratings


def _inner(inner_ids: dict[Any, int], names: Iterable[Any]) -> Codes:
    return np.array(list(map(inner_ids.get, names, repeat(-1))), np.int32)


def _test_lazily(model: surprise.AlgoBase, estimator: Estimator, testset: AntiTestset) -> LazyList:
    """Estimate all pairs now; make their predictions when they are read."""
    every = Outcome.empty(len(testset), with_counts=estimator.counts_neighbours)
    for start, users, items in testset.blocks():
        try:
            every.fill(start, estimator.outcome(users, items))
        except base.NeedsSurprise:
            raise NotAccelerated("similarities or spreads that have no order") from None
    mean, scale = model.trainset.global_mean, model.trainset.rating_scale

    def make(start: int, stop: int) -> list[Any]:
        part = every.part(slice(start, stop))
        names = testset.names(start, stop)
        numbers = estimates(part, mean, scale)
        return predictions(*names, repeat(testset.fill, stop - start), numbers, part)

    return LazyList(len(testset), make)
