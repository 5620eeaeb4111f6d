"""Numbers and times as people write them: from texts to values."""

from __future__ import annotations

import math
import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.datasets.columns import is_number

NO_TIME = np.iinfo(np.int64).min
"""Marks a row without a time."""

DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?( ?Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
"""The pattern of a date, with or without a time of the day."""

Mask = NDArray[np.bool_]


def _number(text: str) -> float:
    return float(text) if is_number(text) else np.inf


def parse_numbers(texts: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
    """Return numbers, and which texts are no finite number."""
    values = np.array([_number(text) for text in texts.to_pylist()], dtype=np.float64)
    return values, ~np.isfinite(values)


def parse_times(texts: pa.StringArray) -> tuple[NDArray[np.int64], Mask]:
    """Return whole numbers, or dates as seconds since 1970, and which texts are neither."""
    dates = np.asarray(pc.match_substring_regex(texts, DATE))
    written = pc.replace_substring(texts.filter(dates), "/", "-").to_pandas()
    moments = pd.Series(pd.to_datetime(written, errors="coerce", utc=True, format="ISO8601"))
    seconds = moments.to_numpy(dtype="datetime64[s]").astype(np.int64)
    values = np.full(len(texts), NO_TIME)
    values[dates] = np.where(moments.isna(), NO_TIME, seconds)
    values[~dates] = [_moment(text) for text in texts.filter(~dates).to_pylist()]
    return values, values == NO_TIME


def _moment(text: str) -> int:
    """Return the whole part of a number that fits 64 bits, else `NO_TIME`."""
    with suppress(OverflowError):
        is_whole = re.fullmatch("[+-]?[0-9]{1,24}", text)
        number = int(text) if is_whole else math.floor(_number(text))
        if abs(number) < 2**62:
            return number
    return NO_TIME
