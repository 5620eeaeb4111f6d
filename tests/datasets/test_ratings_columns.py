"""Ratings from columns, frames and Surprise datasets, and back."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import datasets
from harness.datasets import Ratings
from harness.errors import DataError

PAIRS = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=60, unique=True
)


def frame(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(columns)


def by_hand(rows: list[tuple[object, object, float]]) -> list[tuple[object, object, float]]:
    ratings = Ratings.from_columns(*(list(column) for column in zip(*rows, strict=True)))
    return list(
        zip(
            ratings.user_ids[ratings.users],
            ratings.item_ids[ratings.items],
            ratings.ratings,
            strict=True,
        )
    )


@given(PAIRS)
def test_columns_come_back_in_their_order(pairs: list[tuple[int, int]]) -> None:
    rows = [(user, item, float(n % 5 + 1)) for n, (user, item) in enumerate(pairs)]
    assert by_hand(rows) == [(str(user), str(item), rating) for user, item, rating in rows]


@given(PAIRS)
def test_codes_number_ids_by_first_appearance(pairs: list[tuple[int, int]]) -> None:
    users = [user for user, _ in pairs]
    ratings = Ratings.from_columns(users, [item for _, item in pairs], [1.0] * len(pairs))
    assert ratings.user_ids.tolist() == list(map(str, dict.fromkeys(users)))
    assert ratings.users.tolist() == [list(dict.fromkeys(users)).index(user) for user in users]
    assert ratings.users.dtype == np.int32
    assert ratings.n_users == len(set(users))


def test_density_is_the_rated_part_of_all_pairs() -> None:
    ratings = Ratings.from_columns([1, 1, 2], [1, 2, 1], [3, 4, 5])
    assert ratings.density == 0.75
    assert len(ratings) == 3


def test_taken_rows_keep_codes_and_ids() -> None:
    ratings = Ratings.from_columns(["a", "b", "c"], ["x", "y", "x"], [1, 2, 3], [7, 8, 9])
    part = ratings.take(np.array([2, 0]))
    assert part.users.tolist() == [2, 0]
    assert part.timestamps is not None
    assert part.timestamps.tolist() == [9, 7]
    assert part.n_users == 3
    assert part.user_ids is ratings.user_ids


class TestFingerprint:
    def make(self, **changes: object) -> Ratings:
        columns: dict[str, object] = {
            "users": ["a", "b"],
            "items": ["x", "y"],
            "ratings": [1.0, 2.0],
            "timestamps": [1, 2],
            "scale": (1.0, 5.0),
        }
        return Ratings.from_columns(**(columns | changes))  # type: ignore[arg-type]

    def test_is_the_same_for_the_same_data_under_another_name(self) -> None:
        assert self.make().fingerprint == self.make(name="other").fingerprint

    @pytest.mark.parametrize(
        "change",
        [
            {"users": ["a", "c"]},
            {"items": ["x", "x"]},
            {"ratings": [1.0, 2.5]},
            {"timestamps": [1, 3]},
            {"timestamps": None},
            {"scale": (0.5, 5.0)},
            {"users": ["ab", ""[:0] or "b"]},
            {"users": [1, 2]},
        ],
    )
    def test_differs_when_anything_differs(self, change: dict[str, object]) -> None:
        assert self.make(**change).fingerprint != self.make().fingerprint

    def test_tells_ids_apart_whose_texts_run_together(self) -> None:
        one, other = self.make(users=["ab", "c"]), self.make(users=["a", "bc"])
        assert one.fingerprint != other.fingerprint

    def test_stays_what_it_was_in_published_results(self) -> None:
        found = self.make().fingerprint
        assert found == "959738ca8779a172bd6b37c16564bedd3b075a30de166935f3d25a2df31673f4"

    def test_survives_a_trip_to_another_process(self) -> None:
        ratings = self.make()
        assert pickle.loads(pickle.dumps(ratings)).fingerprint == ratings.fingerprint


class TestFrames:
    def test_columns_are_found_by_their_usual_names(self) -> None:
        ratings = datasets.load(
            frame(movieId=[10, 20], userId=[1, 1], timestamp=[5, 6], rating=[3.5, 4.0])
        )
        assert ratings.item_ids.tolist() == ["10", "20"]
        assert ratings.timestamps is not None

    def test_columns_may_be_named(self) -> None:
        ratings = Ratings.from_frame(
            frame(who=["a"], what=["b"], stars=[3]), user="who", item="what", scale=(1, 5)
        )
        assert (ratings.user_ids[0], ratings.item_ids[0], ratings.ratings[0]) == ("a", "b", 3.0)

    def test_a_missing_column_is_named(self) -> None:
        with pytest.raises(DataError, match="frame: no column for the item among user, rating"):
            datasets.load(frame(user=[1], rating=[1]))

    def test_a_column_asked_for_is_suggested(self) -> None:
        with pytest.raises(DataError, match="no column 'usr' for the user; did you mean 'user'"):
            Ratings.from_frame(frame(user=[1], item=[1], rating=[1]), user="usr")

    def test_two_columns_of_one_name_are_refused(self) -> None:
        doubled = pd.DataFrame([[1, 2, 3, 4]], columns=["user", "item", "rating", "rating"])
        with pytest.raises(DataError, match="2 columns are called 'rating'; give the position"):
            Ratings.from_frame(doubled, rating="rating")

    def test_dates_become_seconds(self) -> None:
        when = pd.to_datetime(["1970-01-02", "1970-01-03"])
        ratings = datasets.load(frame(user=[1, 2], item=[1, 2], rating=[1, 2], time=when))
        assert ratings.timestamps is not None
        assert ratings.timestamps.tolist() == [86_400, 172_800]

    def test_dates_of_another_zone_become_seconds_of_utc(self) -> None:
        when = pd.to_datetime(["1970-01-01 01:00:00+01:00"])
        ratings = datasets.load(frame(user=[1], item=[1], rating=[1], time=when))
        assert ratings.timestamps is not None
        assert ratings.timestamps.tolist() == [0]

    def test_categories_are_ids_like_others(self) -> None:
        users = pd.Categorical(["b", "a", "b"], categories=["a", "b", "unused"])
        ratings = datasets.load(frame(user=users, item=[1, 2, 3], rating=[1, 2, 3]))
        assert ratings.user_ids.tolist() == ["b", "a"]

    def test_ids_beyond_64_bits_are_kept(self) -> None:
        enormous = 10**30
        ratings = Ratings.from_columns([enormous, -1], [1, 2], [1, 2])
        assert ratings.user_ids.tolist() == [str(enormous), "-1"]

    def test_frames_are_left_as_they_were(self) -> None:
        given_frame = frame(user=[1, 1], item=[1, 1], rating=[1.0, 9.0])
        before = given_frame.copy()
        Ratings.from_frame(given_frame, duplicates="mean", scale=(1, 5), out_of_scale="clip")
        pd.testing.assert_frame_equal(given_frame, before)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], []), "columns: no ratings; give a file"),
        (([1], [1, 2], [1]), r"columns: columns of \[1, 2\] rows; give them the same length"),
        (([1, "1"], [1, 2], [1, 2]), r"user ids of several types \(int, str\); turn the column"),
        (([True, False], [1, 2], [1, 2]), "user ids of type bool; turn the column into text"),
        (([1, 2], [1, 2], [1, "four"]), r"row 1 \(counted from 0\): the rating 'four' is not a"),
        (([1, 2], [1, 2], [True, False]), "ratings of type bool; turn them into numbers"),
        (([1, 2], [1, 2], [1, [2]]), r"row 1 .*: the rating '\[2\]' is not a number"),
        (([1, 2], [1, 2], [1, np.nan]), r"columns: row 1 .*: no rating; fix the data"),
        (([1, 2], [1, 2], [1, np.inf]), r"columns: row 1 .*: the rating inf is not finite"),
        (([1, None], ["a", "b"], [1, 2]), r"columns: row 1 .*: no user"),
        (([1, 2], [None, "b"], [1, 2]), r"columns: row 0 .*: no item"),
        (([1, 1], [2, 2], [1, 2]), r"row 1 .*: user '1' rates item '2' again \(first at .* row 0"),
    ],
)
def test_bad_columns_are_refused_with_their_row(columns: tuple[list], message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(DataError, match=message):
        Ratings.from_columns(*columns)


def test_times_that_are_none_are_refused_with_their_row() -> None:
    with pytest.raises(DataError, match=r"row 1 .*: the timestamp 'soon' is neither seconds"):
        Ratings.from_columns([1, 2], [1, 2], [1, 2], [5, "soon"])


class TestPolicies:
    rows = ([1, 2, 1, 1], ["x", "x", "x", "y"], [1.0, 2.0, 4.0, 5.0], [10, 20, 30, 5])

    @pytest.mark.parametrize(
        ("policy", "ratings", "timestamps", "items"),
        [
            ("first", [1.0, 2.0, 5.0], [10, 20, 5], [0, 0, 1]),
            ("last", [2.0, 4.0, 5.0], [20, 30, 5], [0, 0, 1]),
            ("mean", [2.5, 2.0, 5.0], [30, 20, 5], [0, 0, 1]),
        ],
    )
    def test_duplicates_become_one_rating(
        self, policy: str, ratings: list[float], timestamps: list[int], items: list[int]
    ) -> None:
        made = Ratings.from_columns(*self.rows, scale=(1, 5), duplicates=policy)
        assert made.ratings.tolist() == ratings
        assert made.timestamps is not None
        assert made.timestamps.tolist() == timestamps
        assert made.items.tolist() == items
        assert made.notes == (f"1 duplicate pair: the {policy} kept, 1 row dropped",)

    def test_last_leaves_users_in_order_of_appearance(self) -> None:
        made = Ratings.from_columns(*self.rows, duplicates="last")
        assert made.user_ids.tolist() == ["2", "1"]
        assert made.users.tolist() == [0, 1, 1]

    @given(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5)),
            min_size=1,
            max_size=40,
        ),
        st.sampled_from(["first", "last", "mean"]),
    )
    def test_duplicates_equal_a_dictionary(
        self, rows: list[tuple[int, int, int]], policy: str
    ) -> None:
        seen: dict[tuple[str, str], list[int]] = {}
        for user, item, rating in rows:
            seen.setdefault((str(user), str(item)), []).append(rating)
        pick = {"first": lambda r: r[0], "last": lambda r: r[-1], "mean": lambda r: sum(r) / len(r)}
        wanted = {pair: pick[policy](values) for pair, values in seen.items()}
        users, items, values = zip(*rows, strict=True)
        made = Ratings.from_columns(users, items, values, duplicates=policy)
        found = zip(made.user_ids[made.users], made.item_ids[made.items], made.ratings, strict=True)
        assert {(user, item): rating for user, item, rating in found} == pytest.approx(wanted)
        assert len(made) == len(wanted)

    def test_missing_rows_are_dropped_and_counted(self) -> None:
        made = Ratings.from_columns(
            ["a", None, "c", "d"], ["x", "y", "z", None], [1.0, 2.0, np.nan, 3.0],
            scale=(1, 5), missing="drop",
        )  # fmt: skip
        assert made.user_ids.tolist() == ["a"]
        assert made.notes == ("3 rows without a value dropped",)

    def test_ratings_outside_the_scale_are_clipped_and_counted(self) -> None:
        made = Ratings.from_columns([1, 2], [1, 2], [0, 9], scale=(1, 5), out_of_scale="clip")
        assert made.ratings.tolist() == [1.0, 5.0]
        assert made.notes == ("2 ratings outside 1 to 5 clipped",)

    def test_ratings_outside_the_scale_are_dropped_and_counted(self) -> None:
        made = Ratings.from_columns([1, 2], [1, 2], [3, 9], scale=(1, 5), out_of_scale="drop")
        assert made.ratings.tolist() == [3.0]
        assert made.notes == ("1 rating outside 1 to 5 dropped",)

    def test_ratings_outside_the_scale_are_refused_otherwise(self) -> None:
        with pytest.raises(DataError, match=r"row 1 .*: the rating 9 is outside the scale 1 to 5"):
            Ratings.from_columns([1, 2], [1, 2], [3, 9], scale=(1, 5))

    @pytest.mark.parametrize(
        "policies", [{"missing": "drop"}, {"missing": "drop", "scale": (1, 5)}]
    )
    def test_nothing_left_is_an_error_that_says_why(self, policies: dict) -> None:  # type: ignore[type-arg]
        with pytest.raises(DataError, match=r"no ratings are left \(2 rows without a value"):
            Ratings.from_columns([1, 2], [1, 2], [np.nan, np.nan], **policies)

    def test_a_scale_that_was_found_is_noted(self) -> None:
        made = Ratings.from_columns([1, 2], [1, 2], [0.5, 4])
        assert made.scale == (0.5, 4.0)
        assert made.notes == ("scale 0.5 to 4, the lowest and highest rating found",)


class TestSurprise:
    def surprise(self):  # type: ignore[no-untyped-def]
        surprise = pytest.importorskip("surprise")
        return surprise

    def test_there_and_back_again(self) -> None:
        self.surprise()
        made = Ratings.from_columns(["a", "b"], ["x", "x"], [1.0, 2.5], [7, 8], scale=(0.5, 5))
        again = Ratings.from_surprise(made.to_surprise())
        assert again.fingerprint == made.fingerprint

    def test_a_dataset_from_a_file_gives_what_the_file_gives(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        surprise = self.surprise()
        path = tmp_path / "u.data"
        path.write_text("9\t8\t3\t100\n7\t8\t4\t200\n")
        reader = surprise.Reader("ml-100k")
        theirs = datasets.load(surprise.Dataset.load_from_file(path, reader))
        ours = datasets.load({"path": str(path), "scale": [1, 5]})
        assert theirs.fingerprint == ours.fingerprint
        assert theirs.user_ids.tolist() == ["9", "7"]

    def test_a_trainset_has_the_same_inner_ids(self) -> None:
        self.surprise()
        made = Ratings.from_columns(["b", "a", "b"], ["y", "y", "x"], [1.0, 2.0, 3.0], scale=(1, 5))
        trainset = made.to_surprise().build_full_trainset()
        assert [trainset.to_inner_uid(user) for user in made.user_ids] == [0, 1]
        assert [trainset.to_inner_iid(item) for item in made.item_ids] == [0, 1]

    def test_folds_are_no_ratings(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        surprise = self.surprise()
        path = tmp_path / "u1"
        path.write_text("1 1 1\n")
        folds = surprise.Dataset.load_from_folds([(path, path)], surprise.Reader())
        with pytest.raises(DataError, match=r"surprise: a surprise.Dataset without raw_ratings"):
            datasets.load(folds)


def test_what_is_ratings_already_is_given_back() -> None:
    made = Ratings.from_columns([1], [1], [1])
    assert datasets.load(made) is made


def test_a_frame_comes_back_as_it_went_in() -> None:
    given_frame = frame(user=["a", "b"], item=["1", "2"], rating=[1.5, 2.0], timestamp=[3, 4])
    back = datasets.load(given_frame).to_frame()
    pd.testing.assert_frame_equal(back, given_frame, check_dtype=False)
