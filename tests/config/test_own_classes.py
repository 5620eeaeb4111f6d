"""Classes of one's own stand in a config from Python as those of Surprise do."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.errors import ConfigError

CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 500}},
    "metrics": ["rmse"],
    "baselines": False,
    "statistics": None,
}


class Constant:
    """The mean of the training ratings, times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, train):
        self.mean = self.factor * float(np.mean(train.ratings))

    def estimate(self, users, items):
        return np.full(len(users), self.mean)


class OfSurprise(surprise.AlgoBase):
    def estimate(self, u, i):
        return self.trainset.global_mean


def run(*algorithms):
    return harness.run(CONFIG | {"algorithms": [*algorithms]}, results=None)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Let this file be a module that is imported, whatever pytest calls it."""
    import sys

    for own in (Constant, OfSurprise):
        monkeypatch.setattr(own, "__module__", "own_classes")
    monkeypatch.setitem(sys.modules, "own_classes", sys.modules[__name__])


@pytest.mark.parametrize("own", [Constant, OfSurprise])
def test_a_class_is_what_its_place_is(own):
    found, named = run(own), run(f"own_classes:{own.__name__}")
    assert found.table["error"].tolist() == [""]
    assert found.table["rmse"].tolist() == named.table["rmse"].tolist()
    assert found.table["algorithm"].tolist() == [f"own_classes:{own.__name__}"]


def test_a_row_with_a_class_keeps_its_parameters_and_its_label():
    row = {"name": Constant, "params": {"factor": 0.5}, "label": "half"}
    table = run(Constant, row, surprise.BaselineOnly, {"name": surprise.SVD, "label": "mine"}).table
    assert table["algorithm"].tolist() == [
        "own_classes:Constant", "half", "BaselineOnly", "mine"
    ]  # fmt: skip
    assert table["rmse"][0] < table["rmse"][1]


def test_a_class_that_cannot_be_found_again_is_refused():
    class Inside(Constant):
        pass

    with pytest.raises(ConfigError, match="defined inside something else; define it at the top"):
        run(Inside)
    Inside.__qualname__ = "Constant"
    with pytest.raises(ConfigError, match="is not what its module has under this name"):
        run(Inside)


def test_an_object_is_refused_with_what_to_give():
    with pytest.raises(ConfigError) as caught:
        run(Constant(0.5))
    assert str(caught.value) == (
        "config: algorithms[0]: found an object of Constant; give the class, Constant, with "
        "parameters as {'name': Constant, 'params': {...}}"
    )


def test_loaded_data_in_a_config_are_sent_beside_it():
    frame = pd.DataFrame({"user": ["a"], "item": ["x"], "rating": [1.0]})
    with pytest.raises(ConfigError, match=r"dataset: .*harness.run\(config, ratings=data\)"):
        harness.run(CONFIG | {"algorithms": ["SVD"], "dataset": frame}, results=None)
