"""Laws that hold for every ranking metric, whatever the list."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness import metrics, rankings

LABELS = [
    "ndcg",
    "ndcg(gain=linear)",
    "ndcg(gain=binary(3), ideal=retrieved)",
    "ndcg(discount=jarvelin)",
    "dcg",
    "idcg",
    "precision(threshold=3)",
    "recall(threshold=3)",
    "recall(threshold=3, denominator=achievable)",
    "fbeta(threshold=3)",
    "ap(threshold=3)",
    "ap(threshold=3, denominator=hits)",
    "rr(threshold=3)",
    "hit(threshold=3)",
    "hitrate_ndcg(threshold=3)",
    "err",
    "rbp(threshold=3)",
]
PERFECT = [
    "ndcg",
    "ndcg(gain=linear)",
    "ndcg(gain=binary(3))",
    "ndcg(gain=binary(3), ideal=retrieved)",
    "ndcg(discount=jarvelin, base=3)",
    "recall(threshold=3, denominator=achievable)",
    "precision(threshold=3, denominator=achievable)",
    "ap(threshold=3, denominator=achievable)",
    "rr(threshold=3)",
    "hit(threshold=3)",
    "hitrate_ndcg(threshold=3)",
]
K = 4

ratings = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
estimates = st.sampled_from([1.0, 1.5, 2.0, 2.5, 3.0])


@st.composite
def rows(draw, least=1):
    """Draw users, estimates and ratings of several users in no order."""
    n = draw(st.integers(least, 40))
    users = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    columns = [draw(st.lists(each, min_size=n, max_size=n)) for each in (estimates, ratings)]
    return np.array(users), *map(np.array, columns)


def per_user(labels, lists):
    """Return the scores of several labels, by label and user."""
    scores = metrics.score([metrics.parse(label) for label in labels], lists)
    return {
        str(metric): dict(zip(lists.users.tolist(), each.per_user.tolist(), strict=True))
        for metric, each in scores.items()
    }


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-12)


def assert_same(left, right):
    assert left.keys() == right.keys()
    for label, users in left.items():
        for user, value in users.items():
            assert same(value, right[label][user]), (label, user)


@settings(max_examples=150, deadline=None)
@given(rows())
def test_scores_stay_within_their_range(columns):
    lists = rankings.from_pairs(*columns)
    for ties in ("average", "first", "worst"):
        for label in LABELS:
            if label.startswith("idcg") and ties == "average":
                continue
            inside = label[:-1] + f", ties={ties})" if "(" in label else f"{label}(ties={ties})"
            metric = metrics.parse(f"{inside}@{K}")
            (scored,) = metrics.score([metric], lists).values()
            low, high = metric.range
            defined = scored.per_user[~np.isnan(scored.per_user)]
            assert (defined >= low).all(), metric
            assert (defined <= high * (1 + 1e-12)).all(), metric
            assert scored.n_undefined == len(scored.per_user) - len(defined)


@settings(max_examples=150, deadline=None)
@given(rows())
def test_the_perfect_order_scores_one(columns):
    users, _, true = columns
    lists = rankings.from_pairs(users, true, true)
    for label, values in per_user([f"{label}@{K}" for label in PERFECT], lists).items():
        for value in values.values():
            assert math.isnan(value) or value == pytest.approx(1.0, rel=1e-12), label


@settings(max_examples=150, deadline=None)
@given(rows(), st.randoms(use_true_random=False))
def test_average_ties_are_blind_to_the_order_of_rows(columns, random):
    order = list(range(len(columns[0])))
    random.shuffle(order)
    labels = [f"{label}@{K}" for label in LABELS] + ["auc(threshold=3)"]
    shuffled = rankings.from_pairs(*(column[order] for column in columns))
    assert_same(per_user(labels, rankings.from_pairs(*columns)), per_user(labels, shuffled))


@settings(max_examples=100, deadline=None)
@given(rows())
def test_renaming_users_changes_no_score(columns):
    users, *rest = columns
    labels = [f"{label}@{K}" for label in LABELS]
    names = {user: f"u{9 - user}" for user in range(6)}
    renamed = rankings.from_pairs([names[user] for user in users.tolist()], *rest)
    left = per_user(labels, rankings.from_pairs(users, *rest))
    right = per_user(labels, renamed)
    assert_same(
        {
            label: {names[user]: value for user, value in each.items()}
            for label, each in left.items()
        },
        right,
    )


@settings(max_examples=150, deadline=None)
@given(rows(), st.data())
def test_what_stands_below_k_does_not_count(columns, data):
    users, _, true = columns
    assume(np.bincount(users).max() > K)
    distinct = np.argsort(np.argsort(-true + np.arange(len(true)) * 1e-6)).astype(float)
    lists = rankings.from_pairs(users, -distinct[::-1], true)
    below = lists.rank > K
    # Permute each user's relevances below k; the pool stays what it was.
    relevance = lists.relevance.copy()
    for user in range(lists.n_users):
        span = np.arange(lists.offsets[user], lists.offsets[user + 1])
        span = span[below[span]]
        relevance[span] = relevance[data.draw(st.permutations(span.tolist()))] if len(span) else []
    changed = dataclasses.replace(lists, relevance=relevance)
    labels = [f"{label}@{K}" for label in LABELS]
    assert_same(per_user(labels, lists), per_user(labels, changed))


@settings(max_examples=150, deadline=None)
@given(rows())
def test_the_best_order_is_at_least_the_average_and_that_at_least_the_worst(columns):
    lists = rankings.from_pairs(*columns)
    for name in ("ndcg({})", "ndcg(gain=linear, {})", "ap(threshold=3, {})", "rr({})", "err({})"):
        best, average, worst, first, drawn = (
            next(iter(per_user([name.format(f"ties={rule}") + f"@{K}"], lists).values()))
            for rule in ("best", "average", "worst", "first", "random(3)")
        )
        for user, value in average.items():
            if math.isnan(value):
                continue
            assert best[user] >= value - 1e-12
            assert value >= worst[user] - 1e-12
            for other in (first, drawn):
                assert best[user] + 1e-12 >= other[user] >= worst[user] - 1e-12


@settings(max_examples=100, deadline=None)
@given(rows())
def test_without_ties_every_rule_gives_the_same(columns):
    users, _, true = columns
    lists = rankings.from_pairs(users, np.arange(len(users)) * 0.5, true)
    for label in ("ndcg({})@4", "ap({})@4", "err({})@4", "rbp({})", "auc({})"):
        reference = next(iter(per_user([label.format("ties=first")], lists).values()))
        for rule in ("average", "last", "best", "worst", "random(9)"):
            other = next(iter(per_user([label.format(f"ties={rule}")], lists).values()))
            assert all(same(reference[user], other[user]) for user in reference)


@settings(max_examples=60, deadline=None)
@given(rows())
def test_all_ranks_at_once_equal_each_rank_alone(columns):
    lists = rankings.from_pairs(*columns)
    for label in LABELS:
        cuts = [metrics.parse(f"{label}@{k}") for k in (7, 1, 3, 100)]
        together = metrics.score(cuts, lists)
        for metric in cuts:
            alone = metrics.score([metric], lists)[metric]
            np.testing.assert_array_equal(together[metric].per_user, alone.per_user)


@settings(max_examples=60, deadline=None)
@given(rows())
def test_a_rank_beyond_the_list_is_the_whole_list(columns):
    lists = rankings.from_pairs(*columns)
    for label in ("ndcg", "dcg", "ap", "rr", "hit", "err", "rbp", "recall"):
        whole, beyond = per_user([label, f"{label}@9999"], lists).values()
        assert whole.keys() == beyond.keys()
        assert all(same(whole[user], beyond[user]) for user in whole)


@settings(max_examples=60, deadline=None)
@given(rows(least=2))
def test_threads_and_blocks_change_nothing(columns):
    with pytest.MonkeyPatch.context() as patch:
        found = []
        for threads in ("1", "4"):
            patch.setenv("HARNESS_THREADS", threads)
            found.append(
                per_user([f"{label}@{K}" for label in LABELS], rankings.from_pairs(*columns))
            )
    assert_same(*found)
