"""A file with the fold of each rating."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import Kind
from harness.datasets.layout import RATINGS, TextFormat
from harness.datasets.reading import read_file

__all__ = ["FoldColumn", "read_fold_column"]


@dataclass(frozen=True, eq=False)
class FoldColumn:
    """Users, items and folds as codes, and their meaning.

    Parameters
    ----------
    users, items, folds : ndarray of int64, shape (n,)
        Codes, row by row.
    user_ids, item_ids : ndarray of str
        The raw id of each code.
    labels : list of str
        The label of each fold.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    folds: NDArray[np.int64]
    user_ids: NDArray[Any]
    item_ids: NDArray[Any]
    labels: list[str]


def read_fold_column(path: Path, column: str, where: str) -> FoldColumn:
    """Read user, item and fold of each row of a CSV, TSV, ``::`` or Parquet file.

    Parameters
    ----------
    path : Path
        A file whose columns have names.
    column : str
        Name of the column of folds.
    where : str
        What is read, for messages.

    Raises
    ------
    DataError
        If the file cannot be read or lacks a column; for all rows without user, item or fold, or
        that repeat a pair.
    """
    kinds: dict[str, Kind] = {"user": "id", "item": "id", "fold": "id"}
    roles = replace(RATINGS, kinds=kinds, usual=RATINGS.usual | {"fold": ()}, optional=frozenset())
    known = TextFormat(header=True, columns={"fold": column}, roles=roles)
    table = read_file(path, known, where)
    refuse_faults(table)
    users, items, folds = (table.ids[role] for role in ("user", "item", "fold"))
    codes = [np.asarray(each.codes, np.int64) for each in (users, items, folds)]
    return FoldColumn(codes[0], codes[1], codes[2], users.ids, items.ids, list(folds.ids))
