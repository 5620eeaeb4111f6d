"""Holdout and k-fold give the rows that Surprise and scikit-learn give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split as sklearn_split
from surprise import Dataset
from surprise import model_selection as surprise_selection

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import Holdout, KFold, OwnTraining, RepeatedKFold, make


class RowDataset(Dataset):
    """A Surprise dataset whose ratings are row numbers and whose parts are lists of them."""

    def __init__(self, n):
        self.raw_ratings = [(f"u{row % 7}", f"i{row}", row, None) for row in range(n)]

    def construct_trainset(self, raw_trainset):
        return [row for _, _, row, _ in raw_trainset]

    def construct_testset(self, raw_testset):
        return [row for _, _, row, _ in raw_testset]


def ratings_of(n):
    rows = np.arange(n)
    return Ratings.from_columns(rows % 7, rows, rows % 5 + 1.0, scale=(1, 5))


def rows_of(section, n, seed=0):
    return [(s.train.tolist(), s.test.tolist()) for s in make(section, ratings_of(n), seed)]


sizes = st.one_of(
    st.none(), st.integers(1, 60), st.floats(0.01, 0.99).map(lambda share: round(share, 3))
)


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 60), sizes, sizes, st.integers(0, 2**32 - 1), st.booleans())
def test_a_holdout_has_the_rows_of_surprise_or_both_refuse(n, test, train, state, shuffle):
    if test is None and train is None:
        test = 0.2
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        train = None
    options = {
        "test_size": test,
        "train_size": train,
        "random_state": state,
        "shuffle": shuffle,
    }
    try:
        expected = surprise_selection.train_test_split(RowDataset(n), **options)
    except ValueError:
        expected = ([], [])
    if not all(expected):  # Surprise would hand out a part without ratings
        with pytest.raises(SplitError, match=r"make test_size|no training rating|no test rating"):
            make(Holdout(**options), ratings_of(n), seed=0)
    else:
        assert rows_of(Holdout(**options), n) == [expected]


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 60), sizes, sizes, st.integers(0, 2**32 - 1), st.booleans())
def test_a_holdout_like_sklearn_has_its_rows_or_both_refuse(n, test, train, state, shuffle):
    if test is None and train is None:
        test = 0.25
    if isinstance(test, float) and isinstance(train, float) and test + train > 1:
        train = None
    options = {"test_size": test, "train_size": train}
    section = Holdout(like="sklearn", random_state=state, shuffle=shuffle, **options)
    state = state if shuffle else None
    try:
        expected = sklearn_split(np.arange(n), random_state=state, shuffle=shuffle, **options)
        expected = tuple(part.tolist() for part in expected)
    except ValueError:
        expected = ([], [])
    if not all(expected):
        with pytest.raises(SplitError, match=r"make test_size|no training rating|no test rating"):
            make(section, ratings_of(n), seed=0)
    else:
        assert rows_of(section, n) == [expected]


def test_a_lone_train_size_means_the_rest_is_test_as_in_sklearn_and_a_fifth_as_in_surprise():
    train, test = sklearn_split(np.arange(40), train_size=0.6, random_state=5)
    section = Holdout(train_size=0.6, random_state=5, like="sklearn")
    assert rows_of(section, 40) == [(train.tolist(), test.tolist())]
    train, test = surprise_selection.train_test_split(
        RowDataset(40), train_size=0.6, random_state=5
    )
    assert rows_of(Holdout(train_size=0.6, random_state=5), 40) == [(train, test)]
    (split,) = make(Holdout(train_size=0.6), ratings_of(40), seed=0)
    assert "8 ratings (20.0%) in neither part" in split.notes


@settings(deadline=None, max_examples=100)
@given(st.integers(2, 12), st.integers(12, 80), st.integers(0, 2**32 - 1), st.booleans())
def test_k_fold_has_the_rows_of_surprise(n_splits, n, state, shuffle):
    options = {"n_splits": n_splits, "random_state": state, "shuffle": shuffle}
    expected = list(surprise_selection.KFold(**options).split(RowDataset(n)))
    assert rows_of(KFold(**options), n) == expected


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_repeated_k_fold_has_the_rows_of_surprise(n_splits, n_repeats, state):
    options = {"n_splits": n_splits, "n_repeats": n_repeats, "random_state": state}
    expected = list(surprise_selection.RepeatedKFold(**options).split(RowDataset(31)))
    assert rows_of(RepeatedKFold(**options), 31) == expected
    folds = [(s.fold, s.n_folds) for s in make(RepeatedKFold(**options), ratings_of(31), 0)]
    assert folds == [(fold, n_splits * n_repeats) for fold in range(n_splits * n_repeats)]


def test_without_a_random_state_the_rows_follow_the_seed_of_the_run():
    assert rows_of(Holdout(), 50, seed=1) == rows_of(Holdout(), 50, seed=1)
    assert rows_of(Holdout(), 50, seed=1) != rows_of(Holdout(), 50, seed=2)
    assert rows_of(Holdout(random_state=3), 50, seed=1) == rows_of(
        Holdout(random_state=3), 50, seed=2
    )


def test_more_folds_than_ratings_are_refused():
    with pytest.raises(SplitError, match="3 ratings cannot fill 4 folds; lower n_splits"):
        make(KFold(n_splits=4), ratings_of(3), seed=0)


def test_own_training_data_are_both_parts_and_a_note_says_so():
    (split,) = make(OwnTraining(), ratings_of(6), seed=0)
    assert split.train.tolist() == split.test.tolist() == list(range(6))
    assert split.notes == (
        "evaluated on its own training data: scores show what a model remembers, not what it "
        "predicts",
    )
