"""Raw rows in columns, and ids as codes: the form between a source and `Ratings`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_TIME", "SHOWN", "Coded", "Flaw", "Rows", "in_order_of_appearance"]

SHOWN = 20
"""Faults of a file that are shown one by one; the others are counted."""

NO_TIME = np.iinfo(np.int64).min
"""Marks a row without a time."""


class Coded(NamedTuple):
    """A column of ids, each stored once.

    Attributes
    ----------
    codes : ndarray of int32, shape (n,)
        Position of each row's id in `ids`; -1 where the row has none.
    ids : ndarray of object, shape (n_distinct,)
        The ids as text.
    """

    codes: NDArray[np.int32]
    ids: NDArray[Any]


@dataclass(frozen=True)
class Flaw:
    """Rows with one kind of fault.

    Attributes
    ----------
    policy : str
        Key of the config with the policy for such rows; empty if they cannot be used.
    rows : ndarray of int64
        Their positions, rising.
    describe : callable
        From the position of one of the first `SHOWN` rows to what is wrong with it.
    advice : str
        How a config can handle these rows, beside the policy.
    kind : str
        What they are called, if not by the policy.
    """

    policy: str
    rows: NDArray[np.int64]
    describe: Callable[[int], str]
    advice: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Rows:
    """The rows of a source before they are checked.

    Attributes
    ----------
    users, items : Coded
        Ids of n rows.
    ratings : ndarray of float64, shape (n,)
        NaN where a row has none.
    timestamps : ndarray of int64, shape (n,), or None
        Seconds since 1970; `NO_TIME` where a row has none.
    flaws : tuple of Flaw
        Rows that could not be read.
    """

    users: Coded
    items: Coded
    ratings: NDArray[np.float64]
    timestamps: NDArray[np.int64] | None = None
    flaws: tuple[Flaw, ...] = ()

    def __len__(self) -> int:
        return len(self.ratings)

    def take(self, rows: NDArray[Any]) -> Rows:
        """Return some of the rows (positions, or a mask), with the same codes and no flaws."""
        return replace(
            self,
            users=self.users._replace(codes=self.users.codes[rows]),
            items=self.items._replace(codes=self.items.codes[rows]),
            ratings=self.ratings[rows],
            timestamps=None if self.timestamps is None else self.timestamps[rows],
            flaws=(),
        )


def in_order_of_appearance(column: Coded) -> Coded:
    """Return ids numbered by first appearance, without those that no row uses.

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
