"""R-precision against its formula, in the mean over all orders of ties and under each rule."""

import metric_oracles as oracle
import pytest
from hypothesis import given, settings
from metric_oracles import cases, graded, lists_of, value

from harness import metrics, rankings


def r_precision(ranked, pool, threshold):
    n_relevant = oracle.hits(pool, len(pool), threshold)
    return oracle.hits(ranked, n_relevant, threshold) / n_relevant if n_relevant else oracle.NAN


@settings(max_examples=300, deadline=None)
@given(case=cases())
def test_average_ties_are_the_mean_over_all_orders(case):
    estimates, grades, pool = graded(case)
    expected = oracle.averaged(lambda ranked: r_precision(ranked, pool, 2), estimates, grades)
    found = value("r_precision(threshold=2)", lists_of(*case))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("rule", ["best", "worst"])
@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_the_best_and_the_worst_order_are_the_extremes_of_all(rule, case):
    estimates, grades, pool = graded(case)
    orders = [[grades[i] for i in order] for order in oracle.orders(estimates)]
    extreme = {"best": max, "worst": min}[rule](r_precision(order, pool, 2) for order in orders)
    found = value(f"r_precision(threshold=2, ties={rule})", lists_of(*case))
    assert found == pytest.approx(extreme, rel=1e-12, nan_ok=True)


def test_each_user_has_a_rank_of_their_own():
    users, estimates, ratings = [1, 1, 1, 2, 2, 2, 3], [3, 2, 1, 3, 2, 1, 1], [5, 1, 5, 1, 5, 1, 1]
    lists = rankings.from_pairs(users, estimates, ratings)
    metric = metrics.parse("r_precision(threshold=4)")
    scores = metrics.score([metric], lists)[metric]
    assert scores.per_user.tolist() == pytest.approx([0.5, 0.0, oracle.NAN], nan_ok=True)
    assert (scores.mean, scores.n_undefined) == (0.25, 1)
