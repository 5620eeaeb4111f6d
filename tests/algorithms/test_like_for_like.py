"""The steps between models of two libraries: their formulas, and the figures that are kept."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.sparse import csr_array

from harness.algorithms.trainset import ColumnTrainset
from harness.config.load import load

FOLDER = Path(__file__).parents[2] / "dev" / "benchmarks"
CHAINS = yaml.safe_load((FOLDER / "like_for_like.yaml").read_text("utf-8"))
FIGURES = json.loads((FOLDER / "figures" / "like_for_like.json").read_text("utf-8"))


@pytest.fixture
def steps(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("like_for_like")


@pytest.mark.parametrize("name", CHAINS)
def test_the_last_step_has_the_numbers_of_the_other_library(name):
    *_, step, other = FIGURES[name]
    for key in ("rated", "catalogue", "rmse"):
        assert (step[key] is None) == (not CHAINS[name]["ratings"] and key == "rmse")
        assert step[key] is None or abs(step[key] - other[key]) < 5e-5
    labels = [CHAINS[name]["from"]["label"], *CHAINS[name]["steps"], CHAINS[name]["to"]["label"]]
    assert [row["row"] for row in FIGURES[name] if "not clipped" not in row["row"]] == labels
    ends = [CHAINS[name]["from"], CHAINS[name]["to"]]
    load({"dataset": "bundled", "algorithms": ends, "metrics": ["ndcg@10"]})  # no fault


@pytest.mark.parametrize("user_based", [False, True])
def test_neighbours_follow_the_formula(steps, user_based):
    rng, ids = np.random.default_rng(5), {"user_ids": range(30), "item_ids": range(20)}
    users, items = np.nonzero(rng.random((30, 20)) < 0.3)
    given = rng.integers(1, 6, len(users))
    trainset = ColumnTrainset.from_columns(users, items, given, scale=(1, 5), **ids)
    ratings = trainset.matrix.toarray() if user_based else trainset.matrix.toarray().T
    rated = ratings > 0
    means = [row[known].mean() for row, known in zip(ratings, rated, strict=True)]
    centred = np.where(rated, ratings - np.array(means)[:, None], 0.0)
    unit = centred / np.linalg.norm(centred, axis=1)[:, None]
    expected = np.full(ratings.shape, np.nan)
    for x, y in np.ndindex(*ratings.shape):
        near = [(unit[x] @ unit[z], centred[z, y]) for z in np.flatnonzero(rated[:, y])]
        near = sorted(((s, value) for s, value in near if s > 1e-6), reverse=True)[:20]
        if near:
            expected[x, y] = means[x] + np.average(
                [v for _, v in near], weights=[s for s, _ in near]
            )
    found = steps.neighbours(trainset, 0, user_based=user_based, full=True, few=False)
    np.testing.assert_allclose(found, expected if user_based else expected.T, atol=1e-12)


@pytest.mark.parametrize("everywhere", [False, True])
def test_least_squares_are_those_of_all_equations(steps, everywhere):
    rng = np.random.default_rng(1)
    dense, others = rng.integers(1, 9, (6, 9)) * (rng.random((6, 9)) < 0.5), rng.random((9, 3))
    found = steps.solved(csr_array(dense.astype(float)), others, 0.3, everywhere)
    for row, vector in zip(dense, found, strict=True):
        n, weights = (1, np.maximum(row, 1)) if everywhere else ((row > 0).sum(), row > 0)
        left = np.vstack([others * np.sqrt(weights)[:, None], np.sqrt(0.3 * n) * np.eye(3)])
        wanted = np.append(((row > 0) if everywhere else row) * np.sqrt(weights), np.zeros(3))
        np.testing.assert_allclose(vector, np.linalg.lstsq(left, wanted)[0], atol=1e-9)


def test_an_unknown_model_is_an_error():
    command = [sys.executable, FOLDER / "like_for_like.py", "ease-lenskit"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "found 'ease-lenskit'; use item-neighbours" in done.stderr


def test_steps_are_rows_of_a_run(steps):
    to = {"name": "EASE", "label": "EASE of ratings", "params": {"binary": False}}
    dataset = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
    start, same, _, end = steps.rows({**CHAINS["ease-cornac"], "to": to}, dataset)
    assert {**same, "row": ""} == {**end, "row": ""} != {**start, "row": ""}
