"""What an algorithm has to keep: each breach is a sentence, and one of them harms no other."""

import re

import pytest

from harness.extras.plugin_checks import algorithms as conformance

MODULE = """
import os
import numpy as np

class Good:
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, train):
        counts = np.bincount(train.items, minlength=train.n_items)
        self.means = np.bincount(train.items, train.ratings, train.n_items) / counts
        self.means += np.random.RandomState(self.random_state).rand(train.n_items)

    def estimate(self, users, items):
        return np.where(items >= 0, self.means[items], np.nan)

    def rows(self, users):
        return np.tile(self.means, (len(users), 1))

    def state(self):
        return {"means": self.means}

    def restore(self, state):
        self.means = state["means"]

class NoDefault(Good):
    def __init__(self, damping): ...

class Fails(Good):
    def fit(self, train):
        raise ValueError("no ratings of today")

class Writes(Good):
    def fit(self, train):
        super().fit(train)
        train.ratings[0] = 5

class WritesAround(Good):
    def fit(self, train):
        train.ratings.base[0] += 0.5
        super().fit(train)

class WritesLater(Good):
    def fit(self, train):
        super().fit(train)
        self.train = train
    def rows(self, users):
        self.train.ratings.base[0] += 0.5
        return super().rows(users)

class Short(Good):
    def estimate(self, users, items):
        return np.ones(3)

class Infinite(Good):
    def estimate(self, users, items):
        return np.full(len(users), np.inf)

class InfiniteRows(Good):
    def rows(self, users):
        return super().rows(users) + np.inf

class Draws(Good):
    def fit(self, train):
        super().fit(train)
        self.means += np.random.rand(len(self.means))

class OfProcess(Good):
    def fit(self, train):
        super().fit(train)
        self.means += hash("a") % 1009

class ByPlace(Good):
    def estimate(self, users, items):
        return super().estimate(users, items) + np.arange(len(users))

class ByBlock(Good):
    def estimate(self, users, items):
        return super().estimate(users, items) + len(users)

class OtherRows(Good):
    def rows(self, users):
        return super().rows(users) + 0.5

class Ends(Good):
    def fit(self, train):
        os._exit(3)

class Forgets(Good):
    def state(self):
        return {"means": np.round(self.means)}

class ForgetsAll(Good):
    def restore(self, state): ...

class HalfSaved(Good):
    restore = None

class Unknown(Good):
    def estimate(self, users, items):
        if (items < 0).any():
            raise IndexError("no such item")
        return self.means[items]
"""
PROBLEMS = {
    "Good": [],
    "NoDefault": [r"the constructor refused .*'damping'"],
    "Fails": [r"fit failed \(ValueError: no ratings of today\); correct its code"],
    "Writes": [r"fit failed \(ValueError: .*read-only\)"],
    "Ends": [r"its process ended with exit code 3 .*; correct its code"],
    "WritesAround": ["fit changes the training set; work on a copy"],
    "WritesLater": ["its estimates change the training set; work on a copy"],
    "Short": [r"Short\.estimate returned shape \(3,\)"],
    "Infinite": [r"Infinite\.estimate returned [\d,]+ estimates of known .* not finite"],
    "InfiniteRows": [r"InfiniteRows\.rows returned \d+ estimates of known .* not finite"],
    "Draws": ["a second fit gives different estimates; draw"],
    "OfProcess": ["its numbers differ in another process"],
    "ByPlace": ["depends on the order of the pairs", "depends on how many", "predict", "rows are"],
    "ByBlock": [
        "depends on how many are asked for",
        "predict gives different",
        "rows are different",
    ],
    "OtherRows": ["rows are different estimates from pairs"],
    "Forgets": ["a saved model gives different estimates"],
    "ForgetsAll": [r"after `restore`, estimate failed \(AttributeError: "],
    "HalfSaved": [r"it has no `state\(\)` and `restore\(state\)`"],
    "Unknown": [r"estimate failed \(IndexError: no such item\)"],
    "Missing": ["Missing"],
}


@pytest.mark.long
def test_each_breach_is_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "breaches.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    problems = conformance.check_algorithms([f"breaches:{name}" for name in PROBLEMS])
    for name, patterns in PROBLEMS.items():
        sentences = problems[f"breaches:{name}"]
        assert len(sentences) == len(patterns), (name, sentences)
        for sentence, pattern in zip(sentences, patterns, strict=True):
            assert re.search(pattern, sentence), (name, sentence)


@pytest.mark.long
def test_the_algorithms_of_the_package_conform():
    names = ["SVD", "KNNBaseline", "NormalPredictor", "Random", "EASE", "ItemMean"]
    assert conformance.check_algorithms(names) == {name: [] for name in names}


def test_one_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr("harness.extras.plugin_checks.checks.PATIENCE", 1e-6)
    (problem,) = conformance.check_algorithm("ItemMean")
    assert problem == "it did not end within 1e-06 seconds; correct its code"
