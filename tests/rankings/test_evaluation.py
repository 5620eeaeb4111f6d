"""Scores, and the bounds between which they lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import metrics, rankings
from harness.rankings.evaluation import bound_scores, tied_shares

lists = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 5)), min_size=2, max_size=40
)


@given(lists)
def test_no_score_exceeds_that_of_the_best_order(rows):
    users, estimates, ratings = zip(*rows, strict=True)
    ranked = rankings.from_pairs(users, estimates, ratings)
    wanted = metrics.parse_many("ndcg@3,dcg@3,rmse")
    limits = bound_scores(wanted, ranked)
    assert list(limits) == ["ndcg@3", "dcg@3"]  # metrics of pairs have no bounds
    for metric, scores in metrics.score(wanted[:2], ranked).items():
        assert scores.mean <= limits[str(metric)]["best"].mean + 1e-12
    assert limits["ndcg@3"]["best"].mean == pytest.approx(1.0)


def test_ties_count_where_they_decide_a_score():
    columns = [[0, 2, 5], [0, 1, 4], [0, 1, 3], [1, 2, 5], [1, 1, 4], [2, 1, 4], [2, 1, 4]]
    ranked = rankings.from_pairs(*np.array(columns, dtype=float).T)  # user 2: a tie of equals
    wanted = metrics.parse_many("ndcg@1, ndcg@2, ndcg@3, recall@2, recall(threshold=4)@2, rmse")
    found = tied_shares(wanted, ranked)
    third = pytest.approx(1 / 3)
    assert found == {
        "ndcg@1": 0.0,
        "ndcg@2": third,  # which of the two tied items is above the cut
        "ndcg@3": third,  # both are above it, and have two ranks
        "recall@2": 0.0,
        "recall(threshold=4)@2": third,
    }
