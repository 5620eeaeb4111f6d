"""Rankings from lists of items on one side and known relevances on the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import MetricError, suggestion
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ints
from harness.rankings.blocks import order_keys, tie_keys
from harness.rankings.columns import as_floats, encode, from_grouped

__all__ = ["Lists", "check_ranks", "from_lists", "from_matrix", "from_recommendations", "match"]


@dataclass(frozen=True, eq=False)
class Lists:
    """Rankings together with the ids behind their codes.

    Parameters
    ----------
    rankings : Rankings
        With ``top_items`` as positions in `items`.
    items : ndarray, shape (n_items,)
        Ids of every item recommended or judged, rising.
    """

    rankings: Rankings
    items: NDArray[Any]


def from_recommendations(recommendations: Any, interactions: Any) -> Rankings:
    """Rank recommended items from a frame, with relevances from another frame.

    Users of both frames count: one without recommendations has an empty list, and one without
    interactions has no relevant item; ``empty`` and ``undefined`` give their scores.

    Parameters
    ----------
    recommendations : pandas.DataFrame or mapping of columns
        ``user_id``, ``item_id`` and either ``rank`` (1, 2, 3, ... for each user) or ``score``
        (greatest first, equal scores tied).
    interactions : pandas.DataFrame or mapping of columns
        ``user_id``, ``item_id`` and optionally ``weight``, the relevance; 1 without it.

    Returns
    -------
    Rankings
        Users in the order of their ids.

    Raises
    ------
    MetricError
        If a column is missing, ranks have gaps, an item comes twice for one user, or a value is
        not a finite number.

    Examples
    --------
    >>> recommendations = {"user_id": [1, 1, 2], "item_id": ["a", "b", "a"], "rank": [2, 1, 1]}
    >>> interactions = {"user_id": [1, 3], "item_id": ["a", "b"]}
    >>> lists = from_recommendations(recommendations, interactions)
    >>> lists.users.tolist(), lists.rank.tolist(), lists.n_ranked.tolist()
    ([1, 2, 3], [2], [2, 1, 0])
    """
    users, items = (_column(recommendations, name) for name in ("user_id", "item_id"))
    if "rank" in recommendations:
        keys = -as_floats("rank", _column(recommendations, "rank"))
    elif "score" in recommendations:
        keys = as_floats("score", _column(recommendations, "score"))
    else:
        raise MetricError(
            "recommendations: neither a column 'rank' nor 'score'; add one that orders each list"
        )
    truth = [_column(interactions, name) for name in ("user_id", "item_id")]
    grades = (
        as_floats("weight", _column(interactions, "weight"))
        if "weight" in interactions
        else np.ones(len(truth[0]))
    )
    lists = match((users, items, keys), (truth[0], truth[1], grades)).rankings
    if "rank" in recommendations and len(users):
        check_ranks(users, -keys)
    return lists


def from_lists(
    predictions: Sequence[Sequence[Hashable]],
    labels: Sequence[Sequence[Hashable] | Mapping[Hashable, float]],
) -> Rankings:
    """Rank each user's predicted items in their order, with relevances from the user's labels.

    Parameters
    ----------
    predictions : sequence of sequences
        For each user the recommended items, best first; empty where there is none.
    labels : sequence of sequences or of mappings
        For each user the relevant items, or items with their relevance.

    Raises
    ------
    MetricError
        If there are not as many predictions as labels, or an item comes twice.

    Examples
    --------
    >>> lists = from_lists([[1, 6, 8], []], [[1, 2, 6], {2: 4.0}])
    >>> lists.rank.tolist(), lists.pool.tolist(), lists.n_ranked.tolist()
    ([1, 2], [1.0, 1.0, 1.0, 4.0], [3, 0])
    """
    if len(predictions) != len(labels):
        raise MetricError(
            f"lists: {len(predictions)} lists of predictions and {len(labels)} of labels; "
            "give one of each for every user, empty where there is nothing"
        )
    if not len(predictions):
        raise MetricError("lists: there is no user; give at least one")
    owners = [user for user, items in enumerate(predictions) for _ in items]
    places = [-float(place) for items in predictions for place in range(len(items))]
    truth_owners = [user for user, items in enumerate(labels) for _ in items]
    grades = [
        float(grade)
        for items in labels
        for grade in (items.values() if isinstance(items, Mapping) else [1.0] * len(items))
    ]
    recommended = _objects([item for items in predictions for item in items])
    relevant = _objects([item for items in labels for item in items])
    return match(
        (np.array(owners, dtype=np.int64), recommended, np.array(places)),
        (np.array(truth_owners, dtype=np.int64), relevant, np.array(grades)),
        everybody=np.arange(len(predictions)),
    ).rankings


def from_matrix(relevance: ArrayLike, scores: ArrayLike) -> Rankings:
    """Rank the columns of each row by score; every column is judged, as in scikit-learn.

    Parameters
    ----------
    relevance, scores : array_like of float, shape (n_users, n_items)

    Raises
    ------
    MetricError
        If the shapes differ, are not two-dimensional, or a value is not finite.

    Examples
    --------
    >>> from_matrix([[10, 0, 5]], [[0.1, 0.2, 0.7]]).relevance.tolist()
    [5.0, 0.0, 10.0]
    """
    grades, keys = as_floats("relevance", relevance), as_floats("scores", scores)
    if grades.shape != keys.shape or grades.ndim != 2 or not grades.size:
        raise MetricError(
            f"matrix: relevance has shape {grades.shape} and scores {keys.shape}; "
            "give two matrices of users and items"
        )
    n_users, n_items = grades.shape
    offsets = np.arange(n_users + 1) * n_items
    return from_grouped(Pairs(offsets, keys.ravel(), grades.ravel()), np.arange(n_users))


def match(
    recommended: tuple[NDArray[Any], NDArray[Any], Floats],
    judged: tuple[NDArray[Any], NDArray[Any], Floats],
    everybody: NDArray[Any] | None = None,
    names: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> Lists:
    """Sort recommended rows by descending key, and find each among the judged rows.

    Parameters
    ----------
    recommended : (users, items, keys)
        Columns; equal keys of a user are tied, in the order of the rows.
    judged : (users, items, grades)
        Columns; what is not among them has relevance 0.
    everybody : ndarray, optional
        Users to have a list each; by default those of either side.
    names : (ndarray, ndarray), optional
        Texts that users and items, then codes, stand for: they order tied items in ``top_items``.
        Left out, these have the order of the rows.

    Raises
    ------
    MetricError
        If an item comes twice for one user, a value is not finite, or there is no row at all.

    Examples
    --------
    >>> lists = match((np.array([7, 7]), np.array([1, 2]), np.array([0.5, 0.9])),
    ...               (np.array([7]), np.array([1]), np.array([3.0])))
    >>> lists.rankings.rank.tolist(), lists.rankings.top_items.tolist(), lists.items.tolist()
    ([2], [[1, 0]], [1, 2])
    """
    n = len(recommended[0])
    for where, columns in (("recommendations", recommended), ("truth", judged)):
        if len({len(column) for column in columns}) > 1:
            raise MetricError(
                f"{where}: columns of {', '.join(str(len(column)) for column in columns)} rows; "
                "give columns of one length"
            )
        if not np.isfinite(columns[2]).all():
            row = int(np.argmin(np.isfinite(columns[2])))
            raise MetricError(
                f"{where}: user {columns[0][row]}, item {columns[1][row]}: {columns[2][row]} is "
                "not finite; drop the row or give it a value"
            )
    extra = recommended[0][:0] if everybody is None else everybody
    users, user_ids = _encode_all(recommended[0], judged[0], extra)
    items, item_ids = _encode_all(recommended[1], judged[1])
    if not len(user_ids):
        raise MetricError("recommendations: there is no row; give at least one user")
    n_users, n_items = len(user_ids), max(1, len(item_ids))
    cells = users[: len(items)] * n_items + items
    asked, known = cells[:n], cells[n:]
    by_cell = np.argsort(known, kind="stable")
    for where, found in (("recommendations", np.sort(asked)), ("truth", known[by_cell])):
        twice = found[1:][found[1:] == found[:-1]]
        if len(twice):
            user, item = divmod(int(twice[0]), n_items)
            raise MetricError(
                f"{where}: item {item_ids[item]} comes twice for user {user_ids[user]}; "
                "keep one of the rows"
            )

    keys = recommended[2]
    order = np.lexsort((-keys, users[:n]))
    owner, keys, asked = users[:n][order], keys[order], asked[order]
    n_ranked = np.bincount(owner, minlength=n_users)
    starts = np.cumsum(n_ranked) - n_ranked
    rank = np.arange(n) - starts[owner] + 1
    first = np.ones(n, dtype=bool)  # of its tied group
    first[1:] = (owner[1:] != owner[:-1]) | (keys[1:] != keys[:-1])
    group = np.cumsum(first) - 1
    low, high = rank[first], rank[np.append(first[1:], True)[:n]]

    place = np.searchsorted(known[by_cell], asked)
    place = np.minimum(place, max(0, len(known) - 1))
    hit = known[by_cell][place] == asked if len(known) else np.zeros(n, dtype=bool)
    depth = int(n_ranked.max(initial=0))
    top = np.full((n_users, depth), -1, dtype=np.int32)
    shown = asked
    if names is not None:
        user_keys, item_keys = tie_keys(names[0][user_ids]), tie_keys(names[1][item_ids])
        equal = order_keys(user_keys[owner], item_keys[asked % n_items])
        shown = asked[np.lexsort((equal, -keys, owner))]
    top[owner, rank - 1] = shown % n_items
    rankings = Rankings(
        np.concatenate(([0], np.cumsum(np.bincount(owner[hit], minlength=n_users)))),
        judged[2][by_cell][place[hit]],
        rank[hit],
        low[group[hit]],
        high[group[hit]],
        n_ranked,
        *_pool(users[n : len(items)], judged[2], n_users),
        top_items=top,
        users=user_ids,
    )
    return Lists(rankings, item_ids)


def _encode_all(*columns: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Encode several columns of one kind of id together."""
    filled = [column for column in columns if len(column)]
    if not filled:
        return np.zeros(0, dtype=np.int64), columns[0]
    texts = [column for column in filled if isinstance(column[0], str)]
    if texts and len(texts) < len(filled):
        (other, *_) = (column for column in filled if not isinstance(column[0], str))
        raise MetricError(
            f"recommendations: ids are text on one side, as {str(texts[0][0])!r}, and numbers on "
            f"the other, as {other[0]}; use one type on both"
        )
    return encode(np.concatenate(filled))


def _pool(users: Ints, grades: Floats, n_users: int) -> tuple[Ints, Floats]:
    offsets = np.concatenate(([0], np.cumsum(np.bincount(users, minlength=n_users))))
    return offsets, grades[np.lexsort((-grades, users))]


def _objects(values: list[Hashable]) -> NDArray[Any]:
    """Return ids as a column, numbers as numbers."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    if all(isinstance(value, (int, np.integer)) for value in values):
        return column.astype(np.int64)
    return column


def _column(frame: Any, name: str) -> NDArray[Any]:
    if name not in frame:
        raise MetricError(
            f"there is no column {name!r}; {suggestion(name, [str(each) for each in frame])}"
        )
    return np.asarray(frame[name])


def check_ranks(users: NDArray[Any], ranks: Floats) -> None:
    """Refuse ranks that are not 1, 2, 3, ... for each user.

    Raises
    ------
    MetricError
        Naming the first such user.

    Examples
    --------
    >>> check_ranks(np.array([7, 7]), np.array([1.0, 3.0]))
    Traceback (most recent call last):
    harness.errors.MetricError: recommendations: the ranks of user 7 are not 1, 2, 3, ...
    """
    codes, ids = encode(users)
    order = np.lexsort((ranks, codes))
    counts = np.bincount(codes)
    expected = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    wrong = ranks[order] != expected
    if wrong.any():
        user = ids[codes[order][np.argmax(wrong)]]
        raise MetricError(
            f"recommendations: the ranks of user {user} are not 1, 2, 3, ...; "
            "number them again, or give a column 'score' instead"
        )
