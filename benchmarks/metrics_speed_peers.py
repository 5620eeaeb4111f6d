"""NDCG per user from columns in no order, in other libraries; run by `metrics_speed`.

Usage: metrics_speed_peers.py COLUMNS.npz REPEATS. Prints, as JSON, each one's least seconds and
mean NDCG@10. Every peer starts from the same columns and ends with one value per user and rank;
each is run once on a small part before, so that nothing is compiled within the time.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

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


PEERS: dict[str, Callable[..., dict[int, Any]]] = {
    "plain Python loop": plain_loop,
    "scikit-learn": scikit_learn,
    "rectools": rectools,
    "pytrec-eval": pytrec_eval,
    "ranx": ranx,
}


def main() -> None:
    with np.load(sys.argv[1]) as columns:
        given = [columns[name] for name in ("users", "items", "estimates", "ratings")]
    n_users = len(np.unique(given[0]))
    small = given[0] < 50
    told = {}
    for name, work in PEERS.items():
        work(*(column[small] for column in given))
        seconds = math.inf
        for _ in range(int(sys.argv[2])):
            start = time.perf_counter()
            found = work(*given)
            seconds = min(seconds, time.perf_counter() - start)
        if {len(found[k]) for k in CUTS} != {n_users}:
            sys.exit(f"{name}: not one value for each of {n_users} users")
        told[name] = seconds, float(np.mean(found[10]))
    print(json.dumps(told))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
