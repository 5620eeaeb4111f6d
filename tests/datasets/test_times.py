"""Times in every form that public data sets have, and what is said where it is not certain."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.datasets.loading import load_under
from harness.datasets.section import DatasetSection
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
    return load_under(frame, DatasetSection(path="-", out_of_scale="keep", **keys))


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
    with pytest.raises(DataError, match=r"'03/04/2003' may be month/day/year or.*time_format: '%m"):
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
    with pytest.raises(
        DataError, match=r"time_format: 'year' is not a pattern|not written as 'year'"
    ):
        load(["2003", "2004", "2005"], time_format="year")


def test_a_missing_time_is_missing():
    with pytest.raises(DataError, match="no timestamp"):
        load(["26.09.2003", "", "27.09.2003"])


@pytest.mark.parametrize(
    ("texts", "seconds_of_first"),
    [
        (["2005-09-17 17:37:51+00", "2005-09-18 17:37:51.123+00"], 1126978671),
        (["2005-09-17 17:37:51-03", "2005-09-18 17:37:51+05:30"], 1126989471),
        (["2005-09-17 17:37:51 +05:30", "2005-09-18 17:37:51 -03:00"], 1126958871),
        (["2005-09-17 17:37:51,123", "2005-09-18 17:37:51,5"], 1126978671),
        (["17-Sep-05", "18-Sep-05"], 1126915200),
        (["17-SEP-05 05:37:51 PM", "18-SEP-05 05:37:51 AM"], 1126978671),
        (["Saturday, 17-Sep-05 17:37:51 GMT", "Sunday, 18-Sep-05 17:37:51 GMT"], 1126978671),
        (["Sat, 17 Sep 2005 17:37:51 +0200", "Sun, 18 Sep 2005 17:37:51 +0200"], 1126971471),
        (["Sat Sep 17 17:37:51 CEST 2005", "Sun Sep 18 17:37:51 CEST 2005"], 1126971471),
        (["2005-09-17 17:37:51 EST", "2005-09-18 17:37:51 EDT"], 1126996671),
        (["2005-09-17T17:37:51+02:00[Europe/Berlin]"] * 2, 1126971471),
        (["20050917T173751Z", "20050918T173751Z"], 1126978671),
        (["17/Sep/2005:17:37:51 +0000", "18/Sep/2005:17:37:51 +0000"], 1126978671),
        (["September 17th, 2005", "September 1st, 2005"], 1126915200),
        (["17. September 2005", "1. M\u00e4rz 2005"], 1126915200),
        (["17 septembre 2005", "18 f\u00e9vrier 2005"], 1126915200),
        (["17 de septiembre de 2005", "1 de enero de 2005"], 1126915200),
        (["2005\u5e749\u670817\u65e5", "2005\u5e749\u670818\u65e5"], 1126915200),
        (["17.09.05", "18.09.05"], 1126915200),
        (["9/17/05 17:37", "9/8/05 5:37"], 1126978620),
        (["17/9/05", "8/9/95"], 1126915200),
        (["2005-09", "2005-10"], 1125532800),
        (["05/09/17", "69/12/31"], 1126915200),
    ],
)
def test_times_of_programs_are_read(texts, seconds_of_first):
    times = (texts * 3)[:3]
    assert load(times).timestamps[0] == seconds_of_first


@pytest.mark.parametrize("kind", ["int64", "str", "float64"])
@pytest.mark.parametrize(
    ("numbers", "unit", "first"),
    [
        ([38612, 38613, 39000], "excel", 1126915200),
        ([13043, 13044, 13100], "days", 1126915200),
        ([18782977, 18360879, 19854592], "minutes", 1126978620),
        ([313049, 313050, 319999], "hours", 1126976400),
    ],
)
def test_units_in_which_times_are_not_of_1970_are_found_and_said(numbers, unit, first, kind):
    times = pd.Series(numbers).astype(kind)
    ratings = load(times)
    assert ratings.timestamps[0] == first
    assert "time-guessed" in {note.code for note in ratings.notes}
    named = load(times, time_format=unit)
    assert named.timestamps.tolist() == ratings.timestamps.tolist()
    assert "time-guessed" not in {note.code for note in named.notes}
    assert load(times, time_format="seconds").timestamps.tolist() == numbers


def test_excel_has_the_time_of_day_to_the_second():
    assert load(["38612.734618", "38613.5", "38614"]).timestamps.tolist() == [
        1126978671, 1127044800, 1127088000,
    ]  # fmt: skip


@pytest.mark.parametrize("times", [["050917", "041128", "071001"], [50917, 41128, 71001]])
def test_days_of_six_digits_are_read_and_said(times):
    ratings = load(times)
    assert ratings.timestamps.tolist() == [1126915200, 1101600000, 1191196800]
    assert "time-written" in {note.code for note in ratings.notes}


@pytest.mark.parametrize(
    ("times", "n_ways"),
    [
        (["03/04/2003 05:06", "05/06/2003 07:08", "01/02/2004 23:10"], 2),
        (["03/04/2003 05:06:07 PM", "05/06/2003 07:08:09 AM", "01/02/2004 11:10:00 PM"], 2),
        (["3-4-2003", "5-6-2003", "1-2-2004"], 2),
        (["03/04/2003T05:06:07.25 +0100"] * 3, 2),
        (["03/04/05", "05/06/07", "01/02/03"], 3),
        (["17/04/05", "18/06/07", "19/02/03"], 2),
    ],
)
def test_each_order_that_is_offered_reads_the_times(times, n_ways):
    with pytest.raises(DataError, match="no number in its column shows which") as refused:
        load(times)
    patterns = re.findall("`time_format: '(.*?)'`", str(refused.value))
    assert len(patterns) == n_ways
    found = [tuple(load(times, time_format=pattern).timestamps.tolist()) for pattern in patterns]
    assert len({*found}) == n_ways


def test_a_few_times_of_1970_among_later_ones_are_said():
    frame = pd.DataFrame({"user": range(200), "item": 1, "rating": [1, 2] * 100,
                          "timestamp": [*range(10**9, 10**9 + 199), 11]})  # fmt: skip
    (note,) = (note for note in datasets.load(frame).notes if note.code == "times-apart")
    assert note.values == {"role": "timestamp", "n": 1, "early": "1970-01-01",
                           "later": "2001-09-09"}  # fmt: skip
