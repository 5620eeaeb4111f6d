"""When it was rated, as seconds since 1970: of numbers, and of dates in any usual form."""

from __future__ import annotations

import math
import re
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pa, pc, pd
from harness.datasets.columns import (
    Marker,
    Mask,
    floats,
    is_number,
    is_numeric,
    is_text,
    parse_distinct,
    plain,
    shown,
)
from harness.errors import DataError
from harness.notes.note import Note

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


NO_TIME = np.iinfo(np.int64).min
"""Marks a row without a time."""
DAY = 86_400
UNITS = {
    "seconds": 1,
    "milliseconds": 10**-3,
    "microseconds": 10**-6,
    "nanoseconds": 10**-9,
    "days": DAY,
}
"""Seconds of the units that `time_format` names."""
_DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?( ?Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
_BY_SIZE = (
    (1e17, 10**9, "nanoseconds"),
    (1e14, 10**6, "microseconds"),
    (1e11, 10**3, "milliseconds"),
)
_LAST_SECOND = 1e11
"""Larger numbers (the year 5138 in seconds) are read as smaller units."""
_YEARS = 1900, 2100
"""Numbers between these are years, and those of eight digits that begin with them are days."""
_WRITTEN = (
    ("%Y", 1, _YEARS, "years, as {}"),
    ("%Y%m%d", 10**4, _YEARS, "days written as {}"),
    ("%Y%m%d%H%M%S", 10**10, _YEARS, "times written as {}"),
)


class TimeReader:
    """Turns a column into seconds since 1970, with notes on what was assumed.

    Parameters
    ----------
    role : str
        What messages call a value.
    form : str
        The `time_format` of a config; empty where it is to be found out.
    mark : callable
        Takes the rows that are no times.
    notes : list of Note
        Is added to.
    """

    def __init__(self, role: str, form: str, mark: Marker, notes: list[Note]) -> None:
        self.role, self.form, self.mark, self.notes = role, form, mark, notes

    def seconds(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """Return the seconds of each row, `NO_TIME` for none."""
        column = plain(column)
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            unit = pa.timestamp("s", tz=getattr(kind, "tz", None))
            seconds = pc.cast(pc.cast(column, unit, safe=False), pa.int64())
            return np.asarray(seconds.fill_null(NO_TIME).to_numpy())
        if self.form and self.form not in UNITS:
            return self._in_form(column)
        if is_text(kind):
            return self._of_text(column)
        if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            return self._of_numbers(pc.cast(column, pa.int64()).fill_null(NO_TIME).to_numpy())
        if not is_numeric(kind):
            raise DataError(
                f"{self.role}s of type {kind}; turn them into seconds since 1970 or dates"
            )
        values = floats(column)
        bad = np.abs(values) >= 2.0**62
        self.mark(bad, lambda row: f"the {self.role} {values[row]:g} is not a time")
        none = bad | np.isnan(values)
        if self.form in UNITS:
            seconds = np.floor(np.where(none, 0, values) * UNITS[self.form]).astype(np.int64)
            return np.where(none, NO_TIME, seconds)
        seconds = np.floor(np.where(none, 0, values)).astype(np.int64)
        return self._of_numbers(np.where(none, NO_TIME, seconds))

    def _in_form(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        """Return times by a pattern of `strptime`, which numbers are written in too."""
        if pa.types.is_floating(column.type):
            column = pc.cast(column, pa.int64(), safe=False)
        column = column if is_text(column.type) else pc.cast(column, pa.string())

        def parse(texts: pa.StringArray) -> tuple[NDArray[np.int64], Mask]:
            try:
                moments = pd.to_datetime(
                    texts.to_pandas(), format=self.form, errors="coerce", utc=True
                )
            except ValueError as error:
                raise DataError(
                    f"time_format: {self.form!r} is no pattern ({error}); write one as "
                    "'%d/%m/%Y %H:%M', or one of " + ", ".join(UNITS)
                ) from None
            return _seconds_of(pd.Series(moments))

        fault = lambda text: f"the {self.role} {shown(text)} is not written as {self.form!r}"  # noqa: E731
        return parse_distinct(column, parse, NO_TIME, fault, self.mark)

    def _of_text(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        with suppress(pa.ArrowInvalid):
            numbers = floats(column)
            if self.form in UNITS and np.isfinite(numbers).all():
                return np.floor(numbers * UNITS[self.form]).astype(np.int64)
            largest = np.abs(numbers).max(initial=0)
            if largest < 2.0**53:
                return self._of_numbers(np.floor(numbers).astype(np.int64))
            if largest < 2.0**62:  # more digits than a float has
                return self._of_numbers(pc.cast(column, pa.int64()).to_numpy())
        form = ""

        def parse(texts: pa.StringArray) -> tuple[NDArray[np.int64], Mask]:
            nonlocal form
            values, wrong = _parse(texts)
            if not self.form and 2 * np.count_nonzero(wrong) > len(texts):
                form, values = read_dates(texts.to_pandas(), NO_TIME)
                if form:
                    return values, values == NO_TIME
                values, wrong = _parse(texts)
            return values, wrong

        def fault(text: str) -> str:
            expected = f"not written as the others, {form}"
            usual = "neither seconds since 1970 nor an ISO date"
            return f"the {self.role} {shown(text)} is {expected if form else usual}"

        values = parse_distinct(column, parse, NO_TIME, fault, self.mark)
        if form:
            if form != "year-month-day":
                self.notes.append(Note("time-form", {"role": self.role, "form": form}))
            return values
        are_dates = pc.match_substring_regex(pc.utf8_trim(column, " \t"), _DATE).fill_null(False)
        has_time = values != NO_TIME
        dates = np.asarray(are_dates) & has_time
        if not dates.any():
            return self._of_numbers(values)
        most = "dates" if 2 * np.count_nonzero(dates) >= np.count_nonzero(has_time) else "numbers"
        odd, one = has_time & (dates != (most == "dates")), "number" if most == "dates" else "date"
        self.mark(
            odd, lambda row: f"the {self.role} {shown(column[row])} is a {one}, others are {most}"
        )
        values = np.where(odd, NO_TIME, values)
        return values if most == "dates" else self._of_numbers(values)

    def _of_numbers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return seconds of whole numbers, whose size and digits show what they count."""
        has_time = values != NO_TIME
        if not has_time.any():
            return values
        if self.form in UNITS:
            factor = UNITS[self.form]
            scaled = values * int(factor) if factor >= 1 else values // round(1 / factor)
            return np.where(has_time, scaled, NO_TIME)
        if (written := self._as_written(values, has_time)) is not None:
            return written
        sizes = np.where(has_time, np.abs(values.astype(np.float64)), np.inf)
        for least, per_second, unit in _BY_SIZE:
            if sizes.min() >= least:
                self.notes.append(Note("time-unit", {"role": self.role, "unit": unit}))
                return np.where(has_time, values // per_second, NO_TIME)
        self.mark(
            has_time & (sizes >= _LAST_SECOND),
            lambda row: (
                f"the {self.role} {values[row]} is beyond the year 5138 in seconds, but smaller "
                "ones in the file are seconds"
            ),
        )
        first, last = int(values[has_time].min()), int(values[has_time].max())
        if first >= 0 and last < 366 * DAY:
            days = np.array([first, last], "datetime64[s]").astype("datetime64[D]").astype(str)
            self.notes.append(Note("times-of-1970", {"role": self.role, "days": days.tolist()}))
        return values

    def _as_written(self, values: NDArray[np.int64], has_time: Mask) -> NDArray[np.int64] | None:
        """Return seconds of numbers that are dates, as 2003, 20030926 or 20030926210110; or None.

        As seconds since 1970 they would lie within an hour or two days of that year, or in the
        future; so all of them have to be dates between 1900 and 2100.
        """
        numbers = values[has_time]
        first, last = int(numbers.min()), int(numbers.max())
        for form, unit, (begin, end), wording in _WRITTEN:
            if not begin * unit <= first <= last < (end + 1) * unit:
                continue
            distinct, codes = np.unique(numbers, return_inverse=True)
            moments = pd.to_datetime(
                pd.Series(distinct.astype(str)), format=form, errors="coerce", utc=True
            )
            seconds, wrong = _seconds_of(moments)
            if wrong.any():
                continue
            says = wording.format(first)
            self.notes.append(Note("time-written", {"role": self.role, "written": says}))
            result = np.full(len(values), NO_TIME)
            result[has_time] = seconds[codes]
            return result
        return None


def _seconds_of(moments: pd.Series[pd.Timestamp]) -> tuple[NDArray[np.int64], Mask]:
    none = moments.isna().to_numpy()
    seconds = moments.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return np.where(none, NO_TIME, seconds), none


def _parse(texts: pa.StringArray) -> tuple[NDArray[np.int64], Mask]:
    """Return whole numbers, or ISO dates as seconds since 1970, and which texts are neither."""
    dates = np.asarray(pc.match_substring_regex(texts, _DATE))
    written = pc.replace_substring(texts.filter(dates), "/", "-").to_pandas()
    moments = pd.Series(pd.to_datetime(written, errors="coerce", utc=True, format="ISO8601"))
    values = np.full(len(texts), NO_TIME)
    values[dates], _ = _seconds_of(moments)
    values[~dates] = [_moment(text) for text in texts.filter(~dates).to_pylist()]
    return values, values == NO_TIME


def _moment(text: str) -> int:
    """Return the whole part of a number that fits 64 bits, else `NO_TIME`."""
    with suppress(OverflowError):
        is_whole = re.fullmatch("[+-]?[0-9]{1,24}", text)
        number = math.inf if not is_whole and not is_number(text) else float(text)
        number = int(text) if is_whole else math.floor(number)
        if abs(number) < 2**62:
            return int(number)
    return NO_TIME
