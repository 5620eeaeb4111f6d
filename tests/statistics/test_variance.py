"""Standard errors over users and seeds, variance components, power and equivalence."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from harness.statistics import compare, components
from harness.statistics.standard_error import over_users
from harness.statistics.variance import _moments, corrected, two_way

# P. E. Shrout, J. L. Fleiss, "Intraclass correlations", Psychological Bulletin 1979, table 2:
# six targets (rows) rated by four judges; mean squares and ICC are those of their tables 3 and 4.
RATINGS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
BMS, JMS, EMS = 11.24, 32.49, 1.02
N, S, M = 3, 2, 3


def test_the_components_of_a_published_table_are_those_published():
    found = components(RATINGS, ["judges"])
    assert found["users"] == pytest.approx((BMS - EMS) / 4, abs=0.01)
    assert found["judges"] == pytest.approx((JMS - EMS) / 6, abs=0.01)
    assert found["rest"] == pytest.approx(EMS, abs=0.01)
    icc = found["users"] / sum(found.values())
    assert round(icc, 2) == 0.29
    of_four = found["users"] / (found["users"] + (found["judges"] + found["rest"]) / 4)
    assert round(of_four, 2) == 0.62


def test_the_standard_error_of_a_published_table_follows_from_its_mean_squares():
    found = two_way(RATINGS.mean(axis=1)[:, None], RATINGS.T[:, :, None])
    variance = (BMS + JMS - EMS) / 24
    assert found.error[0] ** 2 == pytest.approx(variance, rel=1e-3)
    squares = (BMS / 24) ** 2 / 5 + (JMS / 24) ** 2 / 3 + (EMS / 24) ** 2 / 15
    assert found.degrees[0] == pytest.approx(variance**2 / squares, rel=1e-3)


@pytest.mark.parametrize(
    ("effect", "axes", "name"),
    [
        ("user", {0}, "users"),
        ("split", {1}, "split"),
        ("model within split", {1, 2}, "model"),
        ("user by split", {0, 1}, "rest"),
        ("user by model", {0, 1, 2}, "rest"),
    ],
)
def test_each_component_expects_its_own_effect_and_no_other(effect, axes, name):
    """An estimate is a quadratic form: its expectation is its sum over the unit vectors."""
    full = (N, S, M)
    own = tuple(full[axis] if axis in axes else 1 for axis in range(3))
    total = dict.fromkeys(("users", "split", "model", "rest"), 0.0)
    for place in product(*map(range, own)):
        unit = np.zeros(own)
        unit[place] = 1.0
        for component, value in _moments(np.broadcast_to(unit, full), ["split", "model"]).items():
            total[component] += value
    expected = dict.fromkeys(total, 0.0) | {name: 1.0}
    assert total == pytest.approx(expected, abs=1e-12), effect


def test_negative_estimates_are_0_and_incomplete_users_are_left_out():
    alternating = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert components(alternating, ["seed"])["seed"] == 0.0
    assert _moments(alternating, ["seed"])["seed"] < 0.0
    holed = np.vstack([RATINGS, [np.nan, 1, 2, 3]])
    assert components(holed, ["judges"]) == components(RATINGS, ["judges"])
    for few in (RATINGS[:0], RATINGS[:1], RATINGS[:, :1], np.full((3, 2), np.nan)):
        assert components(few, ["judges"]) == {}


def test_over_users_is_the_t_test_of_scipy():
    values = np.random.default_rng(0).normal(0.1, 1, (30, 3))
    values[:4, 1] = np.nan
    found = over_users(values)
    theirs = stats.ttest_1samp(values, 0.0, nan_policy="omit")
    means = np.nanmean(values, axis=0)
    np.testing.assert_allclose(found.p_values(means), theirs.pvalue)
    low, high = found.interval(means, 0.9)
    np.testing.assert_allclose([low, high], [*theirs.confidence_interval(0.9)])


def test_without_variance_over_seeds_only_users_count():
    values = np.random.default_rng(1).normal(size=(40, 1))
    same = two_way(values, np.stack([values] * 3))
    plain = over_users(values)
    np.testing.assert_allclose([same.error, same.degrees], [plain.error, plain.degrees])


def test_seeds_with_users_of_their_own_are_the_observations():
    by_seed = np.full((4, 8, 1), np.nan)
    scores = np.random.default_rng(2).random(8)
    for user in range(8):
        by_seed[user // 2, user] = scores[user]
    found = two_way(scores[:, None], by_seed)
    means = scores.reshape(4, 2).mean(axis=1)
    assert found.error[0] == pytest.approx(stats.sem(means))
    assert found.degrees[0] == 3


def test_nadeau_and_bengio_widen_the_t_test_by_the_ratio():
    parts = np.random.default_rng(3).normal(0.2, 1, (10, 1, 1))
    plain, found = corrected(parts, 0.0), corrected(parts, 1 / 9)
    assert plain.error[0] == pytest.approx(stats.sem(parts[:, 0, 0]))
    # Ten folds: (1/10 + 1/9) in place of 1/10.
    assert (found.error[0] / plain.error[0]) ** 2 == pytest.approx(1 + 10 / 9)
    assert found.degrees[0] == 9


@pytest.mark.parametrize("n", [12, 100])
def test_a_detectable_difference_is_found_with_the_power_that_scipy_finds(n):
    values = np.random.default_rng(4).normal(size=(n, 1))
    errors = over_users(values)
    (gap,) = errors.detectable(0.05)
    beyond = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(beyond, n - 1, gap / errors.error[0])
    assert power == pytest.approx(0.8, abs=0.01)


def test_equivalence_is_two_one_sided_tests():
    rng = np.random.default_rng(5)
    base = rng.random((60, 1))
    scores = base + rng.normal([0.0, 0.005, 0.1], 0.02, (60, 3))
    pairs = compare(scores, ["A", "B", "C"], test="t", correction="none", margin=0.02).pairs
    differences = scores[:, [0, 0, 1]] - scores[:, [1, 2, 2]]
    above = stats.ttest_1samp(differences, -0.02, alternative="greater").pvalue
    below = stats.ttest_1samp(differences, 0.02, alternative="less").pvalue
    np.testing.assert_allclose(pairs["p_equivalent"], np.maximum(above, below))
    assert pairs["equivalent"].tolist() == [True, False, False]
    holm = compare(scores, ["A", "B", "C"], test="t", margin=0.02, baseline="A")
    np.testing.assert_allclose(holm.baseline["p_equivalent"], pairs["p_equivalent"][:2])
    assert (holm.pairs["detectable"] > pairs["detectable"]).all()
    assert (holm.baseline["detectable"] < holm.pairs["detectable"][:2]).all()


def draw(rng, n_users, n_seeds, of_seeds):
    """Scores of two equal algorithms, whose seeds matter to all users together."""
    shared = rng.normal(0, 1, (1, n_users, 1)) + rng.normal(0, of_seeds, (n_seeds, 1, 2))
    return shared + rng.normal(0, 0.5, (n_seeds, n_users, 2))


@pytest.mark.parametrize(("of_seeds", "most"), [(0.0, 0.06), (0.05, 0.065), (0.5, 0.065)])
def test_equal_algorithms_rarely_differ_over_seeds_and_often_over_users(of_seeds, most):
    rng = np.random.default_rng(6)
    drawn = [draw(rng, 200, 5, of_seeds) for _ in range(800)]
    found, plain = [], []
    for by_seed in drawn:
        gaps = by_seed[:, :, :1] - by_seed[:, :, 1:]
        mean = gaps.mean(axis=0)
        found.append(two_way(mean, gaps).p_values(mean.mean(axis=0))[0] <= 0.05)
        plain.append(over_users(mean).p_values(mean.mean(axis=0))[0] <= 0.05)
    assert np.mean(found) <= most
    assert (np.mean(plain) > 0.2) == (of_seeds > 0)


def test_three_users_and_two_seeds_are_compared_with_a_warning():
    by_seed = np.random.default_rng(7).random((2, 3, 2))
    found = compare(by_seed.mean(axis=0), ["A", "B"], test="two-way", by_seed=by_seed)
    assert not found.pairs["significant"].any()
    assert found.note == (
        "with 2 seeds and 3 users the test may find differences that are not there, and misses "
        "many that are; it keeps its level from 5 seeds and 25 users on"
    )
    assert "random effects of users and seeds with Holm's correction" in found.describe()
    by_seed = np.random.default_rng(7).random((2, 30, 2))
    found = compare(by_seed.mean(axis=0), ["A", "B"], test="two-way", by_seed=by_seed)
    assert found.note.startswith("with 2 seeds the test may find")  # 30 users are enough
