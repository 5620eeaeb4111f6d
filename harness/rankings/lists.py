"""Rankings from lists of items on one side and known relevances on the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import MetricError, suggestion
from harness.kernels import group_rows
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ints
from harness.rankings.blocks import offsets_of, order_keys, tie_keys, top_items
from harness.rankings.pairs import Ids, as_floats, encode, from_grouped

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame | Mapping[str, ArrayLike]

__all__ = ["Rows", "from_lists", "from_matrix", "from_recommendations", "match"]


class Rows(NamedTuple):
    """Columns of users, items and values; ids are codes from 0, in the order of their names."""

    users: Ints
    items: Ints
    values: Floats


def from_recommendations(recommendations: Frame, interactions: Frame) -> Rankings:
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
    if "rank" in recommendations:
        keys = -as_floats("rank", _column(recommendations, "rank"))
    elif "score" in recommendations:
        keys = as_floats("score", _column(recommendations, "score"))
    else:
        raise MetricError(
            "recommendations: neither a column 'rank' nor 'score'; add one that orders each list"
        )
    (users, judges), user_ids = _encode_both(recommendations, interactions, "user_id")
    (items, judged), item_ids = _encode_both(recommendations, interactions, "item_id")
    grades = np.ones(len(judges))
    if "weight" in interactions:
        grades = as_floats("weight", _column(interactions, "weight"))
    return match(
        Rows(users, items, keys),
        Rows(judges, judged, grades),
        user_ids,
        item_ids,
        by_rank="rank" in recommendations,
    )


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
    ranks = [float(rank) for items in predictions for rank in range(1, len(items) + 1)]
    grades = [
        float(grade)
        for items in labels
        for grade in (items.values() if isinstance(items, Mapping) else [1.0] * len(items))
    ]
    columns = [
        _objects([item for items in side for item in items]) for side in (predictions, labels)
    ]
    items, item_ids = _encoded(columns)
    users = [
        np.repeat(np.arange(len(side)), [len(each) for each in side])
        for side in (predictions, labels)
    ]
    return match(
        Rows(users[0], items[0], -np.array(ranks)),
        Rows(users[1], items[1], np.array(grades)),
        np.arange(len(predictions)),
        item_ids,
    )


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
    recommended: Rows,
    judged: Rows,
    user_ids: Ids,
    item_ids: Ids,
    *,
    by_rank: bool = False,
    by_name: bool = False,
) -> Rankings:
    """Sort recommended rows by descending key, and find each among the judged rows.

    Equal keys of a user are tied, in the order of the rows; what is not among the judged rows has
    relevance 0. Codes stand for positions in `user_ids`, all of whom get a list, and `item_ids`.
    With `by_rank` keys are negative ranks, which must be 1, 2, 3, ...; with `by_name` the ids, not
    the rows, order tied items in ``top_items``.

    Examples
    --------
    >>> lists = match(Rows(np.array([0, 0]), np.array([0, 1]), np.array([0.5, 0.9])),
    ...               Rows(np.array([0]), np.array([0]), np.array([3.0])),
    ...               np.array([7]), np.array(["a", "b"]))
    >>> lists.rank.tolist(), lists.top_items.tolist(), lists.users.tolist()
    ([2], [[1, 0]], [7])
    """
    import pandas as pd

    n_users, n_items = len(user_ids), max(1, len(item_ids))
    if not n_users:
        raise MetricError("recommendations: there is no row; give at least one user")
    cells = []
    for where, rows in (("recommendations", recommended), ("truth", judged)):
        if len({len(column) for column in rows}) > 1:
            raise MetricError(
                f"{where}: columns of {', '.join(str(len(column)) for column in rows)} rows; "
                "give columns of one length"
            )
        for row in np.flatnonzero(~np.isfinite(rows.values))[:1].tolist():
            raise MetricError(
                f"{where}: user {user_ids[rows.users[row]]}, item {item_ids[rows.items[row]]}: "
                f"{rows.values[row]} is not finite; drop the row or give it a value"
            )
        cells.append(pd.Index(rows.users * n_items + rows.items))
        for cell in cells[-1][cells[-1].duplicated()][:1]:
            raise MetricError(
                f"{where}: item {item_ids[cell % n_items]} comes twice for user "
                f"{user_ids[cell // n_items]}; keep one of the rows"
            )
    offsets, by_user = group_rows(recommended.users, n_users)
    # Row numbers in place of relevances come back in rank order.
    ranked = from_grouped(Pairs(offsets, recommended.values[by_user], by_user.astype(np.float64)))
    order = ranked.relevance.astype(np.int64)
    owner, keys = recommended.users[order], recommended.values[order]
    if by_rank and (keys != -ranked.rank).any():
        user = user_ids[owner[np.argmax(keys != -ranked.rank)]]
        raise MetricError(
            f"recommendations: the ranks of user {user} are not 1, 2, 3, ...; "
            "number them again, or give a column 'score' instead"
        )
    items, equal = recommended.items[order], None
    if by_name:
        equal = order_keys(tie_keys(user_ids)[owner], tie_keys(item_ids)[items])
    position = cells[1].get_indexer(cells[0][order])
    hit = position >= 0
    pool_order = np.lexsort((-judged.values, judged.users))
    return Rankings(
        offsets_of(owner[hit], n_users),
        judged.values[position[hit]],
        ranked.rank[hit],
        ranked.tie_low[hit],
        ranked.tie_high[hit],
        ranked.n_ranked,
        offsets_of(judged.users, n_users),
        judged.values[pool_order],
        top_items=top_items(owner, items, keys, n_users, int(ranked.n_ranked.max()), equal),
        users=user_ids,
    )


def _encode_both(frame: Frame, other: Frame, name: str) -> tuple[list[Ints], Ids]:
    return _encoded([_column(frame, name), _column(other, name)])


def _encoded(columns: list[Ids]) -> tuple[list[Ints], Ids]:
    """Encode columns of one kind of id together."""
    filled = [column for column in columns if len(column)]
    texts = [column[0] for column in filled if isinstance(column[0], str)]
    others = [column[0] for column in filled if not isinstance(column[0], str)]
    if texts and others:
        raise MetricError(
            f"recommendations: ids are text on one side, as {str(texts[0])!r}, and numbers on "
            f"the other, as {others[0]}; use one type on both"
        )
    codes, ids = encode(np.concatenate(filled or columns))
    return np.split(codes, [len(columns[0])]), ids


def _objects(values: list[Hashable]) -> Ids:
    """Return ids as a column, numbers as numbers."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    if all(isinstance(value, (int, np.integer)) for value in values):
        return column.astype(np.int64)
    return column


def _column(frame: Frame, name: str) -> Ids:
    if name not in frame:
        raise MetricError(
            f"there is no column {name!r}; {suggestion(name, [str(each) for each in frame])}"
        )
    return np.asarray(frame[name])
