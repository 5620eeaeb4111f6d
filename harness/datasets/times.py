"""When it was rated, as seconds since 1970: of numbers, and of dates in any usual form."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from functools import cache
from typing import Any

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
from harness.errors import DataError, joined
from harness.notes.note import Note

_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,]\d+)?)?(?: ?(?P<p>[AaPp])\.?[Mm]\.?)?"
ZONES = {"z": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
         "mdt": -6, "pst": -8, "pdt": -7, "wet": 0, "west": 1, "bst": 1, "cet": 1, "cest": 2,
         "mez": 1, "mesz": 2, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9}  # fmt: skip
"""Hours from UTC of the names of zones that have one meaning in dates of programs and e-mails."""
_ZONE = rf"(?: ?(?P<z>(?i:{'|'.join(ZONES)})\b|[+-]\d{{2}}(?::?\d{{2}})?)(?:\[[^\]]*\])?)?"
_END = rf"(?:(?:T|:|,? +(?:at |um )?){_CLOCK}(?: Uhr)?{_ZONE})?"
_WEEKDAY = r"(?:[^\W\d_]{2,9}[.,]{0,2} )?"
_MONTH = r"(?P<B>[^\W\d_]{3,10})\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?P<y>\d{4}|'?\d{2})"
FORMS = {
    "year-month-day": rf"(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_END}",
    "yearmonthday": (
        r"(?P<y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})[T ](?P<H>\d{2}):?(?P<M>\d{2}):?"
        rf"(?P<S>\d{{2}})(?:[.,]\d+)?{_ZONE}"
    ),
    "year-month": r"(?P<y>\d{4})[-/](?P<m>\d{1,2})",
    "年月日": (
        r"(?P<y>\d{4})[年년] ?(?P<m>\d{1,2})[月월] ?(?P<d>\d{1,2})[日일]" + rf"(?: ?{_CLOCK})?"
    ),
    "day.month.year": rf"(?P<d>\d{{1,2}})\. ?(?P<m>\d{{1,2}})\. ?{_YEAR}{_END}",
    "month day, year": rf"(?P<m>\d{{1,2}}) (?P<d>\d{{1,2}}), ?(?P<y>\d{{4}}){_END}",
    "slashes": rf"(?P<a>\d{{1,2}})[-/](?P<b>\d{{1,2}})[-/](?P<y>\d{{4}}){_END}",
    "slashes and two digits of a year": (
        rf"(?P<a>\d{{1,2}})[-/](?P<b>\d{{1,2}})[-/](?P<y>\d{{2}}){_END}"
    ),
    "name of month, day, year": rf"{_WEEKDAY}{_MONTH} {_DAY},? (?P<y>\d{{4}}){_END}",
    "day, name of month, year": (
        rf"{_WEEKDAY}{_DAY}(?:[ /-]| de ){_MONTH},?(?:[ /-]| de ){_YEAR}{_END}"
    ),
    "weekday, name of month, day, time, year": (
        rf"[^\W\d_]{{3}} {_MONTH} +(?P<d>\d{{1,2}}) {_CLOCK}{_ZONE} (?P<y>\d{{4}})"
    ),
}
"""Patterns of dates: y, m, d or B are year, month, day or the month's name; a and b are day and
month in an order that the numbers have to show."""
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
"""Names of months in languages whose programs write them."""


@cache
def _months() -> dict[str, int]:
    """Return the number of each month by its names and by what they are shortened to."""
    names = {name: number for line in _MONTHS for number, name in enumerate(line.split(), 1)}
    short: dict[str, set[int]] = {}
    for name, number in names.items():
        for length in (3, 4):
            short.setdefault(name[:length], set()).add(number)
    of_one = {name: numbers.pop() for name, numbers in short.items() if len(numbers) == 1}
    return {"jänner": 1, "mrz": 3, "mrt": 3} | of_one | names


def read_dates(texts: pd.Series[str], absent: int) -> tuple[str, NDArray[np.int64]]:
    """Return the form that most of some texts have, empty for none, and their seconds since 1970.

    Parameters
    ----------
    texts : Series of str, shape (n,)
    absent : int
        In place of the seconds of a text that has another form, or is not a date of the calendar.

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
                name, parts = _order(parts, texts[is_one].iloc[0])
            if "B" in parts:
                parts = parts.assign(m=parts["B"].str.casefold().map(_months()))
            parts = parts.assign(y=_years(parts["y"]))
            if "d" not in parts:
                parts = parts.assign(d="1")
            return name, _seconds(parts, absent)
    return "", np.full(len(texts), absent, np.int64)


def _years(years: pd.Series[str]) -> pd.Series[float]:
    """Return years as numbers; two digits are a year from 1969 to 2068, like in `strptime`."""
    digits = years.str.lstrip("'")
    numbers = pd.to_numeric(digits, errors="coerce")
    return numbers.where(digits.str.len() != 2, numbers + np.where(numbers < 69, 2000, 1900))


def _order(parts: pd.DataFrame, example: str) -> tuple[str, pd.DataFrame]:
    """Return the name of the form, and the parts of dates between slashes with day and month."""
    first, second, last = (pd.to_numeric(parts[part]) for part in "aby")
    n_first, n_second = ((part > 12).sum() for part in (first, second))
    orders = {"month/day/year": ("b", "a", "y"), "day/month/year": ("a", "b", "y")}
    if parts["y"].str.len().max() == 2:
        orders["year/month/day"] = ("y", "b", "a")
    possible = dict(orders)
    if n_first or n_second:
        possible.pop("month/day/year" if n_first > n_second else "day/month/year")
    if (n_second and n_second >= n_first) or (last > 31).any():
        possible.pop("year/month/day", None)
    if "year/month/day" in possible and (first > 31).any():
        possible = {"year/month/day": orders["year/month/day"]}
    if len(possible) > 1:
        patterns = [repr(_pattern(name, example)) for name in possible]
        raise DataError(
            f"the timestamp {example!r} may be {joined(possible, 'or')}, as no number in its "
            f"column shows which; say it, for example `time_format: {patterns[0]}` or "
            + " or ".join(f"`time_format: {pattern}`" for pattern in patterns[1:])
        )
    ((name, (day, month, year)),) = possible.items()
    return name, parts.assign(d=parts[day], m=parts[month], y=parts[year])


def _pattern(order: str, example: str) -> str:
    """Return the pattern of `strptime` for a date between slashes, with its time of day."""
    match = re.match(r"\d+([-/])\d+[-/](\d+)(.*)", example)
    sign, year, rest = (match[1], match[2], match[3]) if match else ("/", "0000", "")
    letters = {"year": "%Y" if len(year) == 4 else "%y", "month": "%m", "day": "%d"}
    half = re.search("[AaPp][Mm]", rest) is not None
    rest = re.sub("[AaPp][Mm]", "%p", rest)
    for letter in ("I" if half else "H", "M", "S"):
        rest = re.sub(r"(?<![\d%.,])\d{1,2}(?!\d)", f"%{letter}", rest, count=1)
    rest = re.sub(r"\.\d+", ".%f", re.sub(r"(?<=%[MSp]) ?([+-]\d\d:?\d\d)$", " %z", rest))
    return sign.join(letters[part] for part in order.split("/")) + rest


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
    if "p" in parts and parts["p"].notna().any():
        half = parts["p"].str.casefold()
        hours = np.where(half.notna(), hours % 12, hours) + 12 * (half == "p").to_numpy()
    none |= (hours > 23) | (minutes > 59) | (seconds > 60)
    moments = days.to_numpy(dtype="datetime64[s]").astype(np.int64)
    moments = moments + (3600 * hours + 60 * minutes + seconds).astype(np.int64)
    if "z" in parts:
        zones = parts["z"].str.casefold()
        offsets = zones.str.extract(r"(?P<sign>[+-])(?P<h>\d\d):?(?P<m>\d\d)?")
        shift = 3600 * pd.to_numeric(offsets["h"]) + 60 * pd.to_numeric(offsets["m"]).fillna(0)
        shift = shift.where(offsets["sign"] != "-", -shift)
        shift = shift.fillna(3600 * zones.map(ZONES)).fillna(0)
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
    "minutes": 60,
    "hours": 3600,
    "days": DAY,
    "excel": DAY,
}
"""Seconds of the units that `time_format` names; `excel` counts days from the end of 1899."""
EARLY = 3_650 * DAY
"""Times before the end of 1979, when no ratings were kept; 0 often stands for none."""
EXCEL = 25_569
"""Days from Excel's day 0, the 30th of December 1899, to 1970."""
_IN_1970 = (
    ("excel", 30_000, 60_000, "days as Excel counts them"),
    ("days", 7_305, 22_000, "days since 1970"),
    ("hours", 175_320, 528_000, "hours since 1970"),
    ("minutes", 10_519_200, 31_560_000, "minutes since 1970"),
)
"""Units in which numbers between two bounds lie between 1990 and 2030 (of Excel's days, 1982 and
2064), while they are in 1970 as seconds."""
_DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?( ?Z| ?[+-][0-9]{2}(:?[0-9]{2})?)?$"
)
_BY_SIZE = (
    (1e17, 10**9, "nanoseconds"),
    (1e14, 10**6, "microseconds"),
    (1e11, 10**3, "milliseconds"),
)
LEAST_DAYS = 3
"""Fewer distinct numbers of six digits may be dates by chance."""
_LAST_DAY = 2035
_LAST_SECOND = 1e11
"""Larger numbers (the year 5138 in seconds) are read as smaller units."""
_YEARS = 1900, 2100
"""Numbers between these are years, and eight digits that begin with them are days."""
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
        Takes the rows that are not times.
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
        if unit := self._unit_of(values[~none]):
            return np.where(none, NO_TIME, _in_seconds(np.where(none, 0, values), unit))
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
                    f"time_format: {self.form!r} is not a pattern ({error}); write one as "
                    "'%d/%m/%Y %H:%M', or one of " + ", ".join(UNITS)
                ) from None
            return _seconds_of(pd.Series(moments))

        fault = lambda text: f"the {self.role} {shown(text)} is not written as {self.form!r}"  # noqa: E731
        return parse_distinct(column, parse, NO_TIME, fault, self.mark)

    def _of_text(self, column: pa.ChunkedArray) -> NDArray[np.int64]:
        with suppress(pa.ArrowInvalid):
            numbers = floats(column)
            if np.isfinite(numbers).all() and (unit := self._unit_of(numbers)):
                return _in_seconds(numbers, unit)
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
        if unit := self._unit_of(values[has_time]):
            factor = UNITS[unit]
            moved = values - EXCEL * (unit == "excel")
            scaled = moved * int(factor) if factor >= 1 else values // round(1 / factor)
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
        self._ask_about_early(values[has_time])
        return values

    def _ask_about_early(self, times: NDArray[np.int64]) -> None:
        """Say that a few times are before 1980 and all others much later."""
        is_early = times < EARLY
        n_early = int(np.count_nonzero(is_early))
        if not 0 < n_early <= max(1, len(times) // 100) or n_early == len(times):
            return
        ends = np.array([times[is_early].min(), times[~is_early].min()], "datetime64[s]")
        early, later = ends.astype("datetime64[D]").astype(str).tolist()
        seen = {"role": self.role, "n": n_early, "early": early, "later": later}
        self.notes.append(Note("times-apart", seen))

    def _unit_of(self, numbers: NDArray[Any]) -> str:
        """Return the unit that a config names, or in which numbers are not times of 1970."""
        if self.form in UNITS or not len(numbers):
            return self.form if self.form in UNITS else ""
        first, last = float(numbers.min()), float(numbers.max())
        for unit, least, most, name in _IN_1970:
            if least <= first and last < most and not _are_written(numbers):
                example = f"{numbers[0]:.16g}"
                seen = {"role": self.role, "unit": name, "example": example}
                self.notes.append(Note("time-guessed", seen))
                return unit
        return ""

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
        if (days := _short_days(numbers)) is not None:
            says = f"days written as {first:06}"
            self.notes.append(Note("time-written", {"role": self.role, "written": says}))
            result = np.full(len(values), NO_TIME)
            _, codes = np.unique(numbers, return_inverse=True)
            result[has_time] = _seconds_of(days)[0][codes]
            return result
        return None


def _short_days(numbers: NDArray[Any]) -> pd.Series[pd.Timestamp] | None:
    """Return the distinct days of numbers that are all written as 050917; or None."""
    if not (numbers.min() > 10**4 and numbers.max() < 10**6):
        return None
    distinct = np.unique(numbers)
    if len(distinct) < LEAST_DAYS or (distinct != np.floor(distinct)).any():
        return None
    texts = pd.Series(distinct.astype(np.int64).astype(str)).str.zfill(6)
    days = pd.to_datetime(texts, format="%y%m%d", errors="coerce", utc=True)
    return None if days.isna().any() or days.dt.year.max() > _LAST_DAY else days


def _are_written(numbers: NDArray[Any]) -> bool:
    """Return whether most numbers are dates that are written as 20050917 or 050917."""
    if _short_days(numbers) is not None:
        return True
    distinct = pd.Series(np.unique(np.floor(numbers)).astype(np.int64).astype(str))
    days = pd.to_datetime(distinct, format="%Y%m%d", errors="coerce", utc=True)
    return 2 * int(days.notna().sum()) > len(days) and distinct.str.len().min() == 8


def _in_seconds(numbers: NDArray[np.float64], unit: str) -> NDArray[np.int64]:
    """Return numbers of a unit as whole seconds; Excel's, which are not exact, as the nearest."""
    if unit == "excel":
        return np.rint((numbers - EXCEL) * DAY).astype(np.int64)
    return np.floor(numbers * UNITS[unit]).astype(np.int64)


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
