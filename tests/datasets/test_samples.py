"""The first rows of a file show the same of its columns, whatever its format."""

import json
import sqlite3
from contextlib import closing

import pandas as pd
import pyarrow as pa
import pytest

import harness
from harness.datasets.inspection import candidates_of
from harness.datasets.section import DatasetSection
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install

N = 24
FRAME = pd.DataFrame(
    {
        "user": [f"u{n % 6}" for n in range(N)],
        "artist": [f"a{n % 4}" for n in range(N)],
        "track": [f"t{n // 6}" for n in range(N)],
        "rating": [1 + n % 5 for n in range(N)],
        "moment": [1_600_000_000 + 1000 * n for n in range(N)],
        "genre": [f"g{n // 8}" for n in range(N)],
    }
)
"""Two columns that may be the item, a time of an unusual name, and one that is neither."""
UNREAD = {"items-unread", "times-unread"}


def _excel(path, frame):
    pytest.importorskip("python_calamine", reason="the extra `excel`")
    pytest.importorskip("openpyxl", reason="writes workbooks")
    frame.to_excel(path, index=False)


def _sqlite(path, frame):
    with closing(sqlite3.connect(path)) as base:
        frame.to_sql("ratings", base, index=False)


def _duckdb(path, frame):
    duckdb = pytest.importorskip("duckdb", reason="the extra `duckdb`")
    with duckdb.connect(str(path)) as base:
        base.register("frame", frame)
        base.execute("CREATE TABLE ratings AS SELECT * FROM frame")


def _arff(path, frame):
    head = ["@relation r", *(f"@attribute {name} string" for name in frame), "@data"]
    path.write_text("\n".join([*head, frame.to_csv(index=False, header=False)]))


def _sql(path, frame):
    rows = ",".join(str(tuple(row)) for row in frame.astype(str).to_numpy().tolist())
    columns = ", ".join(f"`{name}` text" for name in frame)
    head = f"-- MySQL dump\nCREATE TABLE `ratings` ({columns});\n"
    path.write_text(f"{head}INSERT INTO `ratings` VALUES {rows};\n")


def _key_value(path, frame):
    rows = frame.to_dict("records")
    path.write_text("\n".join("".join(f"{k}: {v}\n" for k, v in row.items()) for row in rows))


def _spss(path, frame):
    pytest.importorskip("pyreadstat", reason="the extra `spss`").write_sav(frame, path)


def _hive(path, frame):
    for genre, rows in frame.groupby("genre"):
        (path / f"genre={genre}").mkdir(parents=True)
        rows.drop(columns="genre").to_parquet(path / f"genre={genre}/part-0.parquet", index=False)


def _delta(path, frame):
    (path / "_delta_log").mkdir(parents=True)
    frame.to_parquet(path / "part-0.parquet")
    action = json.dumps({"add": {"path": "part-0.parquet"}})
    (path / f"_delta_log/{0:020}.json").write_text(action)


def _huggingface(path, frame):
    path.mkdir()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(str(path / "data-0.arrow"), table.schema) as writer:
        writer.write_table(table)
    (path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-0.arrow"}]}))
    (path / "dataset_info.json").write_text("{}")


WRITERS = {
    "csv": lambda path, frame: frame.to_csv(path, index=False),
    "tsv": lambda path, frame: frame.to_csv(path, index=False, sep="\t"),
    "dat": lambda path, frame: path.write_text(frame.to_csv(index=False).replace(",", "::")),
    "parquet": lambda path, frame: frame.to_parquet(path),
    "feather": lambda path, frame: frame.to_feather(path),
    "orc": lambda path, frame: frame.to_orc(path),
    "json": lambda path, frame: frame.to_json(path, orient="records", lines=True),
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "key-value": _key_value,
    "arff": _arff,
    "sql": _sql,
    "stata": lambda path, frame: frame.to_stata(path, write_index=False, version=118),
    "spss": _spss,
    "excel": _excel,
    "hive": _hive,
    "delta": _delta,
    "huggingface": _huggingface,
}
FIXED = {"netflix", "matrix", "qrels", "matrix-market"}
"""Formats whose files have no columns but those of ratings, or one for each item."""
ENDINGS = {"excel": ".xlsx", "spss": ".sav", "stata": ".dta"}


def written(kind, folder, frame=FRAME):
    path = folder / f"a{ENDINGS.get(kind, '.' + kind)}"
    WRITERS[kind](path, frame)
    return {"path": str(path)}


def shown(source):
    """Return what is said of each column, in no order, and the notes on those that are not read."""
    ratings = harness.load(source)
    found = {(one.column, one.role, one.holds, one.why) for one in candidates_of(section(source))}
    return found, {str(note) for note in ratings.notes if note.code in UNREAD}, ratings


def section(source):
    return DatasetSection(**source)


def test_every_format_is_written_here_or_has_no_other_columns():
    assert {*WRITERS} | FIXED == {*plugins.builtin_names("readers")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    candidates, notes, _ = shown(written("csv", tmp_path_factory.mktemp("csv")))
    assert {(column, role) for column, role, _, _ in candidates} == {
        ("user", "user"), ("artist", ""), ("track", "item"), ("rating", "rating"),
        ("moment", ""), ("genre", ""),
    }  # fmt: skip
    assert len(notes) == 2
    return candidates, notes


@pytest.mark.parametrize("kind", WRITERS)
def test_the_same_table_has_the_same_candidates_and_notes(kind, expected, tmp_path):
    source = written(kind, tmp_path)
    candidates, notes, ratings = shown(source)
    assert (candidates, notes) == expected
    assert ratings.timestamps is None
    named = {"columns": {"timestamp": "moment"}}  # what the note advises
    read = harness.load({**source, **named})
    assert sorted(read.timestamps) == FRAME["moment"].tolist()
    assert not any(note.code == "times-unread" for note in read.notes)


@pytest.mark.parametrize("kind", WRITERS)
def test_unusual_names_leave_every_column_without_a_role(kind, tmp_path):
    names = {"user": "who", "track": "what", "artist": "whose", "rating": "mark"}
    if kind == "key-value":
        pytest.skip("blocks are recognised by usual names")
    source = written(kind, tmp_path, FRAME.rename(columns=names))
    found = {one.column: one for one in candidates_of(section(source))}
    assert {*found} == {*FRAME.rename(columns=names)}
    assert {one.role for one in found.values()} == {""}
    assert "not looked at" not in {one.holds for one in found.values()}
    assert found["moment"].holds.startswith("times (1600000000")


@pytest.mark.parametrize("kind", ["parquet", "feather", "orc", "stata", "sqlite", "excel"])
def test_dates_of_an_unusual_name_are_noted(kind, tmp_path):
    days = pd.date_range("2020-01-01", periods=N, freq="D")
    frame = FRAME.assign(moment=days).drop(columns="artist")
    _, notes, _ = shown(written(kind, tmp_path, frame))
    (note,) = notes
    assert note.startswith("'moment' holds times and is not read")


BARS = """import pandas


class Bars{base}:
    endings = (".bars",)

    def read(self, path, options):
        return pandas.read_csv(path, sep="|")
"""


@pytest.mark.parametrize("base", ["", "(Reader)"])
def test_a_reader_of_another_package_is_asked_too(site, base, tmp_path):
    code = "from harness.datasets.readers.base import Reader\n" + BARS.format(base=base)
    install(site, "bars", "1", {"readers": {"bars": "bars_reader:Bars"}}, bars_reader=code)
    plugins.refresh()
    path = tmp_path / "a.bars"
    FRAME.to_csv(path, sep="|", index=False)
    candidates, notes, _ = shown({"path": str(path)})
    assert {column for column, *_ in candidates} == {*FRAME}
    assert len(notes) == 2
