"""New users of a fitted model, against fits with them and steps by hand."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError, DataError

ITEM_BASED = {"sim_options": {"user_based": False}, "verbose": False}
ROWS = [
    (f"u{u}", i, float((u * u + 3 * i) % 5 + 1)) for u in range(12) for i in range(u % 4, 15, 2)
]


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))


def fitted(name, data, **params):
    return harness.fit(registry.create(name, params, seed=0), data)


@pytest.mark.parametrize(
    ("name", "params"),
    [(f"KNN{kind}", ITEM_BASED) for kind in ("Basic", "WithMeans", "WithZScore", "Baseline")]
    + [("BaselineOnly", {}), ("SlopeOne", {}), ("ItemMean", {}), ("Popularity", {})],
)
def test_a_training_user_who_is_folded_in_has_the_same_estimates(name, params, data):
    model = fitted(name, data, **params)
    items = [model.trainset.to_raw_iid(i) for i in model.trainset.all_items()]
    for user in ("u0", "u5"):
        ratings = {i: r for u, i, r in ROWS if u == user}
        new = harness.fold_in(model, ratings)
        expected = [model.predict(user, item).est for item in items]
        assert harness.estimate(new, [("new user", item) for item in items]).tolist() == expected
        assert [new.predict("new user", item).est for item in items] == expected
        lists = [
            harness.recommend(model, ratings, n=99),
            harness.recommend(model, n=99, users=[user]),
        ]
        assert sorted(lists[0]["item"]) == sorted(lists[1]["item"])


@pytest.mark.parametrize("kind", ["Basic", "WithMeans", "WithZScore", "Baseline"])
@pytest.mark.parametrize("measure", ["cosine", "msd", "pearson", "pearson_baseline"])
@pytest.mark.parametrize("support", [1, 7])  # some users have fewer ratings than 7
def test_where_neighbours_are_users_a_training_user_is_his_own_neighbour(
    kind, measure, support, data
):
    options = {"name": measure, "min_support": support}
    model = fitted(f"KNN{kind}", data, sim_options=options, verbose=False, k=4)
    items = [model.trainset.to_raw_iid(i) for i in model.trainset.all_items()]
    users = ["u0", "u5", "u7"]
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    new = harness.fold_in(model, frame[frame["user"].isin(users)])
    for pairs in ([(user, item) for item in items] for user in users):
        expected = [model.predict(*pair).est for pair in pairs]
        assert harness.estimate(new, pairs) == pytest.approx(expected, abs=1e-12)
        assert [new.predict(*pair).est for pair in pairs] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"lr_bi": 0, "lr_qi": 0}),
        ("SVD", {"lr_bi": 0, "lr_qi": 0, "biased": False}),
        ("SVDpp", {"lr_bi": 0, "lr_qi": 0, "lr_yj": 0}),
        ("BaselineOnly", {"bsl_options": {"method": "sgd"}}),
    ],
)
def test_gradient_descent_gives_a_new_user_what_a_refit_with_fixed_items_would(name, params, data):
    spread = {} if name == "BaselineOnly" else {"init_mean": 0.1, "init_std_dev": 0, "n_factors": 4}
    model = fitted(name, data, **params, **spread)
    mean = float(model.trainset.global_mean)
    frame = pd.DataFrame([*ROWS, ("z", 1, mean + 1), ("z", 4, mean - 1)], columns=list("uir"))
    if name == "BaselineOnly":  # whose items always move: their biases as the loop goes
        bias = 0.0
        for _ in range(20):
            for item, rating in ((1, mean + 1), (4, mean - 1)):
                error = rating - mean - bias - model.bi[model.trainset.to_inner_iid(item)]
                bias += 0.005 * (error - 0.02 * bias)
        new = harness.fold_in(model, {1: mean + 1, 4: mean - 1})
        assert new.bu[0] == pytest.approx(bias, rel=1e-12)
        return
    both = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    again = fitted(name, both, **params, **spread)
    new = harness.fold_in(model, {1: mean + 1, 4: mean - 1})
    for item in range(15):
        expected = again.predict("z", item).est
        assert new.predict("new user", item).est == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("biased", [False, True])
def test_nmf_gives_a_new_user_the_multiplicative_steps(biased, data):
    model = fitted("NMF", data, n_factors=3, n_epochs=7, biased=biased)
    ratings, mean = {1: 4.0, 4: 2.0, 8: 5.0}, float(model.trainset.global_mean)
    inner = [model.trainset.to_inner_iid(item) for item in ratings]
    q, r = model.qi[inner], np.array(list(ratings.values()))
    p, bias = np.full(3, 0.5), 0.0
    for _ in range(7):
        estimates = q @ p
        if biased:
            for row, item in enumerate(inner):
                estimates[row] += mean + bias + model.bi[item]
                bias += model.lr_bu * (r[row] - estimates[row] - model.reg_bu * bias)
        p = p * (q.T @ r) / (q.T @ estimates + len(r) * model.reg_pu * p)
    new = harness.fold_in(model, ratings)
    np.testing.assert_allclose(new.pu[0], p, rtol=1e-9)
    np.testing.assert_allclose(new.bu[0], bias, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_coclustering_puts_a_new_user_into_the_cluster_of_least_error(seed, data):
    model = fitted("CoClustering", data, n_cltr_u=4, n_cltr_i=3, random_state=seed)
    rng = np.random.default_rng(seed)
    items = rng.permutation(15)[:6].tolist()
    ratings = dict(zip(items, rng.integers(1, 6, 6).astype(float).tolist(), strict=True))
    mean = np.mean([*ratings.values()])

    def estimate(cluster, item):
        i = model.trainset.to_inner_iid(item)
        across = model.cltr_i[i]
        of_user = mean - model.avg_cltr_u[cluster]
        of_item = model.item_mean[i] - model.avg_cltr_i[across]
        return model.avg_cocltr[cluster, across] + of_user + of_item

    errors = [
        sum((rating - estimate(cluster, item)) ** 2 for item, rating in ratings.items())
        for cluster in range(4)
    ]
    cluster = int(np.argmin(errors))
    new = harness.fold_in(model, ratings)
    expected = [float(np.clip(estimate(cluster, item), 1, 5)) for item in range(15)]
    found = harness.estimate(new, [("new user", item) for item in range(15)])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    predicted = [new.predict("new user", item).est for item in range(15)]
    np.testing.assert_allclose(predicted, expected, rtol=1e-12)
    shown = harness.recommend(model, ratings, n=99)
    assert sorted(shown["item"]) == sorted({*range(15)} - {*items})


def test_several_new_users_at_once_are_as_each_alone(data):
    model = fitted("SVDpp", data)
    frame = pd.DataFrame(
        [("a", 1, 5.0), ("b", 2, 1.0), ("a", 3, 2.0), ("b", 4, 4.0)],
        columns=["user", "item", "rating"],
    )
    together = harness.recommend(model, frame, n=3)
    assert together["user"].tolist() == ["a"] * 3 + ["b"] * 3
    alone = harness.recommend(model, {2: 1.0, 4: 4.0}, n=3)
    np.testing.assert_allclose(together["estimate"][3:], alone["estimate"], rtol=1e-12)
    assert set(together["item"][3:]) == set(alone["item"])


def test_new_ratings_of_a_training_user_are_added_to_his_own(data):
    model = fitted("SVD", data)
    own = {item: rating for user, item, rating in ROWS if user == "u2"}
    new = [item for item in {item for _, item, _ in ROWS} if item not in own][:2]
    frame = pd.DataFrame({"user": "u2", "item": new, "rating": [5.0, 1.0]})
    found = harness.recommend(model, frame, n=99)
    together = own | dict(zip(new, [5.0, 1.0], strict=True))
    expected = harness.recommend(model, together, n=99)
    assert not {*found["item"]} & {*together}
    assert found[["item", "estimate"]].sort_values("item").to_numpy().tolist() == (
        expected[["item", "estimate"]].sort_values("item").to_numpy().tolist()
    )
    item, rating = next(iter(own.items()))
    again = pd.DataFrame({"user": "u2", "item": [item], "rating": [rating]})
    assert not {*harness.recommend(model, again, n=99)["item"]} & {*own}  # the same rating
    with pytest.raises(DataError, match=r"two ratings of an item.*rated otherwise in training"):
        harness.recommend(model, again.assign(rating=6.0 - rating if rating != 3 else 4.0))


@pytest.mark.sample(3)
@pytest.mark.parametrize("measure", ["msd", "cosine", "pearson", "pearson_baseline"])
@pytest.mark.parametrize("kind", ["Basic", "WithMeans", "WithZScore", "Baseline"])
@pytest.mark.parametrize("k", [3, 40])
def test_where_neighbours_are_users_a_new_one_has_the_estimates_of_a_fit_with_him(
    kind, measure, k, data
):
    params = {"sim_options": {"name": measure, "min_support": 2}, "k": k, "verbose": False}
    model = fitted(f"KNN{kind}", data, **params)
    items = [model.trainset.to_raw_iid(i) for i in model.trainset.all_items()]
    alike = {i: r for u, i, r in ROWS if u == "u5"}
    others = pd.DataFrame({"user": "other", "item": items[:4], "rating": [5.0, 1.0, 1.0, 2.0]})
    frame = pd.DataFrame({"user": "copy", "item": [*alike], "rating": [*alike.values()]})
    new = harness.fold_in(model, pd.concat([frame, others]))
    unrated = [item for item in items if item not in alike]
    expected = [model.predict("u5", item).est for item in unrated]
    assert [new.predict("copy", item).est for item in unrated] == pytest.approx(expected, abs=1e-9)
    found = harness.estimate(new, [("copy", item) for item in unrated])
    assert found.tolist() == pytest.approx(expected, abs=1e-9)
    lists = harness.recommend(new, users=["copy"], n=99).set_index("item")["estimate"]
    assert lists[unrated].tolist() == pytest.approx(expected, abs=1e-9)
    assert {*harness.recommend(new, n=3)["user"]} == {"copy", "other"}
    if kind == "Baseline" or measure == "pearson_baseline":
        return  # a fit with the new user has other biases
    rows = [*ROWS, *others.itertuples(index=False, name=None)]
    table = pd.DataFrame(rows, columns=["user", "item", "rating"])
    reader = surprise.Reader(rating_scale=(1, 5))
    trainset = surprise.Dataset.load_from_df(table, reader).build_full_trainset()
    refitted = getattr(surprise, f"KNN{kind}")(**params).fit(trainset)
    for item in items[4:]:
        prediction = refitted.predict("other", item)
        if not prediction.details["was_impossible"]:  # else the mean, which he changes
            assert new.predict("other", item).est == pytest.approx(prediction.est, abs=1e-9)


@pytest.mark.parametrize("name", ["NormalPredictor", "Random", "UserMean"])
def test_what_cannot_take_new_users_says_so(name, data):
    with pytest.raises(AlgorithmError, match="cannot take new users; SVD, SVDpp"):
        harness.fold_in(fitted(name, data), {1: 4.0})


@pytest.mark.parametrize("rating", [3 + 4j, "four", None, np.datetime64("2020-01-01"), [3.0]])
def test_ratings_to_fold_in_that_are_no_numbers_are_refused(rating, data):
    model = fitted("BaselineOnly", data)
    with pytest.raises(DataError, match="ratings: "):
        harness.fold_in(model, {1: rating})
