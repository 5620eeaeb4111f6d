"""Models of other libraries as rows: in processes of their own, with their scores unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.algorithms import registry
from harness.algorithms.top_n import EASE
from harness.algorithms.trainset import ColumnTrainset
from harness.config.load import load
from harness.errors import AlgorithmError, ConfigError
from harness.extras.libraries import models as libraries
from harness.extras.libraries.models import Library, LibraryModel
from harness.models import estimates as models

USERS_CACHE = os.environ.get("HARNESS_CACHE")  # where the environments may be already
RUNNERS = Path(libraries.__file__).parent / "runners"
TOY = """
import numpy as np


def fit(request, users, items, ratings):
    assert request["seed"] == 3 and request["threads"] >= 1
    if request["params"].get("fails"):
        raise ValueError("no luck today")
    scores = np.add.outer(np.arange(request["n_users"]), np.arange(request["n_items"]) / 10.0)
    for user, item in request["params"].get("none", []):
        scores[user, item] = np.nan
    return scores * request["params"].get("scale", 1.0)


def scores(model, users):
    return model[users]


def notes(model):
    return ["a toy"]
"""
RATINGS = [(0, 0, 4.0), (0, 1, 2.0), (1, 0, 5.0), (1, 2, 1.0), (2, 1, 3.0)]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A library ``toy`` in this interpreter, with a model of ratings and one of preferences."""
    for name, text in (("runner.py", (RUNNERS / "runner.py").read_text()), ("run_toy.py", TOY)):
        (tmp_path / name).write_text(text)
    params = ["fails", "none", "scale"]
    known = {
        "distribution": "numpy", "requirements": ["toy==1"], "pythons": ["3.11"], "title": "Toy",
        "models": {"Stars": {"params": params, "ratings": True}, "Likes": {"params": params}},
    }  # fmt: skip
    monkeypatch.setattr(libraries, "RUNNERS", tmp_path)
    monkeypatch.setattr(libraries, "libraries", lambda: {"toy": Library.model_validate(known)})

    def fitted(model, **params):
        users, items, ratings = zip(*RATINGS, strict=True)
        trainset = ColumnTrainset.from_columns(
            users, items, ratings, user_ids=["a", "b", "c", "d"], item_ids=["x", "y", "z"],
            scale=(1, 5),
        )  # fmt: skip
        made = registry.create(f"toy/{model}", {"python": sys.executable, **params}, seed=3)
        assert models.fit(made, trainset) == "surprise"
        return made

    return fitted


def test_scores_come_back_for_pairs_and_for_the_catalogue(toy):
    model = toy("Likes", scale=2.0)
    expected = 2 * np.add.outer([0, 1, 2], [0, 0.1, 0.2])
    users, items = np.array([0, 1, 2, 2]), np.array([2, 0, 1, 2])
    estimates, impossible = models.estimate(model, users, items)
    assert estimates.tolist() == expected[users, items].tolist()
    assert not impossible.any()
    ((_, _, rows),) = models.catalogue(model, [0, 1, 2])
    assert rows.tolist() == expected.tolist()
    assert model.predict("c", "z").est == expected[2, 2]
    assert models.scoring_path(model) == "accelerated"
    assert model.fit_notes[0].code == "library"
    assert str(model.fit_notes[-1]) == "a toy"
    assert all(each >= 0 for each in model.seconds_elsewhere)
    assert registry.entry("toy/likes").gives_preferences({})
    assert not registry.entry("toy/stars").gives_preferences({})


def test_what_has_no_score_is_last_in_a_catalogue_and_impossible_alone(toy):
    stars = toy("Stars", none=[[0, 1]])
    estimates, impossible = models.estimate(stars, [0, 0, 3], [0, 1, 0])
    assert impossible.tolist() == [False, True, True]  # no score, and an unknown user
    assert estimates.tolist() == [1.0, 3.0, 3.0]  # clipped to the scale; the mean rating
    ((_, _, rows),) = models.catalogue(stars, [0, 3], clip=False)
    assert rows[0].argmin() == 1
    assert rows[1].tolist() == [-1.0, -1.0, -1.0]
    assert any("no score for 11.1%" in str(note) for note in stars.fit_notes)
    likes = toy("Likes", none=[[0, 1]], scale=-1.0)
    assert models.estimate(likes, [0], [1])[0].tolist() == [-2.2]  # the lowest score of all
    ((_, _, rows),) = models.catalogue(likes, [0])
    assert rows.tolist() == [[0.0, -3.2, -0.2]]


@pytest.mark.skipif(sys.platform == "win32", reason="the interpreter is a shell script")
def test_an_interpreter_may_be_in_the_home_folder(toy, tmp_path, monkeypatch):
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python").chmod(0o700)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [*libraries.check("toy/Stars", {"python": "~/python"})] == []
    assert toy("Stars", python="~/python").scores.shape == (3, 3)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"fails": True}, r"toy/Stars: Toy failed \(ValueError: no luck today\); check `params`"),
        ({"scale": 1e400}, "not of this training set, or not finite"),
        (
            {"none": [[u, i] for u in range(3) for i in range(3)]},
            r"gave no score at all \(NaN\); check `params`",
        ),
        pytest.param(
            {"python": "false"},
            r"failed \(no message\); check `params` and `python`, or leave",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="false is a POSIX command"),
        ),
    ],
)
def test_a_library_that_fails_says_why(toy, params, message):
    with pytest.raises(AlgorithmError, match=message):
        toy("Stars", **params)


def test_a_runner_ends_with_the_process_that_started_it():
    script = "import threading, sys; sys.path.insert(0, sys.argv[1]); import runner, time; "
    script += "threading.Thread(target=runner.end_with_the_parent, daemon=True).start(); "
    script += "print('up', flush=True); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(RUNNERS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"up\n"
        process.stdin.close()
        assert process.wait(60) == 1


def config_of(row, **others):
    return {
        "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
        "algorithms": ["ItemMean", row],
        "metrics": ["ndcg@10"],
    } | others


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"library": "lenskitt", "model": "BiasScorer"}, "unknown library.*did you mean 'lenskit'"),
        ({"library": "cornac", "model": "MFF"}, "Cornac has no model 'MFF' here; .*'MF'"),
        ({"library": "cornac"}, "belong together; give library and model"),
        ({"library": "cornac", "model": "MF", "name": "SVD"}, "both `name` and `library`"),
        (
            {"library": "cornac", "model": "MF", "params": {"kk": 1}},
            "no such parameter here; .*'k'",
        ),
        ({"library": "cornac", "model": "MF", "python": "no-python"}, "must be an interpreter"),
    ],
)
def test_a_row_of_no_library_is_found_before_the_run(row, message):
    with pytest.raises(ConfigError, match=message):
        harness.run(config_of(row), results=None)


def test_library_and_model_are_a_name_in_two_parts():
    row = {"library": "Cornac", "model": "mf", "params": {"k": 5}, "label": "Cornac's"}
    experiment, _ = load(config_of(row))
    chosen = experiment.algorithms[1]
    assert (chosen.name, chosen.title, chosen.params) == ("Cornac/mf", "Cornac's", {"k": 5})
    assert registry.canonical(chosen.name) == "cornac/MF"
    assert load(experiment.model_dump(mode="json"))[0] == experiment
    assert libraries.identity("cornac/MF") != libraries.identity("cornac/BPR")


@pytest.mark.long
def test_a_library_that_cannot_be_installed_is_a_row_that_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    done = harness.run(config_of({"library": "cornac", "model": "MF"}), results=None)
    errors = {cell.algorithm: cell.error for cell in done.info.cells}
    assert errors["ItemMean"] is None
    assert "Cornac could not be installed: ERROR: No matching distribution" in errors["cornac/MF"]
    assert "name its interpreter with `python`" in errors["cornac/MF"]


def ease(trainset, *, transposed=False):
    """Multiply by the weights, or the transposed ones, of our EASE, which equals its formula."""
    weights = EASE(reg=50.0, binary=False).fit(trainset).weights
    return trainset.matrix.toarray() @ (weights.T if transposed else weights)


def cosine(trainset):
    x = trainset.matrix.toarray()
    norms = np.sqrt((x**2).sum(axis=0))
    return x @ (x.T @ x / np.outer(norms, norms))


def biases(trainset):
    """The mean, then each item's mean residual, then each user's, undamped."""
    x = trainset.matrix.toarray()
    rated = x > 0
    mean = x.sum() / rated.sum()
    of_items = np.where(rated, x - mean, 0).sum(axis=0) / rated.sum(axis=0)
    of_users = np.where(rated, x - mean - of_items, 0).sum(axis=1) / rated.sum(axis=1)
    return mean + of_items + of_users[:, None]


@pytest.mark.long
@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        # It multiplies by the transposed weights, as its notes say.
        ("rectools/EASEModel", {"regularization": 50.0}, lambda t: ease(t, transposed=True)),
        ("cornac/EASE", {"lamb": 50.0, "posB": False}, ease),
        ("implicit/CosineRecommender", {"K": 1000}, cosine),
        ("lenskit/BiasScorer", {"damping": 0.0}, biases),
    ],
)
def test_each_library_in_an_environment_of_its_own_equals_its_formula(
    name, params, expected, monkeypatch, tmp_path_factory
):
    own = tmp_path_factory.getbasetemp() / "libraries"
    monkeypatch.setenv("HARNESS_CACHE", USERS_CACHE or str(own))
    try:
        libraries.prepare(name, {})
    except AlgorithmError as error:
        pytest.skip(str(error))
    ratings = harness.load({"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 900}})
    trainset = ColumnTrainset.of_ratings(ratings)
    model = LibraryModel(name, random_state=0, **params)
    model.fit(trainset)
    assert np.abs(model.scores - expected(trainset)).max() < 2e-4  # some compute in float32
