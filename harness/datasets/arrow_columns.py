"""Columns of Arrow: what they hold, as arrays, and texts that are parsed once each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pa, pc

Mask = NDArray[np.bool_]
Marker = Callable[[Mask, Callable[[int], str]], None]
"""Takes which rows are wrong, and what describes one of them."""
Number = TypeVar("Number", np.float64, np.int64)

MISSING = ("", "na", "n/a", "nan", "null", "none", "nat", "<na>", "\\n")
"""Texts without a value, in small letters."""


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type can be cast to floats; also that of a column without values."""
    predicates = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_one(kind) for is_one in predicates)


def combined(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.unify_dictionaries().combine_chunks()
    return column


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan).to_numpy())


def shown(value: object) -> str:
    """Return a text in quotation marks, cut where it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")


def parse_distinct(
    column: pa.ChunkedArray,
    parse: Callable[[pa.StringArray], tuple[NDArray[Number], Mask]],
    absent: float | int,
    describe: Callable[[str], str],
    mark: Marker,
) -> NDArray[Number]:
    """Parse each distinct text once; mark the rows whose text has no value.

    Parameters
    ----------
    column : ChunkedArray of text
    parse : callable
        Takes distinct texts that are not missing, without blanks around them; returns their values
        and which have none.
    absent : number
        Of rows without a value.
    describe : callable
        Says what is wrong with a text.
    mark : callable
    """
    encoded = combined(column.dictionary_encode())
    codes = encoded.indices.fill_null(-1).to_numpy()
    texts = pc.utf8_trim(encoded.dictionary, " \t")
    is_value = pc.invert(pc.is_in(pc.utf8_lower(texts), pa.array(MISSING)))
    parsed, wrong = parse(texts.filter(is_value))
    present = np.flatnonzero(is_value)
    values = np.full(len(texts) + 1, absent, parsed.dtype)  # the last one is that of a null
    bad = np.zeros(len(texts) + 1, dtype=bool)
    values[present], bad[present] = np.where(wrong, absent, parsed), wrong
    mark(bad[codes], lambda row: describe(encoded.dictionary[codes[row]].as_py()))
    return np.asarray(values[codes])
