"""Rankings from columns of users, estimates and ratings, from predictions, or of a catalogue."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.arguments import as_array, unmasked
from harness.errors import MetricError, counted
from harness.kernels import each_block, group_rows, kernel
from harness.lazy import pd
from harness.metrics import Pairs, Rankings, dcg
from harness.metrics.arrays import Floats, Ints, Ranks

Ids = NDArray[np.generic]
"""Names of users or items: numbers or text."""
TieKeys = NDArray[np.uint64]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
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
    """Group columns by user, each user's rows in their order; return pairs and ascending ids."""
    columns = [_id_column("users", users)]
    columns += [as_floats("estimates", estimates), as_floats("ratings", ratings)]
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


def from_predictions(predictions: Iterable[object]) -> Rankings:
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
    if not isinstance(predictions, Iterable) or hasattr(predictions, "columns"):
        raise MetricError(
            f"predictions: of type {type(predictions).__name__}; give a list of them, of a "
            "DataFrame zip(frame.user, frame.estimate, frame.rating)"
        )
    rows = [_row(position, prediction) for position, prediction in enumerate(predictions)]
    if not rows:
        raise MetricError("predictions: empty; give at least one")
    users, estimates, ratings = zip(*rows, strict=True)
    return from_pairs(as_ids(users), estimates, ratings)


def ndcg(predictions: Iterable[object], k: int | None = 10, **params: Any) -> float:
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
        In [0, 1], unless ``negative="keep"`` keeps negative gains; nan if no user has an item of
        positive gain.

    Raises
    ------
    MetricError
        If a parameter or a prediction cannot be used.

    Warns
    -----
    UserWarning
        If all ratings are equal, as in an anti-test set of Surprise, where each is the mean of the
        training set: any order scores the same.

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
    rankings = from_predictions(predictions)
    _warn_of_equal_ratings(rankings)
    return dcg.ndcg(rankings, k, **params).mean


def _warn_of_equal_ratings(rankings: Rankings) -> None:
    ratings = rankings.relevance
    if rankings.longest > 1 and ratings.min() == ratings.max():
        warnings.warn(
            f"predictions: all ratings are {ratings[0]:.6g}, as in an anti-test set, so that any "
            "order scores the same; score a test set, or rank all items by harness.run with "
            "`candidates: catalogue`",
            stacklevel=3,
        )


def _row(position: int, prediction: object) -> tuple[Hashable, float, float]:
    row: tuple[Hashable, float, float]
    if hasattr(prediction, "uid") and hasattr(prediction, "est") and hasattr(prediction, "r_ui"):
        row = prediction.uid, prediction.est, prediction.r_ui
    elif "Index" in getattr(prediction, "_fields", ()):
        raise MetricError(
            f"predictions[{position}]: a row of a DataFrame with its index; give "
            "frame.itertuples(index=False), after frame.reset_index() if the index is the user"
        )
    elif (
        isinstance(prediction, (Sequence, np.ndarray))
        and not isinstance(prediction, str)
        and len(prediction) in (2, 3)
    ):
        row = (0, *prediction) if len(prediction) == 2 else tuple(prediction)
    else:
        raise MetricError(
            f"predictions[{position}]: {prediction!r:.60} is no prediction; give "
            "surprise.Prediction, (estimate, rating) or (user, estimate, rating)"
        )
    if row[2] is None:
        raise MetricError(
            f"predictions[{position}]: there is no true rating; score a test set, "
            "not an anti-test set"
        )
    return row


def as_floats(name: str, values: ArrayLike) -> Floats:
    """Return a column as floats; `name` starts the message about a value that is no number."""
    return as_array(name, values, np.float64, MetricError)


def _id_column(name: str, values: ArrayLike) -> Ids:
    """Return ids of any kind as a column; tuples are ids, not rows of an array."""
    unmasked(name, values, MetricError)
    if isinstance(values, list | tuple) and any(isinstance(value, tuple) for value in values):
        return as_ids(values)
    with suppress(ValueError):  # of lists of different lengths, which are no ids
        return np.asarray(values)
    raise MetricError(f"{name}: an id is a list; give numbers, text or tuples")


def as_ids(values: Sequence[Hashable]) -> Ids:
    """Return ids as a column, numbers of up to 64 bits as numbers."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    with suppress(OverflowError):
        if all(isinstance(value, (int, np.integer)) for value in values):
            return column.astype(np.int64)
    return column


def encode(ids: Ids) -> tuple[Ints, Ids]:
    """Replace ids by their positions among the ids, which are ascending and unique."""
    if ids.dtype.kind in "iu" and len(ids):
        span = int(ids.max()) - int(ids.min()) + 1
        if span <= max(4 * len(ids), 1_000_000):  # a table is ten times faster than hashing
            wide = ids.astype(np.uint64 if ids.dtype.kind == "u" else np.int64, copy=False)
            least = wide.min()
            shifted = (wide - least).astype(np.int64, copy=False)
            present = np.zeros(span, dtype=bool)
            present[shifted] = True
            codes = shifted if present.all() else (np.cumsum(present) - 1)[shifted]
            return codes, (np.flatnonzero(present).astype(wide.dtype) + least).astype(ids.dtype)
    try:
        codes, unique = pd.factorize(ids, sort=True)
    except TypeError as error:
        raise MetricError(f"ids: {error}; use numbers alone or text alone") from None
    if (codes < 0).any():
        raise MetricError(f"row {int(np.argmin(codes)) + 1}: an id is missing; drop or name it")
    return codes.astype(np.int64, copy=False), np.asarray(unique)


def from_grouped(pairs: Pairs, users: Ids | None = None) -> Rankings:
    """Rank the items of pairs that are grouped by user already; every item is judged.

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
    columns, out = (offsets, estimates, grades), (relevance, pool, rank, low, high)
    order_few = lambda a, b: _order_few(*columns, a, b, FEW, *out)  # noqa: E731
    each_block(order_few, pairs.n_users, SMALLEST_BLOCK)
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


def tie_keys(ids: ArrayLike) -> TieKeys:
    """Return a number for each id that depends on its text alone."""
    from pandas.util import hash_array

    texts = np.array([str(each) for each in np.asarray(ids).tolist()], dtype=object)
    keys: TieKeys = hash_array(texts, categorize=False)
    return keys


def order_keys(users: TieKeys, items: TieKeys) -> TieKeys:
    """Return sort keys for items with equal estimates in shown lists: the smallest comes first.

    Like random numbers they differ from user to user, but depend on their `tie_keys` alone.
    """
    return (users ^ items) * MULTIPLIER


def rank_block(
    estimates: Floats,
    judged_offsets: ArrayLike,
    judged_items: ArrayLike,
    judged_ratings: ArrayLike,
    excluded_offsets: ArrayLike | None = None,
    excluded_items: ArrayLike | None = None,
    depth: int = 0,
    tie_keys: tuple[TieKeys, TieKeys] | None = None,
    least: float = -np.inf,
) -> Rankings:
    """Rank every column of a block of users and find the ranks of the judged ones.

    User ``u`` judged the columns ``judged_items[judged_offsets[u]:judged_offsets[u + 1]]``; every
    other column has relevance 0. A judged column that is -1 (no candidate), excluded or estimated
    below `least` is not ranked but stays in the user's pool. The `depth` columns at the top of each
    list are kept in ``top_items``, those of equal estimate in the order of `tie_keys` (of the users
    and of the columns), or of the columns, and their estimates in ``top_estimates``.
    Equal estimates have the order of the columns under ``ties=first``. ``items`` are columns.

    >>> lists = rank_block(np.array([[1.0, 3.0, 2.0, 3.0]]), [0, 2], [3, 0], [5.0, 4.0], depth=2)
    >>> lists.rank.tolist(), lists.tie_low.tolist(), lists.tie_high.tolist()
    ([2, 4], [1, 4], [2, 4])
    >>> lists.top_items.tolist()
    [[1, 3]]
    """
    estimates = as_floats("estimates", estimates)
    n_users, n_items = estimates.shape
    allowed = np.ones((n_users, n_items), dtype=bool)
    if excluded_offsets is not None and excluded_items is not None:
        users, columns = _columns("excluded", excluded_offsets, excluded_items, n_users, n_items)
        allowed[users[columns >= 0], columns[columns >= 0]] = False
    users, columns = _columns("judged", judged_offsets, judged_items, n_users, n_items)
    ratings = as_floats("judged_ratings", judged_ratings)
    if len(ratings) != len(columns) or not np.isfinite(ratings).all():
        raise MetricError(
            f"judged_ratings: {counted(len(ratings), 'value')}, some perhaps not finite, for "
            f"{counted(len(columns), 'item')}; give one finite rating for each"
        )
    pool_offsets, pool = offsets_of(users, n_users), ratings[np.lexsort((-ratings, users))]
    listed = columns >= 0
    if n_items:
        listed &= allowed[users, columns] & ~(estimates[users, columns] < least)
    users, columns, ratings = users[listed], columns[listed], ratings[listed]
    cells, n_times = np.unique(users * n_items + columns, return_counts=True)
    for cell in cells[n_times > 1][:1].tolist():
        raise MetricError(
            f"row {cell // n_items}, column {cell % n_items}: judged twice; "
            "keep one rating of each item"
        )
    candidates, n_ranked = np.empty_like(estimates), np.empty(n_users, dtype=np.int64)
    above, equal, before = np.empty((3, len(columns)), dtype=np.int32)
    offsets = offsets_of(users, n_users)

    def count(start: int, stop: int) -> None:
        row = _count(
            estimates, allowed, least, offsets, columns, start, stop,
            candidates, n_ranked, above, equal, before,
        )  # fmt: skip
        if row >= 0:
            column = np.flatnonzero(allowed[row] & ~np.isfinite(estimates[row]))[0]
            raise MetricError(
                f"row {row}, column {column}: estimate {estimates[row, column]} is not "
                "finite; give the item a value or exclude it"
            )

    each_block(count, n_users, 8)
    order = np.argsort(users * n_items + above + before)
    above, equal, before = above[order], equal[order], before[order]
    top, top_estimates = None, None
    if depth:
        top = top_columns(candidates, allowed, depth, tie_keys)
        top_estimates = np.full(top.shape, np.nan)
        top_estimates[top >= 0] = candidates[np.nonzero(top >= 0)[0], top[top >= 0]]
    ranks = above + before + 1, above + 1, above + equal
    named: Any = {"top_items": top, "top_estimates": top_estimates, "items": columns[order]}
    return Rankings(offsets, ratings[order], *ranks, n_ranked, pool_offsets, pool, **named)


def _columns(
    name: str, given_offsets: ArrayLike, given_items: ArrayLike, n_users: int, n_items: int
) -> tuple[Ints, Ints]:
    """Return the user and the column of each entry of a ragged array that came from elsewhere."""
    offsets = as_array(f"{name}_offsets", given_offsets, np.int64, MetricError)
    items = as_array(f"{name}_items", given_items, np.int64, MetricError)
    if len(offsets) != n_users + 1 or offsets[0] != 0 or offsets[-1] != len(items):
        raise MetricError(
            f"{name}_offsets: they do not divide {counted(len(items), 'item')} among "
            f"{counted(n_users, 'user')}; they must rise from 0 to the number of items"
        )
    if len(items) and (items.min() < -1 or items.max() >= n_items):
        raise MetricError(
            f"{name}_items: columns from {items.min()} to {items.max()}; "
            f"use columns from 0 to {n_items - 1}, or -1 for no candidate"
        )
    return np.repeat(np.arange(n_users), np.diff(offsets)), items


def offsets_of(users: Ints, n_users: int) -> Ints:
    """Return where the entries of each user start, once they are in the order of the users."""
    return np.concatenate(([0], np.cumsum(np.bincount(users, minlength=n_users))))


def top_columns(
    candidates: Floats, allowed: NDArray[np.bool_], depth: int, keys: tuple[TieKeys, TieKeys] | None
) -> Ranks:
    """Return the columns of the `depth` highest estimates of each row, -1 beyond the last."""
    n_users, n_items = candidates.shape
    least = np.full((n_users, 1), -np.inf)
    if depth < n_items:
        least = np.partition(candidates, n_items - depth, axis=1)[:, n_items - depth, None]
    rows, columns = np.nonzero(allowed & (candidates >= least))
    # Where more columns than there is room for have the least estimate: those of least key.
    offsets, shown = offsets_of(rows, n_users), np.ones(len(rows), dtype=bool)
    for row in np.flatnonzero(np.diff(offsets) > depth):
        above = columns[offsets[row] : offsets[row + 1]]
        tied = np.flatnonzero(candidates[row, above] == least[row])
        room = depth - (len(above) - len(tied))
        if keys is not None:
            order = order_keys(keys[0][row], keys[1][above[tied]])
            tied = tied[np.argpartition(order, room - 1)]
        shown[offsets[row] + tied[room:]] = False
    rows, columns = rows[shown], columns[shown]
    equal = None if keys is None else order_keys(keys[0][rows], keys[1][columns])
    return top_items(rows, columns, candidates[rows, columns], n_users, depth, equal)


def top_items(
    users: Ints,
    items: Ints | Ranks,
    estimates: Floats,
    n_users: int,
    depth: int,
    equal: TieKeys | None = None,
) -> Ranks:
    """Return the items of highest estimate of each user, -1 past the end; `equal` orders ties."""
    order = np.lexsort((-estimates, users) if equal is None else (equal, -estimates, users))
    users = users[order]
    position = np.arange(len(users)) - np.searchsorted(users, users)
    shown = position < depth
    top = np.full((n_users, depth), -1, dtype=np.int32)
    top[users[shown], position[shown]] = items[order][shown]
    return top


# Compiled, because sorting whole rows takes several times as long: the rank of a judged column
# is the number of columns with a higher estimate, of which a processor compares eight at a time in
# a loop without a branch.
@kernel
def _count(
    estimates: Floats,
    allowed: NDArray[np.bool_],
    least: float,
    offsets: Ints,
    columns: Ints,
    start: int,
    stop: int,
    candidates: Floats,
    n_ranked: Ints,
    above: Ranks,
    equal: Ranks,
    before: Ranks,
) -> int:
    """Count the columns above each judged one, those equal to it and the equal ones before it.

    A column that is no candidate is below all others. Returned is the first user with a candidate
    whose estimate is not finite, or -1.
    """
    for user in range(start, stop):
        row = candidates[user]
        n_wrong, n_listed = 0, 0
        for column in range(len(row)):
            value, listed = estimates[user, column], allowed[user, column]
            n_wrong += listed & (value - value != 0.0)
            listed &= value >= least
            n_listed += listed
            row[column] = value if listed else -np.inf
        if n_wrong:
            return user
        n_ranked[user] = n_listed
        for column in range(len(row)):
            allowed[user, column] = row[column] > -np.inf
        for entry in range(offsets[user], offsets[user + 1]):
            estimate = row[columns[entry]]
            n_above, n_equal, n_before = 0, 0, 0
            for other in range(len(row)):
                n_above += row[other] > estimate
                n_equal += row[other] == estimate
            if n_equal > 1:
                for other in range(columns[entry]):
                    n_before += row[other] == estimate
            above[entry], equal[entry], before[entry] = n_above, n_equal, n_before
    return -1
