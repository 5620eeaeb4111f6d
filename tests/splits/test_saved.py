"""A split can be saved and read back, for its own data only."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import Holdout, KFold, SavedSplit, make, read, save


def ratings_of(n=30, name="made"):
    rows = np.arange(n)
    return Ratings.from_columns(rows % 4, rows, rows % 5 + 1.0, rows, scale=(1, 5), name=name)


@pytest.mark.parametrize("section", [Holdout(random_state=3), KFold(n_splits=3)])
def test_what_is_read_back_is_what_was_saved(section, tmp_path):
    splits = make(section, ratings_of(), seed=0)
    path = tmp_path / "split.parquet"
    save(splits, path)
    again = make(SavedSplit(path="split.parquet"), ratings_of(), seed=99, base=tmp_path)
    assert len(again) == len(splits)
    for one, other in zip(splits, again, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert (one.name, one.fold, one.n_folds) == (other.name, other.fold, other.n_folds)
        assert (one.fingerprint, one.notes) == (other.fingerprint, other.notes)
    assert [each.name for each in tmp_path.iterdir()] == ["split.parquet"]


def test_a_saved_split_is_a_table_that_anybody_can_read(tmp_path):
    (split,) = make(Holdout(), ratings_of(), seed=0)
    save(split, tmp_path / "split.parquet")
    table = pq.read_table(tmp_path / "split.parquet").to_pandas()
    assert list(table.columns) == ["fold", "part", "row"]
    assert table.loc[table["part"] == "test", "row"].tolist() == split.test.tolist()


def test_other_data_are_refused(tmp_path):
    save(make(Holdout(), ratings_of(), seed=0), tmp_path / "split.parquet")
    with pytest.raises(SplitError, match=r"drawn from other data than other .fingerprint"):
        read(tmp_path / "split.parquet", ratings_of(29, name="other"))


def altered(path, change):
    """Rewrite a saved split with its rows or its metadata changed."""
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"harness.split"])
    rows = table.column("row").to_numpy().copy()
    change(rows, about)
    table = table.set_column(2, "row", pa.array(rows))
    pq.write_table(
        table.replace_schema_metadata({b"harness.split": json.dumps(about).encode()}), path
    )


def swap(rows, about):
    rows[[0, -1]] = rows[[-1, 0]]


def repeat(rows, about):
    rows[0] = rows[1]


def outside(rows, about):
    rows[0] = 30


def newer(rows, about):
    about["version"] = 2


def renamed(rows, about):
    about["name"] = "holdout 19%"


def unsealed(rows, about):
    del about["seal"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swap, "its rows are not those that were saved; make it again"),
        (repeat, "its rows are not those that were saved; make it again"),
        (outside, "rows outside of the data; make it again"),
        (newer, "written in version 2, this one reads 1; make the split again"),
        (renamed, "split.parquet: changed since it was saved; make it again"),
        (unsealed, "not a saved split .*'seal'.*; make it again"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(change, message, tmp_path):
    path = tmp_path / "split.parquet"
    save(make(Holdout(), ratings_of(), seed=0), path)
    altered(path, change)
    with pytest.raises(SplitError, match=message):
        read(path, ratings_of())


def test_what_is_no_saved_split_is_refused(tmp_path):
    with pytest.raises(SplitError, match=r"nothing.parquet: no such file; save a split there"):
        read(tmp_path / "nothing.parquet", ratings_of())
    (tmp_path / "text").write_text("fold,row\n1,2\n")
    with pytest.raises(SplitError, match=r"text: not a saved split .*; make it again"):
        read(tmp_path / "text", ratings_of())
    ratings_of().to_frame().to_parquet(tmp_path / "ratings.parquet")
    with pytest.raises(SplitError, match=r"ratings.parquet: not a saved split .*; make it again"):
        read(tmp_path / "ratings.parquet", ratings_of())


def test_nothing_is_left_behind_where_a_split_cannot_be_saved(tmp_path):
    (split,) = make(Holdout(), ratings_of(), seed=0)
    with pytest.raises(SplitError, match=r"split.parquet: cannot be written .*; choose another"):
        save(split, tmp_path / "missing" / "split.parquet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SplitError, match=r"folder: cannot be written .*; choose another place"):
        save(split, tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(SplitError, match="no split to save; make one first"):
        save([], tmp_path / "empty")
    other = make(Holdout(), ratings_of(29), seed=0)
    with pytest.raises(SplitError, match="splits of different data; save them in files of"):
        save([split, *other], tmp_path / "mixed")
