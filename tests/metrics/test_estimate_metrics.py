"""rmse, mae, r2, fcp and their kin against scikit-learn, Surprise and plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise import accuracy
from surprise.prediction_algorithms.predictions import Prediction

from harness import metrics, rankings
from harness.errors import MetricError

NAMES = ("rmse", "mae", "mse", "r2", "explained_variance", "fcp")


@st.composite
def rows(draw):
    n = draw(st.integers(1, 30))
    kinds = (
        st.integers(0, 3),
        *map(st.sampled_from, ([1.0, 2.5, 3.0, 4.5], [1.0, 2.0, 3.0, 4.0, 5.0])),
    )
    return tuple(np.array(draw(st.lists(each, min_size=n, max_size=n))) for each in kinds)


def scored(label, columns):
    pairs, users = rankings.group_pairs(*columns)
    (scores,) = metrics.score([metrics.parse(label)], pairs=pairs).values()
    return scores, users


def by_formula(name, estimates, ratings):
    errors = ratings - estimates
    spread = ratings.var()
    if name in ("r2", "explained_variance") and spread == 0:
        return math.nan
    return {
        "rmse": lambda: math.sqrt((errors**2).mean()),
        "mae": lambda: abs(errors).mean(),
        "mse": lambda: (errors**2).mean(),
        "r2": lambda: 1 - (errors**2).mean() / spread,
        "explained_variance": lambda: 1 - errors.var() / spread,
    }[name]()


@pytest.mark.parametrize("name", NAMES[:5])
@settings(max_examples=150, deadline=None)
@given(columns=rows())
def test_errors_follow_their_formula_per_user_and_over_everything(name, columns):
    scores, users = scored(name, columns)
    assert scores.mean == pytest.approx(by_formula(name, *columns[1:]), rel=1e-12, nan_ok=True)
    for user, found in zip(users, scores.per_user, strict=True):
        mine = columns[0] == user
        expected = by_formula(name, columns[1][mine], columns[2][mine])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert scores.n_undefined == np.isnan(scores.per_user).sum()


@settings(max_examples=150, deadline=None)
@given(columns=rows())
def test_pooled_values_equal_surprise(columns):
    predictions = [
        Prediction(u, i, r, e, {}) for i, (u, e, r) in enumerate(zip(*columns, strict=True))
    ]
    for name in ("rmse", "mae", "mse", "fcp"):
        try:
            expected = getattr(accuracy, name)(predictions, verbose=False)
        except ValueError:
            assert name == "fcp"
            expected = math.nan
        assert scored(name, columns)[0].mean == pytest.approx(expected, rel=1e-12, nan_ok=True)


def count_order(estimates, ratings):
    """Count concordant and discordant pairs the slow way."""
    worse = ratings[:, None] < ratings
    concordant = int((worse & (estimates[:, None] < estimates)).sum())
    return concordant, int(worse.sum()) - concordant


def counts_of(columns):
    """Return concordant and discordant pairs of each user."""
    users, estimates, ratings = columns
    masks = [users == user for user in np.unique(users)]
    return np.array([count_order(estimates[mine], ratings[mine]) for mine in masks])


def share(concordant, discordant):
    return concordant / (concordant + discordant) if concordant + discordant else math.nan


@settings(max_examples=150, deadline=None)
@given(columns=rows())
def test_fcp_counts_each_pair_once_and_ties_as_discordant(columns):
    scores, _ = scored("fcp(pooling=pairs)", columns)
    counts = counts_of(columns)
    expected = [share(*each) for each in counts]
    assert scores.per_user.tolist() == pytest.approx(expected, nan_ok=True)
    assert scores.mean == pytest.approx(share(*counts.sum(axis=0)), nan_ok=True)


def test_a_large_user_is_counted_exactly():
    rng = np.random.default_rng(5)
    columns = np.zeros(3000, int), rng.integers(0, 300, 3000) / 10, rng.integers(1, 11, 3000) / 2
    assert scored("fcp(pooling=pairs)", columns)[0].mean == share(*counts_of(columns)[0])


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(MetricError, match=r"2 estimates, 1 ratings.*give one rating for each"):
        metrics.Pairs([0, 2], [1.0, 2.0], [1.0])
    with pytest.raises(MetricError, match="offsets that end at 3"):
        metrics.Pairs([0, 3], [1.0, 2.0], [1.0, 2.0])


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_needed_and_asked_for(name):
    with pytest.raises(MetricError, match=f"{name}: it needs pairs of estimate and rating"):
        metrics.score([metrics.parse(name)])


def test_the_printed_formula_of_fcp_is_that_of_its_default():
    estimates = np.array([3.0, 2.0, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 1.0])
    columns = np.repeat([0, 1, 2], [4, 3, 2]), estimates, np.array([5, 4, 1, 2, 1, 2, 3, 5, 5.0])
    c, d = (np.mean(column[column > 0]) for column in counts_of(columns).T)
    formula = metrics.parse("fcp").definition.formula
    assert formula.startswith("c / (c + d), c the mean number of concordant pairs of the users who")
    assert scored("fcp", columns)[0].mean == pytest.approx(c / (c + d))
    pairs = scored("fcp(pooling=pairs)", columns)[0].mean
    assert pairs == pytest.approx(share(*counts_of(columns).sum(axis=0)))
    assert pairs != pytest.approx(c / (c + d))
