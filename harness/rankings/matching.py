"""Recommended items, found among those whose relevance is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import MetricError
from harness.kernels import group_rows
from harness.lazy import pd
from harness.metrics import Pairs, Rankings
from harness.metrics.arrays import Floats, Ids, Ints
from harness.rankings.catalogue import top_items
from harness.rankings.columns import encode
from harness.rankings.grouped import from_grouped, offsets_of
from harness.rankings.ties import order_keys, tie_keys


class Rows(NamedTuple):
    """Columns of users, items and values; ids are codes from 0, in the order of their names."""

    users: Ints
    items: Ints
    values: Floats


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


def paired(estimated: Rows, judged: Rows, n_users: int, n_items: int) -> Pairs:
    """Return the estimates of judged pairs beside their ratings, by user; other rows are left."""
    cells = [rows.users * max(1, n_items) + rows.items for rows in (estimated, judged)]
    position = pd.Index(cells[1]).get_indexer(cells[0])
    hit = position >= 0
    offsets, by_user = group_rows(estimated.users[hit], n_users)
    values, items = estimated.values[hit], estimated.items[hit]
    return Pairs(offsets, values[by_user], judged.values[position[hit]][by_user], items[by_user])


def encoded(columns: list[Ids]) -> tuple[list[Ints], Ids]:
    """Encode columns of one kind of id together."""
    import pandas as pd

    for where, column in zip(("recommendations", "truth"), columns, strict=False):
        if (missing := pd.isna(column)).any():
            row = int(np.argmax(missing)) + 1
            raise MetricError(f"{where}: row {row}: an id is missing; drop or name it")
    filled = [column for column in columns if len(column)]
    texts = [column[0] for column in filled if isinstance(column[0], str)]
    numbers = [column[0] for column in filled if not isinstance(column[0], str)]
    if texts and numbers:
        raise MetricError(
            f"recommendations: ids are text on one side, as {str(texts[0])!r}, and numbers on "
            f"the other, as {numbers[0]}; use one type on both"
        )
    codes, ids = encode(np.concatenate(filled or columns))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1]), ids
