"""Splits from files: folds that were drawn elsewhere, and splits that were saved."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from surprise import Dataset, Reader
from surprise.model_selection import PredefinedKFold

from harness.datasets import Ratings
from harness.errors import DataError, SplitError
from harness.splits import make, read, save, validation
from harness.splits.kinds import Holdout, KFold
from harness.splits.saved import Predefined, SavedSplit

ROWS = [(u, i, (u * i) % 5 + 1, 100 * u + i) for u in range(1, 5) for i in range(1, 7)]


@pytest.fixture
def ratings():
    users, items, values, times = zip(*ROWS, strict=True)
    return Ratings.from_columns(
        [str(user) for user in users],
        [str(item) for item in items],
        values,
        times,
        scale=(1, 5),
        name="made",
    )


def write(path, rows, separator="\t"):
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path):
    """Two folds like the u1 to u5 files of ml-100k, in an order of their own."""
    order = np.random.default_rng(0).permutation(len(ROWS))
    shuffled = [ROWS[place] for place in order]
    for fold, test in ((1, slice(0, 12)), (2, slice(12, 24))):
        rest = [row for row in shuffled if row not in shuffled[test]]
        write(tmp_path / f"u{fold}.base", rest)
        write(tmp_path / f"u{fold}.test", shuffled[test])
    return tmp_path


def raw(ratings, rows):
    part = ratings.take(rows)
    return list(
        zip(part.user_ids[part.users], part.item_ids[part.items], part.ratings, strict=True)
    )


def test_pairs_of_files_give_the_parts_and_the_order_of_surprise(ratings, folder):
    section = Predefined(train="u{fold}.base", test="u{fold}.test", folds=[1, 2])
    splits = make(section, ratings, seed=0, base=folder)
    files = [(str(folder / f"u{n}.base"), str(folder / f"u{n}.test")) for n in (1, 2)]
    theirs = Dataset.load_from_folds(files, Reader("ml-100k"))
    for split, (trainset, testset) in zip(splits, PredefinedKFold().split(theirs), strict=True):
        assert raw(ratings, split.test) == testset
        expected = {
            (trainset.to_raw_uid(u), trainset.to_raw_iid(i), r)
            for u, i, r in trainset.all_ratings()
        }
        assert set(raw(ratings, split.train)) == expected
        first = dict.fromkeys(user for user, _, _ in raw(ratings, split.train))
        assert [trainset.to_inner_uid(user) for user in first] == list(range(len(first)))
    assert [split.name for split in splits] == ["predefined 2-fold"] * 2


def test_without_training_files_the_rest_is_training(ratings, folder):
    (split,) = make(Predefined(test=str(folder / "u1.test")), ratings, seed=0)
    assert split.train.tolist() == [row for row in range(24) if row not in set(split.test)]


def test_ids_match_as_text_also_where_the_data_has_numbers(folder):
    users, items, values, _ = zip(*ROWS, strict=True)
    numbers = Ratings.from_columns(users, items, values, scale=(1, 5))
    (split,) = make(Predefined(test="u1.test"), numbers, seed=0, base=folder)
    assert len(split.test) == 12


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("9", "1", 3, 5), r"x.test: 1 of 2 ratings are not in made .* user '9', item '1'\); give"),
        (("1", "9", 3, 5), r"x.test: 1 of 2 ratings are not in made .* user '1', item '9'\); give"),
        (("1", "1", 5, 5), r"x.test: user '1', item '1' is rated 5, in made 2; give the folds of"),
    ],
)
def test_rows_that_the_data_do_not_have_are_refused(row, message, ratings, tmp_path):
    write(tmp_path / "x.test", [ROWS[3], row])
    with pytest.raises(SplitError, match=message):
        make(Predefined(test="x.test"), ratings, seed=0, base=tmp_path)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            Predefined(train="u1.test", test="u1.test"),
            r"u1.test: 12 of its ratings are also in u1.test; a rating is for training or for test",
        ),
        (Predefined(test="u{fold}.test", folds=[1, 3]), r"u3.test: no such file"),
        (Predefined(file="y.csv"), r"y.csv: cannot be read \(No such file"),
    ],
)
def test_files_that_overlap_or_are_missing_are_named(section, message, ratings, folder):
    with pytest.raises((DataError, SplitError), match=message):
        make(section, ratings, seed=0, base=folder)


def test_folds_may_have_numbers_beyond_all_bounds(ratings, tmp_path):
    path = tmp_path / "folds.csv"
    numbers = ["9" * 5_000, "10", "2"]
    lines = [f"{u},{i},{r},{numbers[u % 3]}\n" for u, i, r, _ in ROWS]
    path.write_text("user,item,rating,fold\n" + "".join(lines))
    first, second, third = make(Predefined(file=str(path)), ratings, seed=0)
    assert [ROWS[row][0] % 3 for row in (first.test[0], second.test[0], third.test[0])] == [2, 1, 0]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "dat", "parquet"])
def test_a_column_of_folds_gives_each_its_turn_as_people_count(suffix, ratings, tmp_path):
    labels = [10 if row % 3 == 0 else row % 3 for row in range(24)]
    frame = ratings.to_frame().assign(fold=labels).iloc[::-1]
    path = tmp_path / f"folds.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        separator = {"csv": ",", "tsv": "\t", "dat": "::"}[suffix]
        lines = [frame.columns, *frame.astype(str).to_numpy()]
        path.write_text("".join(separator.join(line) + "\n" for line in lines))
    splits = make(Predefined(file=str(path)), ratings, seed=0)
    assert [split.test.tolist() for split in splits] == [
        [row for row in reversed(range(24)) if labels[row] == label] for label in (1, 2, 10)
    ]
    for split in splits:
        assert split.train.tolist() == [row for row in reversed(range(24)) if row not in split.test]


def test_a_column_of_words_gives_one_split(ratings, tmp_path):
    words = ["test" if row < 5 else "train" for row in range(20)]
    ratings.to_frame().head(20).assign(part=words).to_csv(tmp_path / "parts.csv", index=False)
    (split,) = make(Predefined(file="parts.csv", column="part"), ratings, seed=0, base=tmp_path)
    assert split.test.tolist() == [0, 1, 2, 3, 4]
    assert "4 ratings (16.7%) in neither part" in split.notes
    assert split.name == "predefined by column part"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "user,item,folds\n1,1,2\n",
            r"x.csv:1: no column 'fold' for the fold; did you mean 'folds'\?",
        ),
        ("user,item,fold\n1,1,2\n1,2,\n", "x.csv:3: no fold; fix the data"),
        ("user,item,fold\n,1,2\n", "x.csv:2: no user; fix the data"),
        ("user,item,fold\n1,1,1\n1,7,2\n", "x.csv: 1 of 2 ratings are not in made"),
        ("user,item,fold\n1,1,1\n1,2,2\n1,1,2\n", "x.csv:4: user '1' has item '1' again"),
        ("user,item,fold\n1,1,train\n1,2,train\n", "no test rating is left of 24"),
        ("user,item,fold\n1,1,test\n", "no training rating is left of 24"),
        ("", "x.csv: no rows of data"),
        ("user,item,fold\n1,2,3\n1,2,3,4,5\n", r"x.csv:3: 5 fields where the first"),
    ],
)
def test_a_column_that_cannot_be_used_is_refused(text, message, ratings, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises((DataError, SplitError), match=message):
        make(Predefined(file="x.csv"), ratings, seed=0, base=tmp_path)


def many(n=30, name="made"):
    rows = np.arange(n)
    return Ratings.from_columns(rows % 4, rows, rows % 5 + 1.0, rows, scale=(1, 5), name=name)


@pytest.mark.parametrize("section", [Holdout(random_state=3), KFold(n_splits=3)])
def test_what_is_read_back_is_what_was_saved(section, tmp_path):
    splits = make(section, many(), seed=0)
    path = tmp_path / "split.parquet"
    save(splits, path)
    again = make(SavedSplit(path="split.parquet"), many(), seed=99, base=tmp_path)
    assert len(again) == len(splits)
    for one, other in zip(splits, again, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert (one.name, one.fold, one.n_folds) == (other.name, other.fold, other.n_folds)
        assert (one.fingerprint, one.notes) == (other.fingerprint, other.notes)
    assert [each.name for each in tmp_path.iterdir()] == ["split.parquet"]


def test_a_saved_split_is_a_table_that_anybody_can_read(tmp_path):
    (split,) = make(Holdout(), many(), seed=0)
    save(split, tmp_path / "split.parquet")
    table = pq.read_table(tmp_path / "split.parquet").to_pandas()
    assert list(table.columns) == ["fold", "part", "row"]
    assert table.loc[table["part"] == "test", "row"].tolist() == split.test.tolist()


def test_other_data_are_refused(tmp_path):
    save(make(Holdout(), many(), seed=0), tmp_path / "split.parquet")
    with pytest.raises(SplitError, match=r"drawn from other data than other .fingerprint"):
        read(tmp_path / "split.parquet", many(29, name="other"))


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
    save(make(Holdout(), many(), seed=0), path)
    altered(path, change)
    with pytest.raises(SplitError, match=message):
        read(path, many())


def test_what_is_no_saved_split_is_refused(tmp_path):
    with pytest.raises(SplitError, match=r"nothing.parquet: no such file; save a split there"):
        read(tmp_path / "nothing.parquet", many())
    (tmp_path / "text").write_text("fold,row\n1,2\n")
    with pytest.raises(SplitError, match=r"text: not a saved split .*; make it again"):
        read(tmp_path / "text", many())
    many().to_frame().to_parquet(tmp_path / "ratings.parquet")
    with pytest.raises(SplitError, match=r"ratings.parquet: not a saved split .*; make it again"):
        read(tmp_path / "ratings.parquet", many())


def test_nothing_is_left_behind_where_a_split_cannot_be_saved(tmp_path):
    (split,) = make(Holdout(), many(), seed=0)
    with pytest.raises(SplitError, match=r"split.parquet: cannot be written .*; choose another"):
        save(split, tmp_path / "missing" / "split.parquet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SplitError, match=r"folder: cannot be written .*; choose another place"):
        save(split, tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(SplitError, match="no split to save; make one first"):
        save([], tmp_path / "empty")
    other = make(Holdout(), many(29), seed=0)
    with pytest.raises(SplitError, match="splits of different data; save them in files of"):
        save([split, *other], tmp_path / "mixed")


def test_a_saved_validation_part_is_read_back_and_checked_against_the_training_part(tmp_path):
    first, second = make(KFold(n_splits=2), many(), seed=0)
    save(validation(first, Holdout(), seed=0), tmp_path / "inner.parquet")
    section = SavedSplit(path="inner.parquet")
    part = validation(first, section, seed=0, base=tmp_path)
    np.testing.assert_array_equal(part.test, validation(first, Holdout(), seed=0).test)
    with pytest.raises(SplitError, match="15 of its ratings are not in the training part; save"):
        validation(second, section, seed=0, base=tmp_path)


def test_a_column_of_three_words_gives_the_test_and_then_the_validation_part(tmp_path):
    words = ["train"] * 22 + ["validation"] * 5 + ["test"] * 3
    frame = many().to_frame().assign(part=words)
    frame.to_csv(tmp_path / "parts.csv", index=False)
    section = Predefined(file="parts.csv", column="part")
    (outer,) = make(section, many(), seed=0, base=tmp_path)
    assert outer.test.tolist() == [27, 28, 29]
    assert outer.train.tolist() == list(range(27))
    inner = validation(outer, section, seed=0, base=tmp_path)
    assert inner.test.tolist() == [22, 23, 24, 25, 26]
    assert inner.train.tolist() == list(range(22))
