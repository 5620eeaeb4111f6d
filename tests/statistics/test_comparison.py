"""The whole comparison: tables, baseline, letters, undefined users and bad input."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from harness import statistics
from harness.errors import ComparisonError
from harness.statistics import (
    adjust,
    bootstrap_interval,
    compare,
    effect_size,
    letters,
    randomisation,
)

NAMES = ["SVD", "KNN", "NMF", "random"]
FIRST, SECOND = np.triu_indices(4, 1)


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    taste = rng.beta(2, 3, (300, 1))
    return taste + np.array([0.06, 0.05, 0.0, -0.3]) + rng.normal(0, 0.1, (300, 4))


def test_every_two_algorithms_stand_in_the_table_once(scores):
    found = compare(scores, NAMES, n_resamples=2000)
    pairs, differences = found.pairs, scores[:, FIRST] - scores[:, SECOND]
    assert list(zip(pairs["first"], pairs["second"], strict=True)) == list(combinations(NAMES, 2))
    np.testing.assert_allclose(pairs["difference"], differences.mean(axis=0))
    np.testing.assert_array_equal(pairs["effect_size"], effect_size(differences))
    np.testing.assert_array_equal(pairs["p"], randomisation(differences, 2000, 0))
    np.testing.assert_array_equal(pairs["p_adjusted"], adjust(pairs["p"], "holm"))
    assert ((pairs["low"] < pairs["difference"]) & (pairs["difference"] < pairs["high"])).all()
    assert found.baseline is None
    assert found.describe() == (
        "Two-sided randomisation test (2,000 sign flips) over users with Holm's correction, level "
        "0.05; 95% intervals by BCa bootstrap over users (2,000 resamples). Algorithms that share "
        "a letter are not significantly different."
    )


def test_letters_follow_the_means_and_the_corrected_tests(scores):
    found = compare(scores, NAMES, n_resamples=2000)
    assert found.algorithms["letters"].tolist() == ["a", "a", "b", "c"]
    turned = compare(scores, NAMES, n_resamples=2000, higher_is_better=False)
    assert turned.algorithms["letters"].tolist() == ["c", "c", "b", "a"]
    apart = np.zeros((4, 4), bool)
    apart[FIRST, SECOND] = apart[SECOND, FIRST] = found.pairs["significant"]
    assert letters(apart) == found.algorithms["letters"].tolist()


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg", "none"])
def test_against_a_baseline_only_those_comparisons_are_corrected_for(scores, correction):
    found = compare(scores, NAMES, baseline="KNN", n_resamples=2000, correction=correction)
    rows = found.baseline
    assert rows["first"].tolist() == ["SVD", "NMF", "random"]
    assert rows["second"].tolist() == ["KNN"] * 3
    differences = scores[:, [0, 2, 3]] - scores[:, [1]]
    np.testing.assert_allclose(rows["difference"], differences.mean(axis=0))
    np.testing.assert_allclose(rows["effect_size"], effect_size(differences))
    np.testing.assert_array_equal(rows["p_adjusted"], adjust(rows["p"], correction))
    assert ((rows["low"] < rows["difference"]) & (rows["difference"] < rows["high"])).all()


@pytest.mark.parametrize(("test", "theirs"), [("t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)])
def test_other_tests_are_scipys(scores, test, theirs):
    found = compare(scores, NAMES, test=test, n_resamples=100)
    expected = [theirs(*pair).pvalue for pair in combinations(scores.T, 2)]
    np.testing.assert_allclose(found.pairs["p"], expected, rtol=0, atol=1e-12)


def test_users_without_a_score_are_left_out_pair_by_pair_and_counted(scores):
    scores[:10, 0] = scores[5:20, 1] = np.nan
    found = compare(scores, NAMES, n_resamples=500)
    assert found.algorithms["n_users"].tolist() == [290, 285, 300, 300]
    assert found.pairs["n_users"].tolist() == [280, 290, 290, 285, 285, 300]
    assert found.pairs["n_left_out"].tolist() == [20, 10, 10, 15, 15, 0]
    expected = (scores[20:, 0] - scores[20:, 1]).mean()
    assert found.pairs["difference"][0] == pytest.approx(expected, abs=1e-15)
    assert found.algorithms["mean"][0] == pytest.approx(scores[10:, 0].mean(), abs=1e-15)
    # Pairs with users of their own are tested as if alone.
    differences = scores[:, FIRST] - scores[:, SECOND]
    np.testing.assert_array_equal(found.pairs["p"], randomisation(differences, 500, 0))
    low, high = bootstrap_interval(np.hstack([scores, differences]), n_resamples=500, seed=0)
    np.testing.assert_allclose(found.pairs["low"], low[4:], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.algorithms["high"], high[:4], rtol=0, atol=1e-14)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads(scores):
    found = []
    for n_threads, seed in ((1, 4), (2, 4), (2, 5)):
        with threadpool_limits(n_threads):
            found.append(compare(scores, NAMES, n_resamples=1000, seed=seed))
    assert found[0].pairs.equals(found[1].pairs)
    assert found[0].algorithms.equals(found[1].algorithms)
    assert not found[0].algorithms.equals(found[2].algorithms)


def test_the_same_scores_twice_share_a_letter_and_have_no_effect(scores):
    scores[:, 1] = scores[:, 0]
    found = compare(scores, NAMES, n_resamples=500)
    columns = ["difference", "low", "high", "effect_size", "p"]
    assert found.pairs.loc[0, columns].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert found.algorithms["letters"][0] == found.algorithms["letters"][1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.ones((5, 1)), "names": ["A"]}, "1 algorithm to compare; give two or more"),
        ({"scores": np.ones((5, 3))}, r"scores of shape \(5, 3\) for 2 names; give a row"),
        ({"scores": np.ones(5)}, r"scores of shape \(5,\) for 2 names; give a row"),
        ({"names": ["A", "A"]}, "'A' is given twice; rename one"),
        ({"scores": [[1, np.inf]]}, "a score is infinite; leave it out as NaN"),
        ({"scores": [[1, np.nan], [np.nan, 2]]}, "no user has a score from both 'A' and 'B'; lea"),
        ({"scores": np.ones((0, 2))}, "no user has a score from both 'A' and 'B'; leave one out"),
        ({"baseline": "a"}, "unknown baseline 'a'; did you mean 'A'"),
        ({"confidence": 95}, "confidence 95; use one such as 0.95"),
        ({"n_resamples": 0}, "0 resamples; use 10,000"),
        ({"test": "two-way"}, "two-way with scores of fewer than two seeds"),
        ({"test": "two-way", "by_seed": np.zeros((1, 5, 2))}, "fewer than two seeds"),
        ({"test": "two-way", "by_seed": np.zeros((3, 4, 2))}, r"by_seed of shape \(3, 4, 2\)"),
        ({"test": "nadeau-bengio", "by_seed": np.zeros((3, 5, 2))}, "ratio None; give test"),
        ({"margin": 0.0}, "margin 0.0; use a difference above 0"),
        ({"test": "ttest"}, "unknown test 'ttest'; use one of nadeau-bengio, randomisation, t"),
        ({"correction": "bonferroni"}, "unknown correction 'bonferroni'; use one of benj"),
        ({"interval": "BCa"}, "unknown interval 'BCa'; did you mean 'bca'?"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    with pytest.raises(ComparisonError, match=message):
        compare(**{"scores": np.ones((5, 2)), "names": ["A", "B"], **change})


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg"])
def test_any_number_of_algorithms_a_point_apart_are_all_significantly_different(correction):
    scores = np.random.default_rng(0).normal(0, 0.5, (200, 33)) + np.arange(33.0)
    found = compare(scores, [f"algorithm {number}" for number in range(33)], correction=correction)
    assert found.pairs["significant"].all()
    assert len(set(found.algorithms["letters"])) == 33
    assert found.note == ""


def test_a_pair_that_no_resample_reaches_is_looked_at_more_closely_only_where_that_can_decide():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 1, (400, 1))
    # Of 528 pairs a significant one has p below 0.0001. The first algorithm is 4.6 standard errors
    # ahead of each other one: p is about 0.00001, Hoeffding's bound about 0.00009.
    scores = common + rng.normal(0, 1e-3, (400, 33))
    steps = rng.normal(0, 1, 400)
    scores[:, 0] += steps - steps.mean() + 4.6 * steps.std() / 20
    found = compare(scores, [f"algorithm {number}" for number in range(33)]).pairs
    first = found[found["first"] == "algorithm 0"]
    assert first["p"].between(0.000001, 0.00005, inclusive="neither").all()
    assert first["significant"].all()
    others = found[~found["p_is_bound"] & (found["first"] != "algorithm 0")]
    assert (others["p"] * 10_001 % 1).apply(lambda rest: min(rest, 1 - rest)).max() < 1e-6


def test_a_p_value_no_resample_reaches_is_marked_and_holds_as_a_bound():
    differences = np.random.default_rng(2).normal(1.0, 1.0, 40)
    scores = np.column_stack([differences, np.zeros(40), differences[::-1] - 1])
    hoeffding = 2 * np.exp(-(differences.sum() ** 2) / (2 * (differences**2).sum()))
    for n_resamples, expected in ((None, min(hoeffding, 1 / 10_001)), (1000, 1 / 1001)):
        first = compare(scores, ["A", "B", "C"], n_resamples=n_resamples).pairs.iloc[0]
        assert first["p"] == pytest.approx(expected, rel=1e-9)
        assert first["p_is_bound"]


@pytest.mark.parametrize(
    ("n_users", "n_resamples", "correction", "note"),
    [
        (50, 100, "holm", "with 100 resamples no difference can be significant in 6 comparisons; "
         "set resamples to at least 2,400, or leave it out"),
        (50, 119, "holm", ""),
        (50, 118, "holm", "with 118 resamples"),
        (50, 100, "benjamini-hochberg", ""),
        (50, 100, "none", ""),
        (50, None, "holm", ""),
        (7, None, "holm", "no two algorithms differ for more than 7 users, too few"),
        (8, None, "holm", ""),
        (5, None, "none", "no two algorithms differ for more than 5 users"),
    ],
)  # fmt: skip
def test_a_test_that_cannot_decide_says_so(n_users, n_resamples, correction, note):
    scores = np.random.default_rng(0).normal(0, 0.1, (n_users, 4)) + np.arange(4.0)
    found = compare(scores, NAMES, n_resamples=n_resamples, correction=correction)
    assert found.note.startswith(f"cannot decide: {note}" if note else "")
    assert bool(found.note) == bool(note) == (not found.pairs["significant"].any())
    assert found.note[1:] in found.describe()
    assert ("annot decide" in found.describe()) == bool(note)


def test_masked_scores_are_refused_not_counted():
    scores = np.ma.array([[1.0, 2], [3, 4], [5, 7]], mask=[[0, 0], [1, 0], [0, 0]])
    with pytest.raises(ComparisonError, match="scores: some values are masked"):
        compare(scores, ["A", "B"])
    with pytest.raises(ComparisonError, match="by_seed: some values are masked"):
        compare(scores.data, ["A", "B"], test="two-way", by_seed=np.ma.stack([scores, scores]))
    with pytest.raises(ComparisonError, match="p_values: some values are masked"):
        adjust(np.ma.array([0.1, 0.2], mask=[0, 1]), "holm")


@pytest.mark.parametrize("correction", ["bonferroni", "Holm", "", None, 3])
def test_a_correction_that_is_none_is_refused_by_adjust_as_by_compare(correction):
    for call in (lambda: adjust([0.1], correction), lambda: compare(
        np.arange(8.0).reshape(4, 2), ["A", "B"], correction=correction
    )):  # fmt: skip
        with pytest.raises(ComparisonError, match="correction"):
            call()


@pytest.mark.parametrize("p_values", [[-0.1], [1.1], [[0.5]], ["x"], [1j]])
def test_what_is_no_p_value_is_refused(p_values):
    with pytest.raises(ComparisonError, match="p_values"):
        adjust(p_values, "none")


@pytest.mark.parametrize("n_users", [50, 10_000])  # of which many are computed from moments
@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
@pytest.mark.parametrize("size", [1e308, 1e200, 1e60, 1e-60, 1e-200, 1e-310])
def test_scores_whose_powers_are_no_floats_are_refused(size, test, n_users):
    column = np.random.default_rng(0).random(n_users)
    scores = np.column_stack([column, column[::-1]])
    with pytest.raises(ComparisonError, match=r"'A' have .*to be squared; use a unit"):
        compare(scores * size, ["A", "B"], test=test)
    scores[:, 1] = 0  # an algorithm that never scores is none of them
    assert len(compare(scores, ["A", "B"], test=test).pairs) == 1


@pytest.mark.parametrize("n_users", [50, 10_000])
@pytest.mark.parametrize("size", [2.0**132, 2.0**-132])  # so that no digit is rounded
def test_scores_of_other_units_differ_in_nothing_but_the_unit(size, n_users):
    scores = np.random.default_rng(1).random((n_users, 3))
    one, other = (compare(scores * unit, ["A", "B", "C"], n_resamples=None) for unit in (1.0, size))
    for table, columns in (("algorithms", ["mean", "low", "high"]), ("pairs", ["low", "high"])):
        expected = getattr(one, table)[columns].to_numpy() * size
        np.testing.assert_allclose(getattr(other, table)[columns], expected, rtol=1e-9)
    np.testing.assert_allclose(other.pairs["p"], one.pairs["p"], rtol=1e-9)


@pytest.mark.parametrize("size", [1e308, 1e200, 1e-200, 1e-310])
@pytest.mark.parametrize(
    "function",
    [
        statistics.bootstrap_interval,
        lambda values: statistics.gaps(values, values[::-1].copy(), paired=True),
        lambda values: statistics.gaps(values, values[::-1].copy(), paired=False),
        statistics.randomisation,
        statistics.paired_t,
        statistics.wilcoxon,
        statistics.effect_size,
        lambda values: statistics.components(values, ["seed"]),
        lambda values: statistics.compare_ranks(values, ["A", "B"]),
    ],
)
def test_every_statistic_refuses_numbers_whose_powers_are_no_floats(function, size):
    values = np.random.default_rng(0).random((20, 2)) - 0.25
    with pytest.raises(ComparisonError, match="to be squared; use a unit that gives"):
        function(values * size)
