"""Formats and folders: documents of JSON, dumps, tables with a log; and what is refused."""

from __future__ import annotations

import io
import json
import pathlib
import pickle
import re
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse

import harness
from harness.errors import DataError

FRAME = pd.DataFrame(
    [(f"u{n % 7}", f"i{n % 5}", n % 5 + 1, 10**9 + n) for n in range(35)],
    columns=["user", "item", "rating", "timestamp"],
)
PLAIN = FRAME.drop(columns="timestamp")
CSV = FRAME.to_csv(index=False)
BY_USER = {
    user: dict(zip(rows["item"], rows["rating"].tolist(), strict=True))
    for user, rows in FRAME.groupby("user")
}


def same(ratings, frame):
    """Return whether ratings are those of a frame, in any order."""

    def rows(of):
        columns = ["user", "item", "rating"] + ["timestamp"] * ("timestamp" in of)
        return sorted(of[columns].astype({"rating": float}).itertuples(index=False, name=None))

    return rows(ratings.to_frame()) == rows(frame)


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


RECORDS = FRAME.to_dict("records")
LISTS = FRAME.to_numpy().tolist()
JSON = {
    "columns": FRAME.to_json(),
    "index": FRAME.to_json(orient="index"),
    "records": FRAME.to_json(orient="records"),
    "lines": FRAME.to_json(orient="records", lines=True),
    "split": FRAME.to_json(orient="split"),
    "table": FRAME.to_json(orient="table"),
    "values": FRAME.to_json(orient="values"),
    "lists below names": json.dumps([[*FRAME.columns], *LISTS]),
    "a list a line": lines(LISTS),
    "lists by column": json.dumps(FRAME.to_dict("list")),
    "indented": json.dumps(RECORDS, indent=2),
    "in data": json.dumps({"status": "ok", "data": RECORDS}),
    "in results of data": json.dumps({"page": 1, "data": {"n": 35, "results": RECORDS}}, indent=1),
    "one after another": "\n".join(json.dumps(record, indent=1) for record in RECORDS),
    "in one line": "".join(map(json.dumps, RECORDS)),
    "a comma behind each": ",\n".join(map(json.dumps, RECORDS)),
    "of Python": "".join(f"{record!r}\n" for record in RECORDS),
    "with a mark": "\ufeff" + lines(RECORDS),
    "of mongoexport": lines(
        record | {"_id": {"$oid": "5f"}, "timestamp": {"$numberLong": str(record["timestamp"])}}
        for record in RECORDS
    ),
    "of Elasticsearch": lines({"_index": "r", "_source": record} for record in RECORDS),
    "of Django": json.dumps([{"model": "r", "pk": 1, "fields": record} for record in RECORDS]),
    "of phpMyAdmin": json.dumps(
        [{"type": "header", "version": "5"}, {"type": "table", "name": "r", "data": RECORDS}]
    ),
}
WITHOUT_TIMES = {
    "by user and item": json.dumps(BY_USER),
    "by user and item, indented": json.dumps(BY_USER, indent=1),
    "pairs by user": json.dumps({user: [*items.items()] for user, items in BY_USER.items()}),
    "objects by user": json.dumps(
        {u: [{"item": i, "rating": r} for i, r in items.items()] for u, items in BY_USER.items()}
    ),
    "objects by user and item": json.dumps(
        {u: {i: {"rating": r} for i, r in items.items()} for u, items in BY_USER.items()}
    ),
    "a user a line, with objects": lines(
        {"user": u, "ratings": [{"item": i, "rating": r} for i, r in items.items()]}
        for u, items in BY_USER.items()
    ),
    "a user a line, with pairs": lines(
        {"user": u, "ratings": [*items.items()]} for u, items in BY_USER.items()
    ),
    "a user a line, by item": lines({"user": u, "rated": items} for u, items in BY_USER.items()),
    "a list of users": json.dumps(
        [{"user": u, "ratings": [*items.items()]} for u, items in BY_USER.items()]
    ),
}


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".txt", ".csv"])
@pytest.mark.parametrize("shape", [*JSON, *WITHOUT_TIMES])
def test_json_is_read_in_every_shape(tmp_path, shape, ending):
    path = tmp_path / f"r{ending}"
    path.write_text({**JSON, **WITHOUT_TIMES}[shape], encoding="utf-8")
    assert same(harness.load(path), FRAME if shape in JSON else PLAIN)


@pytest.mark.parametrize("shape", ["columns", "by user and item, indented", "split", "in data"])
def test_a_document_of_json_is_described_as_data(tmp_path, shape):
    path = tmp_path / "r.json"
    path.write_text({**JSON, **WITHOUT_TIMES}[shape], encoding="utf-8")
    (described,) = harness.describe(path)
    assert (described.n_users, described.n_items) == (7, 5)


def test_ratings_by_item_and_user_are_read_by_the_key_of_the_note(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(
        json.dumps({"x": dict.fromkeys("abc", 1), "y": dict.fromkeys("abc", 2), "z": {"a": 2}})
    )
    (note,) = [note for note in harness.load(path).notes if note.code == "json-by-user"]
    advised = re.search(r"`columns: \{user: (\w+), item: (\w+)\}`", str(note))
    columns = {"user": advised[1], "item": advised[2]}
    assert harness.load({"path": str(path), "columns": columns}).counts == (3, 3, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[["a","x",1],["b","y"]]', r"r\.json:2: 2 values, where the first list has 3"),
        ('[{"user":"a","item":"x","rating":1},5]', r"r\.json:2: not an object of fields"),
        ('{\n"a": {"x": 1},\n"b": {"x": \n}', r"not JSON \(.*line 4.*\); mend the file"),
        ('{"status": "ok", "data": []}', "no rows of data"),
        ('{"user":"a","item":"x","rating":1}\n{"user":', r"r\.json:2: not JSON"),
    ],
)
def test_json_with_a_fault_is_refused_with_its_place(load, text, message):
    with pytest.raises(DataError, match=message):
        load("r.json", text)


VALUES = ",".join(f"('{u}','{i}',{r})" for u, i, r in PLAIN.itertuples(index=False, name=None))
COPIED = "".join(f"{u}\t{i}\t{r}\n" for u, i, r in PLAIN.itertuples(index=False, name=None))
MYSQL = f"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
DROP TABLE IF EXISTS `films`;
CREATE TABLE `films` (
  `id` varchar(20) NOT NULL DEFAULT 'a,b',
  `title` varchar(255) COMMENT 'it''s; (new)',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
LOCK TABLES `films` WRITE;
INSERT INTO `films` VALUES ('i1','D\\'Artagnan; or (1,2,3)'),('i2',NULL);
UNLOCK TABLES;
CREATE TABLE `stars` (
  `user` varchar(20), `item` varchar(20), `rating` decimal(3,1) DEFAULT '0',
  KEY `by_user` (`user`), CONSTRAINT `c` FOREIGN KEY (`item`) REFERENCES `films` (`id`)
);
INSERT INTO `stars` VALUES {VALUES};
"""
POSTGRES = f"""--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.f() RETURNS integer AS $$ BEGIN; DELETE FROM x; END; $$ LANGUAGE plpgsql;
CREATE TABLE public.stars (
    "user" text NOT NULL,
    item text,
    rating numeric(3,1) DEFAULT 0.0
);
COPY public.stars ("user", item, rating) FROM stdin;
{COPIED}\\.


ALTER TABLE ONLY public.stars ADD CONSTRAINT p PRIMARY KEY ("user", item);
"""
INSERTS = "".join(
    f"INSERT INTO public.stars (\"user\", item, rating) VALUES ('{u}', '{i}', {r}.0);\n"
    for u, i, r in PLAIN.itertuples(index=False, name=None)
)
SQLITE = (
    "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE stars(user TEXT, item TEXT, rating "
    "REAL);\n" + INSERTS.replace('public.stars ("user", item, rating)', "stars") + "COMMIT;\n"
)
DUMPS = {"mysql": MYSQL, "copy": POSTGRES, "inserts": POSTGRES.partition("COPY")[0] + INSERTS,
         "sqlite": SQLITE}  # fmt: skip


@pytest.mark.parametrize("name", ["r.sql", "dump.txt", "dump"])
@pytest.mark.parametrize("dump", DUMPS)
def test_a_dump_is_read(load, dump, name):
    assert same(load(name, DUMPS[dump]), PLAIN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            MYSQL + "UPDATE `stars` SET rating = 1;",
            r"r\.sql:\d+: UPDATE in an SQL dump.*; load the",
        ),
        (MYSQL.replace("('u0','i0',1)", "('u0','i0',1+1)"), r"r\.sql:17: a value that is computed"),
        (MYSQL.replace("('u0','i0',1)", "('u0',1)"), r"r\.sql:17: 2 values for 3 columns"),
        (
            MYSQL.replace("INSERT INTO `stars` VALUES", "INSERT INTO `stars` SELECT"),
            "no rows|tables",
        ),
        (POSTGRES.partition("\\.")[0], "the dump is not whole"),
        (MYSQL[: MYSQL.index("u3")], "a text that is not closed; the dump is not whole"),
        (MYSQL.replace("'u0','i0',1)", "'u0','i0','much')"), r"r\.sql:17: the rating 'much'"),
    ],
)
def test_a_dump_that_is_not_surely_read_is_refused(load, text, message):
    with pytest.raises(DataError, match=message):
        load("r.sql", text)


def test_of_two_tables_of_ratings_the_message_names_a_key_that_works(load, tmp_path):
    with pytest.raises(
        DataError, match=r"tables: films, stars, more; .*, for example table: stars"
    ) as refused:
        load("r.sql", MYSQL + MYSQL.partition("CREATE TABLE `stars`")[2]
             .join(["CREATE TABLE `more`", ""]).replace("INTO `stars`", "INTO `more`"))  # fmt: skip
    table = re.search(r"for example table: (\w+)$", str(refused.value))[1]
    ratings = harness.load({"path": str(tmp_path / "r.sql"), "table": table})
    assert same(ratings, PLAIN)


# Folders


def commit(folder, version, *actions):
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text(lines(actions))


def add(name, **more):
    return {"add": {"path": name, "partitionValues": {}, **more}}


@pytest.fixture
def table(tmp_path):
    """A table of Delta with a file that was replaced."""
    folder = tmp_path / "table"
    folder.mkdir()
    FRAME.assign(rating=1).to_parquet(folder / "old.parquet")
    FRAME[:20].to_parquet(folder / "a b.parquet")
    FRAME[20:].to_parquet(folder / "c.parquet")
    commit(folder, 0, {"protocol": {"minReaderVersion": 1}}, {"metaData": {"configuration": {}}},
           add("old.parquet"))  # fmt: skip
    commit(folder, 1, {"remove": {"path": "old.parquet"}}, add("a%20b.parquet"), add("c.parquet"))
    return folder


def test_files_that_a_delta_table_removed_are_not_read(table):
    assert same(harness.load(table), FRAME)


def test_a_delta_table_is_read_from_its_checkpoint(table):
    checkpoint = pa.table({
        "add": pa.array([{"path": "a%20b.parquet", "partitionValues": []}, None, None],
                        pa.struct({"path": pa.string(),
                                   "partitionValues": pa.map_(pa.string(), pa.string())})),
        "remove": pa.array([None, {"path": "old.parquet"}, None], pa.struct({"path": pa.string()})),
        "protocol": pa.array([None, None, {"minReaderVersion": 1}],
                             pa.struct({"minReaderVersion": pa.int32()})),
    })  # fmt: skip
    pq.write_table(checkpoint, table / "_delta_log" / f"{1:020}.checkpoint.parquet")
    commit(table, 2, add("c.parquet"))
    for version in (0, 1):
        (table / "_delta_log" / f"{version:020}.json").unlink()
    assert same(harness.load(table), FRAME)


def test_partitions_of_a_delta_table_are_columns(tmp_path):
    folder = tmp_path / "t"
    actions = []
    for rating, rows in PLAIN.groupby("rating"):
        (folder / f"rating={rating}").mkdir(parents=True)
        rows[["user", "item"]].to_parquet(folder / f"rating={rating}/p.parquet")
        actions.append(add(f"rating={rating}/p.parquet", partitionValues={"rating": str(rating)}))
    commit(folder, 0, *actions)
    assert same(harness.load(folder), PLAIN)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (add("d.parquet"), r"table: lacks d\.parquet, which its log lists; copy the whole folder"),
        (
            add("c.parquet", deletionVector={"storageType": "u"}),
            "marked as deleted inside its files",
        ),
        (add("s3://x/d.parquet"), "a file outside its folder"),
        (add("../d.parquet"), "a file outside its folder"),
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}, "have other names"),
        ({"protocol": {"readerFeatures": ["icebergCompat"]}}, "the feature icebergCompat"),
        ({"add": {}}, "its _delta_log cannot be read"),
    ],
)
def test_a_delta_table_that_is_not_surely_read_is_refused(table, action, message):
    commit(table, 2, action)
    with pytest.raises(DataError, match=message):
        harness.load(table)


def test_a_delta_table_without_a_version_is_refused(table):
    (table / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(DataError, match="its _delta_log lacks version 0; copy the whole folder"):
        harness.load(table)


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
@pytest.mark.parametrize("columns", [["rating"], ["user"], ["user", "item"], ["bucket"]])
def test_names_of_partitions_are_columns(tmp_path, columns, ending):
    frame = FRAME.assign(bucket=FRAME["timestamp"] % 3)
    for values, rows in frame.groupby(columns):
        names = [f"{column}={value}" for column, value in zip(columns, values, strict=True)]
        folder = tmp_path.joinpath("out", *names)
        folder.mkdir(parents=True)
        rest = rows.drop(columns=[*columns, *({"bucket"} - {*columns})])
        write = {"csv": lambda p, f: f.to_csv(p, index=False),
                 "json": lambda p, f: f.to_json(p, orient="records", lines=True)}  # fmt: skip
        write.get(ending, lambda p, f: f.to_parquet(p))(folder / f"part-0.{ending}", rest)
    (tmp_path / "out/_SUCCESS").write_text("")
    assert same(harness.load(tmp_path / "out"), FRAME)


def test_a_fault_in_a_partition_has_its_file_and_line(tmp_path):
    for rating in (4, 5):
        folder = tmp_path / f"out/rating={rating}"
        folder.mkdir(parents=True)
        (folder / "part-0.csv").write_text("user,item\na,x\n,y\n")
    with pytest.raises(DataError, match=r"out/rating=4/part-0\.csv:3: no user"):
        harness.load(tmp_path / "out")


def test_a_part_without_rows_is_left_out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    FRAME[:0].to_parquet(folder / "part-00000.parquet")
    FRAME.to_parquet(folder / "part-00001.parquet")
    assert same(harness.load(folder), FRAME)


def hugging_face(folder, frame):
    folder.mkdir(parents=True)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as writer:
        writer.write_table(table)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    (folder / "cache-0.arrow").write_bytes(b"of another program")


def test_splits_of_a_data_set_of_hugging_face_are_read_together_or_by_member(tmp_path):
    hugging_face(tmp_path / "d/train", FRAME[:20])
    hugging_face(tmp_path / "d/test", FRAME[20:])
    (tmp_path / "d/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    ratings = harness.load(tmp_path / "d")
    assert same(ratings, FRAME)
    assert "2 splits read together, as parts of one table: train, test" in str(ratings.notes)
    section = {"path": str(tmp_path / "d"), "member": "train"}
    assert same(harness.load(section), FRAME[:20])
    with pytest.raises(DataError, match=r"no split .tran. for member; did you mean .train"):
        harness.load(section | {"member": "tran"})
    (tmp_path / "d/test/data-00000-of-00001.arrow").unlink()
    with pytest.raises(DataError, match=r"lacks data-00000-of-00001\.arrow, which state"):
        harness.load(tmp_path / "d")


# One format each

REVIEW = """product/productId: B{}
review/userId: {}
review/profileName: a: b
review/score: {}.0
review/time: {}
review/text: first line
 and another: one

"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blocks_of_keys_and_values_are_read(load, end):
    rows = FRAME.itertuples(index=False, name=None)
    text = "".join(REVIEW.format(i[1:], u, r, t) for u, i, r, t in rows).replace("\n", end)
    expected = FRAME.assign(item="B" + FRAME["item"].str[1:])
    assert same(load("r.txt", text), expected)
    with pytest.raises(DataError, match=r"r\.txt:9: the rating 'x\.0' is not a number"):
        load("r.txt", text.replace("score: 2.0", "score: x.0", 1))


MARKET = "%%MatrixMarket matrix coordinate real general\n% by scipy\n3 4 3\n1 1 5\n1 4 3.5\n3 2 1\n"


def test_a_matrix_of_matrix_market_is_read_or_refused(load, tmp_path):
    ratings = load("r.mtx", MARKET)
    rows = [("1", "1", 5.0), ("1", "4", 3.5), ("3", "2", 1.0)]
    assert same(ratings, pd.DataFrame(rows, columns=["user", "item", "rating"]))
    (note,) = [note for note in ratings.notes if note.code == "matrix-market-read"]
    assert "3 users in rows and 4 items in columns; `columns: {user: 2, item: 1}`" in str(note)
    swapped = {"path": str(tmp_path / "r.mtx"), "columns": {"user": 2, "item": 1}}
    assert harness.load(swapped).n_users == 3
    with pytest.raises(DataError, match=r"r\.mtx:5: the rating 'x' is not a number"):
        load("r.mtx", MARKET.replace("3.5", "x"))
    with pytest.raises(DataError, match="2 entries, but its line 3 announces 3; the file is not"):
        load("r.mtx", MARKET[: MARKET.index("3 2 1")])


@pytest.mark.parametrize("place", range(0, 120, 3))
def test_a_folder_with_a_damaged_description_is_read_or_refused(table, tmp_path, place):
    hugging_face(tmp_path / "d", FRAME)
    for path in (table / "_delta_log" / f"{1:020}.json", tmp_path / "d/state.json"):
        data = bytearray(path.read_bytes())
        data[place % len(data) : place % len(data) + 5] = b"]\x00{1,"
        path.write_bytes(data)
    for folder in (table, tmp_path / "d"):
        with pytest.raises(DataError, match=r"cannot be read|lacks|no rows"):
            harness.load(folder)


@pytest.mark.parametrize("kind", ["stata", "spss"])
@pytest.mark.parametrize("name", ["r.dta", "r.sav", "r.csv"])
def test_files_of_statistical_programs_are_read(tmp_path, kind, name):
    path = tmp_path / name
    frame = FRAME.assign(extra=0.5)
    if kind == "stata":
        frame.to_stata(path, write_index=False)
    else:
        spss = pytest.importorskip("pyreadstat", reason="the extra `spss`")
        spss.write_sav(frame, str(path.with_suffix(".sav")))
        path.with_suffix(".sav").rename(path)
    assert same(harness.load(path), FRAME)


def test_judgements_of_trec_are_read(load):
    text = "".join(f"{u} 0 {i} {r}\n" for u, i, r in PLAIN.itertuples(index=False, name=None))
    assert same(load("test.qrels", text), PLAIN)
    assert same(load("qrels.txt", text.replace(" 0 ", " Q0 ")), PLAIN)
    with pytest.raises(DataError, match=r"test\.qrels:2: 3 fields where the first line has 4"):
        load("test.qrels", text.replace("u1 0 ", "u1 ", 1))


# What is not read

WIDE = PLAIN.pivot_table(index="user", columns="item", values="rating")
MATRIX = WIDE.fillna(0).to_numpy()


def npz(path):
    scipy.sparse.save_npz(path, scipy.sparse.csr_matrix(MATRIX))


NOT_READ = {
    "r.npy": ("a NumPy array", lambda path: np.save(path, MATRIX)),
    "r.npz": ("NumPy arrays", npz),
    "r.mat": ("a MATLAB file", lambda path: scipy.io.savemat(path, {"M": MATRIX})),
    "r.pkl": ("a pickle", lambda path: path.write_bytes(pickle.dumps(PLAIN))),
    "r.xml": ("XML", lambda path: PLAIN.to_xml(path, parser="etree")),
    "array.mtx": ("'matrix array", lambda path: scipy.io.mmwrite(path, MATRIX)),
    "r.yaml": ("YAML", lambda path: path.write_text(
        "".join(f"- user: {u}\n  item: {i}\n  rating: {r}\n"
                for u, i, r in PLAIN.itertuples(index=False, name=None)))),
    "page.csv": ("a web page with a table", lambda path: path.write_text(PLAIN.to_html())),
    "features.txt": ("features of LibSVM", lambda path: path.write_text(
        "".join(f"{n} " + " ".join(f"{k}:{v}" for k, v in enumerate(row, 1)) + "\n"
                for n, row in enumerate(MATRIX.astype(int), 1)))),
    "pattern.mtx": ("with pattern entries", lambda path: path.write_text(
        "%%MatrixMarket matrix coordinate pattern general\n7 5 1\n1 1\n")),
}  # fmt: skip


# SciPy announces that mmread will return sparse arrays, which is what the call makes of it.
@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")
@pytest.mark.parametrize("name", NOT_READ)
def test_the_call_in_a_refusal_reads_the_ratings(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    what, write = NOT_READ[name]
    write(tmp_path / name)
    with pytest.raises(DataError) as refused:
        harness.load(name)
    assert what in str(refused.value)
    call = re.search(r"harness\.load\(.*?\) reads", str(refused.value))[0].removesuffix(" reads")
    known = {"harness": harness, "pandas": pd, "numpy": np, "scipy": scipy, "pathlib": pathlib}
    for module in {*re.findall(r"(ruamel\.yaml|sklearn\.datasets|lxml)", str(refused.value))}:
        pytest.importorskip(module)
        known[module.partition(".")[0]] = __import__(module)
    ratings = eval(call, known)
    assert len(ratings) == (1 if name.startswith("pattern") else 35)


PAGE = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>…</body></html>"
ODD = {
    "a Git-LFS pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 123\n",
    r"a web page \('Sign in'\) in place of the file": PAGE,
    "no rows of data, as the file has 0 bytes": "",
    "no rows of data; give": "user,item,rating\n",
    "no ratings; give the file of ratings beside it, such as r.rating": "(0,25)\t1064\t174\t2791\n",
    r"a web page with a table; harness\.load\(pandas\.read_html": "<html><table><tr>",
    "a workbook of Excel 2003 as XML": '<?xml version="1.0"?>\n<Workbook xmlns="urn:schemas-micro'
    'soft-com:office:spreadsheet">',
    "features of LibSVM or LibFM": "1 2:5 5:3\n2 1:4\n",
    "lines of Vowpal Wabbit": "5 |u 11 |i 10\n",
    "a table as the terminal of MySQL shows it": "+---+---+\n| a | b |\n+---+---+\n",
    "tuples in parentheses": "(1,2,3.0)\n(1,3,4.0)\n",
    "YAML, which is not read": "- user: a\n  item: x\n  rating: 3\n",
    "such as the probe set of the Netflix Prize": "1:\n30878\n2647871\n",
    "such as the qualifying set of the Netflix": "1:\n30878,2005-12-19\n2647871,2005-12-20\n",
    "a picture or a recording": "\x89PNG\r\n",
    "no rows of data, nothing but blanks": "  \n\t\n",
    "a dump of pg_dump in its own format": "PGDMP\x01",
    "a 7-Zip archive": "7z\xbc\xaf\x27\x1c",
    "a RAR archive": "Rar!\x1a\x07",
    "nothing but null bytes": "\0" * 100,
}


@pytest.mark.parametrize("name", ["r.csv", "r.txt", "r.negative", "ratings"])
@pytest.mark.parametrize("what", ODD)
def test_what_is_no_table_is_refused_with_what_it_is(load, what, name):
    if "beside it" in what and name != "r.negative":
        what = "no ratings; give the file of ratings beside it"
    with pytest.raises(DataError, match=what):
        load(name, ODD[what if what in ODD else [*ODD][4]].encode("latin-1", "replace"))


def test_an_iceberg_table_is_refused_with_the_call_that_reads_it(tmp_path):
    for name in ("data/a.parquet", "data/removed.parquet"):
        path = tmp_path / "t" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        FRAME.to_parquet(path)
    (tmp_path / "t/metadata").mkdir()
    for version in (1, 2, 10):
        (tmp_path / f"t/metadata/v{version}.metadata.json").write_text("{}")
    with pytest.raises(
        DataError, match=r"an Iceberg table, .*from_metadata\('.*v10\.metadata\.json'"
    ):
        harness.load(tmp_path / "t")


@pytest.mark.parametrize("form", ["({},{},{})\n", "Rating({},{},{})\n"])
def test_the_command_in_the_refusal_of_tuples_keeps_all_parts(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    rows = [form.format(*row) for row in PLAIN.itertuples(index=False, name=None)]
    for number in (0, 1):
        (tmp_path / f"out/part-0000{number}").write_text("".join(rows[number::2]))
    with pytest.raises(DataError, match="tuples in parentheses") as refused:
        harness.load("out/part-00000")
    with pytest.raises(DataError):
        harness.load("out")
    command = re.search(r"; (sed .*?) writes a file", str(refused.value))[1]
    subprocess.run(command, shell=True, check=True)
    assert same(harness.load("ratings.csv"), PLAIN)


def test_a_cut_parquet_file_is_refused_whatever_it_is_called(tmp_path):
    buffer = io.BytesIO()
    FRAME.to_parquet(buffer)
    (tmp_path / "r.csv").write_bytes(buffer.getvalue()[:-300])
    with pytest.raises(DataError, match="not a Parquet file that can be read"):
        harness.load(tmp_path / "r.csv")
