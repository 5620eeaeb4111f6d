"""Every ranking metric equals its formula, written out, in the mean over all orders of ties."""

import math
from functools import partial

import metric_oracles as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_oracles import CUTS, cases, graded, lists_of, value

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
STOPS = {
    "rr": lambda rank: 1 / rank,
    "hit": lambda rank: 1,
    "hitrate_ndcg": lambda rank: 1 / math.log2(rank + 1),
}


def of_list(gain, discount):
    return lambda ranked, pool, k: oracle.dcg(ranked, k, gain, discount)


def oracles():
    """Yield labels with a function of the ranked relevances, the pool and k."""
    for discount, divide in DISCOUNTS.items():
        for gain, made in GAINS.items():
            yield (
                f"ndcg(gain={gain}, {discount})",
                partial(oracle.ndcg, gain=made, discount=divide),
            )
            yield f"dcg(gain={gain}, {discount})", of_list(made, divide)
        for ideal in ("retrieved", "full"):
            found = partial(oracle.ndcg, gain=oracle.binary(2), discount=divide, ideal=ideal)
            yield f"ndcg(gain=binary(2), {discount}, ideal={ideal})", found
    for name, function, denominators in (
        ("precision", oracle.precision, "k list achievable"),
        ("recall", oracle.recall, "relevant achievable"),
        *(
            (f"fbeta {beta}", partial(oracle.fbeta, beta=beta), "k list achievable")
            for beta in (0.5, 1, 2)
        ),
        ("ap", oracle.average_precision, "relevant hits list achievable retrievable k"),
    ):
        name, _, beta = name.partition(" ")
        for by in denominators.split():
            inside = f"beta={beta}, " * bool(beta) + f"threshold=2, denominator={by}"
            yield f"{name}({inside})", partial(function, threshold=2, denominator=by)
    for name, form in STOPS.items():
        yield f"{name}(threshold=2)", partial(oracle.first_relevant, threshold=2, form=form)
    yield "err(max=4)", partial(oracle.expected_reciprocal_rank, most=4)
    rbp = partial(oracle.rank_biased_precision, threshold=2, p=0.6)
    yield "rbp(p=0.6, threshold=2)", rbp


# A few cases in every run of the tests, a tenth of a search's in a random one.
N_CASES = max(20, settings().max_examples // 10)

WHOLE = {
    "auc(threshold=2)": lambda ranked, pool, k: oracle.auc(ranked, 2),
    "r_precision(threshold=2)": lambda ranked, pool, k: oracle.r_precision(ranked, pool, 2),
}
ORACLES = dict(oracles()) | WHOLE


@pytest.mark.sample(10)
@pytest.mark.parametrize("label", ORACLES)
@settings(max_examples=N_CASES, deadline=None)
@given(case=cases())
def test_average_ties_are_the_mean_over_all_orders(label, case):
    estimates, grades, pool = graded(case)
    cuts = {None: label} if label in WHOLE else {k: f"{label}@{k}" for k in CUTS}
    scores = metrics.score(metrics.parse_many(cuts.values()), lists_of(*case))
    for k, (metric, scored) in zip(cuts, scores.items(), strict=True):
        expected = oracle.averaged(lambda r, k=k: ORACLES[label](r, pool, k), estimates, grades)
        found = scored.per_user[0]
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True), metric


IN_ORDER = {
    label: ORACLES[label]
    for label in (
        "ndcg(gain=linear, base=2)",
        "ndcg(gain=binary(2), base=2, ideal=retrieved)",
        "dcg(gain=exp2, base=2)",
        "precision(threshold=2, denominator=k)",
        "ap(threshold=2, denominator=hits)",
        "rr(threshold=2)",
        "err(max=4)",
        "rbp(p=0.6, threshold=2)",
    )
}
IN_ORDER["ndcg(gain=linear, ideal=retrieved)"] = partial(
    oracle.ndcg, gain=oracle.linear, ideal="retrieved"
)


# For the best and the worst order, test_every_order tries all orders.
@pytest.mark.sample(4)
@pytest.mark.parametrize("label", IN_ORDER)
@pytest.mark.parametrize(("rule", "sign"), [("first", 1), ("last", -1)])
@settings(max_examples=N_CASES, deadline=None)
@given(case=cases(most=12))
def test_ties_in_input_order_and_reversed_follow_the_formula(label, rule, sign, case):
    estimates, grades, pool = graded(case)
    order = sorted(range(len(grades)), key=lambda i: (-estimates[i], sign * i))
    for k in CUTS:
        got = value(f"{label[:-1]}, ties={rule})@{k}", lists_of(*case))
        expected = IN_ORDER[label]([grades[i] for i in order], pool, k)
        assert got == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


@settings(max_examples=100, deadline=None)
@given(case=cases(), seed=st.integers(0, 50))
def test_a_random_order_is_one_that_the_ties_allow(case, seed):
    estimates, grades, _ = graded(case)
    allowed = [oracle.dcg([grades[i] for i in order], 5) for order in oracle.orders(estimates)]
    got = value(f"dcg(ties=random({seed}))@5", lists_of(*case))
    assert any(got == pytest.approx(each, rel=1e-12) for each in allowed)


@pytest.mark.long
def test_random_orders_are_drawn_evenly():
    lists = lists_of([1.0] * 4, [3.0, None, 1.0, None])
    grades = [3.0, 0.0, 1.0, 0.0]
    orders = oracle.orders([1] * 4)
    counts = {round(oracle.dcg([grades[i] for i in order], 4), 9): 0 for order in orders}
    for seed in range(4000):
        counts[round(value(f"dcg(ties=random({seed}))", lists), 9)] += 1
    assert len(counts) == 12
    assert all(abs(count - 4000 / 12) < 5 * math.sqrt(4000 / 12) for count in counts.values())
