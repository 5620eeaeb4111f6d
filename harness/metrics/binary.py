"""Metrics of which of the first k items are relevant: precision, recall, R-precision, RBP, AUC.

Two of the first three items are relevant, at ranks 1 and 3, of six relevant ones:

>>> lists = Rankings([0, 2], [1, 1], [1, 3], [1, 3], [1, 3], [3], [0, 6], [1] * 6)
>>> precision(lists, 5).mean, round(precision(lists, 5, denominator="list").mean, 4)
(0.4, 0.6667)
>>> round(recall(lists, 3).mean, 4), round(recall(lists, 3, denominator="achievable").mean, 4)
(0.3333, 0.6667)
>>> round(fbeta(lists, 3).mean, 4)
0.4444
>>> r_precision(lists).mean   # two of the first six
0.3333333333333333
>>> rbp(lists, p=0.5).mean   # 0.5 * (1 + 0.25)
0.625
>>> auc(lists).mean   # of two pairs, one is in order
0.5
"""

from __future__ import annotations

import numpy as np

from harness.metrics.arrays import Floats, Ints, Rankings, sum_per_user
from harness.metrics.dcg import accumulate
from harness.metrics.definitions import EMPTY, UNDEFINED, Parameter, Params, metric
from harness.metrics.gain import THRESHOLD, count_relevant, relevant, relevant_from, where_relevant
from harness.metrics.ties import LISTS, TIES

PRECISION_DENOMINATOR = Parameter(
    "denominator",
    "k",
    "k, list, achievable",
    "what the hits are divided by: k, min(k, length of the list), or min(k, number relevant)",
)
RECALL_DENOMINATOR = Parameter(
    "denominator",
    "relevant",
    "relevant, achievable",
    "what the hits are divided by: number relevant, or min(k, number relevant)",
)
BETA = Parameter("beta", "1", "a number above 0", "weight of recall against precision")
PERSISTENCE = Parameter(
    "p",
    "0.8",
    "a number above 0 and below 1",
    "probability that the reader continues to the next item",
)
MANNING = "Manning, Raghavan and Schütze 2008, doi:10.1017/CBO9780511809071"


def needs_a_rank(params: Params, k: int | None) -> str:
    """Return what is wrong where hits are divided by a k that there is not."""
    if k is None and params["denominator"] == "k":
        return "there is no rank to divide by; write {label}@10 or another denominator"
    return ""


@metric(
    "hits@k / k",
    MANNING,
    parameters=(THRESHOLD, PRECISION_DENOMINATOR, *LISTS),
    synonyms=("p",),
    fault=needs_a_rank,
)
def precision(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Share of the first k that is relevant."""
    return expected_hits(lists, ks, params) / divisor(lists, ks, params)


@metric(
    "hits@k / |R|",
    MANNING,
    parameters=(THRESHOLD, RECALL_DENOMINATOR, *LISTS),
    synonyms=("r",),
)
def recall(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Share of the relevant items that is among the first k."""
    return expected_hits(lists, ks, params) / divisor(lists, ks, params)


@metric(
    "(1 + beta**2) * precision * recall / (beta**2 * precision + recall)",
    "van Rijsbergen 1979, Information Retrieval, chapter 7; " + MANNING,
    parameters=(BETA, THRESHOLD, PRECISION_DENOMINATOR, *LISTS),
    synonyms=("f1", "f"),
    fault=needs_a_rank,
)
def fbeta(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Weighted harmonic mean of precision and recall; F1 unless beta says otherwise.

    With h hits it is ``(1 + beta**2) * h / (beta**2 * n_relevant + k)``, linear in h, so that its
    expectation over ties is the formula at the expected hits.
    """
    weight = float(params["beta"]) ** 2
    whole = weight * count_relevant(lists, params) + divisor(lists, ks, params)
    return (1.0 + weight) * expected_hits(lists, ks, params) / whole


@metric(
    "hits@|R| / |R|",
    f"{MANNING}, section 8.4",
    parameters=(THRESHOLD, TIES, UNDEFINED, EMPTY),
    cut="none",
    synonyms=("rprec", "rp"),
)
def r_precision(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Precision at the rank that is the number of the user's relevant items.

    Of a tied group, each entry is among the first |R| with the share of the group's ranks that are.
    """
    n_relevant = count_relevant(lists, params)[:, 0]
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    above = np.nan_to_num(n_relevant)[owners] - lists.tie_low + 1
    inside = np.clip(above / (lists.tie_high - lists.tie_low + 1), 0.0, 1.0)
    hits = np.bincount(owners, relevant(lists, params) * inside, lists.n_users)
    return (hits / n_relevant)[:, np.newaxis]


@metric(
    "(1 - p) * sum over relevant ranks i <= k of p**(i - 1)",
    "Moffat and Zobel 2008, doi:10.1145/1416950.1416952",
    parameters=(PERSISTENCE, THRESHOLD, *LISTS),
)
def rbp(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Rank-biased precision: relevant items weighted by the probability that a reader who
    continues with probability p reaches them.
    """
    p = float(params["p"])
    hits = relevant(lists, params)
    scores = accumulate(lists, hits, lambda ranks: (1.0 - p) * p ** (ranks - 1.0), ks)
    return where_relevant(scores, lists, params)


@metric(
    "P(a relevant item is above one that is not) + P(equal estimates) / 2",
    "Hanley and McNeil 1982, doi:10.1148/radiology.143.1.7063747",
    parameters=(THRESHOLD, TIES, UNDEFINED),
    cut="none",
)
def auc(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Area under the ROC curve: share of relevant items above irrelevant ones, pair by pair.

    Relevant items that were not ranked do not count. nan where all or none of the ranked items are
    relevant.
    """
    hits = lists.relevance >= relevant_from(params)
    counts = sum_per_user(hits, lists.offsets)
    ranks = 0.5 * sum_per_user(hits * (lists.tie_low + lists.tie_high), lists.offsets)
    n_pairs = counts * (lists.n_ranked - counts)
    n_pairs[n_pairs == 0] = np.nan
    out_of_order = ranks - 0.5 * counts * (counts + 1)
    return (1.0 - out_of_order / n_pairs)[:, np.newaxis]


def expected_hits(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return how many of the first k are relevant, on average over the orders of ties."""
    return accumulate(lists, relevant(lists, params), np.ones_like, ks)


def divisor(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Return what `denominator` says, nan for users without a relevant item."""
    n_relevant = count_relevant(lists, params)
    listed = np.minimum(ks, np.maximum(lists.n_ranked, 1)[:, np.newaxis])
    found: dict[str, Floats | Ints] = {
        "k": ks,
        "list": listed,
        "relevant": n_relevant,
        "achievable": np.minimum(ks, n_relevant),
        "retrievable": np.minimum(listed, n_relevant),
    }
    return np.where(np.isnan(n_relevant), np.nan, found[params["denominator"]])
