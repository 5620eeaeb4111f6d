"""Ratings and other numbers, as text writes them or of any numeric type."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.arguments import MOST_RATING
from harness.datasets.arrow_columns import (
    Marker,
    Mask,
    floats,
    is_numeric,
    is_text,
    parse_distinct,
    plain,
    shown,
)
from harness.datasets.columns import is_number
from harness.datasets.value_format import ValueFormat
from harness.errors import DataError

GROUPED = r"\d{1,3}(,\d{3})+"
"""A number with commas between groups of three digits, or one with a decimal comma."""


def read_numbers(
    column: pa.ChunkedArray, role: str, values: ValueFormat, mark: Marker
) -> NDArray[np.float64]:
    """Return a column as floats, NaN for none; rows that are no finite numbers are marked."""
    column = plain(column)
    if is_text(column.type):
        with suppress(pa.ArrowInvalid):
            numbers = floats(_with_points(column, values))
            if np.isfinite(numbers).all():
                return _of_size(numbers, role, mark)

        def describe(text: str) -> str:
            return f"the {role} {shown(text)} is not a number" + _hint(text.strip(), values)

        parse = lambda texts: _parse(_with_points(texts, values))  # noqa: E731
        parsed = parse_distinct(column, parse, np.nan, describe, mark)
        return _of_size(parsed, role, mark)
    if not is_numeric(column.type):
        raise DataError(f"{role}s of type {column.type}; turn them into numbers")
    numbers = floats(column)
    mark(np.isinf(numbers), lambda row: f"the {role} {numbers[row]} is not finite")
    return _of_size(numbers, role, mark)


def _of_size(numbers: NDArray[np.float64], role: str, mark: Marker) -> NDArray[np.float64]:
    """Mark ratings that are too large to be squared; of other numbers the order counts."""
    if role == "rating":
        fault = f"is too large to be squared; use a unit that gives at most {MOST_RATING:g}"
        large = np.isfinite(numbers) & (np.abs(numbers) > MOST_RATING)
        mark(large, lambda row: f"the rating {numbers[row]:.3g} {fault}")
    return numbers


def _hint(text: str, values: ValueFormat) -> str:
    if values.decimal != "." or values.thousands:
        return ""
    if re.fullmatch(GROUPED, text):
        several = text.count(",") > 1
        whole = f"if that is {text.replace(',', '')}, say thousands: ','"
        return f"; {whole}" + (
            "" if several else f"; if it is {text.replace(',', '.')}, decimal: ','"
        )
    is_comma = re.fullmatch(r"\d+,\d+", text)
    return (
        "; if that is a decimal comma, say decimal: ',' (an option: --decimal ,)"
        if is_comma
        else ""
    )


def _with_points(texts: pa.ChunkedArray, values: ValueFormat) -> pa.ChunkedArray:
    """Return texts with a point as the decimal mark, and without marks between thousands."""
    decimal = values.decimal or "."
    if values.thousands:
        mark = re.escape(values.thousands)
        grouped = rf"^\s*[+-]?\d{{1,3}}({mark}\d{{3}})+({re.escape(decimal)}\d*)?\s*$"
        is_grouped = pc.match_substring_regex(texts, grouped)
        texts = pc.if_else(is_grouped, pc.replace_substring(texts, values.thousands, ""), texts)
    return pc.replace_substring(texts, ",", ".") if decimal == "," else texts


def _parse(texts: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
    numbers = [float(text) if is_number(text) else np.inf for text in texts.to_pylist()]
    values = np.array(numbers, dtype=np.float64)
    return values, ~np.isfinite(values)
