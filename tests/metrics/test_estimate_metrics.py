"""rmse, mae, r2, fcp and their kin against Surprise, its FAQ and plain loops."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surprise import accuracy
from surprise.prediction_algorithms.predictions import Prediction

from harness import metrics, rankings
from harness.errors import MetricError


@st.composite
def rows(draw, n_users=4, most=30):
    n = draw(st.integers(1, most))
    kinds = (
        st.integers(0, n_users - 1),
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


@pytest.mark.parametrize("name", ["rmse", "mae", "mse", "r2", "explained_variance"])
@settings(max_examples=max(50, settings().max_examples // 10), deadline=None)
@given(columns=rows())
def test_errors_follow_their_formula_per_user_and_over_everything(name, columns):
    scores, users = scored(name, columns)
    assert scores.mean == pytest.approx(by_formula(name, *columns[1:]), rel=1e-12, nan_ok=True)
    for user, found in zip(users, scores.per_user, strict=True):
        mine = columns[0] == user
        expected = by_formula(name, columns[1][mine], columns[2][mine])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert scores.n_undefined == np.isnan(scores.per_user).sum()


@settings(max_examples=max(50, settings().max_examples // 10), deadline=None)
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


@settings(max_examples=max(50, settings().max_examples // 10), deadline=None)
@given(columns=rows())
def test_fcp_counts_each_pair_once_and_ties_as_discordant(columns):
    scores, _ = scored("fcp(pooling=pairs)", columns)
    counts = counts_of(columns)
    expected = [share(*each) for each in counts]
    assert scores.per_user.tolist() == pytest.approx(expected, nan_ok=True)
    assert scores.mean == pytest.approx(share(*counts.sum(axis=0)), nan_ok=True)


@pytest.mark.parametrize("n_grades", [2, 10, 5000])
@pytest.mark.parametrize("n", [2048, 2049, 5001])
def test_a_large_user_is_counted_exactly(n, n_grades):
    rng = np.random.default_rng(n)
    estimates, ratings = rng.integers(0, n_grades, (2, n)) / 2
    estimates[:3] = ratings[2:5] = np.nan
    columns = (np.append(each, [1, 2]) for each in (estimates, ratings))
    pairs = metrics.Pairs([0, n, n + 2], *columns)
    found = metrics.score([metric := metrics.parse("fcp(pooling=pairs)")], pairs=pairs)[metric]
    counts = np.array([count_order(estimates, ratings), (1, 0)])
    assert found.per_user.tolist() == [share(*each) for each in counts]
    assert found.mean == share(*counts.sum(axis=0))


def test_pairs_that_are_missing_or_of_different_lengths_are_refused():
    with pytest.raises(
        MetricError, match="'fcp': not a Metric; make one from its label with parse"
    ):
        metrics.score(["fcp"])
    with pytest.raises(MetricError, match="fcp: it needs pairs of estimate and rating"):
        metrics.score([metrics.parse("fcp")])
    with pytest.raises(MetricError, match=r"2 estimates, 1 rating and.*give one rating for each"):
        metrics.Pairs([0, 2], [1.0, 2.0], [1.0])
    falling, late = ([0, 3, 2], "0 to 2 that fall in between"), ([1, 2], "1 to 2")
    for offsets, found in (falling, late, ([0, 3], "0 to 3"), ([], "no offsets")):
        with pytest.raises(MetricError, match=f"{found}.*; .* offsets that rise from 0 to 2"):
            metrics.Pairs(offsets, [1.0, 2.0], [1.0, 2.0])


@pytest.mark.parametrize("definition", [d for d in metrics.describe() if d.needs == "pairs"])
def test_of_no_pair_there_is_no_value_and_no_warning(definition):
    scores = definition(metrics.Pairs([0], [], []), 2 if definition.cut == "required" else None)
    assert math.isnan(scores.mean)
    assert len(scores.per_user) == 0


def test_the_printed_formula_of_fcp_is_that_of_its_default():
    estimates = np.array([3.0, 2.0, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 1.0])
    columns = np.repeat([0, 1, 2], [4, 3, 2]), estimates, np.array([5, 4, 1, 2, 1, 2, 3, 5, 5.0])
    counts = counts_of(columns)
    c, d = (np.mean(column[column > 0]) for column in counts.T)
    formula = metrics.parse("fcp").definition.formula
    assert formula.startswith("c / (c + d), c the mean number of concordant pairs of the users who")
    assert scored("fcp", columns)[0].mean == pytest.approx(c / (c + d))
    assert share(*counts.sum(axis=0)) != pytest.approx(c / (c + d))


def of_the_faq(columns, k, threshold):
    """Return precision and recall of each user as the FAQ of Surprise says."""
    by_user = {}
    for user, *pair in zip(*columns, strict=True):
        by_user.setdefault(user, []).append(pair)
    found = {}
    for user, pairs in by_user.items():
        ordered = sorted(pairs, key=lambda pair: pair[0], reverse=True)
        n_relevant = sum(rating >= threshold for _, rating in ordered)
        n_recommended = sum(estimate >= threshold for estimate, _ in ordered[:k])
        n_both = sum(r >= threshold and e >= threshold for e, r in ordered[:k])
        precision = n_both / n_recommended if n_recommended else 0
        recall = n_both / n_relevant if n_relevant else 0
        total = precision + recall
        found[user] = precision, recall, 2 * precision * recall / total if total else 0
    return found


ROLES = ("precision", "recall", "f1")
K = st.integers(1, 7)
THRESHOLD = st.sampled_from([1.0, 2.5, 3.0, 3.5, 4.5, 5.0])


@given(columns=rows(), k=K, threshold=THRESHOLD)
def test_precision_and_recall_of_what_is_estimated_at_a_threshold_are_those_of_the_faq(
    columns, k, threshold
):
    expected = of_the_faq(columns, k, threshold)
    convention = metrics.conventions()["surprise-faq"].metrics(k, threshold)
    labels = [str(convention[role]) for role in ("precision", "recall")]
    labels.append(f"estimated_f1(threshold={threshold}, ties=first)@{k}")
    for number, label in enumerate(labels):
        scores, users = scored(label, columns)
        values = [expected[user][number] for user in users]
        assert scores.per_user.tolist() == pytest.approx(values)
        assert scores.mean == pytest.approx(np.mean(values))
        assert scores.n_undefined == 0


@given(columns=rows(n_users=2, most=5), k=K, threshold=THRESHOLD)
def test_their_average_over_ties_is_the_mean_over_all_orders(columns, k, threshold):
    orders = itertools.permutations(zip(*columns, strict=True))
    expected = [of_the_faq(zip(*order, strict=True), k, threshold) for order in orders]
    for number, role in enumerate(ROLES):
        scores, users = scored(f"estimated_{role}(threshold={threshold})@{k}", columns)
        means = [np.mean([each[user][number] for each in expected]) for user in users]
        assert scores.per_user.tolist() == pytest.approx(means)
