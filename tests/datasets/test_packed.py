"""Packed files of every format are read as what they hold."""

import bz2
import gzip
import lzma
import shutil
import tempfile
import zipfile
from types import SimpleNamespace

import pandas as pd
import pyarrow as pa
import pytest

import harness
from harness.datasets.inspection import detect
from harness.errors import DataError

FRAME = pd.DataFrame({"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rating": [1.0, 4.0, 5.0]})


def zstandard(data):
    return pa.compress(data, "zstd", asbytes=True)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard}
FORMATS = {
    "csv": lambda path: FRAME.to_csv(path, index=False),
    "tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "parquet": FRAME.to_parquet,
    "feather": FRAME.to_feather,
    "jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
}


@pytest.fixture(autouse=True)
def _temporary(tmp_path, monkeypatch):
    """Let what is unpacked be in a folder that is empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def plain(tmp_path, ending):
    path = tmp_path / f"r.{ending}"
    FORMATS[ending](path)
    return path


def zipped(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return path


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("packer", [*PACKERS, "zip"])
def test_it_is_read_as_what_it_holds(tmp_path, ending, packer):
    path = plain(tmp_path, ending)
    packed = tmp_path / f"r.{ending}.{packer}"
    if packer == "zip":
        zipped(packed, **{f"deep__r_{ending}": path.read_bytes()})
    else:
        packed.write_bytes(PACKERS[packer](path.read_bytes()))
    expected = harness.load(path)
    assert harness.load(packed).fingerprint == expected.fingerprint
    found = detect(packed)
    assert (found.section["columns"], found.ratings.fingerprint) == (
        {"user": "user", "item": "item", "rating": "rating"}, expected.fingerprint,
    )  # fmt: skip


@pytest.mark.parametrize("packer", PACKERS)
def test_a_truncated_file_is_refused_in_one_line(tmp_path, packer):
    packed = tmp_path / f"r.csv.{packer}"
    packed.write_bytes(PACKERS[packer](plain(tmp_path, "csv").read_bytes())[:-12])
    with pytest.raises(DataError, match=rf"r\.csv\.{packer}: cannot be unpacked"):
        harness.load(packed)


def test_an_archive_without_ratings_is_refused_with_the_names_of_its_files(tmp_path):
    with pytest.raises(DataError, match=r"no file of ratings among 2 files \(a.csv, b.csv\); name"):
        harness.load(zipped(tmp_path / "r.csv.zip", a_csv="1", b_csv="2"))
    with pytest.raises(DataError, match="holds no file; give an archive with ratings"):
        harness.load(zipped(tmp_path / "n.csv.zip"))


def test_a_fault_has_the_line_of_what_is_inside(tmp_path):
    with pytest.raises(DataError, match=r"r\.csv\.zip!a\.csv:3: no user"):
        harness.load(zipped(tmp_path / "r.csv.zip", a_csv="user,item,rating\na,x,1\n,y,2\n"))


def test_it_stops_before_the_disk_is_full(tmp_path, monkeypatch):
    packed = tmp_path / "r.csv.gz"
    packed.write_bytes(gzip.compress(plain(tmp_path, "csv").read_bytes()))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1 << 20))
    with pytest.raises(DataError, match="the disk has no room for more"):
        harness.load(packed)


def test_what_is_known_of_items_may_be_packed_too(tmp_path):
    items = tmp_path / "items.csv.gz"
    items.write_bytes(gzip.compress(b"id,title\nx,Alien\ny,Brazil\n"))
    ratings = harness.load(FRAME, items=items)
    assert ratings.item_features["title"].tolist() == ["Alien", "Brazil"]
