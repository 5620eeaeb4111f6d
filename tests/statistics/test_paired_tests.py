"""Paired tests, against SciPy, enumeration and what chance allows."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from harness.statistics import effect_size, paired_t, randomisation, resampling, wilcoxon

# Differences with many ties and zeros, whose sums are exact in floating point.
values = st.one_of(
    st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.integers(-64, 64).map(lambda n: n / 64)
)


def columns(smallest, largest):
    return st.integers(smallest, largest).flatmap(lambda n: arrays(np.float64, n, elements=values))


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


def test_exact_randomisation_is_counting_all_sign_vectors():
    differences = np.array([3.0, -1.0, 2.0, 0.0, 2.0])
    observed = abs(differences.sum())
    sums = [np.dot(signs, differences) for signs in itertools.product([1, -1], repeat=5)]
    expected = np.mean(np.abs(sums) >= observed)
    assert randomisation(differences[:, None], 16)[0] == expected == 8 / 32


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


def test_turning_a_difference_around_changes_no_p_value():
    table = np.random.default_rng(1).normal(0.05, 1, (50, 3))
    for test in (paired_t, wilcoxon, randomisation):
        np.testing.assert_array_equal(test(table), test(-table))


@pytest.mark.parametrize("test", [paired_t, wilcoxon, randomisation])
def test_where_nothing_differs_nothing_is_significant(test):
    nothing = np.column_stack([np.zeros(30), np.full(30, np.nan)])
    assert test(nothing).tolist() == [1.0, 1.0]


def test_the_same_difference_for_everybody_is_certain_for_the_t_test():
    assert paired_t(np.full((5, 1), 0.1)).tolist() == [0.0]
    assert paired_t(np.full((1, 1), 0.1)).tolist() == [1.0]
    rounded = 0.1 + np.arange(5)[:, None] / 3 - np.arange(5)[:, None] / 3
    assert 0 < np.ptp(rounded) < 1e-15
    assert paired_t(rounded).tolist() == [0.0]
    assert effect_size(rounded).tolist() == [np.inf]


def test_draws_depend_on_the_seed_and_not_on_the_size_of_blocks(monkeypatch):
    table = np.random.default_rng(2).normal(0.1, 1, (70, 3))
    first = randomisation(table, 3000, seed=5)
    assert (first != randomisation(table, 3000, seed=6)).any()
    monkeypatch.setattr(resampling, "BLOCK_BYTES", 8 * 70 * 17)
    np.testing.assert_array_equal(first, randomisation(table, 3000, seed=5))


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


@pytest.mark.parametrize("test", [paired_t, wilcoxon, randomisation])
def test_the_same_algorithm_under_two_labels_differs_in_five_of_a_hundred_draws(test):
    p_values = test(null_differences(100, 1000, seed=7))
    assert abs(np.mean(p_values <= 0.05) - 0.05) <= 0.015


def test_with_thousands_of_users_the_signed_rank_test_takes_skewness_for_a_difference():
    differences = np.random.default_rng(2).exponential(size=(2000, 200)) - 1.0  # the mean is 0
    assert np.mean(wilcoxon(differences) <= 0.05) > 0.9
    for test in (paired_t, randomisation):
        assert np.mean(test(differences) <= 0.05) < 0.10
