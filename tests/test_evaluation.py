"""Scores, and the bounds between which they lie."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import metrics, rankings
from harness.evaluation import bounds, evaluate, tied_share

lists = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 5)), min_size=2, max_size=40
)


@given(lists)
def test_every_score_lies_between_zero_and_the_best_order(rows):
    users, estimates, ratings = zip(*rows, strict=True)
    ranked = rankings.from_pairs(users, estimates, ratings)
    wanted = metrics.parse_many("ndcg@3,dcg@3")
    limits = bounds(wanted, ranked)
    for metric, scores in metrics.score(wanted, ranked).items():
        assert scores.mean <= limits[str(metric)]["best"] + 1e-12
    assert limits["ndcg@3"]["best"] == pytest.approx(1.0)


def test_the_random_order_is_the_mean_over_all_orders():
    from itertools import permutations

    ratings = [5, 1, 3, 4]
    label = "ndcg(ties=first)@2"
    metric = metrics.parse(label)
    values = [
        metrics.score([metric], rankings.from_pairs([0] * 4, [4, 3, 2, 1], order))[metric].mean
        for order in permutations(ratings)
    ]
    limits = bounds([metric], rankings.from_pairs([0] * 4, [4, 3, 2, 1], ratings))
    assert limits[label]["random"] == pytest.approx(np.mean(values), abs=1e-12)


def test_metrics_of_pairs_have_no_bounds():
    ranked = rankings.from_pairs([0, 0], [1, 2], [1, 2])
    assert bounds(metrics.parse_many("rmse"), ranked) == {}


def test_users_who_are_not_evaluated_have_no_score():
    pairs, _ = rankings.group_pairs([0, 1, 1], [3.0, 2.0, 1.0], [4, 5, 1])
    ranked = rankings.from_pairs([1, 1], [2.0, 1.0], [5, 1])
    scores = evaluate(metrics.parse_many("ndcg@2,mae"), ranked, pairs, np.array([False, True]))
    assert math.isnan(scores.per_user["ndcg@2"][0])
    assert scores.per_user["ndcg@2"][1] == 1.0
    assert scores.means["ndcg@2"] == {"mean": 1.0, "n_undefined": 0}
    assert not np.isnan(scores.per_user["mae"]).any()


def test_only_ties_across_the_cut_count():
    ranked = rankings.from_pairs([0, 0, 0, 1, 1], [2, 1, 1, 2, 1], [5, 4, 3, 5, 4])
    assert tied_share(ranked, 2) == 0.5
    assert tied_share(ranked, 1) == tied_share(ranked, 3) == 0.0
