"""Search spaces are checked as strictly as parameters, and sizes that cannot be are faults."""

import pytest

from harness.algorithms import registry
from harness.config.load import load
from harness.errors import ConfigError

BASE = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]}
INF = float("inf")


def faults(change, *overrides):
    with pytest.raises(ConfigError) as caught:
        load(BASE | change, overrides=overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "space", "fault"),
    [
        (
            "KNNBasic",
            {"kk": [5, 10]},
            "search.kk: KNNBasic has no such parameter; did you mean",
        ),
        ("SlopeOne", {"k": [5]}, "search.k: SlopeOne has no such parameter"),
        ("KNNBasic", {"k": [5, 0]}, "search.k[1]: found 0; it must be 1 or more"),
        ("KNNBasic", {"k": [5, 2.5]}, "search.k[1]: found 2.5; it must be a whole number"),
        ("SVD", {"n_factors": {"low": 0, "high": 5}}, "search.n_factors.low: found 0"),
        (
            "SVD",
            {"n_factors": {"low": 1.5, "high": 9}},
            "low: found 1.5; it must be a whole number",
        ),
        ("SVD", {"n_factors": {"low": 1, "high": 2**40}}, "n_factors.high: found 1099511627776"),
        ("SVD", {"n_factors": {"low": 1, "high": 2**70}}, "is too large or not a number"),
        ("SVD", {"lr_all": {"low": 0.1, "high": INF}}, "search.lr_all: inf is too large"),
        ("SVD", {"lr_all": {"low": float("nan"), "high": 1}}, "search.lr_all: nan is too large"),
        ("SVD", {"n_factors": {"low": 9, "high": 2}}, "search.n_factors: [9, 2] is empty"),
        ("SVD", {"reg_all": {"low": 0, "high": 1, "log": True}}, "range starts above 0"),
        ("SVD", {"biased": [True, 1]}, "search.biased[1]: found 1; it must be true or false"),
        ("KNNBasic", {"sim_options.nam": ["msd"]}, "search.sim_options.nam: no such similarity"),
        ("KNNBasic", {"sim_options.name": ["msd", "cosin"]}, "name[1]: unknown similarity 'cosin'"),
        ("BaselineOnly", {"bsl_options.reg": [0.1]}, "bsl_options.reg: no such option of the als"),
    ],
)
def test_a_search_is_checked_as_parameters_are(name, space, fault):
    found = faults({"algorithms": [{"name": name, "search": space}]})
    assert fault in found
    assert found.count("\n") == 0


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("SVD", {"lr_all": [0.001, 1], "n_factors": {"low": 1, "high": 9, "log": True}}),
        ("KNNBaseline", {"bsl_options.method": ["als", "sgd"], "bsl_options.reg": [0.1]}),
        ("KNNBasic", {"sim_options.user_based": [True, False]}),
        ("SlopeOne", {}),
        *((each, "recommended") for each in registry.algorithms()),
    ],
)
def test_a_search_that_is_right_passes(name, space):
    row = {"name": name, "search": space}
    load(BASE | {"algorithms": [row]})


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"init_mean": 0.1}),
        ("SVDpp", {"init_mean": 0.1, "lr_yj": 1, "reg_yj": 0}),
        ("NMF", {"init_low": 0.1, "init_high": 0.9}),
        ("KNNBaseline", {"sim_options": {"shrinkage": 2.5}, "bsl_options": {"reg_i": 1.5}}),
        ("ItemMean", {"damping": 1}),
    ],
)
def test_what_surprise_takes_passes_and_can_be_built(name, params):
    load(BASE | {"algorithms": [{"name": name, "params": params}]})
    registry.create(name, params, seed=0)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"n_factors": 2.5}),
        ("SVD", {"n_epochs": 2.0}),
        ("NMF", {"init_high": -1}),
        ("CoClustering", {"n_cltr_u": 1.5}),
        ("KNNBasic", {"min_k": 1.5}),
        ("KNNBasic", {"sim_options": {"min_support": 0.5}}),
        ("SVD", {"random_state": 0.5}),
    ],
)
def test_what_counts_something_must_be_whole(name, params):
    assert "it must be" in faults({"algorithms": [{"name": name, "params": params}]})


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"tuning": {"metric": "ndgc@10"}}, "tuning.metric: ndgc@10: unknown metric"),
        ({"tuning": {"metric": "item_coverage@10"}}, "does not measure accuracy"),
        ({"tuning": {"seconds": INF}}, "tuning.seconds: found inf"),
        ({"execution": {"time_limit": INF}}, "execution.time_limit: found inf"),
        ({"execution": {"time_limit": 1e12}}, "execution.time_limit: found 1000000000000.0"),
        ({"split": {"kind": "repeated-kfold", "n_repeats": 10**9}}, "n_repeats: found 1000000000"),
        ({"split": {"kind": "kfold", "n_splits": 10**9}}, "n_splits: found 1000000000"),
        ({"split": {"kind": "kfold", "n_splits": 1}}, "n_splits: found 1; it must be"),
        ({"split": {"kind": "leave-n-out", "n_splits": 10**9}}, "n_splits: found 1000000000"),
        ({"split": {"kind": "holdout", "test_size": 10**30}}, "test_size: found 1000"),
        ({"split": {"kind": "global-time", "date": 10**30}}, "date: found 1000"),
    ],
)
def test_what_cannot_be_is_a_fault_at_load(change, fault):
    assert fault in faults(change)


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("..=1", "no key; write"),
        ("seed=!!bool maybe", "'maybe' is no bool"),
        ("seed=!!int x", "'x' is no int"),
    ],
)
def test_an_override_that_means_nothing_is_a_fault(override, fault):
    assert fault in faults({}, override)
