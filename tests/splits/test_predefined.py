"""Folds that come from files: pairs of them, or a column."""

import numpy as np
import pytest
from surprise import Dataset, Reader
from surprise.model_selection import PredefinedKFold

from harness.datasets import Ratings
from harness.errors import DataError, SplitError
from harness.splits import Predefined, make

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


def test_a_rating_in_both_files_is_refused(ratings, folder):
    section = Predefined(train="u1.test", test="u1.test")
    with pytest.raises(SplitError, match=r"u1.test: 12 of its ratings are also in u1.test; a rat"):
        make(section, ratings, seed=0, base=folder)


def test_a_missing_file_is_named(ratings, folder):
    section = Predefined(test="u{fold}.test", folds=[1, 3])
    with pytest.raises(DataError, match=r"u3.test: no such file"):
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


def test_a_file_of_folds_that_is_not_there_is_named(ratings, tmp_path):
    with pytest.raises(DataError, match=r"y.csv: cannot be read \(No such file"):
        make(Predefined(file="y.csv"), ratings, seed=0, base=tmp_path)
