"""The table of an analysis, as text."""

from __future__ import annotations

from numbers import Integral, Real

from harness.lazy import pd
from harness.results.display import TextTable, rounded

PLACES = 4
"""Decimals where people read the values."""
CONSTANT = ("dataset", "split", "candidates")
"""Names that are left out where all rows have the same."""


def analysis_table(name: str, frame: pd.DataFrame) -> TextTable:
    """Return the table of an analysis with rounded numbers.

    >>> analysis_table("lengths", pd.DataFrame({"algorithm": ["SVD"], "mean": [2.5]})).rows
    [['SVD', '2.5000']]
    """
    alike = [key for key in CONSTANT if key in frame and frame[key].nunique() == 1]
    shown = frame.drop(columns=alike)
    rows = [[_text(value) for value in row] for row in shown.astype(object).to_numpy().tolist()]
    columns = [str(column) for column in shown.columns]
    is_number = [pd.api.types.is_numeric_dtype(shown[column]) for column in shown.columns]
    n_words = next((place for place, number in enumerate(is_number) if number), len(columns))
    return TextTable(name, "", 1, columns, rows, n_words=n_words)


def _text(value: object) -> str:
    """Return a value as people read it."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value)
    if isinstance(value, Integral):
        return f"{value:,}"
    return rounded(float(value), PLACES) if isinstance(value, Real) else str(value)
