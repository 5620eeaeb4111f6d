"""Metrics of which items are recommended, whether they are relevant or not.

The lists are those of ``top_items``, in which a run puts items of equal estimate in an order that
depends on the ids of user and item alone (`harness.rankings.blocks`). The examples share two
lists, items 0, 1 and items 1, 2, of which item 1 is relevant to both users:

>>> lists = Rankings([0, 1, 2], [1, 1], [2, 1], [2, 1], [2, 1], [2, 2], top_items=[[0, 1], [1, 2]])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ints, Rankings, Ranks
from harness.metrics.coratings import cosine_sums
from harness.metrics.exposure import Exposure
from harness.metrics.grammar import Value
from harness.metrics.worth import relevant_from

__all__ = ["RECOMMENDED"]

Recommended = Callable[[dict[str, Value], Ints, Rankings, Exposure, str], Floats]
"""Takes parameters, ks, lists, training and a label; returns values of shape (n_users, n_k), or
(n_k,) for what has no value per user."""


def score_item_coverage(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return the share of the catalogue that is in the first k of any user.

    Examples
    --------
    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 0, 1, 1], [0, 1, 2, 3], [0])
    >>> score_item_coverage({}, np.array([1, 2]), lists, exposure, "item_coverage")
    array([0.25, 0.5 ])
    """
    shown = _shown(ks, rankings, exposure, label)
    return np.array([(counts > 0).mean() for counts in shown])


def score_gini(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return the Gini index of how often each item of the catalogue is shown.

    ``sum over j of (2 j - n - 1) x_j / (n sum x)`` with the counts x rising: 0 when all are shown
    equally often, near 1 when one is shown always.

    Examples
    --------
    Of four items, two are shown once:

    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 0, 1, 1], [0, 1, 2, 3], [0])
    >>> score_gini({}, np.array([2]), lists, exposure, "gini")   # (1 * 1 + 3 * 1) / (4 * 2)
    array([0.5])
    """
    values = []
    for counts in _shown(ks, rankings, exposure, label):
        n, total = len(counts), counts.sum()
        weights = 2.0 * np.arange(1, n + 1) - n - 1
        values.append((weights * np.sort(counts)).sum() / (n * total) if total else np.nan)
    return np.array(values)


def score_entropy(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return ``-sum p log2 p`` in bits, where p is an item's share of all that is shown.

    Examples
    --------
    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 0, 1, 1], [0, 1, 2, 3], [0])
    >>> score_entropy({}, np.array([2]), lists, exposure, "entropy")
    array([1.])
    """
    values = []
    for counts in _shown(ks, rankings, exposure, label):
        shares = counts[counts > 0] / max(1, counts.sum())
        values.append(-(shares * np.log2(shares)).sum() if len(shares) else np.nan)
    return np.array(values) + 0.0


def score_popularity(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return the mean number of training ratings of the first k items.

    Examples
    --------
    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 1, 1], [0, 0, 1], [0])
    >>> score_popularity({}, np.array([1, 2]), lists, exposure, "popularity")
    array([[2. , 1.5]])
    """
    return _means(exposure.popularity.astype(np.float64), ks, rankings, exposure, label)


def score_novelty(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return the mean self-information ``-log2(popularity / n)`` of the first k items, in bits.

    n counts the training users, or the training ratings with ``of=ratings``. An item without a
    training rating counts as having one.

    Examples
    --------
    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 1, 1], [0, 0, 1], [0])
    >>> score_novelty({"of": Value("users")}, np.array([1, 2]), lists, exposure, "novelty")
    array([[0. , 0.5]])
    """
    n = exposure.n_users if params["of"].word == "users" else len(exposure.users)
    information = np.log2(n) - np.log2(np.maximum(exposure.popularity, 1))
    return _means(information, ks, rankings, exposure, label)


def score_diversity(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return one minus the mean cosine of the pairs of items among the first k.

    ``cos(i, j) = n_ij / sqrt(n_i n_j)``, n_ij training users who rated both. nan for fewer than two
    items.

    Examples
    --------
    Of the two users who rated item 0, one rated item 1 too: the cosine is 1 / sqrt(2).

    >>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    >>> exposure = Exposure([0, 1, 1], [0, 0, 1], [0])
    >>> score_diversity({}, np.array([2]), lists, exposure, "diversity").round(4)
    array([[0.2929]])
    """
    top = _top(ks, rankings, exposure, label)
    within = cosine_sums(top, exposure).within
    sizes = np.cumsum(top >= 0, axis=1, dtype=np.float64)[:, _last(ks, top)]
    n_pairs = np.where(sizes > 1, sizes * (sizes - 1) / 2, np.nan)
    return 1.0 - np.cumsum(within, axis=1)[:, _last(ks, top)] / n_pairs


def score_serendipity(
    params: dict[str, Value], ks: Ints, rankings: Rankings, exposure: Exposure, label: str
) -> Floats:
    """Return the mean over the first k items of relevance times unexpectedness.

    Relevance is 0 or 1. An item is unexpected by one minus its mean cosine (see `score_diversity`)
    to the items that the user rated in training. nan without a list or without training ratings.

    Examples
    --------
    The user rated item 0, and item 1, which is relevant, has a cosine of 1 / sqrt(2) to it:

    >>> lists = Rankings([0, 1], [1], [1], [1], [1], [2], top_items=[[1, 2]])
    >>> exposure = Exposure([0, 1, 1, 2], [0, 0, 1, 2], [0])
    >>> params = {"threshold": Value("positive")}
    >>> score_serendipity(params, np.array([1, 2]), lists, exposure, "serendipity").round(4)
    array([[0.2929, 0.1464]])
    """
    top = _top(ks, rankings, exposure, label)
    sums = cosine_sums(top, exposure)
    history = np.where(sums.n_history > 0, sums.n_history, np.nan)[:, np.newaxis]
    relevant = _relevant(rankings, top, relevant_from(params), exposure)
    unexpected = np.where(relevant, 1.0 - sums.to_history / history, 0.0 * history)
    sizes = np.cumsum(top >= 0, axis=1, dtype=np.float64)[:, _last(ks, top)]
    sizes[sizes == 0] = np.nan
    return np.cumsum(unexpected, axis=1)[:, _last(ks, top)] / sizes


def _top(ks: Ints, rankings: Rankings, exposure: Exposure, label: str) -> Ranks:
    """Return the items of the first ranks, as many as the greatest k needs, -1 past the end.

    Raises
    ------
    MetricError
        If fewer items of a list are known than a metric needs, or an item has no code.
    """
    top, deepest = rankings.top_items, int(ks.max())
    depth = 0 if top is None else top.shape[1]
    if top is None or (depth < deepest and (rankings.n_ranked > depth).any()):
        raise MetricError(
            f"{label}@{deepest}: of each list only the first {depth} items are known by name; "
            f"make the rankings with a depth of {deepest}"
        )
    if len(exposure.list_users) != rankings.n_users:
        raise MetricError(
            f"{label}@{deepest}: {rankings.n_users} lists, but the exposure names "
            f"{len(exposure.list_users)} users; give one user for each list"
        )
    if int(top.max(initial=-1)) >= len(exposure.popularity):
        raise MetricError(
            f"{label}@{deepest}: item {top.max()} is recommended, but the exposure has codes "
            f"below {len(exposure.popularity)}; set its n_items"
        )
    return top[:, :deepest] if depth else np.full((rankings.n_users, 1), -1, dtype=np.int32)


def _last(ks: Ints, top: Ranks) -> Ints:
    """Return the last column that belongs to each k."""
    return np.minimum(ks, top.shape[1]) - 1


def _shown(ks: Ints, rankings: Rankings, exposure: Exposure, label: str) -> list[Ints]:
    """Count, for each k, how often each item of the catalogue is among the first k."""
    top = _top(ks, rankings, exposure, label)
    counts = (
        np.bincount(top[:, :k][top[:, :k] >= 0], minlength=len(exposure.popularity)) for k in ks
    )
    return [each[exposure.popularity > 0] for each in counts]


def _means(worth: Floats, ks: Ints, rankings: Rankings, exposure: Exposure, label: str) -> Floats:
    """Average a value of each item over the first k of each list."""
    top = _top(ks, rankings, exposure, label)
    sums = np.cumsum(np.where(top >= 0, worth[top], 0.0), axis=1)[:, _last(ks, top)]
    sizes = np.cumsum(top >= 0, axis=1, dtype=np.float64)[:, _last(ks, top)]
    sizes[sizes == 0] = np.nan
    return sums / sizes


def _relevant(rankings: Rankings, top: Ranks, threshold: float, exposure: Exposure) -> np.ndarray:
    """Return whether the item at each of the first ranks is relevant."""
    if exposure.judged is not None:
        lists, items, relevance = exposure.judged
        n_items = len(exposure.popularity)
        shown = np.arange(len(top))[:, np.newaxis] * n_items + top
        found = np.isin(shown, (lists * n_items + items)[relevance >= threshold])
        return found & (top >= 0)
    users = np.repeat(np.arange(rankings.n_users), np.diff(rankings.offsets))
    found = (rankings.relevance >= threshold) & (rankings.rank <= top.shape[1])
    relevant = np.zeros(top.shape, dtype=bool)
    relevant[users[found], rankings.rank[found] - 1] = True
    return relevant


RECOMMENDED: dict[str, Recommended] = {
    "item_coverage": score_item_coverage,
    "gini": score_gini,
    "entropy": score_entropy,
    "popularity": score_popularity,
    "novelty": score_novelty,
    "diversity": score_diversity,
    "serendipity": score_serendipity,
}
"""The function of each metric of recommended items."""
