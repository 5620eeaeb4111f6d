"""Rankings from columns of users, estimates and ratings in no order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ints
from harness.parallel import each_block, n_threads
from harness.rankings.sorting import count_users, find_levels, order_users, place_rows

__all__ = ["from_grouped", "from_pairs", "group_pairs"]

SMALLEST_BLOCK = 512
ROWS_WORTH_A_THREAD = 100_000


def from_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> Rankings:
    """Rank each user's rated items by estimate; every item is judged.

    Parameters
    ----------
    users : array_like, shape (n_rows,)
        Whose row it is: numbers or text, in any order.
    estimates : array_like of float, shape (n_rows,)
        The model's guesses; equal ones keep the order of the rows under ``ties=first``.
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
    return _rank(*_group_checked(users, estimates, ratings))


def from_grouped(pairs: Pairs, users: NDArray[Any] | None = None) -> Rankings:
    """Rank the items of pairs that are grouped by user already; every item is judged.

    Parameters
    ----------
    pairs : Pairs
    users : ndarray, shape (n_users,), optional
        Their ids.

    Raises
    ------
    MetricError
        If a value is not finite.

    Examples
    --------
    >>> from_grouped(Pairs([0, 2], [1.0, 2.0], [3.0, 5.0])).relevance.tolist()
    [5.0, 3.0]
    """
    check_finite(pairs, users)
    columns, ranks = _make_room(len(pairs.estimates))
    columns[0], columns[1] = pairs.estimates, pairs.ratings
    return _rank(Pairs(pairs.offsets, *columns), ranks, users)


def group_pairs(
    users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike
) -> tuple[Pairs, NDArray[Any]]:
    """Group columns by user, each user's rows in their order.

    Returns
    -------
    pairs : Pairs
    users : ndarray, shape (n_users,)
        The ids, rising.

    Raises
    ------
    MetricError
        If the lengths differ, there is no row, or a value is missing or not finite.

    Examples
    --------
    >>> pairs, users = group_pairs([7, 3, 7], [1.0, 2.0, 3.0], [4, 5, 6])
    >>> users.tolist(), pairs.estimates.tolist()
    ([3, 7], [2.0, 1.0, 3.0])
    """
    pairs, _, ids = _group_checked(users, estimates, ratings)
    return pairs, ids


def _group_checked(
    users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike
) -> tuple[Pairs, NDArray[np.int32], NDArray[Any]]:
    """Group columns by user; return the pairs, room for their ranks, and the ids."""
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
    grouped, ranks = _make_room(len(codes))
    pairs = Pairs(group(codes, len(ids), columns[1], columns[2], grouped), *grouped)
    check_finite(pairs, ids)
    return pairs, ranks, ids


def _make_room(n_rows: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return room for two columns and for three of ranks, in one block of memory.

    The larger a block, the faster it comes: from 4 MB on NumPy asks for large pages.
    """
    block = np.empty(28 * n_rows, dtype=np.uint8)
    columns, ranks = block[: 16 * n_rows].view(np.float64), block[16 * n_rows :].view(np.int32)
    return columns.reshape(2, n_rows), ranks.reshape(3, n_rows)


def as_floats(name: str, values: ArrayLike) -> Floats:
    """Return a column as floats.

    Raises
    ------
    MetricError
        If something in it is no number; `name` starts the message.

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


def encode(ids: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Replace ids by their positions among the ids in order.

    Returns
    -------
    codes : ndarray of int64, shape (n_rows,)
    ids : ndarray, shape (n_ids,)
        Rising, each once.

    Examples
    --------
    >>> encode(np.array([30, 10, 30]))
    (array([1, 0, 1]), array([10, 30]))
    """
    if ids.dtype.kind in "iu":
        least, span = int(ids.min()), int(ids.max()) - int(ids.min()) + 1
        if span <= max(4 * len(ids), 1_000_000):
            return _encode_by_table(ids, least, span)
    import pandas as pd

    try:
        codes, unique = pd.factorize(ids, sort=True)
    except TypeError:
        raise MetricError("ids of several types cannot be put in order; use one type") from None
    if (codes < 0).any():
        raise MetricError(f"row {int(np.argmin(codes)) + 1}: an id is missing; drop or name it")
    return codes.astype(np.int64, copy=False), np.asarray(unique)


def _encode_by_table(ids: NDArray[Any], least: int, span: int) -> tuple[Ints, NDArray[Any]]:
    """Encode ids that lie close together, without sorting or hashing."""
    shifted = ids.astype(np.int64, copy=False)
    if least:
        shifted = shifted - least
    present = np.zeros(span, dtype=bool)
    present[shifted] = True
    if present.all():
        return shifted, np.arange(least, least + span, dtype=ids.dtype)
    codes = np.cumsum(present) - 1
    return codes[shifted], (np.flatnonzero(present) + least).astype(ids.dtype)


def group(codes: Ints, n_users: int, first: Floats, second: Floats, out: Floats) -> Ints:
    """Bring rows of one user together with a counting sort, in their order.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_rows,)
        Whose row it is.
    n_users : int
    first, second : ndarray of float64, shape (n_rows,)
    out : ndarray of float64, shape (2, n_rows)
        Takes `first` and `second`, rearranged.

    Returns
    -------
    ndarray of int64, shape (n_users + 1,)
        Where the rows of each user start.
    """
    n_rows = len(codes)
    n_chunks = max(1, min(n_threads(), n_rows // ROWS_WORTH_A_THREAD))
    edges = [n_rows * chunk // n_chunks for chunk in range(n_chunks + 1)]
    counts = np.zeros((n_chunks, n_users), dtype=np.int64)
    _each_chunk(lambda c: count_users(codes, edges[c], edges[c + 1], counts[c]), n_chunks)
    offsets = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))
    # Where each chunk's rows of a user start: behind those of the chunks before it.
    free = offsets[:-1] + np.cumsum(counts, axis=0) - counts
    _each_chunk(
        lambda c: place_rows(codes, first, second, edges[c], edges[c + 1], free[c], *out), n_chunks
    )
    return offsets


def _each_chunk(task: Callable[[int], object], n_chunks: int) -> None:
    each_block(lambda start, stop: [task(chunk) for chunk in range(start, stop)], n_chunks)


def check_finite(pairs: Pairs, users: NDArray[Any] | None) -> None:
    """Refuse values that cannot be ordered, and name whose they are.

    Raises
    ------
    MetricError
        If an estimate or a rating is missing or infinite.
    """
    for name, values in (("estimate", pairs.estimates), ("rating", pairs.ratings)):
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            position = int(np.searchsorted(pairs.offsets, row, side="right")) - 1
            user = position if users is None else users[position]
            raise MetricError(
                f"user {user}: {name} {values[row]} is not finite; "
                f"{int((~finite).sum())} such in all: drop these rows or give them a value"
            )


def _rank(pairs: Pairs, ranks: NDArray[np.int32], users: NDArray[Any] | None) -> Rankings:
    """Make rankings of pairs in their own memory: the pool takes the place of the estimates."""
    offsets, estimates, relevance = pairs.offsets, pairs.estimates, pairs.ratings
    rank, low, high = ranks
    levels = find_levels(relevance)
    each_block(
        lambda a, b: order_users(offsets, estimates, relevance, levels, a, b, rank, low, high),
        pairs.n_users,
        SMALLEST_BLOCK,
    )
    return Rankings(
        offsets, relevance, rank, low, high, np.diff(offsets), offsets, estimates, users=users
    )
