"""Files of one's own: every layout that is read, every fault with its file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import datasets
from harness.datasets import Ratings
from harness.datasets.columns import find_columns
from harness.datasets.conversion import convert
from harness.datasets.readers import text as reading
from harness.errors import ColumnsError, DataError

from .conftest import rows_of

ROWS = [("7", "30", 4.0, 100), ("5", "30", 2.5, 200), ("7", "10", 5.0, 300)]
BODY = "7,30,4,100\n5,30,2.5,200\n7,10,5,300\n"
HEAD = "user,item,rating,time\n"
UNDATED = [("7", "30", 4.0, 0)]
UMLAUTS = "user,item,rating\nJürgen,é,4\n"


class TestLayouts:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.csv", "userId,movieId,rating,timestamp\n" + BODY),
            ("no-header.csv", BODY),
            ("order.csv", "rating,ts,item,user\n4,100,30,7\n2.5,200,30,5\n5,300,10,7\n"),
            ("more.csv", "title,user,item,rating,time\na,7,30,4,100\nb,5,30,2.5,200\nc,7,10,5,300"),
            ("blanks.csv", HEAD.replace(",", ", ") + BODY.replace("7,30,4", " 7, 30, 4 ")),
            ("u.data", BODY.replace(",", "\t")),
            ("ratings.dat", BODY.replace(",", "::")),
            ("runs.txt", "  7  30\t4 100\n5 30 2.5 200 \n\t7\t\t10 5 300\n"),
            ("bar.txt", BODY.replace(",", "|")),
            (
                "recbole.inter",
                "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
                + BODY.replace(",", "\t").replace("300", "300.0"),
            ),
        ],
    )  # fmt: skip
    def test_is_read_without_keys(self, load, name, content):
        assert rows_of(load(name, content)) == ROWS

    @pytest.mark.parametrize(
        ("content", "keys", "rows"),
        [
            (b"\xef\xbb\xbf7,30,4\n", {}, UNDATED),
            *(
                (UMLAUTS.encode(encoding), {"encoding": encoding}, [("Jürgen", "é", 4.0, 0)])
                for encoding in ("utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252")
            ),
            (
                "what,how much,who\n30,4,7\n",
                {"columns": {"user": " who ", "item": "what", "rating": "how much"}},
                UNDATED,
            ),
            (
                "30,4,7,x\n",
                {"columns": {"user": 3, "item": 1, "rating": 2, "timestamp": None}},
                UNDATED,
            ),
            ("user,item,5\n", {"header": False}, [("user", "item", 5.0, 0)]),
            ("customer,sku,rating,when\n7,30,4,100\n", {}, ROWS[:1]),
            ("1;2;4,5\n", {"decimal": ",", "separator": ";"}, [("1", "2", 4.5, 0)]),
            *(
                (f"7{mark}30{mark}4{mark}100\n", {"separator": mark}, ROWS[:1])
                for mark in ("→", "§", "##")
            ),
        ],
    )
    def test_is_read_as_the_config_says(self, load, content, keys, rows):
        assert rows_of(load("a.csv", content, **keys)) == rows

    def test_a_path_may_be_an_object_or_a_plain_string_with_an_ending(self, tmp_path):
        (tmp_path / "a.csv").write_text("1,2,3\n")
        assert len(datasets.load("a.csv", base=tmp_path)) == 1
        assert len(datasets.load(tmp_path / "a.csv")) == 1

    def test_progress_ends_at_the_size_of_the_file(self, tmp_path):
        (tmp_path / "a.csv").write_text("1,2,3\n")
        seen: list[tuple[int, int]] = []
        datasets.load("a.csv", base=tmp_path, progress=lambda *step: seen.append(step))
        assert seen[-1] == (6, 6)


FIRST = HEAD + "1,1,1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", r"a\.csv: no rows of data, as the file has 0 bytes; write or fetch"),
        ("a.csv", "user,item,rating\n", r"a\.csv: no rows of data"),
        ("a.csv", "\n" + FIRST + "\n2,2,x,1\n", r"a\.csv:5: the rating 'x' is not a number; fix"),
        ("a.csv", FIRST + "2,2,,1\n", r"a\.csv:3: no rating; fix the data, or `missing"),
        ("a.csv", FIRST + "2,2,NaN,1\n", r"a\.csv:3: no rating"),
        ("a.csv", FIRST + "\n2,2,NULL,1\n", r"a\.csv:4: no rating"),
        ("a.csv", FIRST + "2,2,inf,1\n", r"a\.csv:3: the rating '.*' is not a number"),
        ("a.csv", FIRST + "2,2,1e999,1\n", r"a\.csv:3: the rating '.*' is not a number"),
        ("a.csv", FIRST + "2, ,3,1\n", r"a\.csv:3: no item"),
        ("a.csv", FIRST + "2,2,3,1,5\n", r"a\.csv:3: 5 fields where the first line has 4"),
        ("a.csv", FIRST + '2,"2,3,1\n', r"a\.csv:3: a quotation mark is opened here and"),
        ("a.csv", FIRST + "2,2\x00,3,1\n", r"a\.csv:3: the item '2\\x00' has a control character"),
        ("a.csv", b"user,item,rating\n1,1,1\n\xe9,1,2\n", r"a\.csv:3: not UTF-8, and its encoding"),
        ("a.csv", b"us\xe9r,item,rating\n1,1,1\n", r"a\.csv:1: .*no column for the user among us"),
        ("a.csv", "7/3,5\n1/3,5\n", r"a\.csv:1: 2 fields separated by ',', but user, item and rat"),
        ("a.csv", "1,2\n1,3\n", r"a\.csv:1: no column of ratings beside 1 and 2; add one, of 1s"),
        ("a.csv", "user,item,date\n1,3,4\n", r"a\.csv:1: .*beside user, item and date; a"),
        ("a.csv", "user,rating\n1,3\n", r"a\.csv:1: 2 fields separated by ',', but user, item and"),
        ("a.csv", "user,user,item,rating\n1,2,3,4\n", r"a\.csv:1: both 'user' .* rename one, or"),
        ("a.csv", "only\n", r"a\.csv:1: 1 field separated by 'whitespace'"),
        ("a.csv", "user,uid,rating\n1,1,1\n", r"a\.csv:1: a header.*'rating' is no.*column item, "),
        ("a.csv", "user,item,date,rating\na,b,soon,1\n", r"a\.csv:2: the timestamp 'soon'"),
        ("a.dat", "1::1::1\n1:1::1\n", r"a\.dat:2: 2 fields where the first line has 3, separated"),
        ("a.dat", "1::1::1\n1::\x1f2::1\n", r"a\.dat:2: a control character \(0x1f\); remove it"),
        ("a.txt", "1 1 1\n1 2 one\n", r"a\.txt:2: the rating 'one' is not a number"),
        ("a.csv", b"\x00" * 5_000, r"a\.csv: nothing but null bytes, .* fetch it again"),
        ("a.parquet", b"PAR1 and then nothing", r"a\.parquet: not a Parquet file that can be read"),
        ("a.csv.gz", b"\x1f\x8b", r"a\.csv\.gz: cannot be unpacked"),
        ("a.tar.gz", b"\x1f\x8b", r"a\.tar\.gz: cannot be unpacked"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(load, name, content, message):
    with pytest.raises(DataError, match="^" + message):
        load(name, content)


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        ("1,2,3\n", {"columns": {"user": 5}}, r"user is given as column 5 of 3; use 1 to 3"),
        ("1,2,3\n", {"columns": {"user": 2}}, r"no column for|would be both user and item"),
        ("a,b,c\n1,2,3\n", {"columns": {"user": "A"}}, r"no column 'A' for the user; did you mean"),
        ("1,2,3\n", {"header": False, "columns": {"user": "a"}}, r"names but the file no header"),
        ("user;item;rating\n1;2;1.234,5\n", {"decimal": ","}, "the rating '1.234,5' is not a n"),
        ("\xe9,2,3\n", {"encoding": "utf-16"}, r"a\.csv: not utf-16 .*or name its encoding"),
    ],
)
def test_what_the_config_says_is_held_against_the_file(load, content, keys, message):
    with pytest.raises(DataError, match=message):
        load("a.csv", content.encode("latin-1"), **keys)


class TestQuotes:
    """Rows are counted against lines: no quotation mark swallows rows unnoticed."""

    LINES = ("user,item,title,rating", *(f"{n % 50},{n},t{n},{n % 5 + 1}" for n in range(1_000)))

    def content(self, line, text):
        lines = list(self.LINES)
        lines[line] = text
        return "\n".join(lines) + "\n"

    @pytest.mark.parametrize("line", [10, 1_000])
    @pytest.mark.parametrize(
        "text", ['9,9999,"Broken,5', '9,9999,"Broken" title,5', '"9,9999,t,5', '9,9999,t,5,"']
    )
    def test_a_mark_that_is_not_closed_is_named_by_its_line(self, load, monkeypatch, line, text):
        for block in (reading.BLOCK, 1_000):
            monkeypatch.setattr(reading, "BLOCK", block)
            with pytest.raises(DataError) as refused:
                load("a.csv", self.content(line, text))
            assert str(refused.value).startswith(f"a.csv:{line + 1}: a quotation mark is opened")
            assert "\n" not in str(refused.value)

    def test_two_marks_on_different_lines_are_named(self, load):
        lines = self.content(10, '9,9999,"Broken,5').replace("t500,", '"t500,')
        with pytest.raises(DataError, match=r"2 problems \(2 broken lines\)") as refused:
            load("a.csv", lines)
        assert [line[:10] for line in str(refused.value).splitlines()[:2]] == [
            "a.csv:11: ", "a.csv:502:",
        ]  # fmt: skip

    def test_a_title_of_several_lines_is_read_at_any_size(self, load, monkeypatch):
        expected = load("a.csv", self.content(500, '9,9999,"one",5'))
        for block in (reading.BLOCK, 1_000, 64):
            monkeypatch.setattr(reading, "BLOCK", block)
            found = load("a.csv", self.content(500, '9,9999,"o\nn""e\n\n",5'))
            assert found.fingerprint == expected.fingerprint
            assert str(found.notes[0]) == (
                "1 row takes several lines, within quotation marks; the first is line 501"
            )
            with pytest.raises(DataError, match=r"^a\.csv:1005: the rating 'x'"):
                load("a.csv", self.content(500, '9,9999,"o\nn\n\n",5') + "1,2,3,x\n")

    def test_lines_are_counted_across_blocks_with_faults_and_gaps(self, load, monkeypatch):
        lines = "user,item,rating\n" + "".join(f'{n},1,"3"\n\n{n},2,3"x\n\n' for n in range(40))
        for block in (reading.BLOCK, 64, 7):
            monkeypatch.setattr(reading, "BLOCK", block)
            with pytest.raises(DataError) as refused:
                load("a.csv", lines + "9,9\n")
            found = str(refused.value).splitlines()
            assert found[:2] == [
                f"a.csv:{line}: the rating '3\"x' is not a number" for line in (4, 8)
            ]
            assert any("41 problems" in line for line in found)
            with pytest.raises(DataError, match=r"^a\.csv:162: 2 fields where the first"):
                load("a.csv", lines.replace('"x', "") + "9,9\n")


class TestIds:
    """Ids are text, the same in every format."""

    @pytest.fixture
    def read(self, load, tmp_path):
        """Return a function that reads a frame from CSV, from Parquet and as it is."""

        def read_each(frame, **keys):
            frame.to_parquet(tmp_path / "a.parquet")
            parquet = datasets.load({"path": "a.parquet", **keys}, base=tmp_path)
            csv = load("a.csv", frame.to_csv(index=False), **keys)
            return [csv, parquet, Ratings.from_frame(frame, **keys)]

        return read_each

    def test_whole_numbers_beside_a_missing_one_stay_whole(self, read):
        ids = [2**53 + n for n in range(100)]
        frame = pd.DataFrame({"user": pd.array([*ids, None], "Int64"), "item": 1, "rating": 1.0})
        for loaded in read(frame, missing="drop"):
            assert loaded.user_ids.tolist() == [str(each) for each in ids]
            assert "1 row without a value dropped" in map(str, loaded.notes)
            assert datasets.load(frame[:-1]).fingerprint == loaded.fingerprint

    def test_blanks_around_ids_are_no_part_of_them(self, read):
        frame = pd.DataFrame({"user": [" a", "a\t", "b c"], "item": ["x", "y", " "], "rating": 1.0})
        for loaded in read(frame, missing="drop"):
            assert rows_of(loaded) == [("a", "x", 1.0, 0), ("a", "y", 1.0, 0)]
            (note,) = (note for note in loaded.notes if note.code == "blanks-merged")
            assert str(note) == "user ids that differ only in surrounding blanks were merged: 1"

    def test_two_columns_of_one_name_are_refused(self, load, tmp_path):
        message = r"both 'rating' and 'Rating' may be the rating; rename one"
        with pytest.raises(DataError, match=message):
            load("a.csv", "user,item,rating,Rating\n1,2,3,4\n")
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = [pa.array([n]) for n in range(4)]
        table = pa.Table.from_arrays(columns, names=["user", "item", "rating", "rating"])
        pq.write_table(table, tmp_path / "a.parquet")
        for columns in ({}, {"rating": 3}):
            with pytest.raises(DataError, match=r"a\.parquet: .*'rating'.*rename one"):
                datasets.load({"path": "a.parquet", "columns": columns}, base=tmp_path)


class TestTimes:
    @pytest.mark.parametrize(
        ("times", "seconds", "note"),
        [
            (["100", "200.9", "-3"], [100, 200, -3], ""),
            (["1600000000000", "1600000001999"], [1_600_000_000, 1_600_000_001], "milliseconds"),
            (["1600000000000000", "1600000001000000"], [1_600_000_000, 1_600_000_001], "micros"),
            (["1600000000123456789"], [1_600_000_000], "nanoseconds"),
            (["2001-09-09", "2001-09-09T01:46:40Z"], [999_993_600, 1_000_000_000], ""),
            (["2001/09/09", "2001-09-09 03:46:40+02:00"], [999_993_600, 1_000_000_000], ""),
        ],
    )
    def test_one_rule_for_seconds_smaller_units_and_dates(self, load, times, seconds, note):
        rows = "".join(f"{n},1,3,{time}\n" for n, time in enumerate(times))
        loaded = load("a.csv", "user,item,rating,time\n" + rows)
        assert loaded.timestamps.tolist() == seconds
        units = [n.values["unit"] for n in loaded.notes if n.code == "time-unit"]
        assert [unit[: len(note)] for unit in units] == [note] * bool(note)

    @pytest.mark.parametrize(
        ("time", "fault"),
        [
            ("nan", "no timestamp"),
            ("NA", "no timestamp"),
            ("inf", "the timestamp 'inf' is neither seconds"),
            ("1e30", "the timestamp '1e30' is neither"),
            (str(2**63), f"the timestamp '{2**63}' is neither"),
            ("0x10", "the timestamp '0x10' is neither"),
            ("now", "the timestamp 'now' is neither"),
            ("2001-02-30", "the timestamp '2001-02-30' is neither"),
            ("1600000000000", "the timestamp 1600000000000 is beyond the year 5138"),
        ],
    )
    def test_what_is_no_time_is_a_fault_with_its_line(self, load, time, fault):
        with pytest.raises(DataError, match=rf"^a\.csv:3: {fault}"):
            load("a.csv", f"user,item,rating,time\n1,1,1,5\n2,1,1,{time}\n")


class TestFaults:
    """All faults of a file come at once, and each kind has a policy."""

    CONTENT = (
        "user,item,rating,time\nann,alien,5,1\nann,brazil,four,1\nbob,,4,2\nbob,alien,3,2\n"
        "bob,alien,4,2\ncy,alien,7,3\ncy,x,5,soon\nd,e\n"
    )

    def test_all_faults_come_at_once(self, load):
        with pytest.raises(DataError) as refused:
            load("a.csv", self.CONTENT, scale=[1, 5])
        assert str(refused.value).splitlines() == [
            "a.csv:3: the rating 'four' is not a number",
            "a.csv:4: no item",
            "a.csv:6: user 'bob' rates item 'alien' again (first at a.csv:5)",
            "a.csv:7: the rating 7 is outside the scale 1 to 5",
            "a.csv:8: the timestamp 'soon' is neither seconds since 1970 nor an ISO date",
            "a.csv:9: 2 fields where the first line has 4, separated by ','",
            "a.csv: 6 problems (3 unreadable rows, 1 incomplete row, 1 out-of-scale rating, "
            "1 repeated pair); fix the data, or:",
            "  `unreadable: drop` drops 3 unreadable rows",
            "  `missing: drop` drops 1 incomplete row",
            "  `out_of_scale: drop`, `clip` or `keep` decides about 1 out-of-scale rating",
            "  `duplicates: first`, `last`, `latest` or `mean` decides about 1 repeated pair",
        ]

    @pytest.mark.parametrize(
        ("policy", "last", "note"),
        [
            ("drop", [], "1 rating outside 1 to 5 dropped"),
            ("clip", [("cy", "alien", 5.0, 3)], "1 rating outside 1 to 5 clipped"),
            ("keep", [("cy", "alien", 7.0, 3)], "1 rating outside 1 to 5 kept as they are"),
        ],
    )
    def test_policies_leave_what_can_be_used(self, load, policy, last, note):
        policies = {"unreadable": "drop", "missing": "drop", "duplicates": "last"}
        loaded = load("a.csv", self.CONTENT, scale=[1, 5], out_of_scale=policy, **policies)
        assert rows_of(loaded) == [("ann", "alien", 5.0, 1), ("bob", "alien", 4.0, 2), *last]
        notes = [note for note in loaded.notes if note.code != "times-of-1970"]
        assert tuple(map(str, notes)) == (
            "3 rows that cannot be read dropped",
            "1 row without a value dropped",
            note,
            "1 duplicate pair: the last kept, 1 row dropped",
        )

    def test_twenty_are_shown_and_the_others_counted(self, load):
        rows = "".join(f"{n},1{ending}\n" for n in range(50) for ending in (",", ",bad", ""))
        with pytest.raises(DataError) as refused:
            load("a.csv", "user,item,rating\n1,2,3\n" + rows)
        lines = str(refused.value).splitlines()
        assert lines[:2] == ["a.csv:3: no rating", "a.csv:4: the rating 'bad' is not a number"]
        assert lines[2].startswith("a.csv:5: 2 fields where the first line has 3")
        assert lines[20].startswith(
            "a.csv: 150 problems, the first of each kind above (100 unreadable rows, 50 incomplete"
        )

    @pytest.mark.parametrize(
        ("content", "keys", "first", "counts", "ways"),
        [
            (
                HEAD + "".join(f"{n},1,3,{n} o'clock\n" for n in range(30)), {},
                "2: the timestamp \"0 o'clock\" is neither seconds since 1970 nor an ISO date",
                "30 problems in 30 rows, the first above (30 unreadable rows)",
                [
                    "`time_format: '%d/%m/%Y %H:%M'` says how times are written, "
                    "`columns: {timestamp: null}` reads none"
                ],
            ),
            (
                "user;item;rating\n0;1;\n" + "".join(f"{n};1;{n % 5},5\n" for n in range(30)),
                {"decimal": "."},
                "2: no rating\na.csv:3: the rating '0,5' is not a number; if that is a decimal "
                "comma, say `decimal: ','` (an option: --decimal ,)",
                "31 problems in 31 rows, the first of each kind above (30 unreadable rows, "
                "1 incomplete row)",
                [],
            ),
            (
                b"user,item,rating\n" + b"".join(b"\xe9%d,1,3\n" % n for n in range(30)),
                {"encoding": "utf-8"},
                "2: the user is not UTF-8; save the file as UTF-8, or name its encoding with "
                "`encoding: latin-1`",
                "30 problems in 30 rows, the first above (30 broken lines)",
                [],
            ),
            (
                "".join(f"{n},1,{n + 6}\n" for n in range(30)), {"scale": [1, 5]},
                "1: the rating 6 is outside the scale 1 to 5",
                "30 problems in 30 rows, the first above (30 out-of-scale ratings)",
                ["`out_of_scale: drop`, `clip` or `keep` decides about 30 out-of-scale ratings"],
            ),
        ],
    )  # fmt: skip
    def test_what_is_wrong_in_nearly_all_rows_is_said_once_and_they_are_not_for_dropping(
        self, load, content, keys, first, counts, ways
    ):
        with pytest.raises(DataError) as refused:
            load("a.csv", content, **keys)
        lines = [f"a.csv:{first}", f"a.csv: {counts}; fix the data" + ", or:" * len(ways)]
        assert str(refused.value) == "\n  ".join(["\n".join(lines), *ways])

    def test_every_kind_is_shown_among_many_rows_without_a_time(self, load):
        dated = [f"{n},1,{n % 5 + 1},{'' if n < 40 else n}" for n in range(100)]
        content = "\n".join(["user,item,rating,time", *dated, "7,2,,9", "8,2,99,9", "99,1,2,9", ""])
        with pytest.raises(DataError) as refused:
            load("a.csv", content, scale=[1, 5])
        lines = str(refused.value).splitlines()
        assert lines[0] == "a.csv:2: no timestamp"
        assert lines[17:20] == [
            "a.csv:102: no rating",
            "a.csv:103: the rating 99 is outside the scale 1 to 5",
            "a.csv:104: user '99' rates item '1' again (first at a.csv:101)",
        ]
        assert lines[20:] == [
            "a.csv: 43 problems, the first of each kind above (1 incomplete row, 40 undated rows, "
            "1 out-of-scale rating, 1 repeated pair); fix the data, or:",
            "  `missing: drop` drops 1 incomplete row",
            "  `missing: drop` drops 40 undated rows",
            "  `columns: {timestamp: null}` keeps all rows and reads no times",
            "  `out_of_scale: drop`, `clip` or `keep` decides about 1 out-of-scale rating",
            "  `duplicates: first`, `last`, `latest` or `mean` decides about 1 repeated pair",
        ]

    def test_the_advice_for_rows_without_a_time_works(self, load):
        content = "user,item,rating,time\na,x,3,5\nb,x,4,\n"
        with pytest.raises(DataError, match=r"3: no timestamp; .* or `columns: {timestamp: null}`"):
            load("a.csv", content)
        assert len(load("a.csv", content, columns={"timestamp": None})) == 2
        dropped = load("a.csv", content, missing="drop")
        assert len(dropped) == 1
        assert "1 row without a value dropped" in map(str, dropped.notes)

    def test_a_rating_that_alone_makes_the_scale_is_to_be_confirmed(self, load):
        rows = "".join(f"{n},{m},{(n + m) % 10 / 2 + 0.5}\n" for n in range(10) for m in range(10))
        content = "user,item,rating\n" + rows + "10,1,55\n"
        with pytest.raises(
            DataError,
            match=r"^a\.csv:102: the rating 55 is far from all others, .* removes or clips it$",
        ):
            load("a.csv", content)
        assert load("a.csv", content, scale=[0.5, 55]).scale == (0.5, 55.0)
        assert load("a.csv", content, out_of_scale="keep").scale == (0.5, 55.0)
        clipped = load("a.csv", content, scale=[0.5, 5], out_of_scale="clip")
        assert clipped.ratings.max() == 5
        low = content.replace("10,1,55", "10,1,-55")
        with pytest.raises(DataError, match=r"^a\.csv:102: the rating -55 is far from all others"):
            load("a.csv", low)

    def test_counts_with_a_long_tail_make_their_scale(self):
        plays = [*np.arange(1, 400), 5_000, 100_000]
        assert Ratings.from_columns(range(401), range(401), plays).scale == (1.0, 100_000.0)


class TestPaths:
    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("rating.csv", r"rating\.csv: no such file in .* 'ratings\.csv'"),
            ("unlike.csv", r"no such file in .*; use one of (\d\.tsv, ){9}9\.tsv and 2 more$"),
            ("nowhere/a.csv", "as there is no folder"),
            ("~no-such-user/a.csv", "~no-such-user/a.csv: no such file, as there is no folder"),
            (
                "folder.csv",
                r"folder\.csv: a folder without files of ratings; give a",
            ),
            ("ml-100", "no data set is called 'ml-100', and no file in .*; did you mean 'ml-100k'"),
            (5, "dataset: 5 is not ratings; give the name of a data set, a path, the dataset part"),
        ],
    )
    def test_what_is_not_there_is_said(self, tmp_path, path, message):
        (tmp_path / "ratings.csv").write_text("1,2,3\n")
        (tmp_path / "folder.csv").mkdir()
        for name in ("z.dat", "x.py", "x.yaml", *(f"{n}.tsv" for n in range(10))):
            (tmp_path / name).touch()
        with pytest.raises(DataError, match=message):
            datasets.load(path, base=tmp_path)

    def test_a_mapping_that_contains_itself_is_refused(self):
        own: dict[str, object] = {"name": "bundled"}
        own["columns"] = own
        with pytest.raises(DataError, match="dataset: nested too deeply; flatten it"):
            datasets.load(own)
        with pytest.raises(DataError, match="items: nested too deeply; flatten it"):
            datasets.load("bundled", items=own)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
    def test_an_endless_device_is_no_file(self):
        with pytest.raises(DataError, match="/dev/zero: not a regular file"):
            datasets.load({"path": "/dev/zero"})


class TestBounds:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"1,2,3\n" + b"x" * 10_000_000 + b"\n", r"a\.csv:2: a line of more than 1,048,576"),
            (b"x" * 40_000_000, r"a\.csv:1: a line of more than"),
            (b"1,2,3\n" + b"\0" * 20_000_000, r"a\.csv:2: a line of more than"),
            (b"\n" * 20_000_000, r"a\.csv: no rows of data"),
            (b'user,item,rating\n1,"' + b'"' * 900_000, r"a\.csv:2: "),
            (
                b",".join(b"column%d" % n for n in range(10_000)),
                r"no column for the user, the item and the rating among col",
            ),
            pytest.param(
                b"a" + b"," * 300_000 + b"\n1,2,3\n",
                r"no column for the user, the .* among a, , ",
                marks=pytest.mark.long,
            ),
            pytest.param(
                b"1,2,3" + b"," * 300_000 + b"\n1,2,3\n",
                r"a\.csv:2: 3 fields where the first line",
                marks=pytest.mark.long,
            ),
        ],
    )
    @pytest.mark.timeout(120)  # thousands of times what one pass takes
    def test_monstrous_files_are_refused_in_one_pass(self, load, content, message):
        with pytest.raises(DataError, match=message) as refused:
            load("a.csv", content)
        assert len(str(refused.value)) < 1_000

    def test_ten_thousand_columns_are_read(self, load):
        head = ",".join(["user", "item", "rating", *(f"c{n}" for n in range(9_997))])
        rows = "\n".join(f"{n},1,3" + ",0" * 9_997 for n in range(20))
        assert len(load("a.csv", f"{head}\n{rows}\n")) == 20

    def test_a_parquet_of_more_rows_than_memory_is_refused(self, tmp_path):
        from harness.datasets.readers.base import ReadOptions
        from harness.datasets.readers.batches import check_rows

        with pytest.raises(DataError, match=r"a: 1,000,000,000,000 rows take some .* give fewer"):
            check_rows(10**12, tmp_path, ReadOptions(where="a"))


FIELD = st.one_of(
    st.integers(-3, 3).map(str),
    st.sampled_from(["", "nan", "inf", '"', "::", "\t", " ", "\r", "\x00", "é", "1e9", "x" * 99]),
)
LINE = st.lists(FIELD, min_size=0, max_size=5).map(",".join)


@settings(max_examples=300)
@given(st.lists(LINE, max_size=8).map("\n".join), st.binary(max_size=6), st.integers(0, 60))
def test_whatever_is_in_a_file_gives_ratings_or_a_data_error(tmp_path, text, junk, place):
    content = text.encode()
    path = tmp_path / "a.csv"
    path.write_bytes(content[:place] + junk + content[place:])
    try:
        ratings = datasets.load(str(path))
    except DataError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 - either outcome is right
        str(error).encode()  # can be printed
    else:
        assert np.isfinite(ratings.ratings).all()
        assert ratings.users.max() < ratings.n_users


@pytest.mark.parametrize(
    ("names", "named", "roles"),
    [
        (["a", "b", "c"], {}, ("user", "item", "rating")),
        (["user", "item", "rating", "Rating"], {}, ("rating",)),
        (["a", "b", "c"], {"user": 1, "item": 1, "rating": 3}, ("user", "item")),
        (["user", "item"], {}, ()),
    ],
)
def test_columns_that_cannot_be_told_say_which_roles_are_to_be_named(names, named, roles):
    with pytest.raises(ColumnsError) as caught:
        find_columns(names, named, "x.csv")
    assert caught.value.roles == roles
    assert str(caught.value).startswith(f"{caught.value.finding}; ")


def test_a_fault_of_a_value_knows_its_column():
    columns = {"user": ["a", "b"], "rating": ["1", "x"], "timestamp": ["never", "2020-01-01"]}
    kinds = {"user": "id", "rating": "number", "timestamp": "time"}
    (flaw,) = convert(columns, kinds, "x.csv").flaws
    assert (flaw.rows.tolist(), flaw.role) == ([0, 1], "timestamp")
    (flaw,) = convert(columns | {"timestamp": [1, 2]}, kinds, "x.csv").flaws
    assert (flaw.rows.tolist(), flaw.role) == ([1], "rating")
