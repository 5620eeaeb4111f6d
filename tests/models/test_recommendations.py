"""Fits, estimates and lists by raw ids, against plain loops over Surprise's predict."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError, DataError

NAMES = [*registry.names("surprise"), *registry.names("baseline")]
ROWS = [
    (f"u{u}", i, float((u * u + 3 * i) % 5 + 1)) for u in range(12) for i in range(u % 4, 15, 2)
]


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))


def fitted(name, data, **params):
    return harness.fit(registry.create(name, params, seed=0), data)


@pytest.mark.parametrize("name", [each for each in NAMES if each != "NormalPredictor"])
@pytest.mark.parametrize("by", ["harness", "surprise"])
def test_estimates_are_those_of_predict_whoever_fitted(name, by, data):
    model = registry.create(name, {}, seed=0)
    if by == "harness":
        assert harness.fit(model, data) is model
    else:
        model.fit(data.build_full_trainset())
    pairs = [(u, i) for u, i, _ in ROWS[::3]] + [("u3", 99), ("nobody", 3), ("nobody", 99)]
    expected = [model.predict(*pair).est for pair in pairs]
    np.testing.assert_allclose(harness.estimate(model, pairs), expected, rtol=1e-12)
    frame = pd.DataFrame(pairs, columns=["user", "item"])[["item", "user"]]
    np.testing.assert_allclose(harness.estimate(model, frame), expected, rtol=1e-12)


def test_a_seeded_normal_predictor_draws_in_the_order_of_the_pairs(data):
    model, pairs = fitted("NormalPredictor", data), [("u1", 3), ("nobody", 3), ("u2", 4)]
    np.random.seed(0)
    expected = [model.predict(*pair).est for pair in pairs]
    assert harness.estimate(model, pairs).tolist() == expected


def loop(model, users, n, *, keep=False, least=-np.inf):
    """Return each user's best items by predict, those of equal estimate as a set."""
    trainset = model.trainset
    found = []
    for user in users:
        own = {trainset.to_raw_iid(i) for i, _ in trainset.ur[trainset.to_inner_uid(user)]}
        items = [trainset.to_raw_iid(i) for i in trainset.all_items()]
        estimates = {i: model.predict(user, i).est for i in items if keep or i not in own}
        ordered = sorted((e for e in estimates.values() if e >= least), reverse=True)[:n]
        found.append((ordered, estimates))
    return found


@pytest.mark.parametrize("name", [each for each in NAMES if each != "NormalPredictor"])
@pytest.mark.parametrize(("seen", "least"), [("leave-out", None), ("keep", None), ("keep", 3.5)])
def test_lists_are_the_best_by_predict(name, seen, least, data):
    model, users = fitted(name, data), ["u7", "u0", "u11"]
    found = harness.recommend(model, n=4, users=users, seen=seen, least=least)
    expected = loop(model, users, 4, keep=seen == "keep", least=least or -np.inf)
    for user, (ordered, estimates) in zip(users, expected, strict=True):
        mine = found[found["user"] == user]
        assert mine["rank"].tolist() == list(range(1, len(ordered) + 1))
        np.testing.assert_allclose(mine["estimate"], ordered, rtol=1e-12)
        assert mine["item"].is_unique
        for item, value in zip(mine["item"], mine["estimate"], strict=True):
            assert estimates[item] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("name", ["SVD", "KNNBasic", "Popularity"])
def test_lists_hold_only_the_items_that_may_be_shown(name, data):
    model, users = fitted(name, data), ["u7", "u0"]
    every = harness.recommend(model, n=99, users=users)
    some, hidden = [1, 2, 5, 8, 11, 14], [2, 3, "no such item"]
    found = harness.recommend(model, n=99, users=users, items=some, without=hidden)
    expected = every[every["item"].isin([1, 5, 8, 11, 14])]
    assert found[["user", "item", "estimate"]].equals(
        expected[["user", "item", "estimate"]].reset_index(drop=True)
    )
    assert found.groupby("user")["rank"].apply(list).map(lambda ranks: ranks[0]).tolist() == [1, 1]


@pytest.mark.parametrize("least", [None, 3.2])
def test_unknown_users_get_the_most_rated_items_if_asked(least, data):
    model, users = fitted("SVD", data), ["nobody", "u0", "nobody else"]
    options = {"items": [*range(10)], "without": [4], "least": least}
    found = harness.recommend(model, n=3, users=users, unknown_users="popular", **options)
    known = harness.recommend(model, n=3, users=["u0"], **options)
    assert found["user"].drop_duplicates().tolist() == [
        user for user in users if user != "u0" or len(known)
    ]
    assert found[found["user"] == "u0"].reset_index(drop=True).equals(known)
    counts = pd.Series([item for _, item, _ in ROWS]).value_counts()
    allowed = [item for item in range(10) if item != 4]
    estimates = {item: model.predict("nobody", item).est for item in allowed}
    shown = [item for item in allowed if least is None or estimates[item] >= least]
    top = sorted((counts[item] for item in shown), reverse=True)[:3]
    for user in ("nobody", "nobody else"):
        mine = found[found["user"] == user]
        assert mine["rank"].tolist() == [*range(1, len(top) + 1)]
        assert [counts[item] for item in mine["item"]] == top
        assert [estimates[item] for item in mine["item"]] == mine["estimate"].tolist()


def test_all_users_are_the_default_and_blocks_are_the_same(data):
    model = fitted("KNNBasic", data)
    found = harness.recommend(model, n=3)
    assert list(dict.fromkeys(found["user"])) == [f"u{u}" for u in range(12)]
    blocks = list(harness.recommend_in_blocks(model, n=3))
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), found)


def test_ties_favour_no_item_and_do_not_depend_on_the_order_of_the_rows(data):
    flat = [(f"u{u}", i, 3.0) for u in range(40) for i in range(30) if (u + i) % 3]
    firsts = []
    for rows in (flat, flat[::-1]):
        frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
        reader = surprise.Reader(rating_scale=(1, 5))
        model = fitted("ItemMean", surprise.Dataset.load_from_df(frame, reader))
        firsts.append(harness.recommend(model, n=1).set_index("user")["item"])
    pd.testing.assert_series_equal(firsts[0].sort_index(), firsts[1].sort_index())
    assert firsts[0].nunique() > 10


class Own(surprise.AlgoBase):
    def fit(self, trainset):
        super().fit(trainset)
        return self

    def estimate(self, u, i):
        return 3.0 if isinstance(i, str) else float(i % 5 + 1)


def test_a_class_of_ones_own_works_but_takes_no_new_users(data):
    model = harness.fit(Own(), data)
    assert harness.estimate(model, [("u0", 2), ("u0", 99)]).tolist() == [
        model.predict("u0", 2).est,
        3.0,
    ]
    assert len(harness.recommend(model, n=2, users=["u1"])) == 2
    with pytest.raises(AlgorithmError, match="your own class cannot take new users"):
        harness.fold_in(model, {1: 4.0})


CASES = [
    (
        lambda m: harness.fit(m, 7),
        DataError,
        "7 is not ratings; give the name of a data set",
    ),
    (
        lambda m: harness.estimate(surprise.SVD(), []),
        AlgorithmError,
        "not fitted; call harness.fit",
    ),
    (
        lambda m: harness.estimate(m, [("0", "1")]),
        AlgorithmError,
        r"none of these items; its ids are like 0 \(int\)",
    ),
    (lambda m: harness.estimate(m, [(7, 1)]), AlgorithmError, "none of these users; its ids"),
    (lambda m: harness.estimate(m, (7, 1)), AlgorithmError, "7; give"),
    (lambda m: harness.fit(surprise.SVD, m), AlgorithmError, "the class SVD; give an object of it"),
    (
        lambda m: harness.recommend("model.zip"),
        AlgorithmError,
        "model.zip: cannot be read",
    ),
    (lambda m: harness.recommend(m, users="u0"), AlgorithmError, "'u0' .str.; give a list"),
    (lambda m: harness.recommend(m, users=7), AlgorithmError, "7 .int.; give a list"),
    (
        lambda m: harness.recommend(m, least=5.5),
        AlgorithmError,
        "5.5, which no estimate",
    ),
    (lambda m: harness.estimate(m, ["u0"]), AlgorithmError, "'u0'; give \\(user, item\\) pairs"),
    (lambda m: harness.estimate(m, [{"user": 7}]), AlgorithmError, "'user': 7.*; give"),
    (lambda m: harness.recommend(m, n=0), AlgorithmError, "n is 0; give a whole number from 1"),
    (
        lambda m: harness.recommend(m, n=2.0),
        AlgorithmError,
        "n is 2.0 .float.; give a whole number",
    ),
    (lambda m: harness.recommend(m, users=["u0", "x", "y"]), AlgorithmError, "2 of 3 .*'x', 'y'"),
    (lambda m: harness.recommend(m, items=[1, 77]), AlgorithmError, r"1 of 2 .*\(77\); its ids"),
    (lambda m: harness.recommend(m, items=[]), AlgorithmError, "items: none; give at least one"),
    (lambda m: harness.recommend(m, items="1"), AlgorithmError, "'1' .str.; give a list"),
    (lambda m: harness.recommend(m, unknown_users="x"), AlgorithmError, "use one of error, popul"),
    (lambda m: harness.recommend(m, seen="drop"), AlgorithmError, "use one of keep, leave-out"),
    (lambda m: harness.fold_in(m, {99: 4.0}), DataError, "items that .* not have \\(99\\)"),
    (lambda m: harness.fold_in(m, {1: 9.0}), DataError, "9; the scale .* is 1 to 5"),
    (lambda m: harness.fold_in(m, {1: float("nan")}), DataError, "nan; the scale"),
    (lambda m: harness.fold_in(m, {}), DataError, "none; give"),
    (
        lambda m: harness.recommend(m, ["u0"]),
        AlgorithmError,
        "give a mapping of items to ratings of a new user, a pandas.DataFrame, or users=",
    ),
    (
        lambda m: harness.fold_in(m, pd.DataFrame({"user": [1]})),
        DataError,
        "no column item, rating",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CASES)
def test_bad_input_is_named(call, error, message, data):
    with pytest.raises(error, match=message):
        call(fitted("SVD", data))


def of_rows(rows, scale=(1, 5)):
    reader = surprise.Reader(rating_scale=scale)
    return surprise.Dataset(reader).construct_trainset([(*row, None) for row in rows])


RAW_IDS = {
    "tuples": lambda side, n: (side, n),
    "nested tuples": lambda side, n: (side, (n, "x")),
    "frozen sets": lambda side, n: frozenset([side, n]),
    "dates": lambda side, n: pd.Timestamp(2020, 1, n + 1),
    "bytes": lambda side, n: f"{side}{n}".encode(),
    "text of other scripts": lambda side, n: f"{side}\N{SNOWMAN}{n}",
}


@pytest.mark.parametrize("raw", RAW_IDS.values(), ids=RAW_IDS)
def test_raw_ids_of_any_hashable_kind_are_recommended_and_folded_in(raw):
    rows = [(u, i, float((u * u + 3 * i) % 5 + 1)) for u in range(5) for i in range(u % 2, 8, 2)]
    by_name = of_rows([(raw("u", u), raw("i", i), rating) for u, i, rating in rows])
    model = harness.fit(surprise.BaselineOnly(verbose=False), by_name)
    by_number = harness.fit(surprise.BaselineOnly(verbose=False), of_rows(rows))
    found = harness.recommend(model, n=8, users=[raw("u", 2)], seen="keep")
    expected = harness.recommend(by_number, n=8, users=[2], seen="keep")
    assert {*found["item"]} == {raw("i", i) for i in range(8)}
    assert found["estimate"].tolist() == expected["estimate"].tolist()
    assert harness.estimate(model, [(raw("u", 2), raw("i", 1))]) == harness.estimate(
        by_number, [(2, 1)]
    )
    folded = harness.fold_in(model, {raw("i", 1): 4.0, raw("i", 2): 1.0})
    assert (
        folded.predict("new user", raw("i", 3)).est
        == harness.fold_in(by_number, {1: 4.0, 2: 1.0}).predict("new user", 3).est
    )
    frame = pd.DataFrame({"user": [raw("u", 9)] * 2, "rating": [4.0, 1.0]})
    frame["item"] = pd.Series([raw("i", 1), raw("i", 2)])
    assert (
        harness.fold_in(model, frame).predict(raw("u", 9), raw("i", 3)).est
        == folded.predict("new user", raw("i", 3)).est
    )


@pytest.mark.parametrize("name", registry.names("surprise"))
@pytest.mark.parametrize("rating", [float("nan"), float("inf")])
def test_a_rating_that_is_not_finite_is_refused_with_its_pair(name, rating):
    trainset = of_rows([("a", "x", 3.0), ("b", "x", rating), ("b", "y", 2.0)])
    with pytest.raises(DataError, match=rf"user 'b', item 'x': the rating {rating} is not finite"):
        harness.fit(registry.create(name, {}, seed=0), trainset)


@pytest.mark.parametrize("name", ["SVD", "SVDpp", "NMF"])
def test_a_fit_that_diverges_is_refused_as_by_a_run(name, data):
    params = {"lr_bu": 90.0, "lr_bi": 90.0, "biased": True} if name == "NMF" else {"lr_all": 90.0}
    with pytest.raises(AlgorithmError, match=f"{name}: .*the fit diverged: lower the learning"):
        fitted(name, data, **params)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_estimates_of_a_diverged_fit_of_surprise_are_refused(data):
    model = surprise.SVD(lr_all=90.0, random_state=0).fit(data.build_full_trainset())
    for call in (lambda: harness.estimate(model, [("u1", 3)]), lambda: harness.recommend(model)):
        with pytest.raises(AlgorithmError, match="the fit diverged"):
            call()


@pytest.mark.parametrize("name", ["KNNBasic", "KNNWithMeans", "KNNWithZScore"])
@pytest.mark.parametrize(("by_user", "message"), [
    (True, "two users have no cosine .* user 'a' with 2 ratings of 0; use another similarity"),
    (False, "two items have no cosine .* item 'y' with 2 ratings of 0; use another similarity"),
])  # fmt: skip
def test_ratings_of_zero_have_no_cosine_and_the_error_names_them(name, by_user, message):
    rows = [("a", "x", 0.0), ("a", "y", 0.0), ("b", "x", 1.0), ("b", "y", 0.0), ("c", "x", 2.0)]
    model = getattr(surprise, name)(
        sim_options={"name": "cosine", "user_based": by_user}, verbose=False
    )
    with pytest.raises(AlgorithmError, match=message):
        harness.fit(model, of_rows(rows, (0, 5)))
