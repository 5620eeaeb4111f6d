"""Metrics beyond accuracy: which items are recommended, whether they are relevant or not.

The lists are ``top_items``, in which a run puts items of equal estimate in an order that depends
only on the ids of user and item. In the examples one list shows items 0 and 1, of four:

>>> lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
>>> four = Exposure([0, 0, 1, 1], [0, 1, 2, 3], [0])

and two users have rated item 0, one of them item 1 too:

>>> two = Exposure([0, 1, 1], [0, 0, 1], [0])
>>> item_coverage(lists, 1, exposure=four).mean, item_coverage(lists, 2, exposure=four).mean
(0.25, 0.5)
>>> distinct_items(lists, 2, exposure=four).mean
2.0
>>> gini(lists, 2, exposure=four).mean   # (1 * 1 + 3 * 1) / (4 * 2)
0.5
>>> entropy(lists, 2, exposure=four).mean
1.0
>>> popularity(lists, 1, exposure=two).mean, popularity(lists, 2, exposure=two).mean
(2.0, 1.5)
>>> novelty(lists, 1, exposure=two).mean, novelty(lists, 2, exposure=two).mean
(0.0, 0.5)
>>> popularity_rank(lists, 1, exposure=two).mean, popularity_rank(lists, 2, exposure=two).mean
(1.0, 1.5)
>>> aplt(lists, 2, exposure=two, head=0.5).mean   # item 0 is the head
0.5
>>> poplift(lists, 2, exposure=two).mean   # the lists have 1.5 ratings an item, the profile 2
-0.25
>>> round(diversity(lists, 2, exposure=two).mean, 4)   # 1 - 1 / sqrt(2)
0.2929

Beside a list of only item 0, a mean over users is another than one over all that is shown:

>>> both = Rankings([0, 0, 0], [], [], [], [], [2, 1], top_items=[[0, 1], [0, -1]])
>>> three = Exposure([0, 1, 1], [0, 0, 1], [0, 1])
>>> popularity(both, 2, exposure=three).mean   # ((2 + 1) / 2 + 2 / 1) / 2
1.75
>>> round(popularity(both, 2, exposure=three, average="pooled").mean, 4)   # (2 + 1 + 2) / 3
1.6667

Now item 0 is a comedy, item 1 a comedy and a crime film; the user has rated only item 0:

>>> films = Exposure([0, 1, 1], [0, 0, 1], [0], genres=[[1, 0], [1, 1]])
>>> round(genre_diversity(lists, 2, exposure=films).mean, 4)   # 1 - 1 / sqrt(1 * 2)
0.2929
>>> round(calibration(lists, 2, exposure=films).mean, 4)   # log(1 / (0.99 * 0.75 + 0.01 * 1))
0.2844
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness._util.kernels import each_block, kernel
from harness._util.libraries import scipy
from harness.errors import MetricError, counted
from harness.metrics.arrays import Bools, Floats, Ints, Rankings, Ranks
from harness.metrics.definition import metric
from harness.metrics.exposure import Exposure
from harness.metrics.parameters import SHARE, THRESHOLD, Parameter, Params, least_relevant, words


def top_items(lists: Rankings, ks: Ints, exposure: Exposure | None) -> Ranks:
    """Return the items of the first ranks, as many as the greatest k needs, -1 past the end."""
    top, deepest = lists.top_items, int(ks.max())
    depth = 0 if top is None else top.shape[1]
    if top is None or (depth < deepest and (lists.n_ranked > depth).any()):
        raise MetricError(
            f"of each list only the first {depth} items are known by name; "
            f"make the rankings with a depth of {deepest}"
        )
    if exposure is not None and len(exposure.list_users) != lists.n_users:
        raise MetricError(
            f"{counted(lists.n_users, 'list')}, but the exposure names "
            f"{counted(len(exposure.list_users), 'user')}; give one user for each list"
        )
    if exposure is not None and int(top.max(initial=-1)) >= len(exposure.popularity):
        raise MetricError(
            f"item {top.max()} is recommended, but the exposure has codes "
            f"below {len(exposure.popularity)}; set its n_items"
        )
    return top[:, :deepest] if depth else np.full((lists.n_users, 1), -1, dtype=np.int32)


def times_shown(lists: Rankings, ks: Ints, exposure: Exposure | None) -> list[Ints]:
    """Count, for each k, how often each item is among the first k, by its code."""
    top = top_items(lists, ks, exposure)
    n_items = 0 if exposure is None else len(exposure.popularity)
    return [np.bincount(top[:, :k][top[:, :k] >= 0], minlength=n_items) for k in ks]


def by_popularity(exposure: Exposure) -> Ints:
    """Return the items from the most rated, equally rated ones by first appearance in the data."""
    return np.argsort(-exposure.popularity, kind="stable")


def genres_of(exposure: Exposure) -> Floats:
    """Return 1 for each genre of each item."""
    return np.asarray(exposure.genres, dtype=np.float64)


def profile_sums(values: NDArray[np.generic], exposure: Exposure) -> Floats:
    """Sum rows of values over the training items of each list's user, 0 for an unknown user."""
    sums = matrix_by_user(exposure) @ values
    padded = np.vstack([sums, np.zeros_like(sums[:1])])
    return np.asarray(padded[exposure.list_users], dtype=np.float64)


def running_sums(values: Floats, top: Ranks, ks: Ints) -> Iterator[Floats]:
    """Yield for each k, rising, the sum of the values of the first k items of each list."""
    padded = np.vstack([values, np.zeros_like(values[:1])])  # the last row is that of no item
    total = np.zeros((len(top), values.shape[1]))
    for start, k in pairwise([0, *ks.tolist()]):
        for rank in range(start, min(k, top.shape[1])):
            total = total + padded[top[:, rank]]
        yield total


def as_shares(counts: Floats) -> Floats:
    """Divide each row by its sum; nan where that is 0."""
    sums = counts.sum(axis=1, keepdims=True)
    return counts / np.where(sums > 0, sums, np.nan)


def sums_at(values: Floats | Bools, ks: Ints) -> Floats:
    """Sum values by rank over the first k."""
    return np.cumsum(values, axis=1, dtype=np.float64)[:, np.minimum(ks, values.shape[1]) - 1]


def mean_of_items(values: NDArray[Any], lists: Rankings, ks: Ints, exposure: Exposure) -> Floats:
    """Average a value of each item over the first k of each list."""
    top = top_items(lists, ks, exposure)
    return means_at(np.where(top >= 0, values[top], 0.0), top, ks)


def means_at(values: Floats, top: Ranks, ks: Ints) -> Floats:
    """Average values by rank over the first k of each list."""
    sizes = sums_at(top >= 0, ks)
    return sums_at(values, ks) / np.where(sizes > 0, sizes, np.nan)


def is_relevant(lists: Rankings, top: Ranks, least: float, exposure: Exposure | None) -> Bools:
    """Return whether the item at each of the first ranks is relevant: judged, with this grade."""
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    items: Ranks | Ints | None = lists.items
    relevance = lists.relevance
    if exposure is not None and exposure.judged is not None:
        owners, items, relevance = exposure.judged
    if items is not None:
        n_items = 1 + max(int(top.max(initial=0)), int(items.max(initial=0)))
        shown = np.arange(len(top))[:, np.newaxis] * n_items + top
        return np.isin(shown, (owners * n_items + items)[relevance >= least]) & (top >= 0)
    entries = (relevance >= least) & (lists.rank <= top.shape[1])
    relevant = np.zeros(top.shape, dtype=bool)
    relevant[owners[entries], lists.rank[entries] - 1] = True
    return relevant


def matrix_by_user(exposure: Exposure, *, of_ratings: bool = False) -> scipy.sparse.csr_array:
    """Return the training ratings, or 1 for each, as a matrix of users and items."""
    n_users = 1 + max(int(exposure.users.max()), int(exposure.list_users.max(initial=0)))
    values = exposure.ratings if of_ratings else np.ones(len(exposure.users))
    shape = (n_users, len(exposure.popularity))
    by_user = scipy.sparse.coo_array(
        (values, (exposure.users, exposure.items)), shape=shape
    ).tocsr()
    by_user.sum_duplicates()
    return by_user


def cosine_sums(
    top: Ranks, exposure: Exposure, *, of_ratings: bool = False
) -> tuple[Floats, Floats, Ints]:
    """Sum the cosines of the item at each rank of each list, by who rated both or by their ratings.

    Returns the sums over the items at the ranks above and over those that the user rated in
    training, both of shape (n_users, depth), and how many the user rated.
    """
    by_user = matrix_by_user(exposure, of_ratings=of_ratings)
    by_item = by_user.tocsc()
    scale = 1.0 / np.sqrt(np.maximum(np.diff(by_item.indptr), 1))
    if of_ratings:
        scale = np.ones_like(scale)
    ratings = (
        *(by_user.indptr, by_user.indices, by_user.data),
        *(by_item.indptr, by_item.indices, by_item.data),
        scale,
    )
    # The places where each item is shown, item after item.
    flat = np.ascontiguousarray(top).ravel()
    places = np.argsort(flat, kind="stable")[(flat < 0).sum() :]
    shown, counts = np.unique(flat[places], return_counts=True)
    edges = np.concatenate(([0], np.cumsum(counts)))
    within, to_history = np.zeros(top.shape), np.zeros(top.shape)
    of_lists = (shown, edges, places, top, exposure.list_users)
    out = (of_ratings, within, to_history)
    each_block(lambda a, b: _sum_cosines(ratings, of_lists, a, b, *out), len(shown))
    lengths = np.append(np.diff(by_user.indptr), 0).astype(np.int64)  # the last for -1
    return within, to_history, lengths[exposure.list_users]


@kernel
def _sum_cosines(
    ratings: tuple[Ranks, Ranks, Floats, Ranks, Ranks, Floats, Floats],
    lists: tuple[Ranks, Ints, Ints, Ranks, Ranks],
    start: int,
    stop: int,
    of_ratings: bool,
    within: Floats,
    to_history: Floats,
) -> None:
    """Go over all raters of an item once, and sum its cosines wherever it is shown."""
    user_offsets, items, values, item_offsets, users, item_values, scale = ratings
    shown, edges, places, top, list_users = lists
    together = np.zeros(len(scale), dtype=np.int32)
    alike, squares, other_squares = np.zeros((3, len(scale)))
    for index in range(start, stop):
        item = shown[index]
        raters = range(item_offsets[item], item_offsets[item + 1])
        if of_ratings:
            alike[:] = squares[:] = other_squares[:] = 0.0
            for i in raters:
                for j in range(user_offsets[users[i]], user_offsets[users[i] + 1]):
                    alike[items[j]] += item_values[i] * values[j]
                    squares[items[j]] += item_values[i] ** 2
                    other_squares[items[j]] += values[j] ** 2
            for other in range(len(scale)):
                norms = np.sqrt(squares[other] * other_squares[other])
                alike[other] = alike[other] / norms if norms > 0.0 else 0.0
        else:
            together[:] = 0
            for i in raters:
                for j in range(user_offsets[users[i]], user_offsets[users[i] + 1]):
                    together[items[j]] += 1
            alike[:] = together
        for place in places[edges[index] : edges[index + 1]]:
            user, rank = place // top.shape[1], place % top.shape[1]
            total = 0.0
            for above in range(rank):
                other = top[user, above]
                total += alike[other] * scale[other]
            within[user, rank] = total * scale[item]
            if list_users[user] >= 0:
                total = 0.0
                for j in range(user_offsets[list_users[user]], user_offsets[list_users[user] + 1]):
                    total += alike[items[j]] * scale[items[j]]
                to_history[user, rank] = total * scale[item]


OF = Parameter(
    "of",
    "what an item's ratings are divided by: the number of training users, or of training ratings",
    words("users", "ratings"),
)

HEAD = Parameter(
    "head",
    "the short head: this proportion of the items with training ratings, the most rated, rounded "
    "up; "
    "`ratings` for the fewest items that hold 80% of the training ratings",
    words("ratings"),
    SHARE,
    default="0.2",
)
SIMILARITY = Parameter(
    "similarity",
    "how alike two items are: the proportion of their raters who rated both, or the cosine of the "
    "ratings of those who rated both, 0 where nobody did",
    words("raters", "cosine"),
)
AVERAGE = Parameter(
    "average",
    "what the table value is a mean of: the users' values, or all that is shown (for `diversity` "
    "all pairs), so that a longer list counts more",
    words("users", "pooled"),
)
KEPT = 0.01  # part of the profile that is mixed into the list's distribution of genres

_of_items = partial(metric, needs="items", cut="required")
_of_genres = partial(metric, needs="genres", cut="required")
_of_all_lists = partial(_of_items, pooled=True, per_user=False)


@metric(
    "1 if the list has at least k items else 0",
    "user space coverage of Shani and Gunawardana 2011, doi:10.1007/978-0-387-85820-3_8",
    cut="required",
)
def user_coverage(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Proportion of the users whose list has at least k items.

    Users of whom no item is judged do not count, such as those whom the truth does not have, unless
    nobody's items are.

    Examples
    --------
    >>> user_coverage(Rankings([0, 0, 0], [], [], [], [], [3, 0]), 1).mean
    0.5
    """
    has_list = (lists.n_ranked[:, np.newaxis] >= ks).astype(np.float64)
    is_judged = np.diff(lists.pool_offsets) > 0
    if is_judged.any():
        has_list[~is_judged] = np.nan
    return has_list


@_of_all_lists(
    "|union of the first k of all lists| / |catalogue|",
    "Ge, Delgado-Battenfeld and Jannach 2010, doi:10.1145/1864708.1864761",
    synonyms=("coverage",),
)
def item_coverage(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Proportion of the items with a training rating that are in the first k of some list.

    Shown items without a training rating do not count; `distinct_items` counts them too.
    """
    is_trained = exposure.popularity > 0
    return np.array(
        [(counts[is_trained] > 0).mean() for counts in times_shown(lists, ks, exposure)]
    )


@_of_all_lists(
    "|union of the first k of all lists|",
    "Adomavicius and Kwon 2012, doi:10.1109/TKDE.2011.15",
    range=(0.0, math.inf),
    needs_training=False,
)
def distinct_items(lists: Rankings, ks: Ints, params: Params, exposure: Exposure | None) -> Floats:
    """Aggregate diversity: number of different items in the first k of all lists."""
    return np.array([float((counts > 0).sum()) for counts in times_shown(lists, ks, exposure)])


@_of_all_lists(
    "sum over j of (2 j - n - 1) x_j / (n sum x), counts x rising, of the n items of the catalogue "
    "and of the lists",
    "Fleder and Hosanagar 2009, doi:10.1287/mnsc.1080.0974",
    higher_is_better=False,
)
def gini(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Gini index of how often items are shown: 0 if all equally often, near 1 if only a few.

    Items with a training rating that no list shows count as shown 0 times; items that are among
    the first k count, with or without a training rating.
    """
    values = []
    for counts in times_shown(lists, ks, exposure):
        rising = np.sort(counts[(exposure.popularity > 0) | (counts > 0)])
        n, total = len(rising), rising.sum()
        weights = 2.0 * np.arange(1, n + 1) - n - 1
        values.append((weights * rising).sum() / (n * total) if total else np.nan)
    return np.array(values)


@_of_all_lists(
    "-sum p log2 p, p an item's proportion of all shown items",
    "Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
    range=(0.0, math.inf),
    needs_training=False,
)
def entropy(lists: Rankings, ks: Ints, params: Params, exposure: Exposure | None) -> Floats:
    """Shannon entropy, in bits, of which items are shown."""
    shares = (n[n > 0] / max(1, n.sum()) for n in times_shown(lists, ks, exposure))
    return np.array([-(p * np.log2(p)).sum() if len(p) else np.nan for p in shares]) + 0.0


@_of_items(
    "mean over i <= k of n_i",
    "Yin et al. 2012, doi:10.14778/2311906.2311916",
    range=(0.0, math.inf),
    higher_is_better=False,
    parameters=(AVERAGE,),
    synonyms=("arp",),
)
def popularity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Average recommended popularity: mean number of training ratings of the first k."""
    return mean_of_items(exposure.popularity, lists, ks, exposure)


@_of_items(
    "mean over i <= k of -log2(max(n_i, 1) / n_users)",
    "Zhou et al. 2010, doi:10.1073/pnas.1000488107; "
    "Vargas and Castells 2011, doi:10.1145/2043932.2043955",
    range=(0.0, math.inf),
    parameters=(OF, AVERAGE),
)
def novelty(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Mean self-information of the first k, in bits: rarely rated items have more.

    An item without a training rating counts as having one.
    """
    n = exposure.n_users if params["of"] == "users" else len(exposure.users)
    information = np.log2(n) - np.log2(np.maximum(exposure.popularity, 1))
    return mean_of_items(information, lists, ks, exposure)


@_of_items(
    "mean over i <= k of the place of i in the order of falling n_i",
    "places in the long tail as in Celma and Herrera 2008, doi:10.1145/1454008.1454038, their mean "
    "with average=pooled is the novelty of Kane, Building Recommender Systems with Machine "
    "Learning and AI (Sundog Education)",
    range=(1.0, math.inf),
    parameters=(AVERAGE,),
)
def popularity_rank(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Mean popularity rank of the first k: 1 is the item with the most training ratings.

    Items with equally many have the order of their codes, in a run the order of first appearance in
    the data; items without a training rating come last.
    """
    rank = np.empty(len(exposure.popularity))
    rank[by_popularity(exposure)] = np.arange(1, len(rank) + 1)
    return mean_of_items(rank, lists, ks, exposure)


@_of_items(
    "|first k outside the short head| / |first k|",
    "average percentage of long tail items of Abdollahpouri, Burke and Mobasher 2019, "
    "arXiv:1901.07555, whose short head is the top 20% of items; head=ratings as in Elliot, "
    "Anelli et al. 2021, doi:10.1145/3404835.3463245",
    parameters=(HEAD,),
)
def aplt(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Proportion of the first k that is in the long tail: all items but the most rated.

    Ties at the end of the head are resolved as by `popularity_rank`; an item without a training
    rating is in the tail.
    """
    order = by_popularity(exposure)
    counts, share = exposure.popularity[order], params["head"].as_number
    if share is None:
        n_head = int((5 * (np.cumsum(counts) - counts) < 4 * counts.sum()).sum())
    else:  # without the rounding of the product
        n_head = math.ceil(share * exposure.n_catalogue - 1e-9)
    tail = np.ones(len(order))
    tail[order[:n_head]] = 0.0
    return mean_of_items(tail, lists, ks, exposure)


@_of_all_lists(
    "(GAP of lists - GAP of profiles) / GAP of profiles, GAP the mean over users of the mean n_i",
    "Abdollahpouri, Mansoury, Burke and Mobasher 2020, doi:10.1145/3383313.3418487",
    range=(-1.0, math.inf),
    higher_is_better=False,
)
def poplift(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Popularity lift: how much more popular the first k are than what the same users rated.

    As in the paper a value of a whole group of users, here all with a list and training ratings; a
    user has none. 0 if lists are as popular as profiles, below 0 if less.
    """
    shown = mean_of_items(exposure.popularity, lists, ks, exposure)
    rated = profile_sums(np.stack([exposure.popularity, exposure.popularity >= 0], 1), exposure)
    profile = rated[:, :1] / np.where(rated[:, 1:] > 0, rated[:, 1:], np.nan)
    both = ~np.isnan(shown + profile)
    ratios = np.where(both, shown, 0.0).sum(axis=0), np.where(both, profile, 0.0).sum(axis=0)
    return np.asarray(ratios[0] / np.where(both.any(axis=0), ratios[1], np.nan) - 1.0)


@_of_genres(
    "sum over genres of p ln(p / (0.99 q + 0.01 p)), p and q the mean over the profile and over "
    "the first k of 1 / |genres of i| for each genre of i",
    "Steck 2018, doi:10.1145/3240323.3240372, with alpha = 0.01 and equal weights",
    range=(0.0, -math.log(KEPT)),
    higher_is_better=False,
)
def calibration(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Miscalibration: Kullback-Leibler divergence, in nats, between the genres of the first k and
    the genres of the user's training ratings.

    All training ratings weigh the same, and so do all ranks. Items without a genre are left out;
    nan if nothing is left of the list or of the profile.
    """
    top, genres = top_items(lists, ks, exposure), genres_of(exposure)
    shares = genres / np.maximum(genres.sum(axis=1, keepdims=True), 1)
    profile = as_shares(profile_sums(shares, exposure))
    mixed = (
        (1 - KEPT) * as_shares(shown) + KEPT * profile for shown in running_sums(shares, top, ks)
    )
    divergences = [scipy.special.rel_entr(profile, mixture).sum(axis=1) for mixture in mixed]
    return np.asarray(np.maximum(np.stack(divergences, 1), 0.0))


@_of_genres(
    "1 - mean over pairs of |common genres| / sqrt(|genres of i| |genres of j|)",
    "intra-list distance of Ziegler et al. 2005, doi:10.1145/1060745.1060754; as a mean over "
    "pairs as in Vargas and Castells 2011, doi:10.1145/2043932.2043955",
)
def genre_diversity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Intra-list diversity: mean cosine distance of the genres of pairs of the first k.

    Items without a genre are left out; nan for fewer than two others.
    """
    top, genres = top_items(lists, ks, exposure), genres_of(exposure)
    sizes = genres.sum(axis=1, keepdims=True)
    vectors = np.hstack([genres / np.sqrt(np.maximum(sizes, 1)), sizes > 0])
    values = []
    for total in running_sums(vectors, top, ks):
        n = np.where(total[:, -1] > 1, total[:, -1], np.nan)
        values.append(1.0 - (np.square(total[:, :-1]).sum(axis=1) - n) / (n * (n - 1)))
    return np.asarray(np.clip(np.stack(values, 1), 0.0, 1.0))


@_of_items(
    "1 - mean over pairs of n_ij / sqrt(n_i n_j); with similarity=cosine of sum r_ui r_uj / "
    "sqrt(sum r_ui**2 sum r_uj**2), sums over the users u who rated both",
    "Ziegler et al. 2005, doi:10.1145/1060745.1060754; cosine of co-ratings from Zhang et al. "
    "2012, doi:10.1145/2124295.2124300; similarity=cosine as Surprise's item-based cosine, Hug "
    "2020, doi:10.21105/joss.02174",
    parameters=(SIMILARITY, AVERAGE),
    weight=lambda length: length * (length - 1) / 2,
    synonyms=("ild",),
)
def diversity(lists: Rankings, ks: Ints, params: Params, exposure: Exposure) -> Floats:
    """Intra-list diversity: mean dissimilarity of pairs of the first k, by the training users who
    rated both.

    nan for fewer than two items. Negative ratings can give a cosine below 0, and a diversity
    above 1.
    """
    top, cosine = top_items(lists, ks, exposure), params["similarity"] == "cosine"
    if cosine and exposure.ratings is None:
        raise MetricError("similarity=cosine needs training ratings; leave it out, or give them")
    sizes = sums_at(top >= 0, ks)
    n_pairs = np.where(sizes > 1, sizes * (sizes - 1) / 2, np.nan)
    return 1.0 - sums_at(cosine_sums(top, exposure, of_ratings=cosine)[0], ks) / n_pairs


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
    top = top_items(lists, ks, exposure)
    _, to_history, n_history = cosine_sums(top, exposure)
    history = np.where(n_history > 0, n_history, np.nan)[:, np.newaxis]
    relevant = is_relevant(lists, top, least_relevant(params), exposure)
    return means_at(np.where(relevant, 1.0 - to_history / history, 0.0 * history), top, ks)


@metric(
    "|first k without a judgement| / |first k|",
    "what condensed lists leave out: Sakai 2007, doi:10.1145/1277741.1277756",
    higher_is_better=False,
    needs="items",
    needs_training=False,
    cut="required",
    synonyms=("judged",),
)
def unjudged(lists: Rankings, ks: Ints, params: Params, exposure: Exposure | None) -> Floats:
    """Proportion of the first k without a judgement or test rating, which count as not relevant."""
    top = top_items(lists, ks, exposure)
    is_judged = is_relevant(lists, top, -math.inf, exposure)
    return means_at(np.where((top >= 0) & ~is_judged, 1.0, 0.0), top, ks)
