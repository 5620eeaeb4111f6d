"""A user tested in several folds is one observation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics import average_folds


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1)), min_size=1))
def test_each_user_has_the_mean_of_their_scores(rows):
    users, values = (np.array(side) for side in zip(*rows, strict=True))
    codes, averages = average_folds(users, values)
    assert codes.tolist() == sorted(set(users.tolist()))
    for code, average in zip(codes, averages, strict=True):
        np.testing.assert_allclose(average, values[users == code].mean(), rtol=1e-12)


def test_folds_in_which_a_user_is_undefined_are_left_out():
    values = np.array([[1.0, np.nan], [0.0, np.nan], [np.nan, 0.5], [0.2, 0.3]])
    users, averages = average_folds([4, 4, 4, 1], values)
    assert users.tolist() == [1, 4]
    assert averages[0].tolist() == [0.2, 0.3]
    assert averages[1].tolist() == [0.5, 0.5]
    users, averages = average_folds([2, 2], np.array([np.nan, np.nan]))
    assert np.isnan(averages).tolist() == [True]
    assert averages.shape == (1,)


def test_counting_folds_as_users_would_find_differences_that_are_not_there():
    from harness.statistics import paired_t

    rng = np.random.default_rng(0)
    users = np.tile(np.arange(40), 5)
    taste = np.tile(rng.normal(size=(40, 1000)), (5, 1))
    differences = taste + rng.normal(0, 0.3, taste.shape)
    _, averaged = average_folds(users, differences)
    assert abs(np.mean(paired_t(averaged) <= 0.05) - 0.05) <= 0.015
    assert np.mean(paired_t(differences) <= 0.05) > 0.3
