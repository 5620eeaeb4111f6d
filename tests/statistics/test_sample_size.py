"""Power and sample size: published values, SciPy's noncentral t, and the tests themselves."""

import math

import numpy as np
import pytest
import scipy.stats

from harness.errors import ComparisonError
from harness.statistics.sample_size import (
    Spread,
    detectable,
    reached,
    seeds_needed,
    spread,
    users_needed,
)
from harness.statistics.variance import two_way

UNIT = Spread(1.0)


@pytest.mark.parametrize(
    ("size", "n", "power"), [(0.2, 199, 0.8017), (0.5, 34, 0.8078), (0.8, 15, 0.8213)]
)
def test_numbers_of_users_are_those_of_cohen_s_small_medium_and_large_effect(size, n, power):
    assert users_needed(size, UNIT, None, 0.05, 0.8) == n
    assert reached(size, UNIT, n, None, 0.05) == pytest.approx(power, abs=2e-4)


@pytest.mark.parametrize("n", [3, 10, 50, 500])
@pytest.mark.parametrize("level", [0.05, 0.005])
@pytest.mark.parametrize("shift", [0.5, 2.0, 3.5])
def test_over_users_the_power_is_that_of_the_noncentral_t(n, level, shift):
    critical = scipy.stats.t.ppf(1 - level / 2, n - 1)
    law = scipy.stats.nct(n - 1, shift)
    expected = law.sf(critical) + law.cdf(-critical)
    assert reached(shift / n**0.5, UNIT, n, None, level) == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize("n_seeds", [None, 5, 20])
def test_the_least_detectable_difference_has_the_power_and_needs_the_users(n_seeds):
    variances = Spread(0.02, 0.00001, 0.03 if n_seeds else 0.0)
    size = detectable(variances, 300, n_seeds, 0.01, 0.8)
    assert reached(size, variances, 300, n_seeds, 0.01) == pytest.approx(0.8, abs=1e-6)
    assert reached(-size, variances, 300, n_seeds, 0.01) == pytest.approx(0.8, abs=1e-6)
    assert users_needed(size * 1.0001, variances, n_seeds, 0.01, 0.8) == 300


def test_more_users_seeds_and_size_find_more():
    variances = Spread(0.02, 0.0001, 0.03)
    for row in (
        [reached(0.02, variances, n, 5, 0.05) for n in (50, 200, 1000)],
        [reached(0.02, variances, 200, n, 0.05) for n in (2, 5, 50)],
        [reached(size, variances, 200, 5, 0.05) for size in (0.0, 0.01, 0.05)],
    ):
        assert sorted(row) == row


def test_no_number_of_users_makes_up_for_seeds_and_the_other_way_round():
    variances = Spread(0.02, 0.01, 0.03)
    assert users_needed(0.01, variances, 3, 0.05, 0.8) is None
    assert seeds_needed(0.01, variances, 50, 0.05, 0.8) is None
    enough = seeds_needed(0.1, variances, 500, 0.05, 0.8)
    assert reached(0.1, variances, 500, enough, 0.05) >= 0.8
    assert reached(0.1, variances, 500, enough - 1, 0.05) < 0.8


@pytest.mark.parametrize("case", range(4))
def test_the_number_that_is_enough_is_the_least_one(case):
    rng = np.random.default_rng(case)
    variances = Spread(*10 ** rng.uniform([-3, -6, -3], [-1, -4, -1]))
    difference, level = 10 ** rng.uniform(-2.5, -0.5), rng.choice([0.05, 0.001])

    def least(is_enough, most):
        numbers = [n for n in range(2, most) if is_enough(n)]
        return numbers[0] if numbers else None

    seeds = seeds_needed(difference, variances, 200, level, 0.8)
    counted = least(lambda n: reached(difference, variances, 200, n, level) >= 0.8, 30)
    assert counted == seeds or (counted is None and (seeds is None or seeds >= 30))
    users = users_needed(difference, variances, 4, level, 0.8)
    counted = least(lambda n: reached(difference, variances, n, 4, level) >= 0.8, 30)
    assert counted == users or (counted is None and (users is None or users >= 30))
    for number, arguments in ((users, lambda n: (n, 4)), (seeds, lambda n: (200, n))):
        if number is not None:
            assert reached(difference, variances, *arguments(number), level) >= 0.8
            if number > 2:
                assert reached(difference, variances, *arguments(number - 1), level) < 0.8


def test_equal_rows_are_found_by_any_difference():
    assert detectable(Spread(0.0), 50, None, 0.05, 0.8) == 0.0
    assert users_needed(0.001, Spread(0.0), None, 0.05, 0.8) == 2
    assert reached(0.1, Spread(0.0), 50, 5, 0.05) == 1.0


@pytest.mark.parametrize(("n_users", "n_seeds"), [(50, 3), (200, 5)])
def test_over_users_and_seeds_the_test_reaches_the_power(n_users, n_seeds):
    variances, level, n_draws = Spread(0.02, 0.0004, 0.03), 0.05, 1000
    size = detectable(variances, n_users, n_seeds, level, 0.8)
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(n_draws):
        table = rng.normal(0, variances.rest**0.5, (n_users, n_seeds))
        table += rng.normal(0, variances.users**0.5, (n_users, 1))
        table += rng.normal(size, variances.seeds**0.5, n_seeds)
        means = table.mean(axis=1)[:, None]
        n_found += two_way(means, table.T[:, :, None]).p_values(means.mean(axis=0))[0] <= level
    assert n_found / n_draws == pytest.approx(0.8, abs=0.03)


def test_variances_are_those_of_the_differences():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(4000, 1)) + 0.5 * rng.normal(size=(4000, 6))
    assert spread(values[:, 0]).users == pytest.approx(values[:, 0].var(ddof=1))
    found = spread(values)
    assert (found.users, found.rest) == pytest.approx((1.0, 0.25), rel=0.1)
    values[0, 0] = math.nan
    assert spread(values) == spread(values[1:])


@pytest.mark.parametrize("differences", [[1.0], [[1.0, 2.0]], [[[1.0]]], [math.nan, 1.0], []])
def test_too_few_differences_are_refused(differences):
    with pytest.raises(ComparisonError, match="give two users or more"):
        spread(differences)
