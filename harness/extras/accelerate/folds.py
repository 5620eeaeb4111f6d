"""What ``cross_validate`` and the searches do with each fold, here and in joblib's processes."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any, cast

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.trainset import Floats
from harness.extras.accelerate import altered, measures, originals, testing
from harness.extras.accelerate.attempts import run
from harness.extras.accelerate.calls import NotAccelerated, Scores, is_active, state
from harness.extras.accelerate.predictions import clipped
from harness.extras.accelerate.scored import scored_rows

Columns = tuple[Callable[[], list[Any]], Floats, Floats]


def score(
    original: Callable[..., Scores],
    algo: Any,
    trainset: Any,
    testset: Any,
    measures: list[str],
    return_train_measures: bool,
) -> Scores:
    """Do what ``fit_and_score`` does, which is `original`."""
    names = [name.lower() for name in measures]
    if state.options.compare or not is_ordinary(algo, names):
        return original(algo, trainset, testset, measures, return_train_measures)
    start = time()
    algo.fit(trainset)
    fitted = time()
    columns = _columns(algo, testset)
    tested = time()
    on_training = _columns(algo, trainset.build_testset()) if return_train_measures else None
    test_scores = _scores(columns, names)
    train_scores = {} if on_training is None else _scores(on_training, names)
    return test_scores, train_scores, fitted - start, tested - fitted


def is_ordinary(algo: Any, names: list[str]) -> bool:
    """Return whether the scores of a model are computed here."""
    return (
        is_active()
        and {*names} <= {*originals.MEASURES}
        and altered.scores_as_surprise(names)
        and isinstance(algo, surprise.AlgoBase)
        and type(algo).test is surprise.AlgoBase.test
        and "test" not in vars(algo)
    )


def _columns(algo: Any, testset: Any) -> Columns | list[Any]:
    """Return users, ratings and estimates of a test set or, if need be, predictions."""

    def attempt() -> Columns | list[Any]:
        rows = scored_rows(testing.trainset_of(algo), testset)
        estimator = testing.estimator_for(algo, rows)
        if not rows.members or rows.truth is None:
            raise NotAccelerated("a test set that is empty or has ratings that are not floats")
        outcome = testing.outcome_of(algo, estimator, rows)
        mean, scale = testing.mean_for(algo, outcome), algo.trainset.rating_scale
        return lambda: rows.column(0), rows.truth, clipped(outcome, mean, scale)

    name = f"{type(algo).__name__}.test"

    def by_itself() -> list[Any]:
        return cast("list[Any]", algo.test(testset))

    return run(name, attempt, by_itself, draws=True, is_counted_inside=True)


def _scores(columns: Columns | list[Any], names: list[str]) -> dict[str, Any]:
    if not isinstance(columns, tuple):
        return {name: getattr(surprise.accuracy, name)(columns, verbose=0) for name in names}
    return {name: _score(columns, name) for name in names}


def _score(columns: Columns, name: str) -> Any:
    def original() -> Any:
        rows = [
            surprise.Prediction(user, None, rating, np.float64(estimate), {})
            for user, rating, estimate in zip(
                columns[0](), columns[1].tolist(), columns[2].tolist(), strict=True
            )
        ]
        return getattr(surprise.accuracy, name)(rows, verbose=0)

    return run(f"accuracy.{name}", lambda: measures.value(name, *columns), original)
