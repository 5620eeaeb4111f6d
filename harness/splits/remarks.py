"""Notes on a split: unknown users and items, ratings left out, leaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.datasets import Ratings

__all__ = ["later_share", "remarks", "unseen"]

Rows = NDArray[np.int64]


def unseen(codes: NDArray[np.int32], n: int, train: Rows, test: Rows) -> tuple[int, int]:
    """Count the users, or the items, of the test part and those without a training rating.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_ratings,)
        A user or an item for each rating.
    n : int
        How many codes there are.
    train, test : ndarray of int64
        Rows of the two parts.

    Returns
    -------
    (int, int)
        Distinct codes of the test part, and how many of them have no training row.

    Examples
    --------
    >>> unseen(np.array([0, 0, 1, 2]), 3, np.array([0, 3]), np.array([1, 2]))
    (2, 1)
    """
    known = np.zeros(n, bool)
    known[codes[train]] = True
    asked = np.zeros(n, bool)
    asked[codes[test]] = True
    return int(asked.sum()), int((asked & ~known).sum())


def later_share(timestamps: NDArray[np.int64], train: Rows, test: Rows) -> float:
    """Return how much of the training part is from the future.

    Parameters
    ----------
    timestamps : ndarray of int64, shape (n_ratings,)
        Seconds.
    train, test : ndarray of int64
        Rows of the two parts.

    Returns
    -------
    float
        The share of training ratings that are later than the median test rating (the lower one of
        two); about one half for a random split, 0 for a split in time. It is 0 only if no training
        rating at all is later than the first test rating.

    Notes
    -----
    Why it matters: Y. Ji, A. Sun, J. Zhang, C. Li, "A critical study on data leakage in recommender
    system offline evaluation", ACM TOIS 41(3), 2023, doi:10.1145/3569930.

    Examples
    --------
    >>> later_share(np.array([1, 2, 3, 4]), np.array([0, 3]), np.array([1, 2]))
    0.5
    """
    before, after = timestamps[train], timestamps[test]
    if before.max() <= after.min():
        return 0.0
    middle = (len(after) - 1) // 2
    median = np.partition(after, middle)[middle]
    share = float(np.count_nonzero(before > median)) / len(before)
    return max(share, 1.0 / len(before))


def remarks(ratings: Ratings, train: Rows, test: Rows, n_divided: int) -> tuple[str, ...]:
    """Return notes on the two parts of a split.

    Parameters
    ----------
    ratings : Ratings
        What the rows are of.
    train, test : ndarray of int64
        Rows of the two parts.
    n_divided : int
        How many ratings there were to divide.
    """
    notes = []
    for word, codes, n in (
        ("user", ratings.users, ratings.n_users),
        ("item", ratings.items, ratings.n_items),
    ):
        n_asked, n_new = unseen(codes, n, train, test)
        if n_new:
            verb = "has" if n_new == 1 else "have"
            notes.append(
                f"{n_new:,} of {_counted(n_asked, f'test {word}')} ({_percent(n_new / n_asked)}) "
                f"{verb} no training rating"
            )
    used = np.zeros(len(ratings), bool)
    used[train] = used[test] = True
    n_left = n_divided - int(np.count_nonzero(used))
    if n_left:
        part = _percent(n_left / n_divided)
        notes.append(f"{_counted(n_left, 'rating')} ({part}) in neither part")
    if ratings.timestamps is not None:
        share = later_share(ratings.timestamps, train, test)
        if share:
            notes.append(
                f"leaks the future: {_percent(share)} of the training ratings are later than the "
                "median test rating; `kind: global-time` does not"
            )
    return tuple(notes)


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share >= 0.0005 else "less than 0.1%"
