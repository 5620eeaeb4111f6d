"""Comparisons over data sets: the worked examples of the papers, SciPy, and baycomp."""

import numpy as np
import pytest
from scipy import stats

from harness.errors import ComparisonError
from harness.statistics import compare_ranks
from harness.statistics.ranks import friedman, signed_rank_posterior

# Demsar 2006, table 6; the ranks of "voting", printed as .975 twice, show that the third is larger.
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
AUC = np.array(
    [
        *([0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569]),
        *([0.954, 0.971, 0.968, 0.967], [0.628, 0.661, 0.654, 0.657]),
        *([0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931]),
        *([0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625]),
        *([0.775, 0.838, 0.866, 0.875], [1.000, 1.000, 1.000, 1.000]),
        *([0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669]),
        *([0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970]),
    ]
)


def significant(found):
    pairs = found.pairs[found.pairs["significant"]]
    return {frozenset(pair) for pair in pairs[["first", "second"]].itertuples(index=False)}


def test_the_worked_example_of_demsar():
    found = compare_ranks(AUC, NAMES)
    assert found.algorithms["mean_rank"].round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.critical_difference, 2) == 1.25
    assert not significant(found)
    at_ten = compare_ranks(AUC, NAMES, level=0.1)
    assert round(at_ten.critical_difference, 2) == 1.12
    assert significant(at_ten) == {frozenset({"C4.5", "C4.5+m"}), frozenset({"C4.5", "C4.5+m+cf"})}
    assert at_ten.algorithms["letters"].tolist() == ["b", "a", "ab", "a"]
    p = found.pairs.set_index(["first", "second"])["p"].round(3)
    assert p["C4.5+m+cf", "C4.5"] == 0.016
    assert p["C4.5+m", "C4.5"] == 0.019
    # His chi-square and F are not corrected for ties, unlike SciPy's.
    n, k = AUC.shape
    ties = ((found.ranks**2).sum() - n * k * (k + 1) ** 2 / 4) / (n * k * (k**2 - 1) / 12)
    chi_square = found.friedman.chi_square * ties
    assert round(chi_square, 2) == 9.28
    assert round((n - 1) * chi_square / (n * (k - 1) - chi_square), 2) == 3.69


def test_holm_corrects_his_p_values_for_six_pairs():
    found = compare_ranks(AUC, NAMES, post_hoc="holm", level=0.1)
    z = np.array([3.143 - 1.964, 3.143 - 2.0, 2.893 - 1.964]) / np.sqrt(4 * 5 / (6 * 14))
    by_hand = 2 * stats.norm.sf(z) * [6, 5, 4]
    smallest = found.pairs.sort_values("p").head(3)
    np.testing.assert_allclose(smallest["p_adjusted"], by_hand, rtol=0.005)
    assert significant(found) == significant(compare_ranks(AUC, NAMES, level=0.1))


@pytest.mark.parametrize("k", [3, 5, pytest.param(14, marks=pytest.mark.long)])
def test_friedman_is_that_of_scipy_with_ties(k):
    scores = np.random.default_rng(k).integers(0, 4, (9, k)).astype(float)
    found = compare_ranks(scores, [str(i) for i in range(k)]).friedman
    expected = stats.friedmanchisquare(*scores.T)
    np.testing.assert_allclose(found[:2], [expected.statistic, expected.pvalue])
    turned = compare_ranks(-scores, [str(i) for i in range(k)], higher_is_better=False)
    assert turned.friedman == found


@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        (0.0, (0.00274, 0.0, 0.99726)),
        (0.01, (0.00038, 0.03256, 0.96706)),
        (0.02, (0, 0.53118, 0.46882)),
    ],
)
def test_the_signed_rank_posterior_is_that_of_baycomp(rope, expected):
    # baycomp 1.0.3: SignedRankTest.probs(AUC[:, 0], AUC[:, 3], rope, random_state=0)
    auc = np.round(AUC, 3)
    weights = np.random.RandomState(0).dirichlet([0.5, *[1] * 14], 50_000)
    found = signed_rank_posterior(auc[:, 0] - auc[:, 3], rope, weights)
    assert found == pytest.approx(expected, abs=1e-9)


def test_p_is_at_least_what_so_few_data_sets_can_give():
    for n in (2, 5, 6):
        found = compare_ranks([[2.0, 1.0]] * n, ["A", "B"])
        exact = stats.binomtest(n, n).pvalue  # the sign test
        assert found.pairs["p_adjusted"][0] == found.pairs["p"][0] == found.friedman.p == exact
        assert ("6 data sets or more can" in found.note) == (exact > 0.05)
    assert friedman(np.full((4, 3), 2.0)).p == 1
    equal = compare_ranks(np.ones((4, 2)), ["A", "B"]).algorithms
    assert equal[["mean_rank", "letters", "wins"]].to_numpy().tolist() == [[1.5, "a", 2.0]] * 2


@pytest.mark.parametrize(
    ("scores", "settings", "message"),
    [
        ([[1, 2]], {}, "1 data set; give two or more"),
        ([[1], [2]], {}, "scores of shape (2, 1) for 2 names"),
        ([[1, np.nan], [1, 2]], {}, "a score is missing or infinite"),
        ([[1, 2], [1, 2]], {"rope": -0.1}, "use 0 or more, such as 0.01"),
        ([[1, 2], [1, 2]], {"post_hoc": "tukey"}, "unknown post_hoc 'tukey'; use one of holm, nem"),
    ],
)
def test_bad_input_is_named(scores, settings, message):
    with pytest.raises(ComparisonError) as error:
        compare_ranks(scores, ["A", "B"], **settings)
    assert message in str(error.value)
