"""A damaged, a hostile and an endless file of each kind ends in ratings or in a message."""

import gzip
import importlib.util
import lzma
import signal
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pytest

import harness
from harness.datasets import limits
from harness.datasets.limits import FLOOR, MEGABYTE, RATIO, Limits
from harness.datasets.readers import takes_folders
from harness.errors import DataError
from harness.plugins import registry as plugins

from .damages import KINDS

LIBRARIES = {"duckdb": "duckdb", "excel": "python_calamine", "spss": "pyreadstat"}
WITHOUT = {kind for kind, library in LIBRARIES.items() if not importlib.util.find_spec(library)}
"""Kinds of which no file can be made here."""
MOST_MEGABYTES = 500


def read_in_a_child(first, last, *kinds):
    """Read damaged files in a process of its own and return how each ended, and why."""
    script = Path(__file__).with_name("damages.py")
    done = subprocess.run(
        [sys.executable, str(script), str(first), str(last), *kinds],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    killed = signal.Signals(-done.returncode).name if done.returncode < 0 else ""
    assert done.returncode == 0, f"{killed} at {lines[-1:]}: {done.stderr[-2000:]}"
    assert "FAULT" not in done.stdout, done.stderr[-3000:]
    ended = [line.split(maxsplit=5) for line in lines]
    assert max(float(words[4]) for words in ended) < MOST_MEGABYTES
    return {(words[0], int(words[1])): (words[2], "".join(words[5:])) for words in ended}


def test_every_reader_is_damaged():
    read = {keys.get("format") or ending.removeprefix(".") for ending, _, keys in KINDS.values()}
    read = {name.removesuffix("lite") + "lite" * name.endswith("lite") for name in read}
    names = {name for name in plugins.builtin_names("readers") if not takes_folders(name)}
    missing = sorted(names - read)
    assert not missing, f"{missing}: add an entry to KINDS in tests/datasets/damages.py"


def test_a_few_damages_of_each_kind_and_the_whole_files():
    ended = read_in_a_child(0, 3)
    assert {kind for kind, _ in ended} == {*KINDS} - WITHOUT
    for kind in {kind for kind, _ in ended} - {"npz"}:
        how, why = ended[kind, 0]
        assert how == "read", f"{kind}: its whole file is refused: {why}"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_sixty_damages_end_in_ratings_or_a_message(kind):
    if kind in WITHOUT:
        pytest.skip(f"the extra `{kind}` is not installed")
    assert len(read_in_a_child(3, 63, kind)) == 60


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", "[" * 100_000, "nested too deeply; give"),
        ("a.json", '[{"user":' + "[" * 100_000, "nested too deeply; give"),
        ("a.jsonl", '{"user":' * 100_000, "nested too deeply"),
        ("a.jsonl", '{"user":"\\ud800","item":"b","rating":1}', "a.jsonl:1: the user holds half"),
        ("a.json", '[{"user":"a","item":"\\udfff","rating":1}]', "a.json:1: the item holds half"),
        ("a.jsonl", '{"user":"a","item":"b","rating":' + "1" * 5_000 + "}", "a.jsonl:1: not JSON"),
        ("a.jsonl", '{"\\ud800":"a","item":"b","rating":1}', "no column for the user"),
    ],
)
def test_odd_json_is_refused(load, name, content, message):
    with pytest.raises(DataError, match=message):
        load(name, content)


def test_a_json_file_is_described_or_refused_whatever_it_begins_with(cli, tmp_path):
    for number, text in enumerate(("[" * 100_000, '{"a":' * 100_000, '"\\ud800"', "{", "\ud800")):
        path = tmp_path / f"{number}.json"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        code, out, err = cli("describe", path)
        assert (code, out) == (2, "")
        assert "Traceback" not in err


def test_an_error_of_a_library_is_a_message(load, monkeypatch):
    def fail(*_):
        raise KeyError("of a library")

    monkeypatch.setattr("harness.datasets.readers.text.find_beginning", fail)
    with pytest.raises(DataError, match=r"a\.csv: cannot be read \(KeyError: .*; check that the"):
        load("a.csv", "user,item,rating\na,b,3\n")


def test_features_with_many_faulty_rows_are_refused(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id,title\n0,a\n" + "".join(f"{number}\n" for number in range(1, 31)))
    with pytest.raises(DataError, match=r"(?s)items\.csv:3: 1 field .*: 10 problems more"):
        harness.load("synthetic", items=str(path))


ROWS = b"user,item,rating\n" + b"a,b,3\n" * 100_000
N_ROWS = 100_000


def a_zip(folder):
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", ROWS)
    return path


def a_gzip(folder):
    path = folder / "a.csv.gz"
    path.write_bytes(gzip.compress(ROWS))
    return path


def an_xz(folder):
    path = folder / "a.csv.xz"
    path.write_bytes(lzma.compress(ROWS))
    return path


def alike(n_rows, text):
    """Return one user, repeated, as a dictionary makes it almost nothing in a file."""
    return pa.table(
        {
            "user": pa.array([text]).take(pa.array(np.zeros(n_rows, np.int64))),
            "item": np.arange(n_rows) // 1_000,
            "rating": np.ones(n_rows),
        }
    )


def a_parquet_of_rows(folder):
    path = folder / "a.parquet"
    pa.parquet.write_table(alike(N_ROWS, "x"), path, compression="zstd")
    return path


def a_parquet_of_long_texts(folder):
    path = folder / "a.parquet"
    pa.parquet.write_table(alike(2_000, "x" * 5_000), path, compression="zstd")
    return path


def a_parquet_of_one_page(folder):
    path = folder / "a.parquet"
    table = alike(2_000, "x" * 1_000)
    pa.parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    return path


def a_feather(folder):
    path = folder / "a.feather"
    table = alike(N_ROWS, "x")
    coded = table.set_column(0, "user", table.column("user").dictionary_encode())
    coded = coded.set_column(1, "item", pa.array(np.zeros(N_ROWS)))
    pa.feather.write_feather(coded, path, "zstd")
    return path


def an_orc(folder):
    path = folder / "a.orc"
    pa.orc.write_table(alike(2_000, "x" * 1_000), path, compression="zstd")
    return path


def a_ragged_matrix(folder):
    path = folder / "a.csv"
    path.write_text("user" + ",i" * 2_000 + "\na\n" * 2_000)
    return path


def a_matrix_with_a_long_cell(folder):
    path = folder / "a.csv"
    path.write_text("user" + ",i" * 200 + "\n" + ("a" + ",1" * 200 + "\n") * 9 + "x" * 3_000)
    return path


BOMBS = {
    a_zip: {},
    a_gzip: {},
    an_xz: {},
    a_parquet_of_rows: {},
    a_parquet_of_long_texts: {},
    a_parquet_of_one_page: {},
    a_feather: {},
    an_orc: {},
    a_ragged_matrix: {"format": "matrix"},
    a_matrix_with_a_long_cell: {"format": "matrix"},
}


@pytest.fixture
def small_floor(monkeypatch):
    """Let limits count from 100 kB, so that small files show them."""
    monkeypatch.setattr(limits, "FLOOR", 100_000)


@pytest.mark.parametrize("make", BOMBS, ids=lambda make: make.__name__)
def test_a_small_file_that_stands_for_very_much_is_refused(tmp_path, small_floor, make):
    path, keys = make(tmp_path), BOMBS[make]
    advice = r"most_megabytes"
    with pytest.raises(DataError, match=rf"{path}.*: [0-9,]+ bytes that unpack to .*{advice}"):
        harness.load({"path": str(path), **keys})


@pytest.mark.parametrize("make", [a_zip, a_gzip, a_parquet_of_rows, a_feather, an_orc])
def test_what_the_message_advises_reads_the_file(tmp_path, small_floor, make):
    path, policies = make(tmp_path), {"duplicates": "first", "out_of_scale": "keep"}
    section = {"path": str(path), "most_megabytes": 100, **policies}
    assert harness.load(section).n_users == 1
    with pytest.raises(DataError, match="more than most_megabytes allows"):
        harness.load(section | {"most_megabytes": 0.01})


def test_real_and_regular_ratings_are_far_from_the_limits(tmp_path):
    """A formula that xz packs to a thousandth and ratings as people give them."""
    n_users, n_items = 1_000, 500
    users, items = (part.ravel() for part in np.indices((n_users, n_items)))
    text = "\n".join(f"{u},{i},{(u + i) % 5 + 1}" for u, i in zip(users, items, strict=True))
    assert len(text) < FLOOR
    assert len(text) / len(gzip.compress(text.encode())) < RATIO / 5
    path = tmp_path / "a.parquet"
    data = {"user": users, "item": items, "rating": (users + items) % 5 + 1}
    pa.parquet.write_table(pa.table(data), path, compression="zstd")
    assert len(harness.load(str(path))) == n_users * n_items


@pytest.mark.parametrize("n_packed", [0, 10, 10**6, 10**9])
def test_limits_grow_with_the_file(n_packed):
    usual = Limits()
    assert usual.most_unpacked(n_packed) == max(32 * MEGABYTE, 250 * n_packed)
    usual.check_unpacked(usual.most_unpacked(n_packed), n_packed, "a", least=False)
    with pytest.raises(DataError, match=r"a: .*allow most_megabytes: \d+ in dataset"):
        usual.check_unpacked(usual.most_unpacked(n_packed) + 1, n_packed, "a", least=False)


@pytest.mark.parametrize(
    ("value", "is_good"), [(1, True), (0.5, True), (0, False), (-1, False), (".inf", False)]
)
@pytest.mark.parametrize("key", ["most_megabytes", "most_seconds"])
def test_limits_are_numbers_above_zero(load, key, value, is_good):
    if is_good:
        assert len(load("a.csv", "user,item,rating\na,b,3\n", **{key: value})) == 1
        return
    with pytest.raises(DataError, match=rf"dataset: {key}: found .*; it must be "):
        load("a.csv", "user,item,rating\na,b,3\n", **{key: value})


def test_a_named_data_set_has_no_limits_of_a_file():
    with pytest.raises(DataError, match=r"dataset: most_seconds: .*leave this out"):
        harness.load({"name": "ml-100k", "most_seconds": 5})


ENDLESS = """WITH RECURSIVE c(user, item, rating) AS
    (SELECT 1, 1, 1 UNION ALL SELECT user + 1, item, rating FROM c) SELECT * FROM c"""
VIEWS = {
    "rows without an end": ENDLESS,
    "computes without a row": f"SELECT * FROM ({ENDLESS}) WHERE rating > 1",
    "counts without an end": f"SELECT 1 AS user, 1 AS item, sum(rating) AS rating FROM ({ENDLESS})",
    "sorts without an end": f"SELECT * FROM ({ENDLESS}) ORDER BY user DESC",
    "long texts": f"SELECT user, printf('%.900000c', 'x') AS item, rating FROM ({ENDLESS})",
}


class TestViews:
    @pytest.fixture(params=VIEWS)
    def view(self, request, tmp_path):
        path = tmp_path / "v.sqlite"
        base = sqlite3.connect(path)
        base.execute(f"CREATE VIEW ratings AS {VIEWS[request.param]}")
        base.commit()
        base.close()
        return path

    def test_of_sqlite_are_given_up(self, view, small_floor):
        with pytest.raises(DataError, match=r"v\.sqlite: .*, or allow more .*dataset\.most_"):
            harness.load({"path": str(view), "most_seconds": 0.3})

    def test_of_duckdb_are_given_up(self, request, tmp_path, small_floor, monkeypatch):
        duckdb = pytest.importorskip("duckdb", reason="the extra `duckdb`")
        path = tmp_path / "v.duckdb"
        endless = "SELECT range AS user, 1 AS item, 1 AS rating FROM range(1000000000000)"
        base = duckdb.connect(str(path))
        base.execute(f"CREATE VIEW ratings AS {endless}")
        base.execute(f"CREATE VIEW counted AS {VIEWS['counts without an end']}")
        base.close()
        with pytest.raises(DataError, match=r"v\.duckdb: .*allow more with dataset\.most_mega"):
            harness.load({"path": str(path), "table": "ratings"})
        with pytest.raises(DataError, match=r"v\.duckdb: the table, view or query did not end"):
            harness.load({"path": str(path), "table": "counted", "most_seconds": 0.3})

    def test_of_real_tables_are_read_within_the_same_limits(self, tmp_path, small_floor):
        path = tmp_path / "v.sqlite"
        base = sqlite3.connect(path)
        base.execute("CREATE TABLE r (user, item, rating)")
        rows = [(n // 50, n % 50, n % 5) for n in range(20_000)]
        base.executemany("INSERT INTO r VALUES (?, ?, ?)", rows)
        base.execute("CREATE VIEW v AS SELECT * FROM r WHERE rating > 0")
        base.commit()
        base.close()
        assert len(harness.load({"path": str(path), "table": "r"})) == 20_000
        assert len(harness.load({"path": str(path), "table": "v"})) == 16_000
