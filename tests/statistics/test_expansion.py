"""Intervals and tests of many users from moments, against exact distributions and resamples."""

from typing import get_args

import numpy as np
import pytest
from scipy import special, stats

from harness.statistics import (
    MANY_USERS,
    bootstrap_interval,
    compare,
    effect_size,
    gaps,
    randomisation,
)
from harness.statistics.expansion import LEAST_P, Moments
from harness.statistics.intervals import interval_of
from harness.statistics.many_users import means_of_few
from harness.statistics.pairs import PairedTest
from harness.statistics.standard_error import over_users

N_USERS = 10_000
ENOUGH = 1e-2  # of an interval's width


def sign_p(multiples):
    """Return the exact p-value of whole differences: the spectrum of a sum is one of cosines."""
    sizes, counts = np.unique(np.abs(multiples[multiples != 0]), return_counts=True)
    total = int((sizes * counts).sum())
    n_points = 2 * (total + 1)
    angles = 2 * np.pi * np.arange(n_points) / n_points
    with np.errstate(divide="ignore"):
        sizes_log = counts @ np.log(np.abs(np.cos(np.outer(sizes, angles))))
    signs = np.prod(np.sign(np.cos(np.outer(sizes, angles))) ** counts[:, None], axis=0)
    chances = np.fft.fft(signs * np.exp(sizes_log)).real / n_points
    sums = np.arange(n_points)
    sums[sums > total] -= n_points
    return float(chances[np.abs(sums) >= abs(int(multiples.sum()))].sum())


def bootstrap_ends(multiples, confidence=0.95):
    """Return the exact BCa interval of the mean of whole scores, by the spectrum of the sum."""
    n, low = len(multiples), int(multiples.min())
    chances = np.bincount(multiples - low) / n
    n_points = n * (len(chances) - 1) + 1
    of_sum = np.fft.irfft(np.fft.rfft(chances, n_points) ** n, n_points)
    at_most = np.cumsum(of_sum)
    observed = int((multiples - low).sum())
    bias = special.ndtri(at_most[observed] - of_sum[observed] / 2)
    deviations = multiples - multiples.mean()
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    shifted = bias + special.ndtri([(1 - confidence) / 2, (1 + confidence) / 2])
    tails = special.ndtr(bias + shifted / (1 - acceleration * shifted))
    return np.searchsorted(at_most, tails) / n + low


def scores(shape, seed, share=0.4):
    """Return scores such as NDCG has them: many zeros, a long tail."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < share, 0.0, rng.beta(1, 3, shape))


HITS = [(9000, 2000, 5150), (1500, 700, 300), (1000, 560, 3), (5000, 2500, 2500), (400, 400, 900)]


@pytest.mark.parametrize("shares", HITS, ids=str)
@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3])
def test_sums_in_steps_are_tested_as_all_sign_vectors_say(shares, unit):
    rng = np.random.default_rng(sum(shares))
    sizes = rng.permutation(np.repeat([1, 2, 3], shares))
    multiples = sizes * np.where(rng.random(len(sizes)) < 0.51, 1, -1)
    differences = np.zeros(N_USERS + 7000)
    differences[: len(multiples)] = multiples * unit
    exact = sign_p(multiples)
    assert randomisation(differences[:, None])[0] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("n_positive", [5000, 5001, 5030, 5100, 5200, 5300])
def test_hits_are_tested_as_the_binomial_says_far_into_the_tail(n_positive):
    differences = np.repeat([0.5, -0.5], [n_positive, 10_000 - n_positive])
    exact = stats.binomtest(n_positive, 10_000).pvalue
    assert randomisation(differences[:, None])[0] == pytest.approx(exact, rel=1e-6)


def test_what_is_smaller_than_any_p_value_is_a_bound():
    moments = Moments.of_columns(np.repeat([0.5, -0.5], [6000, 4000])[None])
    (p,), (is_bound,) = moments.sign_test()
    assert p == LEAST_P
    assert is_bound
    found = compare(np.repeat([[1.0, 0.0]], N_USERS, axis=0), ["A", "B"])
    assert found.pairs[["p", "p_is_bound", "significant"]].iloc[0].tolist() == [LEAST_P, True, True]


def test_differences_without_a_step_are_tested_as_random_signs_do_within_their_noise():
    for shift, seed in ((0.0, 1), (0.004, 2), (0.006, 3)):
        table = scores((N_USERS, 2), seed)
        differences = table[:, :1] - table[:, 1:] + shift
        found, resampled = randomisation(differences), randomisation(differences, 10_000, seed)
        noise = np.sqrt(resampled * (1 - resampled) / 10_000) + 1 / 10_000
        assert abs(found - resampled) <= 4 * noise


@pytest.mark.parametrize(
    "chances",
    [[0.7, 0.3], [0.9, 0.1], [0.5, 0.2, 0.2, 0.1], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2]],
    ids=str,
)
@pytest.mark.parametrize("lowest", [0, -1])
def test_ends_are_those_of_infinitely_many_resamples(chances, lowest):
    rng = np.random.default_rng(len(chances))
    multiples = lowest + rng.choice(len(chances), N_USERS, p=chances)
    exact = bootstrap_ends(multiples)
    (low,), (high,) = bootstrap_interval(multiples[:, None] / 10)
    assert np.abs([low, high] - exact / 10).max() < ENOUGH * np.ptp(exact / 10)


@pytest.mark.long
@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_ends_of_scores_are_those_of_resamples_within_their_noise(method):
    values = scores((N_USERS, 2), 5) ** 2
    low, high = bootstrap_interval(values, method=method)
    of_resamples = bootstrap_interval(values, n_resamples=4000, method=method, seed=3)
    # The standard error of an end is 1.1% of the width with 4,000 resamples.
    assert (np.abs(of_resamples - np.array([low, high])) < 0.04 * (high - low)).all()


def test_users_without_a_score_are_left_out():
    values = scores((3 * N_USERS, 2), 6)
    values[::3, 0] = values[1::3, 1] = np.nan
    moments = Moments.of(values.T.copy(), np.array([0, 0]), np.array([-1, 1]))
    alone = Moments.of_columns(values[~np.isnan(values[:, 0]), :1].T.copy())
    np.testing.assert_array_equal(moments.sums[:, 0], alone.sums[:, 0])
    differences = values[:, [0]] - values[:, [1]]
    assert moments.n_known[1] == N_USERS
    assert moments.mean[1] == pytest.approx(np.nanmean(differences), abs=1e-15)
    found = compare(values, ["A", "B"])
    assert found.pairs["n_left_out"].tolist() == [2 * N_USERS]
    low, high = bootstrap_interval(differences)
    assert found.pairs[["low", "high"]].to_numpy().tolist() == [[low[0], high[0]]]


def test_sizes_and_errors_are_those_of_fewer_users():
    values = scores((500, 4), 7)
    values[:, 1], values[:, 2], values[1:, 3] = 0.0, 0.3, np.nan
    moments, errors = Moments.of_columns(values.T.copy()), over_users(values)
    np.testing.assert_allclose(moments.effect_size(), effect_size(values), rtol=1e-12)
    error, degrees = moments.standard_error()
    np.testing.assert_allclose(error[[0, 3]], errors.error[[0, 3]], rtol=1e-12)
    np.testing.assert_array_equal(degrees, errors.degrees)


def test_a_column_of_one_value_or_of_none_has_a_plain_interval():
    values = np.column_stack([np.full(N_USERS, 0.3), np.full(N_USERS, np.nan)])
    low, high = bootstrap_interval(values)
    assert low[0] == high[0] == 0.3
    assert np.isnan([low[1], high[1]]).all()
    assert randomisation(values * [[0.0, 1.0]]).tolist() == [1.0, 1.0]


def test_where_few_users_differ_they_are_resampled_however_many_users_there_are():
    differences = np.zeros((100_000, 2))
    differences[:300, 0] = np.repeat([1.0, -1.0], [165, 135])
    differences[:12, 1] = 1.0
    p = randomisation(differences)
    exact = stats.binomtest(165, 300).pvalue
    assert p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact / 10_000))
    assert p[1] == 2 / 2**12  # all sign vectors
    low, high = bootstrap_interval(differences)
    expected = bootstrap_ends(differences[:, 0].astype(int)) * 1.0
    step = 1 / len(differences)
    assert np.abs([low[0], high[0]] - expected).max() <= 2 * step
    assert low[1] > 0


@pytest.mark.parametrize("steps", [False, True], ids=["any", "steps"])
@pytest.mark.parametrize("n", [160, 400])
def test_ends_of_the_fewest_effective_users_are_those_of_many_resamples(n, steps):
    rng = np.random.default_rng(n)
    values = np.zeros(N_USERS)
    values[:n] = np.where(rng.random(n) < 0.6, 0.1, -0.1) if steps else rng.beta(3, 2, n)
    moments = Moments.of_columns(values[None])
    assert moments.has_interval.tolist() == [True]
    low, high = moments.interval(0.95, corrected=True)
    n_drawn = rng.binomial(N_USERS, n / N_USERS, 100_000)
    starts = np.cumsum(n_drawn) - n_drawn
    means = np.add.reduceat(values[rng.integers(0, n, n_drawn.sum())], starts) / N_USERS
    ends = np.array(interval_of(means, values, 0.95, "bca"))
    # Of values in steps the quantiles of resamples are in steps of 0.1 / N_USERS, too.
    slack = ENOUGH * (high[0] - low[0]) + steps * 0.05 / N_USERS
    assert np.abs(ends - [low[0], high[0]]).max() < slack


def test_means_of_few_vary_as_those_of_drawn_users():
    values = np.zeros(20_000)
    values[:50] = np.arange(50) / 10
    values[50:60] = np.nan
    means = means_of_few(values, 4000, np.random.default_rng(0))
    known = values[~np.isnan(values)]
    deviation = known.std() / np.sqrt(len(known))
    assert means.mean() == pytest.approx(known.mean(), abs=4 * deviation / np.sqrt(4000))
    assert means.std() == pytest.approx(deviation, rel=0.05)


def test_means_of_few_among_many_vary_as_those_of_drawn_users():
    rng = np.random.default_rng(1)
    values = rng.beta(1, 3, 12_000) / 100
    values[:40] = rng.beta(1, 3, 40) * 10  # of a small group, in the difference of two means
    means = means_of_few(values, 4000, np.random.default_rng(0))
    drawn = np.array([values[rng.integers(0, 12_000, 12_000)].mean() for _ in range(4000)])
    deviation = values.std() / np.sqrt(len(values))
    assert means.mean() == pytest.approx(values.mean(), abs=4 * deviation / np.sqrt(4000))
    assert means.std() == pytest.approx(deviation, rel=0.05)
    tails = [0.005, 0.025, 0.25, 0.75, 0.975, 0.995]
    found, expected = np.quantile(means, tails), np.quantile(drawn, tails)
    assert np.abs(found - expected).max() < 0.35 * deviation  # 5 standard errors of the last tail
    assert stats.ks_2samp(means, drawn).pvalue > 1e-3


def test_the_gap_of_a_small_group_among_many_users_is_that_of_resamples():
    one, other = scores((N_USERS, 2), 13), scores((N_USERS, 2), 14, share=0.5)
    one[50:], other[:50] = np.nan, np.nan
    difference, low, high = gaps(one, other, paired=False)
    expected = gaps(one, other, paired=False, n_resamples=10_000)
    np.testing.assert_allclose(difference, expected[0], atol=1e-14)
    assert (np.abs(np.array([low, high]) - expected[1:]) < 0.05 * (high - low)).all()


@pytest.mark.long
def test_intervals_of_the_gap_of_a_small_group_hold_it_as_often_as_they_promise():
    n_draws, held = 300, 0
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        one, other = np.full((2, N_USERS, 1), np.nan)
        one[:30], other[30:] = rng.normal(0.2, 1, (30, 1)), rng.normal(0, 1, (N_USERS - 30, 1))
        _, low, high = gaps(one, other, paired=False, seed=draw)
        held += int(low[0] <= 0.2 <= high[0])
    # Of 30 users a bootstrap interval holds about 93.5%; 4 standard errors of so many draws.
    assert abs(held / n_draws - 0.935) < 4 * np.sqrt(0.935 * 0.065 / n_draws)


def test_the_numbers_depend_neither_on_threads_nor_on_the_seed(monkeypatch):
    table = scores((400_000, 3), 8)
    tables = []
    for threads, seed in (("1", 0), ("2", 0), ("5", 1)):
        monkeypatch.setenv("HARNESS_THREADS", threads)
        tables.append(compare(table, ["A", "B", "C"], seed=seed))
    for found in tables[1:]:
        assert found.pairs.equals(tables[0].pairs)
        assert found.algorithms.equals(tables[0].algorithms)


@pytest.mark.parametrize("test", get_args(PairedTest))
@pytest.mark.parametrize("n_resamples", [None, 100])
def test_the_order_of_scores_in_memory_changes_no_digit(test, n_resamples):
    table = scores((N_USERS, 3), 11)
    table[::7, 0] = table[::5, 2] = np.nan
    by_seed = np.stack([table, table + 0.01 * scores((N_USERS, 3), 12)])
    settings = {"test": test, "by_seed": by_seed, "ratio": 0.25, "n_resamples": n_resamples}
    by_user, by_column = (
        compare(np.array(table, order=order), ["A", "B", "C"], **settings) for order in "CF"
    )
    assert by_user.pairs.equals(by_column.pairs)
    assert by_user.algorithms.equals(by_column.algorithms)


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
def test_moments_and_resamples_meet_where_one_ends_and_the_other_begins(test):
    table = scores((MANY_USERS, 3), 9)
    table[:, 1] += 0.003
    many = compare(table, ["A", "B", "C"], test=test)
    few = compare(table[:-1], ["A", "B", "C"], test=test)
    assert (many.from_moments, few.from_moments) == (True, False)
    assert "from moments" in many.describe()
    assert "10,000 resamples" in few.describe()
    width = (many.pairs["high"] - many.pairs["low"]).to_numpy()
    for column in ("low", "high", "difference", "standard_error"):
        assert (np.abs(many.pairs[column] - few.pairs[column]) < 0.03 * width).all()
    np.testing.assert_allclose(many.pairs["p"], few.pairs["p"], atol=0.02)
    assert many.algorithms["letters"].tolist() == few.algorithms["letters"].tolist()
    fixed = compare(table, ["A", "B", "C"], test=test, n_resamples=100)
    assert not fixed.from_moments
    assert "(100 resamples)" in fixed.describe()


@pytest.mark.parametrize("paired", [True, False])
def test_gaps_between_groups_of_many_users_are_those_of_resamples(paired):
    one, other = scores((MANY_USERS, 2), 10), scores((MANY_USERS, 2), 11, share=0.5)
    if not paired:
        one[::2], other[1::2] = np.nan, np.nan
    difference, low, high = gaps(one, other, paired=paired)
    expected = gaps(one, other, paired=paired, n_resamples=4000)
    np.testing.assert_allclose(difference, expected[0], atol=1e-14)
    assert (np.abs(np.array([low, high]) - expected[1:]) < 0.05 * (high - low)).all()


def test_the_same_algorithm_under_two_labels_differs_in_five_of_a_hundred_draws():
    rejected, held, n_draws = 0, 0, 1000
    for start in range(0, n_draws, 100):
        first, second = scores((2, N_USERS, 100), 100 + start)
        rejected += np.count_nonzero(randomisation(first - second) <= 0.05)
        low, high = bootstrap_interval(first)
        held += np.count_nonzero((low <= 0.15) & (high >= 0.15))
    assert abs(rejected / n_draws - 0.05) <= 0.02
    assert abs(held / n_draws - 0.95) <= 0.02
