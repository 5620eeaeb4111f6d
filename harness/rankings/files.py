"""Input of metrics from files that another program wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import Coded, Kind, Table
from harness.datasets.layout import ENDINGS, Roles, TextFormat
from harness.datasets.reading import read_file
from harness.errors import MetricError
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Ints
from harness.rankings.columns import from_grouped, group_pairs
from harness.rankings.recommendations import check_ranks, match

__all__ = ["Evidence", "read"]

KINDS: dict[str, Kind] = {
    "user": "id", "item": "id", "estimate": "number", "rating": "number", "rank": "number",
}  # fmt: skip
NAMES = {
    "user": ("user", "userid", "uid", "qid", "queryid"),
    "item": ("item", "itemid", "iid", "docid", "movieid"),
    "estimate": ("estimate", "est", "prediction", "score"),
    "rating": ("rating", "rui", "label", "relevance", "weight"),
    "rank": ("rank",),
}
"""Accepted names of columns; case and underscores do not matter."""

TREC = (".run", ".trec", ".qrels", ".qrel", ".res", ".txt")
RUN, QRELS = "query Q0 document rank score tag", "query 0 document relevance"
TREC_COLUMNS = {
    RUN: {"user": 1, "item": 3, "estimate": 5},
    QRELS: {"user": 1, "item": 3, "rating": 4},
}


class Evidence(NamedTuple):
    """Input of metrics, in the order in which `harness.metrics.score` takes it.

    Parameters
    ----------
    rankings : Rankings
    pairs : Pairs or None
        None if the estimates have no ratings.
    exposure : Exposure or None
        None without training ratings.
    """

    rankings: Rankings
    pairs: Pairs | None = None
    exposure: Exposure | None = None


def read(path: Path, truth: Path | None = None, training: Path | None = None) -> Evidence:
    r"""Read predictions, or recommendations and the truth about them.

    Tables are CSV, TSV or Parquet with a header. Ids are text: users ``01`` and ``1`` are
    different. No pair of user and item may occur twice in a file. A TREC run is ordered as
    trec_eval orders it, by score and then by descending document id; anything else by estimate,
    equal ones in the order of the rows, or by rank.

    Parameters
    ----------
    path : Path
        Alone: a table of user, estimate and rating, with an item if there is one. With `truth`: a
        table of user, item and rank or estimate, or a TREC run.
    truth : Path, optional
        A table of user, item and, unless all are 1, rating; or TREC qrels. Users of either file
        count.
    training : Path, optional
        A table of user and item; enables metrics of which items are recommended.

    Returns
    -------
    Evidence

    Raises
    ------
    DataError
        If a file cannot be read or lacks a column; for all rows that cannot be used.
    MetricError
        If its ending is unknown, or ranks are not 1, 2, 3, ...

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> _ = path.write_text("user,item,estimate,rating\n1,7,3.5,4\n1,8,4.5,5\n2,7,2.0,3\n")
    >>> evidence = read(path)
    >>> evidence.rankings.users.tolist(), evidence.pairs.n_users
    (['1', '2'], 2)
    """
    with_items = ("item",) if training is not None or truth is not None else ()
    if truth is None:
        rows = _read(path, ("user", *with_items, "estimate", "rating"), ("item",))
        known, n_files = rows, 1
    else:
        rows = _read(path, ("user", "item"), ("estimate", "rank"))
        known, n_files = _read(truth, ("user", "item"), ("rating",), form=QRELS), 2
        if not rows.numbers:
            raise MetricError(
                f"{path}: no column of rank or estimate; add one that orders each list"
            )
    seen = [] if training is None else [_read(training, ("user", "item"))]
    tables = [rows, known, *seen] if n_files == 2 else [rows, *seen]
    (users, *more), user_ids = _united([table.ids["user"] for table in tables])
    if truth is None and training is None:
        pairs, order = group_pairs(users, rows.numbers["estimate"], rows.numbers["rating"])
        return Evidence(from_grouped(pairs, user_ids[order]), pairs)
    (items, *more_items), item_ids = _united([table.ids["item"] for table in tables])
    judged = (more[0], more_items[0]) if n_files == 2 else (users, items)
    grades = known.numbers.get("rating", np.ones(len(judged[0])))
    if truth is not None and "rank" in rows.numbers:
        check_ranks(user_ids[users], rows.numbers["rank"])
        keys = -rows.numbers["rank"]
    else:
        keys = rows.numbers["estimate"]
    names: tuple[NDArray[Any], NDArray[Any]] | None = (user_ids, item_ids)
    if path.suffix.casefold() in TREC:  # equal scores stand by falling document id
        order = np.argsort(items, kind="stable")[::-1]
        users, items, keys = users[order], items[order], keys[order]
        names = None
    lists = match((users, items, keys), (*judged, grades), names=names)
    codes = np.asarray(lists.rankings.users)
    rankings = replace(lists.rankings, users=user_ids[codes])
    pairs_of_rows = None
    if truth is None:
        pairs_of_rows, _ = group_pairs(users, keys, grades)
    if training is None:
        return Evidence(rankings, pairs_of_rows)
    item_codes, n_items = _extend(lists.items, more_items[-1])
    user_codes, _ = _extend(codes, more[-1])
    known_items = np.searchsorted(lists.items, judged[1])
    exposure = Exposure(
        user_codes,
        item_codes,
        np.arange(len(codes)),
        n_items,
        judged=(np.searchsorted(codes, judged[0]), known_items, grades),
    )
    return Evidence(rankings, pairs_of_rows, exposure)


def _read(
    path: Path, required: tuple[str, ...], optional: tuple[str, ...] = (), *, form: str = RUN
) -> Table:
    """Read a table with a header, or a TREC file by its ending; refuse all faults at once."""
    ending = path.suffix.casefold()
    if not path.is_file():
        raise MetricError(f"{path}: there is no such file; check the path")
    if ending not in TREC and ENDINGS.get(ending) in (None, "dat"):
        raise MetricError(
            f"{path}: unknown kind of file {ending!r}; use .csv, .tsv or .parquet with a header, "
            "or .run and .qrels for TREC files"
        )
    roles = dict.fromkeys((*required, *optional))
    known = TextFormat(header=True)
    if ending in TREC:
        columns = TREC_COLUMNS[form]
        roles = dict.fromkeys(columns)
        known = TextFormat("dat", "whitespace", header=False, columns=columns, form=form)
        required = tuple(columns)
    wanted = Roles(
        {role: KINDS[role] for role in roles}, NAMES, frozenset(roles) - frozenset(required),
        strict=True,
    )  # fmt: skip
    table = read_file(path, replace(known, roles=wanted), str(path))
    refuse_faults(table)
    return table


def _united(columns: list[Coded]) -> tuple[list[Ints], NDArray[Any]]:
    """Return codes of several columns of ids among all of them, in order of the text."""
    ids, places = np.unique(np.concatenate([each.ids for each in columns]), return_inverse=True)
    ends = np.cumsum([len(each.ids) for each in columns])[:-1]
    parts = np.split(places.astype(np.int64), ends)
    return [part[each.codes] for part, each in zip(parts, columns, strict=True)], ids


def _extend(ids: NDArray[Any], values: NDArray[Any]) -> tuple[Ints, int]:
    """Return the positions of values among ids, new ones numbered on, and how many there are."""
    import pandas as pd

    codes, every = pd.factorize(np.concatenate([ids, values]))
    return codes[len(ids) :], len(every)
