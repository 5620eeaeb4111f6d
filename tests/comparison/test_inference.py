"""The comparison of tables from the scores of users: what it averages, and how far it is."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import harness
from harness.comparison.inference import UserScores, infer
from harness.config.experiment import Inference
from harness.results import read_run
from harness.statistics import MANY_USERS

RESULTS = Path(__file__).parents[2] / "results"


def scores_of_users(n_users, n_folds, seed=0):
    """Return scores as a run has them: of two rows, with gaps, in no order."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [["b", "a"], map(str, range(n_users)), range(n_folds)], names=["row", "user", "fold"]
    )
    frame = index.to_frame(index=False)
    frame["x"] = np.where(rng.random(len(frame)) < 0.3, np.nan, rng.random(len(frame)))
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


@pytest.mark.parametrize("n_folds", [1, 3])
def test_a_user_in_several_cells_is_one_observation(n_folds):
    frame = scores_of_users(40, n_folds)
    expected = frame.pivot_table(index="user", columns="row", values="x")[["a", "b"]]
    scores = UserScores(frame)
    means = pd.DataFrame(scores.means("x", ["a", "b"]).T, columns=["a", "b"]).dropna(how="all")
    np.testing.assert_array_equal(means, expected)
    part = np.flatnonzero(frame["fold"] == 0)
    first = frame[(frame["fold"] == 0) & (frame["row"] == "b")].sort_values("user")
    np.testing.assert_array_equal(scores.means("x", ["b"], part)[0], first["x"])


def test_many_users_are_compared_in_whatever_order_they_come():
    frame = scores_of_users(MANY_USERS + 50, 1)
    ordered = frame.sort_values(["user", "row"], ignore_index=True)
    one, other = (np.sort(UserScores(each).means("x", ["a", "b"])) for each in (frame, ordered))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_what_compares_says_how_many_metrics_of_all_tables_are_done(threads, monkeypatch):
    monkeypatch.setenv("HARNESS_THREADS", threads)
    config = {
        "dataset": "bundled",
        "candidates": ["rated", "catalogue"],
        "algorithms": ["ItemMean", "Popularity"],
        "metrics": ["ndcg@10", "rmse", "precision@10"],
        "baselines": False,
    }
    run, steps = harness.run(config, results=None), []
    args = run.users, run.info.metrics, run.info.cells, Inference(), 0
    compared, _ = infer(*args, progress=lambda *step: steps.append(step))
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert compared == run.info.statistics


NEWER = ("n_differing", "opposite")
"""What pairs of committed runs do not have."""


@pytest.mark.parametrize("name", ["half-stars", "microsoft-svd", "seeds-ml-100k"])
def test_committed_statistics_come_out_again(name):
    run = read_run(RESULTS / name)
    experiment, info = run.info.experiment, run.info
    args = experiment.statistics, experiment.seed[0], experiment.draws, info.splits
    compared, _ = infer(run.users, info.metrics, info.cells, *args)
    for ours, theirs in zip(compared, info.statistics, strict=True):
        for part in ("algorithms", "pairs"):
            one, other = (
                pd.DataFrame([row.model_dump() for row in getattr(comparison, part)])
                for comparison in (ours, theirs)
            )
            newer = [*NEWER] if part == "pairs" else []
            pd.testing.assert_frame_equal(
                one.drop(columns=newer), other.drop(columns=newer), rtol=1e-9
            )
        assert ours.method == theirs.method
