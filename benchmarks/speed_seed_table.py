"""Nine algorithms over the whole catalogue of MovieLens 100K: a plain script against one run.

The plain script fits each algorithm, asks ``predict`` for every training item and test user, and
computes NDCG@10 with linear gain and averaged ties user by user. The run is one config; it is
measured in a process that has compiled everything, and from the command line in a first process
that has to compile, with empty caches.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from speed_sides import Row, Table, arguments, movielens, plain, seconds, silence, three_quarters

from harness.algorithms import surprise

SEEDED = ("SVD", "SVDpp", "NMF", "CoClustering")
NEIGHBORS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
NAMES = ("SVD", "SVDpp", "NMF", *NEIGHBORS, "SlopeOne", "CoClustering")
LABEL = "ndcg(gain=linear, undefined=0)@10"


def params(name: str) -> dict[str, int]:
    return {"random_state": 0} if name in SEEDED else {}


def config(copy: str | None) -> dict[str, object]:
    return {
        "dataset": {"name": "ml-100k", "path": str(Path(copy).resolve())} if copy else "ml-100k",
        "split": {"kind": "holdout", "test_size": 0.25, "random_state": 42},
        "candidates": {"kind": "catalogue", "training_items": "keep", "unknown_items": "drop"},
        "algorithms": [{"name": name, "params": params(name)} for name in NAMES],
        "metrics": [LABEL],
        "seed": 0,
    }


def ndcg(estimates: np.ndarray, relevance: np.ndarray, k: int = 10) -> float:
    """Return NDCG@k with linear gain, each item of a tie counting as the tie's mean."""
    discount = np.zeros(len(relevance))
    discount[:k] = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.sort(relevance)[::-1] @ discount
    if ideal == 0:
        return 0.0
    _, group, sizes = np.unique(-estimates, return_inverse=True, return_counts=True)
    means = np.bincount(group, relevance) / sizes
    ends = np.cumsum(sizes)
    shares = np.append(0, np.cumsum(discount))
    return float(means @ (shares[ends] - shares[ends - sizes]) / ideal)


def plain_script(copy: str | None) -> dict[str, float]:
    """Do what the published script does, with Surprise and NumPy alone."""
    ratings = movielens(copy)
    train, test = three_quarters(len(ratings.users))
    trainset = plain(ratings, train)
    items = [trainset.to_raw_iid(inner) for inner in trainset.all_items()]
    place = {item: column for column, item in enumerate(items)}
    judged: dict[str, list[tuple[int, float]]] = {}
    for row in test:
        item = ratings.item_ids[ratings.items[row]]
        found = judged.setdefault(ratings.user_ids[ratings.users[row]], [])
        if item in place:
            found.append((place[item], ratings.ratings[row]))
    scores = {}
    for name in NAMES:
        model = getattr(surprise, name)(**params(name)).fit(trainset)
        total = 0.0
        for user, relevant in judged.items():
            estimates = np.array([model.predict(user, item).est for item in items])
            relevance = np.zeros(len(items))
            for column, rating in relevant:
                relevance[column] = rating
            total += ndcg(estimates, relevance)
        scores[name] = total / len(judged)
    return scores


def one_run(copy: str | None) -> dict[str, float]:
    from harness.experiment import run

    done = run(config(copy), results=None, fresh=True)
    return done.table.set_index("algorithm")[LABEL].reindex(NAMES).to_dict()


def main() -> int:
    told = arguments((__doc__ or "").splitlines()[0], repeats=3)
    table = Table((__doc__ or "").splitlines()[0], against="plain")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = str(Path(folder, "cache"))
        first = dict(os.environ, NUMBA_CACHE_DIR=str(Path(folder, "numba")))
        first["HARNESS_CACHE"] = str(Path(folder, "first"))
        code = "import sys; from speed_seed_table import one_run; one_run(sys.argv[1] or None)"
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code, told.copy or ""],
            env=first,
            cwd=Path(__file__).parent,
            check=True,
        )
        cold = time.perf_counter() - start
        one_run(told.copy)
        warm = seconds(lambda: one_run(told.copy), told.repeats)
        found = one_run(told.copy)
        with silence():
            start = time.perf_counter()
            expected = plain_script(told.copy)
            slow = time.perf_counter() - start
    for name in NAMES:
        assert round(found[name], 6) == round(expected[name], 6), (name, found, expected)
    table.add(Row("nine algorithms, warm", slow, warm, 60, "NDCG equal to 6 digits"))
    table.add(Row("nine algorithms, first process", slow, cold, 15, "compiling included"))
    return table.finish(told.output)


if __name__ == "__main__":
    sys.exit(main())
