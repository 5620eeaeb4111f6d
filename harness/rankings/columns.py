"""Columns of numbers and of ids, as they come from outside, and ids as codes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
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
    return codes.astype(np.int64, copy=False), np.asarray(unique)
