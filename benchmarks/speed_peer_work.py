"""Train and evaluate the models of Cornac or LensKit; run by `speed_peers` in their environment.

Usage: speed_peer_work.py cornac|lenskit TRAIN.csv TEST.csv REPEATS. Prints seconds as JSON.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

K = 40


def cornac_work(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Callable[[], float]]:
    from cornac.eval_methods import BaseMethod
    from cornac.eval_methods.base_method import ranking_eval
    from cornac.metrics import NDCG
    from cornac.models import MF, NMF, BaselineOnly, ItemKNN, UserKNN

    rows = [list(frame.itertuples(index=False, name=None)) for frame in (train, test)]
    method = BaseMethod.from_splits(*rows, exclude_unknowns=True, seed=0)
    neighbors = {"k": K, "similarity": "cosine", "mean_centered": True, "verbose": False}
    models = {
        "BaselineOnly": lambda: BaselineOnly(max_iter=20, verbose=False),
        "SVD": lambda: MF(k=100, max_iter=20, learning_rate=0.005, lambda_reg=0.02, seed=0),
        "NMF": lambda: NMF(k=15, max_iter=50, seed=0, verbose=False),
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


def main() -> None:
    peer, train_path, test_path, repeats = sys.argv[1:]
    warnings.simplefilter("ignore")
    logging.disable()
    train, test = (
        pd.read_csv(path, dtype={"user": str, "item": str}) for path in (train_path, test_path)
    )
    told = {}
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        work = {"cornac": cornac_work, "lenskit": lenskit_work}[peer](train, test)
        for name, evaluate in work.items():
            evaluate()  # load and compile what they load and compile
            times = []
            for _ in range(int(repeats)):
                start = time.perf_counter()
                score = evaluate()
                times.append(time.perf_counter() - start)
            told[name] = {"seconds": min(times), "ndcg": score}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
