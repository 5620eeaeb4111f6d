"""A class that takes arrays is an algorithm like any other, asked for many pairs at once."""

import importlib
import sys

import numpy as np
import pytest

import harness
from harness.algorithms import registry, surprise
from harness.algorithms.own import TrainingData, as_model, takes_arrays
from harness.errors import AlgorithmError, ConfigError
from harness.models.estimates import catalogue, estimate
from harness.schema.sections import Range

MODULE = '''
import numpy as np

class Damped:
    """Item means with damping.

    More.
    """

    unknown_user = "its estimate for every user"
    space = {"damping": [0.5, 5.0]}
    calls = []

    def __init__(self, damping: float = 5.0, random_state=None):
        self.damping, self.random_state = damping, random_state

    def fit(self, train):
        counts = np.bincount(train.items, minlength=train.n_items)
        sums = np.bincount(train.items, train.ratings, train.n_items)
        self.means = (sums + self.damping * train.ratings.mean()) / (counts + self.damping)

    def estimate(self, users, items):
        self.calls.append(len(users))
        return np.where(items >= 0, self.means[items], np.nan)

class InRows(Damped):
    def rows(self, users):
        return np.tile(self.means, (len(users), 1))

class Scores(Damped):
    preferences = True
    def estimate(self, users, items):
        return 100 * super().estimate(users, items)

class Short(Damped):
    def estimate(self, users, items):
        return np.ones(3)

class Words(Damped):
    def estimate(self, users, items):
        return "many"

class Infinite(Damped):
    def estimate(self, users, items):
        return np.full(len(users), np.inf)

class Writes(Damped):
    def fit(self, train):
        train.ratings[0] = 5

class Refuses(Damped):
    def __init__(self):
        raise ValueError("not today")

class Neither:
    def fit(self, train): ...
'''
DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}


def run(*rows, **more):
    config = {"dataset": DATA, "algorithms": [*rows], "metrics": ["ndcg@10", "rmse"]}
    return harness.run(config | more, results=None)


@pytest.mark.parametrize("candidates", ["rated", "catalogue", {"kind": "sampled", "n": 5}])
def test_it_scores_as_the_same_algorithm_of_the_package(module, candidates):
    rows = [{"name": "ItemMean", "params": {"damping": 5}}, f"{module}:Damped", f"{module}:InRows"]
    table = run(*rows, candidates=candidates).table.set_index("algorithm")
    for name in rows[1:]:
        assert table.loc[name, ["ndcg@10", "rmse"]].tolist() == pytest.approx(
            table.loc["ItemMean", ["ndcg@10", "rmse"]].tolist(), rel=1e-12
        )


def test_it_is_asked_for_many_pairs_at_once(module):
    calls = importlib.import_module(module).Damped.calls  # of the session: computed in this process
    run(f"{module}:Damped", candidates="catalogue", baselines=False)
    assert len(calls) <= 3
    assert max(calls) > 100


def test_it_is_tuned_over_its_space_and_with_parameters_of_its_own(module):
    rows = [{"name": f"{module}:Damped", "search": {"damping": [0.5, 5.0]}}]
    tuning = {"method": "grid", "trials": 2, "metric": "ndcg@10"}
    (record, *_) = run(*rows, tuning=tuning).info.cells
    assert record.n_trials == 2
    model = registry.create(f"{module}:Damped", {"damping": 1.0}, seed=7)
    assert (model.inner.damping, model.inner.random_state) == (1.0, 7)
    entry = registry.entry(f"{module}:Damped")
    assert entry.summary == "Item means with damping."
    assert entry.unknown_user == "its estimate for every user"


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "space",
    [
        {"damping": {"low": 0.5, "high": 50.0, "log": True}},
        {"damping": Range(low=0.5, high=50.0)},
        {"damping": (0.5, 5.0)},
        {"damping": np.array([0.5, 5.0])},
        {"random_state": {"low": 1, "high": 9}},
    ],
)
def test_its_space_takes_what_a_config_takes(module, monkeypatch, space):
    kind = registry.find(f"{module}:Damped").algorithm
    monkeypatch.setattr(kind, "space", space)
    as_model.cache_clear()
    row = {"name": f"{module}:Damped", "search": "recommended"}
    done = run(row, tuning={"trials": 2, "metric": "ndcg@10"})
    assert done.info.cells[0].n_trials == 2
    as_model.cache_clear()


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"damping": 5.0}, "`space`: damping: found 5.0; write for each parameter a list of"),
        ({"damping": {"low": 9, "high": 2}}, "`space`: damping: .*is empty; give low below high"),
        ({"damping": {"lo": 1}}, "`space`: damping: "),
        ([1, 2], r"`space`: found \[1, 2\]; write for each"),
        ({"dampning": [1.0]}, "`space`: dampning: Damped has no such parameter; did you mean"),
    ],
)
def test_a_wrong_space_is_refused_before_anything_is_fitted(module, monkeypatch, space, said):
    kind = registry.find(f"{module}:Damped").algorithm
    monkeypatch.setattr(kind, "space", space)
    as_model.cache_clear()
    with pytest.raises(ConfigError, match=said):
        run({"name": f"{module}:Damped", "search": "recommended"})
    as_model.cache_clear()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Short", r"Short\.estimate returned shape \(3,\) where \(\d+,\) was asked for"),
        ("Words", r"Words\.estimate returned text; return an array of numbers"),
        (
            "Infinite",
            r"Infinite\.estimate returned \d+ estimates of known users and items",
        ),
        ("Writes", r"read-only \(own_.*\.py:\d+\)"),
        ("Refuses", r"the constructor refused \(ValueError: not today\)"),
    ],
)
def test_a_wrong_one_is_a_failed_row_and_the_others_stay(module, name, said):
    table = run(f"{module}:{name}", "ItemMean").table.set_index("algorithm")
    assert table["error"].str.match(f".*{said}")[f"{module}:{name}"]
    assert table["rmse"].notna()["ItemMean"]


def test_scores_that_are_no_ratings_leave_errors_blank_and_are_not_clipped(module):
    table = run(f"{module}:Scores", f"{module}:Damped").table.set_index("algorithm")
    assert np.isnan(table["rmse"][f"{module}:Scores"])
    assert table["ndcg@10"][f"{module}:Scores"] == table["ndcg@10"][f"{module}:Damped"]


def test_a_class_with_half_of_it_is_refused_in_words(module):
    with pytest.raises(AlgorithmError, match=r"nor a class with `fit\(train\)` and `estimate"):
        registry.find(f"{module}:Neither")
    with pytest.raises(AlgorithmError, match="did you mean 'Damped'"):
        registry.find(f"{module}:Dampd")


def test_models_predict_and_recommend_as_surprises_do(module):
    __import__(module)
    kind = as_model(sys.modules[module].Damped)
    data = harness.load("bundled").to_surprise()
    model = harness.fit(kind(damping=5.0), data)
    theirs = harness.fit(registry.create("ItemMean", {"damping": 5.0}, 0), data)
    for pair in (("1", "31"), ("nobody", "31"), ("1", "nothing")):
        mine, expected = model.predict(*pair), theirs.predict(*pair)
        assert mine.est == pytest.approx(expected.est, rel=1e-12)
        assert mine.details["was_impossible"] == expected.details["was_impossible"]
    assert (
        harness.recommend(model, n=3)["item"].tolist()
        == harness.recommend(theirs, n=3)["item"].tolist()
    )


def test_training_data_hold_every_rating_with_its_time():
    ratings = harness.Ratings.from_columns(
        ["b", "a", "b", "c"],
        ["x", "x", "y", "z"],
        [1, 2, 3, 4],
        timestamps=[40, 30, 20, 10],
        scale=(1, 5),
    )
    rows = np.array([3, 2, 0])
    trainset = harness.algorithms.trainset.ColumnTrainset.of_ratings(ratings, rows)
    train = TrainingData.of(trainset)
    rated = {
        (train.user_ids[u], train.item_ids[i]): (rating, moment)
        for u, i, rating, moment in zip(
            train.users, train.items, train.ratings, train.timestamps, strict=True
        )
    }
    assert rated == {("c", "z"): (4.0, 10), ("b", "y"): (3.0, 20), ("b", "x"): (1.0, 40)}
    assert (train.n_users, train.n_items, train.scale) == (2, 3, (1.0, 5.0))


def test_what_takes_arrays():
    assert not takes_arrays(surprise.SVD)
    assert not takes_arrays(object)
    assert not takes_arrays(3)


def test_estimates_of_codes_are_those_of_predict(module):
    __import__(module)
    kind = as_model(sys.modules[module].InRows)
    ratings = harness.load(DATA)
    trainset = harness.algorithms.trainset.ColumnTrainset.of_ratings(ratings)
    model = kind().fit(trainset)
    users, items = np.arange(10), np.arange(10)
    estimates, _ = estimate(model, users, items)
    (_, _, rows), *_ = catalogue(model, users)
    inner = trainset.inner_items[items]
    np.testing.assert_array_equal(rows[np.arange(10), inner], estimates)
