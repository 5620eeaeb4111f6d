"""dcg, idcg and ndcg against their formulas, written out."""

import math

import metric_oracles as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import metrics, rankings

ESTIMATES = [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5]
RATINGS = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]


def value(label, lists):
    (scores,) = metrics.score([metrics.parse(label)], lists).values()
    return scores.per_user[0]


@pytest.mark.parametrize(
    ("label", "published"),
    [
        ("idcg@10", 89.3986129310978),
        ("idcg@5", 78.3217628403342),
        ("dcg(ties=first)@10", 85.98764063423907),
        ("dcg(ties=first)@5", 75.11771171236516),
        ("ndcg(ties=first)@10", 0.9618453554812123),
        ("ndcg(ties=first)@5", 0.9590911770652969),
    ],
)
def test_the_worked_example_comes_out_as_printed(label, published):
    lists = rankings.from_pairs(np.zeros(10, int), ESTIMATES, RATINGS)
    assert value(label, lists) == pytest.approx(published, rel=1e-14)


def test_a_perfect_list_shorter_than_k_scores_one():
    lists = rankings.from_pairs([0, 0, 0], [0.5, 3.5, 4.5], [1, 3, 5])
    assert value("ndcg@10", lists) == 1.0


@st.composite
def judged_lists(draw, most=7):
    """One user's estimates, relevances (None where nobody judged) and items never ranked."""
    n = draw(st.integers(0, most))
    estimates = draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=n, max_size=n))
    grades = st.one_of(st.none(), st.integers(0, 4).map(float))
    relevance = draw(st.lists(grades, min_size=n, max_size=n))
    missed = draw(st.lists(st.integers(0, 4).map(float), max_size=3))
    return estimates, relevance, missed


def lists_of(estimates, relevance, missed):
    judged = [i for i, grade in enumerate(relevance) if grade is not None]
    return rankings.rank_block(
        np.array([estimates]).reshape(1, -1),
        [0, len(judged) + len(missed)],
        judged + [-1] * len(missed),
        [relevance[i] for i in judged] + missed,
    )


GAINS = {
    "exp2": oracle.exp2,
    "linear": oracle.linear,
    "binary": oracle.binary(),
    "binary(3)": oracle.binary(3),
    "table(0, 1, 1, 2.5, 9)": lambda rel: [0, 1, 1, 2.5, 9][int(rel)],
}
DISCOUNTS = {
    ("log", "2"): oracle.log2_discount,
    ("log", "e"): lambda rank: math.log(rank + 1),
    ("jarvelin", "2"): oracle.jarvelin_discount(2),
    ("jarvelin", "3"): oracle.jarvelin_discount(3),
    ("reciprocal", "2"): lambda rank: rank,
    ("none", "2"): lambda rank: 1.0,
}


@settings(max_examples=400, deadline=None)
@given(
    case=judged_lists(),
    k=st.integers(1, 9),
    gain=st.sampled_from(sorted(GAINS)),
    discount=st.sampled_from(sorted(DISCOUNTS)),
    ideal=st.sampled_from(["judged", "retrieved", "full"]),
)
def test_average_ties_are_the_mean_over_all_orders(case, k, gain, discount, ideal):
    estimates, relevance, missed = case
    if ideal != "judged":
        gain = "binary(3)"
    lists = lists_of(*case)
    grades = [grade or 0.0 for grade in relevance]
    pool = [grade for grade in relevance if grade is not None] + missed
    inside = f"gain={gain}, base={discount[1]}, discount={discount[0]}"
    forms = {"gain": GAINS[gain], "discount": DISCOUNTS[discount]}
    expected = oracle.averaged(lambda ranked: oracle.dcg(ranked, k, **forms), estimates, grades)
    assert value(f"dcg({inside})@{k}", lists) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    expected = oracle.averaged(
        lambda ranked: oracle.ndcg(ranked, pool, k, ideal=ideal, **forms), estimates, grades
    )
    got = value(f"ndcg({inside}, ideal={ideal})@{k}", lists)
    assert got == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)
