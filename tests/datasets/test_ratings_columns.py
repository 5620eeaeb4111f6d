"""Ratings from columns, frames and Surprise datasets, and back."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import surprise
from hypothesis import given
from hypothesis import strategies as st

from harness import datasets
from harness.algorithms.baselines import Popularity
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets import Ratings
from harness.errors import DataError

from .conftest import rows_of

PAIRS = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=60, unique=True
)


def frame(**columns):
    return pd.DataFrame(columns)


@given(PAIRS)
def test_columns_come_back_in_their_order_and_ids_are_numbered_by_appearance(pairs):
    users, items = map(list, zip(*pairs, strict=True))
    values = [float(n % 5 + 1) for n in range(len(pairs))]
    ratings = Ratings.from_columns(users, items, values)
    expected = zip(map(str, users), map(str, items), values, strict=True)
    assert [row[:3] for row in rows_of(ratings)] == list(expected)
    order = list(dict.fromkeys(users))
    assert ratings.user_ids.tolist() == list(map(str, order))
    assert ratings.users.tolist() == [order.index(user) for user in users]
    assert ratings.users.dtype == np.int32
    assert ratings.n_users == len(set(users))


def test_taken_rows_keep_codes_and_ids():
    ratings = Ratings.from_columns(["a", "b", "c"], ["x", "y", "x"], [1, 2, 3], [7, 8, 9])
    assert (ratings.density, len(ratings)) == (0.5, 3)
    part = ratings.take(np.array([2, 0]))
    assert part.users.tolist() == [2, 0]
    assert part.timestamps.tolist() == [9, 7]
    assert (part.n_users, part.counts, part.density) == (3, (2, 1, 2), 1.0)
    assert " 2 ratings of 1 item by 2 users," in repr(part)
    assert part.user_ids is ratings.user_ids


class TestFingerprint:
    def make(self, **changes):
        columns = {"users": ["a", "b"], "items": ["x", "y"], "ratings": [1.0, 2.0]}
        columns |= {"timestamps": [1, 2], "scale": (1.0, 5.0)}
        return Ratings.from_columns(**(columns | changes))

    def test_is_the_same_for_the_same_data_as_in_published_results(self):
        found = self.make().fingerprint
        assert found == "959738ca8779a172bd6b37c16564bedd3b075a30de166935f3d25a2df31673f4"
        assert self.make(name="other").fingerprint == found
        assert pickle.loads(pickle.dumps(self.make())).fingerprint == found

    @pytest.mark.parametrize(
        "change",
        [
            {"users": ["a", "c"]},
            {"items": ["x", "x"]},
            {"ratings": [1.0, 2.5]},
            {"timestamps": [1, 3]},
            {"timestamps": None},
            {"scale": (0.5, 5.0)},
        ],
    )
    def test_differs_when_anything_differs(self, change):
        assert self.make(**change).fingerprint != self.make().fingerprint

    def test_differs_for_ids_whose_texts_run_together(self):
        one, other = self.make(users=["ab", "c"]), self.make(users=["a", "bc"])
        assert one.fingerprint != other.fingerprint


class TestFrames:
    @pytest.mark.parametrize(
        ("columns", "rows"),
        [
            (
                {"movieId": [10, 20], "userId": [1, 1], "timestamp": [5, 6], "rating": [3.5, 4.0]},
                [("1", "10", 3.5, 5), ("1", "20", 4.0, 6)],
            ),
            (
                {
                    "user": pd.Categorical(["b", "a", "b"], categories=["a", "b", "unused"]),
                    "item": [1, 2, 3],
                    "rating": [1, 2, 3],
                },
                [("b", "1", 1.0, 0), ("a", "2", 2.0, 0), ("b", "3", 3.0, 0)],
            ),
            (
                {"user": [10**30, -1], "item": [1, 2], "rating": [1, 2]},
                [(str(10**30), "1", 1.0, 0), ("-1", "2", 2.0, 0)],
            ),
        ],
    )
    def test_columns_of_any_type_are_found_by_their_usual_names(self, columns, rows):
        assert rows_of(datasets.load(frame(**columns))) == rows

    def test_columns_may_be_named(self):
        named = frame(who=["a"], what=["b"], stars=[3])
        ratings = Ratings.from_frame(named, user="who", item="what", scale=(1, 5))
        assert rows_of(ratings) == [("a", "b", 3.0, 0)]

    @pytest.mark.parametrize(
        ("names", "named", "message"),
        [
            (["user", "rating"], {}, "frame: no column for the item among user, rating"),
            (
                ["user", "item", "rating"],
                {"user": "usr"},
                "no column 'usr' .*mean 'user'",
            ),
            (
                ["user", "item", "rating", "rating"],
                {"rating": "rating"},
                "2 columns are called 'rating'; give the position",
            ),
        ],
    )
    def test_a_column_that_is_not_clear_is_named(self, names, named, message):
        with pytest.raises(DataError, match=message):
            Ratings.from_frame(pd.DataFrame([range(len(names))], columns=names), **named)

    def test_frames_are_left_as_they_were(self):
        given_frame = frame(user=[1, 1], item=[1, 1], rating=[1.0, 9.0])
        before = given_frame.copy()
        Ratings.from_frame(given_frame, duplicates="mean", scale=(1, 5), out_of_scale="clip")
        pd.testing.assert_frame_equal(given_frame, before)

    def test_a_frame_comes_back_as_it_went_in(self):
        given_frame = frame(user=["a", "b"], item=["1", "2"], rating=[1.5, 2.0], timestamp=[3, 4])
        back = datasets.load(given_frame).to_frame()
        pd.testing.assert_frame_equal(back, given_frame, check_dtype=False)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], []), "columns: no ratings; give data"),
        (([1], [1, 2], [1]), r"columns: columns of \[1, 2\] rows; give them the same length"),
        (([1], {1}, [1]), "columns: items: a set; give a list or an array"),
        (([1, "1"], [1, 2], [1, 2]), r"user ids of several types \(int, str\); turn the column"),
        (([True, False], [1, 2], [1, 2]), "user ids of type bool; turn the column into text"),
        (([1, 2], [1, 2], [1, "four"]), r"row 1 \(counted from 0\): the rating 'four' is not a"),
        (([1, 2], [1, 2], [True, False]), "the rating 'true' is not a number"),
        (([1, 2], [1, 2], [1, [2]]), r"row 1 .*: the rating '\[2\]' is not a number"),
        (([1, 2], [1, 2], [1, np.nan]), r"columns: row 1 .*: no rating; fix the data"),
        (([1, 2], [1, 2], [1, np.inf]), r"columns: row 1 .*: the rating inf is not finite"),
        (([1, None], ["a", "b"], [1, 2]), r"columns: row 1 .*: no user"),
        (([1, 2], [None, "b"], [1, 2]), r"columns: row 0 .*: no item"),
        (([1, 1], [2, 2], [1, 2]), r"row 1 .*: user '1' rates item '2' again \(first at .* row 0"),
        (([1.5, 2.0], [1, 2], [1, 2]), "user ids with fractions; turn the column into text"),
        (([2.0**60, 1.0], [1, 2], [1, 2]), "user ids with fractions"),
        (([[1], [2]], [1, 2], [1, 2]), r"user ids of type list"),
        ((np.ones((2, 2)), [1, 2], [1, 2]), r"user ids of several types \(ndarray\)"),
        ((["\ud800", "b"], [1, 2], [1, 2]), "cannot be written as UTF-8"),
        ((["a\x1b[2J", "b"], [1, 2], [1, 2]), r"row 0 .* has a control character"),
        *(
            (([1, 2], [1, 2], [1, 2], times), message)
            for times, message in [
                ([5, "soon"], r"row 1 .*: the timestamp 'soon' is neither sec"),
                (pd.to_timedelta([1, 2]), "timestamps of type duration"),
                (pd.Series([1.0, np.inf]), "row 1 .*: the timestamp inf is not a time"),
                (pd.Series([1.0, np.nan]), "row 1 .*: no timestamp"),
                (pd.array([1, None], "Int64"), "row 1 .*: no timestamp"),
                (pd.Series([1.0, 1e30]), "row 1 .*: the timestamp 1e\\+30 is not a time"),
                (["2001-01-01", "5"], "row 1 .*: the timestamp '5' is a number, others are dates"),
            ]
        ),
    ],
)
def test_bad_columns_are_refused_with_their_row(columns, message):
    with pytest.raises(DataError, match=message):
        Ratings.from_columns(*columns)


class TestPolicies:
    rows = ([1, 2, 1, 1], ["x", "x", "x", "y"], [1.0, 2.0, 4.0, 5.0], [10, 20, 30, 5])

    @pytest.mark.parametrize(
        ("policy", "rows"),
        [
            ("first", [("1", "x", 1.0, 10), ("2", "x", 2.0, 20), ("1", "y", 5.0, 5)]),
            ("last", [("2", "x", 2.0, 20), ("1", "x", 4.0, 30), ("1", "y", 5.0, 5)]),
            ("mean", [("1", "x", 2.5, 30), ("2", "x", 2.0, 20), ("1", "y", 5.0, 5)]),
            ("latest", [("2", "x", 2.0, 20), ("1", "x", 4.0, 30), ("1", "y", 5.0, 5)]),
            ("sum", [("1", "x", 5.0, 30), ("2", "x", 2.0, 20), ("1", "y", 5.0, 5)]),
            ("count", [("1", "x", 2.0, 30), ("2", "x", 1.0, 20), ("1", "y", 1.0, 5)]),
        ],
    )
    def test_duplicates_become_one_rating(self, policy, rows):
        made = Ratings.from_columns(*self.rows, scale=(1, 5), duplicates=policy)
        assert rows_of(made) == rows
        assert made.users.tolist() == [0, 1, 1 if policy in ("last", "latest") else 0]
        (note,) = (note for note in made.notes if note.code != "times-of-1970")
        assert str(note) == f"1 duplicate pair: the {policy} kept, 1 row dropped"

    @given(
        st.lists(st.tuples(*map(st.integers, (0, 0, 1), (3, 3, 5))), min_size=1, max_size=40),
        st.sampled_from(["first", "last", "mean", "sum", "count"]),
    )
    def test_duplicates_equal_a_dictionary(self, rows, policy):
        seen: dict[tuple[str, str], list[int]] = {}
        for user, item, rating in rows:
            seen.setdefault((str(user), str(item)), []).append(rating)
        pick = {"first": lambda r: r[0], "last": lambda r: r[-1], "mean": lambda r: sum(r) / len(r)}
        pick |= {"sum": sum, "count": len}
        wanted = {pair: pick[policy](values) for pair, values in seen.items()}
        made = Ratings.from_columns(*zip(*rows, strict=True), duplicates=policy)
        assert {row[:2]: row[2] for row in rows_of(made)} == pytest.approx(wanted)
        assert len(made) == len(wanted)

    def test_the_latest_goes_by_time_and_not_by_row(self):
        rows = (["a", "a", "b", "a"], ["x", "y", "x", "x"], [5, 3, 1, 1])
        made = Ratings.from_columns(*rows, [2000, 10, 5, 1000], duplicates="latest")
        assert rows_of(made)[0] == ("a", "x", 5.0, 2000)
        equal = Ratings.from_columns(*rows, [9, 9, 9, 9], duplicates="latest")
        assert equal.ratings.tolist() == [3.0, 1.0, 1.0]
        said = "1 duplicate pair with several ratings at the latest time: the last row kept"
        assert said in map(str, equal.notes)
        with pytest.raises(DataError, match="no timestamps, by which `duplicates: latest` decides"):
            Ratings.from_columns(*rows, duplicates="latest")

    @pytest.mark.parametrize(("policy", "high"), [("sum", 9.0), ("count", 2.0)])
    def test_the_scale_is_that_of_sums_and_counts(self, policy, high):
        made = Ratings.from_columns([1, 1, 2], [1, 1, 1], [4, 5, 1], duplicates=policy)
        assert made.scale == (1.0, high)
        with pytest.raises(DataError, match=r"is outside the scale 0 to 1"):
            Ratings.from_columns([1, 1, 2], [1, 1, 1], [4, 5, 1], duplicates=policy, scale=(0, 1))

    def test_ratings_are_clipped_at_both_ends_of_the_scale(self):
        made = Ratings.from_columns([1, 2], [1, 2], [0, 9], scale=(1, 5), out_of_scale="clip")
        assert made.ratings.tolist() == [1.0, 5.0]
        assert made.scale == (1, 5)
        assert str(*made.notes) == "2 ratings outside 1 to 5 clipped"

    @pytest.mark.parametrize(
        ("rating", "scale"), [(1, (0, 1)), (4.5, (0, 4.5)), (0, (0, 1)), (-3, (-3, 0))]
    )
    def test_the_scale_of_equal_ratings_includes_zero(self, rating, scale):
        made = Ratings.from_columns([1, 2], [1, 1], [rating] * 2)
        assert made.scale == scale
        found = f"scale {scale[0]:g} to {scale[1]:g}, as every rating found is {rating:g}"
        assert str(*made.notes) == found

    def test_popularity_differs_where_all_ratings_are_equal(self):
        made = Ratings.from_columns([1, 2, 2, 3], [1, 1, 2, 3], [1] * 4)
        model = Popularity().fit(ColumnTrainset.of_ratings(made))
        assert model.scores.tolist() == [1.0, 0.5, 0.5]

    def test_what_is_no_scale_is_refused(self):
        with pytest.raises(DataError, match=r"^columns: scale: \[3, 3\] is not a scale; give"):
            Ratings.from_columns([1], [1], [3], scale=(3, 3))

    @pytest.mark.parametrize(
        ("policy", "message"),
        [
            (
                {"duplicates": "max"},
                "duplicates: found 'max'; use one of count, error, first, last",
            ),
            ({"missing": "keep"}, "missing: found 'keep'; use one of"),
            ({"out_of_scale": "cilp"}, "out_of_scale: found 'cilp'; did you mean 'clip'"),
            ({"misssing": "drop"}, "misssing: unknown key; did you mean 'missing'"),
            ({"scale": 5}, "scale: found 5; it must be a list"),
        ],
    )
    def test_what_is_no_policy_is_refused(self, policy, message):
        with pytest.raises(DataError, match=f"^columns: {message}"):
            Ratings.from_columns([1], [1], [3], **policy)
        assert Ratings.from_columns([1], [1], [3], scale=np.array([1, 5])).scale == (1, 5)

    @pytest.mark.parametrize("scale", [None, (1, 5)])
    def test_nothing_left_is_an_error_that_says_why(self, scale):
        with pytest.raises(DataError, match=r"no ratings are left \(2 rows without a value"):
            Ratings.from_columns([1, 2], [1, 2], [np.nan] * 2, missing="drop", scale=scale)


class TestSurprise:
    def test_there_and_back_again(self):
        made = Ratings.from_columns(["a", "b"], ["x", "x"], [1.0, 2.5], [7, 8], scale=(0.5, 5))
        again = Ratings.from_surprise(made.to_surprise())
        assert again.fingerprint == made.fingerprint

    def test_a_dataset_from_a_file_gives_what_the_file_gives(self, tmp_path):
        path = tmp_path / "u.data"
        path.write_text("9\t8\t3\t100\n7\t8\t4\t200\n")
        reader = surprise.Reader("ml-100k")
        theirs = datasets.load(surprise.Dataset.load_from_file(path, reader))
        ours = datasets.load({"path": str(path), "scale": [1, 5]})
        assert theirs.fingerprint == ours.fingerprint
        assert theirs.user_ids.tolist() == ["9", "7"]

    def test_folds_are_no_ratings(self, tmp_path):
        path = tmp_path / "u1"
        path.write_text("1 1 1\n")
        folds = surprise.Dataset.load_from_folds([(path, path)], surprise.Reader())
        with pytest.raises(DataError, match=r"surprise: a surprise.Dataset without raw_ratings"):
            datasets.load(folds)
