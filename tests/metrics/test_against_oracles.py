"""Every ranking metric equals its formula, written out, in the mean over all orders of ties."""

import math

import metric_oracles as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_cases import cases, lists_of, value

from harness import metrics

GAINS = {
    "exp2": oracle.exp2,
    "linear": oracle.linear,
    "binary": oracle.binary(),
    "binary(3)": oracle.binary(3),
    "table(0, 1, 1, 2.5, 9)": lambda rel: [0, 1, 1, 2.5, 9][int(rel)],
}
DISCOUNTS = {
    "base=2": oracle.log2_discount,
    "base=e": lambda rank: math.log(rank + 1),
    "discount=jarvelin": oracle.jarvelin_discount(2),
    "base=3, discount=jarvelin": oracle.jarvelin_discount(3),
    "discount=reciprocal": lambda rank: rank,
    "discount=none": lambda rank: 1.0,
}


def ndcg_oracle(gain, discount, ideal):
    return lambda ranked, pool, k: oracle.ndcg(
        ranked, pool, k, GAINS[gain], DISCOUNTS[discount], ideal
    )


ORACLES = {
    f"ndcg(gain={gain}, {discount})": ndcg_oracle(gain, discount, "judged")
    for gain in GAINS
    for discount in DISCOUNTS
}
ORACLES |= {
    f"ndcg(gain=binary(2), {discount}, ideal={ideal})": (
        lambda ranked, pool, k, d=discount, i=ideal: oracle.ndcg(
            ranked, pool, k, oracle.binary(2), DISCOUNTS[d], i
        )
    )
    for discount in DISCOUNTS
    for ideal in ("retrieved", "full")
}
ORACLES |= {
    f"dcg(gain={gain}, {discount})": (
        lambda ranked, pool, k, g=gain, d=discount: oracle.dcg(ranked, k, GAINS[g], DISCOUNTS[d])
    )
    for gain in GAINS
    for discount in DISCOUNTS
}
ORACLES |= {
    f"precision(threshold=2, denominator={by})": (
        lambda ranked, pool, k, by=by: oracle.precision(ranked, pool, k, 2, by)
    )
    for by in ("k", "list", "achievable")
}
ORACLES |= {
    f"recall(threshold=2, denominator={by})": (
        lambda ranked, pool, k, by=by: oracle.recall(ranked, pool, k, 2, by)
    )
    for by in ("relevant", "achievable")
}
ORACLES |= {
    f"fbeta(beta={beta}, threshold=2, denominator={by})": (
        lambda ranked, pool, k, beta=beta, by=by: oracle.fbeta(ranked, pool, k, 2, beta, by)
    )
    for beta in (0.5, 1, 2)
    for by in ("k", "list", "achievable")
}
ORACLES |= {
    f"ap(threshold=2, denominator={by})": (
        lambda ranked, pool, k, by=by: oracle.average_precision(ranked, pool, k, 2, by)
    )
    for by in ("relevant", "hits", "list", "achievable", "retrievable", "k")
}
ORACLES |= {
    f"{name}(threshold=2)": (
        lambda ranked, pool, k, form=form: oracle.first_relevant(ranked, pool, k, 2, form)
    )
    for name, form in {
        "rr": lambda rank: 1 / rank,
        "hit": lambda rank: 1,
        "hitrate_ndcg": lambda rank: 1 / math.log2(rank + 1),
    }.items()
}
ORACLES |= {
    "err(max=4)": lambda ranked, pool, k: oracle.expected_reciprocal_rank(ranked, pool, k, 4),
    "rbp(p=0.6, threshold=2)": lambda ranked, pool, k: oracle.rank_biased_precision(
        ranked, pool, k, 2, 0.6
    ),
}
CUTS = (1, 2, 3, 5, 9)


@pytest.mark.parametrize("label", ORACLES)
@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_average_ties_are_the_mean_over_all_orders(label, case):
    estimates, relevance, missed = case
    grades = [grade or 0.0 for grade in relevance]
    pool = [grade for grade in relevance if grade is not None] + missed
    scores = metrics.score([metrics.parse(f"{label}@{k}") for k in CUTS], lists_of(*case))
    for k, (metric, scored) in zip(CUTS, scores.items(), strict=True):
        expected = oracle.averaged(lambda r, k=k: ORACLES[label](r, pool, k), estimates, grades)
        assert scored.per_user[0] == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True), (
            metric
        )


@settings(max_examples=300, deadline=None)
@given(case=cases())
def test_auc_with_average_ties_is_the_mean_over_all_orders(case):
    estimates, relevance, _ = case
    grades = [grade or 0.0 for grade in relevance]
    expected = oracle.averaged(lambda ranked: oracle.auc(ranked, 2), estimates, grades)
    got = value("auc(threshold=2)", lists_of(*case))
    assert got == pytest.approx(expected, rel=1e-12, nan_ok=True)


def settled_orders(estimates, grades):
    """Return the order that each rule makes of the ties, as lists of grades."""
    by = {
        "first": lambda i: i,
        "last": lambda i: -i,
        "best": lambda i: -grades[i],
        "worst": lambda i: grades[i],
    }
    return {
        rule: [grades[i] for i in sorted(range(len(grades)), key=lambda i: (-estimates[i], key(i)))]
        for rule, key in by.items()
    }


# Where the cut decides which order is best or worst, test_every_order tries all orders.
@pytest.mark.parametrize(
    ("label", "rule"),
    [
        (label, rule)
        for label, rules in {
            "ndcg(gain=linear, {})": ["first", "last", "best", "worst"],
            "ndcg(gain=binary(2), ideal=retrieved, {})": ["first", "last"],
            "dcg({})": ["first", "last", "best", "worst"],
            "precision(threshold=2, {})": ["first", "last", "best", "worst"],
            "ap(threshold=2, denominator=hits, {})": ["first", "last"],
            "rr(threshold=2, {})": ["first", "last", "best", "worst"],
            "err(max=4, {})": ["first", "last", "best", "worst"],
            "rbp(p=0.6, threshold=2, {})": ["first", "last", "best", "worst"],
        }.items()
        for rule in rules
    ],
)
@settings(max_examples=60, deadline=None)
@given(case=cases(most=12))
def test_a_rule_for_ties_is_the_formula_on_the_order_it_makes(label, rule, case):
    estimates, relevance, missed = case
    grades = [grade or 0.0 for grade in relevance]
    pool = [grade for grade in relevance if grade is not None] + missed
    ranked = settled_orders(estimates, grades)[rule]
    ideal = "retrieved" if "retrieved" in label else "judged"
    formulas = {
        "ndcg(gain=linear": lambda k: oracle.ndcg(ranked, pool, k, oracle.linear),
        "ndcg(gain=binary": lambda k: oracle.ndcg(ranked, pool, k, oracle.binary(2), ideal=ideal),
        "dcg": lambda k: oracle.dcg(ranked, k),
        "precision": lambda k: oracle.precision(ranked, pool, k, 2),
        "ap": lambda k: oracle.average_precision(ranked, pool, k, 2, "hits"),
        "rr": lambda k: oracle.first_relevant(ranked, pool, k, 2, lambda rank: 1 / rank),
        "err": lambda k: oracle.expected_reciprocal_rank(ranked, pool, k, 4),
        "rbp": lambda k: oracle.rank_biased_precision(ranked, pool, k, 2, 0.6),
    }
    formula = next(f for start, f in formulas.items() if label.startswith(start))
    for k in CUTS:
        got = value(label.format(f"ties={rule}") + f"@{k}", lists_of(*case))
        assert got == pytest.approx(formula(k), rel=1e-12, abs=1e-15, nan_ok=True)


@settings(max_examples=100, deadline=None)
@given(case=cases(), seed=st.integers(0, 50))
def test_a_random_order_is_one_that_the_ties_allow(case, seed):
    estimates, relevance, _ = case
    grades = [grade or 0.0 for grade in relevance]
    allowed = [oracle.dcg([grades[i] for i in order], 5) for order in oracle.orders(estimates)]
    got = value(f"dcg(ties=random({seed}))@5", lists_of(*case))
    assert any(got == pytest.approx(each, rel=1e-12) for each in allowed)


def test_random_orders_are_drawn_evenly():
    lists = lists_of([1.0] * 4, [3.0, None, 1.0, None])
    drawn = [value(f"dcg(ties=random({seed}))", lists) for seed in range(4000)]
    grades = [3.0, 0.0, 1.0, 0.0]
    values = {
        round(oracle.dcg([grades[i] for i in order], 4), 9) for order in oracle.orders([1] * 4)
    }
    counts = dict.fromkeys(values, 0)
    for each in drawn:
        counts[round(each, 9)] += 1
    assert len(counts) == 12
    assert all(abs(count - 4000 / 12) < 5 * math.sqrt(4000 / 12) for count in counts.values())
