"""Algorithms are found by name and their parameters checked before they are built."""

import inspect

import pytest
import surprise

from harness.algorithms import registry
from harness.config.experiment import AlgorithmConfig
from harness.errors import AlgorithmError
from harness.models import estimates as models


class Own(surprise.AlgoBase):
    """A class of one's own, found by its import path."""

    def __init__(self, depth, flavour="plain"):
        surprise.AlgoBase.__init__(self)
        self.depth, self.flavour = depth, flavour

    def estimate(self, u, i):
        return 3.0


OWN = f"{__name__}:Own"


def test_every_algorithm_of_surprise_is_found_by_its_name_and_none_is_left_out():
    classes = {
        name: value
        for name, value in vars(surprise).items()
        if inspect.isclass(value) and issubclass(value, surprise.AlgoBase) and name != "AlgoBase"
    }
    assert {name: registry.find(name) for name in registry.names("surprise")} == classes
    assert registry.find("surprise:SVD") is surprise.SVD
    assert registry.find(OWN) is Own


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("SVD++", "SVDpp"),
        ("svd", "SVD"),
        ("knn-basic", "KNNBasic"),
        ("Slope One", "SlopeOne"),
        ("SparkALS", "spark-als"),
        ("implicit als", "implicit-als"),
    ],
)
def test_other_spellings_are_understood(written, meant):
    assert registry.canonical(written) == meant


@pytest.mark.parametrize(
    ("name", "takes"),
    [("SVD", True), ("NormalPredictor", True), ("spark-als", True), ("SlopeOne", False)],
)
def test_what_draws_takes_a_seed(name, takes):
    assert registry.takes_seed(name) is takes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("KNNBase", "unknown algorithm 'KNNBase'; did you mean 'KNNBas"),
        ("no_such_module_here:A", "cannot import"),
        ("json:JSONDecoder", "neither a subclass"),
        ("surprise:SVDD", "did you mean 'SVD'?"),
    ],
)
def test_a_name_that_leads_nowhere_says_so(name, message):
    with pytest.raises(AlgorithmError, match=message):
        registry.find(name)


@pytest.mark.parametrize(
    ("name", "params", "path", "message"),
    [
        ("SVD", {"n_factor": 5}, ("n_factor",), "did you mean 'n_factors'?"),
        ("SVD", {"n_factors": 5.5}, ("n_factors",), "whole number"),
        ("SVD", {"n_factors": 0}, ("n_factors",), "1 or more"),
        ("SVD", {"biased": 1}, ("biased",), "true or false"),
        ("SVD", {"lr_all": "0.1"}, ("lr_all",), "must be a number"),
        ("SVD", {"lr_all": float("inf")}, ("lr_all",), "finite"),
        ("SVD", {"random_state": -1}, ("random_state",), "0 or more"),
        ("SVD", {"n_epochs": 10**12}, ("n_epochs",), "larger than any"),
        ("KNNBasic", {"sim_options": []}, ("sim_options",), "mapping"),
        ("KNNBasic", {"sim_options": {"name": "cosin"}}, ("sim_options", "name"), "'cosine'"),
        ("KNNBasic", {"bsl_options": {"method": "x"}}, ("bsl_options", "method"), "als, sgd"),
        ("BaselineOnly", {"bsl_options": {"reg": 1}}, ("bsl_options", "reg"), "als"),
        ("SlopeOne", {"k": 1}, ("k",), "no such parameter"),
        ("spark-als", {"alpha": -1}, ("alpha",), "found -1; it must be 0 or more"),
        ("spark-als", {"implicit": "yes"}, ("implicit",), "it must be true or false"),
        ("spark-als", {"min_rating": "five"}, ("min_rating",), "found 'five'; it must be a number"),
        ("spark-als", {"k_core": 0}, ("k_core",), "found 0; it must be 1 or more"),
        ("spark-als", {"rank": 10}, ("rank",), "SparkALS has no such parameter"),
        ("Popularity", {"k": 5}, ("k",), "Popularity has no such parameter"),
        ("UserMean", {"sim_options": {}}, ("sim_options",), "UserMean has no such parameter"),
        (OWN, {}, (), "Own needs the parameter 'depth'; add it under `params`"),
    ],
)
def test_a_bad_parameter_is_named(name, params, path, message):
    found = registry.check(AlgorithmConfig(name=name, params=params))
    assert [each[0] for each in found] == [("params", *path)]
    assert message in found[0][1]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"n_factors": 5, "lr_all": 1, "lr_bu": None, "random_state": 3}),
        ("KNNBaseline", {"sim_options": {"name": "MSD", "user_based": False, "shrinkage": 0}}),
        ("KNNBasic", {"bsl_options": {"method": "sgd", "learning_rate": 0.01, "n_epochs": 3}}),
        ("CoClustering", {"n_cltr_u": 2}),
    ],
)
def test_what_surprise_takes_is_taken(name, params):
    assert registry.check(AlgorithmConfig(name=name, params=params)) == []
    assert isinstance(registry.create(name, params, 0), surprise.AlgoBase)


def test_options_are_neither_written_into_nor_shared():
    options = {"name": "cosine"}
    registry.create("KNNBasic", {"sim_options": options}, 0)
    assert options == {"name": "cosine"}
    first, second = (registry.create("KNNBasic", {}, 0) for _ in range(2))
    assert first.sim_options is not second.sim_options


def test_a_given_random_state_wins_over_the_runs_seed():
    assert registry.create("SVD", {"random_state": 5}, 1).random_state == 5
    assert registry.create("SVD", {}, 1).random_state == 1


def test_a_class_that_cannot_estimate_is_refused_before_anything_is_fitted(monkeypatch):
    monkeypatch.delattr(Own, "estimate")
    (fault,) = registry.check(AlgorithmConfig(name=OWN, params={"depth": 1}))
    assert fault[0] == ("name",)
    assert "has no method that estimates a rating; define `estimate(self, u, i)`" in fault[1]
    monkeypatch.setattr(Own, "predict", lambda *_: None, raising=False)
    assert registry.find(OWN) is Own


def test_an_entry_without_estimates_is_scored_by_the_predict_of_its_model(twins, monkeypatch):
    small = twins([(0, 0, 4.0), (0, 1, 2.0), (1, 0, 5.0)])
    ours = surprise.BaselineOnly(verbose=False)
    models.fit(ours, small.columns())
    monkeypatch.delattr(registry.entry("BaselineOnly"), "estimates")
    small.check(surprise.BaselineOnly(verbose=False).fit(small.plain()), ours)


def test_algorithms_that_do_not_look_at_the_user_answer_unknown_users_like_others():
    for entry in registry.algorithms().values():
        assert entry.is_personal != ("every user" in entry.unknown_user), entry.name
