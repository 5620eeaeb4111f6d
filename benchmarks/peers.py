"""What other libraries do in the benchmarks; run by `speed.py` in an environment that has them.

    peers.py Cornac|LensKit TRAIN.csv TEST.csv     fit, rank and evaluate models
    peers.py metrics COLUMNS.npz                   NDCG per user from columns in no order

Prints, as JSON, seconds by the rule of `timing.py` and the mean NDCG@10 of each. Everything is
done once before, so that neither loading nor compiling is within the time.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from timing import measure

K = 40


def cornac_work(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Callable[[], float]]:
    from cornac.eval_methods import BaseMethod
    from cornac.eval_methods.base_method import ranking_eval
    from cornac.metrics import NDCG
    from cornac.models import MF, NMF, BaselineOnly, ItemKNN, UserKNN

    rows = [list(frame.itertuples(index=False, name=None)) for frame in (train, test)]
    method = BaseMethod.from_splits(*rows, exclude_unknowns=True, seed=0)
    n = int(os.environ["OMP_NUM_THREADS"])
    limit: Any = {"num_threads": n, "seed": 0 if n == 1 else None}  # with a seed it has one thread
    neighbors = {"k": K, "similarity": "cosine", "mean_centered": True, "verbose": False} | limit
    models = {
        "BaselineOnly": lambda: BaselineOnly(max_iter=20, verbose=False, **limit),
        "SVD": lambda: MF(k=100, max_iter=20, learning_rate=0.005, lambda_reg=0.02, **limit),
        "NMF": lambda: NMF(k=15, max_iter=50, verbose=False, **limit),
        "user neighbours": lambda: UserKNN(**neighbors),
        "item neighbours": lambda: ItemKNN(**neighbors),
    }

    def evaluate(create: Callable[[], Any]) -> float:
        model = create().fit(method.train_set)
        found, _ = ranking_eval(model, [NDCG(k=10)], method.train_set, method.test_set)
        return float(found[0])

    return {name: lambda c=create: evaluate(c) for name, create in models.items()}


def lenskit_work(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Callable[[], float]]:
    from lenskit.als import BiasedMFScorer
    from lenskit.basic import BiasScorer
    from lenskit.batch import recommend
    from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
    from lenskit.knn import ItemKNNScorer, UserKNNScorer
    from lenskit.metrics import NDCG, RunAnalysis
    from lenskit.pipeline import topn_pipeline

    names = ["user_id", "item_id", "rating"]
    data = from_interactions_df(train.set_axis(names, axis=1))
    truth = ItemListCollection.from_df(test.set_axis(names, axis=1), UserIDKey)
    models = {
        "BaselineOnly": lambda: BiasScorer(damping=10),
        "SVD": lambda: BiasedMFScorer(features=100, epochs=20),
        "user neighbours": lambda: UserKNNScorer(k=K),
        "item neighbours": lambda: ItemKNNScorer(k=K),
    }

    def evaluate(create: Callable[[], Any]) -> float:
        pipeline = topn_pipeline(create(), n=10)
        pipeline.train(data)
        lists = recommend(pipeline, truth.keys(), n_jobs=1)
        analysis = RunAnalysis()
        analysis.add_metric(NDCG(10))
        return float(analysis.measure(lists, truth).list_metrics().mean().iloc[0])

    return {name: lambda c=create: evaluate(c) for name, create in models.items()}


CUTS = (1, 3, 5, 10, 20, 50)


def plain_loop(users: Any, items: Any, estimates: Any, ratings: Any) -> dict[int, Any]:
    rows = defaultdict(list)
    for user, estimate, rating in zip(
        users.tolist(), estimates.tolist(), ratings.tolist(), strict=True
    ):
        rows[user].append((estimate, rating))
    discounts = [1 / math.log2(rank + 2) for rank in range(max(CUTS))]
    found = {}
    for user, pairs in rows.items():
        ranked = [rating for _, rating in sorted(pairs, key=lambda pair: -pair[0])]
        best = sorted(ranked, reverse=True)
        values = []
        for k in CUTS:
            dcg = sum((2**rel - 1) * d for rel, d in zip(ranked[:k], discounts))  # noqa: B905
            whole = sum((2**rel - 1) * d for rel, d in zip(best[:k], discounts))  # noqa: B905
            values.append(dcg / whole)
        found[user] = values
    return dict(zip(CUTS, zip(*found.values(), strict=True), strict=True))


def ranx(users: Any, items: Any, estimates: Any, ratings: Any) -> dict[int, Any]:
    from ranx import Qrels, Run, evaluate

    frame = pd.DataFrame(
        {
            "user": users.astype(str),
            "item": items.astype(str),
            "estimate": estimates,
            "rating": ratings.astype(int),
        }
    )
    truth = Qrels.from_df(frame, q_id_col="user", doc_id_col="item", score_col="rating")
    run = Run.from_df(frame, q_id_col="user", doc_id_col="item", score_col="estimate")
    names = [f"ndcg_burges@{k}" for k in CUTS]
    found = evaluate(truth, run, names, return_mean=False, make_comparable=True)
    return dict(zip(CUTS, found.values(), strict=True))


def pytrec_eval(users: Any, items: Any, estimates: Any, ratings: Any) -> dict[int, Any]:
    import pytrec_eval as peer

    truth: dict[str, dict[str, int]] = defaultdict(dict)
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for user, item, estimate, rating in zip(
        users.astype(str).tolist(),
        items.astype(str).tolist(),
        estimates.tolist(),
        ratings.astype(int).tolist(),
        strict=True,
    ):
        truth[user][item] = rating
        run[user][item] = estimate
    cuts = "ndcg_cut." + ",".join(map(str, CUTS))
    found = peer.RelevanceEvaluator(truth, {cuts}).evaluate(run).values()
    return {k: [user[f"ndcg_cut_{k}"] for user in found] for k in CUTS}


def rectools(users: Any, items: Any, estimates: Any, ratings: Any) -> dict[int, Any]:
    from rectools import Columns
    from rectools.metrics import NDCG
    from rectools.metrics.base import merge_reco

    frame = pd.DataFrame({Columns.User: users, Columns.Item: items, "estimate": estimates})
    reco = frame.sort_values([Columns.User, "estimate"], ascending=[True, False], kind="stable")
    reco[Columns.Rank] = reco.groupby(Columns.User).cumcount() + 1
    merged = merge_reco(reco, frame[ratings >= 4])
    return {k: NDCG(k=k).calc_per_user_from_merged(merged) for k in CUTS}


def scikit_learn(users: Any, items: Any, estimates: Any, ratings: Any) -> dict[int, Any]:
    from sklearn.metrics._ranking import _ndcg_sample_scores  # the mean is all it offers openly

    codes, ids = pd.factorize(users)
    place = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    shape = (len(ids), place.max() + 1)
    scores, truth = np.full(shape, estimates.min() - 1.0), np.zeros(shape)
    scores[codes, place], truth[codes, place] = estimates, ratings
    return {k: _ndcg_sample_scores(truth, scores, k=k) for k in CUTS}


def metric_work(columns: dict[str, np.ndarray]) -> dict[str, Callable[[], float]]:
    peers = {
        "plain Python loop": plain_loop,
        "scikit-learn": scikit_learn,
        "rectools": rectools,
        "pytrec-eval": pytrec_eval,
        "ranx": ranx,
    }
    n_users = len(np.unique(columns["users"]))

    def evaluate(work: Callable[..., dict[int, Any]]) -> float:
        found = work(**columns)
        if {len(found[k]) for k in CUTS} != {n_users}:
            sys.exit(f"{work.__name__}: not one value for each of {n_users} users")
        return float(np.mean(found[10]))

    return {name: partial(evaluate, work) for name, work in peers.items()}


def main() -> None:
    library, *paths = sys.argv[1:]
    warnings.simplefilter("ignore")
    logging.disable()
    if library == "metrics":
        with np.load(paths[0]) as columns:
            work = metric_work(dict(columns))
    else:
        ids = {"user": str, "item": str}
        train, test = (pd.read_csv(path, dtype=ids) for path in paths)
        work = {"Cornac": cornac_work, "LensKit": lenskit_work}[library](train, test)
    found = {}
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        for name, evaluate in work.items():
            mean = evaluate()
            found[name] = measure(evaluate) | {"mean": mean}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
