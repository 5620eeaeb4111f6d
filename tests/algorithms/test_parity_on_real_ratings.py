"""Fits and estimates on half stars (bundled) and whole stars (MovieLens 100K), against Surprise."""

import numpy as np
import pytest

from harness import datasets
from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.models import estimates as models

QUIET = {"verbose": False}
MODELS = {
    "SVD": (surprise.SVD, {"random_state": 0}),
    "SVD unbiased": (surprise.SVD, {"random_state": 0, "biased": False}),
    "SVDpp": (surprise.SVDpp, {"random_state": 0, "n_epochs": 3}),
    "NMF": (surprise.NMF, {"random_state": 0}),
    "NMF biased": (surprise.NMF, {"random_state": 0, "biased": True}),
    "BaselineOnly": (surprise.BaselineOnly, QUIET),
    "BaselineOnly sgd": (surprise.BaselineOnly, QUIET | {"bsl_options": {"method": "sgd"}}),
    "SlopeOne": (surprise.SlopeOne, {}),
    "CoClustering": (surprise.CoClustering, {"random_state": 0}),
}
for kind in (surprise.KNNBasic, surprise.KNNWithMeans, surprise.KNNWithZScore):
    MODELS[kind.__name__] = (kind, QUIET)
for name in ("msd", "cosine", "pearson", "pearson_baseline"):
    for user_based in (True, False):
        options = {"name": name, "user_based": user_based, "min_support": 2}
        side = "users" if user_based else "items"
        MODELS[f"KNNBaseline {name} {side}"] = (
            surprise.KNNBaseline,
            QUIET | {"sim_options": options},
        )
LEARNED = ("bu", "bi", "pu", "qi", "yj", "sim", "means", "sigmas", "dev", "freq")
CLUSTERS = ("cltr_u", "cltr_i")


def halves(ratings, fewest):
    """Three quarters to fit on, in both forms, and the rest; of items with so many ratings."""
    often = np.flatnonzero(np.bincount(ratings.items)[ratings.items] >= fewest)
    order = np.random.default_rng(0).permutation(often)
    cut = 3 * len(order) // 4
    train, test = order[:cut], order[cut:]
    plain = ratings.take(train).to_surprise().build_full_trainset()
    columns = ColumnTrainset.of_ratings(ratings, train)
    return columns, plain, ratings.users[test], ratings.items[test]


@pytest.fixture(scope="module")
def half_stars():
    # Surprise keeps up to seven matrices of items times items.
    return halves(datasets.load("bundled"), fewest=8)


@pytest.fixture(
    scope="module",
    params=["half_stars", pytest.param("ml_100k", marks=[pytest.mark.network, pytest.mark.long])],
)
def parts(request):
    given = request.getfixturevalue(request.param)
    return given if request.param == "half_stars" else halves(given, fewest=1)


SLOW = ("KNNBaseline ", "SVDpp", "NMF biased", "SlopeOne")


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] if name.startswith(SLOW) else [])
        for name in MODELS
    ],
)
def test_parameters_and_estimates_are_surprise_s(parts, name):
    columns, plain, users, items = parts
    kind, options = MODELS[name]
    theirs, ours = kind(**options).fit(plain), kind(**options)
    assert models.fit(ours, columns, as_surprise=True) == "accelerated"
    for learned in LEARNED + CLUSTERS:
        expected = getattr(theirs, learned, None)
        if expected is not None:
            # An entry near 0 is compared with the size of the others.
            scale = np.abs(np.nan_to_num(expected)).max(initial=0)
            np.testing.assert_allclose(
                getattr(ours, learned), expected, rtol=1e-9, atol=1e-12 * scale, err_msg=learned
            )
    part = slice(0, 400)
    asked = zip(columns.raw_users(users[part]), columns.raw_items(items[part]), strict=True)
    expected = [theirs.predict(user, item) for user, item in asked]
    estimates, impossible = models.estimate(ours, users[part], items[part])
    np.testing.assert_allclose(estimates, [each.est for each in expected], rtol=1e-9)
    assert impossible.tolist() == [each.details["was_impossible"] for each in expected]
    everyone = np.flatnonzero(columns.inner_users >= 0)
    for start, _, rows in models.catalogue(ours, everyone):
        for place in (0, len(rows) - 1):
            (user,) = columns.raw_users(everyone[[start + place]])
            chosen = slice(place, None, 100)
            expected = [
                theirs.predict(user, item).est
                for item in columns.raw_items(columns.item_codes[chosen])
            ]
            np.testing.assert_allclose(rows[place, chosen], expected, rtol=1e-9)
