"""What metrics would be if every pair had been shown: inverse propensity weights.

Users rate what they were shown or chose, mostly popular items. A held-out rating that was observed
with a chance P, its propensity, stands for 1 / P pairs. Self-normalised, an average over such
ratings estimates that over all pairs (Schnabel et al. 2016, doi:10.48550/arXiv.1602.05352; for
ranks Yang et al. 2018, doi:10.1145/3240323.3240355), if the propensities are right and none is 0.

All functions take columns, one entry for each held-out rating, of all users together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.arguments import as_array, checked
from harness.errors import MetricError, counted
from harness.metrics.arrays import Floats, Ints

ErrorKind = Literal["rmse", "mae", "mse"]
Gain = Literal["exp2", "linear"]
FEW_EFFECTIVE = 0.1
"""Below this share of the ratings, the effective sample size is small."""


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
        Share of the ratings whose propensity was raised to the least, in [0, 1].

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

    :math:`P(O | y) = P(y | O) P(O) / P(y)`, with :math:`P(O)` the share of the pairs that were
    observed, and :math:`P(y)` from the sample, in which users rated items drawn for them.

    Parameters
    ----------
    ratings : array_like of float, shape (n,)
        Held-out ratings as they were observed.
    at_random : array_like of float, shape (m,)
        Ratings of pairs drawn at random.
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
    Of two errors, that of 1 was observed with a chance of 20%, so it stands for four times as many:

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
    :math:`w \cdot gain / \log_2(1 + rank)` over his held-out items with a rank of at most k, and in
    the ideal order, by gain, each fills w positions, fractions too. Weights are normalised once,
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
    >>> round(equal.value, 4)   # that of `harness.metrics.ndcg`
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

    Rows are grouped by owner, a user's gains falling. `sums` are those of the discounts of the
    first 0, 1, ..., k ranks; between ranks they rise in proportion, beyond k not at all.
    """
    ends = np.cumsum(w)
    first = np.searchsorted(owners, np.arange(n_users))
    before = np.concatenate(([0.0], ends))[first][owners]
    ranks = np.arange(len(sums))
    up_to_end, up_to_start = (np.interp(at - before, ranks, sums) for at in (ends, ends - w))
    gained = gains * np.maximum(up_to_end - up_to_start, 0.0)
    return np.bincount(owners, gained, n_users).astype(np.float64)
