"""Times in every form that public data sets have, and what is said where it is not certain."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.errors import DataError

MOMENTS = [
    dt.datetime(2003, 9, 26, 21, 1, 10, tzinfo=dt.UTC),
    dt.datetime(2004, 2, 5, 9, 30, tzinfo=dt.UTC),
    dt.datetime(1999, 12, 31, 0, 15, 59, tzinfo=dt.UTC),
]
DAYS = [moment.replace(hour=0, minute=0, second=0) for moment in MOMENTS]
WITH_CLOCK = (
    "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%dT%H:%M:%SZ", "%Y/%m/%d %H:%M:%S GMT", "%Y.%m.%d %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y, %H:%M:%S", "%a %b %d %H:%M:%S +0000 %Y",
    "%a, %d %b %Y %H:%M:%S GMT", "%b %d, %Y %H:%M:%S", "%Y%m%d%H%M%S",
    "%a %b %d %H:%M:%S UTC %Y",
)  # fmt: skip
OF_DAYS = (
    "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y", "%m %d, %Y", "%B %d, %Y",
    "%d %B %Y", "%d-%b-%Y", "%Y%m%d", "%A, %B %d, %Y",
)  # fmt: skip


def load(times, **keys):
    frame = pd.DataFrame(
        {"user": [*"abc"], "item": [*"xyz"], "rating": [1, 2, 3], "timestamp": times}
    )
    return datasets.loading.load_under(
        frame, datasets.section.DatasetSection(path="-", out_of_scale="keep", **keys)
    )


def seconds(moments):
    return [int(moment.timestamp()) for moment in moments]


@pytest.mark.parametrize("form", WITH_CLOCK)
def test_times_are_read_in_any_usual_form(form):
    ratings = load([moment.strftime(form) for moment in MOMENTS])
    assert ratings.timestamps.tolist() == seconds(MOMENTS)


@pytest.mark.parametrize("form", OF_DAYS)
def test_days_are_read_in_any_usual_form(form):
    assert load([day.strftime(form) for day in DAYS]).timestamps.tolist() == seconds(DAYS)


@pytest.mark.parametrize("form", [*WITH_CLOCK, *OF_DAYS, "%S%H%Y%m%d%M", "%y|%j"])
def test_time_format_reads_what_strptime_wrote(form):
    texts = [moment.strftime(form) for moment in MOMENTS]
    expected = pd.to_datetime(pd.Series(texts), format=form, utc=True)
    ratings = load(texts, time_format=form)
    assert ratings.timestamps.tolist() == [int(moment.timestamp()) for moment in expected]


def test_a_zone_is_taken_off():
    times = ["Fri Sep 26 21:01:10 -0700 2003", "Thu Feb 05 09:30:00 +0530 2004",
             "Fri Dec 31 00:15:59 +0000 1999"]  # fmt: skip
    found = load(times).timestamps - np.array(seconds(MOMENTS))
    assert found.tolist() == [7 * 3600, -5.5 * 3600, 0]


@pytest.mark.parametrize("kind", ["int64", "str", "float64"])
@pytest.mark.parametrize(
    ("numbers", "written"),
    [
        ([2003, 2004, 1999], "2003-01-01 2004-01-01 1999-01-01"),
        ([20030926, 20040205, 19991231], "2003-09-26 2004-02-05 1999-12-31"),
    ],
)
def test_numbers_that_are_dates_are_read_as_dates_and_said(numbers, written, kind):
    ratings = load(pd.Series(numbers).astype(kind))
    assert ratings.timestamps.astype("datetime64[s]").astype("M8[D]").astype(str).tolist() == (
        written.split()
    )
    assert "time-written" in {note.code for note in ratings.notes}
    plain = load(pd.Series(numbers).astype(kind), time_format="seconds")
    assert plain.timestamps.tolist() == numbers


@pytest.mark.parametrize(
    "numbers", [[20030926, 20030931, 20040101], [20030926, 1, 2], [1899, 2000, 2001]]
)
def test_numbers_of_which_one_is_no_date_are_seconds_and_warned_about(numbers):
    ratings = load(numbers)
    assert ratings.timestamps.tolist() == numbers
    (note,) = (note for note in ratings.notes if note.code == "times-of-1970")
    assert "1970-" in str(note)
    assert "time_format" in str(note)


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("seconds", 1), ("milliseconds", 1e-3), ("microseconds", 1e-6), ("nanoseconds", 1e-9),
     ("days", 86_400)],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["int64", "str", "float64"])
def test_units_are_named(unit, factor, kind):
    numbers = [5_000, 12_345_678, 40_000_000_000]
    numbers = numbers if factor <= 1 else [0, 900, 12_000]
    ratings = load(pd.Series(numbers).astype(kind), time_format=unit)
    assert ratings.timestamps.tolist() == [int(number * factor) for number in numbers]


def test_days_or_months_first_that_no_number_shows_are_refused_with_the_key():
    with pytest.raises(DataError, match=r"'03/04/2003' may be month and day.*time_format: '%m"):
        load(["03/04/2003", "05/06/2003", "01/02/2004"])
    ratings = load(["03/04/2003", "05/06/2003", "01/02/2004"], time_format="%d/%m/%Y")
    assert str(ratings.timestamps.astype("M8[s]")[0]) == "2003-04-03T00:00:00"


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["09/26/2003", "27/09/2003", "09/28/2003"], r"row 1 .*'27/09/2003' .*month/day/year"),
        (["26.09.2003", "31.02.2003", "01.10.2003"], r"row 1 .*'31.02.2003' .*day.month.year"),
        (["26.09.2003", "soon", "01.10.2003"], r"row 1 .*'soon' is not written as the others"),
        (["26.09.2003 25:00", "26.09.2003 10:00", "01.10.2003"], r"row 0 .*25:00"),
    ],
)
def test_a_date_that_is_none_is_named_with_its_row(times, message):
    with pytest.raises(DataError, match=message):
        load(times)


def test_a_pattern_that_is_none_and_times_that_do_not_fit_it_are_refused():
    with pytest.raises(DataError, match=r"row 2 .*'x' is not written as '%Y'"):
        load(["2003", "2004", "x"], time_format="%Y")
    with pytest.raises(DataError, match=r"time_format: 'year' is no pattern|not written as 'year'"):
        load(["2003", "2004", "2005"], time_format="year")


def test_a_missing_time_is_missing():
    with pytest.raises(DataError, match="no timestamp"):
        load(["26.09.2003", "", "27.09.2003"])
