"""Held-out ratings weighted by their exposure: metrics with ``weights=``.

A rating with weight w counts as w items at its rank, as in `harness.metrics.weights`.

>>> from harness import metrics
>>> lists = metrics.Rankings([0, 2], [1, 3], [1, 2], [1, 2], [1, 2], [3], items=[0, 1])
>>> four = metrics.Exposure([0, 1, 2, 3], [0, 0, 0, 1], [0], judged=([0, 0], [0, 1], [1, 3]))
>>> labels = metrics.parse_many("recall@1, recall(weights=popularity)@1")
>>> for metric, scores in metrics.score(labels, lists, exposure=four).items():
...     print(metric, scores.mean)   # of propensities 3 : 1, so weights 1 : 3
recall@1 0.5
recall(weights=popularity)@1 0.25
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import as_array, checked
from harness.errors import MetricError, counted
from harness.metrics.arrays import Floats, Ints, Pairs, Rankings
from harness.metrics.exposure import Exposure
from harness.metrics.gains import Gains, weighted
from harness.metrics.parameters import Params

ErrorKind = Literal["rmse", "mae", "mse"]
Gain = Literal["exp2", "linear"]
FEW_EFFECTIVE = 0.1
"""Below this proportion of the ratings, the effective sample size is small."""


@dataclass(frozen=True)
class Worth:
    r"""What the weights of ratings are worth.

    Parameters
    ----------
    n : int
        Ratings.
    effective : float
        Effective sample size, :math:`(\sum w)^2 / \sum w^2`, from 1 to `n`.
    greatest : float
        The greatest weight as a multiple of the mean weight.
    clipped : float
        Proportion of the ratings whose propensity was raised to the least, in [0, 1].

    Examples
    --------
    >>> print(Worth(1000, 50.0, 31.5, 0.02))
    1,000 ratings, worth 50, 2.0% of the propensities raised; few ratings decide the value
    """

    n: int
    effective: float
    greatest: float
    clipped: float

    @property
    def is_small(self) -> bool:
        """Whether a few ratings decide the value: the effective sample is below a tenth of all."""
        return self.effective < FEW_EFFECTIVE * self.n

    def __str__(self) -> str:
        clipped = f", {self.clipped:.1%} of the propensities raised" if self.clipped else ""
        warning = "; few ratings decide the value" if self.is_small else ""
        return f"{counted(self.n, 'rating')}, worth {self.effective:,.0f}{clipped}{warning}"


@dataclass(frozen=True, eq=False)
class Weighted(Worth):
    """A weighted value, and what its weights are worth.

    Parameters
    ----------
    n, effective, greatest, clipped
        As of `Worth`.
    value : float
        The estimate.
    error : float
        Standard error of a rating error, by the delta method; NaN for a ranking metric, whose users
        are the sample.
    per_user : ndarray of float64
        Of a ranking metric: the score of each user, NaN for one who is left out.
    n_left_out : int
        Of a ranking metric: users whose best order has no gain.
    """

    value: float
    error: float = math.nan
    per_user: Floats = field(default_factory=lambda: np.empty(0))
    n_left_out: int = 0

    def __str__(self) -> str:
        return f"{self.value:.4f} ({super().__str__()})"


@checked(MetricError)
def by_popularity(counts: ArrayLike, items: ArrayLike, power: float = 1.0) -> Floats:
    """Return propensities of ratings that fall with the popularity of their items.

    Parameters
    ----------
    counts : array_like of int, shape (n_items,)
        Training ratings of each item; none counts as one.
    items : array_like of int, shape (n,)
        Item code of each held-out rating.
    power : float
        Of the counts; 0 for equal propensities.

    Examples
    --------
    >>> by_popularity([4, 1, 0], [0, 1, 2]).tolist()
    [1.0, 0.25, 0.25]
    """
    n = np.maximum(as_array("popularity: counts", counts, error=MetricError), 1.0)
    codes = as_array("popularity: items", items, np.int64, MetricError)
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(n):
        raise MetricError(f"popularity: an item code outside 0 to {len(n) - 1}; give counts of all")
    propensities: Floats = (n / n.max()) ** power
    return propensities[codes]


@checked(MetricError)
def naive_bayes(ratings: ArrayLike, at_random: ArrayLike, n_pairs: int) -> Floats:
    r"""Return propensities from the values of ratings and a small sample of ratings at random.

    :math:`P(O | y) = P(y | O) P(O) / P(y)`, with :math:`P(O)` the proportion of the pairs that were
    observed, and :math:`P(y)` from the sample, in which users rated items drawn for them.

    Parameters
    ----------
    ratings : array_like of float, shape (n,)
        Held-out ratings as they were observed.
    at_random : array_like of float, shape (m,)
        Ratings of pairs sampled at random.
    n_pairs : int
        All pairs of user and item.

    Examples
    --------
    >>> naive_bayes([5, 5, 5, 1], [5, 1], 8).tolist()
    [0.75, 0.75, 0.75, 0.25]
    """
    values = as_array("naive Bayes: ratings", ratings, error=MetricError)
    sample = as_array("naive Bayes: at_random", at_random, error=MetricError)
    grades, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    n_sampled = (sample[:, None] == grades).sum(axis=0)
    if (n_sampled == 0).any():
        grade = grades[n_sampled == 0][0]
        raise MetricError(
            f"naive Bayes: no rating of {grade:g} in the sample at random; give a larger sample"
        )
    propensities = counts / n_pairs / (n_sampled / len(sample))
    likely: Floats = np.minimum(propensities, 1.0)
    return likely[places]


@checked(MetricError)
def effective_size(weights: ArrayLike) -> float:
    r"""Return how many equally weighted ratings are as good: :math:`(\sum w)^2 / \sum w^2`.

    >>> effective_size([1, 1, 1, 1]), effective_size([1, 0, 0])
    (4.0, 1.0)
    """
    w = as_array("weights", weights, error=MetricError)
    w = w / w.max() if len(w) else w
    return float(w.sum() ** 2 / (w**2).sum()) if len(w) else math.nan


def normalised(propensities: ArrayLike, n: int, least: float | None) -> tuple[Floats, Worth]:
    """Return the weights of `n` ratings, of mean 1, and what they are worth, after a check."""
    p = as_array("propensities", propensities, error=MetricError)
    if p.shape != (n,):
        raise MetricError(f"propensities of shape {p.shape}; give one for each of {n:,} ratings")
    if not n:
        raise MetricError("propensities: there is no rating; give one at least")
    wrong = ~((p > 0) & (p <= 1))  # NaN too
    if wrong.any():
        raise MetricError(
            f"propensities: {p[wrong][0]:g}, the first of {wrong.sum():,} outside (0, 1]; leave "
            "out what cannot be observed"
        )
    clipped = 0.0
    if least is not None:
        if not 0 < least <= 1:
            raise MetricError(f"propensities: least is {least}; use a chance as 0.01")
        clipped, p = float((p < least).mean()), np.maximum(p, least)
    w = p.min() / p
    w = np.asarray(w * (n / w.sum()))
    return w, Worth(n, effective_size(w), float(w.max()), clipped)


@checked(MetricError)
def weighted_error(
    estimates: ArrayLike,
    ratings: ArrayLike,
    propensities: ArrayLike,
    kind: ErrorKind = "rmse",
    *,
    least: float | None = None,
) -> Weighted:
    r"""Return the error of estimates over all pairs, from ratings with unequal propensities.

    With :math:`w = 1 / P` the RMSE is :math:`\sqrt{\sum w e^2 / \sum w}`, over all ratings at once;
    equal propensities give the plain error.

    Parameters
    ----------
    estimates, ratings : array_like of float, shape (n,)
    propensities : array_like of float, shape (n,)
        In (0, 1].
    kind : {"rmse", "mae", "mse"}
    least : float, optional
        Raise smaller propensities to this. It biases the value: no default is safe.

    Raises
    ------
    MetricError
        If lengths differ, a propensity is outside (0, 1], or a word is unknown.

    Examples
    --------
    The second error was observed with a chance of 20%, so it stands for four times as many:

    >>> found = weighted_error([4.0, 2.0], [4.0, 3.0], [0.8, 0.2], "mae")
    >>> round(found.value, 4), round(found.effective, 2)
    (0.8, 1.47)
    """
    truth = as_array("ratings", ratings, error=MetricError)
    errors = as_array("estimates", estimates, error=MetricError)
    if truth.ndim != 1 or errors.shape != truth.shape:
        raise MetricError(
            f"weighted error: estimates of shape {errors.shape} for ratings of shape "
            f"{truth.shape}; give one estimate for each rating"
        )
    w, worth = normalised(propensities, len(truth), least)
    losses = np.abs(errors - truth) if kind == "mae" else (errors - truth) ** 2
    value = float((w * losses).sum() / w.sum())
    error = math.sqrt(((w * (losses - value)) ** 2).sum()) / float(w.sum())
    if kind == "rmse":
        value = math.sqrt(value)
        error = error / (2 * value) if value else 0.0
    return Weighted(**vars(worth), value=value, error=error)


@checked(MetricError)
def weighted_ndcg(
    users: ArrayLike,
    ratings: ArrayLike,
    ranks: ArrayLike,
    propensities: ArrayLike,
    k: int,
    *,
    gain: Gain = "exp2",
    n_pairs: int | None = None,
    least: float | None = None,
) -> Weighted:
    r"""Return NDCG from held-out ratings with unequal propensities.

    A rating with weight w counts as w items: the DCG of a user is the sum of
    :math:`w \cdot gain / \log_2(1 + rank)` over their held-out items with a rank of at most k, and
    in the ideal order, by gain, each fills w positions, fractions too. Weights are normalised once,
    over the ratings of all users; by user they would be biased. The mean may exceed 1.

    Parameters
    ----------
    users : array_like, shape (n,)
        The user of each held-out rating.
    ratings : array_like of float, shape (n,)
        At least 0.
    ranks : array_like of int, shape (n,)
        Rank from 1 among *all* candidates of the user, not among the held-out ones.
    propensities : array_like of float, shape (n,)
        In (0, 1].
    k : int
    gain : {"exp2", "linear"}
        :math:`2^y - 1` or y.
    n_pairs : int, optional
        What the weights sum up to: all pairs of user and candidate, for the value that the lists
        would have if every candidate was judged. By default the number of ratings, so that equal
        propensities give the ordinary NDCG of the held-out ratings.
    least : float, optional
        Raise smaller propensities to this.

    Raises
    ------
    MetricError
        If lengths differ, a propensity is outside (0, 1], a rating is below 0, a rank is below 1,
        or every user is left out.

    Examples
    --------
    >>> equal = weighted_ndcg(["u", "u"], [1, 3], [1, 2], [0.5, 0.5], 2)
    >>> round(equal.value, 4)   # equal to `harness.metrics.ndcg`
    0.7098
    >>> rare_first = weighted_ndcg(["u", "u"], [1, 3], [2, 1], [0.9, 0.1], 2)
    >>> round(rare_first.value, 2)
    1.19
    """
    grades = as_array("ratings", ratings, error=MetricError)
    places = as_array("ranks", ranks, error=MetricError)
    owners, codes = np.unique(np.asarray(users), return_inverse=True)
    if not (grades.ndim == 1 and grades.shape == places.shape == codes.shape):
        raise MetricError(
            f"weighted ndcg: {counted(len(codes), 'user')}, {counted(grades.size, 'rating')} and "
            f"{counted(places.size, 'rank')}; give one of each for every held-out rating"
        )
    w, worth = normalised(propensities, len(grades), least)
    if not (grades >= 0).all() or not (grades < 1000).all():
        raise MetricError("weighted ndcg: a rating below 0 or from 1,000 on; move the scale")
    if not (places >= 1).all() or not 1 <= k < math.inf:
        raise MetricError("weighted ndcg: a rank or k below 1; ranks start from 1")
    w = w if n_pairs is None else w * (n_pairs / len(w))
    gains = 2.0**grades - 1.0 if gain == "exp2" else grades
    found = np.where(places <= k, w * gains / np.log2(1.0 + places), 0.0)
    dcg = np.bincount(codes, found, len(owners))
    order = np.lexsort((-gains, codes))
    sums = np.concatenate(([0.0], np.cumsum(1.0 / np.log2(1.0 + np.arange(1, k + 1)))))
    ideal = best_order(codes[order], gains[order], w[order], len(owners), sums)
    scores = np.divide(dcg, ideal, out=np.full(len(owners), np.nan), where=ideal > 0)
    left_out = int(np.isnan(scores).sum())
    if left_out == len(owners):
        raise MetricError("weighted ndcg: no user has a rating with a gain; give others")
    mean = float(np.nanmean(scores))
    return Weighted(**vars(worth), value=mean, per_user=scores, n_left_out=left_out)


def best_order(owners: Ints, gains: Floats, w: Floats, n_users: int, sums: Floats) -> Floats:
    """Return the discounted gain of each user's best order, in which an item fills w positions.

    Rows are grouped by owner, a user's gains falling. `sums` are the sums of the discounts of the
    first 0, 1, ..., k ranks; between ranks they rise in proportion, beyond k not at all.
    """
    ends = np.cumsum(w)
    first = np.searchsorted(owners, np.arange(n_users))
    before = np.concatenate(([0.0], ends))[first][owners]
    ranks = np.arange(len(sums))
    up_to_end, up_to_start = (np.interp(at - before, ranks, sums) for at in (ends, ends - w))
    gained = gains * np.maximum(up_to_end - up_to_start, 0.0)
    return np.bincount(owners, gained, n_users).astype(np.float64)


Judged = tuple[Ints, Ints, Floats]
"""Columns of held-out ratings: the position of the list, the item, the rating."""


def weighted_lists(
    lists: Rankings, params: Params, exposure: Exposure, label: str
) -> tuple[Rankings, Worth]:
    """Return lists with weights, normalised over all ratings that count, and what they are worth.

    A ranked item without a held-out rating has a weight of 0.
    """
    judged = _judged(exposure, lists.n_users, label)
    if lists.items is None:
        raise _fault(label, "the ranked items are not known by name; give the lists `items`")
    rows = _rows_of_pool(lists, judged, exposure)
    if rows is None:
        raise _fault(label, "the exposure and the lists have different judged ratings")
    owners, items = judged[0][rows], judged[1][rows]
    weights, worth = _weights(items, judged[2][rows], params, exposure, label)
    n_items = len(exposure.popularity)
    lists_of = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    places = _places(owners * n_items + items, lists_of * n_items + lists.items)
    of_entries = np.append(weights, 0.0)[places]
    return replace(lists, weights=of_entries, pool_weights=weights), worth


def weighted_pairs(
    pairs: Pairs, params: Params, exposure: Exposure, label: str
) -> tuple[Pairs, Worth]:
    """Return pairs with weights, and what they are worth."""
    owners, items, ratings = _judged(exposure, pairs.n_users, label)
    users = np.repeat(np.arange(pairs.n_users), np.diff(pairs.offsets))
    rows = np.argsort(owners, kind="stable")  # pairs of a run have the order of the test set
    if pairs.items is not None:
        n_items = len(exposure.popularity)
        rows = _places(owners * n_items + items, users * n_items + pairs.items)
    if (
        len(rows) != len(users)
        or (rows < 0).any()
        or not np.array_equal(owners[rows], users)
        or not np.array_equal(ratings[rows], pairs.ratings)
    ):
        raise _fault(label, "the exposure and the pairs have different judged ratings")
    weights, worth = _weights(items[rows], ratings[rows], params, exposure, label)
    return replace(pairs, weights=weights), worth


def filled(lists: Rankings, gains: Gains, discounts: Floats, ks: Ints) -> Floats:
    """Return the gain of the best order at each k: an item of weight w fills w ranks.

    `discounts` are the discounts of the ranks from 0 (unused) on.
    """
    assert lists.pool_weights is not None
    values, *_ = weighted(gains, np.ones(len(lists.pool)))  # in falling order, as the pool is
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.pool_offsets))
    sums = np.cumsum(discounts)
    columns = [
        best_order(owners, values, lists.pool_weights, lists.n_users, sums[: k + 1]) for k in ks
    ]
    return np.stack(columns, axis=1)


def weighted_precisions(lists: Rankings, weights: Floats, ks: Ints) -> Floats:
    """Return for each k the sum of weight times precision at the ranks of relevant items.

    The precision at a rank is the weight of the relevant items up to there, divided by the rank. It
    is the mean over the orders of ties, like `harness.metrics.binary.ap`: at the s-th of n
    tied ranks, (s - 1) / (n - 1) of the weight of the other relevant ones are above.
    """
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    low, high = lists.tie_low.astype(np.int64), lists.tie_high.astype(np.int64)
    n, above = high - low + 1, low - 1
    first = np.ones(len(low), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (owners[1:] != owners[:-1])
    group = np.cumsum(first) - 1
    of_group = np.bincount(group, weights, len(low))[group]
    before_user = np.concatenate(([0.0], np.cumsum(weights)))[lists.offsets[:-1]][owners]
    before_group = np.concatenate(([0.0], np.cumsum(weights)))[:-1][first][group] - before_user
    others = (of_group - weights) / np.maximum(n - 1, 1)
    depth = int(high.max(initial=1))
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, depth + 1))))
    sums = np.empty((lists.n_users, len(ks)))
    for column, k in enumerate(ks):
        inside = np.clip(k - above, 0, n)
        here = harmonic[above + inside] - harmonic[above]
        there = inside - low * here  # sum of (s - 1) / (above + s)
        values = weights / n * ((before_group + weights) * here + others * there)
        sums[:, column] = np.bincount(owners, values, lists.n_users)
    return sums


def _judged(exposure: Exposure, n_users: int, label: str) -> Judged:
    """Return the held-out ratings of an exposure, or raise a MetricError."""
    if exposure.judged is None:
        raise _fault(label, "the exposure has no held-out ratings; give it `judged`")
    if len(exposure.list_users) != n_users:
        raise _fault(
            label, f"the exposure names {len(exposure.list_users):,} users, not {n_users:,}"
        )
    return exposure.judged


def _rows_of_pool(lists: Rankings, judged: Judged, exposure: Exposure) -> Ints | None:
    """Return the rows of the judged items in the order of the pool.

    Items without a training rating may be missing there, with `unknown_items: drop`.
    """
    owners, items, ratings = judged
    of_pool = np.repeat(np.arange(lists.n_users), np.diff(lists.pool_offsets))
    for rows in (np.arange(len(items)), np.flatnonzero(exposure.popularity[items] > 0)):
        ordered = rows[np.lexsort((-ratings[rows], owners[rows]))]
        if np.array_equal(owners[ordered], of_pool) and np.array_equal(
            ratings[ordered], lists.pool
        ):
            return ordered
    return None


def _weights(
    items: Ints, ratings: Floats, params: Params, exposure: Exposure, label: str
) -> tuple[Floats, Worth]:
    """Return the weight of each rating, of mean 1, and what they are worth."""
    try:
        chances = _chances(items, ratings, params, exposure)
        return normalised(chances, len(items), params["least"].as_number)
    except MetricError as error:
        raise _fault(label, str(error)) from None


def _chances(items: Ints, ratings: Floats, params: Params, exposure: Exposure) -> Floats:
    """Return the propensity of each rating."""
    if params["weights"] == "popularity":
        return by_popularity(exposure.popularity, items, float(params["power"]))
    if params["weights"] == "naive-bayes":
        if exposure.at_random is None:
            raise MetricError("the exposure has no ratings at random; give it `at_random`")
        n_pairs = len(exposure.list_users) * len(exposure.popularity)
        return naive_bayes(ratings, exposure.at_random, n_pairs)
    if exposure.propensities is None:
        raise MetricError("the exposure has no propensities of items; give it some")
    return exposure.propensities[items]


def _places(cells: Ints, wanted: Ints) -> Ints:
    """Return the place of each wanted cell among different ones; -1 where it is not there."""
    if not len(cells):
        return np.full(len(wanted), -1)
    order = np.argsort(cells)
    found = order[np.minimum(np.searchsorted(cells[order], wanted), len(cells) - 1)]
    return np.where(cells[found] == wanted, found, -1)


def _fault(label: str, reason: str) -> MetricError:
    return MetricError(f"{label}: {reason}", reason)
