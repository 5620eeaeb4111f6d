"""Rankings from columns of users, estimates and ratings in no order, or from predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError
from harness.kernels import each_block, group_rows, kernel
from harness.metrics import Pairs, Rankings, dcg
from harness.metrics.arrays import Floats, Ints, Ranks

__all__ = [
    "as_floats",
    "encode",
    "from_grouped",
    "from_pairs",
    "from_predictions",
    "group_pairs",
    "ndcg",
]

Ids = NDArray[Any]
"""Names of users or items: numbers or text."""

SMALLEST_BLOCK = 512
FEW = 512
"""Lists this short are ordered by counting how many estimates are greater, the others by a sort."""


def from_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> Rankings:
    """Rank each user's rated items by estimate; every item is judged.

    Parameters
    ----------
    users : array_like, shape (n_rows,)
        The user of each row: numbers or text, in any order.
    estimates : array_like of float, shape (n_rows,)
        The model's estimates; equal ones keep the order of the rows under ``ties=first``.
    ratings : array_like of float, shape (n_rows,)
        The true ratings: the relevances.

    Returns
    -------
    Rankings
        Users in the order of their ids, which are in ``users``.

    Raises
    ------
    MetricError
        If the lengths differ, there is no row, or a value is missing or not finite.

    Examples
    --------
    >>> lists = from_pairs(["b", "a", "b"], [3.0, 4.5, 3.5], [5, 4, 2])
    >>> lists.users.tolist(), lists.relevance.tolist(), lists.rank.tolist()
    (['a', 'b'], [4.0, 2.0, 5.0], [1, 1, 2])
    """
    return from_grouped(*group_pairs(users, estimates, ratings))


def group_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> tuple[Pairs, Ids]:
    """Group columns by user, each user's rows in their order; return pairs and ascending ids.

    Examples
    --------
    >>> pairs, users = group_pairs([7, 3, 7], [1.0, 2.0, 3.0], [4, 5, 6])
    >>> users.tolist(), pairs.estimates.tolist()
    ([3, 7], [2.0, 1.0, 3.0])
    """
    columns = [np.asarray(users), as_floats("estimates", estimates), as_floats("ratings", ratings)]
    lengths = [column.shape for column in columns]
    if len(set(lengths)) > 1 or columns[0].ndim != 1:
        raise MetricError(
            "pairs: users, estimates and ratings have shapes "
            f"{', '.join(map(str, lengths))}; give three columns of one length"
        )
    if not len(columns[0]):
        raise MetricError("pairs: there is no row; give at least one pair of estimate and rating")
    codes, ids = encode(columns[0])
    offsets, rows = group_rows(codes, len(ids))
    grouped, _ = _make_room(len(rows))
    for column, out in zip(columns[1:], grouped, strict=True):
        np.take(column, rows, out=out, mode="clip")  # without checks of bounds, twice as fast
    return Pairs(offsets, *grouped), ids


def from_predictions(predictions: Iterable[Any]) -> Rankings:
    """Rank each user's predictions by estimate; every item is judged.

    Parameters
    ----------
    predictions : iterable
        ``surprise.Prediction`` (or anything with ``uid``, ``r_ui`` and ``est``), triples of user,
        estimate and rating, or pairs of estimate and rating that all belong to one user.

    Raises
    ------
    MetricError
        If a prediction is none of these, has no true rating, or there is none.

    Examples
    --------
    >>> from_predictions([(2.5, 3), (4.5, 4), (4.0, 5)]).relevance.tolist()
    [4.0, 5.0, 3.0]
    """
    rows = [_row(position, prediction) for position, prediction in enumerate(predictions)]
    if not rows:
        raise MetricError("predictions: empty; give at least one")
    users, estimates, ratings = zip(*rows, strict=True)
    column = np.empty(len(users), dtype=object)
    column[:] = users
    return from_pairs(column, estimates, ratings)


def ndcg(predictions: Iterable[Any], k: int | None = 10, **params: Any) -> float:
    """Return the mean NDCG@k of predictions over their users.

    Parameters
    ----------
    predictions : iterable
        As `from_predictions` takes them: ``algo.test(testset)`` of Surprise, or tuples.
    k : int or None
        Cut-off rank; None for whole lists.
    **params
        As in a label: ``ties="first"``, ``gain="linear"``, ``gain="binary(4)"``, ...

    Returns
    -------
    float
        In [0, 1]; nan if no user has an item of positive gain.

    Raises
    ------
    MetricError
        If a parameter or a prediction cannot be used.

    Examples
    --------
    The worked example with ten ratings and their estimates, ties in input order:

    >>> estimates = [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5]
    >>> ratings = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]
    >>> round(ndcg(zip(estimates, ratings), k=10, ties="first"), 12)
    0.961845355481
    >>> round(ndcg(zip(estimates, ratings), k=5, ties="first"), 12)
    0.959091177065
    """
    return dcg.ndcg(from_predictions(predictions), k, **params).mean


def _row(position: int, prediction: Any) -> tuple[Any, float, float]:
    if hasattr(prediction, "est") and hasattr(prediction, "r_ui"):
        row = prediction.uid, prediction.est, prediction.r_ui
    elif (
        isinstance(prediction, (Sequence, np.ndarray))
        and not isinstance(prediction, str)
        and len(prediction) in (2, 3)
    ):
        row = (0, *prediction) if len(prediction) == 2 else tuple(prediction)
    else:
        raise MetricError(
            f"predictions[{position}]: {prediction!r} is no prediction; give surprise.Prediction, "
            "(estimate, rating) or (user, estimate, rating)"
        )
    if row[2] is None:
        raise MetricError(
            f"predictions[{position}]: there is no true rating; score a test set, "
            "not an anti-test set"
        )
    return row


def as_floats(name: str, values: ArrayLike) -> Floats:
    """Return a column as floats; `name` starts the message about a value that is no number.

    Examples
    --------
    >>> as_floats("ratings", ["3", "x"])
    Traceback (most recent call last):
    harness.errors.MetricError: ratings: could not convert string to float: 'x'; give numbers only
    """
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MetricError(f"{name}: {error}; give numbers only") from None


def encode(ids: Ids) -> tuple[Ints, Ids]:
    """Replace ids by their positions among the ids, which are ascending and unique.

    Examples
    --------
    >>> encode(np.array([30, 10, 30]))
    (array([1, 0, 1]), array([10, 30]))
    """
    if ids.dtype.kind in "iu" and len(ids):
        least, span = int(ids.min()), int(ids.max()) - int(ids.min()) + 1
        if span <= max(4 * len(ids), 1_000_000):  # a table is ten times faster than hashing
            shifted = ids.astype(np.int64, copy=False) - least
            present = np.zeros(span, dtype=bool)
            present[shifted] = True
            codes = shifted if present.all() else (np.cumsum(present) - 1)[shifted]
            return codes, (np.flatnonzero(present) + least).astype(ids.dtype)
    import pandas as pd

    try:
        codes, unique = pd.factorize(ids, sort=True)
    except TypeError:
        raise MetricError("ids of several types cannot be put in order; use one type") from None
    if (codes < 0).any():
        raise MetricError(f"row {int(np.argmin(codes)) + 1}: an id is missing; drop or name it")
    return codes.astype(np.int64, copy=False), np.asarray(unique)


def from_grouped(pairs: Pairs, users: Ids | None = None) -> Rankings:
    """Rank the items of pairs that are grouped by user already; every item is judged.

    Parameters
    ----------
    pairs : Pairs
    users : ndarray, shape (n_users,), optional
        Their ids.

    Raises
    ------
    MetricError
        If an estimate or a rating is missing or infinite; it names the user.

    Examples
    --------
    >>> from_grouped(Pairs([0, 2], [1.0, 2.0], [3.0, 5.0])).relevance.tolist()
    [5.0, 3.0]
    """
    offsets, estimates, grades = pairs.offsets, pairs.estimates, pairs.ratings
    for name, values in (("estimate", estimates), ("rating", grades)):
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            position = int(np.searchsorted(offsets, row, side="right")) - 1
            raise MetricError(
                f"user {position if users is None else users[position]}: {name} {values[row]} is "
                f"not finite; {int((~finite).sum())} such in all: drop these rows or give them a "
                "value"
            )
    (relevance, pool), (rank, low, high) = _make_room(len(estimates))
    each_block(
        lambda a, b: _order_few(
            offsets, estimates, grades, a, b, FEW, relevance, pool, rank, low, high
        ),
        pairs.n_users,
        SMALLEST_BLOCK,
    )
    counts = np.diff(offsets)
    for user in np.flatnonzero(counts > FEW):
        block = slice(offsets[user], offsets[user + 1])
        order = np.argsort(-estimates[block], kind="stable")
        negative = -estimates[block][order]
        relevance[block] = grades[block][order]
        pool[block] = np.sort(grades[block])[::-1]
        rank[block] = np.arange(1, len(order) + 1)
        low[block] = np.searchsorted(negative, negative, side="left") + 1
        high[block] = np.searchsorted(negative, negative, side="right")
    return Rankings(offsets, relevance, rank, low, high, counts, offsets, pool, users=users)


def _make_room(n_rows: int) -> tuple[Floats, Ranks]:
    """Return room for two columns and three of ranks: from 4 MB on, NumPy asks for large pages."""
    block = np.empty(7 * n_rows, dtype=np.int32)
    columns, ranks = block[: 4 * n_rows].view(np.float64), block[4 * n_rows :]
    return columns.reshape(2, n_rows), ranks.reshape(3, n_rows)


# Compiled, because a sort of all rows by user and estimate (np.lexsort) takes eight times as long
# as everything else here. For each row, the rows of a greater estimate and those of a greater grade
# are counted: n * n comparisons in a loop without a branch, of which processors do eight at a time.
# A row comes after those that are greater and those before it that are equal; `rank` and `high`
# count the equal ones until they get their values.
@kernel
def _order_few(
    offsets: Ints,
    estimates: Floats,
    grades: Floats,
    start: int,
    stop: int,
    most: int,
    relevance: Floats,
    pool: Floats,
    rank: Ranks,
    low: Ranks,
    high: Ranks,
) -> None:
    """Order the rows of each user who has no more than `most`, without a sort."""
    for user in range(start, stop):
        a, b = offsets[user], offsets[user + 1]
        if b - a > most:
            continue
        keys, values = estimates[a:b], grades[a:b]  # from 0, the loops below are twice as fast
        for row in range(a, b):
            rank[row] = 0
            high[row] = 0
        for row in range(b - a):
            key, value = keys[row], values[row]
            above, better = 0, 0
            for other in range(len(keys)):
                above += keys[other] > key
            for other in range(len(values)):
                better += values[other] > value
            first_equal, best = a + above, a + better
            relevance[first_equal + rank[first_equal]] = value
            low[first_equal + rank[first_equal]] = above + 1
            rank[first_equal] += 1
            pool[best + high[best]] = value
            high[best] += 1
        for row in range(a, b):
            first = low[row] - 1
            high[row] = first + rank[a + first]
        for row in range(a, b):
            rank[row] = row - a + 1
