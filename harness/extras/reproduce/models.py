"""What a source says of a model itself: estimates, neighbours, similarities, a list, a study."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from harness._util import seeds
from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.config.yaml import bundled
from harness.datasets.ratings import Ratings
from harness.errors import DataError, reason_of
from harness.experiment.plan import Plan
from harness.extras.reproduce import semi_synthetic
from harness.extras.reproduce.values import NotRun, Quantity
from harness.models import estimates as models


def of_models(ratings: Any = None) -> Callable[[Quantity], object]:
    """Return what computes a quantity of a fitted model; a model stays for the next quantity."""

    @lru_cache(maxsize=1)
    def fitted(config: str, algorithm: str) -> tuple[surprise.AlgoBase, Ratings]:
        """Return the row of a config, fitted to the training set of its first fold, and that."""
        changes = ("baselines=false", "statistics=null")
        plan = Plan.from_config(bundled()[config], overrides=changes, ratings=ratings)
        data, _ = plan.ratings(0)
        first = plan.splits(0, 0, plan.experiment.split_seeds[0])[0]
        row = next(row for row in plan.experiment.algorithms if row.title == algorithm)
        seed = seeds.derive(plan.experiment.seed[0], "published", row.title)
        model = registry.create(row.name, row.params, seed)
        train = data.take(first.train)
        with seeds.global_generators(seed):
            models.fit(model, ColumnTrainset.of_ratings(train))
        return model, train

    @lru_cache(maxsize=1)
    def studies(config: str, algorithm: str) -> list[semi_synthetic.Study]:
        model, _ = fitted(config, algorithm)
        scores = model.bu[:, None] + model.bi + model.pu @ model.qi.T
        return [semi_synthetic.study(scores, seed) for seed in range(semi_synthetic.N_STUDIES)]

    def run(quantity: Quantity) -> object:
        try:
            model, train = fitted(quantity.config, quantity.algorithm)
        except DataError as error:
            return NotRun(reason_of(error))
        if quantity.predictor:
            of_config = studies(quantity.config, quantity.algorithm)
            return semi_synthetic.bands(of_config, quantity.predictor, quantity.expected)
        if quantity.anti_test:
            return _anti_test_error(model, train)
        return _value(quantity, model)

    return run


def _value(quantity: Quantity, model: surprise.AlgoBase) -> object:
    """Return the value in the form of ``expected``."""
    trainset = model.trainset
    if quantity.pair:
        prediction = model.predict(*quantity.pair)
        here = {"est": float(prediction.est), **prediction.details}
        return here if isinstance(quantity.expected, dict) else here["est"]
    if quantity.similarities:
        rows, columns = np.triu_indices(quantity.similarities, 1)
        return model.sim[rows, columns].tolist()
    n = len(quantity.expected)
    if quantity.neighbours_of:
        if quantity.inner_ids:
            return model.get_neighbors(int(quantity.neighbours_of), k=n)
        of_users = model.sim_options["user_based"]
        inner = trainset.to_inner_uid if of_users else trainset.to_inner_iid
        raw = trainset.to_raw_uid if of_users else trainset.to_raw_iid
        neighbours = model.get_neighbors(inner(quantity.neighbours_of), k=n)
        return [int(raw(neighbour)) for neighbour in neighbours]
    user = quantity.best_of
    seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
    items = [trainset.to_raw_iid(item) for item in trainset.all_items() if item not in seen]
    estimates = np.array([model.predict(user, item).est for item in items])
    return [int(items[place]) for place in np.argsort(-estimates, kind="stable")[:n]]


def _anti_test_error(model: surprise.AlgoBase, train: Ratings) -> float:
    """Return the RMSE of an anti-test set, whose ratings are the mean of the training ratings."""
    shape = train.n_users, train.n_items
    rated = np.zeros(shape, dtype=bool)
    rated[train.users, train.items] = True
    users, items = np.nonzero(~rated)
    estimates, _ = models.estimate(model, users, items)
    return float(np.sqrt(np.mean((estimates - model.trainset.global_mean) ** 2)))
