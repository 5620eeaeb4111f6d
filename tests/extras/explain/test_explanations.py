"""The terms of an estimate, against Surprise's own estimates and plain loops over neighbours."""

import heapq
import json
import re

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError
from harness.extras.explain.explanations import in_words

RNG = np.random.default_rng(8)
ROWS = [
    (f"u{u}", i, float(RNG.integers(1, 6)))
    for u in range(14)
    for i in RNG.permutation(12)[:7].tolist()
]
PAIRS = [(f"u{u}", i) for u in range(14) for i in range(12)]
MODELS = {
    "SVD": lambda: surprise.SVD(n_factors=3, n_epochs=30, lr_all=0.02, random_state=0),
    "SVD without biases": lambda: surprise.SVD(n_factors=3, biased=False, random_state=0),
    "SVDpp": lambda: surprise.SVDpp(n_factors=2, n_epochs=20, lr_all=0.05, random_state=1),
    "NMF": lambda: surprise.NMF(n_factors=3, n_epochs=10, random_state=2),
    "NMF with biases": lambda: surprise.NMF(n_factors=3, biased=True, random_state=2),
    "BaselineOnly": lambda: surprise.BaselineOnly(verbose=False),
}
NEIGHBOURS = (
    surprise.KNNBasic,
    surprise.KNNWithMeans,
    surprise.KNNWithZScore,
    surprise.KNNBaseline,
)


@pytest.fixture(scope="module")
def trainset():
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"])
    reader = surprise.Reader(rating_scale=(1, 5))
    return surprise.Dataset.load_from_df(frame, reader).build_full_trainset()


@pytest.mark.parametrize("by", ["harness", "surprise"])
@pytest.mark.parametrize("name", MODELS)
def test_the_terms_of_factors_and_biases_add_up_to_the_estimate(name, by, trainset):
    model = MODELS[name]()
    harness.fit(model, trainset) if by == "harness" else model.fit(trainset)
    for user, item in PAIRS[::5]:
        terms = harness.explain(model, user, item, factors=True)
        assert terms["value"].sum() == pytest.approx(model.predict(user, item).est, rel=1e-12)
        u, i = trainset.to_inner_uid(user), trainset.to_inner_iid(item)
        values = dict(zip(terms["term"], terms["value"], strict=True))
        if "mean" in values:
            assert values["mean"] == trainset.global_mean
            assert (values["user"], values["item"]) == (model.bu[u], model.bi[i])
        if name.startswith(("SVD", "NMF")):
            n = model.n_factors
            factors = [values[f"factor {place}"] for place in range(1, n + 1)]
            vector = np.array(model.pu[u])
            if name == "SVDpp":
                rated = [j for j, _ in trainset.ur[u]]
                vector = vector + model.yj[rated].sum(axis=0) / np.sqrt(len(rated))
            assert factors == pytest.approx(vector * model.qi[i], rel=1e-9)


@pytest.mark.parametrize("by", ["harness", "surprise"])
@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("kind", NEIGHBOURS)
def test_the_terms_of_neighbours_are_theirs_and_add_up(kind, user_based, by, trainset):
    options = {"name": "msd", "user_based": user_based}
    model = kind(k=3, min_k=2, sim_options=options, verbose=False)
    harness.fit(model, trainset) if by == "harness" else model.fit(trainset)
    sim = np.asarray(model.sim)
    raw = trainset.to_raw_uid if user_based else trainset.to_raw_iid
    by_y = trainset.ir if user_based else trainset.ur
    for user, item in PAIRS[::5]:
        prediction = model.predict(user, item)
        if prediction.details["was_impossible"]:
            with pytest.raises(AlgorithmError, match="fewer than min_k=2 neighbours"):
                harness.explain(model, user, item)
            continue
        terms = harness.explain(model, user, item)
        assert terms["value"].sum() == pytest.approx(prediction.est, rel=1e-12)
        x, y = trainset.to_inner_uid(user), trainset.to_inner_iid(item)
        x, y = (x, y) if user_based else (y, x)
        near = heapq.nlargest(3, [(raw(v), sim[x, v], r) for v, r in by_y[y]], lambda t: t[1])
        near = [row for row in near if row[1] > 0]
        neighbours = terms[terms["term"] == "neighbour"]
        columns = neighbours[["neighbour", "similarity", "rating"]]
        assert [*columns.itertuples(index=False, name=None)] == near
        if kind is surprise.KNNBasic:
            weights = np.array([s for _, s, _ in near])
            expected = weights * [r for *_, r in near] / weights.sum()
            assert neighbours["value"].tolist() == pytest.approx(expected, rel=1e-12)


def test_what_the_scale_cuts_off_is_a_term(trainset):
    model = surprise.SVD(n_factors=2, n_epochs=5, random_state=0)
    harness.fit(model, trainset)
    model.bu = model.bu + 9.0
    terms = harness.explain(model, "u1", 3)
    assert terms["term"].iloc[-1] == "clipped"
    assert terms["value"].iloc[-1] < -5
    assert terms["value"].sum() == pytest.approx(5.0)


def test_too_few_neighbours_leave_the_beginning_of_the_estimate(trainset):
    model = harness.fit(surprise.KNNBaseline(k=3, min_k=4, verbose=False), trainset)
    terms = harness.explain(model, "u1", 3)
    assert terms["term"].tolist() == ["mean", "user", "item"]
    assert terms["value"].sum() == pytest.approx(model.predict("u1", 3).est)


@pytest.mark.parametrize(
    ("model", "user", "item", "message"),
    [
        (
            surprise.NormalPredictor,
            "u1",
            3,
            "NormalPredictor has no terms to show; use one",
        ),
        (surprise.SVD, "nobody", 3, "explain: user 'nobody' is not in the training set; give one"),
        (surprise.SVD, "u1", "3", "explain: item '3' is not in the training set; give one like"),
    ],
)
def test_what_cannot_be_explained_says_what_to_do(model, user, item, message, trainset):
    fitted = harness.fit(model(), trainset)
    with pytest.raises(AlgorithmError, match=message):
        harness.explain(fitted, user, item)


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(AlgorithmError, match=r"not fitted; call harness\.fit"):
        harness.explain(surprise.SVD(), "u1", 3)


RANDOM = {"Random", "NormalPredictor"}
"""Whose estimates are drawn: no term decides them."""
ALGORITHMS = [
    name
    for name, entry in registry.algorithms().items()
    if not entry.__module__.startswith("harness.extras")
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_terms_of_every_algorithm_add_up_to_the_estimate(name, factors, trainset):
    model = registry.entry(name).model_class()
    if name in RANDOM:
        harness.fit(model, trainset)
        with pytest.raises(AlgorithmError, match=f"{name} has no terms to show"):
            harness.explain(model, "u1", 3, factors=factors)
        return
    if hasattr(model, "n_factors"):
        model.n_factors = 4
    harness.fit(model, trainset)
    for user, item in PAIRS[::7]:
        prediction = model.predict(user, item)
        if prediction.details["was_impossible"]:
            continue
        terms = harness.explain(model, user, item, factors=factors)
        assert terms["value"].sum() == pytest.approx(prediction.est, rel=1e-9, abs=1e-12)
        of_items = terms["term"].isin(["rated", "neighbour"])
        assert not (of_items & terms["neighbour"].isna()).any()
        assert terms.loc[of_items, "share"].sum() == pytest.approx(float(of_items.any()))
        assert terms.loc[~of_items, "share"].isna().all()
        for most in (1, 3, 1000):
            lines = in_words(terms, most)
            assert sum(value for _, value, _ in lines) == pytest.approx(prediction.est, rel=1e-9)
            assert len(lines) == (~of_items).sum() + min(most + 1, of_items.sum())


def test_the_implicit_part_of_svdpp_is_told_by_item(trainset):
    model = harness.fit(MODELS["SVDpp"](), trainset)
    terms = harness.explain(model, "u1", 3)
    assert terms["term"].tolist()[:4] == ["mean", "user", "item", "factors"]
    u, i = trainset.to_inner_uid("u1"), trainset.to_inner_iid(3)
    ratings = {trainset.to_raw_iid(j): rating for j, rating in trainset.ur[u]}
    rated = terms[terms["term"] == "rated"]
    assert dict(zip(rated["neighbour"], rated["rating"], strict=True)) == ratings
    for raw, value in zip(rated["neighbour"], rated["value"], strict=True):
        expected = model.yj[trainset.to_inner_iid(raw)] @ model.qi[i] / np.sqrt(len(ratings))
        assert value == pytest.approx(expected, rel=1e-9)
    assert rated["value"].abs().is_monotonic_decreasing
    values = dict(zip(terms["term"], terms["value"], strict=True))
    assert values["factors"] == pytest.approx(model.pu[u] @ model.qi[i], rel=1e-9)


def test_a_slope_is_told_by_item(trainset):
    model = harness.fit(surprise.SlopeOne(), trainset)
    terms = harness.explain(model, "u1", 3)
    u, i = trainset.to_inner_uid("u1"), trainset.to_inner_iid(3)
    common = [j for j, _ in trainset.ur[u] if model.freq[i, j] > 0]
    rated = terms[terms["term"] == "rated"].set_index("neighbour")["value"]
    assert len(rated) == len(common)
    for j in common:
        raw = trainset.to_raw_iid(j)
        assert rated[raw] == pytest.approx(model.dev[i, j] / len(common), rel=1e-12)


def test_words_say_whose_mean_a_term_is(trainset):
    first = {
        surprise.KNNWithMeans: "mean rating of user u1",
        surprise.BaselineOnly: "mean of all ratings",
        surprise.CoClustering: "mean rating of the clusters of user and item",
    }
    for kind, text in first.items():
        model = harness.fit(kind(), trainset)
        assert in_words(harness.explain(model, "u1", 3))[0][0] == text


CONFIG = """
dataset: {synthetic: {n_users: 30, n_items: 40, n_ratings: 600}}
algorithms: [SVDpp, KNNBaseline]
metrics: [ndcg@5]
"""


def test_the_command_fits_eighty_columns_and_adds_up(call, tmp_path, monkeypatch):
    (tmp_path / "my.yaml").write_text(CONFIG)
    monkeypatch.setenv("COLUMNS", "80")
    asked = ("explain", "my.yaml", "--algorithm", "SVDpp", "--user", "1", "--item", "2")
    out = call.done(*asked, "--top", "2")
    assert max(map(len, out.splitlines())) <= 80
    first, _, *lines, _, last = out.splitlines()
    assert first.startswith("SVDpp estimates ")
    values = [float(re.search(r" ([+-]\d\.\d{3})", line)[1]) for line in lines]
    assert sum(values) == pytest.approx(float(last.split()[1]), abs=0.001 * len(values))
    assert sum(line.startswith("item ") and "the user rated" in line for line in lines) == 2
    assert "more items" in lines[-1]
    document = json.loads(call.done(*asked, "--json", "--factors"))
    terms = [row["term"] for row in document["result"]]
    assert "factor 20" in terms
    assert document["result"][0]["share"] is None


def test_the_command_refuses_unknown_ids(call, tmp_path):
    (tmp_path / "my.yaml").write_text(CONFIG)
    asked = ("explain", "my.yaml", "--algorithm", "SVDpp")
    assert "user '99' is not in the training set" in call.refused(
        *asked, "--user", "99", "--item", "2"
    )
    assert "item 'x' is not in the training set" in call.refused(
        *asked, "--user", "1", "--item", "x"
    )
