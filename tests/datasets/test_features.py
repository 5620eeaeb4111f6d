"""Files and frames of users and items: what is read, what is refused, what changes nothing."""

from __future__ import annotations

import io
import math
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

from harness import datasets
from harness.datasets.catalogue import CATALOGUE
from harness.errors import DataError

from .conftest import zipped

RATINGS = "user,item,rating\nann,7,5\nann,30,4\nbob,007,1\n"
ITEMS = 'movie,title,genre\n30,"Heat, The",Crime|Drama\n7,Alien,\n99,Brazil,Comedy\n'
RAW = "1|Toy Story (1995)|01-Jan-1995||http://x|0|0|0|1|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"


def known(frame):
    """Return the rows of a frame by id, None where nothing is known."""
    return {
        key: {name: None if isinstance(text, float) else text for name, text in row.items()}
        for key, row in frame.to_dict("index").items()
    }


def test_every_item_of_the_ratings_has_a_row_and_no_other(load, tmp_path):
    plain = load("r.csv", RATINGS)
    (tmp_path / "items.csv").write_text(ITEMS)
    ratings = load("r.csv", RATINGS, items="items.csv")
    assert known(ratings.item_features) == {
        "7": {"title": "Alien", "genre": None, "genres": None},
        "30": {"title": "Heat, The", "genre": "Crime|Drama", "genres": "Crime|Drama"},
        "007": {"title": None, "genre": None, "genres": None},
    }
    assert ratings.item_features.index.tolist() == ratings.item_ids.tolist()
    assert ratings.fingerprint == plain.fingerprint
    assert [*map(str, ratings.notes[-2:])] == [
        "1 of 3 items have no row in items.csv",
        "1 row of items.csv for items without ratings ignored",
    ]
    frame = pd.read_csv(io.StringIO(ITEMS), dtype={"movie": str})
    again = datasets.load(plain, items=frame).item_features
    pd.testing.assert_frame_equal(again, ratings.item_features)


@pytest.mark.parametrize(
    ("name", "content", "keys", "expected"),
    [
        ("a.dat", "ann::23::F\nbob::41::M\n", {"columns": ["who", "age", "sex"]}, ["23", "41"]),
        ("b.txt", "age;who\n23;ann\n41;bob\n", {"id": "who"}, ["23", "41"]),
        ("c.tsv", "who\tage\nbob\t41\n ann \t\n", {}, [math.nan, "41"]),
        ("d.csv", "name,age\nann,né\nbob,x\n".encode("latin-1"), {"encoding": "latin-1"}, None),
        ("e.csv", "age,who,sex\n23,ann,F\n41,bob,M\n", {"id": 2}, ["23", "41"]),
    ],
)
def test_layouts_of_users(load, tmp_path, name, content, keys, expected):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    found = load("r.csv", RATINGS, users={"path": name, **keys}).user_features["age"]
    assert found.index.tolist() == ["ann", "bob"]
    pd.testing.assert_series_equal(
        found, pd.Series(expected or ["né", "x"], found.index, name="age"), check_dtype=False
    )


def test_columns_of_frames_and_parquet_become_text(load, tmp_path):
    frame = pd.DataFrame({"item": [7, 30], "year": [1979, None], "sci_fi": [True, False]})
    frame.to_parquet(tmp_path / "items.parquet")
    for given in (frame, tmp_path / "items.parquet"):
        found = datasets.load(load("r.csv", RATINGS), items=given).item_features
        assert known(found)["7"] == {"year": "1979", "sci_fi": "true"}
        assert known(found)["30"] == {"year": None, "sci_fi": "false"}


@pytest.mark.parametrize(
    ("content", "keys", "message"),
    [
        ("i,t\n7,a\n30,b\n7,c\n", {}, r"i\.csv:4: item '7' again \(first at i\.csv:2\); keep one"),
        ("i,t\n,a\n7,b,c\n", {}, r"i\.csv:2: no id.*\n.*i\.csv:3: 3 fields where the first"),
        (
            "t,i\na,7\n",
            {},
            "none of its ids, such as 'a', is among the item ids of r, such as '7'; .*id: i",
        ),
        ("i,t\n7,a\n", {"id": "j"}, "no column 'j' for the id"),
        ("i,t\n7,a\n", {"id": 3}, "id is given as column 3 of 2; use 1 to 2"),
        ("i,genr\n7,a\n", {"genres": "genre"}, "no column 'genre' for the genres; did you mean"),
        (
            "7,a\n30,b\n",
            {},
            "the first line is not a header, because '7' is the id.*"
            "name the columns, for example col",
        ),
        ("i,i\n7,a\n", {}, "2 columns are called 'i'; rename one"),
        ("7,a\n", {"columns": ["i", "t", "u"]}, "2 fields separated by ',', but columns names 3"),
        ("i;t\n7;a\n", {"separator": ","}, "one column, 'i;t'; name the separator"),
        ("i,t\n", {}, "no rows of data"),
        (None, {}, "no such file in"),
        ("i,t\n7,a\n", {"sep": ","}, "items: sep: unknown key; use one"),
        (None, {"path": "i.parquet", "separator": ";"}, "a Parquet file needs no columns"),
    ],
)
def test_what_cannot_be_read_is_refused(load, tmp_path, content, keys, message):
    ratings = load("r.csv", RATINGS)
    if content is not None:
        (tmp_path / "i.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        datasets.load(ratings, items={"path": "i.csv", **keys}, base=tmp_path)


def test_lists_of_genres_are_no_ids(load):
    items = pd.DataFrame({"movie": ["7"], "genres": [["Crime", "Drama"]]})
    with pytest.raises(DataError, match=r"the column 'genres' of type list.* separated by '\|'"):
        datasets.load(load("r.csv", RATINGS), items=items)


@pytest.mark.parametrize(
    ("name", "role", "content", "expected"),
    [
        ("ml-100k", "items", RAW, {"genres": "Animation|Children's|Comedy"}),
        ("ml-1m", "items", "1::Toy: A::Drama|War\n", {"title": "Toy: A", "genres": "Drama|War"}),
        ("ml-1m", "users", "1::F::1::10::48067\n", {"gender": "F", "zip_code": "48067"}),
        (
            "ml-latest-small",
            "items",
            'movieId,title,genres\n1,"Toy, The",(no genres listed)\n',
            {"title": "Toy, The", "genres": None},
        ),
    ],
)  # fmt: skip
def test_a_named_data_set_brings_its_own(tmp_path, monkeypatch, name, role, content, expected):
    what = CATALOGUE[name]
    row = what.separator.join(["1", "1", "4", "9"]) + "\n"
    (file,) = (each for each in getattr(what, role) if not each.in_wheel)
    archive = tmp_path / what.archive
    archive.write_bytes(zipped({what.member: row.encode(), file.member: content.encode()}))
    monkeypatch.setattr(type(what), "hash_of", lambda *_: None)
    ratings = datasets.load({"name": name, "path": str(archive)})
    found = ratings.item_features if role == "items" else ratings.user_features
    assert known(found)["1"].items() >= expected.items()


FRAME = pd.DataFrame({"movie": ["7", "30"], "title": ["a", "b"], "year": [1990, 1991]})
KNOWN = {"7": {"title": "a", "year": "1990"}, "30": {"title": "b", "year": "1991"}}
SHEET = [[*FRAME.columns], *FRAME.to_numpy().tolist()]


def workbook(path, **sheets):
    """Write a workbook with texts and numbers in its cells."""
    pytest.importorskip("openpyxl", reason="writes workbooks")
    with pd.ExcelWriter(path) as book:
        for name, rows in sheets.items():
            pd.DataFrame(rows).to_excel(book, sheet_name=name, index=False, header=False)


WRITTEN = {
    "semicolons in .parquet": ("i.parquet", lambda p: FRAME.to_csv(p, sep=";", index=False)),
    "Parquet in .csv": ("i.csv", lambda p: FRAME.to_parquet(p)),
    "JSON, an object a line": (
        "i.jsonl",
        lambda p: FRAME.to_json(p, orient="records", lines=True),
    ),
    "JSON in .csv": ("i.csv", lambda p: FRAME.to_json(p, orient="records")),
    "pandas' split": ("i.json", lambda p: FRAME.to_json(p, orient="split")),
    "Stata": ("i.dta", lambda p: FRAME.to_stata(p, write_index=False)),
    "a workbook": ("i.xlsx", lambda p: workbook(p, items=SHEET)),
    "a comment above": ("i.csv", lambda p: p.write_text("# known\n" + FRAME.to_csv(index=False))),
    "UTF-16 in .parquet": (
        "i.parquet",
        lambda p: p.write_text(FRAME.to_csv(index=False), encoding="utf-16"),
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_file_is_counts_before_its_ending(load, tmp_path, name):
    ratings = load("r.csv", RATINGS)
    file, write = WRITTEN[name]
    write(tmp_path / file)
    found = datasets.load(ratings, items=file, base=tmp_path).item_features
    assert known(found) | KNOWN == known(found)


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("Parquet in .csv", {"separator": ";"}, "i.csv: a Parquet file needs no columns, sep"),
        ("Parquet in .csv", {"columns": ["a", "b", "c"]}, "i.csv: a Parquet file needs no columns"),
        ("JSON in .csv", {"encoding": "latin-1"}, "i.csv: a JSON file needs no columns, separator"),
        ("a workbook", {"separator": ";"}, "i.xlsx: a workbook file has no separator or encoding"),
    ],
)
def test_a_key_that_means_nothing_for_a_file_is_refused(load, tmp_path, name, keys, message):
    ratings = load("r.csv", RATINGS)
    file, write = WRITTEN[name]
    write(tmp_path / file)
    with pytest.raises(DataError, match=message):
        datasets.load(ratings, items={"path": file, **keys}, base=tmp_path)


def test_a_text_that_is_called_parquet_has_a_separator(load, tmp_path):
    ratings = load("r.csv", RATINGS)
    (tmp_path / "i.parquet").write_text("7;a\n30;b\n")
    keys = {"path": "i.parquet", "separator": ";", "columns": ["movie", "title"]}
    found = datasets.load(ratings, items=keys, base=tmp_path).item_features
    assert known(found)["7"] == {"title": "a"}


def test_what_has_several_tables_is_refused(load, tmp_path):
    ratings = load("r.csv", RATINGS)
    workbook(tmp_path / "i.xlsx", items=SHEET, other=SHEET)
    with pytest.raises(DataError, match=r"i.xlsx: 2 sheets \(items, other\); save the one"):
        datasets.load(ratings, items="i.xlsx", base=tmp_path)
    with closing(sqlite3.connect(tmp_path / "i.txt")) as base:
        FRAME.to_sql("items", base, index=False)
    with pytest.raises(DataError, match=r"i\.txt: an SQLite file; export the table that is meant"):
        datasets.load(ratings, items="i.txt", base=tmp_path)


def test_lists_of_json_are_values_between_bars(load, tmp_path):
    ratings = load("r.csv", RATINGS)
    (tmp_path / "i.jsonl").write_text(
        '{"id": 7, "genres": ["Drama", "War"], "tags": [], "of": {"a": 1}, "more": [{"b": 2}]}\n'
        '{"id": 30, "genres": ["War"], "tags": ["x"], "seen": true}\n'
    )
    found = known(datasets.load(ratings, items="i.jsonl", base=tmp_path).item_features)
    expected = {"genres": "Drama|War", "of.a": "1", "more": '[{"b": 2}]', "tags": None}
    assert found["7"].items() >= expected.items()
    assert found["30"].items() >= {"genres": "War", "tags": "x", "seen": "true"}.items()
