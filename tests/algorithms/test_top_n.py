"""Models for top-N lists equal the formulas of their papers, written densely."""

import copy
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import harness
from harness.algorithms import registry, surprise
from harness.algorithms.top_n import EASE, BinaryItemKNN, BinaryUserKNN, PureSVD
from harness.errors import AlgorithmError
from harness.models import estimates as models

RNG = np.random.default_rng(4)
ROWS = [
    (u, i, float(RNG.integers(1, 6))) for u in range(14) for i in range(9) if RNG.random() < 0.4
]
KINDS = [EASE, PureSVD, BinaryItemKNN, BinaryUserKNN]
SCALE = (1.0, 5.0)


def ease(x, reg):
    inverse = np.linalg.inv(x.T @ x + reg * np.eye(x.shape[1]))
    weights = np.eye(x.shape[1]) - inverse @ np.diag(1 / np.diag(inverse))  # Steck 2019, eq. 8
    return x @ weights


def pure_svd(x, n_factors):
    _, _, vectors = np.linalg.svd(x)
    q = vectors[:n_factors].T
    return x @ q @ q.T  # Cremonesi et al. 2010, eq. 9


def cosines(x, k, shrinkage):
    """Return the similarity of each row to its k nearest, 0 to the others."""
    s = np.array(
        [[a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + shrinkage) for b in x] for a in x]
    )
    np.fill_diagonal(s, 0.0)
    for row in s:
        row[np.argsort(-row, kind="stable")[k:]] = 0.0
    return s


@pytest.mark.parametrize(
    ("model", "scores"),
    [
        (EASE(reg=2.0), lambda x, b: ease(b, 2.0)),
        (EASE(reg=2.0, binary=False), lambda x, b: ease(x, 2.0)),
        (EASE(reg=0.1), lambda x, b: ease(b, 0.1)),
        (PureSVD(n_factors=3), lambda x, b: pure_svd(x, 3)),
        (PureSVD(n_factors=3, binary=True), lambda x, b: pure_svd(b, 3)),
        (PureSVD(n_factors=9), lambda x, b: x),
        (PureSVD(n_factors=40), lambda x, b: x),
        (BinaryItemKNN(k=3, shrinkage=1.5), lambda x, b: b @ cosines(b.T, 3, 1.5)),
        (BinaryItemKNN(), lambda x, b: b @ cosines(b.T, 100, 0.0)),
        (BinaryUserKNN(k=4), lambda x, b: cosines(b, 4, 0.0) @ b),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, surprise.AlgoBase) else "",
)
@pytest.mark.parametrize("rows", [ROWS, [(i, u, r) for u, i, r in ROWS]], ids=["tall", "wide"])
def test_scores_are_those_of_the_dense_formula(twins, model, scores, rows):
    model, both = copy.deepcopy(model), twins(rows, scale=SCALE)
    trainset, theirs = both.columns(), copy.deepcopy(model)
    assert models.fit(model, trainset) == "accelerated"
    dense = np.zeros((trainset.n_users, trainset.n_items))
    for u, i, rating in trainset.all_ratings():
        dense[u, i] = rating
    [(_, _, found)] = models.catalogue(model, trainset.user_codes)
    np.testing.assert_allclose(found, scores(dense, (dense > 0).astype(float)), 1e-9, 1e-12)
    both.check(model, model, atol=1e-12)  # one by one, in pairs and in rows, also of unknown ids
    both.check(theirs.fit(both.plain()), model, atol=1e-12)


def test_equally_similar_neighbours_are_taken_in_the_order_of_training(twins):
    rows = [(0, 0, 5), (0, 1, 1), (0, 2, 1), (0, 3, 1)]  # all items alike
    model = BinaryItemKNN(k=2)
    models.fit(model, twins(rows).columns())
    assert model.weights.toarray().tolist() == [
        [0, 1, 1, 0],
        [1, 0, 1, 0],
        [1, 1, 0, 0],
        [1, 1, 0, 0],
    ]


def test_singular_vectors_have_one_sign_and_order(twins):
    model = PureSVD(n_factors=4)
    models.fit(model, twins(ROWS).columns())
    largest = np.abs(model.qi).argmax(axis=0)
    assert (model.qi[largest, range(4)] > 0).all()
    assert (np.diff(np.linalg.norm(model.pu, axis=0)) < 0).all()  # the singular values


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_they_work_in_surprise_s_own_cross_validation_and_are_saved(kind, tmp_path):
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating"]).astype(
        {"user": str, "item": str}
    )
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=SCALE))
    # With all factors, what a user did not rate scores 0 but for rounding, in any order.
    options = {"n_factors": 3} if kind is PureSVD else {}
    found = surprise.model_selection.cross_validate(kind(**options), data, measures=["fcp"], cv=2)
    assert np.isfinite(found["test_fcp"]).all()
    model = harness.fit(kind(**options), data)
    harness.save_model(model, tmp_path / "model.zip")
    again = harness.load_model(tmp_path / "model.zip")
    pairs = [("3", "2"), ("0", "8"), ("nobody", "1")]
    assert harness.estimate(again, pairs).tobytes() == harness.estimate(model, pairs).tobytes()
    own = {item: rating for user, item, rating in frame.itertuples(index=False) if user == "3"}
    if kind is BinaryUserKNN:
        with pytest.raises(AlgorithmError, match="BinaryUserKNN: it cannot take new users"):
            harness.recommend(model, own)
        return
    lists = harness.recommend(model, own, n=5), harness.recommend(model, n=5, users=["3"])
    assert lists[0]["item"].tolist() == lists[1]["item"].tolist()  # folded in as if known
    np.testing.assert_allclose(lists[0]["estimate"], lists[1]["estimate"], 1e-9)


@pytest.mark.long
def test_numbers_do_not_depend_on_the_threads_of_linear_algebra():
    code = (
        "import hashlib, harness, sys; from harness.algorithms import top_n as t;"
        "data = harness.load({'synthetic': {'n_users': 300, 'n_items': 400, 'n_ratings': 9000}});"
        "data = data.to_surprise(); a = harness.fit(t.EASE(), data).weights;"
        "b = harness.fit(t.PureSVD(), data).qi;"
        "print([hashlib.sha256(x.tobytes()).hexdigest() for x in (a, b)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True, text=True, check=True, timeout=120,
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_a_matrix_without_an_inverse_is_refused(twins):
    twice = [(u, i, 1.0) for u in range(3) for i in range(2)]
    with pytest.raises(AlgorithmError, match="EASE: no inverse exists with reg 0; raise reg"):
        models.fit(EASE(reg=0.0), twins(twice).columns())


def test_memory_grows_with_the_matrix_that_each_holds():
    sizes = {"EASE": (100, 70_000), "BinaryItemKNN": (100, 70_000), "BinaryUserKNN": (70_000, 100)}
    found = {name: registry.memory(name, {}, *size, 10**6) for name, size in sizes.items()}
    assert found["EASE"] > 30e9
    assert max(found["BinaryItemKNN"], found["BinaryUserKNN"]) < 2e9


@pytest.mark.long
def test_a_run_leaves_errors_blank_and_says_so(tmp_path):
    config = {
        "dataset": {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 900}},
        "candidates": "catalogue",
        "algorithms": ["EASE", "BinaryUserKNN", "BaselineOnly"],
        "metrics": ["ndcg@5", "rmse", "fcp", "estimated_precision@5"],
    }
    run = harness.run(config, results=None)
    table = run.table.set_index("algorithm")
    blank = table[["rmse", "estimated_precision@5"]].isna().all(axis=1)
    assert blank[blank].index.tolist() == ["EASE", "BinaryUserKNN"]
    assert table[["ndcg@5", "fcp"]].notna().all(axis=None)
    assert (
        "EASE, BinaryUserKNN: estimates are scores on their own scale, not ratings, so rmse, "
        "estimated_precision@5 are left blank"
    ) in map(str, run.info.notes)
