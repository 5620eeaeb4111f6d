"""Random splits of all ratings, equal to those of Surprise and scikit-learn."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from harness.config.splitting import Holdout, KFold, OwnTraining, RepeatedKFold
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.split import Drawn, Parts

__all__ = ["holdout", "kfold", "own_training", "repeated_kfold"]


def holdout(section: Holdout, ratings: Ratings, state: int) -> Drawn:
    """Divide the ratings once, at random.

    Parameters
    ----------
    section : Holdout
        Sizes, and which rows to return: those of ``surprise.model_selection.train_test_split``,
        training first in the permutation, or of scikit-learn's, test first.
    ratings : Ratings
        What to divide.
    state : int
        Seed of NumPy's legacy generator, which both of them use.

    Raises
    ------
    SplitError
        If the sizes do not fit the number of ratings.
    """
    n_train, n_test = _sizes(section, len(ratings))
    order = np.arange(len(ratings))
    if section.shuffle:
        order = np.random.RandomState(state).permutation(len(ratings))
    if section.like == "sklearn" and section.shuffle:
        return Drawn([(order[n_test : n_test + n_train], order[:n_test])])
    return Drawn([(order[:n_train], order[n_train : n_train + n_test])])


def _sizes(section: Holdout, n: int) -> tuple[int, int]:
    """Return the number of training and of test ratings, by the rule that both libraries follow."""
    test, train = section.test_size, section.train_size
    n_test = math.ceil(test * n) if isinstance(test, float) else test
    n_train = math.floor(train * n) if isinstance(train, float) else train
    if n_test is None:
        n_test = n - (n_train or 0)
    elif n_train is None:
        n_train = n - n_test
    assert n_train is not None  # a section has one of the two
    if n_train < 0 or n_test < 0 or n_train + n_test > n:
        raise SplitError(
            f"{section.describe()}: needs more than the {n:,} ratings of the data; "
            "make test_size or train_size smaller"
        )
    return n_train, n_test


def own_training(section: OwnTraining, ratings: Ratings, state: int) -> Drawn:
    """Put every rating into both parts."""
    rows = np.arange(len(ratings))
    note = (
        "evaluated on its own training data: scores show what a model remembers, not what it "
        "predicts"
    )
    return Drawn([(rows, rows)], (note,))


def kfold(section: KFold, ratings: Ratings, state: int) -> Drawn:
    """Cut the ratings into folds, as ``surprise.model_selection.KFold``.

    Parameters
    ----------
    section : KFold
        How many folds, and whether to shuffle.
    ratings : Ratings
        What to divide.
    state : int
        Seed of NumPy's legacy generator.

    Raises
    ------
    SplitError
        If there are fewer ratings than folds.
    """
    rng = np.random.RandomState(state) if section.shuffle else None
    return Drawn(_folds(len(ratings), section.n_splits, rng, section.describe()))


def repeated_kfold(section: RepeatedKFold, ratings: Ratings, state: int) -> Drawn:
    """Cut the ratings into folds repeatedly, as ``surprise.model_selection.RepeatedKFold``.

    One generator serves all repetitions, each of which shuffles again.

    Raises
    ------
    SplitError
        If there are fewer ratings than folds.
    """
    rng = np.random.RandomState(state)
    name = section.describe()
    repeats = [_folds(len(ratings), section.n_splits, rng, name) for _ in range(section.n_repeats)]
    return Drawn([parts for folds in repeats for parts in folds])


def _folds(n: int, n_splits: int, rng: np.random.RandomState | None, name: str) -> list[Parts]:
    if n_splits > n:
        raise SplitError(f"{name}: {n:,} ratings cannot fill {n_splits} folds; lower n_splits")
    order = np.arange(n)
    if rng is not None:
        rng.shuffle(order)
    sizes = np.full(n_splits, n // n_splits)
    sizes[: n % n_splits] += 1  # the first folds take what is left over
    edges = [0, *np.cumsum(sizes).tolist()]
    return [
        (np.concatenate([order[:start], order[stop:]]), order[start:stop])
        for start, stop in pairwise(edges)
    ]
