"""What metrics need, from files that another program wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Ints
from harness.rankings.columns import from_grouped, group_pairs
from harness.rankings.recommendations import check_ranks, match
from harness.rankings.tables import read_columns

__all__ = ["Evidence", "read"]


class Evidence(NamedTuple):
    """What metrics are computed from, in the order in which `harness.metrics.score` takes it.

    Parameters
    ----------
    rankings : Rankings
    pairs : Pairs or None
        None where no rating stands beside each estimate.
    exposure : Exposure or None
        None without training ratings.
    """

    rankings: Rankings
    pairs: Pairs | None = None
    exposure: Exposure | None = None


def read(path: Path, truth: Path | None = None, training: Path | None = None) -> Evidence:
    r"""Read predictions, or recommendations and the truth about them.

    Tables are CSV, TSV or Parquet with a header. A TREC run is ordered as trec_eval orders it, by
    score and then by falling document id; anything else by estimate, equal ones in the order of
    the rows, or by rank.

    Parameters
    ----------
    path : Path
        Alone: a table of user, estimate and rating, with an item if there is one. With `truth`: a
        table of user, item and rank or estimate, or a TREC run.
    truth : Path, optional
        A table of user, item and, unless all are 1, rating; or TREC qrels. Users of either file
        count.
    training : Path, optional
        A table of user and item; makes metrics of which items are recommended possible.

    Returns
    -------
    Evidence

    Raises
    ------
    MetricError
        If a file cannot be read, lacks a column, or holds values that cannot be ranked.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> _ = path.write_text("user,item,estimate,rating\n1,7,3.5,4\n1,8,4.5,5\n2,7,2.0,3\n")
    >>> evidence = read(path)
    >>> evidence.rankings.users.tolist(), evidence.pairs.n_users
    ([1, 2], 2)
    """
    rows = read_columns(path)
    if truth is None:
        pairs, users = group_pairs(rows["user"], rows["estimate"], rows["rating"])
        if training is None:
            return Evidence(from_grouped(pairs, users), pairs)
        recommended = judged = (rows["user"], rows["item"])
        keys, grades = rows["estimate"], rows["rating"]
    else:
        known, pairs = read_columns(truth, judged=True), None
        recommended, judged = (rows["user"], rows["item"]), (known["user"], known["item"])
        grades = known["rating"] if "rating" in known else np.ones(len(known["user"]))
        if "rank" in rows:
            check_ranks(rows["user"], rows["rank"])
            keys = -rows["rank"]
        else:
            keys = rows["estimate"]
    lists = match((*recommended, keys), (*judged, grades))
    if training is None:
        return Evidence(lists.rankings, pairs)
    seen = read_columns(training)
    users = np.asarray(lists.rankings.users)
    item_codes, n_items = _extend(lists.items, seen["item"])
    user_codes, _ = _extend(users, seen["user"])
    return Evidence(
        lists.rankings, pairs, Exposure(user_codes, item_codes, np.arange(len(users)), n_items)
    )


def _extend(ids: NDArray[Any], values: NDArray[Any]) -> tuple[Ints, int]:
    """Return the positions of values among ids, new ones numbered on, and how many there are."""
    import pandas as pd

    codes, every = pd.factorize(np.concatenate([ids, values]))
    return codes[len(ids) :], len(every)
