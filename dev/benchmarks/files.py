"""Measure what reading a file of ratings costs, beside pandas and Polars reading the same file.

    python dev/benchmarks/files.py [--rows 25000000] [--formats csv,orc] [--threads 1]

The ratings are drawn at the size of MovieLens 25M: user, item, rating in half stars, and time. Each
side reads the four columns in a process of its own, in turn, with as many threads; seconds are the
medians of wall and CPU time, memory is the peak of the process. The harness also checks every row,
finds repeated pairs and numbers the ids; pandas and Polars make a table. Polars and DuckDB are
optional (`pip install polars duckdb`), and their sides are left out without them. Files are written
to a folder that is removed. A side that asks for more than ``--memory`` GB is shown as such,
without figures. ``--commit`` adds the harness of another commit where it reads the format. A ratio
is that of CPU seconds, or of the peaks, with pandas or Polars as 1.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from compare_commits import check_out
from pyarrow import csv, feather, orc, parquet
from shared import HERE, calling, command_line, keep
from timing import environment

N_USERS, N_ITEMS = 162_541, 59_047
"""Users and items of MovieLens 25M."""
COLUMNS = ["user", "item", "rating", "timestamp"]
PART = 1_000_000
ENDINGS = {
    "csv": "csv", "csv.gz": "csv.gz", "json": "jsonl", "parquet": "parquet", "feather": "feather",
    "orc": "orc", "sqlite": "sqlite", "duckdb": "duckdb", "netflix": "txt", "matrix": "csv",
}  # fmt: skip
KEYS = {"matrix": {"format": "matrix"}}
"""What a config says beside the path."""


def ratings(n_rows: int) -> pd.DataFrame:
    """Return ratings of distinct pairs, ordered by user."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 2 * (N_USERS * N_ITEMS // n_rows), n_rows)
    users, items = np.divmod(np.cumsum(steps), N_ITEMS)
    halves = rng.choice(10, n_rows, p=[0.02, 0.03, 0.02, 0.07, 0.05, 0.2, 0.13, 0.26, 0.09, 0.13])
    times = rng.integers(789_652_009, 1_574_327_703, n_rows)
    return pd.DataFrame(dict(zip(COLUMNS, (users, items, (halves + 1) / 2, times), strict=True)))


def write(kind: str, frame: pd.DataFrame, path: Path) -> None:
    """Write ratings in one format."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind == "csv":
        csv.write_csv(table, path)
    elif kind == "csv.gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            csv.write_csv(table, file)
    elif kind == "json":
        with path.open("w", encoding="utf-8") as text:
            for start in range(0, len(frame), PART):
                frame[start : start + PART].to_json(text, orient="records", lines=True)
    elif kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "feather":
        feather.write_feather(table, path)
    elif kind == "orc":
        orc.write_table(table, path)
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("ratings", database, index=False, chunksize=PART)
    elif kind == "duckdb":
        import duckdb

        with closing(duckdb.connect(str(path))) as database:
            database.register("drawn", table)
            database.execute("create table ratings as select * from drawn")
    elif kind == "netflix":
        dates = pd.to_datetime(frame["timestamp"], unit="s").dt.strftime("%Y-%m-%d")
        rows = frame["user"].astype(str) + "," + frame["rating"].astype(str) + "," + dates
        with path.open("w", encoding="utf-8") as text:
            for item, lines in rows.groupby(frame["item"].to_numpy()):
                text.write(f"{item}:\n" + "\n".join(lines) + "\n")
    elif kind == "matrix":  # of as many ratings, a thousand a user, without gaps
        values = frame["rating"].to_numpy()[: len(frame) // 1000 * 1000].reshape(-1, 1000)
        wide = pd.DataFrame(values, columns=[f"i{item}" for item in range(1000)])
        wide.insert(0, "user", [f"u{user}" for user in range(len(values))])
        csv.write_csv(pa.Table.from_pandas(wide, preserve_index=False), path)


def read(side: str, kind: str, path: str, most: float | None = None) -> dict[str, Any]:
    """Read a file by one side, in this process of at most so many GB: rows, seconds, peak."""
    if most is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(most * 1e9),) * 2)
    task = {"harness": of_harness, "pandas": of_pandas, "Polars": of_polars}[side](kind, path)
    wall, processor = time.perf_counter(), time.process_time()
    n_rows = task()
    return {
        "rows": n_rows,
        "wall": time.perf_counter() - wall,
        "CPU": time.process_time() - processor,
        "peak": peak(),
    }


def peak() -> float:
    """Return the most GB that this process held.

    On Linux `getrusage` starts with what the process held that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text("utf-8").splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024 / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def of_harness(kind: str, path: str) -> Callable[[], int]:
    """Return what reads a file as ratings; imports are not measured."""
    import harness

    tiny = Path(path).with_name("tiny.csv")
    tiny.write_text("user,item,rating,timestamp\n1,1,1,1000000000\n1,2,2,1000000001\n", "utf-8")
    harness.load({"path": str(tiny)})
    return lambda: len(harness.load({"path": path, **KEYS.get(kind, {})}))


def of_pandas(kind: str, path: str) -> Callable[[], int]:
    """Return what reads the same columns with pandas."""

    def netflix() -> pd.DataFrame:
        rows = pd.read_csv(path, header=None, names=["user", "rating", "date"], dtype={"user": str})
        heads = rows["user"].str.endswith(":")
        rows["item"] = rows["user"].where(heads).ffill().str.removesuffix(":")
        rows = rows[~heads]
        return rows.assign(date=pd.to_datetime(rows["date"], format="%Y-%m-%d"))

    def sqlite() -> pd.DataFrame:
        with closing(sqlite3.connect(path)) as database:
            return pd.read_sql_query("select * from ratings", database)

    def duckdb() -> pd.DataFrame:
        import duckdb

        with closing(duckdb.connect(path, read_only=True)) as database:
            return database.execute("select * from ratings").df()

    readers: dict[str, Callable[[], Any]] = {
        "csv": lambda: pd.read_csv(path),
        "csv.gz": lambda: pd.read_csv(path),
        "json": lambda: pd.read_json(path, lines=True),
        "parquet": lambda: pd.read_parquet(path),
        "feather": lambda: pd.read_feather(path),
        "orc": lambda: pd.read_orc(path),
        "sqlite": sqlite,
        "duckdb": duckdb,
        "netflix": netflix,
        "matrix": lambda: pd.read_csv(path).melt("user").dropna(),
    }
    return lambda: len(readers[kind]())


def of_polars(kind: str, path: str) -> Callable[[], int]:
    """Return what reads the same columns with Polars, which has no reader of ORC and Netflix."""
    import polars as pl

    def sqlite() -> Any:
        with closing(sqlite3.connect(path)) as database:
            return pl.read_database("select * from ratings", database)

    def duckdb() -> Any:
        import duckdb

        with closing(duckdb.connect(path, read_only=True)) as database:
            return pl.DataFrame(database.sql("select * from ratings"))

    readers: dict[str, Callable[[], Any]] = {
        "csv": lambda: pl.read_csv(path),
        "csv.gz": lambda: pl.read_csv(path),
        "json": lambda: pl.read_ndjson(path),
        "parquet": lambda: pl.read_parquet(path),
        "feather": lambda: pl.read_ipc(path),
        "sqlite": sqlite,
        "duckdb": duckdb,
        "matrix": lambda: pl.read_csv(path).unpivot(index="user").drop_nulls(),
    }
    return lambda: len(readers[kind]())


def sides_of(kind: str) -> list[str]:
    """Return who reads a format on this machine."""
    has_polars = importlib.util.find_spec("polars") is not None
    return ["harness", "pandas"] + ["Polars"] * (has_polars and kind not in ("orc", "netflix"))


def measure(
    kind: str, path: Path, n_threads: int, repeats: int, most: float, other: Path | None
) -> list[dict[str, Any]]:
    """Return the medians of each side, which take turns; no figures of one that needs too much."""
    sides = {side: environment(n_threads) for side in sides_of(kind)}
    if other is not None and kind in ("csv", "parquet"):  # what every commit reads
        sides["other commit"] = environment(n_threads) | {"PYTHONPATH": str(other)}
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    failures: dict[str, str] = {}
    for _ in range(repeats):
        for side, variables in sides.items():
            reader = "harness" if side == "other commit" else side
            command = calling("files", "read", reader, kind, path, most)
            if side not in failures:
                try:
                    runs[side].append(answer_in(command, variables))
                except subprocess.CalledProcessError as error:
                    failures[side] = reason_of_end(error, most)
    return [
        {"format": kind, "side": side, "threads": n_threads}
        | (
            {"failure": failures[side]}
            if side in failures
            else {"rows": answers[0]["rows"]}
            | {key: median(answer[key] for answer in answers) for key in ("wall", "CPU", "peak")}
        )
        for side, answers in runs.items()
    ]


def answer_in(command: list[str], variables: dict[str, str]) -> dict[str, Any]:
    """Run a command with these variables; return the JSON that it prints last."""
    process = subprocess.run(command, check=True, capture_output=True, cwd=HERE, env=variables)
    return dict(json.loads(process.stdout.splitlines()[-1]))


def reason_of_end(error: subprocess.CalledProcessError, most: float) -> str:
    """Return why a process has no figures; raise what is no lack of memory."""
    text = error.stderr.decode(errors="replace")
    words = ("MemoryError", "bad_alloc", "ut of memory", "memory block", "allocation failed")
    if any(word in text for word in words):
        return f"over {most:g} GB"
    sys.stderr.write(text)
    raise error


def show(rows: list[dict[str, Any]]) -> None:
    """Print the figures of a format, with ratios of the harness over each other side."""
    ours = rows[0]
    for row in rows:
        if "failure" in row:
            print(f"{row['format']:8} {row['side']:13} {row['failure']}", flush=True)
            continue
        line = f"{row['format']:8} {row['side']:13} {row['rows']:11,} rows  wall {row['wall']:7.2f}"
        line += f"  CPU {row['CPU']:7.2f}  peak {row['peak']:5.2f} GB"
        if row is not ours and "failure" not in ours:
            line += f"  harness: {ours['CPU'] / row['CPU']:.2f} × CPU"
            line += f", {ours['peak'] / row['peak']:.2f} × peak"
        print(line, flush=True)


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--rows", type=int, default=25_000_000)
    parser.add_argument("--formats", default=",".join(ENDINGS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    half = psutil.virtual_memory().total // 2_000_000_000
    parser.add_argument("--memory", type=float, default=half, help="GB of a side; half of all")
    parser.add_argument("--commit", help="a commit whose harness reads CSV and Parquet too")
    given = parser.parse_args()
    frame, figures = ratings(given.rows), []
    with tempfile.TemporaryDirectory() as scratch:
        other = check_out(given.commit, Path(scratch, "other")) if given.commit else None
        for kind in given.formats.split(","):
            if kind == "duckdb" and importlib.util.find_spec("duckdb") is None:
                print("duckdb: not installed, left out")
                continue
            path = Path(scratch, f"ratings.{ENDINGS[kind]}")
            write(kind, frame, path)
            rows = measure(kind, path, given.threads, given.repeats, given.memory, other)
            size = {"file GB": path.stat().st_size / 1e9}
            figures += [row | size for row in rows]
            show(rows)
            path.unlink()
            keep(given.output, {"commit": given.commit, "rows": figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
