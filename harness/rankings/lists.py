"""Rankings from lists of items or files, and what is known of the items' relevance."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from harness.arguments import unmasked
from harness.datasets.columns import RATINGS, Kind, Roles
from harness.datasets.readers import ENDINGS
from harness.datasets.readers.layout import TextFormat
from harness.errors import MetricError, counted, listed
from harness.kernels import group_rows
from harness.lazy import pd
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Floats, Ints
from harness.rankings.pairs import (
    Ids,
    as_floats,
    as_ids,
    encode,
    from_grouped,
    group_pairs,
    offsets_of,
    order_keys,
    tie_keys,
    top_items,
)

if TYPE_CHECKING:
    from harness.datasets.conversion import Coded, Table

    Frame: TypeAlias = pd.DataFrame | Mapping[str, ArrayLike]

ROLES = ("user", "item", "estimate", "rating")
KINDS: dict[str, Kind] = {
    "user": "id", "item": "id", "estimate": "number", "rating": "number", "rank": "number",
    "timestamp": "time",
}  # fmt: skip
_OF_RATINGS = RATINGS.usual
NAMES = {
    "user": (*_OF_RATINGS["user"], "qid", "queryid"),
    "item": (*_OF_RATINGS["item"], "docid"),
    "estimate": ("estimate", "est", "prediction", "score"),
    "rating": (*(each for each in _OF_RATINGS["rating"] if each != "score"), "label", "relevance"),
    "rank": ("rank",),
    "timestamp": _OF_RATINGS["timestamp"],
}
"""Accepted names of columns, those of ratings among them; here a score is an estimate."""

TREC = (".run", ".trec", ".qrels", ".qrel", ".res", ".txt")
RUN, QRELS = "query Q0 document rank score tag", "query 0 document relevance"
TREC_COLUMNS = {
    RUN: {"user": 1, "item": 3, "estimate": 5},
    QRELS: {"user": 1, "item": 3, "rating": 4},
}


class Evidence(NamedTuple):
    """Input of metrics, in the order in which `harness.metrics.score` takes it."""

    rankings: Rankings
    pairs: Pairs | None = None
    """None if the estimates have no ratings."""
    exposure: Exposure | None = None
    """None without training ratings."""


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
    frames = {"recommendations": recommendations, "interactions": interactions}
    for where, frame in frames.items():
        if not hasattr(frame, "keys") and not hasattr(frame, "columns"):
            found = f"{frame!r:.60} is no table"
            raise MetricError(f"{where}: {found}; give a DataFrame or a mapping of columns")
    if "rank" in recommendations:
        keys = -as_floats("rank", _column(frames, "recommendations", "rank"))
    elif "score" in recommendations:
        keys = as_floats("score", _column(frames, "recommendations", "score"))
    else:
        raise MetricError(
            "recommendations: neither a column 'rank' nor 'score'; add one that orders each list"
        )
    ((users, judges), user_ids), ((items, judged), item_ids) = (
        _encoded([_column(frames, where, name) for where in frames])
        for name in ("user_id", "item_id")
    )
    grades = np.ones(len(judges))
    if "weight" in interactions:
        grades = as_floats("weight", _column(frames, "interactions", "weight"))
    rows, truth = Rows(users, items, keys), Rows(judges, judged, grades)
    return match(rows, truth, user_ids, item_ids, by_rank="rank" in recommendations)


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
        If there are not as many predictions as labels, one is no list, or an item comes twice.

    Examples
    --------
    >>> lists = from_lists([[1, 6, 8], []], [[1, 2, 6], {2: 4.0}])
    >>> lists.rank.tolist(), lists.pool.tolist(), lists.n_ranked.tolist()
    ([1, 2], [1.0, 1.0, 1.0, 4.0], [3, 0])
    """
    sides: tuple[Sequence[Sequence[Hashable] | Mapping[Hashable, float]], ...] = predictions, labels
    for each in chain(sides, (each for side in sides for each in side)):
        if isinstance(each, str) or not hasattr(each, "__len__"):
            raise MetricError(f"lists: {each!r:.60} is no list of items; give one for every user")
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
    (items, judged), item_ids = _encoded(
        [as_ids([item for each in side for item in each]) for side in sides]
    )
    users, judges = (
        np.repeat(np.arange(len(side)), [len(each) for each in side]) for side in sides
    )
    ranks = np.array([-float(rank) for each in predictions for rank in range(len(each))])
    truth = Rows(judges, judged, grades)
    return match(Rows(users, items, ranks), truth, np.arange(len(predictions)), item_ids)


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


def read(
    path: Path | str, truth: Path | str | None = None, training: Path | str | None = None
) -> Evidence:
    r"""Read predictions, or recommendations and the truth about them.

    Tables are CSV, TSV or Parquet with a header. Ids are text: users ``01`` and ``1`` are
    different. No pair of user and item may occur twice in a file. A TREC run is ordered as
    trec_eval orders it, by score and then by descending document id; anything else by estimate,
    equal ones in the order of the rows, or by rank.

    Parameters
    ----------
    path : Path or str
        Alone: a table of user, estimate and rating, with an item if there is one. With `truth`: a
        table of user, item and rank or estimate, or a TREC run.
    truth : Path or str, optional
        A table of user, item and, unless all are 1, rating; or TREC qrels. Users of either file
        count.
    training : Path or str, optional
        A table of user and item; enables metrics of which items are recommended.

    Returns
    -------
    Evidence

    Raises
    ------
    DataError
        If a file cannot be read or lacks a column; for all rows that cannot be used.
    MetricError
        If its ending is unknown, ranks are not 1, 2, 3, ..., or no user is in the truth.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> _ = path.write_text("user,item,estimate,rating\n1,7,3.5,4\n1,8,4.5,5\n2,7,2.0,3\n")
    >>> evidence = read(str(path))
    >>> evidence.rankings.users.tolist(), evidence.pairs.n_users
    (['1', '2'], 2)
    """
    if truth is None:
        needed = ("user", "estimate", "rating") if training is None else ROLES
        tables = [read_table(path, needed, ("item",))]
        if "rating" not in tables[0].numbers:
            raise MetricError(
                f"{path}: a TREC run has no ratings; give the relevant items as truth"
            )
    else:
        tables = [read_table(path, ("user", "item"), ("estimate", "rank"))]
        tables.append(read_table(truth, ("user", "item"), ("rating",), form=QRELS))
        if not tables[0].numbers:
            raise MetricError(
                f"{path}: no column of rank or estimate; add one that orders each list"
            )
    seen = None if training is None else read_table(training, ("user", "item"))
    by_rank = truth is not None and "rank" in tables[0].numbers
    keys = -tables[0].numbers["rank"] if by_rank else tables[0].numbers["estimate"]
    users, user_ids = _united([table.ids["user"] for table in tables])
    if truth is not None and not np.isin(users[0], users[1]).any():
        one, other = (str(user_ids[each[0]]) for each in users)
        raise MetricError(
            f"{path}: none of its users, as {one!r}, is in {truth}, whose users are as {other!r}; "
            "give the truth of the same data set, with ids written alike"
        )
    grades = tables[-1].numbers.get("rating", np.ones(len(users[-1])))
    pairs = None
    if truth is None:
        pairs, _ = group_pairs(users[0], keys, grades)
        if training is None:
            return Evidence(from_grouped(pairs, user_ids), pairs)
    items, item_ids = _united([table.ids["item"] for table in tables])
    recommended = Rows(users[0], items[0], keys)
    judged = Rows(users[-1], items[-1], grades)
    trec = Path(path).suffix.casefold() in TREC
    if trec:  # equal scores are ordered by descending document id
        order = np.argsort(items[0], kind="stable")[::-1]
        recommended = Rows(users[0][order], items[0][order], keys[order])
    rankings = match(recommended, judged, user_ids, item_ids, by_rank=by_rank, by_name=not trec)
    if seen is None:
        return Evidence(rankings, pairs)
    user_codes, _ = _extended(user_ids, seen.ids["user"])
    item_codes, n_items = _extended(item_ids, seen.ids["item"])
    lists = np.arange(len(user_ids))
    exposure = Exposure(user_codes, item_codes, lists, n_items, judged=judged)
    return Evidence(rankings, pairs, exposure)


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
    )


def _encoded(columns: list[Ids]) -> tuple[list[Ints], Ids]:
    """Encode columns of one kind of id together."""
    import pandas as pd

    for where, column in zip(("recommendations", "truth"), columns, strict=False):
        if (missing := pd.isna(column)).any():
            row = int(np.argmax(missing)) + 1
            raise MetricError(f"{where}: row {row}: an id is missing; drop or name it")
    filled = [column for column in columns if len(column)]
    texts = [column[0] for column in filled if isinstance(column[0], str)]
    others = [column[0] for column in filled if not isinstance(column[0], str)]
    if texts and others:
        raise MetricError(
            f"recommendations: ids are text on one side, as {str(texts[0])!r}, and numbers on "
            f"the other, as {others[0]}; use one type on both"
        )
    codes, ids = encode(np.concatenate(filled or columns))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1]), ids


def _united(columns: list[Coded]) -> tuple[list[Ints], Ids]:
    """Encode columns of a file together, in order of the text."""
    parts, ids = _encoded([each.ids for each in columns])
    return [part[each.codes] for part, each in zip(parts, columns, strict=True)], ids


def _column(frames: Mapping[str, Frame], where: str, name: str) -> Ids:
    frame = frames[where]
    if name not in frame:
        names = listed([str(each) for each in frame], 10)
        raise MetricError(f"{where}: no column {name!r} among {names}; rename one")
    column: Ids = np.zeros((0, 0))
    with suppress(ValueError):  # of a ragged list
        column = np.asarray(unmasked(f"{where}: column {name!r}", frame[name], MetricError))
    if column.ndim != 1:  # as of a set, which has no order
        found = "several values in a row" if column.ndim else f"a {type(frame[name]).__name__}"
        raise MetricError(
            f"{where}: column {name!r}: {found}; give a list or an array of one value a row"
        )
    return column


def read_table(
    path: Path | str,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    *,
    form: str = RUN,
    refuse: bool = True,
) -> Table:
    """Read a table with a header, or a TREC file by its ending; refuse all faults at once."""
    from harness.datasets.cleaning import refuse_faults
    from harness.datasets.own_files import find_file
    from harness.datasets.readers import read_file

    place = find_file(path, None)
    ending = place.suffix.casefold()
    if ending not in TREC and ENDINGS.get(ending) in (None, "dat"):
        raise MetricError(
            f"{path}: unknown kind of file {ending!r}; use .csv, .tsv or .parquet with a header, "
            "or .run and .qrels for TREC files"
        )
    known = TextFormat(header=True)
    if ending in TREC:
        columns = TREC_COLUMNS[form]
        known = TextFormat("dat", "whitespace", header=False, columns=columns, form=form)
        required, optional = tuple(columns), ()
    kinds = {role: KINDS[role] for role in (*required, *optional)}
    wanted = Roles(kinds, NAMES, frozenset(optional) - frozenset(required), strict=True)
    table = read_file(place, replace(known, roles=wanted), str(path))
    if refuse:
        refuse_faults(table)
    return table


def _extended(ids: Ids, column: Coded) -> tuple[Ints, int]:
    """Return codes of a column among ids, new ones numbered on, and how many ids there are."""
    codes, every = pd.factorize(np.concatenate([ids, column.ids]))
    return codes[len(ids) :][column.codes], len(every)
