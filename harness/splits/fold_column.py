"""A file that says of each rating to which fold it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.datasets.headers import find_columns
from harness.errors import SplitError, suggestion

__all__ = ["FoldColumn", "read_fold_column"]

_SEPARATORS = ("::", "\t", ",", ";", "|")


@dataclass(frozen=True, eq=False)
class FoldColumn:
    """Users, items and folds as codes, and what each code stands for.

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
    SplitError
        If the file cannot be read, lacks the column, or has rows without a fold.
    DataError
        If there is no column for users or for items.
    """
    import pandas as pd

    frame = _read(path, where)
    names = [str(name) for name in frame.columns]
    if column not in names:
        raise SplitError(f"{where}: no column {column!r}; {suggestion(column, names)}")
    at = find_columns(names, {"rating": column, "timestamp": None}, where)
    coded = []
    for role in ("user", "item", "rating"):
        codes, ids = pd.factorize(frame.iloc[:, at[role]].astype("string"))
        empty = np.flatnonzero(codes < 0)
        if len(empty):
            raise SplitError(
                f"{where}: row {empty[0] + 1} has no {'fold' if role == 'rating' else role}; "
                "fill it in"
            )
        coded.append((codes.astype(np.int64), ids.to_numpy(dtype=object)))
    (users, user_ids), (items, item_ids), (folds, labels) = coded
    return FoldColumn(users, items, folds, user_ids, item_ids, [str(label) for label in labels])


def _read(path: Path, where: str) -> Any:
    import pandas as pd
    import pyarrow as pa

    try:
        if path.suffix.casefold() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
        separator = next((each for each in _SEPARATORS if each in first), ",")
        engine: Any = "c" if len(separator) == 1 else "python"
        return pd.read_csv(path, sep=separator, dtype=str, encoding="utf-8-sig", engine=engine)
    except (OSError, ValueError, pa.ArrowException) as error:  # pandas' own are ValueErrors
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0][:160]
        raise SplitError(
            f"{where}: cannot be read ({reason}); give a table with a header"
        ) from None
