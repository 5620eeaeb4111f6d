"""The most similar items and users, against plain sorting of similarities and cosines."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError

RNG = np.random.default_rng(4)
ROWS = [
    (f"u{u}", i, float(RNG.integers(1, 6)))
    for u in range(14)
    for i in RNG.permutation(12)[:8].tolist()
]


@pytest.fixture(scope="module")
def data():
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))


def expected_of(model, side, asked, values):
    """Return raw ids and similarities above 0 from the highest, without the one asked for."""
    trainset = model.trainset
    raw = trainset.to_raw_iid if side == "item" else trainset.to_raw_uid
    pairs = [(raw(inner), value) for inner, value in enumerate(values) if raw(inner) != asked]
    return sorted((pair for pair in pairs if pair[1] > 0), key=lambda pair: -pair[1])


@pytest.mark.parametrize("by", ["harness", "surprise"])
@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("measure", ["msd", "cosine", "pearson", "pearson_baseline"])
def test_neighbour_methods_have_their_own_similarities(by, user_based, measure, data):
    options = {"name": measure, "user_based": user_based}
    model = surprise.KNNBaseline(sim_options=options, verbose=False)
    train = data.build_full_trainset()
    harness.fit(model, train) if by == "harness" else model.fit(train)
    side, asked = ("user", "u3") if user_based else ("item", 3)
    found = harness.similar(model, n=99, **{side: asked})
    trainset = model.trainset
    inner = trainset.to_inner_uid(asked) if user_based else trainset.to_inner_iid(asked)
    expected = expected_of(model, side, asked, np.asarray(model.sim)[inner])
    assert list(found) == [side, "similarity", "rank"]
    assert found["rank"].tolist() == [*range(1, len(expected) + 1)]
    np.testing.assert_allclose(found["similarity"], [value for _, value in expected], rtol=1e-12)
    similarities = dict(expected)
    assert [similarities[name] for name in found[side]] == pytest.approx(
        found["similarity"].tolist(), rel=1e-12
    )
    few = harness.similar(model, n=2, **{side: asked})
    assert few.equals(found.head(2))


@pytest.mark.parametrize("name", ["SVD", "SVDpp", "NMF", "PureSVD"])
@pytest.mark.parametrize(("side", "asked", "factors"), [("item", 5, "qi"), ("user", "u2", "pu")])
def test_factors_are_compared_by_their_cosines(name, side, asked, factors, data):
    params = {"n_factors": 4} if name == "PureSVD" else {}
    model = harness.fit(registry.create(name, params, seed=0), data)
    vectors = getattr(model, factors)
    trainset = model.trainset
    inner = trainset.to_inner_iid(asked) if side == "item" else trainset.to_inner_uid(asked)
    cosines = [
        vector @ vectors[inner] / (np.linalg.norm(vector) * np.linalg.norm(vectors[inner]))
        for vector in vectors
    ]
    expected = expected_of(model, side, asked, cosines)
    found = harness.similar(model, n=99, **{side: asked})
    assert found[side].tolist() == [name for name, _ in expected]
    np.testing.assert_allclose(found["similarity"], [value for _, value in expected], rtol=1e-9)


def knn(data, *, user_based):
    options = {"user_based": user_based}
    return harness.fit(surprise.KNNBasic(sim_options=options, verbose=False), data)


def test_equal_similarities_are_in_an_order_of_the_ids_alone():
    rows = [(f"u{u}", item, 3.0) for u in range(3) for item in "abcdef"]
    orders = []
    for order in (rows, rows[::-1]):
        frame = pd.DataFrame(order, columns=["user", "item", "rating"])
        same = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
        orders.append(harness.similar(knn(same, user_based=False), item="c"))
    assert orders[0].equals(orders[1])
    assert sorted(orders[0]["item"]) == [*"abdef"]
    assert set(orders[0]["similarity"]) == {1.0}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "neither `item` nor `user`; give one of them"),
        ({"item": 1, "user": "u1"}, "both `item` and `user`; give one of them"),
        ({"item": "1"}, r"item '1' is not in the training set; give one like \d+"),
        ({"item": [1]}, "unhashable.*; give ids"),
        ({"item": 1, "n": 0}, "n is 0; give a whole number from 1"),
        ({"user": "u1"}, r"similarities of items; fit it with sim_options=\{'user_based': True"),
    ],
)
def test_what_cannot_be_answered_says_what_to_do(asked, message, data):
    with pytest.raises(AlgorithmError, match=message):
        harness.similar(knn(data, user_based=False), **asked)


def test_models_without_similarities_are_named(data):
    with pytest.raises(AlgorithmError, match=r"not fitted; call harness.fit"):
        harness.similar(surprise.SVD(), item=1)
    model = harness.fit(surprise.BaselineOnly(verbose=False), data)
    with pytest.raises(AlgorithmError, match="BaselineOnly has no similarities of items; use a"):
        harness.similar(model, item=1)


def test_the_command_prints_what_the_function_returns(call, tmp_path):
    rows = "".join(f"{user},{item},{rating}\n" for user, item, rating in ROWS)
    (tmp_path / "ratings.csv").write_text("user,item,rating\n" + rows)
    head = "dataset: ratings.csv\nmetrics: [rmse]\nalgorithms: "
    (tmp_path / "one.yaml").write_text(head + "[{name: SVD, params: {random_state: 1}}]\n")
    out = call.done("similar", "one.yaml", "--item", "2", "--top", 3)
    expected = harness.similar(harness.fit_row("one.yaml"), item="2", n=3)
    assert out == expected.to_csv(index=False, lineterminator="\n")
    (tmp_path / "mean.yaml").write_text(head + "[ItemMean]\n")
    assert "ItemMean has no similarities of items; use a neighbour method" in call.refused(
        "similar", "mean.yaml", "--item", "2"
    )
