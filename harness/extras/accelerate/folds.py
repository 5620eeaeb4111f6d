"""What ``cross_validate`` and the searches do with each fold, here and in joblib's processes."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate import measures, testing
from harness.extras.accelerate.calls import NotAccelerated, Options, run, state

MEASURES = ("rmse", "mse", "mae", "fcp")
Scores = tuple[dict[str, Any], dict[str, Any], float, float]


class FoldScorer:
    """Stands in for ``fit_and_score``.

    `patch` is called with the options in another process, where this object is unpickled.
    """

    def __init__(
        self, original: Callable[..., Scores], patch: Callable[[Options], FoldScorer]
    ) -> None:
        self.original, self.patch = original, patch

    def __reduce__(self) -> tuple[Any, ...]:
        return self.patch, (state.options,)

    def __call__(
        self,
        algo: Any,
        trainset: Any,
        testset: Any,
        measures: list[str],
        return_train_measures: bool = False,
    ) -> Scores:
        """Fit on the training set and score the test set."""
        names = [name.lower() for name in measures]
        if state.options.compare or not self._is_ordinary(algo, names):
            return self.original(algo, trainset, testset, measures, return_train_measures)
        start = time()
        algo.fit(trainset)
        fitted = time()
        columns = _columns(algo, testset)
        tested = time()
        test_scores = _scores(columns, names)
        train_scores = {}
        if return_train_measures:
            train_scores = _scores(_columns(algo, trainset.build_testset()), names)
        return test_scores, train_scores, fitted - start, tested - fitted

    def _is_ordinary(self, algo: Any, names: list[str]) -> bool:
        return (
            {*names} <= {*MEASURES}
            and isinstance(algo, surprise.AlgoBase)
            and type(algo).test is surprise.AlgoBase.test
            and "test" not in vars(algo)
        )


def _columns(algo: Any, testset: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return users, ratings and estimates of a test set."""

    def attempt() -> tuple[list[Any], list[Any], list[Any]]:
        estimator = testing.estimator_for(algo)
        users, items, ratings = testing.columns_of_testset(testset)
        if not users:
            raise NotAccelerated("an empty test set")
        return users, ratings, testing.estimate(algo, estimator, users, items)[0]

    def original() -> tuple[list[Any], list[Any], list[Any]]:
        return measures.columns_of_predictions(algo.test(testset))

    return run(f"{type(algo).__name__}.test", attempt, original, draws=True)


def _scores(columns: tuple[list[Any], list[Any], list[Any]], names: list[str]) -> dict[str, Any]:
    return {name: _score(columns, name) for name in names}


def _score(columns: tuple[list[Any], list[Any], list[Any]], name: str) -> Any:
    def original() -> Any:
        users, ratings, estimates = columns
        rows = [
            surprise.Prediction(user, None, rating, estimate, {})
            for user, rating, estimate in zip(users, ratings, estimates, strict=True)
        ]
        return getattr(surprise.accuracy, name)(rows, verbose=0)

    return run(f"accuracy.{name}", lambda: measures.value(name, *columns), original)
