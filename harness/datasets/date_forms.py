"""Dates as people and programs write them, which are not ISO: ``09/26/2003``, ``26.09.2003``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from harness.errors import DataError

_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:\.\d+)?)?(?: ?(?P<p>[AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?: ?(?P<z>Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_END = rf"(?:(?:T|,? +){_CLOCK}{_ZONE})?"
_WEEKDAY = r"(?:[A-Za-z]{3,9},? )?"
_MONTH = r"(?P<B>[A-Za-z]{3,9})\.?"
FORMS = {
    "year-month-day": rf"(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_END}",
    "day.month.year": rf"(?P<d>\d{{1,2}})\.(?P<m>\d{{1,2}})\.(?P<y>\d{{4}}){_END}",
    "month day, year": rf"(?P<m>\d{{1,2}}) (?P<d>\d{{1,2}}), ?(?P<y>\d{{4}}){_END}",
    "slashes": rf"(?P<a>\d{{1,2}})[-/](?P<b>\d{{1,2}})[-/](?P<y>\d{{4}}){_END}",
    "name of month, day, year": rf"{_WEEKDAY}{_MONTH} (?P<d>\d{{1,2}}),? (?P<y>\d{{4}}){_END}",
    "day, name of month, year": (
        rf"{_WEEKDAY}(?P<d>\d{{1,2}})[ -]{_MONTH},?[ -](?P<y>\d{{4}}){_END}"
    ),
    "weekday, name of month, day, time, year": (
        rf"[A-Za-z]{{3}} {_MONTH} +(?P<d>\d{{1,2}}) {_CLOCK}{_ZONE} (?P<y>\d{{4}})"
    ),
}
"""Patterns of dates: y, m, d or B are year, month, day or the month's name; a and b are day and
month in an order that the numbers have to show."""
_ENGLISH = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]


def read_dates(texts: pd.Series[str], absent: int) -> tuple[str, NDArray[np.int64]]:
    """Return the form that most of some texts have, empty for none, and their seconds since 1970.

    Parameters
    ----------
    texts : Series of str, shape (n,)
    absent : int
        In place of the seconds of a text that has another form, or is no date of the calendar.

    Raises
    ------
    DataError
        If no number shows whether the day or the month comes first.

    Examples
    --------
    >>> read_dates(pd.Series(["09/26/2003", "01/02/2004 09:01:10 PM"]), -1)
    ('month/day/year', array([1064534400, 1073077270]))
    >>> read_dates(pd.Series(["soon"]), -1)
    ('', array([-1]))
    """
    for form, pattern in FORMS.items():
        parts = texts.str.extract(f"^(?:{pattern})$")
        is_one = parts["y"].notna().to_numpy()
        if 2 * np.count_nonzero(is_one) > len(texts):
            name = form
            if "a" in parts:
                name, day, month = _order(parts["a"], parts["b"], texts[is_one].iloc[0])
                parts = parts.assign(d=day, m=month)
            if "B" in parts:
                parts = parts.assign(m=_month_numbers(parts["B"]))
            return name, _seconds(parts, absent)
    return "", np.full(len(texts), absent, np.int64)


def _order(
    first: pd.Series[str], second: pd.Series[str], example: str
) -> tuple[str, pd.Series[str], pd.Series[str]]:
    """Return the name of the form, the days and the months of dates between slashes."""
    n_first, n_second = ((pd.to_numeric(part) > 12).sum() for part in (first, second))
    if not n_first and not n_second:
        raise DataError(
            f"the timestamp {example!r} may be month and day, or day and month, as no number in "
            "its column is above 12; say which, as time_format: '%m/%d/%Y' or '%d/%m/%Y'"
        )
    if n_first > n_second:
        return "day/month/year", first, second
    return "month/day/year", second, first


def _month_numbers(names: pd.Series[str]) -> pd.Series[float]:
    """Return the numbers of months by their English names or the first three letters of these."""
    numbers = {name[:3]: number for number, name in enumerate(_ENGLISH, 1)}
    numbers |= {name: number for number, name in enumerate(_ENGLISH, 1)} | {"sept": 9}
    return names.str.casefold().map(numbers)


def _seconds(parts: pd.DataFrame, absent: int) -> NDArray[np.int64]:
    def number(key: str) -> NDArray[np.float64]:
        if key not in parts:
            return np.full(len(parts), np.nan)
        return pd.to_numeric(parts[key], errors="coerce").to_numpy(np.float64)

    days = pd.to_datetime(
        pd.DataFrame({"year": number("y"), "month": number("m"), "day": number("d")}),
        errors="coerce",
    )
    none = days.isna().to_numpy(copy=True)
    hours, minutes, seconds = (np.nan_to_num(number(key)) for key in "HMS")
    if "p" in parts:
        half = parts["p"].str.casefold()
        hours = np.where(half.notna(), hours % 12, hours) + 12 * (half == "p").to_numpy()
    none |= (hours > 23) | (minutes > 59) | (seconds > 60)
    moments = days.to_numpy(dtype="datetime64[s]").astype(np.int64)
    moments = moments + (3600 * hours + 60 * minutes + seconds).astype(np.int64)
    if "z" in parts:
        offsets = parts["z"].str.extract(r"(?P<sign>[+-])(?P<h>\d\d):?(?P<m>\d\d)")
        shift = 3600 * pd.to_numeric(offsets["h"]) + 60 * pd.to_numeric(offsets["m"])
        shift = shift.where(offsets["sign"] != "-", -shift).fillna(0)
        moments = moments - shift.to_numpy(np.int64)
    return np.where(none, absent, moments)
