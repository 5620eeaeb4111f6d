"""Rankings from lists of items, frames or matrices, and what is known of the items' relevance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import checked, unmasked
from harness._util.kernels import group_rows
from harness._util.libraries import pd
from harness.errors import MetricError, counted, listed
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ids, Ints
from harness.rankings.catalogue import top_items
from harness.rankings.columns import as_floats, as_ids, encode
from harness.rankings.grouped import from_grouped, offsets_of
from harness.rankings.ties import order_keys, tie_keys


class ListedRows(NamedTuple):
    """Columns of users, items and values; ids are codes from 0, in the order of their names."""

    users: Ints
    items: Ints
    values: Floats


def match(
    recommended: ListedRows,
    judged: ListedRows,
    user_ids: Ids,
    item_ids: Ids,
    *,
    by_rank: bool = False,
    by_name: bool = False,
) -> Rankings:
    """Sort recommended rows by descending key, and find each among the judged rows.

    Equal keys are tied, in the order of the rows or, with `by_name`, of the ids. With `by_rank`
    they are negative ranks, which must be 1, 2, 3, ...; what is not judged has relevance 0.
    """
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
        items=items[hit],
    )


def paired(estimated: ListedRows, judged: ListedRows, n_users: int, n_items: int) -> Pairs:
    """Return the estimates of judged pairs beside their ratings, by user; other rows are left."""
    cells = [rows.users * max(1, n_items) + rows.items for rows in (estimated, judged)]
    position = pd.Index(cells[1]).get_indexer(cells[0])
    hit = position >= 0
    offsets, by_user = group_rows(estimated.users[hit], n_users)
    values, items = estimated.values[hit], estimated.items[hit]
    return Pairs(offsets, values[by_user], judged.values[position[hit]][by_user], items[by_user])


def encoded(columns: list[Ids]) -> tuple[list[Ints], Ids]:
    """Encode columns of one kind of id together."""
    for where, column in zip(("recommendations", "truth"), columns, strict=False):
        if (missing := pd.isna(column)).any():
            row = int(np.argmax(missing)) + 1
            raise MetricError(f"{where}: row {row}: an id is missing; drop or name it")
    filled = [column for column in columns if len(column)]
    texts = [column[0] for column in filled if isinstance(column[0], str)]
    numbers = [column[0] for column in filled if not isinstance(column[0], str)]
    if texts and numbers:
        raise MetricError(
            f"recommendations: ids are text on one side, such as {str(texts[0])!r}, and numbers on "
            f"the other, such as {numbers[0]}; use one type on both"
        )
    codes, ids = encode(np.concatenate(filled or columns))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1]), ids


Frame: TypeAlias = "pd.DataFrame | Mapping[str, ArrayLike]"
ALSO = {"user_id": "user", "item_id": "item", "score": "estimate", "weight": "rating"}
"""Names that columns have too, as in what `harness.recommend` returns and in ratings."""


@checked(MetricError)
def from_recommendations(recommendations: Frame, interactions: Frame) -> Rankings:
    """Rank recommended items from a frame, with relevances from another frame.

    Users of both frames count: one without recommendations has an empty list, and one without
    interactions has no relevant item; ``empty`` and ``undefined`` give their scores.

    Parameters
    ----------
    recommendations : pandas.DataFrame or mapping of columns
        ``user_id``, ``item_id`` and either ``rank`` (1, 2, 3, ... for each user) or ``score``
        (greatest first, equal scores tied). What `harness.recommend` returns, with ``user``,
        ``item``, ``estimate`` and ``rank``, will do as it is.
    interactions : pandas.DataFrame or mapping of columns
        ``user_id``, ``item_id`` and optionally ``weight``, the relevance; 1 without it. Ratings,
        with ``user``, ``item`` and ``rating``, will do too.

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
    frames = {"recommendations": recommendations, "interactions": interactions}
    for where, frame in frames.items():
        if not hasattr(frame, "keys") and not hasattr(frame, "columns"):
            raise MetricError(
                f"{where}: {frame!r:.60} is not a table; give a DataFrame or a mapping of columns"
            )
    if "rank" in recommendations:
        keys = -as_floats("rank", _column(frames, "recommendations", "rank"))
    elif _name(recommendations, "score") in recommendations:
        keys = as_floats("score", _column(frames, "recommendations", "score"))
    else:
        raise MetricError(
            "recommendations: neither a column 'rank' nor 'score'; add one that orders each list"
        )
    ((users, judges), user_ids), ((items, judged), item_ids) = (
        encoded([_column(frames, where, name) for where in frames])
        for name in ("user_id", "item_id")
    )
    grades = np.ones(len(judges))
    if _name(interactions, "weight") in interactions:
        grades = as_floats("weight", _column(frames, "interactions", "weight"))
    rows, truth = ListedRows(users, items, keys), ListedRows(judges, judged, grades)
    return match(rows, truth, user_ids, item_ids, by_rank="rank" in recommendations)


@checked(MetricError)
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
        If there are not as many predictions as labels, one is not a list, or an item comes twice.

    Examples
    --------
    >>> lists = from_lists([[1, 6, 8], []], [[1, 2, 6], {2: 4.0}])
    >>> lists.rank.tolist(), lists.pool.tolist(), lists.n_ranked.tolist()
    ([1, 2], [1.0, 1.0, 1.0, 4.0], [3, 0])
    """
    sides: tuple[Sequence[Sequence[Hashable] | Mapping[Hashable, float]], ...] = predictions, labels
    for row in chain(sides, (items for side in sides for items in side)):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise MetricError(f"lists: {row!r:.60} is not a list of items; give one for every user")
    if len(predictions) != len(labels):
        raise MetricError(
            f"lists: {counted(len(predictions), 'list')} of predictions and {len(labels)} of "
            "labels; give one of each for every user, empty where there is nothing"
        )
    if not len(predictions):
        raise MetricError("lists: there is no user; give at least one")
    grades = as_floats(
        "labels",
        [
            grade
            for items in labels
            for grade in (items.values() if isinstance(items, Mapping) else [1.0] * len(items))
        ],
    )
    (items, judged), item_ids = encoded(
        [as_ids([item for items in side for item in items]) for side in sides]
    )
    users, judges = (
        np.repeat(np.arange(len(side)), [len(items) for items in side]) for side in sides
    )
    ranks = np.array([-float(rank) for items in predictions for rank in range(len(items))])
    truth = ListedRows(judges, judged, grades)
    return match(ListedRows(users, items, ranks), truth, np.arange(len(predictions)), item_ids)


@checked(MetricError)
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


def _name(frame: Frame, name: str) -> str:
    """Return the name that a column has in a frame, or the usual one if it is not there."""
    return name if name in frame or ALSO.get(name) not in frame else ALSO[name]


def _column(frames: Mapping[str, Frame], where: str, name: str) -> Ids:
    frame, name = frames[where], _name(frames[where], name)
    if name not in frame:
        names = listed([str(column) for column in frame], 10)
        raise MetricError(f"{where}: no column {name!r} among {names}; rename one")
    column: Ids = np.zeros((0, 0))
    with suppress(ValueError):  # of a ragged list
        column = np.asarray(unmasked(f"{where}: column {name!r}", frame[name], MetricError))
    if column.ndim != 1:  # as of a set, which has no order
        shape = "several values in a row" if column.ndim else f"a {type(frame[name]).__name__}"
        raise MetricError(
            f"{where}: column {name!r}: {shape}; give a list or an array of one value a row"
        )
    return column
