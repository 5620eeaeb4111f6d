"""Files of one's own: every layout that is read, every fault with its file and line."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import datasets
from harness.datasets import Ratings, lines
from harness.errors import DataError

ROWS = [("7", "30", 4.0, 100), ("5", "30", 2.5, 200), ("7", "10", 5.0, 300)]


def plain(ratings: Ratings) -> list[tuple[str, str, float, int]]:
    times = ratings.timestamps if ratings.timestamps is not None else np.zeros(len(ratings), int)
    users, items = ratings.user_ids[ratings.users], ratings.item_ids[ratings.items]
    return list(
        zip(users.tolist(), items.tolist(), ratings.ratings.tolist(), times.tolist(), strict=True)
    )


@pytest.fixture
def load(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write_and_load(name: str, content: str | bytes, **keys: object) -> Ratings:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return datasets.load({"path": name, **keys}, base=tmp_path)

    return write_and_load


class TestLayouts:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("a.csv", "userId,movieId,rating,timestamp\n7,30,4,100\n5,30,2.5,200\n7,10,5,300\n"),
            ("no-last-line-end.csv", "user,item,rating,ts\n7,30,4,100\n5,30,2.5,200\n7,10,5,300"),
            ("no-header.csv", "7,30,4,100\n5,30,2.5,200\n7,10,5,300\n"),
            ("semicolon.csv", "user;item;rating;time\n7;30;4;100\n5;30;2.5;200\n7;10;5;300\n"),
            ("order.csv", "rating,time,item,user\n4,100,30,7\n2.5,200,30,5\n5,300,10,7\n"),
            ("more.csv", "title,user,item,rating,time\na,7,30,4,100\nb,5,30,2.5,200\nc,7,10,5,300"),
            ("quotes.csv", 'user,item,rating,time\n"7","30","4",100\n5,30,2.5,200\n7,10,5,300\n'),
            (
                "windows.csv",
                "user,item,rating,time\r\n7,30,4,100\r\n5,30,2.5,200\r\n7,10,5,300\r\n",
            ),
            ("old-mac.csv", "user,item,rating,time\r7,30,4,100\r5,30,2.5,200\r7,10,5,300\r"),
            ("gaps.csv", "\n\nuser,item,rating,time\n\n7,30,4,100\n\n5,30,2.5,200\n7,10,5,300\n\n"),
            (
                "blanks.csv",
                "user, item, rating, time\n 7, 30, 4, 100\n5 ,30, 2.5,200\n7,10,5,300\n",
            ),
            ("a.tsv", "7\t30\t4\t100\n5\t30\t2.5\t200\n7\t10\t5\t300\n"),
            ("u.data", "7\t30\t4\t100\n5\t30\t2.5\t200\n7\t10\t5\t300\n"),
            ("ratings.dat", "7::30::4::100\n5::30::2.5::200\n7::10::5::300\n"),
            ("windows.dat", "7::30::4::100\r\n5::30::2.5::200\r\n7::10::5::300\r\n"),
            ("runs.txt", "  7  30\t4 100\n5 30 2.5 200 \n\t7\t\t10 5 300\n"),
            ("bar.txt", "7|30|4|100\n5|30|2.5|200\n7|10|5|300\n"),
            (
                "recbole.inter",
                "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
                "7\t30\t4\t100\n5\t30\t2.5\t200\n7\t10\t5\t300.0\n",
            ),
            ("fractions.csv", "7,30,4,100.9\n5,30,2.5,200\n7,10,5,300.2\n"),
        ],
    )
    def test_is_read_without_being_told(self, load, name: str, content: str) -> None:  # type: ignore[no-untyped-def]
        assert plain(load(name, content)) == ROWS

    def test_a_byte_order_mark_is_no_part_of_the_first_name(self, load) -> None:  # type: ignore[no-untyped-def]
        content = b"\xef\xbb\xbfuser,item,rating,time\n7,30,4,100\n5,30,2.5,200\n7,10,5,300\n"
        assert plain(load("a.csv", content)) == ROWS

    def test_a_byte_order_mark_is_no_part_of_the_first_user(self, load) -> None:  # type: ignore[no-untyped-def]
        assert plain(load("a.csv", b"\xef\xbb\xbf7,30,4\n")) == [("7", "30", 4.0, 0)]

    @pytest.mark.parametrize("encoding", [None, "utf-16"])
    def test_utf_16_is_read_by_its_mark(self, load, encoding: str | None) -> None:  # type: ignore[no-untyped-def]
        content = "user,item,rating\nJürgen,é,4\n".encode("utf-16")
        keys = {} if encoding is None else {"encoding": encoding}
        assert plain(load("a.csv", content, **keys)) == [("Jürgen", "é", 4.0, 0)]

    @pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
    def test_other_encodings_are_read_when_named(self, load, encoding: str) -> None:  # type: ignore[no-untyped-def]
        content = "user,item,rating\nJürgen,é,4\n".encode(encoding)
        assert plain(load("a.csv", content, encoding=encoding)) == [("Jürgen", "é", 4.0, 0)]

    def test_columns_are_taken_by_name(self, load) -> None:  # type: ignore[no-untyped-def]
        columns = {"user": "who", "item": "what", "rating": "how much"}
        ratings = load("a.csv", "what,how much,who\n30,4,7\n", columns=columns)
        assert plain(ratings) == [("7", "30", 4.0, 0)]

    def test_columns_are_taken_by_position(self, load) -> None:  # type: ignore[no-untyped-def]
        columns = {"user": 3, "item": 1, "rating": 2}
        ratings = load("a.csv", "30,4,7,x\n", columns=columns | {"timestamp": None})
        assert plain(ratings) == [("7", "30", 4.0, 0)]

    def test_a_time_that_is_not_wanted_is_not_read(self, load) -> None:  # type: ignore[no-untyped-def]
        content = "user,item,rating,time\n7,30,4,noon\n"
        assert load("a.csv", content, columns={"timestamp": None}).timestamps is None

    def test_dates_become_seconds(self, load) -> None:  # type: ignore[no-untyped-def]
        content = "user,item,rating,date\na,b,1,1970-01-02\na,c,1,1970-01-01T00:00:05\n"
        assert load("a.csv", content).timestamps.tolist() == [86_400, 5]

    def test_a_header_can_be_denied(self, load) -> None:  # type: ignore[no-untyped-def]
        ratings = load("a.csv", "user,item,5\n", header=False)
        assert plain(ratings) == [("user", "item", 5.0, 0)]

    def test_ids_are_text_however_odd(self, load) -> None:  # type: ignore[no-untyped-def]
        content = "user,item,rating\n-5,99999999999999999999999,1\n007,NA,2\n7,1e3,3\n"
        ratings = load("a.csv", content)
        assert ratings.user_ids.tolist() == ["-5", "007", "7"]
        assert ratings.item_ids.tolist() == ["99999999999999999999999", "NA", "1e3"]

    def test_parquet_keeps_the_ids_it_holds(self, tmp_path: Path) -> None:
        frame = pd.DataFrame({"userId": [7, 5], "movieId": ["a", "b"], "rating": [4, 2]})
        frame.to_parquet(tmp_path / "a.parquet")
        ratings = datasets.load({"path": "a.parquet", "scale": [1, 5]}, base=tmp_path)
        assert ratings.user_ids.tolist() == [7, 5]
        assert ratings.item_ids.tolist() == ["a", "b"]
        assert ratings.scale == (1.0, 5.0)

    def test_a_plain_string_with_an_ending_is_a_path(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("1,2,3\n")
        assert len(datasets.load("a.csv", base=tmp_path)) == 1

    def test_progress_ends_at_the_size_of_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("1,2,3\n")
        seen: list[tuple[int, int]] = []
        datasets.load("a.csv", base=tmp_path, progress=lambda *step: seen.append(step))
        assert seen[-1] == (6, 6)

    def test_blocks_are_joined_without_a_seam(self, load, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
        content = "\n".join(f"u{n % 17}::i{n}::{n % 5 + 1}::{n}" for n in range(500))
        whole = load("a.dat", content)
        monkeypatch.setattr(lines, "BLOCK", 64)
        assert load("a.dat", content).fingerprint == whole.fingerprint


HEAD = "user,item,rating,time\n1,1,1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", r"a\.csv: no ratings; give a file that has some"),
        ("a.csv", "\n\n\n", r"a\.csv: no ratings"),
        ("a.csv", "user,item,rating\n", r"a\.csv: no ratings"),
        ("a.csv", HEAD + "2,2,x,1\n", r"a\.csv:3: the rating 'x' is not a number; mend the line"),
        ("a.csv", "\n" + HEAD + "\n2,2,x,1\n", r"a\.csv:5: the rating 'x' is not a number"),
        ("a.csv", HEAD + '2,2,"4,5",1\n', r"a\.csv:3: the rating '4,5' is not a number"),
        ("a.csv", HEAD + "2,2,,1\n", r"a\.csv:3: no rating \(1 such row in all\); mend the data"),
        ("a.csv", HEAD + "2,2,NaN,1\n", r"a\.csv:3: no rating"),
        ("a.csv", HEAD + "\n2,2,NULL,1\n", r"a\.csv:4: no rating"),
        ("a.csv", HEAD + "2,2,inf,1\n", r"a\.csv:3: the rating is inf"),
        ("a.csv", HEAD + "2,2,1e999,1\n", r"a\.csv:3: the rating is inf"),
        ("a.csv", HEAD + ",2,3,1\n", r"a\.csv:3: no user"),
        ("a.csv", HEAD + "2, ,3,1\n", r"a\.csv:3: no item"),
        ("a.csv", HEAD + "2,2,3\n", r"a\.csv:3: 3 fields where the first line has 4, separated"),
        ("a.csv", HEAD + "2,2,3,1,5\n", r"a\.csv:3: 5 fields where the first line has 4"),
        ("a.csv", HEAD + "2,2,3,noon\n", r"a\.csv:3: the timestamp 'noon' is not a number"),
        ("a.csv", HEAD + "2,2,3,\n", r"a\.csv:3: no timestamp \(1 such row in all\)"),
        ("a.csv", HEAD + '2,"2,3,1\n', r"a\.csv:3: a quotation mark that is not closed"),
        ("a.csv", HEAD + "1,1,3,1\n", r"a\.csv:3: user '1' rates item '1' again \(first"),
        ("a.csv", HEAD + "2,2\x00,3,1\n", r"a\.csv:3: the item '2\\x00' has a control character"),
        ("a.csv", b"user,item,rating\n1,1,1\n\xe9,1,2\n", r"a\.csv:3: the user is not UTF-8; save"),
        ("a.csv", b"us\xe9r,item,rating\n1,1,1\n", r"a\.csv:1: .*no column for the user among us"),
        ("a.csv", "who,item,rating\n1,1,1\n", r"a\.csv:1: a header, .*: no column for the user"),
        ("a.csv", "1,2\n1,3\n", r"a\.csv:1: 2 fields separated by ',', but user, item and rating"),
        ("a.csv", "only\n", r"a\.csv:1: 1 field separated by 'whitespace'"),
        ("a.csv", "user,uid,rating\n1,1,1\n", r"a\.csv:1: a header, .*: no column for the item"),
        ("a.csv", "user,item,date,rating\na,b,soon,1\n", r"a\.csv:2: the timestamp 'soon'"),
        ("a.dat", "1::1::1\n1:1::1\n", r"a\.dat:2: 2 fields where the first line has 3, separated"),
        ("a.dat", "1::1::1\n1::\x1f2::1\n", r"a\.dat:2: a control character \(0x1f\); remove it"),
        ("a.txt", "1 1 1\n1 2 one\n", r"a\.txt:2: the rating 'one' is not a number"),
        ("a.csv", b"\x00" * 5_000, r"a\.csv:1: null bytes; this is not text"),
        ("a.csv", "user,item,rating\n1,1,1\n".encode("utf-16-le"), r"a\.csv:1: null bytes"),
        ("a.parquet", b"", r"a\.parquet: not a Parquet file that can be read"),
        ("a.parquet", b"PAR1 and then nothing", r"a\.parquet: not a Parquet file"),
        ("a.csv.gz", b"\x1f\x8b", r"a\.csv\.gz: packed; unpack it and give the file of ratings"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_file_and_line(  # type: ignore[no-untyped-def]
    load, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(DataError, match="^" + message):
        load(name, content)


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        ("1,2,9\n", {"scale": [1, 5]}, r"a\.csv:1: the rating 9 is outside the scale 1 to 5"),
        ("1,2,3\n", {"columns": {"user": 5}}, r"user is to be column 5 of 3; use 1 to 3"),
        ("1,2,3\n", {"columns": {"user": 2}}, r"no column for|would be both user and item"),
        ("a,b,c\n1,2,3\n", {"columns": {"user": "A"}}, r"no column 'A' for the user; did you mean"),
        ("1,2,3\n", {"header": False, "columns": {"user": "a"}}, r"names but the file no header"),
        ("\xe9,2,3\n", {"encoding": "utf-16"}, r"a\.csv: not utf-16 .*; name its encoding"),
    ],
)
def test_what_the_config_says_is_held_against_the_file(  # type: ignore[no-untyped-def]
    load, content: str, keys: dict, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load("a.csv", content.encode("latin-1"), **keys)


def test_policies_reach_files(load) -> None:  # type: ignore[no-untyped-def]
    content = "user,item,rating\n1,1,1\n1,1,4\n2,,3\n2,1,9\n"
    keys = {"scale": [1, 5], "duplicates": "last", "missing": "drop", "out_of_scale": "clip"}
    ratings = load("a.csv", content, **keys)
    assert plain(ratings) == [("1", "1", 4.0, 0), ("2", "1", 5.0, 0)]
    assert len(ratings.notes) == 3


class TestPaths:
    def test_a_file_that_is_not_there_is_suggested(self, tmp_path: Path) -> None:
        (tmp_path / "ratings.csv").write_text("1,2,3\n")
        with pytest.raises(DataError, match=r"rating\.csv: no such file in .* 'ratings\.csv'"):
            datasets.load("rating.csv", base=tmp_path)

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="as there is no folder"):
            datasets.load("nowhere/a.csv", base=tmp_path)

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").mkdir()
        with pytest.raises(DataError, match=r"a\.csv: a folder; give the file of ratings in it"):
            datasets.load("a.csv", base=tmp_path)

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
    def test_an_endless_device_is_no_file(self) -> None:
        with pytest.raises(DataError, match="/dev/zero: not a regular file"):
            datasets.load({"path": "/dev/zero"})

    def test_a_path_object_is_a_path(self, tmp_path: Path) -> None:
        (tmp_path / "ratings").write_text("1,2,3\n")
        assert len(datasets.load(tmp_path / "ratings")) == 1

    def test_an_unknown_name_is_suggested(self) -> None:
        with pytest.raises(
            DataError, match="no data set is called 'ml-100'; did you mean 'ml-100k'"
        ):
            datasets.load("ml-100")


class TestBounds:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"1,2,3\n" + b"x" * 10_000_000 + b"\n", r"a\.csv:2: a line of more than 1,048,576"),
            (b"x" * 40_000_000, r"a\.csv:1: a line of more than"),
            (b"1,2,3\n" + b"\0" * 20_000_000, r"a\.csv:2: a line of more than"),
            (b"\n" * 20_000_000, r"a\.csv: no ratings"),
            (b'user,item,rating\n1,"' + b'"' * 900_000, r"a\.csv:2: "),
            (
                b",".join(b"column%d" % n for n in range(10_000)),
                r"no column for the user among col",
            ),
            (b"a" + b"," * 300_000 + b"\n1,2,3\n", r"no column for the user among a, , "),
            (b"1,2,3" + b"," * 300_000 + b"\n1,2,3\n", r"a\.csv:2: 3 fields where the first line"),
        ],
    )
    def test_monstrous_files_are_refused_in_time(self, load, content: bytes, message: str) -> None:  # type: ignore[no-untyped-def]
        began = time.perf_counter()
        with pytest.raises(DataError, match=message) as refused:
            load("a.csv", content)
        assert time.perf_counter() - began < 10
        assert len(str(refused.value)) < 1_000

    def test_ten_thousand_columns_are_read(self, load) -> None:  # type: ignore[no-untyped-def]
        head = ",".join(["user", "item", "rating", *(f"c{n}" for n in range(9_997))])
        rows = "\n".join(f"{n},1,3" + ",0" * 9_997 for n in range(20))
        assert len(load("a.csv", f"{head}\n{rows}\n")) == 20

    def test_a_parquet_of_more_rows_than_memory_is_refused(self, tmp_path: Path) -> None:
        from harness.datasets.tables import _check_room

        with pytest.raises(DataError, match=r"a: 1,000,000,000,000 rows take some .* give fewer"):
            _check_room(10**12, "a")


FIELD = st.one_of(
    st.integers(-3, 3).map(str),
    st.sampled_from(["", "nan", "inf", '"', "::", "\t", " ", "\r", "\x00", "é", "1e9", "x" * 99]),
)
LINE = st.lists(FIELD, min_size=0, max_size=5).map(",".join)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINE, max_size=8).map("\n".join), st.binary(max_size=6), st.integers(0, 60))
def test_whatever_is_in_a_file_gives_ratings_or_a_data_error(
    tmp_path: Path, text: str, junk: bytes, place: int
) -> None:
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


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.text("abc é,\"'0", min_size=1, max_size=4).filter(lambda text: text == text.strip()),
            st.integers(0, 9),
            st.sampled_from([0.5, 1.0, 4.5]),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_what_pandas_writes_is_read_back(
    tmp_path: Path, rows: list[tuple[str, int, float]]
) -> None:
    path = tmp_path / "a.csv"
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    frame.to_csv(path, index=False)
    ratings = datasets.load(str(path))
    assert [row[:3] for row in plain(ratings)] == [(u, str(i), r) for u, i, r in rows]
