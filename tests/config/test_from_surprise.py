"""Objects of a Surprise script in a config: the same folds, fits and errors as in the script."""

import numpy as np
import pytest
import surprise
from surprise import model_selection

import harness
from harness.config.from_python import as_sections
from harness.config.load import load
from harness.errors import ConfigError

DATA = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}}
ALGORITHMS = [
    surprise.SVD(n_factors=5, n_epochs=3, lr_all=0.01, random_state=3),
    surprise.SVDpp(n_factors=2, n_epochs=2, reg_yj=0.5, random_state=0),
    surprise.NMF(n_factors=3, n_epochs=4, biased=True, random_state=1),
    surprise.KNNBaseline(
        k=5, sim_options={"name": "cosine"}, bsl_options={"method": "sgd"}, verbose=False
    ),
    surprise.KNNBasic(min_k=2, sim_options={"user_based": False}, verbose=False),
    surprise.BaselineOnly(bsl_options={"reg_u": 3}, verbose=False),
    surprise.CoClustering(n_cltr_u=2, n_epochs=3, random_state=2),
    surprise.SlopeOne(),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    "split",
    [
        model_selection.KFold(3, random_state=0),
        model_selection.ShuffleSplit(2, test_size=0.3, random_state=5),
        model_selection.LeaveOneOut(2, random_state=1, min_n_ratings=3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_those_of_cross_validate(algorithm, split):
    data = harness.load(DATA).to_surprise()
    config = {"dataset": DATA, "algorithms": [algorithm], "split": split, "metrics": ["rmse"]}
    whole = {"as_surprise": True} if type(algorithm).__name__ in TRUNCATING else {}
    if whole:
        config["algorithms"] = [as_sections(config)["algorithms"][0]]
        entry = config["algorithms"][0]
        config["algorithms"] = [({"name": entry} if isinstance(entry, str) else entry) | whole]
    done = harness.run(config | {"baselines": False, "statistics": None}, results=None)
    theirs = model_selection.cross_validate(algorithm, data, ["rmse"], cv=split)["test_rmse"]
    assert done.table["rmse"].tolist() == [pytest.approx(np.mean(theirs), rel=1e-9)]
    assert done.table["algorithm"].tolist() == [type(algorithm).__name__]


TRUNCATING = {"SlopeOne", "CoClustering"}
"""What cuts half stars in Surprise."""


def test_only_what_differs_from_the_defaults_is_written():
    config = {
        "algorithms": [surprise.SVD(n_factors=5), surprise.SVDpp, surprise.KNNBasic(verbose=False)],
        "split": model_selection.RepeatedKFold(2, 3, random_state=1),
    }
    assert as_sections(config) == {
        "algorithms": [{"name": "SVD", "params": {"n_factors": 5}}, "SVDpp", "KNNBasic"],
        "split": {"kind": "repeated-kfold", "n_splits": 2, "n_repeats": 3, "random_state": 1},
    }
    plain = {"dataset": DATA, "algorithms": "SVD", "split": ["holdout", {"kind": "kfold"}]}
    assert as_sections(plain) == plain


def test_objects_of_one_class_are_labelled_by_the_parameters_that_differ():
    objects = [
        surprise.SVD(n_factors=5, n_epochs=3),
        surprise.SVD(n_factors=6, n_epochs=3),
        surprise.SVD(n_factors=6, n_epochs=3, biased=False),
        surprise.SVD(),
        surprise.NMF(n_factors=5),
    ]
    config, *_ = load({"dataset": DATA, "algorithms": objects, "metrics": ["rmse"]})
    assert [entry.title for entry in config.algorithms][: len(objects)] == [
        "SVD n_factors=5 n_epochs=3",
        "SVD n_factors=6 n_epochs=3",
        "SVD n_factors=6 n_epochs=3 biased=False",
        "SVD",
        "NMF",
    ]
    long = [surprise.KNNBasic(sim_options={"name": name}) for name in ("cosine", "msd")]
    titles = [part["label"] for part in as_sections({"algorithms": long})["algorithms"]]
    assert titles[0].startswith("KNNBasic sim_options={'name': 'cosine'")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"split": model_selection.PredefinedKFold()},
            r"split: found a PredefinedKFold; use one of KFold, RepeatedKFold, ShuffleSplit or Lea",
        ),
        (
            {"algorithms": [surprise.SVD(random_state=np.random.RandomState(0))]},
            r"algorithms\[0\].random_state: found a generator; give its seed",
        ),
    ],
)
def test_what_cannot_be_written_down_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        load({"dataset": DATA, "algorithms": ["SVD"], "metrics": ["rmse"]} | changes)
