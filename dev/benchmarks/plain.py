"""What one writes with Surprise and NumPy alone: pair by pair with `predict`, or with arrays.

Both take a model that Surprise has fitted and inner ids of users, and return an estimate for each
of them and each training item.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

Matrix = np.ndarray


def with_predict(model: Any, users: Matrix) -> Matrix:
    """Call ``predict`` for each pair, as the documentation of Surprise does."""
    train = model.trainset
    items = [train.to_raw_iid(item) for item in train.all_items()]
    names = map(train.to_raw_uid, users)
    return np.array([[model.predict(user, item).est for item in items] for user in names])


def with_numpy(model: Any, users: Matrix) -> Matrix:
    """Compute each algorithm's formula with arrays."""
    name = type(model).__name__
    if name.startswith("KNN"):
        estimates = neighbours(model, users, name)
    elif name == "SlopeOne":
        rated, known = rated_by(model.trainset)[users], model.freq > 0
        counts = rated @ known.T.astype(float)
        sums = rated @ np.where(known, model.dev, 0).T
        estimates = np.array(model.user_mean)[users, None] + sums / np.maximum(counts, 1)
    elif name == "CoClustering":
        mine, theirs = np.array(model.cltr_u)[users], np.array(model.cltr_i)
        user_part = np.array(model.user_mean)[users] - np.array(model.avg_cltr_u)[mine]
        item_part = np.array(model.item_mean) - np.array(model.avg_cltr_i)[theirs]
        estimates = np.array(model.avg_cocltr)[np.ix_(mine, theirs)]
        estimates = estimates + user_part[:, None] + item_part
    elif name == "NMF":
        estimates = model.pu[users] @ model.qi.T
    else:
        estimates = model.trainset.global_mean + model.bu[users, None] + model.bi
        if name != "BaselineOnly":
            factors = model.pu[users]
            if name == "SVDpp":
                rated = rated_by(model.trainset)[users]
                factors = factors + rated @ model.yj / np.sqrt(rated.sum(1, keepdims=True))
            estimates += factors @ model.qi.T
    return np.clip(estimates, *model.trainset.rating_scale)


def neighbours(model: Any, users: Matrix, name: str) -> Matrix:
    """Average over the k users nearest to each user; of equals, those who come first in ``ir``."""
    train = model.trainset
    centre, spread = np.zeros((train.n_users, 1)), np.ones(train.n_users)
    if name in ("KNNWithMeans", "KNNWithZScore"):
        centre = model.means[:, None]
    if name == "KNNWithZScore":
        spread = model.sigmas
    if name == "KNNBaseline":
        centre = train.global_mean + model.bu[:, None] + model.bi
    centre = np.broadcast_to(centre, (train.n_users, train.n_items))
    default = np.full_like(centre, train.global_mean) if name == "KNNBasic" else centre
    estimates = default[users]
    for item, pairs in train.ir.items():
        raters = np.array([user for user, _ in pairs])
        ratings = np.array([rating for _, rating in pairs])
        parts = (ratings - centre[raters, item]) / spread[raters]
        weights = np.maximum(model.sim[np.ix_(users, raters)], 0)
        if len(raters) > model.k:
            nearest = np.argsort(-weights, axis=1, kind="stable")[:, : model.k]
            weights, parts = np.take_along_axis(weights, nearest, axis=1), parts[nearest]
        total = weights.sum(axis=1)
        some = total > 0
        means = (weights * parts).sum(axis=1)[some] / total[some]
        estimates[some, item] = centre[users[some], item] + spread[users[some]] * means
    return estimates


@lru_cache(1)
def rated_by(train: Any) -> Matrix:
    """Return 1 for each item that a user rated, else 0."""
    rated = np.zeros((train.n_users, train.n_items))
    users, items, _ = zip(*train.all_ratings(), strict=True)
    rated[users, items] = 1
    return rated


def lists(model: Any, n: int = 10, size: int = 1000) -> Iterator[pd.DataFrame]:
    """Yield the best items that a user has not rated, some users at a time."""
    train = model.trainset
    user_ids, item_ids = (
        np.array([name(inner) for inner in every])
        for name, every in (
            (train.to_raw_uid, train.all_users()),
            (train.to_raw_iid, train.all_items()),
        )
    )
    for start in range(0, train.n_users, size):
        users = np.arange(start, min(start + size, train.n_users))
        estimates = with_numpy(model, users)
        estimates[rated_by(train)[users] > 0] = -np.inf
        best = np.argpartition(-estimates, n, axis=1)[:, :n]
        values = np.take_along_axis(estimates, best, axis=1)
        order = np.argsort(-values, axis=1)
        best, values = (np.take_along_axis(each, order, axis=1) for each in (best, values))
        columns = {"user": np.repeat(user_ids[users], n), "item": item_ids[best].ravel()}
        yield pd.DataFrame(columns | {"estimate": values.ravel()})


def ndcg(estimates: Matrix, relevance: Matrix, k: int = 10) -> float:
    """Return the mean NDCG@k of rows: linear gain, each item of a tie counts as the tie's mean."""
    n_rows, n = estimates.shape
    discount = np.zeros(n)
    discount[:k] = 1 / np.log2(np.arange(2, k + 2))
    order = np.argsort(-estimates, axis=1)
    ranked = np.take_along_axis(estimates, order, axis=1)
    gains = np.take_along_axis(relevance, order, axis=1).ravel()
    first = np.ones((n_rows, n), dtype=bool)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    tie = np.cumsum(first) - 1
    shares = np.bincount(tie, np.tile(discount, n_rows)) / np.bincount(tie)
    dcg = (gains * shares[tie]).reshape(n_rows, n).sum(axis=1)
    ideal = -np.sort(-relevance, axis=1) @ discount
    return float(np.mean(np.divide(dcg, ideal, out=np.zeros(n_rows), where=ideal > 0)))
