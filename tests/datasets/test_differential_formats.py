"""Every reader beside text gives what pandas, Polars or Arrow read, over generated files.

A number decides a file: its format, how ids, ratings and times are typed or written, which values
are missing, how it is packed. The expected ratings are what another library reads from the same
bytes and a few lines convert. Some files are damaged: then a message has to name the file and,
where a format has lines, the line. ``SEED=7 FILES=2000 pytest -m long FILE``, with this file, tries
other files, 2,000 of each format.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, orc, parquet

from harness import datasets
from harness.errors import DataError

try:
    import polars as pl
except ImportError:
    pl = None
try:
    import duckdb
except ImportError:
    duckdb = None

SEED, N_FILES = (
    int(os.environ.get(name, default)) for name, default in (("SEED", 0), ("FILES", 250))
)
IDS = ("1", "01", "007", "0x10", "1e3", "-5", "+5", "é", "日本", "a b", "a'b", 'a"b', "a,b", "a\\b",
       "x" * 60, "true", "2020-01-01", "=1+1", "½", "99999999999999999999",
       *(f"u{n}" for n in range(30)))  # fmt: skip
WORDS = ("no", "", "two\nlines", 'say "hi"', "a, b")
RATINGS = (0.5, 1.0, 2.5, 3.0, 4.75, 5.0, -1.0, 3.0000000001)
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def rows_of(rng):
    """Return user, item, rating and time of distinct pairs, in any order."""
    n_rows = rng.choice((1, 2, 7, 30))
    if rng.random() < 0.5:
        users, items = IDS, IDS
    else:
        users, items = [rng.randrange(-9, 2**40) for _ in range(9)], range(1, 40)
    pairs = list(dict.fromkeys((rng.choice(users), rng.choice(items)) for _ in range(n_rows)))
    ratings = rng.choice((RATINGS, range(1, 6)))
    return [(*pair, rng.choice(ratings), rng.randrange(10**8, 2 * 10**9)) for pair in pairs]


def frame_of(rng):
    """Return rows as a frame of odd types, with other columns among theirs; some values missing."""
    frame = pd.DataFrame(rows_of(rng), columns=["user", "item", "rating", "timestamp"])
    for role in ("user", "item"):
        is_text = not pd.api.types.is_numeric_dtype(frame[role])
        kinds = ("str", "category") if is_text else ("int64", "Int64", "str")
        frame[role] = frame[role].astype(rng.choice(kinds))
    frame["rating"] = frame["rating"].astype(rng.choice(("float64", "Float64")))
    if rng.random() < 0.3:
        frame["timestamp"] = pd.to_datetime(frame["timestamp"], unit="s")
    if rng.random() < 0.3:
        frame = frame.drop(columns="timestamp")
    if rng.random() < 0.3:
        frame.loc[rng.randrange(len(frame)), "rating"] = None
    frame.insert(rng.randrange(3), "comment", [rng.choice(WORDS) for _ in range(len(frame))])
    return frame[rng.sample([*frame.columns], frame.shape[1])]


def converted(frame):
    """Return what another library read, as the ratings that it means."""
    frame = frame.dropna(subset=["user", "item", "rating"])
    made = {role: plain(frame[role]) for role in ("user", "item")}
    made["rating"] = [float(value) for value in frame["rating"]]
    if "timestamp" in frame:
        times = frame["timestamp"]
        if pd.api.types.is_datetime64_any_dtype(times):
            times = times.astype("datetime64[s]").astype("int64")
        made["timestamp"] = [int(value) for value in times]
    return pd.DataFrame(made)


def plain(ids):
    """Return ids as text; whole numbers without the point that a float has."""
    return [f"{value:.0f}" if isinstance(value, float) else str(value) for value in ids]


def difference(ratings, expected):
    """Return where ratings are not the expected ones; None for nowhere."""
    frame = ratings.to_frame()
    if [*frame.columns] != [*expected.columns]:
        return f"columns {[*frame.columns]}, expected {[*expected.columns]}"
    for column in expected:
        if frame[column].tolist() != expected[column].tolist():
            return f"{column}: {frame[column].tolist()}, expected {expected[column].tolist()}"
    return None


# A writer returns the name of a file, its bytes, and what another library reads of it.


def json_lines(rng):
    frame = frame_of(rng)
    if "timestamp" in frame and pd.api.types.is_datetime64_any_dtype(frame["timestamp"]):
        frame["timestamp"] = frame["timestamp"].dt.strftime("%Y-%m-%dT%H:%M:%S")
    records = json.loads(frame.to_json(orient="records", double_precision=15))
    for record in records:
        if rng.random() < 0.2 and record["rating"] is not None:
            record["rating"] = repr(record["rating"])  # a number as text
        if record["rating"] is None and rng.random() < 0.5:
            del record["rating"]
    compact = rng.choice(({}, {"separators": (",", ":")}, {"ensure_ascii": False}))
    if rng.random() < 0.2:
        text = json.dumps(records, indent=rng.choice((None, 1)), **compact)
    else:
        gap = rng.choice(("\n", "\n", "\r\n", "\n\n"))
        text = gap.join(json.dumps(record, **compact) for record in records)
        text += gap * rng.randrange(2)
    data = rng.choice(("", "\ufeff")) + text
    name = rng.choice(("a.json", "a.jsonl", "a.ndjson"))
    read = pd.DataFrame(records)  # the records themselves: pandas guesses types of columns
    if "rating" not in read:
        read["rating"] = np.nan
    if "timestamp" in read and read["timestamp"].map(type).eq(str).any():
        read["timestamp"] = pd.to_datetime(read["timestamp"])
    return name, data.encode(), read


def parquet_file(rng):
    table = pa.Table.from_pandas(frame_of(rng), preserve_index=False)
    buffer = io.BytesIO()
    kind = rng.choice(("snappy", "zstd", "gzip", "none"))
    parquet.write_table(table, buffer, compression=kind, row_group_size=rng.choice((1, 5, 1000)))
    name = rng.choice(("a.parquet", "a.pq", "a.bin"))
    return name, buffer.getvalue(), other_frame(rng, buffer, "parquet")


def feather_file(rng):
    table = pa.Table.from_pandas(frame_of(rng), preserve_index=False)
    buffer = io.BytesIO()
    kind = rng.choice(("zstd", "lz4", "uncompressed"))
    feather.write_feather(table, buffer, compression=kind, chunksize=rng.choice((1, 5, 1000)))
    name = rng.choice(("a.feather", "a.arrow", "a.ipc", "a.bin"))
    return name, buffer.getvalue(), other_frame(rng, buffer, "ipc")


def other_frame(rng, buffer, kind):
    """Return what pandas reads, or Polars where it is installed."""
    buffer = io.BytesIO(buffer.getvalue())
    if pl is not None and rng.random() < 0.5:
        table = {"parquet": pl.read_parquet, "ipc": pl.read_ipc}[kind](buffer)
        return pd.DataFrame(table.to_dict(as_series=False))
    return {"parquet": pd.read_parquet, "ipc": pd.read_feather}[kind](buffer)


def orc_file(rng):
    frame = frame_of(rng)
    for role in ("user", "item"):
        if isinstance(frame[role].dtype, pd.CategoricalDtype):
            frame[role] = frame[role].astype(str)
    buffer = io.BytesIO()
    orc.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer)
    return (
        rng.choice(("a.orc", "a.bin")),
        buffer.getvalue(),
        pd.read_orc(io.BytesIO(buffer.getvalue())),
    )


def sqlite_file(rng):
    frame = frame_of(rng)
    for role in ("user", "item"):
        if isinstance(frame[role].dtype, pd.CategoricalDtype):
            frame[role] = frame[role].astype(str)
    if "timestamp" in frame and pd.api.types.is_datetime64_any_dtype(frame["timestamp"]):
        frame["timestamp"] = frame["timestamp"].astype("int64") // 10**9
        frame["timestamp"] = frame["timestamp"].where(frame["timestamp"] > 10**7, T0)
    with closing(sqlite3.connect(":memory:")) as database:
        frame.to_sql("ratings", database, index=False)
        if rng.random() < 0.5:
            pd.DataFrame({"name": ["x"]}).to_sql("people", database, index=False)
        read = pd.read_sql_query("select * from ratings", database, dtype_backend="numpy_nullable")
        return rng.choice(("a.db", "a.sqlite", "a.bin")), database.serialize(), read


T0 = 10**9


def matrix_file(rng):
    n_users, n_items = rng.randrange(1, 6), rng.randrange(2, 7)
    values = [[rng.choice(("", "", "1", "2.5", "5")) for _ in range(n_items)]
              for _ in range(n_users)]  # fmt: skip
    values[0][0] = "4"
    frame = pd.DataFrame(values, columns=[f"i{n}" for n in range(n_items)])
    frame.index = pd.Index([f"u{n}" for n in range(n_users)], name="user")
    buffer = io.StringIO()
    separator = rng.choice(",;\t")
    frame.to_csv(buffer, sep=separator)
    read = pd.read_csv(io.StringIO(buffer.getvalue()), sep=separator)
    read = read.melt("user", var_name="item", value_name="rating").dropna()
    order = {f"u{n}": n for n in range(n_users)}
    read = read.sort_values("user", key=lambda ids: ids.map(order), kind="stable")
    return "a.csv", buffer.getvalue().encode(), read


def netflix_file(rng):
    lines, rows = [], []
    for item in rng.sample(range(1, 50), rng.randrange(1, 5)):
        lines.append(f"{item}:")
        for user in rng.sample(range(1, 99), rng.randrange(1, 6)):
            rating, day = (
                rng.randrange(1, 6),
                f"200{rng.randrange(1, 6)}-0{rng.randrange(1, 10)}-11",
            )
            lines.append(f"{user},{rating},{day}")
            rows.append((user, item, rating, day))
    read = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    read["timestamp"] = pd.to_datetime(read["timestamp"])
    end = rng.choice(("\n", "\r\n"))
    return rng.choice(("a.txt", "combined_data_1.txt")), (end.join(lines) + end).encode(), read


def duckdb_file(rng):
    frame = frame_of(rng)
    for role in ("user", "item"):
        if isinstance(frame[role].dtype, pd.CategoricalDtype):
            frame[role] = frame[role].astype(str)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return "a.duckdb", table, frame


FORMATS = {
    "JSON": json_lines,
    "Parquet": parquet_file,
    "Feather": feather_file,
    "ORC": orc_file,
    "SQLite": sqlite_file,
    "matrix": matrix_file,
    "Netflix": netflix_file,
    "DuckDB": duckdb_file,
}
KEYS = {"matrix": {"format": "matrix"}, "Netflix": {"format": "netflix"}}
TEXTS = ("JSON", "matrix", "Netflix")


def packed(rng, name, data):
    """Return a file packed, or as it is."""
    kind = rng.choice((None, None, None, "zip", *PACKERS))
    if kind is None:
        return name, data
    if kind == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, data)
        return "a.zip" if rng.random() < 0.5 else f"{name}.zip", buffer.getvalue()
    return f"{name}.{kind}", PACKERS[kind](data)


def with_fault(rng, kind, data):
    """Return a file with one fault, and what a message has to match."""
    if kind in TEXTS:
        lines = data.decode("utf-8-sig").splitlines()
        spots = [n for n, line in enumerate(lines) if line.strip()]
        if kind == "Netflix":
            spots = [n for n in spots if "," in lines[n]]
        if kind == "matrix":
            spots = spots[1:]
        spot = rng.choice(spots)
        faults = {"JSON": '{"user": "never closed', "Netflix": "7,many,2005-01-11"}
        lines[spot] = faults.get(kind) or re.sub("[^,;\t]+$|(?<=[,;\t])$", "five", lines[spot])
        return "\n".join(lines).encode(), rf":{spot + 1}: "
    return data[: max(8, len(data) * 2 // 3)], ""


def problem(kind, number, folder):
    """Return what is wrong with how the file of a number is read; None for nothing."""
    rng = random.Random(f"{kind} {number}")
    name, data, read = FORMATS[kind](rng)
    expected = converted(read)
    keys = {"missing": "drop", "out_of_scale": "keep", "not_rated": [], **KEYS.get(kind, {})}
    is_list = kind == "JSON" and data.removeprefix(b"\xef\xbb\xbf").startswith(b"[")
    fault = None
    if kind == "DuckDB":
        (folder / name).unlink(missing_ok=True)
        with closing(duckdb.connect(str(folder / name))) as database:
            database.register("given", data)
            database.execute("create table ratings as select * from given")
    else:
        if rng.random() < 0.15 and not is_list:
            data, fault = with_fault(rng, kind, data)
        name, data = packed(rng, name, data)
        (folder / name).write_bytes(data)
    try:
        ratings = datasets.load({"path": name, **keys}, base=folder)
    except DataError as error:
        if not len(expected) and re.search("no ratings are left|no column .* rating", str(error)):
            return None
        if fault is not None:
            first = str(error).splitlines()[0]
            fault += "|no column for the rating" * (kind == "JSON")  # which one line may have had
            return None if name in first and re.search(fault, first) else f"says {first}"
        return f"refused: {error}"
    finally:
        (folder / name).unlink(missing_ok=True)
    if fault is not None:
        return "is damaged, and nothing is said"
    return difference(ratings, expected)


def installed(kind):
    if kind == "DuckDB" and duckdb is None:
        pytest.skip("the extra `duckdb` is not installed")


@pytest.mark.parametrize("kind", FORMATS)
def test_generated_files_are_read_as_by_other_libraries(kind, tmp_path):
    installed(kind)
    for number in range(3 if kind == "DuckDB" else 15):
        assert problem(kind, number, tmp_path) is None, (kind, number)


@pytest.mark.long
@pytest.mark.parametrize("kind", FORMATS)
def test_many_files_are_read_as_by_other_libraries(kind, tmp_path):
    installed(kind)
    print(f"SEED={SEED} FILES={N_FILES}")
    for number in range(N_FILES // 10 if kind == "DuckDB" else N_FILES):
        case = 10_000 * (SEED + 1) + number
        assert problem(kind, case, tmp_path) is None, (kind, case)


def test_a_difference_would_be_seen(tmp_path, monkeypatch):
    usual = converted
    swapped = {"user": "item", "item": "user"}
    monkeypatch.setitem(globals(), "converted", lambda read: usual(read.rename(columns=swapped)))
    assert any(problem("Parquet", number, tmp_path) for number in range(9))
