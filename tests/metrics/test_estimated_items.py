"""Precision and recall of what is estimated at a threshold, as in the FAQ of Surprise."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness import metrics
from harness.metrics import Pairs, rating_error


def of_the_faq(rows, k, threshold):
    """What the FAQ says, for (user, rating, estimate) rows."""
    by_user = defaultdict(list)
    for user, rating, estimate in rows:
        by_user[user].append((estimate, rating))
    precisions, recalls = {}, {}
    for user, ratings in by_user.items():
        ordered = sorted(ratings, key=lambda pair: pair[0], reverse=True)
        n_relevant = sum(rating >= threshold for _, rating in ordered)
        n_recommended = sum(estimate >= threshold for estimate, _ in ordered[:k])
        n_both = sum(r >= threshold and e >= threshold for e, r in ordered[:k])
        precisions[user] = n_both / n_recommended if n_recommended else 0
        recalls[user] = n_both / n_relevant if n_relevant else 0
    return list(precisions.values()), list(recalls.values())


def scores(lists, k, threshold, **ties):
    flat = [pair for user in lists for pair in user]
    offsets = np.cumsum([0, *map(len, lists)])
    pairs = Pairs(offsets, [e for e, _ in flat], [r for _, r in flat])
    return [
        function(pairs, k, threshold=threshold, **ties)
        for function in (rating_error.estimated_precision, rating_error.estimated_recall)
    ]


VALUES = st.integers(2, 10).map(lambda n: n / 2)
LISTS = st.lists(
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(LISTS, st.integers(1, 7), VALUES)
def test_they_are_those_of_the_faq(lists, k, threshold):
    rows = [(u, r, e) for u, user in enumerate(lists) for e, r in user]
    expected = of_the_faq(rows, k, threshold)
    for found, values in zip(scores(lists, k, threshold, ties="first"), expected, strict=True):
        assert found.per_user.tolist() == pytest.approx(values)
        assert found.mean == pytest.approx(np.mean(values))
        assert found.n_undefined == 0


@given(
    LISTS.filter(lambda lists: len(lists) == 1 and len(lists[0]) <= 5), st.integers(1, 5), VALUES
)
def test_averaged_ties_are_the_mean_over_all_orders(lists, k, threshold):
    orders = [
        of_the_faq([(0, r, e) for e, r in o], k, threshold)
        for o in itertools.permutations(lists[0])
    ]
    for number, found in enumerate(scores(lists, k, threshold)):
        assert found.mean == pytest.approx(np.mean([order[number][0] for order in orders]))


def test_a_run_has_them_and_the_convention_too(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    label = "estimated_precision(threshold=3, ties=first)@5"
    run = harness.run(
        {
            "dataset": "synthetic",
            "algorithms": ["SVD", "ItemMean"],
            "metrics": [label, "estimated_recall@5", "precision(threshold=3)@5"],
            "baselines": False,
        },
        results=None,
    )
    assert run.table[label].between(0, 1).all()
    known = metrics.conventions()["surprise-faq"]
    assert str(known.metrics(5, 3)["precision"]) == label
