"""Databases, matrices and Netflix Prize files give what pandas gives, and name faults."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.errors import DataError

from .conftest import rows_of

FRAME = pd.DataFrame(
    {"user": ["1", "2", "2", "é"], "item": ["x", "y", "x", "01"], "rating": [4.0, 2.5, 5.0, 0.1],
     "timestamp": np.arange(4) + 10**9}
)  # fmt: skip


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("r.db")) as base:
        FRAME.to_sql("ratings", base, index=False)
        pd.DataFrame({"item": ["x"], "title": ["X"]}).to_sql("items", base, index=False)
        base.commit()
    return tmp_path / "r.db"


class TestSQLite:
    @pytest.mark.parametrize(
        "keys",
        [{}, {"table": "ratings"}, {"query": "SELECT * FROM ratings"}, {"format": "sqlite"},
         {"query": "WITH r AS (SELECT * FROM ratings) SELECT * FROM r"}],
    )  # fmt: skip
    def test_a_table_or_a_query_is_read(self, base, keys):
        expected = datasets.load(FRAME)
        assert datasets.load({"path": "r.db", **keys}).fingerprint == expected.fingerprint

    def test_it_is_recognised_under_any_name(self, base):
        base.rename("ratings")
        assert len(datasets.load("ratings")) == 4

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ({"table": "rating"}, "no table 'rating'; did you mean 'ratings'"),
            ({"query": "DELETE FROM ratings"}, "a query may only read"),
            ({"query": "ATTACH 'x.db' AS x"}, "a query may only read"),
            ({"query": "PRAGMA user_version = 3"}, "a query may only read"),
            ({"query": "SELECT * FROM nowhere"}, "no such table: nowhere; check"),
            ({"query": "SELEC"}, "syntax error; check"),
            ({"query": "SELECT user, item FROM ratings WHERE 0"}, "no column of ratings"),
            ({"query": "SELECT * FROM ratings WHERE 0"}, "no rows of data"),
            ({"query": "SELECT x'00' AS user, item, rating FROM ratings"}, "record 1: the user is"),
            ({"query": "SELECT 'a' AS user, item, 'x' AS rating FROM ratings LIMIT 1"}, "record 1"),
            ({"query": "SELECT 1", "table": "ratings"}, "leave out table or query"),
        ],
    )
    def test_a_fault_is_named_and_nothing_is_written(self, base, keys, message):
        before = base.read_bytes()
        with pytest.raises(DataError, match=message):
            datasets.load({"path": "r.db", **keys})
        assert base.read_bytes() == before
        assert not (base.parent / "x.db").exists()

    def test_several_tables_that_may_be_it_are_named(self, base):
        with closing(sqlite3.connect("r.db")) as opened:
            FRAME.to_sql("more", opened, index=False)
            opened.commit()
        with pytest.raises(DataError, match=r"tables: items, more, ratings; name the table"):
            datasets.load("r.db")

    def test_other_files_have_no_tables(self, load):
        with pytest.raises(DataError, match="a 'csv' file has no tables; leave this out"):
            load("a.csv", "1,2,3\n", table="ratings")


def test_duckdb_is_read_only(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="the extra `duckdb`")
    path = tmp_path / "r.duckdb"
    with closing(duckdb.connect(str(path))) as base:
        base.execute("CREATE TABLE ratings (item VARCHAR, user VARCHAR, rating DOUBLE)")
        base.executemany("INSERT INTO ratings VALUES (?, ?, ?)", [["x", "a", 4.5], ["y", "b", 1.0]])
    expected = [("a", "x", 4.5, 0), ("b", "y", 1.0, 0)]
    assert rows_of(datasets.load(path)) == expected
    query = {"path": str(path), "query": "SELECT * FROM ratings"}
    assert rows_of(datasets.load(query)) == expected
    with pytest.raises(DataError, match=r"a query may only read|check the file"):
        datasets.load({"path": str(path), "query": "DELETE FROM ratings"})


class TestNetflix:
    TEXT = "12:\n7,4,2005-09-06\n5,2,2005-05-13\n9:\n\n7,5,2004-01-02\n"

    def test_items_stand_above_their_ratings(self, load):
        rows = [("7", "12", 4.0), ("5", "12", 2.0), ("7", "9", 5.0)]
        ratings = load("combined_data_1.txt", self.TEXT)
        assert [row[:3] for row in rows_of(ratings)] == rows
        assert ratings.timestamps[0] == pd.Timestamp("2005-09-06").timestamp()
        undated = load("a.txt", self.TEXT.replace("\n", "\r\n"), columns={"timestamp": None})
        assert undated.timestamps is None

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (TEXT + "5,3\n", r"a\.txt:7: 2 fields, where user,rating,date is expected"),
            (TEXT + "5,x,2004-01-02\n", r"a\.txt:7: the rating 'x'"),
            (TEXT + "7,1,2004-01-02\n", r"a\.txt:7: user '7' rates item '9' again"),
            ("7,4,2005-09-06\n" + TEXT, r"a\.txt:1: no item above"),
        ],
    )
    def test_a_fault_has_its_line(self, load, text, message):
        with pytest.raises(DataError, match=message):
            load("a.txt", text, format="netflix")


class TestMatrix:
    def test_what_a_pivot_writes_is_read(self, load):
        wide = FRAME.pivot(index="user", columns="item", values="rating")  # noqa: PD010
        ratings = load("a.csv", wide.to_csv(), format="matrix")
        found = {row[:2]: row[2] for row in rows_of(ratings)}
        assert found == {(u, i): r for u, i, r, _ in FRAME.itertuples(index=False)}

    def test_jesters_counts_and_99_are_read(self, load):
        text = "2,99,-7.82,8.79\n1,4.08,99,99\n3,1.5,-0.5,2.25\n"
        ratings = load("jester.csv", text, format="matrix", not_rated=[99])
        assert [row[:3] for row in rows_of(ratings)] == [
            ("1", "2", -7.82), ("1", "3", 8.79), ("2", "1", 4.08),
            ("3", "1", 1.5), ("3", "2", -0.5), ("3", "3", 2.25),
        ]  # fmt: skip

    def test_a_fault_has_its_line(self, load):
        with pytest.raises(DataError, match=r"a\.csv:3: the rating 'x'"):
            load("a.csv", "user,i,j\na,1,2\nb,,x\n", format="matrix")
