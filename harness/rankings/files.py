"""Rankings from files of predictions, recommendations and the truth about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.arguments import checked
from harness.datasets.columns import RATINGS, Kind, Roles
from harness.datasets.readers import kind_of
from harness.datasets.readers.base import ReadOptions
from harness.errors import MetricError
from harness.lazy import pd
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Ints
from harness.rankings.columns import Ids
from harness.rankings.grouped import from_grouped
from harness.rankings.matching import Rows, encoded, match
from harness.rankings.pairs import group_pairs

if TYPE_CHECKING:
    from harness.datasets.conversion import Coded, Table


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
    "rating": (*(name for name in _OF_RATINGS["rating"] if name != "score"), "label", "relevance"),
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


@checked(MetricError)
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
        one, other = (str(user_ids[codes[0]]) for codes in users)
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


def _united(columns: list[Coded]) -> tuple[list[Ints], Ids]:
    """Encode columns of a file together, in order of the text."""
    parts, ids = encoded([column.ids for column in columns])
    return [part[column.codes] for part, column in zip(parts, columns, strict=True)], ids


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
    if ending not in TREC and kind_of(place) in (None, "dat"):
        raise MetricError(
            f"{path}: unknown kind of file {ending!r}; use .csv, .tsv or .parquet with a header, "
            "or .run and .qrels for TREC files"
        )
    layout = ReadOptions(header=True)
    if ending in TREC:
        columns = TREC_COLUMNS[form]
        layout = ReadOptions("dat", "whitespace", header=False, columns=columns, form=form)
        required, optional = tuple(columns), ()
    kinds = {role: KINDS[role] for role in (*required, *optional)}
    roles = Roles(kinds, NAMES, frozenset(optional) - frozenset(required), strict=True)
    table = read_file(place, replace(layout, roles=roles), str(path))
    if refuse:
        refuse_faults(table)
    return table


def _extended(ids: Ids, column: Coded) -> tuple[Ints, int]:
    """Return codes of a column among ids, new ones numbered on, and how many ids there are."""
    codes, every = pd.factorize(np.concatenate([ids, column.ids]))
    return codes[len(ids) :][column.codes], len(every)
