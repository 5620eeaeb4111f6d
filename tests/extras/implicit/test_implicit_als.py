"""Least squares of the library implicit: its factors, its threads, and what it needs."""

import sys

import numpy as np
import pytest

import harness
from harness.algorithms import registry
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError
from harness.extras.implicit.als import ImplicitALS
from harness.models import estimates as models

CONFIG = {
    "dataset": "bundled",
    "split": {"kind": "holdout", "test_size": 0.25},
    "candidates": "catalogue",
    "metrics": ["ndcg(gain=binary)@5"],
    "statistics": None,
}


def columns(plays):
    """Return all plays as a training set."""
    ids = {"user_ids": list(range(40)), "item_ids": list(range(25))}
    return ColumnTrainset.from_columns(*plays.to_numpy().T, **ids, scale=(1.0, 50.0))


def test_a_library_counts_among_the_versions_of_its_algorithm_alone():
    assert list(registry.library_versions(["Implicit ALS"])) == ["implicit"]


def test_without_the_library_its_extra_is_named_and_a_run_has_a_row_that_says_so(
    monkeypatch, plays
):
    monkeypatch.setitem(sys.modules, "implicit.cpu.als", None)
    with pytest.raises(AlgorithmError, match=r"^implicit-als: needs the library implicit; pip"):
        models.fit(ImplicitALS(), columns(plays))
    config = CONFIG | {"algorithms": ["implicit-als", "BaselineOnly"], "baselines": False}
    errors = harness.run(config, ratings=plays, results=None).table.set_index("algorithm")["error"]
    assert "pip install 'surprise-harness[implicit]'" in errors["implicit-als"]
    assert not errors["BaselineOnly"]


@pytest.mark.implicit
class TestImplicit:
    @pytest.fixture(autouse=True)
    def _library(self):
        pytest.importorskip("implicit", reason="the extra `implicit` is not installed")

    @pytest.fixture
    def learnt(self, plays):
        def fit(**params):
            model = ImplicitALS(**{"n_factors": 4, "random_state": 3, **params})
            models.fit(model, columns(plays))
            return model

        return fit

    def test_factors_solve_the_least_squares_that_are_documented(self, learnt):
        model = learnt(n_epochs=300, alpha=0.3, reg=0.7)
        lists = model.trainset.by_user
        for user in range(model.trainset.n_users):
            rows = slice(lists.offsets[user], lists.offsets[user + 1])
            confidence = np.ones(model.trainset.n_items)
            confidence[lists.ids[rows]] += 0.3 * lists.ratings[rows]
            liked = np.zeros(model.trainset.n_items)
            liked[lists.ids[rows]] = 1.0
            weighted = model.qi * confidence[:, None]
            best = np.linalg.solve(weighted.T @ model.qi + 0.7 * np.eye(4), weighted.T @ liked)
            np.testing.assert_allclose(model.pu[user], best, atol=2e-3)

    def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads(
        self, learnt, monkeypatch
    ):
        found = set()
        for n_threads in (1, 2, 4):
            monkeypatch.setattr("harness.extras.implicit.als.n_threads", lambda n=n_threads: n)
            model = learnt()
            found.add(model.pu.tobytes() + model.qi.tobytes())
        assert len(found) == 1
        assert learnt(random_state=4).pu.tobytes() not in found.pop()

    def test_it_learns_what_users_like_and_its_version_stands_in_the_run(self, plays):
        config = CONFIG | {"algorithms": [{"name": "implicit-als", "params": {"n_factors": 4}}]}
        done = harness.run(config, ratings=plays, results=None)
        scores = done.table.set_index("algorithm")["ndcg(gain=binary)@5"]
        assert scores["implicit-als"] > 1.5 * scores["Random"]
        assert done.info["versions"]["implicit"] != "missing"
        assert "pyspark" not in done.info["versions"]
