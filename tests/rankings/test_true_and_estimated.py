"""`harness.ndcg` of true and estimated values: scikit-learn's number, or an error that asks."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import surprise
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import MetricError
from harness.rankings.aligned import aligned

ndcg_score = pytest.importorskip("sklearn.metrics", reason="compared with it").ndcg_score
TRUE, ESTIMATED = [3, 2, 5, 4], [2.9, 2.1, 4.5, 4.6]
LIKE_SKLEARN = {"gain": "linear", "undefined": 0}


@given(st.data(), st.integers(1, 6), st.integers(2, 8))
def test_it_is_scikit_learn_s_number(data, n_users, n_items):
    grades, estimates = (
        np.array(
            data.draw(
                st.lists(
                    st.lists(values, min_size=n_items, max_size=n_items),
                    min_size=n_users,
                    max_size=n_users,
                )
            ),
            dtype=float,
        )
        for values in (st.integers(0, 5), st.sampled_from([0.1, 0.25, 1.3, 2.7]))
    )
    k = data.draw(st.sampled_from([None, 1, 3, 20]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of equal ratings
        found = harness.ndcg(grades, estimates, k=k, **LIKE_SKLEARN)
    assert found == pytest.approx(ndcg_score(grades, estimates, k=k), rel=1e-12, abs=1e-12)


def test_a_number_known_by_hand():
    order = [4, 5, 3, 2]  # by estimate
    gains = [(2**grade - 1) / np.log2(rank + 2) for rank, grade in enumerate(order)]
    ideal = [(2**grade - 1) / np.log2(rank + 2) for rank, grade in enumerate([5, 4, 3, 2])]
    expected = sum(gains) / sum(ideal)
    assert harness.ndcg(TRUE, ESTIMATED) == pytest.approx(expected, rel=1e-12)
    assert harness.ndcg(TRUE, ESTIMATED, 1) == pytest.approx(gains[0] / ideal[0], rel=1e-12)


ITEMS, USERS = ["x", "y", "z", "w"], ["ann", "bob"]
LATER = [[1, 2, 4, 3], [0.3, 2.2, 3.9, 3.1]]


def long(column, *rows):
    return pd.DataFrame(
        [(user, item, v) for user, own in zip(USERS, rows, strict=True)
         for item, v in zip(ITEMS, own, strict=True)],
        columns=["user", "item", column],
    )  # fmt: skip


TRUE_LONG, ESTIMATED_LONG = long("rating", TRUE, LATER[0]), long("estimate", ESTIMATED, LATER[1])
SHUFFLED = ESTIMATED_LONG.sample(frac=1, random_state=1)
BY_USER = [
    dict(zip(USERS, rows, strict=True)) for rows in ([TRUE, LATER[0]], [ESTIMATED, LATER[1]])
]
BY_ITEM = [
    {user: dict(zip(ITEMS, own, strict=True)) for user, own in each.items()} for each in BY_USER
]
WIDE = [pd.DataFrame(each, index=ITEMS).T for each in BY_USER]
FORMS = {
    "lists": ([TRUE, LATER[0]], [ESTIMATED, LATER[1]]),
    "arrays": (np.array([TRUE, LATER[0]]), np.array([ESTIMATED, LATER[1]])),
    "lists by user": BY_USER,
    "lists by user, in another order": (BY_USER[0], dict(reversed(BY_USER[1].items()))),
    "items by user": BY_ITEM,
    "items by user, in another order": (
        BY_ITEM[0], {user: dict(reversed(own.items())) for user, own in BY_ITEM[1].items()}
    ),
    "long frames": (TRUE_LONG, SHUFFLED),
    "long frames of other names": (
        TRUE_LONG.rename(columns={"user": "userId", "item": "movieId"}),
        SHUFFLED.rename(columns={"user": "user_id", "item": "item_id", "estimate": "score"}),
    ),
    "Arrow tables": (pa.Table.from_pandas(TRUE_LONG), pa.Table.from_pandas(ESTIMATED_LONG)),
    "frames of users by items": (WIDE[0], WIDE[1][["w", "x", "y", "z"]].iloc[::-1]),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_one_number(form):
    expected = (harness.ndcg(TRUE, ESTIMATED) + harness.ndcg(*LATER)) / 2
    assert harness.ndcg(*FORMS[form]) == pytest.approx(expected, rel=1e-12)
    true, estimated = FORMS[form]
    assert harness.ndcg(true=true, estimated=estimated) == harness.ndcg(true, estimated)


def test_one_user_in_several_forms():
    expected = harness.ndcg(TRUE, ESTIMATED)
    items = [dict(zip(ITEMS, values, strict=True)) for values in (TRUE, ESTIMATED)]
    assert harness.ndcg(*items) == expected
    assert harness.ndcg(*map(pd.Series, (TRUE, ESTIMATED))) == expected
    assert harness.ndcg(tuple(TRUE), np.array(ESTIMATED)) == expected


def test_lists_of_users_need_not_be_of_one_length():
    found = harness.ndcg([TRUE, [1, 2]], [ESTIMATED, [0.5, 0.25]])
    assert found == pytest.approx(
        (harness.ndcg(TRUE, ESTIMATED) + harness.ndcg([1, 2], [0.5, 0.25])) / 2
    )


def test_k_stays_the_second_argument_of_predictions():
    pairs = list(zip(ESTIMATED, TRUE, strict=True))
    assert harness.ndcg(pairs, 1) == harness.ndcg(pairs, k=1) == harness.ndcg(TRUE, ESTIMATED, 1)
    assert harness.ndcg(pairs, None) == harness.ndcg(TRUE, ESTIMATED, None)
    assert harness.ndcg(pairs, np.int64(2)) == harness.ndcg(pairs, 2)
    with pytest.raises(MetricError, match="whole number from 1"):
        harness.ndcg(pairs, -1)


PREDICTIONS = [surprise.Prediction("a", "x", 5, 4.5, {}), surprise.Prediction("a", "y", 3, 2.0, {})]
REFUSED = {
    "turned round": (ESTIMATED, TRUE, "turn them round, or say which is which"),
    "other lengths": (TRUE, ESTIMATED[:3], "true has 4 rows and estimated 3"),
    "other lengths of a user": ([TRUE, [1]], [ESTIMATED, [1.5, 2.5]], "row 2: 1 true and 2"),
    "empty": ([], [], "empty"),
    "other forms": (TRUE, dict(enumerate(ESTIMATED)), "true is a list and estimated is a mapping"),
    "a list and lists": (TRUE, [ESTIMATED] * 4, "the other has numbers"),
    "numbers beside lists": ([1, [2]], [1.5, [2.5]], "numbers beside lists"),
    "three dimensions": (np.ones((2, 2, 2)), np.ones((2, 2, 2)) / 3, "2 dimensions"),
    "text": (["5", "3"], [1.5, 2.5], "give numbers only"),
    "items": ([["x", "y"]], [["y", "x"]], "give numbers only"),
    "one text": ("5", [1.5], "give a list, an array"),
    "sets": ({5, 3}, {1.5, 2.5}, "give a list, an array"),
    "a number": (5, [1.5], "give a list, an array"),
    "no number": ([5, None], [1.5, 2.5], "not finite"),
    "nan": ([5, float("nan")], [1.5, 2.5], "nan|finite|missing"),
    "predictions": (PREDICTIONS, [4.5, 2.0], "predictions of Surprise beside a second list"),
    "rows with ids": ([("a", "x", 5.0)], [("a", "x", 4.5)], "a row with ids"),
    "other users": ({"a": [1, 2]}, {"b": [1.5, 2.5]}, "user 'b' has no true value"),
    "other items": ({"a": {"x": 1}}, {"a": {"x": 1.5, "y": 2}}, "item 'y' has no true value"),
    "names and positions": ({"a": {"x": 1}}, {"a": [1.5]}, "by name, the other by position"),
    "items without users": ({"x": 5}, {"a": [1.5]}, "numbers, the other lists"),
    "an empty mapping": ({}, {}, "empty"),
    "no estimate of a pair": (TRUE_LONG, ESTIMATED_LONG[1:], "1 of 8 pairs are in only one table"),
    "a pair twice": (TRUE_LONG, pd.concat([SHUFFLED, SHUFFLED[:1]]), "twice"),
    "ids of other types": (
        TRUE_LONG.assign(item=[*range(8)]), SHUFFLED.assign(item=[*"abcdefgh"]), "ids of items"
    ),
    "a long and a wide frame": (TRUE_LONG, WIDE[1], "the other has not"),
    "no values": (TRUE_LONG[["user", "item"]], SHUFFLED, "rating"),
    "a wide frame of other items": (WIDE[0], WIDE[1][["x", "y"]], "no estimated value"),
    "an index in another order": (
        pd.Series(TRUE), pd.Series(ESTIMATED).iloc[::-1], "the indexes of true and estimated differ"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_told_is_asked(case):
    true, estimated, said = REFUSED[case]
    with pytest.raises(MetricError, match=said) as caught:
        harness.ndcg(true, estimated)
    assert "\n" not in str(caught.value)


def test_named_values_may_look_like_anything():
    assert harness.ndcg(true=ESTIMATED, estimated=TRUE, gain="linear") == pytest.approx(
        ndcg_score([ESTIMATED], [TRUE], k=10)
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing is given"),
        ({"true": TRUE}, "no estimated"),
        ({"predictions": TRUE, "true": TRUE, "estimated": ESTIMATED}, "twice"),
    ],
)
def test_half_of_the_arguments_is_refused(given, said):
    with pytest.raises(MetricError, match=said):
        harness.ndcg(**given)


def test_estimates_of_a_frame_may_be_called_ratings():
    renamed = ESTIMATED_LONG.rename(columns={"estimate": "rating"})
    both = zip(aligned(TRUE_LONG, renamed), aligned(TRUE_LONG, ESTIMATED_LONG), strict=True)
    assert all(one.tolist() == other.tolist() for one, other in both)
