"""Metrics beyond accuracy: which items are recommended, whether they are relevant or not.

The lists are those of ``top_items``, in which a run puts items of equal estimate in an order that
depends on the ids of user and item alone. In the examples one list shows items 0 and 1, of four:

>>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
>>> four = Exposure([0, 0, 1, 1], [0, 1, 2, 3], [0])

and two users have rated item 0, one of them item 1 too:

>>> two = Exposure([0, 1, 1], [0, 0, 1], [0])
>>> item_coverage(lists, 1, exposure=four).mean, item_coverage(lists, 2, exposure=four).mean
(0.25, 0.5)
>>> gini(lists, 2, exposure=four).mean   # (1 * 1 + 3 * 1) / (4 * 2)
0.5
>>> entropy(lists, 2, exposure=four).mean
1.0
>>> popularity(lists, 1, exposure=two).mean, popularity(lists, 2, exposure=two).mean
(2.0, 1.5)
>>> novelty(lists, 1, exposure=two).mean, novelty(lists, 2, exposure=two).mean
(0.0, 0.5)
>>> round(diversity(lists, 2, exposure=two).mean, 4)   # 1 - 1 / sqrt(2)
0.2929
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from harness.errors import MetricError
from harness.kernels import each_block, kernel
from harness.metrics.arrays import Exposure, Floats, Ints, Rankings, Ranks
from harness.metrics.labels import THRESHOLD, Parameter, Params, metric
from harness.metrics.ties import least_relevant

OF = Parameter(
    "of",
    "users",
    "users, ratings",
    "what an item's ratings are a share of: the training users, or the training ratings",
)

_of_items = partial(metric, needs="items", cut="required")
_of_all_lists = partial(_of_items, pooled=True, per_user=False)


@metric(
    "1 if the list has at least k items else 0",
    "user space coverage of Shani and Gunawardana 2011, doi:10.1007/978-0-387-85820-3_8",
    cut="required",
)
def user_coverage(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Share of the users whose list has at least k items.

    Examples
    --------
    >>> user_coverage(Rankings([0, 0, 0], [], [], [], [], [3, 0]), 1).mean
    0.5
    """
    return (lists.n_ranked[:, np.newaxis] >= ks).astype(np.float64)


@_of_all_lists(
    "|union of the first k of all lists| / |catalogue|",
    "Ge, Delgado-Battenfeld and Jannach 2010, doi:10.1145/1864708.1864761",
    synonyms=("coverage",),
)
def item_coverage(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Share of the items with a training rating that are in the first k of some list."""
    return np.array([(counts > 0).mean() for counts in _times_shown(lists, ks, exposure)])


@_of_all_lists(
    "sum over j of (2 j - n - 1) x_j / (n sum x), counts x rising",
    "Fleder and Hosanagar 2009, doi:10.1287/mnsc.1080.0974",
    higher_is_better=False,
)
def gini(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Gini index of how often items are shown: 0 if all equally often, near 1 if only a few."""
    values = []
    for counts in _times_shown(lists, ks, exposure):
        n, total = len(counts), counts.sum()
        weights = 2.0 * np.arange(1, n + 1) - n - 1
        values.append((weights * np.sort(counts)).sum() / (n * total) if total else np.nan)
    return np.array(values)


@_of_all_lists(
    "-sum p log2 p, p an item's share of all that is shown",
    "Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
    range=(0.0, math.inf),
)
def entropy(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Shannon entropy, in bits, of which items are shown."""
    values = []
    for counts in _times_shown(lists, ks, exposure):
        shares = counts[counts > 0] / max(1, counts.sum())
        values.append(-(shares * np.log2(shares)).sum() if len(shares) else np.nan)
    return np.array(values) + 0.0


@_of_items(
    "mean over i <= k of n_i",
    "Yin et al. 2012, doi:10.14778/2311906.2311916",
    range=(0.0, math.inf),
    higher_is_better=False,
)
def popularity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Average recommended popularity: mean number of training ratings of the first k."""
    top = _top(lists, ks, exposure)
    return _means(np.where(top >= 0, exposure.popularity[top], 0.0), top, ks)


@_of_items(
    "mean over i <= k of -log2(max(n_i, 1) / n_users)",
    "Zhou et al. 2010, doi:10.1073/pnas.1000488107; "
    "Vargas and Castells 2011, doi:10.1145/2043932.2043955",
    range=(0.0, math.inf),
    parameters=(OF,),
)
def novelty(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Mean self-information of the first k, in bits: rarely rated items have more.

    An item without a training rating counts as having one.
    """
    top = _top(lists, ks, exposure)
    n = exposure.n_users if params["of"] == "users" else len(exposure.users)
    information = np.log2(n) - np.log2(np.maximum(exposure.popularity, 1))
    return _means(np.where(top >= 0, information[top], 0.0), top, ks)


@_of_items(
    "1 - mean over pairs of n_ij / sqrt(n_i n_j)",
    "Ziegler et al. 2005, doi:10.1145/1060745.1060754; cosine of co-ratings from Zhang et al. "
    "2012, doi:10.1145/2124295.2124300",
    synonyms=("ild",),
)
def diversity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Intra-list diversity: mean dissimilarity of pairs of the first k, by the training users who
    rated both.

    nan for fewer than two items.
    """
    top = _top(lists, ks, exposure)
    sizes = _sums(top >= 0, ks)
    n_pairs = np.where(sizes > 1, sizes * (sizes - 1) / 2, np.nan)
    return 1.0 - _sums(_cosine_sums(top, exposure)[0], ks) / n_pairs


@_of_items(
    "mean over i <= k of [rel_i > 0] * (1 - mean over the user's training items j of "
    "n_ij / sqrt(n_i n_j))",
    "relevance times unexpectedness as user_serendipity of Microsoft's recommenders has it, "
    "where the mean cosine is the unserendipity of Zhang et al. 2012, "
    "doi:10.1145/2124295.2124300, who leave relevance out",
    parameters=(THRESHOLD,),
)
def serendipity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Relevant items among the first k that are unlike what the user rated in training.

    nan without a list or without training ratings.

    Examples
    --------
    The user rated item 0, and item 1, which is relevant, has a cosine of 1 / sqrt(2) to it:

    >>> lists = Rankings([0, 1], [1], [1], [1], [1], [2], top_items=[[1, 2]])
    >>> exposure = Exposure([0, 1, 1, 2], [0, 0, 1, 2], [0])
    >>> round(serendipity(lists, 1, exposure=exposure).mean, 4)
    0.2929
    """
    top = _top(lists, ks, exposure)
    _, to_history, n_history = _cosine_sums(top, exposure)
    history = np.where(n_history > 0, n_history, np.nan)[:, np.newaxis]
    relevant = _is_relevant(lists, top, least_relevant(params), exposure)
    return _means(np.where(relevant, 1.0 - to_history / history, 0.0 * history), top, ks)


def _top(lists: Rankings, ks: Ints, exposure: Exposure) -> Ranks:
    """Return the items of the first ranks, as many as the greatest k needs, -1 past the end."""
    top, deepest = lists.top_items, int(ks.max())
    depth = 0 if top is None else top.shape[1]
    if top is None or (depth < deepest and (lists.n_ranked > depth).any()):
        raise MetricError(
            f"of each list only the first {depth} items are known by name; "
            f"make the rankings with a depth of {deepest}"
        )
    if len(exposure.list_users) != lists.n_users:
        raise MetricError(
            f"{lists.n_users} lists, but the exposure names "
            f"{len(exposure.list_users)} users; give one user for each list"
        )
    if int(top.max(initial=-1)) >= len(exposure.popularity):
        raise MetricError(
            f"item {top.max()} is recommended, but the exposure has codes "
            f"below {len(exposure.popularity)}; set its n_items"
        )
    return top[:, :deepest] if depth else np.full((lists.n_users, 1), -1, dtype=np.int32)


def _times_shown(lists: Rankings, ks: Ints, exposure: Exposure) -> list[Ints]:
    """Count, for each k, how often each item of the catalogue is among the first k."""
    top = _top(lists, ks, exposure)
    counts = (
        np.bincount(top[:, :k][top[:, :k] >= 0], minlength=len(exposure.popularity)) for k in ks
    )
    return [each[exposure.popularity > 0] for each in counts]


def _sums(values: Floats | NDArray[np.bool_], ks: Ints) -> Floats:
    """Sum values by rank over the first k."""
    return np.cumsum(values, axis=1, dtype=np.float64)[:, np.minimum(ks, values.shape[1]) - 1]


def _means(values: Floats, top: Ranks, ks: Ints) -> Floats:
    """Average values by rank over the first k of each list."""
    sizes = _sums(top >= 0, ks)
    return _sums(values, ks) / np.where(sizes > 0, sizes, np.nan)


def _is_relevant(
    lists: Rankings, top: Ranks, threshold: float, exposure: Exposure
) -> NDArray[np.bool_]:
    """Return whether the item at each of the first ranks is relevant."""
    if exposure.judged is not None:
        owners, items, relevance = exposure.judged
        n_items = len(exposure.popularity)
        shown = np.arange(len(top))[:, np.newaxis] * n_items + top
        found = np.isin(shown, (owners * n_items + items)[relevance >= threshold])
        return found & (top >= 0)
    users = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    found = (lists.relevance >= threshold) & (lists.rank <= top.shape[1])
    relevant = np.zeros(top.shape, dtype=bool)
    relevant[users[found], lists.rank[found] - 1] = True
    return relevant


def _cosine_sums(top: Ranks, exposure: Exposure) -> tuple[Floats, Floats, Ints]:
    """Sum ``cos(i, j) = n_ij / sqrt(n_i n_j)`` of the item i at each rank of each list.

    Returns the sums over the items j at the ranks above and over those that the user rated in
    training, both of shape (n_users, depth), and how many the user rated.
    """
    from scipy.sparse import coo_array

    n_users = 1 + max(int(exposure.users.max()), int(exposure.list_users.max(initial=0)))
    given = np.ones(len(exposure.users), dtype=np.int32)
    by_user = coo_array(
        (given, (exposure.users, exposure.items)), shape=(n_users, len(exposure.popularity))
    ).tocsr()
    by_user.sum_duplicates()
    by_item = by_user.tocsc()
    scale = 1.0 / np.sqrt(np.maximum(np.diff(by_item.indptr), 1))
    ratings = (by_user.indptr, by_user.indices, by_item.indptr, by_item.indices, scale)
    # The places where each item is shown, item after item.
    flat = np.ascontiguousarray(top).ravel()
    places = np.argsort(flat, kind="stable")[(flat < 0).sum() :]
    shown, counts = np.unique(flat[places], return_counts=True)
    edges = np.concatenate(([0], np.cumsum(counts)))
    within, to_history = np.zeros(top.shape), np.zeros(top.shape)
    of_lists = (shown, edges, places, top, exposure.list_users)
    each_block(lambda a, b: _sum_cosines(ratings, of_lists, a, b, within, to_history), len(shown))
    lengths = np.append(np.diff(by_user.indptr), 0).astype(np.int64)  # the last for -1
    return within, to_history, lengths[exposure.list_users]


@kernel
def _sum_cosines(
    ratings: tuple[Ranks, Ranks, Ranks, Ranks, Floats],
    lists: tuple[Ranks, Ints, Ints, Ranks, Ranks],
    start: int,
    stop: int,
    within: Floats,
    to_history: Floats,
) -> None:
    """Count the ratings of all raters of an item once, and sum cosines wherever it is shown."""
    user_offsets, items, item_offsets, users, scale = ratings
    shown, edges, places, top, list_users = lists
    together = np.zeros(len(scale), dtype=np.int32)
    for index in range(start, stop):
        item = shown[index]
        together[:] = 0
        for i in range(item_offsets[item], item_offsets[item + 1]):
            for j in range(user_offsets[users[i]], user_offsets[users[i] + 1]):
                together[items[j]] += 1
        for place in places[edges[index] : edges[index + 1]]:
            user, rank = place // top.shape[1], place % top.shape[1]
            total = 0.0
            for above in range(rank):
                other = top[user, above]
                total += together[other] * scale[other]
            within[user, rank] = total * scale[item]
            if list_users[user] >= 0:
                total = 0.0
                for j in range(user_offsets[list_users[user]], user_offsets[list_users[user] + 1]):
                    total += together[items[j]] * scale[items[j]]
                to_history[user, rank] = total * scale[item]
