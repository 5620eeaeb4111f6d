"""Rankings from files of predictions, recommendations and the truth about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.datasets.cleaning import drop_missing, refuse_faults
from harness.datasets.exchanged import Written, form_of, read_table
from harness.datasets.places import find_file
from harness.datasets.readers.trec import QRELS, RUN
from harness.errors import MetricError
from harness.metrics import Exposure, Pairs, Rankings
from harness.metrics.arrays import Ids, Ints
from harness.notes.note import Note
from harness.rankings.grouped import from_grouped
from harness.rankings.lists import ListedRows, encoded, match, paired
from harness.rankings.nested import is_nested, read_nested
from harness.rankings.pairs import group_pairs

if TYPE_CHECKING:
    from harness.datasets.conversion import Coded, Table


ROLES = ("user", "item", "estimate", "rating")
_ADVICE = {"missing": "`missing: drop` drops"}


class _Input(NamedTuple):
    rankings: Rankings
    pairs: Pairs | None = None
    """None if the estimates have no ratings."""
    exposure: Exposure | None = None
    """None without training ratings."""


class Evidence(_Input):
    """Input of metrics, in the order in which `harness.metrics.score` takes it.

    Attributes
    ----------
    notes : tuple of Note
        What was dropped, and what was assumed of the files.
    """

    notes: tuple[Note, ...] = ()


@checked(MetricError)
def read(
    path: Path | str,
    truth: Path | str | None = None,
    training: Path | str | None = None,
    *,
    columns: Mapping[str, str | int] | None = None,
    truth_columns: Mapping[str, str | int] | None = None,
    decimal: Literal[".", ","] = ".",
    missing: Literal["error", "drop"] = "error",
) -> Evidence:
    r"""Read predictions, or recommendations and the truth about them.

    Tables are of every format that ratings may have. Ids are text: users ``01`` and ``1`` are
    different. No pair of user and item may occur twice in a file. TREC's runs and qrels are
    recognised by their lines under any name, and so is the JSON of ranx, and Parquet with one row
    for each list and a column ``items`` of structures, as LensKit writes. A TREC run is ordered as
    trec_eval orders it, by score and then by descending document id; anything else by estimate,
    equal ones in the order of the rows, or by rank.

    Parameters
    ----------
    path : Path or str
        Alone: a table of user, estimate and rating, with an item if there is one. With `truth`: a
        table of user, item and rank or estimate, which needs no header, a TREC run, or a run of
        ranx. Estimates are then also compared with the ratings of their pairs.
    truth : Path or str, optional
        A table of user, item and, unless all are 1, rating, without a header if need be; or qrels
        of TREC or ranx. Users of either file count.
    training : Path or str, optional
        A table of user and item; enables metrics of which items are recommended.
    columns, truth_columns : dict, optional
        Columns of `path` and of `truth` by role (user, item, estimate, rank, rating): a name from
        the header, or a position from 1.
    decimal : {".", ","}
        The decimal mark of numbers in text, of all files.
    missing : {"error", "drop"}
        Policy for a row of `path` that lacks a value, as an estimate that is NaN; a note counts
        those that are dropped.

    Returns
    -------
    Evidence

    Raises
    ------
    DataError
        If a file cannot be read or lacks a column; for all rows that cannot be used.
    MetricError
        If ranks are not 1, 2, 3, ..., no user is in the truth, or estimates seem to be ranks.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "predictions.csv"
    >>> _ = path.write_text("user,item,estimate,rating\n1,7,3.5,4\n1,8,4.5,5\n2,7,2.0,3\n")
    >>> evidence = read(str(path))
    >>> evidence.rankings.users.tolist(), evidence.pairs.n_users
    (['1', '2'], 2)
    """
    written = Written(columns or {}, decimal)
    if truth is None:
        if truth_columns:
            raise MetricError("truth_columns: there is no truth; give it, or leave them out")
        needed = ("user", "estimate", "rating") if training is None else ROLES
        tables = [_read(path, needed, ("item",), written=written, refuse=False)]
        if "rating" not in tables[0].numbers:
            raise MetricError(
                f"{path}: a TREC run has no ratings; give the relevant items as truth"
            )
    else:
        keys_of = ("estimate", "rank")
        tables = [_read(path, ("user", "item"), keys_of, written=written, refuse=False)]
        of_truth = Written(truth_columns or {}, decimal)
        tables.append(_read(truth, ("user", "item"), ("rating",), form=QRELS, written=of_truth))
        if not tables[0].numbers:
            raise MetricError(
                f"{path}: no column of rank or estimate; add one that orders each list"
            )
    tables[0] = _complete(tables[0], missing)
    if "estimate" not in written.columns:
        _refuse_ranks(tables[0])
    places = (path, truth)
    notes = tuple(
        note.at(str(place))
        for place, table in zip(places, tables, strict=False)
        for note in table.notes
    )
    evidence = _evidence(Path(path), tables, truth, training)
    evidence.notes = notes
    return evidence


def _read(
    path: Path | str,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    *,
    form: str = RUN,
    written: Written | None = None,
    refuse: bool = True,
) -> Table:
    """Read a table, or lists that are nested in the rows of one."""
    place = find_file(path, None)
    if not is_nested(place):
        return read_table(path, required, optional, form=form, written=written, refuse=refuse)
    table = read_nested(place, str(path), required, optional, written or Written())
    if refuse:
        refuse_faults(table)
    return table


def _complete(table: Table, missing: str) -> Table:
    """Return a table without problems; with the policy ``drop``, without rows that lack a value."""
    if missing == "drop":
        table = drop_missing(table)
    refuse_faults(table, _ADVICE)
    return table


def _refuse_ranks(table: Table) -> None:
    """Refuse estimates that nobody named and that count the rows of each user from 1."""
    assumed = next((note for note in table.notes if note.code == "list-columns-assumed"), None)
    if assumed is None or "estimate" not in table.numbers:
        return
    values, users = table.numbers["estimate"], pd.Series(table.ids["user"].codes)
    counted_up = users.groupby(users).cumcount().to_numpy() + 1
    if (values == counted_up).all() and values.max() > 1:
        raise MetricError(
            f"{table.at(0)}: the third column counts 1, 2, 3, … for each user, as ranks do, and "
            "there is no header; name it in columns, such as rank=3 or estimate=3"
        )


def _evidence(
    path: Path,
    tables: list[Table],
    truth: Path | str | None,
    training: Path | str | None,
) -> Evidence:
    seen = None if training is None else _read(training, ("user", "item"))
    by_rank = truth is not None and "rank" in tables[0].numbers
    keys = -tables[0].numbers["rank"] if by_rank else tables[0].numbers["estimate"]
    users, user_ids = _united([table.ids["user"] for table in tables])
    if truth is not None and not np.isin(users[0], users[1]).any():
        one, other = (str(user_ids[codes[0]]) for codes in users)
        raise MetricError(
            f"{path}: none of its users, such as {one!r}, is in {truth}, whose users look like "
            f"{other!r}; give the truth of the same data set, with ids written alike"
        )
    grades = tables[-1].numbers.get("rating", np.ones(len(users[-1])))
    pairs = None
    if truth is None:
        pairs, _ = group_pairs(users[0], keys, grades)
        if training is None:
            return Evidence(from_grouped(pairs, user_ids), pairs)
    items, item_ids = _united([table.ids["item"] for table in tables])
    recommended = ListedRows(users[0], items[0], keys)
    judged = ListedRows(users[-1], items[-1], grades)
    trec = form_of(find_file(path, None), RUN).is_trec
    if trec:  # equal scores are ordered by descending document id
        order = np.argsort(items[0], kind="stable")[::-1]
        recommended = ListedRows(users[0][order], items[0][order], keys[order])
    rankings = match(recommended, judged, user_ids, item_ids, by_rank=by_rank, by_name=not trec)
    if pairs is None and not by_rank and "rating" in tables[-1].numbers:
        pairs = paired(recommended, judged, len(user_ids), len(item_ids))
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


def _extended(ids: Ids, column: Coded) -> tuple[Ints, int]:
    """Return codes of a column among ids, new ones numbered on, and how many ids there are."""
    codes, every = pd.factorize(np.concatenate([ids, column.ids]))
    return codes[len(ids) :][column.codes], len(every)
