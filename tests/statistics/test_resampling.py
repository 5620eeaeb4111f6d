"""Paired tests and bootstrap intervals, against SciPy, enumeration and what chance allows."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.errors import ComparisonError
from harness.statistics import (
    Draws,
    bootstrap_interval,
    compare,
    effect_size,
    intervals,
    paired_t,
    randomisation,
    resampling,
    wilcoxon,
)

TESTS = pytest.mark.parametrize("test", [paired_t, wilcoxon, randomisation])

# Differences with many ties and zeros, whose sums are exact in floating point.
values = st.one_of(
    st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.integers(-64, 64).map(lambda n: n / 64)
)


def columns(smallest, largest):
    return st.integers(smallest, largest).flatmap(lambda n: arrays(np.float64, n, elements=values))


@pytest.mark.long
@settings(deadline=None, max_examples=100)
@given(columns(1, 60))
def test_the_t_test_and_the_signed_rank_test_are_scipys(differences):
    if np.ptp(differences):  # otherwise SciPy gives NaN, or warns of lost digits
        expected = stats.ttest_rel(differences + 0.25, np.full(len(differences), 0.25)).pvalue
        assert paired_t(differences[:, None])[0] == pytest.approx(expected, abs=1e-12)
    if differences.any():
        expected = stats.wilcoxon(differences, np.zeros(len(differences))).pvalue
        assert wilcoxon(differences[:, None])[0] == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(columns(2, 10))
def test_few_users_are_randomised_exactly_as_scipy_does(differences):
    expected = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    ).pvalue
    if not differences.any():
        expected = 1.0
    assert randomisation(differences[:, None], 1024)[0] == pytest.approx(expected, abs=1e-12)


def test_many_users_are_randomised_as_the_exact_distribution_says():
    # Of n differences of the same size the positive ones are binomial, so p is known exactly.
    positive = np.array([115, 120, 100, 90, 140])
    differences = np.where(np.arange(200)[:, None] < positive, 0.5, -0.5)
    expected = [stats.binomtest(int(n), 200).pvalue for n in positive]
    n_resamples = 20_000
    found = randomisation(differences, n_resamples, seed=1)
    noise = np.sqrt(np.array(expected) / n_resamples) + 1 / n_resamples
    assert (np.abs(found - expected) < 4 * noise).all()
    # It counts the observed labels, so it is never 0.
    assert randomisation(np.ones((100, 1)), 999)[0] == 1 / 1000


def test_columns_are_tested_as_if_alone_and_undefined_users_are_left_out():
    rng = np.random.default_rng(0)
    table = rng.normal(0.1, 1, (80, 4))
    table[rng.random(table.shape) < 0.2] = np.nan
    for test in (paired_t, wilcoxon):
        for column, p in zip(table.T, test(table), strict=True):
            assert p == test(column[~np.isnan(column)][:, None])[0]
    whole = randomisation(table, 5000, seed=3)
    for number in range(4):
        assert whole[number] == randomisation(table[:, [number]], 5000, seed=3)[0]
        filled = np.nan_to_num(table[:, [number]])
        assert whole[number] == randomisation(filled, 5000, seed=3)[0]


@TESTS
def test_the_sign_changes_no_p_value_and_where_nothing_differs_nothing_is_significant(test):
    table = np.random.default_rng(1).normal(0.05, 1, (50, 3))
    np.testing.assert_array_equal(test(table), test(-table))
    assert test(np.column_stack([np.zeros(30), np.full(30, np.nan)])).tolist() == [1.0, 1.0]


def test_the_same_difference_for_everybody_is_certain_for_the_t_test():
    assert paired_t(np.full((5, 1), 0.1)).tolist() == [0.0]
    assert paired_t(np.full((1, 1), 0.1)).tolist() == [1.0]
    rounded = 0.1 + np.arange(5)[:, None] / 3 - np.arange(5)[:, None] / 3
    assert 0 < np.ptp(rounded) < 1e-15
    assert paired_t(rounded).tolist() == [0.0]
    assert effect_size(rounded).tolist() == [np.inf]


def test_draws_depend_on_the_seed_and_not_on_the_size_of_blocks(monkeypatch):
    table = np.random.default_rng(2).normal(0.1, 1, (70, 3))
    p_values, intervals = (
        [function(table, n_resamples=3000, seed=seed) for seed in (5, 6)]
        for function in (randomisation, bootstrap_interval)
    )
    assert (p_values[0] != p_values[1]).any()
    assert (intervals[0][0] != intervals[1][0]).all()
    sizes = {"MOST": 300, "BLOCK_BYTES": 4 * 70 * 7, "FEWEST_BITS": 1, "COLUMNS_AT_ONCE": 2}
    for name, size in sizes.items():
        monkeypatch.setattr(resampling, name, size)
    np.testing.assert_array_equal(p_values[0], randomisation(table, 3000, seed=5))
    again = bootstrap_interval(table, n_resamples=3000, seed=5)
    np.testing.assert_array_equal(again, intervals[0])


def test_the_effect_size_is_the_mean_in_standard_deviations():
    table = np.array([[1.0, 0.0, 2.0, np.nan], [2.0, 0.0, 2.0, np.nan], [4.0, 0.0, 2.0, 1.0]])
    found = effect_size(table)
    assert found[0] == pytest.approx((7 / 3) / np.sqrt(7 / 3), abs=1e-15)
    assert found[1:3].tolist() == [0.0, np.inf]
    assert np.isnan(found[3])
    assert effect_size(-table)[2] == -np.inf


def null_differences(n_users, n_draws, seed):
    """Return differences of the same algorithm under two labels: equal in law, user by user."""
    rng = np.random.default_rng(seed)
    taste = rng.beta(1, 3, (n_users, n_draws))
    first, second = (
        np.where(rng.random(taste.shape) < 0.4, 0.0, taste * rng.random(taste.shape))
        for _ in range(2)
    )
    return first - second


@TESTS
def test_the_same_algorithm_under_two_labels_differs_in_five_of_a_hundred_draws(test):
    p_values = test(null_differences(100, 1000, seed=7))
    assert abs(np.mean(p_values <= 0.05) - 0.05) <= 0.015


@pytest.mark.parametrize(("ours", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_from_the_same_resamples_the_bounds_are_scipys(ours, theirs, confidence):
    values = np.random.default_rng(0).exponential(size=40) ** 2
    result = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, confidence_level=confidence, method=theirs, rng=1
    )
    low, high = intervals.interval_of(result.bootstrap_distribution, values, confidence, ours)
    assert low == pytest.approx(result.confidence_interval.low, abs=1e-12)
    assert high == pytest.approx(result.confidence_interval.high, abs=1e-12)


def test_our_resamples_give_scipys_bounds_within_chance():
    values = np.random.default_rng(0).exponential(size=40)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=100_000, rng=1).confidence_interval
    low, high = bootstrap_interval(values[:, None], n_resamples=100_000, seed=2)
    assert low[0] == pytest.approx(theirs.low, abs=0.005)
    assert high[0] == pytest.approx(theirs.high, abs=0.005)


def test_resampled_means_are_those_of_drawn_rows():
    values = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, 7.0]])
    users = resampling.drawn_users(3, 500, np.random.default_rng(3))
    means = resampling.resampled_means(values, users)
    rows = np.random.default_rng(3).integers(0, 3, size=(500, 3))
    for mean, drawn in zip(means, rows, strict=True):
        part = values[drawn]
        known = part[~np.isnan(part[:, 1]), 1]
        assert mean[0] == pytest.approx(part[:, 0].mean(), abs=1e-12)
        assert (len(known) == 0 and np.isnan(mean[1])) or mean[1] == pytest.approx(known.mean())


@pytest.mark.parametrize("n", [1, 8, 63, 65, 200])
def test_sums_are_those_of_exact_arithmetic(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=(n, 70)) * 10.0 ** rng.integers(-300, 300, 70)
    (sums,) = resampling.sign_sums(values, 50, np.random.default_rng(4))
    words = np.random.default_rng(4).bytes(50 * 8 * -(-n // 64))
    bits = np.unpackbits(np.frombuffer(words, np.uint8).reshape(50, -1), axis=1, count=n)
    users = resampling.drawn_users(n, 50, np.random.default_rng(4))
    means = resampling.resampled_means(values, users)
    rows = np.random.default_rng(4).integers(0, n, size=(50, n), dtype=np.uint32)
    for column in range(70):
        scale = 1e-15 * n * np.abs(values[:, column]).max()
        for resample in range(50):
            signed = values[:, column] * (2.0 * bits[resample] - 1.0)
            assert abs(sums[resample, column] - math.fsum(signed)) <= scale
            expected = math.fsum(values[rows[resample], column]) / n
            assert abs(means[resample, column] - expected) <= scale / n


def test_tables_that_are_expected_are_summed_in_one_pass_with_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(2)
    tables = [rng.normal(0.1, 1, (n, 3)) for n in (20, 20, 17)]
    tables[1][rng.random((20, 3)) < 0.2] = np.nan
    n_passes = []
    count = resampling.drawn_users
    monkeypatch.setattr(resampling, "drawn_users", lambda *a: n_passes.append(a[0]) or count(*a))

    def comparisons(draws):
        names = ["A", "B", "C"]
        return [compare(table, names, n_resamples=300, draws=draws) for table in tables]

    alone = comparisons(Draws(seed=4))
    assert n_passes == [20, 20, 17]
    n_passes.clear()
    draws = Draws(seed=4)
    for table in tables:
        draws.expect(table)
    together = comparisons(draws)
    assert n_passes == [20, 17]
    for one, other, table in zip(together, alone, tables, strict=True):
        assert one.seed == 4
        pd.testing.assert_frame_equal(one.pairs, other.pairs)
        pd.testing.assert_frame_equal(one.algorithms, other.algorithms)
        seeded = compare(table, ["A", "B", "C"], n_resamples=300, seed=4)
        pd.testing.assert_frame_equal(one.pairs, seeded.pairs)


@pytest.mark.parametrize(("limit", "most"), [("MOST_EXPECTED", 2), ("MOST_SUMS", 3 * 300 - 1)])
def test_more_tables_than_memory_holds_are_summed_one_by_one(monkeypatch, limit, most):
    monkeypatch.setattr(resampling, limit, most)
    table, draws = np.random.default_rng(2).normal(0.1, 1, (20, 3)), Draws(seed=4)
    draws.expect(table)
    pd.testing.assert_frame_equal(
        compare(table, ["A", "B", "C"], n_resamples=300, draws=draws).pairs,
        compare(table, ["A", "B", "C"], n_resamples=300, seed=4).pairs,
    )
    assert not draws._sums


def test_more_signs_follow_the_first_ones():
    table, draws = np.random.default_rng(2).normal(0.1, 1, (70, 2)), Draws(seed=4)
    first = np.concatenate([*draws.sign_sums(table, 1500)])
    more = np.concatenate([*draws.more_sign_sums(table, 1500, 700)])
    together = np.concatenate([*draws.sign_sums(table, 2200)])
    np.testing.assert_array_equal(np.vstack([first, more]), together)


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


@pytest.mark.parametrize(
    ("values", "method", "message"),
    [
        (np.ones(3), "bca", r"values of shape \(3,\); give a column for each mean"),
        (np.ones((3, 1)), "BCa", "unknown method 'BCa'; did you mean 'bca'?"),
    ],
)
def test_an_interval_of_nothing_known_is_refused(values, method, message):
    with pytest.raises(ComparisonError, match=message):
        bootstrap_interval(values, method=method)
