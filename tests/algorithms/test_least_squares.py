"""Least squares of other libraries: what is handed to them, and what is made of their factors."""

import numpy as np
import pytest

import harness
from harness.datasets import Ratings
from harness.errors import AlgorithmError, MetricError
from harness.extras.implicit.als import ImplicitALS
from harness.extras.spark.als import SparkALS
from harness.models import estimates as models

PLAYS = [(0, 0, 9), (0, 1, 3), (1, 0, 2), (1, 1, 1), (2, 2, 5)]
SCALE = (1.0, 9.0)
CONFIG = {
    "dataset": "bundled",
    "split": {"kind": "holdout", "test_size": 0.25},
    "candidates": "catalogue",
    "metrics": ["ndcg(gain=binary)@5"],
    "statistics": None,
}


@pytest.fixture
def seen(monkeypatch):
    """Put vectors that tell users and items apart in place of the libraries; keep what they got."""
    kept = []

    def factorise(self, trainset, users, items, ratings):
        kept.append(ratings)
        counts = (trainset.n_users, trainset.n_items)
        return tuple(np.stack([np.arange(n) + 2.0] * self.n_factors, axis=1) for n in counts)

    for kind in (SparkALS, ImplicitALS):
        monkeypatch.setattr(kind, "factorise", factorise)
    return kept


@pytest.fixture
def fitted(twins):
    def fit(model, rows=PLAYS):
        models.fit(model, twins(rows, scale=SCALE).columns())
        return model

    return fit


@pytest.mark.usefixtures("seen")
class TestEstimates:
    def test_are_products_the_same_one_by_one_in_pairs_and_in_rows(self, twins, fitted):
        model = fitted(ImplicitALS(n_factors=3))
        [(_, _, rows)] = models.catalogue(model, [1])
        assert rows.tolist() == [[18.0, 27.0, 36.0]]
        twins(PLAYS, scale=SCALE).check(model, model, rtol=0)

    @pytest.mark.parametrize("pair", [("nobody", "i0"), ("u0", "nothing"), ("u2", "i0")])
    def test_of_what_training_does_not_know_is_that_of_zeros(self, twins, fitted, pair):
        model = fitted(SparkALS(k_core=2))
        guess = model.predict(*pair, clip=False)
        assert (guess.est, guess.details["was_impossible"]) == (0.0, True)
        [(_, _, rows)] = models.catalogue(model, [2, 0], clip=False)
        assert rows.tolist() == [[0.0, 0.0, 0.0], [40.0, 60.0, 0.0]]
        twins(PLAYS, scale=SCALE).check(model, model, rtol=0)

    def test_ratings_are_clipped_and_preferences_are_not(self, fitted):
        for model, highest in ((SparkALS(), 9.0), (SparkALS(implicit=True), 160.0)):
            fitted(model)
            assert model.predict("u2", "i2").est == highest
            assert models.estimate(model, [2], [2])[0].tolist() == [highest]
            [(_, _, rows)] = models.catalogue(model, [2])
            assert rows.max() == highest

    @pytest.mark.parametrize("metrics", [["ndcg@5"], ["ndcg@5", "rmse"]])
    def test_a_run_ranks_preferences_above_the_scale_apart_and_says_so(self, plays, metrics):
        row = {"name": "spark-als", "params": {"implicit": True}}
        rows = {"algorithms": [row, "implicit-als"], "baselines": False, "metrics": metrics}
        ratings = plays.assign(rating=plays["rating"] % 5 + 1)
        info = harness.run(CONFIG | rows, ratings=ratings, results=None).info
        assert [cell.tied["ndcg@5"] for cell in info.cells] == [0.0, 0.0]
        assert "memory-of-python" in {note.code for note in info["notes"]}
        blank = [n.values["algorithms"] for n in info["notes"] if n.code == "preferences"]
        assert blank == [["spark-als", "implicit-als"]] * ("rmse" in metrics)

    @pytest.mark.parametrize("written", [True, False])
    def test_whether_a_tuned_row_has_ratings_is_what_the_search_chose(self, plays, written):
        search = {"implicit": [not written]}
        row = {"name": "spark-als", "params": {"implicit": written}, "search": search}
        tuning = {"method": "grid", "trials": 1, "metric": "rmse"}  # clipped, it is smaller
        config = CONFIG | {"algorithms": [row], "baselines": False, "metrics": ["rmse"]}
        info = harness.run(config | {"tuning": tuning}, ratings=plays, results=None).info
        assert info.cells[0].params["implicit"] is False
        assert info.rows[0].scores["rmse"] is not None
        assert not any(note.code == "preferences" for note in info.notes)


class TestNoise:
    @pytest.mark.parametrize(
        ("options", "left", "gone"),
        [
            ({}, [9.0, 3.0, 2.0, 1.0, 5.0], []),
            ({"min_rating": 2, "k_core": 1}, [9.0, 3.0, 2.0, 5.0], [20, 0, 0]),
            ({"min_rating": 3}, [9.0, 3.0, 5.0], [40, 33, 0]),
            ({"k_core": 2}, [9.0, 3.0, 2.0, 1.0], [20, 33, 33]),
        ],
    )
    def test_a_threshold_and_a_core_take_ratings_out_of_training_alone(
        self, seen, fitted, options, left, gone
    ):
        model = fitted(SparkALS(**options))
        assert seen[-1].tolist() == left
        note = (
            "trained without noise: {}% of the ratings, with all of {}% of the users and {}% of "
            "the items, left out of training, but not of the test"
        )
        assert [*map(str, model.fit_notes)] == ([note.format(*gone)] if gone else [])
        assert model.trainset.n_ratings == 5

    def test_filters_that_leave_nothing_are_refused(self, fitted):
        expected = r"^spark-als: min_rating 4 and k_core 2 leave none"
        with pytest.raises(AlgorithmError, match=expected):
            fitted(SparkALS(min_rating=4, k_core=2))

    @pytest.mark.parametrize("count", [0, -3])
    @pytest.mark.parametrize("model", [ImplicitALS(), SparkALS(implicit=True)])
    def test_counts_that_are_not_above_zero_are_refused_with_the_first(self, fitted, model, count):
        expected = (
            rf"1 of 6 ratings are not above 0 \(for example {count} by user 'u2' for item 'i0'\)"
        )
        with pytest.raises(AlgorithmError, match=expected):
            fitted(model, [*PLAYS, (2, 0, count)])

    def test_ratings_below_zero_are_ratings(self, seen, fitted):
        fitted(SparkALS(), [*PLAYS, (2, 0, -3)])
        assert seen[-1].min() == -3


def test_a_gain_that_no_count_of_plays_has_is_refused_before_anything_is_fitted(seen, plays):
    ratings = plays.copy()
    ratings.loc[0, "rating"] = 352_698
    ratings = Ratings.from_frame(ratings, scale=(1, 352_698))
    config = CONFIG | {"algorithms": ["implicit-als"], "metrics": ["ndcg(gain=linear)@5", "ndcg@5"]}
    expected = r"rated from 1 to 352698: ndcg: 2\*\*352698 is beyond .* gain=binary for"
    with pytest.raises(MetricError, match=expected):
        harness.run(config, ratings=ratings, results=None)
    assert seen == []
    config["metrics"] = ["ndcg(gain=linear)@5", "ndcg(gain=binary)@5", "recall@5", "rmse"]
    assert harness.run(config, ratings=ratings, results=None).table is not None
