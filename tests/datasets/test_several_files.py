"""Several files of one data set, files of kinds that are not read, and files from elsewhere."""

from __future__ import annotations

import hashlib
import pickle

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.errors import DataError

from .conftest import rows_of

FRAME = pd.DataFrame(
    {
        "user": ["a", "a", "b", "c", "b", "c"],
        "item": ["x", "y", "x", "y", "z", "z"],
        "rating": [1.0, 2.0, 3.0, 4.0, 5.0, 1.0],
        "timestamp": np.arange(6) + 10**9,
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME[:2].to_csv("r-1.csv", index=False)
    FRAME[2:5].to_csv("r-2.csv", index=False)
    FRAME[5:].to_parquet("r-3.parquet")
    (tmp_path / "parts").mkdir()
    for number, start in enumerate((0, 2, 4)):
        FRAME[start : start + 2].to_parquet(tmp_path / f"parts/part-{number}.parquet")
    (tmp_path / "parts/_SUCCESS").write_text("")
    (tmp_path / "parts/.part-0.parquet.crc").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "name", "n"),
    [
        ({"path": ["r-1.csv", "r-2.csv", "r-3.parquet"]}, "r-1 + r-2 + r-3", 6),
        ({"path": "r-*.csv"}, "r", 5),
        ("r-*.csv", "r", 5),
        ({"path": ["r-?.csv", "r-3.parquet"]}, "r + r-3", 6),
        ("parts", "parts", 6),
        ("parts/", "parts", 6),
        ({"path": "parts"}, "parts", 6),
    ],
)
def test_their_rows_follow_one_another(folder, source, name, n):
    ratings = datasets.load(source)
    expected = datasets.load(FRAME[:n])
    assert (ratings.name, ratings.fingerprint) == (name, expected.fingerprint)


def test_every_fault_has_its_file_and_line(folder):
    (folder / "r-2.csv").write_text("user,item,rating,timestamp\nb,x,much,1\na,x,2,1000000000\n")
    (folder / "r-4.csv").write_text("user,item,rating,timestamp\nd,x,,1000000000\n")
    with pytest.raises(DataError) as refused:
        datasets.load({"path": ["r-1.csv", "r-2.csv", "r-4.csv"]})
    assert str(refused.value).splitlines()[:3] == [
        "r-2.csv:2: the rating 'much' is not a number",
        "r-2.csv:3: user 'a' rates item 'x' again (first at r-1.csv:2)",
        "r-4.csv:2: no rating",
    ]


def test_columns_may_stand_in_another_order_in_each_but_times_in_all_or_none(folder):
    FRAME[2:5][["rating", "timestamp", "item", "user"]].to_csv("r-2.csv", index=False)
    assert datasets.load("r-*.csv").fingerprint == datasets.load(FRAME[:5]).fingerprint
    FRAME[2:5].drop(columns="timestamp").to_csv("r-2.csv", index=False)
    with pytest.raises(DataError, match=r"r-2\.csv: no timestamps, which r-1\.csv has"):
        datasets.load("r-*.csv")
    section = {"path": "r-*.csv", "columns": {"timestamp": None}}
    assert datasets.load(section).timestamps is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("s-*.csv", r"s-\*\.csv: no file of that pattern"),
        ({"path": ["r-1.csv", "r-9.csv"]}, r"r-9\.csv: no such file in .*did you mean"),
        ({"path": []}, "path: empty; name at least one"),
        ({"path": ["r-1.csv"], "name": "ml-100k"}, "a copy of ml-100k is one path"),
        ({"path": "r-1.csv", "sha256": "0" * 64}, "one file from a URL"),
        ("nobody", r"no data set is called 'nobody', and no file in .*use one of bundled"),
    ],
)
def test_what_is_not_there_is_named(folder, source, message):
    with pytest.raises(DataError, match=message):
        datasets.load(source)


def test_a_file_is_found_by_any_name(folder):
    (folder / "ratings").write_text(FRAME.to_csv(index=False))
    assert datasets.load("ratings").fingerprint == datasets.load(FRAME).fingerprint


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pkl", pickle.dumps([1]), "a pickle, which can run code"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "HDF5"),
        ("a.npy", b"\x93NUMPY\x01", "a NumPy array"),
        ("a.npz", b"PK\x03\x04rest", "NumPy arrays, .*scipy.sparse.load_npz"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", r"a 7-Zip archive, .*7z x a\.7z"),
    ],
)
def test_a_kind_that_is_not_read_says_what_to_do_and_what_is_read(load, name, data, message):
    with pytest.raises(DataError, match=rf"^{name}: {message}.*Read are text .*Parquet"):
        load(name, data)


class TestFromElsewhere:
    URL = "memory://ratings/r.csv"
    DATA = FRAME.to_csv(index=False).encode()

    @pytest.fixture
    def url(self):
        fsspec = pytest.importorskip("fsspec", reason="the extra `remote`")
        files = fsspec.filesystem("memory")
        files.pipe("/ratings/r.csv", self.DATA)
        yield self.URL
        files.rm("/ratings", recursive=True)

    def test_is_read_as_a_file_of_this_machine(self, url, tmp_path):
        expected = datasets.load(FRAME)
        assert datasets.load(url).fingerprint == expected.fingerprint
        FRAME[:3].to_csv(tmp_path / "more.csv", index=False)
        both = {"path": [url, "more.csv"], "duplicates": "first"}
        assert rows_of(datasets.load(both, base=tmp_path)) == rows_of(expected)

    def test_another_hash_is_refused(self, url):
        digest = hashlib.sha256(self.DATA).hexdigest()
        assert len(datasets.load({"path": url, "sha256": digest.upper()})) == 6
        with pytest.raises(DataError, match=rf"{url}: its SHA-256 is {digest}, not 0000"):
            datasets.load({"path": url, "sha256": "0" * 64})

    def test_what_is_not_there_is_refused_with_its_address(self, url):
        with pytest.raises(DataError, match=r"memory://no/a\.csv: cannot be fetched"):
            datasets.load("memory://no/a.csv")

    def test_without_fsspec_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
        with pytest.raises(DataError, match=r"pip install 'surprise-harness\[remote\]'"):
            datasets.load(self.URL)
