"""Metrics beyond accuracy: which items are recommended, whether they are relevant or not.

The lists are those of ``top_items``, in which a run puts items of equal estimate in an order that
depends on the ids of user and item alone. In the examples one list shows items 0 and 1, of four:

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

Beside a list of item 0 alone, a mean over users is another than one over all that is shown:

>>> both = Rankings([0, 0, 0], [], [], [], [], [2, 1], top_items=[[0, 1], [0, -1]])
>>> three = Exposure([0, 1, 1], [0, 0, 1], [0, 1])
>>> popularity(both, 2, exposure=three).mean   # ((2 + 1) / 2 + 2 / 1) / 2
1.75
>>> round(popularity(both, 2, exposure=three, average="pooled").mean, 4)   # (2 + 1 + 2) / 3
1.6667

Now item 0 is a comedy, item 1 a comedy and a crime film; the user has rated item 0 alone:

>>> films = Exposure([0, 1, 1], [0, 0, 1], [0], genres=[[1, 0], [1, 1]])
>>> round(genre_diversity(lists, 2, exposure=films).mean, 4)   # 1 - 1 / sqrt(1 * 2)
0.2929
>>> round(calibration(lists, 2, exposure=films).mean, 4)   # log(1 / (0.99 * 0.75 + 0.01 * 1))
0.2844
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from harness.errors import MetricError
from harness.lazy import scipy
from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.definition import metric
from harness.metrics.exposure import Exposure
from harness.metrics.parameters import (
    SHARE,
    THRESHOLD,
    Parameter,
    Params,
    least_relevant,
    words,
)
from harness.metrics.shown_items import (
    as_shares,
    by_popularity,
    cosine_sums,
    genres_of,
    is_relevant,
    mean_of_items,
    means_at,
    profile_sums,
    running_sums,
    sums_at,
    times_shown,
    top_items,
)

OF = Parameter(
    "of",
    "what an item's ratings are a share of: the training users, or the training ratings",
    words("users", "ratings"),
)

HEAD = Parameter(
    "head",
    "the short head: this share of the items with training ratings, the most rated, rounded up; "
    "`ratings` for the fewest items that hold 80% of the training ratings",
    words("ratings"),
    SHARE,
    default="0.2",
)
SIMILARITY = Parameter(
    "similarity",
    "how alike two items are: the share of their raters who rated both, or the cosine of the "
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
    """Share of the users whose list has at least k items.

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
    """Share of the items with a training rating that are in the first k of some list.

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
    "-sum p log2 p, p an item's share of all that is shown",
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

    Items with equally many have the order of their codes, in a run that of first appearance in the
    data; items without a training rating come last.
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
    """Share of the first k that is in the long tail: all items but the most rated.

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
    """Miscalibration: Kullback-Leibler divergence, in nats, of the genres of the first k from those
    of the user's training ratings.

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
