"""Input of metrics from files that another program wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import Coded, Kind, Table
from harness.datasets.layout import ENDINGS, Roles, TextFormat
from harness.datasets.reading import read_file
from harness.errors import MetricError
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Ints
from harness.rankings.lists import Rows, match
from harness.rankings.pairs import Ids, from_grouped, group_pairs

__all__ = ["Evidence", "read"]

ROLES = ("user", "item", "estimate", "rating")
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
    if truth is None:
        needed = ("user", "estimate", "rating") if training is None else ROLES
        tables = [_read(path, needed, ("item",))]
    else:
        tables = [_read(path, ("user", "item"), ("estimate", "rank"))]
        tables.append(_read(truth, ("user", "item"), ("rating",), form=QRELS))
        if not tables[0].numbers:
            raise MetricError(
                f"{path}: no column of rank or estimate; add one that orders each list"
            )
    seen = None if training is None else _read(training, ("user", "item"))
    by_rank = truth is not None and "rank" in tables[0].numbers
    keys = -tables[0].numbers["rank"] if by_rank else tables[0].numbers["estimate"]
    users, user_ids = _united([table.ids["user"] for table in tables])
    grades = tables[-1].numbers.get("rating", np.ones(len(users[-1])))
    pairs = None
    if truth is None:
        pairs, _ = group_pairs(users[0], keys, grades)
        if training is None:
            return Evidence(from_grouped(pairs, user_ids), pairs)
    items, item_ids = _united([table.ids["item"] for table in tables])
    recommended = Rows(users[0], items[0], keys)
    judged = Rows(users[-1], items[-1], grades)
    trec = path.suffix.casefold() in TREC
    if trec:  # equal scores are ordered by descending document id
        order = np.argsort(items[0], kind="stable")[::-1]
        recommended = Rows(users[0][order], items[0][order], keys[order])
    rankings = match(recommended, judged, user_ids, item_ids, by_rank=by_rank, by_name=not trec)
    if seen is None:
        return Evidence(rankings, pairs)
    user_codes, _ = _extended(user_ids, seen.ids["user"])
    item_codes, n_items = _extended(item_ids, seen.ids["item"])
    lists = np.arange(len(user_ids))
    return Evidence(
        rankings, pairs, Exposure(user_codes, item_codes, lists, n_items, judged=judged)
    )


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


def _united(columns: list[Coded]) -> tuple[list[Ints], Ids]:
    """Return codes of several columns of ids among all of them, in order of the text."""
    ids, positions = np.unique(np.concatenate([each.ids for each in columns]), return_inverse=True)
    ends = np.cumsum([len(each.ids) for each in columns])[:-1]
    parts = np.split(positions.astype(np.int64), ends)
    return [part[each.codes] for part, each in zip(parts, columns, strict=True)], ids


def _extended(ids: Ids, column: Coded) -> tuple[Ints, int]:
    """Return codes of a column among ids, new ones numbered on, and how many ids there are."""
    import pandas as pd

    codes, every = pd.factorize(np.concatenate([ids, column.ids]))
    return codes[len(ids) :][column.codes], len(every)
