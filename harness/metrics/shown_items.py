"""Which items stand at the first ranks of lists, how often, and how much they are alike."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import MetricError, counted
from harness.kernels import each_block, kernel
from harness.lazy import scipy
from harness.metrics.arrays import Bools, Floats, Ints, Rankings, Ranks
from harness.metrics.exposure import Exposure


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
