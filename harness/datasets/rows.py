"""Raw rows in columns, and ids as codes: the form between a source and `Ratings`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import DataError

__all__ = ["Coded", "Rows", "encode", "in_order_of_appearance"]


class Coded(NamedTuple):
    """A column of ids, each stored once.

    Attributes
    ----------
    codes : ndarray of int32, shape (n,)
        Position of each row's id in `ids`; -1 where the row has none.
    ids : ndarray, shape (n_distinct,)
        The raw ids: integers, floats, or an object array of str.
    """

    codes: NDArray[np.int32]
    ids: NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """What a source holds before it is checked, row by row.

    Attributes
    ----------
    users, items : Coded
        Ids of n rows.
    ratings : ndarray of float64, shape (n,)
        NaN where a row has none.
    timestamps : ndarray of int64, shape (n,), or None
        Seconds since 1970.
    """

    users: Coded
    items: Coded
    ratings: NDArray[np.float64]
    timestamps: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.ratings)

    def take(self, rows: NDArray[Any]) -> Rows:
        """Return some of the rows (positions, or a mask), with the same codes."""
        return replace(
            self,
            users=self.users._replace(codes=self.users.codes[rows]),
            items=self.items._replace(codes=self.items.codes[rows]),
            ratings=self.ratings[rows],
            timestamps=None if self.timestamps is None else self.timestamps[rows],
        )


def encode(values: ArrayLike, what: str) -> Coded:
    """Give each distinct id a code, in order of first appearance.

    Parameters
    ----------
    values : array_like, shape (n,)
        Raw ids, all of one type: text, integers or floats. None and NaN are missing ids.
    what : str
        What the ids are, for messages.

    Raises
    ------
    DataError
        If the ids are of several types, or of a type that cannot name anything.

    Examples
    --------
    >>> coded = encode(["b", "a", "b"], "user")
    >>> coded.codes.tolist(), coded.ids.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    import pandas as pd

    series = pd.Series(values)
    codes, distinct = pd.factorize(series, use_na_sentinel=True)
    ids = pd.Index(distinct)
    if isinstance(ids, pd.CategoricalIndex):
        ids = pd.Index(ids.tolist())
    kind = pd.api.types.infer_dtype(ids, skipna=True)
    if kind not in ("string", "integer", "floating", "empty"):
        if kind.startswith("mixed"):
            names = sorted({type(value).__name__ for value in ids})
            found = f"{what} ids of several types ({', '.join(names)})"
        else:
            found = f"{what} ids of type {kind}"
        raise DataError(f"{found}; turn the column into text or whole numbers, as .astype(str)")
    plain = ids.to_numpy(dtype=object if kind in ("string", "empty") else None)
    return Coded(codes.astype(np.int32), plain)


def in_order_of_appearance(column: Coded) -> Coded:
    """Return ids numbered anew by first appearance, without those that no row uses.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array(["a", "b", "c"], dtype=object)
    >>> column = in_order_of_appearance(Coded(np.array([2, 0, 2], np.int32), ids))
    >>> column.codes.tolist(), column.ids.tolist()
    ([0, 1, 0], ['c', 'a'])
    """
    n_rows, n_ids = len(column.codes), len(column.ids)
    first = np.full(n_ids, n_rows, dtype=np.int64)
    # Assigned from the last row to the first, so that the first appearance is what remains.
    first[column.codes[::-1]] = np.arange(n_rows - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < n_rows)]
    if len(order) == n_ids and np.array_equal(order, np.arange(n_ids)):
        return column
    renumbered = np.empty(n_ids, dtype=np.int32)
    renumbered[order] = np.arange(len(order), dtype=np.int32)
    return Coded(renumbered[column.codes], column.ids[order])
