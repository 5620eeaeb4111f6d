"""Damaged files of every kind that is read, and a child process that reads them.

    python tests/datasets/damages.py FIRST LAST [KIND ...]

makes the damages of these numbers of each kind, reads each file in every way in, and prints a line
a file: its name, how it ended, processor time in seconds, the megabytes that the process has held
at most, and the message of a refusal. A process of its own shows a signal, and its memory is that
of reading alone.
"""

import gzip
import importlib
import io
import json
import random
import resource
import sqlite3
import sys
import tarfile
import tempfile
import time
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet

import harness
from harness.datasets.inspection import detect
from harness.datasets.readers import reader_named
from harness.errors import HarnessError

N_USERS, N_ITEMS = 40, 12
FRAME = pd.DataFrame(
    [
        (f"u{user}", f"item {item}", (user * item) % 5 + 1, 880_000_000 + 7_000 * user)
        for user in range(N_USERS)
        for item in range(1, N_ITEMS + 1)
    ],
    columns=["user", "item", "rating", "timestamp"],
)
CODED = FRAME.astype({"user": "category", "item": "category"})
MOST_ADDRESSES = 8 << 30
"""Bytes that the child may ask for, so that a fault does not stop the machine."""


def peak_megabytes():
    """Return what this program has held at most; `ru_maxrss` counts the process that began it."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = [each for each in status.read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def text(separator, *, header=True):
    lines = FRAME.astype(str).agg(separator.join, axis=1).tolist()
    return "\n".join([separator.join(FRAME.columns)] * header + lines).encode() + b"\n"


def feather(frame, compression):
    buffer = io.BytesIO()
    pa.feather.write_feather(frame, buffer, compression, chunksize=100)
    return buffer.getvalue()


def parquet(compression, **options):
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(FRAME)
    pa.parquet.write_table(table, buffer, compression=compression, row_group_size=99, **options)
    return buffer.getvalue()


def orc(compression):
    buffer = io.BytesIO()
    pa.orc.write_table(pa.Table.from_pandas(FRAME), buffer, compression=compression)
    return buffer.getvalue()


def packed(ending, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{ending}"
        kinds = {".zst": "zstd", ".bz2": "bz2"}
        with pa.CompressedOutputStream(str(path), kinds[ending]) as file:
            file.write(data)
        return path.read_bytes()


def lzma(data):
    import lzma

    return lzma.compress(data)


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings.csv", data)
    return buffer.getvalue()


def sqlite(folder):
    path = folder / "made.sqlite"
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    FRAME.to_sql("ratings", base, index=False)
    base.execute("CREATE INDEX by_user ON ratings (user)")
    base.execute("CREATE VIEW good AS SELECT * FROM ratings WHERE rating > 3")
    base.commit()
    base.close()
    return path.read_bytes()


def matrix(_):
    wide = FRAME.pivot(index="user", columns="item", values="rating")  # noqa: PD010 - unique pairs
    return wide.to_csv().encode()


def duckdb(folder):
    import duckdb

    path = folder / "made.duckdb"
    path.unlink(missing_ok=True)
    base = duckdb.connect(str(path))
    base.register("frame", FRAME)
    base.execute("CREATE TABLE ratings AS SELECT * FROM frame")
    base.close()
    return path.read_bytes()


def netflix():
    groups = FRAME.groupby("item")
    dated = "2005-09-0{}"
    return "".join(
        f"{number}:\n"
        + "".join(
            f"{row.user},{row.rating},{dated.format(row.rating)}\n" for row in rows.itertuples()
        )
        for number, (_, rows) in enumerate(groups, 1)
    ).encode()


def npz():
    buffer = io.BytesIO()
    np.savez(buffer, ratings=FRAME["rating"].to_numpy())
    return buffer.getvalue()


def stream(_):
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(CODED, preserve_index=False)
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return buffer.getvalue()


def tarred(data):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("ratings.csv", "README.txt"):
            info = tarfile.TarInfo(f"data/{name}")
            content = data if name.endswith(".csv") else b"Ratings of items by users.\n"
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def several(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d/ratings.csv", data)
        archive.writestr("d/movies.csv", "movieId,title\n1,Alien\n")
    return buffer.getvalue()


def stata(folder):
    path = folder / "made.dta"
    FRAME.to_stata(path, write_index=False, version=118)
    return path.read_bytes()


def spss(folder):
    import pyreadstat

    path = folder / "made.sav"
    pyreadstat.write_sav(FRAME, str(path))
    return path.read_bytes()


def example(name, library=None):
    """Return what makes the small file of a reader, where what reads it is installed."""

    def make(folder):
        if library:
            importlib.import_module(library)
        path = folder / "example"
        reader_named(name).write_example(path)
        return path.read_bytes()

    return make


def dump(_):
    rows = ",".join(f"('{row.user}','{row.item}',{row.rating})" for row in FRAME.itertuples())
    copied = "".join(f"{row.user}\t{row.item}\t{row.rating}\n" for row in FRAME.itertuples())
    return (
        "-- MySQL dump\nCREATE TABLE `movies` (`id` int, `title` text);\n"
        "CREATE TABLE `ratings` (`user` text, `item` text, `rating` int);\n"
        f"INSERT INTO `ratings` VALUES {rows};\n"
        f"COPY public.more (user, item, score) FROM stdin;\n{copied}\\.\n"
    ).encode()


def key_values(_):
    keys = ("product/productId", "review/userId", "review/score")
    rows = zip(FRAME["item"], FRAME["user"], FRAME["rating"], strict=True)
    return "\n".join(
        "".join(f"{key}: {value}\n" for key, value in zip(keys, row, strict=True)) for row in rows
    ).encode()


BY_USER = {
    user: dict(zip(rows["item"], rows["rating"].tolist(), strict=True))
    for user, rows in FRAME.groupby("user")
}
RECORDS = FRAME.to_dict("records")
KINDS = {
    # By name: the ending of the file, its content, and other keys of `dataset`.
    "csv": (".csv", lambda _: text(","), {}),
    "tsv": (".tsv", lambda _: text("\t"), {}),
    "dat": (".dat", lambda _: text("::", header=False), {}),
    "json": (".json", lambda _: json.dumps(RECORDS).encode(), {}),
    "json-lines": (".jsonl", lambda _: "\n".join(map(json.dumps, RECORDS)).encode(), {}),
    "parquet": (".parquet", lambda _: parquet("snappy"), {}),
    "parquet-plain": (".parquet", lambda _: parquet("none", use_dictionary=False), {}),
    "parquet-zstd": (".parquet", lambda _: parquet("zstd"), {}),
    "feather": (".feather", lambda _: feather(FRAME, "uncompressed"), {}),
    "feather-lz4": (".feather", lambda _: feather(FRAME, "lz4"), {}),
    "feather-zstd": (".feather", lambda _: feather(FRAME, "zstd"), {}),
    "feather-coded": (".arrow", lambda _: feather(CODED, "uncompressed"), {}),
    "orc": (".orc", lambda _: orc("uncompressed"), {}),
    "orc-zlib": (".orc", lambda _: orc("zlib"), {}),
    "sqlite": (".sqlite", sqlite, {"table": "ratings"}),
    "sqlite-view": (".sqlite", sqlite, {"table": "good"}),
    "duckdb": (".duckdb", duckdb, {}),
    "netflix": (".txt", lambda _: netflix(), {"format": "netflix"}),
    "matrix": (".csv", matrix, {"format": "matrix"}),
    "gzip": (".csv.gz", lambda _: gzip.compress(text(","), mtime=0), {}),
    "bzip2": (".csv.bz2", lambda _: packed(".bz2", text(",")), {}),
    "xz": (".csv.xz", lambda _: lzma(text(",")), {}),
    "zstandard": (".csv.zst", lambda _: packed(".zst", text(",")), {}),
    "zip": (".zip", lambda _: zipped(text(",")), {}),
    "npz": (".npz", lambda _: npz(), {}),
    "json-columns": (".json", lambda _: FRAME.to_json().encode(), {}),
    "json-split": (".json", lambda _: FRAME.to_json(orient="split").encode(), {}),
    "json-by-user": (".json", lambda _: json.dumps(BY_USER, indent=1).encode(), {}),
    "stream": (".arrows", stream, {}),
    "tar": (".tar.gz", lambda _: tarred(text(",")), {}),
    "zip-several": (".zip", lambda _: several(text(",")), {}),
    "key-value": (".txt", key_values, {"format": "key-value"}),
    "qrels": (".qrels", example("qrels"), {"format": "qrels"}),
    "matrix-market": (".mtx", example("matrix-market"), {"format": "matrix-market"}),
    "arff": (".arff", example("arff"), {}),
    "sql": (".sql", dump, {"table": "ratings"}),
    "stata": (".dta", stata, {"format": "stata"}),
    "spss": (".sav", spss, {"format": "spss"}),
    "excel": (".xlsx", example("excel", "python_calamine"), {"format": "excel"}),
}  # fmt: skip
NUMBERS = (0, 1, 0x7F, 0xFF, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)


def damaged(data, seed):
    """Return a file with one to three damages."""
    rng = random.Random(seed)
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        size = len(data)
        if size < 2:
            break
        # Both ends of a file hold what the others are read by.
        at = min(
            size - 1,
            rng.choice(
                (rng.randrange(size), rng.randrange(64), size - 1 - rng.randrange(min(size, 400)))
            ),
        )
        length = rng.randrange(1, 64)
        kind = rng.choice(
            ("flip", "flip", "number", "number", "cut", "swap", "zero", "again", "drop", "noise")
        )
        if kind == "flip":
            for place in rng.sample(range(size), min(size, rng.choice((1, 1, 4, 16)))):
                data[place] ^= 1 << rng.randrange(8)
        elif kind == "number":
            width = rng.choice((1, 2, 4, 8))
            order = rng.choice(("little", "big"))
            number = rng.choice(NUMBERS) % (1 << 8 * width)
            data[at : at + width] = number.to_bytes(width, order)
        elif kind == "cut":
            del data[at:]
        elif kind == "swap":
            other = rng.randrange(size)
            one, two = bytes(data[at : at + length]), bytes(data[other : other + length])
            data[at : at + length], data[other : other + length] = two, one
        elif kind == "zero":
            data[at : at + length] = bytes(min(length, size - at))
        elif kind == "again":
            data[at:at] = data[at : at + length]
        elif kind == "drop":
            del data[at : at + length]
        else:
            data[at : at + length] = rng.randbytes(length)
    return bytes(data)  # fmt: skip


def read(path, keys):
    """Read a file in every way in and return how the first ended, and its message.

    What is not an error of ours is raised.
    """
    policies = {
        "duplicates": "first",
        "missing": "drop",
        "unreadable": "drop",
        "out_of_scale": "drop",
    }
    ended = []
    for way in (
        lambda: harness.load({"path": str(path), **keys}),
        lambda: harness.load({"path": str(path), **keys, **policies}),
        lambda: detect(path),
        lambda: harness.describe(str(path)),
        lambda: harness.load(FRAME, items=str(path)),
    ):
        try:
            way()
            ended.append(("read", ""))
        except HarnessError as error:
            message = str(error)
            assert 10 < len(message) < 20_000, message[:500]
            ended.append(("refused", ascii(message)[:400]))
    return ended[0]  # fmt: skip


def main(first, last, kinds):
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES))
    warnings.simplefilter("error")
    harness.load(FRAME)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in kinds:
            ending, make, keys = KINDS[kind]
            try:
                whole = make(folder)
            except ImportError:
                continue
            for number in range(first, last):
                seed = f"{kind} {number}"
                path = folder / f"r{ending}"
                path.write_bytes(damaged(whole, seed) if number else whole)
                print(seed, end=" ", flush=True)
                began = time.process_time()
                try:
                    ended, why = read(path, keys)
                except BaseException:
                    ended, why = "FAULT", ""
                    print(traceback.format_exc(), file=sys.stderr, flush=True)
                seconds = time.process_time() - began
                peak = peak_megabytes()
                print(ended, f"{seconds:.2f} {peak:.0f} {why}".rstrip(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or list(KINDS))
