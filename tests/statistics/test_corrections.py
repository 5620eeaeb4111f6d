"""Corrections for many comparisons, against their definitions and against chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.statistics import adjust, benjamini_hochberg, holm, randomisation

p_lists = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.05, 1.0])), max_size=30)


def reject_one_by_one(p_values, level):
    """Holm's procedure as he wrote it: the smallest p first, stop at the first that fails."""
    rejected = [False] * len(p_values)
    left = sorted(range(len(p_values)), key=lambda place: p_values[place])
    while left and p_values[left[0]] * len(left) <= level:
        rejected[left.pop(0)] = True
    return rejected


@given(p_lists, st.sampled_from([0.01, 0.05, 0.2]))
def test_holms_adjusted_values_reject_what_his_procedure_rejects(p_values, level):
    assert (holm(p_values) <= level).tolist() == reject_one_by_one(p_values, level)


@given(p_lists)
def test_adjusted_values_are_no_smaller_and_keep_the_order(p_values):
    p = np.array(p_values)
    for correct in (holm, benjamini_hochberg):
        adjusted = correct(p_values)
        assert (adjusted >= p - 1e-15).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@settings(deadline=None)
@given(p_lists.filter(len))
def test_benjamini_and_hochbergs_values_are_scipys(p_values):
    expected = stats.false_discovery_control(p_values)
    np.testing.assert_allclose(benjamini_hochberg(p_values), expected, rtol=0, atol=1e-12)


def test_a_correction_is_chosen_by_name():
    p_values = [0.01, 0.02, 0.5]
    np.testing.assert_allclose(adjust(p_values, "holm"), [0.03, 0.04, 0.5])
    np.testing.assert_allclose(adjust(p_values, "benjamini-hochberg"), [0.03, 0.03, 0.5])
    np.testing.assert_allclose(adjust(p_values, "none"), p_values)


def test_among_ten_equal_algorithms_holm_finds_a_difference_in_at_most_five_of_a_hundred_draws():
    rng = np.random.default_rng(11)
    n_draws, n_users, n_algorithms = 1000, 60, 10
    first, second = np.triu_indices(n_algorithms, 1)
    scores = rng.beta(1, 3, (n_users, n_draws, 1)) * rng.random((n_users, n_draws, n_algorithms))
    differences = scores[:, :, first] - scores[:, :, second]
    p_values = randomisation(differences.reshape(n_users, -1), 4999, seed=0)
    families = p_values.reshape(n_draws, len(first))
    falsely = np.array([(holm(family) <= 0.05).any() for family in families])
    assert falsely.mean() <= 0.05 + 0.015
    # Without a correction some difference is found nearly every second time.
    assert (families <= 0.05).any(axis=1).mean() > 0.4
    assert pytest.approx(0.05, abs=0.015) == (families <= 0.05).mean()
