"""Every convention equals what its library returned, user by user, or is excluded by name."""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import number
from harness.reproduce import sources

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "data" / "golden_conventions.json").read_text(encoding="utf-8")
)
SINGLE_PRECISION = ("torchmetrics", "recbole")
NOBODY_RELEVANT = ("T4_all_zero_rel", "T4_all_negative", "T4_zero_sum")
LIKE_EMPTY = ("T2", *NOBODY_RELEVANT)
ALL_TIED = ("T4_ties", "T4_all_equal_est", "T4_all_equal_est_20")
BELOW_ONE = ("T1_grades0to4", "T4_ties", "T4_zeros", "T4_negative", "T4_negative_scores")

# What cannot be equal: convention, roles, cases, what the library did, why.
EXCLUDED = [
    ("sklearn", "ndcg dcg", ("T4_single",), "raises", "it takes no list of one item"),
    ("cornac", "ncrr", ("T2",), "differs", "its ideal stops at the length of the list"),
    ("cornac", "rr", NOBODY_RELEVANT, "raises", "no relevant item is an error"),
    ("lenskit", "ap", LIKE_EMPTY, "raises", "it divides by no relevant item"),
    ("implicit", "ndcg precision ap", LIKE_EMPTY, "raises", "it divides by no user"),
    ("trec_eval", None, ("T4_fractional",), "raises", "grades must be integers"),
    ("trec_eval", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("ranx", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("ranx-burges", None, ("T2",), "has no row", "a user nobody judged is unknown to it"),
    ("microsoft", "ndcg", (*BELOW_ONE, *NOBODY_RELEVANT), "differs", "a rating of 0 is relevant"),
    ("microsoft", None, NOBODY_RELEVANT, "differs", "the mean over no user is 0"),
    ("torchmetrics", "precision recall ap rr hit", ALL_TIED, "differs", "ties by unstable sort"),
    (
        "torchmetrics",
        "precision recall ap rr",
        ("T4_negative_scores",),
        "differs",
        "items with a score of 0 or less are left out",
    ),
]


@cache
def lists_of(case, by_falling_id):
    """Return a case's rankings; trec_eval wants equal scores by falling document id."""
    kind, users = GOLDEN["cases"][case]["kind"], GOLDEN["cases"][case]["users"]
    if kind == "graded":
        (user,) = users
        rows = list(zip(user["items"], user["est"], user["true"], strict=True))
        if by_falling_id:
            rows.sort(reverse=True)
        _, estimates, ratings = zip(*rows, strict=True)
        return rankings.from_pairs(np.zeros(len(rows), int), estimates, ratings)
    labels = [user["labels"] if kind == "binary" else user["rel"] for user in users]
    if kind == "mixed":
        labels = [{int(item): grade for item, grade in known.items()} for known in labels]
    return rankings.from_lists([user["preds"] for user in users], labels)


def label_of(convention, role, threshold, k):
    """Return the label of a role, or of a variant that is written out."""
    made = metrics.conventions()[convention].metrics(k=1, threshold=threshold)
    fill = {"t": "positive", "bt": ""}
    if threshold is not None:
        fill = {"t": number(threshold), "bt": f"({number(threshold)})"}
    label = str(made[role]).removesuffix("@1") if role in made else role.format(**fill)
    if k is not None:
        return f"{label}@{k}"
    if role in ("precision", "f1") and "denominator" not in label:
        return label.replace("(", "(denominator=list, ", 1)  # a whole list has its own length
    return label


def our_values(convention, role, case, threshold, k):
    """Return our scores, or an error for each user."""
    lists = lists_of(case, convention == "trec_eval")
    metric = metrics.parse(label_of(convention, role, threshold, k))
    try:
        return metrics.score([metric], lists)[metric].per_user.tolist()
    except MetricError:
        return ["error"] * lists.n_users


def differs(convention, ours, theirs):
    """Return how a library's value is unlike ours, or None."""
    if theirs == "error" or ours == "error":
        return None if ours == theirs else "raises"
    if theirs is None:
        return None if math.isnan(ours) else "has no row"
    tolerance = 1e-6 if convention in SINGLE_PRECISION else 1e-12
    return None if ours == pytest.approx(float(theirs), abs=tolerance, nan_ok=True) else "differs"


def compare(convention):
    """Yield every value of a convention with how it is unlike ours."""
    for row, role, case, threshold, by_k in GOLDEN["rows"]:
        if row != convention or case == "T4_duplicate_preds":
            continue
        for written, theirs in by_k.items():
            k = int(written) if written.isdigit() else None
            for ours, value in zip(our_values(row, role, case, threshold, k), theirs, strict=True):
                yield (role, case, threshold, k), differs(convention, ours, value), ours, value


def excluded_by_name(convention, role, case, how):
    """Return whether a difference is excluded by name."""
    return any(
        (name, what) == (convention, how)
        and (roles is None or role in roles.split())
        and case in cases
        for name, roles, cases, what, _ in EXCLUDED
    )


CONVENTIONS = list(dict.fromkeys(row[0] for row in GOLDEN["rows"]))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_convention_equals_its_library(convention):
    compared = 0
    for (role, case, threshold, k), how, ours, theirs in compare(convention):
        if how and excluded_by_name(convention, role, case, how):
            continue
        compared += 1
        assert not how, f"{role} of {case} at k={k}, threshold={threshold}: {ours}, not {theirs}"
    assert compared > 30


@pytest.mark.parametrize("excluded", EXCLUDED, ids=lambda each: f"{each[0]} {each[4]}")
def test_what_is_excluded_is_unlike_ours_indeed(excluded):
    convention, roles, cases, what, _ = excluded
    unlike = {
        case
        for (role, case, *_), how, *_ in compare(convention)
        if how == what and case in cases and (roles is None or role in roles.split())
    }
    assert unlike == set(cases)


@pytest.mark.parametrize(("convention", "role", "case", "threshold", "k", "mean"), GOLDEN["means"])
def test_the_mean_leaves_the_same_users_out(convention, role, case, threshold, k, mean):
    metric = metrics.parse(label_of(convention, role, threshold, k))
    assert metrics.score([metric], lists_of(case, False))[metric].mean == pytest.approx(mean)


def test_an_item_listed_twice_is_refused_where_libraries_count_it_twice():
    twice = {
        (convention, role): by_k["3"][0]
        for convention, role, case, _, by_k in GOLDEN["rows"]
        if case == "T4_duplicate_preds"
    }
    assert twice["mllib", "ndcg"] == pytest.approx(1.306574, abs=1e-6)
    assert twice["microsoft", "ndcg"] == pytest.approx(1.765361, abs=1e-6)
    with pytest.raises(MetricError, match="item 1 comes twice for user 0; keep one"):
        lists_of("T4_duplicate_preds", False)


def test_every_convention_was_compared_or_is_of_a_document():
    documents = set(metrics.conventions()) & set(sources()) - {"microsoft"}
    assert len(documents) == 5
    assert set(metrics.conventions()) - documents - {"elliot", "surprise-faq"} == set(CONVENTIONS)


def test_elliot_follows_its_published_formula():
    ratings = np.array([5.0, 3.5, 2.0, 4.0, 3.0, 1.0])
    lists = rankings.from_pairs(np.zeros(6, int), -np.arange(6.0), ratings)
    for threshold in (None, 3, 4):
        least = 0 if threshold is None else threshold
        gains = np.where(ratings >= least, 2 ** (ratings - least + 1) - 1, 0.0)
        for k in (1, 3, 6):
            discount = np.log(2) / np.log(np.arange(k) + 2)
            best = np.sort(gains)[::-1][:k] @ discount
            metric = metrics.conventions()["elliot"].metrics(k, threshold)["ndcg"]
            found = metrics.score([metric], lists)[metric].mean
            assert found == pytest.approx(gains[:k] @ discount / best, rel=1e-12)
