"""Each line of the page Files reads a small file of the shape that it names."""

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
import yaml

from harness.datasets import load

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "files.md"
LINES = {
    cells[0].strip(): yaml.safe_load(cells[-1].strip().strip("`"))
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and (cells := line.strip("| ").split(" | ")) and "{" in cells[-1]
}
T1, T2, T3 = 1_400_000_000, 1_400_000_500, 1_500_000_000
TRIPLES = [("u1", "i1", 5, T1), ("u1", "i2", 3, T2), ("u2", "i1", 4, T3)]
"""What most of the files hold; some have a row more, which is not rated."""
FRAME = pd.DataFrame(TRIPLES, columns=["user", "item", "rating", "timestamp"])


def text(separator, *head, times=True, factor=1, rows=TRIPLES):
    """Return rows as text: user, item, rating and perhaps time."""
    lines = [separator.join(head)] * bool(head)
    for user, item, rating, time in rows:
        cells = [user, item, rating] + [time * factor] * times
        lines.append(separator.join(map(str, cells)))
    return "\n".join(lines) + "\n"


def records(user, item, rating, time, form=int, more=()):
    """Return rows as lines of JSON, with times in a form."""
    rows = [dict(zip((user, item, rating, time), (*row[:3], form(row[3])), strict=True))
            for row in TRIPLES]  # fmt: skip
    return "".join(json.dumps(row | {"review_text": "so\nso"}) + "\n" for row in [*rows, *more])


def moment(form):
    return lambda time: pd.Timestamp(time, unit="s").strftime(form)


def netflix(item, rows):
    return f"{item}:\n" + "".join(f"{u},{r},{moment('%Y-%m-%d')(t)}\n" for u, r, t in rows)


I1, I2 = [("7", 5, 1_400_000_000), ("8", 4, 1_500_000_000)], [("7", 3, 1_400_000_500)]
GOODREADS = "%a %b %d %H:%M:%S -0700 %Y"
UNRATED = {"user_id": "u9", "book_id": "i9", "rating": 0}
UNRATED["date_added"] = "Fri Aug 25 13:55:02 -0700 2017"
RENT = {"user_id": "u9", "item_id": "i9", "rating": None, "review_date": "May 1, 2016"}
SHEET = (
    "user_id,book_id,is_read,rating,is_reviewed\n"
    "u1,i1,1,5,0\nu1,i2,1,3,0\nu2,i1,1,4,1\nu2,i2,0,0,0\n"
)
FILES = {
    "MovieLens 100K": text("\t"),
    "MovieLens 1M, 10M": text("::"),
    "MovieLens 20M, 25M, 32M, Latest": text(",", "userId", "movieId", "rating", "timestamp"),
    "MovieLens HetRec": text("\t", "userID", "movieID", "rating", "timestamp", factor=1000),
    "MovieTweetings": text("::"),
    "Netflix Prize": {
        "combined_data_1.txt": netflix(1, I1), "combined_data_2.txt": netflix(2, I2),
    },
    "Netflix Prize, as published": {
        "training_set/mv_0000001.txt": netflix(1, I1),
        "training_set/mv_0000002.txt": netflix(2, I2),
    },
    "Amazon reviews 2014, 2018": records("reviewerID", "asin", "overall", "unixReviewTime"),
    "Amazon ratings 2014": text(","),
    "Amazon ratings 2018": "".join(f"{i},{u},{r},{t}\n" for u, i, r, t in TRIPLES),
    "Amazon reviews 2023": records(
        "user_id", "parent_asin", "rating", "timestamp", lambda time: time * 1000,
        [{"user_id": "u1", "parent_asin": "i1", "asin": "i1b", "rating": 1, "timestamp": 10**12}],
    ),
    "Yelp": records("user_id", "business_id", "stars", "date", moment("%Y-%m-%d %H:%M:%S")),
    "Google Local 2021": records("user_id", "gmap_id", "rating", "time", lambda time: time * 1000),
    "Goodreads": records(
        "user_id", "book_id", "rating", "date_added",
        lambda time: moment(GOODREADS)(time - 7 * 3600), [UNRATED],
    ),
    "Goodreads, the CSV": SHEET,
    "Goodbooks-10k": text(",", "user_id", "book_id", "rating", times=False),
    "Book-Crossing": (
        '"User-ID";"ISBN";"Book-Rating"\n"u1";"i1";"5"\n"u1";"i2";"3"\n"u2";"i1";"4"\n'
        '"u2";"caf\u00e9 \\"x\\"";"0"\n'
    ).encode("latin-1"),
    "Anime Recommendations": "user_id,anime_id,rating\nu1,i1,5\nu1,i2,3\nu2,i1,4\nu2,i2,-1\n",
    "Anime Recommendations 2020": (
        "user_id,anime_id,rating,watching_status,watched_episodes\n"
        "u1,i1,5,1,1\nu1,i2,3,1,1\nu2,i1,4,2,9\nu2,i2,0,6,0\n"
    ),
    "Jester 1": "2,5,3\n1,4,99\n",
    "Jester 2": text("\t\t", times=False),
    "FilmTrust": text(" ", times=False, rows=[(u, i, r - 1, t) for u, i, r, t in TRIPLES]),
    "CiaoDVD": "".join(
        f"{u},{i},9,77,{r},{moment('%Y-%m-%d')(t)}\n" for u, i, r, t in TRIPLES
    ),
    "Epinions": text(" ", times=False),
    "Last.fm HetRec": text("\t", "userID", "artistID", "weight", times=False),
    "Yahoo! Music R3": text("\t", times=False),
    "LibimSeTi": text(",", times=False),
    "Food.com": (
        "user_id,recipe_id,date,rating,review\nu1,i1,2014-05-13,5,\"so\nso, la\"\n"
        "u1,i2,2014-05-13,3,\nu2,i1,2017-07-14,4,\"\"\"yes\"\"\"\nu2,i2,2017-07-14,0,no\n"
    ),
    "BeerAdvocate": (
        "brewery_id,brewery_name,review_time,review_overall,review_aroma,review_profilename,"
        "beer_style,beer_name,beer_abv,beer_beerid\n"
        "1,A,1400000000,5,2,u1,Ale,N,5,i1\n1,A,1400000500,3,2,u1,Ale,M,5,i2\n"
        "1,A,1500000000,4,2,u2,Ale,N,,i1\n1,A,1300000000,1,2,u2,Ale,N,,i1\n"
    ),
    "BoardGameGeek": (
        ",user,rating,comment,ID,name\n0,u1,5,,i1,A\n1,u1,3,\"a\nb\",i2,B\n2,u2,4,x,i1,A\n"
    ),
    "RentTheRunway": records(
        "user_id", "item_id", "rating", "review_date", moment("%B %d, %Y"), [RENT]
    ).replace('"rating": 5', '"rating": "5"'),
    "Restaurants (UCI)": (
        "userID,placeID,rating,food_rating,service_rating\nu1,i1,2,2,2\nu1,i2,0,1,0\nu2,i1,1,2,2\n"
    ),
    "KuaiRec": (
        "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio\n"
        "u1,i1,1,1,2014-05-13 16:53:20,20140513,1400000000.25,5\n"
        "u1,i2,1,1,,,1400000500.5,2\nu2,i1,1,1,,,1500000000,4\nu1,i2,1,1,,,1400000500.5,4\n"
    ),
    "RecBole's atomic files": text(
        "\t", "user_id:token", "item_id:token", "rating:float", "timestamp:float"
    ),
    "`DataFrame.pivot(…).to_csv()`: users × items": (
        "user,i1,i2,i3\nu1,5,3,\nu2,4,,\n"
    ),
    "users × items as Parquet, Feather, Arrow or ORC": lambda folder: pd.DataFrame(
        {"user": ["u1", "u2"], "i1": [5, 4], "i2": [3, None]}
    ).to_parquet(folder / "wide.parquet"),
    "users × items, words in the fields": (
        "user,i1,i2\nu1,great,awful\nu2,good,\n"
    ),
    "items × users": "title,u1,u2\ni1,5,4\ni2,3,\n",
    "several files of one table": {
        "train.csv": text(",", "user", "item", "rating", rows=TRIPLES[:2], times=False),
        "test.csv": text(",", "user", "item", "rating", rows=TRIPLES[2:], times=False),
    },
    "a folder of Parquet parts, as Spark writes it": lambda folder: [
        part.to_parquet(folder / "ratings" / f"part-{number}.parquet")
        for number, part in enumerate((FRAME[:2], FRAME[2:]))
    ],
    "an archive (zip, tar, tar.gz, …) of a data set: its ratings are read": lambda folder: (
        archive(folder, {
            "set/README.md": "Ratings",
            "set/items.csv": "itemId,title\ni1,Alien\ni2,Brazil\n",
            "set/ratings.csv": text(",", "userId", "itemId", "rating", "timestamp"),
        })
    ),
    "an archive or a folder with several files of ratings": lambda folder: archive(folder, {
        "stars/first.csv": "1,2,3,4\n", "stars/last.csv": text(","),
    }),
    "a partitioned folder, as `rating=4/part-0.parquet` of Hive and Spark": lambda folder: [
        parquet(folder / f"ratings/rating={rating}/part-0.parquet", rows.drop(columns="rating"))
        for rating, rows in FRAME.groupby("rating")
    ],
    "a Delta table: the files that its log lists": lambda folder: delta(folder / "ratings"),
    "a data set of Hugging Face, as `save_to_disk` writes it": lambda folder: hugging_face(
        folder / "ratings"
    ),
    "Feather and Arrow IPC": lambda folder: FRAME.to_feather(folder / "ratings.feather"),
    "a stream of Arrow": lambda folder: stream(folder / "ratings.arrows"),
    "ORC": lambda folder: FRAME.to_orc(folder / "ratings.orc"),
    "SQLite": lambda folder: database(folder, FRAME, "ratings"),
    "DuckDB": lambda folder: duckdb_file(folder / "shop.duckdb"),
    "a query": lambda folder: database(folder, FRAME.rename(columns={"rating": "n"}), "visits"),
    "SQL dump of MySQL, PostgreSQL or SQLite": (
        "-- MySQL dump 10.13\nCREATE TABLE `ratings` (\n  `user` varchar(9), `item` varchar(9),\n"
        "  `rating` double, `timestamp` int, PRIMARY KEY (`user`, `item`)\n);\n"
        f"INSERT INTO `ratings` VALUES {','.join(map(str, TRIPLES))};\n"
    ),
    "workbook of Excel or LibreOffice; `table` names a sheet": lambda folder: workbook(
        folder / "ratings.xlsx"
    ),
    "lines above the header of a sheet": lambda folder: report(folder / "report.xlsx"),
    "Stata": lambda folder: FRAME.to_stata(folder / "ratings.dta", write_index=False),
    "SPSS": lambda folder: pytest.importorskip("pyreadstat", reason="the extra `spss`").write_sav(
        FRAME, str(folder / "ratings.sav")
    ),
    "ARFF of Weka": (
        "% of May\n@relation r\n@attribute user string\n@attribute 'item' {i1, i2}\n"
        "@attribute rating numeric\n\n@data\nu1,i1,5\n% more\nu1,i2,3\nu2,i1,4\n"
    ),
    "Matrix Market": (
        "%%MatrixMarket matrix coordinate integer general\n% of May\n2 2 3\n1 1 5\n1 2 3\n2 1 4\n"
    ),
    "TREC judgements: `user 0 item rating`": "u1 0 i1 5\nu1 0 i2 3\nu2 0 i1 4\n",
    "key-value: SNAP's blocks of `review/score: 5.0`": "\n".join(
        f"product/productId: {i}\nreview/userId: {u}\nreview/helpfulness: 1/2\n"
        f"review/score: {r}.0\nreview/time: {t}\nreview/text: so: la\n"
        for u, i, r, t in TRIPLES
    ),
    "JSON of `DataFrame.to_json()`, of every `orient`": FRAME.to_json(),
    "JSON of ratings by user and item": json.dumps(
        {"u1": {"i1": 5, "i2": 3}, "u2": {"i1": 4}}, indent=1
    ),
    "JSON with the records inside, as `{\"data\": […]}`": json.dumps(
        {"status": "ok", "data": FRAME.to_dict("records")}
    ),
    "nested JSON": "".join(
        json.dumps({"user": u, "item": i, "review": {"stars": r}}) + "\n" for u, i, r, _ in TRIPLES
    ),
    "decimal commas and dates of one's own": "".join(
        f"{u};{i};{r},0;{moment('%d.%m.%Y')(t)}\n" for u, i, r, t in TRIPLES
    ),
    "1,234 for a thousand": 'user,item,plays\nu1,i1,"5"\nu1,i2,"3"\nu2,i1,"4"\n'.replace(
        "plays", "rating"
    ),
    "GBK, Shift JIS, CP1252": text(",", "用户", "电影", "评分", times=False).encode("gbk"),
    "lines above the header": "Report\nof May\n" + text(",", "user", "item", "rating", times=False),
    "comments": "% of a crawl\n" + text(" ", times=False),
}  # fmt: skip


def archive(folder, members):
    with zipfile.ZipFile(folder / "archive.zip", "w") as file:
        for name, content in members.items():
            file.writestr(name, content)


def parquet(path, frame):
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path)


def delta(folder):
    """Write a table of which a file was replaced by two."""
    log = [["all"], ["one", "two"]]
    for number, (name, rows) in enumerate(
        {"all": FRAME, "one": FRAME[:2], "two": FRAME[2:]}.items()
    ):
        parquet(folder / f"{name}.parquet", rows if number else rows.assign(rating=1))
    (folder / "_delta_log").mkdir()
    for version, names in enumerate(log):
        actions = [{"add": {"path": f"{name}.parquet"}} for name in names]
        actions += [{"remove": {"path": "all.parquet"}}] * version
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        (folder / f"_delta_log/{version:020}.json").write_text(lines)


def hugging_face(folder):
    stream(folder / "data-00000-of-00001.arrow")
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def stream(path):
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def workbook(path):
    pytest.importorskip("python_calamine", reason="the extra `excel`")
    pytest.importorskip("openpyxl", reason="writes workbooks")
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"item": ["i1"], "title": ["Alien"]}).to_excel(book, sheet_name="items")
        FRAME.to_excel(book, sheet_name="ratings", index=False)


def report(path):
    pytest.importorskip("python_calamine", reason="the extra `excel`")
    pytest.importorskip("openpyxl", reason="writes workbooks")
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, index=False, startrow=2)
        book.sheets["Sheet1"]["A1"], book.sheets["Sheet1"]["A2"] = "Our ratings", "of May"


def database(folder, frame, table):
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        frame.to_sql(table, connection, index=False)


def duckdb_file(path):
    duckdb = pytest.importorskip("duckdb", reason="the extra `duckdb`")
    with duckdb.connect(str(path)) as base:
        base.register("frame", FRAME)
        base.execute("CREATE TABLE ratings AS SELECT * FROM frame")


def write(content, path, folder):
    """Write the content of a line of the page where its path says."""
    if callable(content):
        (folder / "ratings").mkdir()
        content(folder)
        return
    files = content if isinstance(content, dict) else {path: content}
    for name, part in files.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        data = part if isinstance(part, bytes) else part.encode()
        place.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def test_every_line_of_the_page_is_tried():
    assert [*LINES] == [*FILES]


@pytest.mark.parametrize("name", FILES)
def test_a_line_reads_a_file_of_its_shape(name, tmp_path):
    section = LINES[name]
    write(FILES[name], section["path"], tmp_path)
    ratings = load(section, base=tmp_path)
    assert ratings.counts == (2, 2, 3)
    expected = [2, 0, 1] if "UCI" in name else [4, 2, 3] if name == "FilmTrust" else [5, 3, 4]
    frame = ratings.to_frame().sort_values(["user", "item"])
    if "Amazon reviews 2023" not in name:
        assert frame["rating"].tolist() == expected
    if ratings.timestamps is not None:
        days = pd.to_datetime(frame["timestamp"], unit="s").dt.strftime("%Y-%m-%d").tolist()
        assert days == ["2014-05-13", "2014-05-13", "2017-07-14"]
    if "scale" in section:
        assert [*ratings.scale] == section["scale"]
    codes = {note.code for note in ratings.notes}
    assert ("not_rated" in section) == ("not-rated-dropped" in codes)
    assert "maybe-not-rated" not in codes or name == "Restaurants (UCI)"
