"""Metrics of estimates against ratings: errors, explained variance, order of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.kernels import each_block, kernel
from harness.metrics.arrays import Floats, Ints, Pairs
from harness.metrics.grammar import Value

__all__ = ["PAIRED"]

SMALLEST_BLOCK = 512

Paired = Callable[[dict[str, Value], Pairs], tuple[Floats, float]]
"""Takes parameters and pairs; returns the scores per user and the value over all pairs."""


def score_mse(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return ``mean((estimate - rating)**2)``.

    Examples
    --------
    >>> score_mse({}, Pairs([0, 2, 3], [1.0, 4.0, 3.0], [2.0, 4.0, 5.0]))
    (array([0.5, 4. ]), 1.6666666666666667)
    """
    errors = np.square(pairs.estimates - pairs.ratings)
    return _user_means(pairs, errors), _mean(errors)


def score_rmse(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return ``sqrt(mean((estimate - rating)**2))``.

    Examples
    --------
    >>> score_rmse({}, Pairs([0, 1, 2], [1.0, 4.0], [2.0, 4.0]))
    (array([1., 0.]), 0.7071067811865476)
    """
    per_user, pooled = score_mse(params, pairs)
    return np.sqrt(per_user), float(np.sqrt(pooled))


def score_mae(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return ``mean(abs(estimate - rating))``.

    Examples
    --------
    >>> score_mae({}, Pairs([0, 2, 3], [1.0, 4.0, 3.0], [2.0, 4.0, 5.0]))
    (array([0.5, 2. ]), 1.0)
    """
    errors = np.abs(pairs.estimates - pairs.ratings)
    return _user_means(pairs, errors), _mean(errors)


def score_r2(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return ``1 - sum((rating - estimate)**2) / sum((rating - mean rating)**2)``.

    nan where all ratings are equal.

    Examples
    --------
    >>> score_r2({}, Pairs([0, 2, 3], [1.0, 4.0, 3.0], [2.0, 4.0, 3.0]))
    (array([0.5, nan]), 0.5)
    """
    errors = np.square(pairs.ratings - pairs.estimates)
    return _unexplained(pairs, _user_means(pairs, errors), _mean(errors))


def score_explained_variance(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return ``1 - variance(rating - estimate) / variance(rating)``.

    A constant error has no effect. nan where all ratings are equal.

    Examples
    --------
    >>> score_explained_variance({}, Pairs([0, 2], [2.0, 3.0], [3.0, 4.0]))
    (array([1.]), 1.0)
    """
    errors = pairs.ratings - pairs.estimates
    spread, pooled = _variances(pairs, errors)
    return _unexplained(pairs, spread, pooled)


def score_fcp(params: dict[str, Value], pairs: Pairs) -> tuple[Floats, float]:
    """Return the fraction of pairs of one user's items whose estimates follow their ratings.

    Of two items with different ratings, the pair is concordant if the better one has the greater
    estimate, else discordant; equal estimates are discordant. With ``pooling=surprise`` the value
    over everything is c / (c + d) of the mean counts c and d, each over the users who have such a
    pair, as ``surprise.accuracy.fcp`` computes it; with ``pooling=pairs`` all pairs count equally.

    Examples
    --------
    The first user has two concordant pairs of three, the second one of one:

    >>> pairs = Pairs([0, 3, 5], [1.0, 3.0, 2.0, 1.0, 2.0], [1.0, 2.0, 3.0, 1.0, 5.0])
    >>> score_fcp({"pooling": Value("pairs")}, pairs)
    (array([0.66666667, 1.        ]), 0.75)
    >>> score_fcp({"pooling": Value("surprise")}, pairs)[1]   # 1.5 / (1.5 + 1)
    0.6
    """
    concordant = np.zeros(pairs.n_users, dtype=np.int64)
    discordant = np.zeros(pairs.n_users, dtype=np.int64)
    each_block(
        lambda a, b: _count_order(
            pairs.offsets, pairs.estimates, pairs.ratings, a, b, concordant, discordant
        ),
        pairs.n_users,
        SMALLEST_BLOCK,
    )
    both = concordant + discordant
    per_user = np.full(pairs.n_users, np.nan)
    np.divide(concordant, both, out=per_user, where=both > 0)
    in_order, out_of_order = float(concordant.sum()), float(discordant.sum())
    if params["pooling"].word == "surprise":
        in_order /= max(1, int((concordant > 0).sum()))
        out_of_order /= max(1, int((discordant > 0).sum()))
    whole = in_order + out_of_order
    return per_user, in_order / whole if whole else float("nan")


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _user_means(pairs: Pairs, values: Floats) -> Floats:
    counts = np.diff(pairs.offsets)
    users = np.repeat(np.arange(pairs.n_users), counts)
    means: Floats = np.full(pairs.n_users, np.nan)
    sums = np.bincount(users, weights=values, minlength=pairs.n_users)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _variances(pairs: Pairs, values: Floats) -> tuple[Floats, float]:
    """Return the variance within each user, and over all users."""
    centres = np.repeat(_user_means(pairs, values), np.diff(pairs.offsets))
    whole = float(values.var()) if len(values) else float("nan")
    return _user_means(pairs, np.square(values - centres)), whole


def _unexplained(pairs: Pairs, left: Floats, left_pooled: float) -> tuple[Floats, float]:
    """Return 1 - the remaining share of the ratings' variance, nan if they have none."""
    spread, pooled = _variances(pairs, pairs.ratings)
    share = np.full(pairs.n_users, np.nan)
    np.divide(left, spread, out=share, where=spread > 0)
    return 1.0 - share, 1.0 - left_pooled / pooled if pooled > 0 else float("nan")


@kernel
def _count_order(
    offsets: Ints,
    estimates: Floats,
    ratings: Floats,
    start: int,
    stop: int,
    concordant: Ints,
    discordant: Ints,
) -> None:
    """Count each user's pairs in rising order of rating with a tree of counts by estimate."""
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        levels = np.unique(estimates[a:b])
        place = np.searchsorted(levels, estimates[a:b])
        order = np.argsort(ratings[a:b])
        tree = np.zeros(len(levels) + 1, dtype=np.int64)
        first = 0
        while first < b - a:
            last = first
            while last < b - a and ratings[a + order[last]] == ratings[a + order[first]]:
                below, i = 0, place[order[last]]  # of lower rating, and lower estimate
                while i > 0:
                    below += tree[i]
                    i -= i & -i
                concordant[user] += below
                discordant[user] += first - below
                last += 1
            for j in range(first, last):
                i = place[order[j]] + 1
                while i <= len(levels):
                    tree[i] += 1
                    i += i & -i
            first = last


PAIRED: dict[str, Paired] = {
    "rmse": score_rmse,
    "mae": score_mae,
    "mse": score_mse,
    "r2": score_r2,
    "explained_variance": score_explained_variance,
    "fcp": score_fcp,
}
"""The function of each metric of pairs."""
