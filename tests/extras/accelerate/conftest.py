"""Surprise is as it was after each test, and random cases for both sides."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import KFold, LeaveOneOut, ShuffleSplit, cross_validate

import harness
from harness.extras.accelerate import traps, worth
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.traps import SurpriseWarning

ALGORITHMS = [
    *("SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"),
    *("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
]
LATER = ("trainset", "_global_mean", "_inner2raw_id_users", "_inner2raw_id_items")
KINDS = {  # of ratings: the values to choose from, and the scale
    "plain": (np.arange(1.0, 6.0), (1, 5)),
    "halves": (np.arange(0.5, 5.5, 0.5), (0.5, 5)),
    "negative": (np.arange(-10.0, 10.0, 0.25), (-10, 10)),
    "repeats": (np.arange(1.0, 6.0), (1, 5)),
    "equal": (np.array([3.0]), (1, 5)),
    "one user": (np.arange(1.0, 6.0), (1, 5)),
    "text": (np.arange(1.0, 6.0), (1, 5)),
    "zeros": (np.array([0.0, 1.0]), (0, 1)),
    "thirds": (np.arange(1.0, 5.0, 1 / 3), (1, 5)),
}


@pytest.fixture(autouse=True)
def unpatched(monkeypatch):
    """No test sees the patch of another; calls are accelerated however small they are."""
    harness.unpatch_surprise()
    traps._told.clear()
    monkeypatch.setattr(worth, "known", worth.Known())
    worth.known.is_loaded = True
    yield
    harness.unpatch_surprise()


def random_rows(rng, kind):
    n_users = 1 if kind == "one user" else int(rng.integers(2, 25))
    n_items = int(rng.integers(2, 25))
    n = int(rng.integers(2, n_users * n_items + 1))
    codes = rng.permutation(n_users * n_items)[:n]
    if kind == "repeats":
        codes = rng.integers(0, n_users * n_items, n)
    pairs = np.stack([codes // n_items, codes % n_items], 1).tolist()
    if kind == "text":
        pairs = [(f"u{user}", f"i{item}") for user, item in pairs]
    ratings = rng.choice(KINDS[kind][0], n).tolist()
    return [(*pair, rating) for pair, rating in zip(pairs, ratings, strict=True)]


@pytest.fixture
def make_rows():
    """Random ratings of a kind."""
    return random_rows


def load(rows, scale):
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=scale))


@pytest.fixture
def make_data():
    """Surprise's data set of rows of user, item and rating."""
    return load


def random_parameters(rng, name):
    """Parameters that differ from the defaults, some of which make Surprise divide by 0."""

    def pick(*values):
        return values[rng.integers(len(values))]

    seeded = {"random_state": pick(None, 3)}
    factors = {"n_factors": pick(1, 2, 5, 17), "n_epochs": pick(0, 1, 4)}
    options = {
        "name": pick("cosine", "msd", "pearson", "pearson_baseline", "MSD"),
        "user_based": pick(True, False),
        "min_support": pick(1, 2, 3),
    }
    verbose = {"verbose": pick(True, False)}
    baselines = pick({}, {"method": "sgd", "n_epochs": 3}, {"method": "als", "reg_u": 1.5})
    biased = {"biased": pick(True, False)}
    neighbours = {"k": pick(1, 2, 5, 40), "min_k": pick(1, 2, 0), "sim_options": options}
    by_name = {
        "SVD": factors | seeded | verbose | biased | {"lr_all": pick(0.005, 0.1, 50.0)},
        "SVDpp": factors | seeded | verbose | {"cache_ratings": pick(True, False)},
        "NMF": factors | seeded | biased | {"reg_pu": pick(0.06, 0.0)},
        "SlopeOne": {},
        "CoClustering": seeded | verbose | {"n_cltr_u": pick(1, 3), "n_epochs": pick(0, 2)},
        "BaselineOnly": verbose | {"bsl_options": baselines},
        "NormalPredictor": {},
        "KNNBaseline": neighbours | verbose | {"bsl_options": baselines},
    }
    return by_name.get(name, neighbours | verbose)


def session(name, parameters, rows, scale, seed):
    """What a script sees of one algorithm; an exception is a result too."""
    np.random.seed(seed)
    data, seen = load(rows, scale), {}

    def see(title, call):
        try:
            seen[title] = call()
        except Exception as error:
            seen[title] = type(error).__name__, str(error)

    parameters = {
        key: dict(value) if isinstance(value, dict) else value for key, value in parameters.items()
    }
    model = getattr(surprise, name)(**parameters)
    trainset = data.build_full_trainset()
    user, item, _ = rows[0]
    pairs = [*rows, ("no one", item, 1.0), (user, "none", 2.5), ("no one", "none", None)]
    see("fit", lambda: model.fit(trainset) is model)
    see("test", lambda: model.test(pairs))
    see("anti", lambda: list(model.test(trainset.build_anti_testset())))
    see("on training", lambda: model.test(trainset.build_testset()))
    see("predict", lambda: [model.predict(*pair) for pair in pairs[-12:]])
    see("unclipped", lambda: [model.predict(*pair, clip=False) for pair in pairs[-12:]])
    see("attributes", lambda: attributes(model))
    see("trainset", lambda: attributes(trainset))
    see("neighbours", lambda: model.get_neighbors(0, 2) if hasattr(model, "sim") else [])
    for iterator in (KFold(2), ShuffleSplit(2, test_size=0.3), LeaveOneOut(2)):
        see(type(iterator).__name__, lambda iterator=iterator: folds(iterator, data))
    see("scores", lambda: scores(model, data, ["rmse", "mae", "mse", "fcp"][: 3 + seed % 2], seed))
    seen["next draw"] = np.random.random()
    return seen


def attributes(thing):
    vars_of = sorted(thing.__getstate__().items())
    return {name: value for name, value in vars_of if name not in LATER}


def folds(iterator, data):
    return [(attributes(trainset), testset) for trainset, testset in iterator.split(data)]


def scores(model, data, measures, seed):
    table = cross_validate(model, data, measures, cv=KFold(2, random_state=seed))
    return {key: value for key, value in table.items() if not key.endswith("time")}


@pytest.fixture
def check_case(capsys):
    """Run a random case on both sides: the same to the last bit, printed lines included."""

    def check(seed):
        rng = np.random.default_rng(seed)
        kind = [*KINDS][rng.integers(len(KINDS))]
        rows, scale = random_rows(rng, kind), KINDS[kind][1]
        name = ALGORITHMS[seed % len(ALGORITHMS)]
        parameters = random_parameters(rng, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, on both sides
            warnings.simplefilter("ignore", SurpriseWarning)
            theirs = session(name, parameters, rows, scale, seed)
            printed = capsys.readouterr().out
            with harness.patched_surprise():
                ours = session(name, parameters, rows, scale, seed)
                report = harness.patch_report()
        require_same(ours, theirs, f"case {seed}, {kind}, {name}({parameters})")
        assert capsys.readouterr().out == printed
        return report

    return check
