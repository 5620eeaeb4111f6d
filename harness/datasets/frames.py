"""Columns of numbers and times, from whatever array or Series holds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import DataError

__all__ = ["numbered", "numbers", "seconds"]


def numbers(values: ArrayLike) -> NDArray[np.float64]:
    """Return ratings as floats, NaN where there is none.

    Raises
    ------
    DataError
        If there is something else than numbers, with its row.

    Examples
    --------
    >>> numbers([1, None, "2.5"]).tolist()
    [1.0, nan, 2.5]
    """
    import pandas as pd

    series: Any = pd.Series(values).reset_index(drop=True)
    if pd.api.types.is_bool_dtype(series) or pd.api.types.is_datetime64_any_dtype(series):
        raise DataError(f"ratings of type {series.dtype}; turn them into numbers")
    read = _to_numeric(series)
    bad = read.isna() & series.notna()
    if series.dtype == object or pd.api.types.is_string_dtype(series):
        bad &= ~series.astype(str).str.strip().str.casefold().isin(["nan", ""])
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        raise DataError(
            f"{numbered(row)}: the rating {_shown(series.iloc[row])} is not a number; mend the data"
        )
    floats: NDArray[np.float64] = read.to_numpy(dtype=np.float64, na_value=np.nan)
    return floats


def numbered(row: int) -> str:
    """Return where a row of a table stands."""
    return f"row {row} (counted from 0)"


def seconds(values: ArrayLike, at: Callable[[int], str] = numbered) -> NDArray[np.int64]:
    """Return times as whole seconds since 1970; dates are taken for UTC unless they say otherwise.

    Parameters
    ----------
    values : array_like, shape (n,)
        Seconds or dates.
    at : callable
        From a row's position, from 0, to where it stands.

    Raises
    ------
    DataError
        If one is missing or is neither a number of seconds nor a date, with its row.

    Examples
    --------
    >>> seconds(["1970-01-02", "1970-01-01 00:00:07"]).tolist()
    [86400, 7]
    """
    import pandas as pd

    series: Any = pd.Series(values).reset_index(drop=True)
    if pd.api.types.is_integer_dtype(series.dtype) and not series.isna().any():
        if series.dtype == np.uint64 and (series > np.iinfo(np.int64).max).any():
            raise DataError("timestamps beyond 2**63; give seconds since 1970")
        whole: NDArray[np.int64] = series.to_numpy(dtype=np.int64)
        return whole
    if pd.api.types.is_datetime64_any_dtype(series):
        times = series
    else:
        read = _to_numeric(series)
        fits = read.abs() < 2.0**62
        if fits.all():
            return np.floor(np.asarray(read, dtype=np.float64)).astype(np.int64)
        if fits.any():
            raise _no_time(series, ~fits, at)
        texts = series.where(series.isna(), series.astype(str))
        times = pd.to_datetime(texts, errors="coerce", utc=True, format="ISO8601")
    if times.isna().any():
        raise _no_time(series, times.isna(), at)
    if times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(times.to_numpy(dtype="datetime64[s]")).astype(np.int64)


def _no_time(series: Any, bad: Any, at: Callable[[int], str]) -> DataError:
    """Return what to say of the first value that is no time."""
    row = int(np.argmax(bad.to_numpy()))
    return DataError(
        f"{at(row)}: the timestamp {_shown(series.iloc[row])} is neither seconds since 1970 "
        "nor a date; mend it, or do not read it: columns: {timestamp: null}"
    )


def _to_numeric(series: Any) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    try:
        return pd.to_numeric(series, errors="coerce")
    except (TypeError, ValueError, OverflowError):  # lists, dictionaries and the like
        return pd.Series(np.nan, index=series.index)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
