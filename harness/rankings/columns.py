"""Columns of numbers and of ids, as they come from outside, and ids as codes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import as_array, is_floating, is_text, is_whole, unmasked
from harness._util.libraries import pd
from harness.errors import MetricError
from harness.metrics.arrays import Floats, Ids, Ints


def as_floats(name: str, values: ArrayLike) -> Floats:
    """Return a column as floats; `name` starts the message about a value that is not a number."""
    return as_array(name, values, np.float64, MetricError)


def id_column(name: str, values: ArrayLike) -> Ids:
    """Return ids of any kind as a column; tuples are ids, not rows of an array."""
    unmasked(name, values, MetricError)
    listed: Sequence[Any] | None = values if isinstance(values, list | tuple) else None
    if listed is not None and any(isinstance(value, tuple) for value in listed):
        return as_ids(listed)
    with suppress(ValueError):  # of lists of different lengths, which are no ids
        column = np.asarray(values)
        if listed is not None and (is_floating(column) or is_text(column)):
            kind = float | np.floating if is_floating(column) else str
            if not all(issubclass(other, kind) for other in {*map(type, listed)}):
                return as_ids(listed)  # an array made floats, which round, or text of them
        return column
    raise MetricError(f"{name}: an id is a list; give numbers, text or tuples")


def as_ids(values: Sequence[Hashable]) -> Ids:
    """Return ids as a column, numbers of up to 64 bits as numbers."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    with suppress(OverflowError):
        if all(isinstance(value, (int, np.integer)) for value in values):
            return column.astype(np.int64)
    return column


def encode(ids: Ids) -> tuple[Ints, Ids]:
    """Replace ids by their positions among the ids, which are unique.

    They are ascending or, where they have no order, as tuples beside numbers, in the order of the
    rows.
    """
    if is_whole(ids) and len(ids):
        span = int(ids.max()) - int(ids.min()) + 1
        if span <= max(4 * len(ids), 1_000_000):  # a table is ten times faster than hashing
            wide = ids.astype(
                np.uint64 if np.issubdtype(ids.dtype, np.unsignedinteger) else np.int64, copy=False
            )
            least = wide.min()
            shifted = (wide - least).astype(np.int64, copy=False)
            present = np.zeros(span, dtype=bool)
            present[shifted] = True
            codes = shifted if present.all() else (np.cumsum(present) - 1)[shifted]
            return codes, (np.flatnonzero(present).astype(wide.dtype) + least).astype(ids.dtype)
    try:
        try:
            codes, unique = pd.factorize(ids, sort=True)
        except TypeError:  # no order among them
            codes, unique = pd.factorize(ids)
    except TypeError as error:
        raise MetricError(f"ids: {error}; use numbers, text or tuples") from None
    if (codes < 0).any():
        raise MetricError(f"row {int(np.argmin(codes)) + 1}: an id is missing; drop or name it")
    unique = np.asarray(unique)
    if len({*map(type, unique)}) > 1:
        numbers = {str(each) for each in unique.tolist() if isinstance(each, Real)}
        for text in unique:
            if isinstance(text, str) and text in numbers:
                raise MetricError(
                    f"ids: {text} is there as text and as a number; give all ids as text, or all "
                    "as numbers"
                )
    return codes.astype(np.int64, copy=False), unique


def refuse_repeats(where: str, users: ArrayLike, items: ArrayLike) -> None:
    """Refuse an item that a user has twice: nothing tells which of its rows counts."""
    names = id_column(f"{where}: users", users), id_column(f"{where}: items", items)
    if len(names[0]) != len(names[1]):  # which is refused with the other columns
        return
    (of_users, _), (of_items, ids) = (encode(column) for column in names)
    is_repeat = np.ones(len(of_users), dtype=bool)
    is_repeat[np.unique(of_users * len(ids) + of_items, return_index=True)[1]] = False
    for row in np.flatnonzero(is_repeat)[:1]:
        user, item = (column[row] for column in names)
        raise MetricError(f"{where}: item {item} comes twice for user {user}; keep one of the rows")


def refuse_other_index(where: str, columns: Sequence[Any]) -> None:
    """Refuse columns of pandas whose rows are in different orders."""
    indices = [column.index for column in columns if hasattr(column, "reindex")]
    if any(len(each) == len(indices[0]) and not each.equals(indices[0]) for each in indices):
        raise MetricError(
            f"{where} differ; bring the rows into one order with reindex, or give "
            "column.to_numpy() of each if their order is the same"
        )
