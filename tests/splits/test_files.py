"""Splits from files: folds that were drawn elsewhere, and splits that were saved."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from surprise import Dataset, Reader
from surprise.model_selection import PredefinedKFold

from harness.datasets import Ratings, load
from harness.errors import DataError, SplitError
from harness.splits import make, read, save, validation
from harness.splits.random import Holdout, KFold
from harness.splits.saved import Predefined, SavedSplit

ROWS = [(u, i, (u * i) % 5 + 1, 100 * u + i) for u in range(1, 5) for i in range(1, 7)]
USERS, ITEMS, VALUES, TIMES = zip(*ROWS, strict=True)
RATINGS = Ratings.from_columns(
    [*map(str, USERS)], [*map(str, ITEMS)], VALUES, TIMES, scale=(1, 5), name="made"
)


def write(path, rows, separator="\t"):
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path):
    """Two folds like the u1 to u5 files of ml-100k, in an order of their own."""
    shuffled = [ROWS[place] for place in np.random.default_rng(0).permutation(len(ROWS))]
    for fold, test in ((1, slice(0, 12)), (2, slice(12, 24))):
        write(tmp_path / f"u{fold}.base", [row for row in shuffled if row not in shuffled[test]])
        write(tmp_path / f"u{fold}.test", shuffled[test])
    return tmp_path


def raw(rows):
    part = RATINGS.take(rows)
    return list(
        zip(part.user_ids[part.users], part.item_ids[part.items], part.ratings, strict=True)
    )


def test_pairs_of_files_give_the_parts_and_the_order_of_surprise(folder):
    section = Predefined(train="u{fold}.base", test="u{fold}.test", folds=[1, 2])
    splits = make(section, RATINGS, seed=0, base=folder)
    files = [(str(folder / f"u{n}.base"), str(folder / f"u{n}.test")) for n in (1, 2)]
    theirs = Dataset.load_from_folds(files, Reader("ml-100k"))
    for split, (trainset, testset) in zip(splits, PredefinedKFold().split(theirs), strict=True):
        assert raw(split.test) == testset
        expected = {
            (trainset.to_raw_uid(u), trainset.to_raw_iid(i), r)
            for u, i, r in trainset.all_ratings()
        }
        assert set(raw(split.train)) == expected
        first = dict.fromkeys(user for user, _, _ in raw(split.train))
        assert [trainset.to_inner_uid(user) for user in first] == list(range(len(first)))
    assert [split.name for split in splits] == ["predefined 2-fold"] * 2


def test_without_training_files_the_rest_is_training_and_ids_match_as_text(folder):
    numbers = Ratings.from_columns(USERS, ITEMS, VALUES, scale=(1, 5))
    for ratings in (RATINGS, numbers):
        (split,) = make(Predefined(test=str(folder / "u1.test")), ratings, seed=0)
        assert len(split.test) == 12
        assert split.train.tolist() == [row for row in range(24) if row not in set(split.test)]


PAIRS, COLUMN = Predefined(test="x.test"), Predefined(file="x.test")


@pytest.mark.parametrize(
    ("section", "text", "message"),
    [
        (PAIRS, "1\t4\t5\t104\n9\t1\t3\t5\n", r"x.test: 1 of 2 .* in made .* user '9', item '1'"),
        (PAIRS, "1\t4\t5\t104\n1\t9\t3\t5\n", r"x.test: 1 of 2 .* user '1', item '9'\); give"),
        (PAIRS, "1\t1\t5\t5\n", r"x.test: user '1', item '1' is rated 5, in made 2; give the f"),
        (
            Predefined(train="u1.test", test="u1.test"),
            "",
            r"u1.test: 12 of its pairs are also in u1.test",
        ),
        (Predefined(test="u{fold}.test", folds=[1, 3]), "", r"u3.test: no such file"),
        (Predefined(file="y.csv"), "", r"y.csv: no such file in .*; check the path"),
        (
            PAIRS,
            "user,item\n1,1\n",
            r"x.test:1: no column of ratings beside user and item; add one",
        ),
        (PAIRS, "who,item,rating\n1,1,2\n", r"x.test:1: .* for the user .*column user, or add it$"),
        (PAIRS, "user,item,rating\n\udce9,1,2\n", r"x.test:2: .*; save the file as UTF-8$"),
        (
            PAIRS,
            "user;item;rating\n1;1;2,5\n",
            r"x.test:2: the rating '2,5' .* number; fix the data$",
        ),
        (PAIRS, "1,1,2\n1,1,2\n", r"x.test:2: user '1' has item '1' again .*\); fix the data$"),
        (COLUMN, "user,item,folds\n1,1,2\n", r"x.test:1: no column 'fold' .* mean 'folds'\?"),
        (COLUMN, "user,item,fold\n1,1,2\n1,2,\n", "x.test:3: no fold; fix the data"),
        (COLUMN, "user,item,fold\n,1,2\n", "x.test:2: no user; fix the data"),
        (COLUMN, "user,item,fold\n1,1,1\n1,7,2\n", "x.test: 1 of 2 ratings are not in made"),
        (COLUMN, "user,item,fold\n1,1,1\n1,2,2\n1,1,2\n", "x.test:4: user '1' has item '1' again"),
        (COLUMN, "user,item,fold\n1,1,train\n1,2,train\n", "no test rating is left of 24"),
        (COLUMN, "user,item,fold\n1,1,test\n", "no training rating is left of 24"),
        (COLUMN, "", "x.test: no rows of data"),
        (COLUMN, "user,item,fold\n1,2,3\n1,2,3,4,5\n", r"x.test:3: 5 fields where the first"),
    ],
)
def test_files_that_do_not_fit_the_data_are_refused(section, text, message, folder):
    (folder / "x.test").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises((DataError, SplitError), match=message):
        make(section, RATINGS, seed=0, base=folder)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_of_folds_gives_each_its_turn_as_people_count(suffix, tmp_path):
    labels = [10 if row % 3 == 0 else row % 3 for row in range(24)]
    frame = RATINGS.to_frame().assign(fold=labels).iloc[::-1]
    path = tmp_path / f"folds.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    splits = make(Predefined(file=str(path)), RATINGS, seed=0)
    assert [split.test.tolist() for split in splits] == [
        [row for row in reversed(range(24)) if labels[row] == label] for label in (1, 2, 10)
    ]
    for split in splits:
        assert split.train.tolist() == [row for row in reversed(range(24)) if row not in split.test]


def test_folds_may_have_numbers_beyond_all_bounds(tmp_path):
    numbers = ["9" * 5_000, "10", "2"]
    rows = [(u, i, r, numbers[u % 3]) for u, i, r, _ in ROWS]
    write(tmp_path / "folds.csv", [("user", "item", "rating", "fold"), *rows], ",")
    splits = make(Predefined(file="folds.csv"), RATINGS, seed=0, base=tmp_path)
    assert [ROWS[split.test[0]][0] % 3 for split in splits] == [2, 1, 0]


def test_a_column_of_words_gives_one_split_and_a_third_word_the_validation_part(tmp_path):
    words = ["Test"] * 5 + ["train"] * 12 + ["validation"] * 3
    RATINGS.to_frame().head(20).assign(part=words).to_csv(tmp_path / "parts.csv", index=False)
    section = Predefined(file="parts.csv", column="part")
    (outer,) = make(section, RATINGS, seed=0, base=tmp_path)
    assert outer.test.tolist() == [0, 1, 2, 3, 4]
    assert outer.train.tolist() == list(range(5, 20))
    assert "4 ratings (16.7%) in neither set" in map(str, outer.notes)
    assert outer.name == "predefined by column part"
    (inner,) = validation(outer, section, seed=0, base=tmp_path)
    assert inner.test.tolist() == [17, 18, 19]
    assert inner.train.tolist() == list(range(5, 17))


def many(n=30, name="made"):
    rows = np.arange(n)
    return Ratings.from_columns(rows % 4, rows, rows % 5 + 1.0, rows, scale=(1, 5), name=name)


@pytest.mark.parametrize("section", [Holdout(random_state=3), KFold(n_splits=3)])
def test_what_is_read_back_is_what_was_saved_in_a_table_that_anybody_can_read(section, tmp_path):
    splits = make(section, many(), seed=0)
    (tmp_path / "link").symlink_to("split.parquet")
    save(splits, tmp_path / "link")
    again = make(SavedSplit(path="split.parquet"), many(), seed=99, base=tmp_path)
    table = pq.read_table(tmp_path / "split.parquet").to_pandas()
    assert list(table.columns) == ["fold", "part", "row"]
    for one, other in zip(splits, again, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)
        assert (one.name, one.fold, one.n_folds) == (other.name, other.fold, other.n_folds)
        assert (one.fingerprint, one.notes) == (other.fingerprint, other.notes)
        written = table[(table["fold"] == one.fold) & (table["part"] == "test")]
        assert written["row"].tolist() == one.test.tolist()
    assert {each.name for each in tmp_path.iterdir()} == {"link", "split.parquet"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows, _: np.put(rows, [0, -1], rows[[-1, 0]]), "its rows are not those that were"),
        (lambda rows, _: np.put(rows, 0, rows[1]), "its rows are not those that were saved; make"),
        (lambda rows, _: np.put(rows, 0, 30), "rows outside of the data; make it again"),
        (lambda _, about: about.update(version=2), "written in version 2, this one reads 1; make"),
        (lambda _, about: about.update(name="x"), "split.parquet: changed since it was saved; m"),
        (lambda _, about: about.pop("seal"), "not a saved split .*'seal'.*; make it again"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(change, message, tmp_path):
    path = tmp_path / "split.parquet"
    save(make(Holdout(), many(), seed=0), path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"harness.split"])
    rows = table.column("row").to_numpy().copy()
    change(rows, about)
    metadata = {b"harness.split": json.dumps(about).encode()}
    pq.write_table(
        table.set_column(2, "row", pa.array(rows)).replace_schema_metadata(metadata), path
    )
    with pytest.raises(SplitError, match=message):
        read(path, many())


def test_what_is_no_saved_split_of_these_data_is_refused(tmp_path):
    save(make(Holdout(), many(), seed=0), tmp_path / "split.parquet")
    with pytest.raises(SplitError, match=r"drawn from other data than other .fingerprint"):
        read(tmp_path / "split.parquet", many(29, name="other"))
    (tmp_path / "text").write_text("fold,row\n1,2\n")
    many().to_frame().to_parquet(tmp_path / "ratings.parquet")
    for name, message in (
        ("nothing.parquet", "no such file; save a split there"),
        ("text", "not a saved split .*; make it again"),
        ("ratings.parquet", "not a saved split .*; make it again"),
    ):
        with pytest.raises(SplitError, match=f"{name}: {message}"):
            read(tmp_path / name, many())


def test_nothing_is_left_behind_where_a_split_cannot_be_saved(tmp_path):
    (split,) = make(Holdout(), many(), seed=0)
    mixed = [split, *make(Holdout(), many(29), seed=0)]
    (tmp_path / "folder").mkdir()
    for splits, name, message in (
        (split, "missing/split.parquet", "cannot be written .*; choose another place"),
        (split, "folder", "cannot be written .*; choose another place"),
        ([], "empty", "no split to save; make one first"),
        (mixed, "mixed", "splits of different data; save them in separate files"),
    ):
        with pytest.raises(SplitError, match=f"{name}: {message}"):
            save(splits, tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


def test_three_files_divide_their_own_ratings(tmp_path):
    for name, part in (("train", ROWS[:16]), ("valid", ROWS[16:20]), ("test", ROWS[20:])):
        lines = "".join(",".join(map(str, row)) + "\n" for row in part)
        (tmp_path / f"{name}.csv").write_text("user,item,rating,timestamp\n" + lines)
    section = {"path": ["train.csv", "valid.csv", "test.csv"], "scale": [1, 5]}
    ratings = load(section, base=tmp_path)
    inner = Predefined(test="valid.csv")
    (outer,) = make(Predefined(test="test.csv"), ratings, seed=0, base=tmp_path)
    (part,) = validation(outer, inner, seed=0, base=tmp_path)
    sizes = [len(rows) for rows in (outer.train, outer.test, part.train, part.test)]
    assert sizes == [20, 4, 16, 4]
    three = Predefined(train="train.csv", test="test.csv", validation=inner)
    (same,) = make(three, ratings, seed=0, base=tmp_path)
    (fitted,) = validation(same, inner, seed=0, base=tmp_path)
    for one, two in ((same, outer), (fitted, part)):
        np.testing.assert_array_equal(np.sort(one.train), np.sort(two.train))
        np.testing.assert_array_equal(np.sort(one.test), np.sort(two.test))
    assert "training is read from train.csv and valid.csv" in three.sentence()
    both = Predefined(train="train.csv", test="test.csv", validation=Predefined(test="test.csv"))
    with pytest.raises(SplitError, match=r"4 of its ratings are also in test.csv; .* validation"):
        make(both, ratings, seed=0, base=tmp_path)
    narrow = Predefined(train="train.csv", test="test.csv")
    (outer,) = make(narrow, ratings, seed=0, base=tmp_path)
    with pytest.raises(SplitError, match=r"valid.csv: 4 of 4 .* training set .*leave out `train`"):
        validation(outer, inner, seed=0, base=tmp_path)


def test_a_saved_validation_part_is_read_back_and_checked_against_the_training_part(tmp_path):
    first, second = make(KFold(n_splits=2), many(), seed=0)
    save(validation(first, Holdout(), seed=0), tmp_path / "inner.parquet")
    section = SavedSplit(path="inner.parquet")
    (part,) = validation(first, section, seed=0, base=tmp_path)
    np.testing.assert_array_equal(part.test, validation(first, Holdout(), seed=0)[0].test)
    with pytest.raises(SplitError, match="15 of its ratings are not in the training set; save"):
        validation(second, section, seed=0, base=tmp_path)


@pytest.fixture
def bought_again(tmp_path):
    """A training file and a later test file with three pairs, one of which is in training."""
    write(tmp_path / "train.csv", [("a", "x", 1), ("a", "y", 2), ("b", "x", 3)], ",")
    write(tmp_path / "test.csv", [("a", "z", 4), ("a", "x", 5), ("b", "y", 1)], ",")
    return tmp_path


def data_of(folder, duplicates="first"):
    paths = [str(folder / "train.csv"), str(folder / "test.csv")]
    return load({"path": paths, "scale": [1, 5], "duplicates": duplicates})


def test_pairs_of_training_can_be_left_out_of_the_test_set(bought_again):
    section = Predefined(train="train.csv", test="test.csv", in_training="drop")
    (split,) = make(section, data_of(bought_again), 0, bought_again)
    data, rows = split.ratings, split.test
    kept = [*zip(data.user_ids[data.users[rows]], data.ratings[rows], strict=True)]
    assert kept == [("a", 4.0), ("b", 1.0)]
    assert len(split.train) == 3
    assert "1 of 3 ratings (33.3%) of the test files is of a pair that is in training" in str(
        split.notes[0]
    )


@pytest.mark.parametrize("duplicates", ["first", "last", "mean"])
def test_the_advice_about_pairs_in_both_files_leads_to_a_split(bought_again, duplicates):
    section = Predefined(train="train.csv", test="test.csv")
    with pytest.raises(SplitError) as refused:
        make(section, data_of(bought_again, duplicates), 0, bought_again)
    assert "`in_training: drop`" in str(refused.value)
    if duplicates != "first":
        assert "`duplicates: first` under `dataset` with the training file first" in str(
            refused.value
        )
