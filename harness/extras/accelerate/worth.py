"""Whether the accelerated code is worth loading: what a call takes in Surprise, foretold.

Loading the compiled loops takes longer than a small script. Until a call would save as much,
Surprise's own code answers; from then on all calls are accelerated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from time import perf_counter
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate.calls import SURPRISE, count, state

LOADING = 0.35
"""Processor seconds that it takes to load this package's code, Numba, and compiled loops."""
PATIENCE = 1.0
"""Seconds that calls would have saved, after which as many more are expected."""
SMALL = "too small to be worth loading compiled code"
US, NS = 1e-6, 1e-9
IMPLICIT_STEP = 2.0 * NS
"""What Surprise takes to add one number of an implicit factor in SVD++."""
PREDICT = 4 * US  # what `predict` of one pair takes, beside what an algorithm adds
NEIGHBOURS = (
    *(surprise.KNNBasic, surprise.KNNWithMeans),
    *(surprise.KNNWithZScore, surprise.KNNBaseline),
)
MODELS = (
    *(surprise.SVD, surprise.SVDpp, surprise.NMF, surprise.SlopeOne, surprise.CoClustering),
    *(surprise.BaselineOnly, surprise.NormalPredictor, *NEIGHBOURS),
)
SLOW_TO_PREDICT = (surprise.SVDpp, surprise.SlopeOne, *NEIGHBOURS)
"""Algorithms whose ``predict`` of one pair is a loop in Python."""


class Known:
    """Whether the accelerated code is loaded, and what calls of before would have saved."""

    is_loaded = False
    saved = 0.0  # seconds
    prepare: Callable[[], None] | None = None
    """Work that is done once, before the first call that is accelerated."""

    def load(self) -> None:
        """Do what has to be done before a call is accelerated."""
        prepare, self.prepare = self.prepare, None
        if prepare is not None:
            prepare()


class _Around(local):
    """Calls of this thread around a call."""

    depth = 0
    folds_left = 1  # of the iteration over folds that is under way


known, _around = Known(), _Around()


def is_worth(saved: float) -> bool:
    """Return whether a call is accelerated that would save so many seconds.

    A call within a loop over folds counts once for each fold that is left.
    """
    if not known.is_loaded:
        known.is_loaded = (
            state.options.strict
            or state.options.compare
            or saved * _around.folds_left >= LOADING
            or (saved > 0 and known.saved >= PATIENCE and not _around.depth)
        )
    if not known.is_loaded:
        return False
    known.load()
    return True


@contextmanager
def by_surprise(call: str, saved: float) -> Iterator[None]:
    """Count a call that Surprise answers since it is small."""
    _around.depth += 1
    begin = perf_counter()
    try:
        yield
    finally:
        _around.depth -= 1
        count(call, SURPRISE, SMALL, perf_counter() - begin)
        if not _around.depth:
            known.saved += saved


def each_fold(folds: Iterator[Any], n_folds: int) -> Iterator[Any]:
    """Yield folds, and know meanwhile how many are left."""
    try:
        for place, fold in enumerate(folds):
            _around.folds_left = max(1, n_folds - place)
            yield fold
    finally:
        _around.folds_left = 1


def kind_of(model: object) -> Any:
    """Return the class of Surprise that a model is of, also if by a subclass."""
    return next((kind for kind in type(model).__mro__ if kind in MODELS), None)


def held(owner: object, name: str) -> Any:
    """Return what an object itself has by a name, and None for nothing.

    `vars` would do, but each object whose ``__dict__`` was asked for answers every access to an
    attribute more slowly from then on.
    """
    if hasattr(type(owner), name):  # such as a property, which may be a script's own
        return vars(owner).get(name)
    try:
        return object.__getattribute__(owner, name)
    except AttributeError:
        return None


def saved_by_fit(model: Any, trainset: Any) -> float:
    """Return the seconds that the accelerated fit of a model saves, and 0 if it has none."""
    kind = kind_of(model)
    n = _number(held(trainset, "n_ratings"))
    epochs = _number(held(model, "n_epochs"))
    factors = _number(held(model, "n_factors"))
    if kind is surprise.SVD:
        return 1.5 * NS * n * epochs * factors
    if kind is surprise.SVDpp:
        return IMPLICIT_STEP * _squares(trainset, "ur") * epochs * factors
    if kind is surprise.NMF:
        return 10.0 * NS * n * epochs * factors
    if kind is surprise.CoClustering:
        return 400.0 * NS * n * epochs
    if kind is surprise.SlopeOne:
        return 40.0 * NS * _squares(trainset, "ur")
    if kind is surprise.BaselineOnly:
        return 1.0 * US * n
    if kind is surprise.NormalPredictor:
        return 0.2 * US * n
    return saved_by_similarities(model, trainset) if kind in NEIGHBOURS else 0.0


def saved_by_similarities(model: Any, trainset: Any) -> float:
    """Return the seconds that accelerated similarities save."""
    options = held(model, "sim_options")
    by_user = not isinstance(options, dict) or bool(options.get("user_based", True))
    n = _number(held(trainset, "n_users" if by_user else "n_items"))
    return 10.0 * NS * _squares(trainset, "ir" if by_user else "ur") + 10.0 * NS * n * n


def saved_by_test(model: Any, trainset: Any, n_pairs: int) -> float:
    """Return the seconds that an accelerated test of so many pairs saves."""
    kind = kind_of(model)
    if kind is None or trainset is None or type(model).estimate is not kind.estimate:
        return 0.0
    n = max(_number(held(trainset, "n_ratings")), 1)
    each = 0.8 * PREDICT
    if kind is surprise.SVDpp:
        each += 0.6 * US * _squares(trainset, "ur") / n
    elif kind is surprise.SlopeOne:
        each += 0.4 * US * _squares(trainset, "ur") / n
    elif kind in NEIGHBOURS:
        options = held(model, "sim_options")
        by_user = not isinstance(options, dict) or bool(options.get("user_based", True))
        each += 0.6 * US * _squares(trainset, "ir" if by_user else "ur") / n
    return each * n_pairs


def saved_by_anti_testset(trainset: Any) -> float:
    """Return the seconds that all pairs that are not rated save, and the test of them after it."""
    n_pairs = _number(held(trainset, "n_users")) * _number(held(trainset, "n_items"))
    return PREDICT * max(0.0, n_pairs - _number(held(trainset, "n_ratings")))


def _squares(trainset: object, name: str) -> float:
    """Return the sum of the squared lengths of the lists of users, or of items."""
    lists = held(trainset, name)
    if not isinstance(lists, dict):
        return 0.0
    return float(sum(len(ratings) ** 2 for ratings in lists.values()))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def length(rows: object) -> int:
    """Return how many rows there are; 0 if it is unknown."""
    return len(rows) if isinstance(rows, Sequence) else 0
