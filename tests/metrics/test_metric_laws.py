"""Laws that hold for every ranking metric, whatever the list."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness import metrics, rankings
from harness.metrics import dcg, ties

LABELS = """ndcg; ndcg(gain=linear); ndcg(gain=binary(3), ideal=retrieved); ndcg(discount=jarvelin)
dcg; idcg; precision(threshold=3); recall(threshold=3); recall(threshold=3, denominator=achievable)
fbeta(threshold=3); ap(threshold=3); ap(threshold=3, denominator=hits); rr(threshold=3)
hit(threshold=3); hitrate_ndcg(threshold=3); err; rbp(threshold=3)""".replace("\n", "; ").split(
    "; "
)
PERFECT = """ndcg; ndcg(gain=linear); ndcg(gain=binary(3)); ndcg(gain=binary(3), ideal=retrieved)
ndcg(discount=jarvelin, base=3); recall(threshold=3, denominator=achievable)
precision(threshold=3, denominator=achievable); ap(threshold=3, denominator=achievable)
rr(threshold=3); hit(threshold=3); hitrate_ndcg(threshold=3)""".replace("\n", "; ").split("; ")
K = 4
AT_K = [f"{label}@{K}" for label in LABELS]

ratings = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
estimates = st.sampled_from([1.0, 1.5, 2.0, 2.5, 3.0])


@st.composite
def rows(draw, least=1):
    """Draw users, estimates and ratings of several users in no order."""
    n = draw(st.integers(least, 40))
    kinds = (st.integers(0, 5), estimates, ratings)
    return tuple(np.array(draw(st.lists(each, min_size=n, max_size=n))) for each in kinds)


def per_user(labels, lists):
    """Return the scores of several labels, by label and user."""
    scores = metrics.score([metrics.parse(label) for label in labels], lists)
    return {
        str(metric): dict(zip(lists.users.tolist(), each.per_user.tolist(), strict=True))
        for metric, each in scores.items()
    }


def of_one(label, lists):
    return next(iter(per_user([label], lists).values()))


def assert_same(left, right):
    """Compare what `per_user` returned."""
    assert left.keys() == right.keys()
    for label, users in left.items():
        for user, value in users.items():
            expected = right[label][user]
            equal = value == expected or math.isclose(value, expected, rel_tol=1e-12)
            assert equal or (math.isnan(value) and math.isnan(expected)), (label, user)


def law(examples, *more, least=1):
    """Check a law for rows, and what else is drawn; for all of the examples in a search."""
    some = settings(max_examples=min(examples, 3 * settings().max_examples), deadline=None)
    return lambda test: some(given(rows(least=least), *more)(test))


@law(150)
def test_scores_stay_within_their_range(columns):
    lists = rankings.from_pairs(*columns)
    for rule in ("average", "first", "worst"):
        for label in LABELS:
            if label.startswith("idcg") and rule == "average":
                continue
            inside = label[:-1] + f", ties={rule})" if "(" in label else f"{label}(ties={rule})"
            metric = metrics.parse(f"{inside}@{K}")
            (scored,) = metrics.score([metric], lists).values()
            low, high = metric.range
            defined = scored.per_user[~np.isnan(scored.per_user)]
            assert (defined >= low).all(), metric
            assert (defined <= high * (1 + 1e-12)).all(), metric
            assert scored.n_undefined == len(scored.per_user) - len(defined)


@law(150)
def test_the_perfect_order_scores_one(columns):
    users, _, true = columns
    lists = rankings.from_pairs(users, true, true)
    for label, values in per_user([f"{label}@{K}" for label in PERFECT], lists).items():
        for value in values.values():
            assert math.isnan(value) or value == pytest.approx(1.0, rel=1e-12), label


@law(150, st.randoms(use_true_random=False))
def test_other_names_of_users_and_another_order_of_rows_change_no_score(columns, random):
    labels = [*AT_K, "auc(threshold=3)", "r_precision(threshold=3)"]
    order = list(range(len(columns[0])))
    random.shuffle(order)
    users, *rest = (column[order] for column in columns)
    renamed = per_user(labels, rankings.from_pairs([f"u{9 - user}" for user in users], *rest))
    for label, scores in per_user(labels, rankings.from_pairs(*columns)).items():
        own = {f"u{9 - user}": value for user, value in scores.items()}
        assert_same({label: own}, {label: renamed[label]})


@law(150, st.data())
def test_what_stands_below_k_does_not_count(columns, data):
    users, _, true = columns
    assume(np.bincount(users).max() > K)
    distinct = np.argsort(np.argsort(-true + np.arange(len(true)) * 1e-6)).astype(float)
    lists = rankings.from_pairs(users, -distinct[::-1], true)
    # Permute each user's relevances below k; the pool stays what it was.
    relevance = lists.relevance.copy()
    for user in range(lists.n_users):
        span = np.arange(lists.offsets[user], lists.offsets[user + 1])
        span = span[lists.rank[span] > K]
        relevance[span] = relevance[data.draw(st.permutations(span.tolist()))] if len(span) else []
    changed = dataclasses.replace(lists, relevance=relevance)
    assert_same(per_user(AT_K, lists), per_user(AT_K, changed))


@law(150)
def test_the_best_order_is_at_least_the_average_and_that_at_least_the_worst(columns):
    lists = rankings.from_pairs(*columns)
    for name in ("ndcg({})", "ndcg(gain=linear, {})", "ap(threshold=3, {})", "rr({})", "err({})"):
        best, average, worst, first, drawn = (
            of_one(name.format(f"ties={rule}") + f"@{K}", lists)
            for rule in ("best", "average", "worst", "first", "random(3)")
        )
        for user, value in average.items():
            for other in (value, first[user], drawn[user]):
                assert math.isnan(value) or (best[user] + 1e-12 >= other >= worst[user] - 1e-12)


@law(100)
def test_without_ties_every_rule_gives_the_same(columns):
    users, _, true = columns
    lists = rankings.from_pairs(users, np.arange(len(users)) * 0.5, true)
    for label in ("ndcg({})@4", "ap({})@4", "err({})@4", "rbp({})", "auc({})"):
        reference = {"": of_one(label.format("ties=first"), lists)}
        for rule in ("average", "last", "best", "worst", "random(9)"):
            assert_same(reference, {"": of_one(label.format(f"ties={rule}"), lists)})


@law(60)
def test_all_ranks_at_once_equal_each_rank_alone(columns):
    lists = rankings.from_pairs(*columns)
    for label in LABELS:
        cuts = [metrics.parse(f"{label}@{k}") for k in (7, 1, 3, 100)]
        together = metrics.score(cuts, lists)
        for metric in cuts:
            alone = metrics.score([metric], lists)[metric]
            np.testing.assert_array_equal(together[metric].per_user, alone.per_user)


@law(60)
def test_a_rank_beyond_the_list_is_the_whole_list(columns):
    lists = rankings.from_pairs(*columns)
    for label in ("ndcg", "dcg", "ap", "rr", "hit", "err", "rbp", "recall"):
        assert_same({"": of_one(label, lists)}, {"": of_one(f"{label}@9999", lists)})


@law(60, least=2)
def test_threads_and_blocks_change_nothing(columns):
    labels = [*AT_K, f"ndcg(ties=random)@{K}"]
    lists, found = rankings.from_pairs(*columns), []
    with pytest.MonkeyPatch.context() as patch:
        for threads, smallest in (("1", 2048), ("4", 1)):
            patch.setenv("HARNESS_THREADS", threads)
            for module in (dcg, ties):
                patch.setattr(module, "SMALLEST_BLOCK", smallest)
            found.append(per_user(labels, lists))
    assert_same(*found)
