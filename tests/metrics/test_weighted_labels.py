"""Metrics with weights of exposure: against slow loops over all orders, and the plain metrics."""

import itertools
import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import harness
from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.weights import by_popularity, weighted_error, weighted_ndcg

N_ITEMS = 6
RANKED = ("dcg", "idcg", "ndcg", "precision", "recall", "fbeta", "rbp", "ap", "rr", "hit")
ERRORS = ("rmse", "mae", "mse", "r2", "explained_variance")


@st.composite
def cases(draw):
    """Draw lists with ties and unranked held-out items, and what training had of the items."""
    n_users = draw(st.integers(1, 3))
    estimates = np.array(
        draw(st.lists(st.lists(st.integers(1, 3), min_size=N_ITEMS, max_size=N_ITEMS),
                      min_size=n_users, max_size=n_users)), dtype=float
    )  # fmt: skip
    judged = [sorted(draw(st.sets(st.integers(0, N_ITEMS - 1), max_size=4))) for _ in estimates]
    if not any(judged):
        judged[0] = [0]
    grades = [draw(st.lists(st.integers(0, 4), min_size=len(j), max_size=len(j))) for j in judged]
    unranked = [sorted(draw(st.sets(st.integers(0, N_ITEMS - 1), max_size=2))) for _ in estimates]
    counts = draw(st.lists(st.integers(0, 20), min_size=N_ITEMS, max_size=N_ITEMS))
    counts[0] = max(counts[0], 1)
    return estimates, judged, grades, unranked, counts


def columns(parts):
    """Return the offsets and the entries of ragged lists."""
    return [0, *np.cumsum([len(part) for part in parts])], list(itertools.chain(*parts))


def evidence(case):
    """Return a case as lists, pairs and training ratings."""
    estimates, judged, grades, unranked, counts = case
    offsets, items = columns(judged)
    _, ratings = columns(grades)
    lists = rankings.rank_block(estimates, offsets, items, ratings, *columns(unranked))
    owners = np.repeat(np.arange(len(judged)), np.diff(offsets))
    trained = np.repeat(np.arange(N_ITEMS), counts)
    exposure = Exposure(
        np.zeros(len(trained), int), trained, np.arange(len(judged)), N_ITEMS,
        judged=(owners, items, ratings),
    )  # fmt: skip
    return lists, Pairs(offsets, estimates[owners, items], ratings), exposure


def score(label, case):
    (scores,) = metrics.score([metrics.parse(label)], *evidence(case)).values()
    return scores


def weights_of(case, power, least):
    """Return the weight of each user's judged items by item, with a mean of 1 over all."""
    _, judged, _, _, counts = case
    raw = [
        {i: 1 / max((max(counts[i], 1) / max(counts)) ** power, least) for i in items}
        for items in judged
    ]
    n, total = sum(map(len, raw)), sum(sum(of.values()) for of in raw)
    return [{i: w * n / total for i, w in of.items()} for of in raw]


def best_order(gains, k):
    """Return the discounted gain where each (gain, weight) fills so many positions, in steps."""
    position, total = 0.0, 0.0
    for gain, weight in sorted(gains, reverse=True):
        left = weight
        while left > 1e-15 and position < k - 1e-15:
            step = min(left, math.floor(position + 1e-13) + 1 - position, k - position)
            total += gain * step / math.log2(math.floor(position + 1e-13) + 2)
            position, left = position + step, left - step
    return total


def of_order(name, order, w, grade, k):
    """Return the score of a list in one order of its items."""
    shown = [(w.get(i, 0.0), grade.get(i, 0), rank) for rank, i in enumerate(order, 1) if rank <= k]
    gained = sum(v * (2**g - 1) / math.log2(rank + 1) for v, g, rank in shown)
    ideal = best_order([(2**g - 1, w[i]) for i, g in grade.items()], k)
    found = sum(v for v, g, _ in shown if g > 0)
    relevant = sum(w[i] for i, g in grade.items() if g > 0)
    if name in ("dcg", "idcg"):
        return gained if name == "dcg" else ideal
    if name == "ndcg":
        return gained / ideal if ideal else math.nan
    if not relevant:
        return math.nan
    going_on, rr, above, ap = 1.0, 0.0, 0.0, 0.0
    for v, g, rank in shown:
        if g > 0:
            above += v
            ap += v * above / rank
            rr += going_on * min(v, 1.0) / rank
            going_on *= 1.0 - min(v, 1.0)
    return {
        "precision": found / k,
        "recall": found / relevant,
        "fbeta": 2 * found / (relevant + k),
        "rbp": sum(0.2 * 0.8 ** (rank - 1) * v for v, g, rank in shown if g > 0),
        "ap": ap / relevant,
        "rr": rr,
        "hit": 1.0 - going_on,
    }[name]


def slow(name, case, k, power=1.0, least=0.0):
    """Return each user's mean over all orders of equal estimates."""
    estimates, judged, grades, unranked, _ = case
    scores = []
    for user, w in enumerate(weights_of(case, power, least)):
        grade = dict(zip(judged[user], grades[user], strict=True))
        listed = [i for i in range(N_ITEMS) if i not in unranked[user]]
        groups = [
            [i for i in listed if estimates[user, i] == value]
            for value in sorted({*estimates[user, listed]}, reverse=True)
        ]
        orders = itertools.product(*map(itertools.permutations, groups))
        values = [of_order(name, [*itertools.chain(*o)], w, grade, k) for o in orders]
        scores.append(math.fsum(values) / len(values))
    return scores


@settings(max_examples=max(30, settings().max_examples), deadline=None)
@given(cases(), st.sampled_from(RANKED), st.integers(1, 7), st.sampled_from([1.0, 0.5, 2.0]))
def test_metrics_of_lists_are_the_mean_over_all_orders(case, name, k, power):
    label = f"{name}(weights=popularity, power={power})@{k}"
    expected = slow(name, case, k, power)
    found = score(label, case)
    np.testing.assert_allclose(found.per_user, expected, rtol=1e-12, atol=1e-12)
    assert found.n_undefined == np.isnan(expected).sum()
    defined = [value for value in expected if not math.isnan(value)]
    mean = np.mean(defined) if defined else math.nan
    assert found.mean == pytest.approx(mean, abs=1e-12, nan_ok=True)


@settings(max_examples=max(30, settings().max_examples), deadline=None)
@given(cases(), st.sampled_from([None, 0.3]))
def test_ndcg_is_that_of_the_function(case, least):
    lists, _, exposure = evidence(case)
    owners, items, ratings = exposure.judged
    ranks = np.full((lists.n_users, N_ITEMS), 10**6)
    ranks[np.repeat(np.arange(lists.n_users), np.diff(lists.offsets)), lists.items] = lists.rank
    clip = "" if least is None else f", least={least}"
    found = score(f"ndcg(ties=first, weights=popularity{clip})@4", case)
    if found.n_undefined == lists.n_users:
        return
    chances = by_popularity(exposure.popularity, items)
    of = weighted_ndcg(owners, ratings, ranks[owners, items], chances, 4, least=least)
    judging = np.unique(owners)
    np.testing.assert_allclose(found.per_user[judging], of.per_user, rtol=1e-12, atol=1e-12)
    assert found.mean == pytest.approx(of.value, abs=1e-12)
    worth = (of.n, of.effective, of.greatest, of.clipped)
    assert tuple(vars(found.worth).values()) == pytest.approx(worth)


@settings(max_examples=max(30, settings().max_examples), deadline=None)
@given(cases(), st.sampled_from(["rmse", "mae", "mse"]), st.sampled_from([1.0, 0.5]))
def test_errors_are_those_of_the_function_over_all_and_of_each_user(case, name, power):
    _, pairs, exposure = evidence(case)
    owners, items, _ = exposure.judged
    chances = by_popularity(exposure.popularity, items, power)
    found = score(f"{name}(weights=popularity, power={power})", case)
    of = weighted_error(pairs.estimates, pairs.ratings, chances, name)
    assert found.mean == pytest.approx(of.value, rel=1e-12)
    for user in range(pairs.n_users):
        rows = owners == user
        if rows.any():
            one = weighted_error(pairs.estimates[rows], pairs.ratings[rows], chances[rows], name)
            assert found.per_user[user] == pytest.approx(one.value, rel=1e-12)
        else:
            assert np.isnan(found.per_user[user])


def test_explained_shares_weigh_the_variance_too():
    case = (np.array([[1.0, 2, 3, 1, 2, 3]]), [[0, 1, 2]], [[1, 3, 4]], [[]], [4, 2, 1, 1, 1, 1])
    # Weights 1, 2, 4 over 7; ratings 1, 3, 4 against estimates 1, 2, 3; the mean is 23 / 7.
    spread = (1 * (1 - 23 / 7) ** 2 + 2 * (3 - 23 / 7) ** 2 + 4 * (4 - 23 / 7) ** 2) / 7
    assert score("r2(weights=popularity)", case).mean == pytest.approx(1 - (6 / 7) / spread)
    variance = 6 / 7 - (6 / 7) ** 2
    shown = score("explained_variance(weights=popularity)", case).mean
    assert shown == pytest.approx(1 - variance / spread)


@settings(max_examples=max(30, settings().max_examples), deadline=None)
@given(cases(), st.sampled_from(RANKED), st.integers(1, 7))
def test_with_equal_training_counts_lists_score_as_without_weights(case, name, k):
    even = (*case[:4], [3] * N_ITEMS)
    found, plain = score(f"{name}(weights=popularity)@{k}", even), score(f"{name}@{k}", even)
    np.testing.assert_allclose(found.per_user, plain.per_user, rtol=1e-12, atol=1e-12)
    assert (found.mean, found.n_undefined) == pytest.approx(
        (plain.mean, plain.n_undefined), abs=1e-12, nan_ok=True
    )
    assert (found.worth.effective, found.worth.greatest) == (found.worth.n, 1.0)


@settings(max_examples=max(30, settings().max_examples), deadline=None)
@given(cases(), st.sampled_from(ERRORS))
def test_with_equal_training_counts_errors_are_the_plain_ones(case, name):
    even = (*case[:4], [3] * N_ITEMS)
    found, plain = score(f"{name}(weights=popularity)", even), score(name, even)
    np.testing.assert_array_equal(found.per_user, plain.per_user)
    np.testing.assert_array_equal(found.mean, plain.mean)


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("ndcg(power=2)@5", "power is one of weights; add weights=popularity"),
        ("rmse(least=0.1)", "least is one of weights; add weights=popularity"),
        ("rmse(weights=popular)", "weights cannot be popular; did you mean 'popularity'?"),
        ("rmse(weights=popularity, power=0)", "power cannot be 0; use a number above 0"),
        ("rmse(weights=popularity, least=1)", "least cannot be 1; use none or a number above 0"),
        ("ndcg(weights=popularity, ties=best)@5", "ties=best has no weights; write ties=first"),
        ("ndcg(weights=popularity, gain=binary, ideal=full)@5", "ideal=full has no weights"),
        ("ap(weights=popularity, denominator=hits)@5", "denominator=hits has no weights"),
        ("rmse(weights=column, power=2)", "power is one of weights=popularity; leave one out"),
        ("auc(weights=popularity)", "auc has no parameter 'weights'"),
    ],
)
def test_labels_that_mean_nothing_are_refused(label, said):
    with pytest.raises(MetricError) as refused:
        metrics.parse(label)
    assert said in str(refused.value)


ONE = (np.array([[1.0, 2, 3, 1, 2, 3]]), [[0, 1]], [[1, 3]], [[]], [400, 1, 1, 1, 1, 1])


@pytest.mark.parametrize("label", ["ndcg(weights=popularity)@5", "rmse(weights=popularity)"])
def test_without_what_training_had_there_is_an_error(label):
    lists, pairs, exposure = evidence(ONE)
    wanted = [metrics.parse(label)]
    with pytest.raises(MetricError, match="needs training ratings"):
        metrics.score(wanted, lists, pairs)
    unjudged = Exposure(exposure.users, exposure.items, [0], N_ITEMS)
    with pytest.raises(MetricError, match="no held-out ratings; give it `judged`"):
        metrics.score(wanted, lists, pairs, unjudged)
    for wrong in (([0], [0], [1]), ([0, 0], [0, 1], [1, 2])):
        other = Exposure(exposure.users, exposure.items, [0], N_ITEMS, judged=wrong)
        with pytest.raises(MetricError, match="have different judged ratings"):
            metrics.score(wanted, lists, pairs, other)
    two = Exposure(exposure.users, exposure.items, [0, 0], N_ITEMS, judged=exposure.judged)
    with pytest.raises(MetricError, match="names 2 users, not 1"):
        metrics.score(wanted, lists, pairs, two)


def test_lists_without_item_codes_are_refused():
    _, _, exposure = evidence(ONE)
    unnamed = Rankings([0, 2], [1, 3], [1, 2], [1, 2], [1, 2], [6])
    with pytest.raises(MetricError, match="not known by name; give the lists `items`"):
        metrics.score(metrics.parse_many("hit(weights=popularity)@5"), unnamed, exposure=exposure)


def test_a_propensity_that_vanishes_is_an_error():
    with pytest.raises(MetricError, match=r"rmse\(.*: propensities: 0, the first of 1 outside"):
        score("rmse(weights=popularity, power=200)", ONE)


def test_a_few_ratings_that_decide_are_told():
    n = 40
    lists = Rankings([0, n], np.ones(n), *[range(1, n + 1)] * 3, [n], items=range(n))
    trained = [*np.repeat(np.arange(n - 1), 1000), n - 1]
    held_out = (np.zeros(n, int), range(n), np.ones(n))
    exposure = Exposure(np.zeros(len(trained), int), trained, [0], n, judged=held_out)
    of = metrics.parse_many(
        "recall(weights=popularity)@10, recall(weights=popularity, least=0.5)@10"
    )
    whole, raised = metrics.score(of, lists, exposure=exposure).values()
    assert whole.worth.is_small
    assert whole.worth.effective == pytest.approx((39 + 1000) ** 2 / (39 + 1000**2))
    assert raised.worth.clipped == pytest.approx(1 / 40)
    assert not raised.worth.is_small


def test_a_metric_of_ones_own_may_call_its_parameters_as_it_likes():
    @harness.metric("share of the first k ranks with a relevant item")
    def mine(lists, k, *, weights: Literal["even", "odd"] = "even", power=2.0, least=0.0):
        share = (lists.relevance(k) >= least).mean(axis=1)
        return share ** (power / 2) if weights == "even" else share

    lists = Rankings([0, 2], [3.0, 5.0], [1, 4], [1, 4], [1, 4], [5])
    assert mine(lists, 4, least=4).mean == 0.25
    assert mine(lists, 4, least=4, power=4.0).mean == 0.0625
    assert mine(lists, 4, least=4, weights="odd").mean == 0.25
