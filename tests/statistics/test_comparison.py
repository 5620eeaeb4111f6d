"""The whole comparison: tables, baseline, letters, undefined users and bad input."""

import time

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from harness.errors import ComparisonError
from harness.statistics import adjust, compare, effect_size, letters, randomisation

NAMES = ["SVD", "KNN", "NMF", "random"]


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    taste = rng.beta(2, 3, (300, 1))
    return taste + np.array([0.06, 0.05, 0.0, -0.3]) + rng.normal(0, 0.1, (300, 4))


def test_every_two_algorithms_stand_in_the_table_once(scores):
    found = compare(scores, NAMES, n_resamples=2000)
    pairs = found.pairs
    assert list(zip(pairs["first"], pairs["second"], strict=True)) == [
        ("SVD", "KNN"),
        ("SVD", "NMF"),
        ("SVD", "random"),
        ("KNN", "NMF"),
        ("KNN", "random"),
        ("NMF", "random"),
    ]
    differences = scores[:, [0, 0, 0, 1, 1, 2]] - scores[:, [1, 2, 3, 2, 3, 3]]
    np.testing.assert_allclose(pairs["difference"], differences.mean(axis=0))
    np.testing.assert_array_equal(pairs["effect_size"], effect_size(differences))
    np.testing.assert_array_equal(pairs["p"], randomisation(differences, 2000, 0))
    np.testing.assert_array_equal(pairs["p_adjusted"], adjust(pairs["p"], "holm"))
    assert ((pairs["low"] < pairs["difference"]) & (pairs["difference"] < pairs["high"])).all()


def test_letters_follow_the_means_and_the_corrected_tests(scores):
    found = compare(scores, NAMES, n_resamples=2000)
    assert found.algorithms["letters"].tolist() == ["a", "a", "b", "c"]
    turned = compare(scores, NAMES, n_resamples=2000, higher_is_better=False)
    assert turned.algorithms["letters"].tolist() == ["c", "c", "b", "a"]
    apart = np.zeros((4, 4), bool)
    for place, significant in zip(
        zip(*np.triu_indices(4, 1), strict=True), found.pairs["significant"], strict=True
    ):
        apart[place] = apart[place[::-1]] = significant
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
    assert compare(scores, NAMES, n_resamples=100).baseline is None


@pytest.mark.parametrize(("test", "theirs"), [("t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)])
def test_other_tests_are_scipys(scores, test, theirs):
    found = compare(scores, NAMES, test=test, n_resamples=100)
    expected = [
        theirs(scores[:, one], scores[:, other]).pvalue
        for one, other in zip(*np.triu_indices(4, 1), strict=True)
    ]
    np.testing.assert_allclose(found.pairs["p"], expected, rtol=0, atol=1e-12)


def test_users_without_a_score_are_left_out_pair_by_pair_and_counted(scores):
    scores[:10, 0] = np.nan
    scores[5:20, 1] = np.nan
    found = compare(scores, NAMES, n_resamples=500)
    assert found.algorithms["n_users"].tolist() == [290, 285, 300, 300]
    assert found.pairs["n_users"].tolist() == [280, 290, 290, 285, 285, 300]
    assert found.pairs["n_left_out"].tolist() == [20, 10, 10, 15, 15, 0]
    expected = (scores[20:, 0] - scores[20:, 1]).mean()
    assert found.pairs["difference"][0] == pytest.approx(expected, abs=1e-15)
    assert found.algorithms["mean"][0] == pytest.approx(scores[10:, 0].mean(), abs=1e-15)


def test_the_same_seed_gives_the_same_bits(scores):
    first, again = (compare(scores, NAMES, n_resamples=1000, seed=4) for _ in range(2))
    assert first.pairs.equals(again.pairs)
    assert first.algorithms.equals(again.algorithms)
    other = compare(scores, NAMES, n_resamples=1000, seed=5)
    assert not first.algorithms.equals(other.algorithms)


def test_the_number_of_threads_changes_no_bit(scores):
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(compare(scores, NAMES, n_resamples=1000))
    assert found[0].pairs.equals(found[1].pairs)
    assert found[0].algorithms.equals(found[1].algorithms)


def test_the_same_scores_twice_share_a_letter_and_have_no_effect(scores):
    scores[:, 1] = scores[:, 0]
    found = compare(scores, NAMES, n_resamples=500)
    assert found.pairs.loc[0, ["difference", "low", "high", "effect_size", "p"]].tolist() == [
        0.0,
        0.0,
        0.0,
        0.0,
        1.0,
    ]


def test_a_sentence_says_how_it_was_done(scores):
    assert compare(scores, NAMES, n_resamples=1000).describe() == (
        "Two-sided randomisation test (1,000 sign flips) over users with Holm's correction, level "
        "0.05; 95% intervals by BCa bootstrap over users (1,000 resamples). Algorithms that share "
        "a letter are not told apart."
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.ones((5, 1)), "names": ["A"]}, "1 algorithm to compare; name two or more"),
        ({"scores": np.ones((5, 3))}, r"scores of shape \(5, 3\) for 2 names; give a row"),
        ({"scores": np.ones(5)}, r"scores of shape \(5,\) for 2 names; give a row"),
        ({"names": ["A", "A"]}, "'A' stands there twice; rename one"),
        ({"scores": [[1, np.inf]]}, "a score is infinite; leave it out as NaN"),
        ({"scores": [[1, np.nan], [np.nan, 2]]}, "no user has a score from both 'A' and 'B'; lea"),
        ({"scores": np.ones((0, 2))}, "no user has a score from both 'A' and 'B'; leave one out"),
        ({"baseline": "a"}, "unknown baseline 'a'; did you mean 'A'"),
        ({"confidence": 95}, "confidence 95; use one such as 0.95"),
        ({"n_resamples": 0}, "0 resamples; use 10,000"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, message):
    given = {"scores": np.ones((5, 2)), "names": ["A", "B"], **change}
    with pytest.raises(ComparisonError, match=message):
        compare(given.pop("scores"), given.pop("names"), **given)


def test_ten_thousand_resamples_of_six_thousand_users_and_eleven_algorithms_take_seconds():
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, (6000, 1)) + rng.normal(0, 0.1, (6000, 11))
    start = time.perf_counter()
    compare(scores, [f"algorithm {number}" for number in range(11)], baseline="algorithm 0")
    assert time.perf_counter() - start < 20  # one to two on an idle core
