"""Weights for unequal exposure: laws, hand computations, closed forms and refusals."""

import itertools
import math

import numpy as np
import pytest

from harness import metrics
from harness.errors import MetricError
from harness.metrics.arrays import Rankings
from harness.metrics.weights import (
    by_popularity,
    effective_size,
    naive_bayes,
    weighted_error,
    weighted_ndcg,
)

MARGINAL = np.array([0.5264, 0.2417, 0.1440, 0.0625, 0.0255])
GRADES = np.arange(1.0, 6.0)
CHANCE = 0.25 ** np.maximum(0, 4 - GRADES)
PREDICTED = {  # closed forms of the RMSE: true and naive
    "ROTATE": (np.where(GRADES >= 2, GRADES - 1, 5.0), 2.9825, 1.3556),
    "COARSENED": (np.where(GRADES <= 3, 3.0, 4.0), 1.5403, 0.7063),
}


def lists(n_users=30, n=8, length=40, seed=0):
    """Return columns of held-out ratings with their ranks, without ties, and the same as lists."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), n)
    ratings = rng.integers(1, 6, n_users * n).astype(float)
    ranks = np.concatenate(
        [np.sort(rng.choice(length, n, replace=False)) + 1 for _ in range(n_users)]
    )
    offsets = np.arange(0, n_users * n + 1, n)
    return (
        users,
        ratings,
        ranks,
        Rankings(offsets, ratings, ranks, ranks, ranks, [length] * n_users),
    )


@pytest.mark.parametrize("gain", ["exp2", "linear"])
@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("chance", [1.0, 0.3])
def test_with_equal_propensities_ndcg_is_the_ordinary_one(gain, k, chance):
    users, ratings, ranks, ordinary = lists()
    found = weighted_ndcg(users, ratings, ranks, np.full(len(users), chance), k, gain=gain)
    metric = metrics.parse(f"ndcg(gain={gain})@{k}")
    expected = metrics.score([metric], ordinary)[metric]
    np.testing.assert_allclose(found.per_user, expected.per_user, atol=1e-12)
    assert found.value == pytest.approx(expected.mean, abs=1e-12)
    assert (found.effective, found.greatest) == pytest.approx((len(users), 1.0))
    assert not found.is_small


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        ("mae", lambda errors: np.abs(errors).mean()),
        ("mse", lambda errors: (errors**2).mean()),
        ("rmse", lambda errors: np.sqrt((errors**2).mean())),
    ],
)
def test_with_equal_propensities_errors_are_the_plain_ones(kind, plain):
    estimates, ratings = np.random.default_rng(1).uniform(1, 5, (2, 200))
    found = weighted_error(estimates, ratings, np.full(200, 0.2), kind)
    assert found.value == pytest.approx(plain(estimates - ratings), abs=1e-12)


def test_a_weight_of_two_fills_two_positions_of_the_ideal_order():
    users, ratings, ranks, ordinary = lists(n_users=5)
    found = weighted_ndcg(users, ratings, ranks, np.ones(len(users)), 10, n_pairs=2 * len(users))
    doubled = Rankings(
        ordinary.offsets * 2, np.repeat(ratings, 2), *[np.repeat(ranks, 2)] * 3, ordinary.n_ranked
    )
    idcg, dcg = metrics.parse_many("idcg@10, dcg@10")
    best = metrics.score([idcg], doubled)[idcg].per_user
    ours = 2 * metrics.score([dcg], ordinary)[dcg].per_user
    np.testing.assert_allclose(found.per_user, ours / best, atol=1e-12)


def test_a_fraction_of_a_position_counts_in_proportion():
    # Weights 0.5 and 1.5: the ideal has half a position of the better item, then the other.
    found = weighted_ndcg([0, 0], [2, 1], [1, 2], [0.75, 0.25], 2, gain="linear")
    second = 1 / math.log2(3)
    ideal = 2 * 0.5 + 1 * (0.5 + second)
    assert found.value == pytest.approx((0.5 * 2 + 1.5 * second) / ideal, abs=1e-12)


def test_the_scale_of_propensities_and_the_order_of_ratings_do_not_matter():
    users, ratings, ranks, _ = lists()
    chance = np.random.default_rng(2).uniform(0.05, 1, len(users))
    found = weighted_ndcg(users, ratings, ranks, chance, 10)
    less = weighted_ndcg(users, ratings, ranks, chance / 7, 10)
    order = np.random.default_rng(3).permutation(len(users))
    moved = weighted_ndcg(users[order], ratings[order], ranks[order], chance[order], 10)
    assert (less.value, moved.value) == pytest.approx((found.value, found.value), abs=1e-12)
    assert (less.effective, less.greatest) == pytest.approx((found.effective, found.greatest))


def test_over_all_that_can_be_observed_the_weighted_sums_are_those_of_all_pairs():
    chance = np.array([0.9, 0.5, 0.2, 0.7])
    losses = np.array([1.0, 4.0, 9.0, 0.25])
    expected = 0.0
    for shown in itertools.product([False, True], repeat=4):
        there = np.array(shown)
        likelihood = np.where(there, chance, 1 - chance).prod()
        if there.any():
            found = weighted_error(
                np.sqrt(losses[there]), np.zeros(there.sum()), chance[there], "mse"
            )
            expected += likelihood * found.value * (1 / chance[there]).sum() / 4
    assert expected == pytest.approx(losses.mean(), abs=1e-12)


@pytest.mark.parametrize("name", PREDICTED)
def test_rmse_has_the_closed_forms_of_ratings_that_are_not_missing_at_random(name):
    estimates, true, naive = PREDICTED[name]
    counts = np.rint(200_000 * MARGINAL * CHANCE).astype(int)
    columns = [np.repeat(column, counts) for column in (estimates, GRADES, CHANCE)]
    assert weighted_error(*columns).value == pytest.approx(true, abs=5e-3)
    plain = weighted_error(*columns[:2], np.ones(counts.sum()))
    assert plain.value == pytest.approx(naive, abs=5e-4)


def test_the_standard_error_is_that_of_the_samples():
    rng = np.random.default_rng(4)
    losses, chance = rng.exponential(1, 3000), rng.uniform(0.05, 0.6, 3000)
    found = []
    for _ in range(300):
        shown = rng.random(3000) < chance
        one = weighted_error(losses[shown], np.zeros(shown.sum()), chance[shown], "mae")
        found.append((one.value, one.error))
    values, errors = np.array(found).T
    assert errors.mean() == pytest.approx(values.std(ddof=1), rel=0.15)
    assert values.mean() == pytest.approx(losses.mean(), abs=3 * values.std() / 300**0.5 + 0.005)
    assert (np.abs(values - losses.mean()) < 1.96 * errors).mean() > 0.9


def test_a_few_heavy_ratings_are_a_small_sample_and_said():
    found = weighted_error(np.ones(100), np.zeros(100), np.append(np.ones(99), 1e-4))
    assert found.effective == pytest.approx(effective_size([1] * 99 + [1e4]))
    assert found.effective < 1.1
    assert found.is_small
    assert "few ratings decide the value" in str(found)
    assert "few ratings" not in str(weighted_error(np.ones(9), np.zeros(9), np.ones(9)))


def test_raised_propensities_are_counted():
    found = weighted_error([1, 1, 3, 1], [0, 0, 0, 0], [0.5, 0.5, 0.001, 0.5], "mae", least=0.5)
    assert found.clipped == 0.25
    assert found.value == pytest.approx(1.5)
    assert "25.0% of the propensities raised" in str(found)


def test_users_without_a_gain_are_left_out_and_counted():
    found = weighted_ndcg([0, 1, 1], [0, 0, 3], [1, 2, 1], [1, 1, 1], 5)
    assert (found.n_left_out, found.value) == (1, 1.0)
    assert np.isnan(found.per_user).tolist() == [True, False]


def test_propensities_from_popularity_and_from_a_sample_at_random():
    assert by_popularity([9, 0, 4], [2, 0, 1], power=0.5).tolist() == pytest.approx(
        [2 / 3, 1, 1 / 3]
    )
    rng = np.random.default_rng(5)
    truth = rng.choice(GRADES, 40_000, p=MARGINAL / MARGINAL.sum())
    chance = 0.5 * CHANCE[truth.astype(int) - 1]
    shown = truth[rng.random(len(truth)) < chance]
    found = naive_bayes(shown, rng.choice(truth, 4000), len(truth))
    expected = 0.5 * CHANCE[shown.astype(int) - 1]
    assert np.abs(found / expected - 1).max() < 0.15


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.5, math.nan])
def test_a_propensity_that_is_no_chance_is_refused(wrong):
    with pytest.raises(MetricError, match=r"propensities: .*the first of 1 outside \(0, 1\]"):
        weighted_error([1, 2], [1, 2], [0.5, wrong])
    with pytest.raises(MetricError, match=r"outside \(0, 1\]; leave out"):
        weighted_ndcg([0, 0], [1, 2], [1, 2], [0.5, wrong], 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weighted_error([1, 2], [1], [1, 1]), "give one estimate for each rating"),
        (lambda: weighted_error([1], [1], [1, 1]), "give one for each of 1 ratings"),
        (lambda: weighted_error([], [], []), "there is no rating; give one"),
        (lambda: weighted_error([1], [1], [1], "r2"), "unknown kind 'r2'; "),
        (lambda: weighted_error([1], [1], [1], least=0.0), "least is 0.0; use a chance"),
        (lambda: weighted_ndcg([0], [1, 2], [1, 2], [1, 1], 2), "1 user, 2 ratings and 2 ranks"),
        (lambda: weighted_ndcg([0], [-1], [1], [1], 2), "a rating below 0"),
        (lambda: weighted_ndcg([0], [1], [0], [1], 2), "a rank or k below 1; ranks start"),
        (
            lambda: weighted_ndcg([0], [1], [1], [1], 2, gain="cubic"),
            "unknown gain 'cubic'; use one of exp2",
        ),
        (lambda: weighted_ndcg([0], [0], [1], [1], 2), "no user has a rating with a gain; give"),
        (lambda: by_popularity([1, 2], [2]), "an item code outside 0 to 1; give counts"),
        (lambda: naive_bayes([1, 2], [1], 9), "no rating of 2 in the sample at random; give"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(MetricError, match=message):
        call()
