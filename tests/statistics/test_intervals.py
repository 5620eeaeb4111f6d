"""Bootstrap intervals, against SciPy and against how often they hold the truth."""

import numpy as np
import pytest
from scipy import stats

from harness.statistics import bootstrap_interval, resampling


@pytest.mark.parametrize(("ours", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_from_the_same_resamples_the_bounds_are_scipys(ours, theirs, confidence):
    values = np.random.default_rng(0).exponential(size=40) ** 2
    result = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, confidence_level=confidence, method=theirs, rng=1
    )
    low, high = resampling.interval_of(result.bootstrap_distribution, values, confidence, ours)
    assert low == pytest.approx(result.confidence_interval.low, abs=1e-12)
    assert high == pytest.approx(result.confidence_interval.high, abs=1e-12)


def test_our_resamples_give_scipys_bounds_within_chance():
    values = np.random.default_rng(0).exponential(size=40)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=100_000, rng=1).confidence_interval
    low, high = bootstrap_interval(values[:, None], n_resamples=100_000, seed=2)
    assert low[0] == pytest.approx(theirs.low, abs=0.005)
    assert high[0] == pytest.approx(theirs.high, abs=0.005)


def test_resampled_means_have_the_moments_of_the_bootstrap():
    values = np.random.default_rng(0).normal(3, 2, (50, 2))
    means = resampling.resampled_means(values, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(means.mean(axis=0), values.mean(axis=0), atol=4 * 0.3 / 141)
    np.testing.assert_allclose(means.std(axis=0), values.std(axis=0) / np.sqrt(50), rtol=0.03)
    # Users are drawn with all of their scores.
    expected = np.corrcoef(values.T)[0, 1]
    assert np.corrcoef(means.T)[0, 1] == pytest.approx(expected, abs=0.03)


def test_resampled_means_are_those_of_drawn_rows():
    values = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    means = resampling.resampled_means(values, 500, np.random.default_rng(3))
    rows = np.random.default_rng(3).integers(0, 3, size=(500, 3))
    for mean, drawn in zip(means, rows, strict=True):
        part = values[drawn]
        known = part[~np.isnan(part[:, 1]), 1]
        assert mean[0] == pytest.approx(part[:, 0].mean(), abs=1e-12)
        assert (len(known) == 0 and np.isnan(mean[1])) or mean[1] == pytest.approx(known.mean())


def test_draws_depend_on_the_seed_and_not_on_the_size_of_blocks(monkeypatch):
    values = np.random.default_rng(2).normal(size=(30, 2))
    first = bootstrap_interval(values, n_resamples=1000, seed=5)
    other = bootstrap_interval(values, n_resamples=1000, seed=6)
    assert (first[0] != other[0]).all()
    monkeypatch.setattr(resampling, "BLOCK_BYTES", 8 * 30 * 7)
    np.testing.assert_allclose(
        bootstrap_interval(values, n_resamples=1000, seed=5), first, rtol=0, atol=1e-14
    )


def test_columns_without_values_or_with_equal_ones_have_plain_bounds():
    values = np.column_stack([np.full(9, np.nan), np.full(9, 0.3), np.arange(9) % 2])
    low, high = bootstrap_interval(values, n_resamples=200)
    assert np.isnan(low[0])
    assert np.isnan(high[0])
    assert low[1] == high[1] == 0.3
    assert low[2] < 4 / 9 < high[2]


def scores(seed):
    """Return scores such as NDCG has them: many zeros, a long tail, mean 0.15."""
    rng, shape = np.random.default_rng(seed), (200, 1000)
    return np.where(rng.random(shape) < 0.4, 0.0, rng.beta(1, 3, shape))


@pytest.mark.parametrize(
    ("values", "method", "mean"),
    [
        (scores(4), "bca", 0.15),
        (scores(4), "percentile", 0.15),
        (scores(5) - 0.5 * scores(6), "bca", 0.075),
    ],
    ids=["bca", "percentile", "difference"],
)
def test_ninety_five_of_a_hundred_intervals_hold_the_mean(values, method, mean):
    low, high = bootstrap_interval(values, n_resamples=2000, method=method)
    held = np.mean((low <= mean) & (high >= mean))
    assert abs(held - 0.95) <= 0.015
