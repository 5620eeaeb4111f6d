"""``test`` and ``predict`` of fitted models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from harness.algorithms import base, surprise
from harness.extras.accelerate import traps
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.estimates import Estimator, Outcome, estimator_of
from harness.extras.accelerate.predictions import LazyList, estimates, listed, predictions
from harness.extras.accelerate.scored import Scored, scored_rows
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
    rows = scored_rows(model.trainset, testset)
    if not rows.members:
        return []
    outcome = outcome_of(model, estimator, rows)
    numbers = estimates(outcome, model.trainset.global_mean, model.trainset.rating_scale)
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
