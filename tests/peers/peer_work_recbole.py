"""RecBole's metric classes on the cases, value by user; see `peer_work`."""

import numpy as np


def recbole(tied, listed, cuts):
    import torch
    from recbole.evaluator import metrics as peer

    classes = {
        "ndcg": peer.NDCG,
        "precision": peer.Precision,
        "recall": peer.Recall,
        "ap": peer.MAP,
        "rr": peer.MRR,
        "hit": peer.Hit,
    }
    deepest = max(cuts)
    rows = np.zeros((len(listed), deepest + 1), dtype=int)  # hits by rank, then how many relevant
    for row, user in zip(rows, listed, strict=True):
        relevant = {item for item, grade in user["grades"].items() if grade > 0}
        for place, item in enumerate(user["items"][:deepest]):
            row[place] = item in relevant
        row[-1] = len(relevant)
    given = {"rec.topk": torch.from_numpy(rows)}
    config = {"topk": list(cuts), "metric_decimal_place": 4}
    found = {}
    vars(np)["float"] = float  # see `odd_new_numpy`
    for role, make in classes.items():
        metric = make(config)
        hits, n_relevant = metric.used_info(given)
        counted = (hits, n_relevant) if role in ("ndcg", "recall", "ap") else (hits,)
        values = metric.metric_info(*counted)
        found[role] = {k: values[:, k - 1].tolist() for k in cuts}
    return {"recbole": found}


def odd_new_numpy(scores, grades):
    """RecBole 1.2.1 still says ``np.float``, and NumPy has none since 1.24."""
    from recbole.evaluator.metrics import MRR

    hits = np.array([[item in grades for item in scores]])
    try:
        return float(MRR({"topk": [1], "metric_decimal_place": 4}).metric_info(hits)[0, 0])
    except AttributeError:
        return "error"


WORKERS = [recbole]
ODD = {"recbole, new NumPy": odd_new_numpy}
