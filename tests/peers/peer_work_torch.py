"""LensKit and torchmetrics on the cases; see `peer_work`."""

import math


def lenskit(tied, listed, cuts):
    from lenskit.data import ItemList
    from lenskit.metrics import NDCG, Hit, Precision, Recall, RecipRank
    from lenskit.metrics.ranking import AveragePrecision, LogRankWeight

    pairs = []
    for user in listed:
        recommended = ItemList(item_ids=user["items"], ordered=True)
        relevant = [item for item, grade in user["grades"].items() if grade > 0]
        graded = ItemList(
            item_ids=list(user["grades"]), rating=[float(g) for g in user["grades"].values()]
        )
        pairs.append((recommended, ItemList(item_ids=relevant), graded))
    made = {
        "ndcg": lambda k: NDCG(k),
        "precision": lambda k: Precision(k),
        "recall": lambda k: Recall(k),
        "ap": lambda k: AveragePrecision(k),
        "rr": lambda k: RecipRank(k),
        "hit": lambda k: Hit(k),
    }
    graded = {
        "graded ndcg": lambda k: NDCG(k, gain="rating"),
        "ndcg(gain=linear, ties=first)": lambda k: NDCG(
            k, gain="rating", weight=LogRankWeight(offset=1)
        ),
    }
    found = {role: {} for role in (*made, *graded)}
    for k in cuts:
        for role, make in made.items():
            found[role][k] = [measure(make(k), recs, test) for recs, test, _ in pairs]
        for role, make in graded.items():
            found[role][k] = [measure(make(k), recs, test) for recs, _, test in pairs]
    return {"lenskit": found}


def measure(metric, recommended, test):
    try:
        value = metric.measure_list(recommended, test)
    except ZeroDivisionError:
        return "error"
    return math.nan if value is None else float(value)


def torchmetrics(tied, listed, cuts):
    import torch
    from torchmetrics.functional import retrieval as peer

    measures = {
        "precision": lambda s, t, k: peer.retrieval_precision(s, t, top_k=k),
        "recall": lambda s, t, k: peer.retrieval_recall(s, t, top_k=k),
        "ap": lambda s, t, k: peer.retrieval_average_precision(s, t, top_k=k),
        "rr": lambda s, t, k: peer.retrieval_reciprocal_rank(s, t, top_k=k),
        "hit": lambda s, t, k: peer.retrieval_hit_rate(s, t, top_k=k),
    }
    found = {role: {} for role in ("tied ndcg", *measures)}
    for k in cuts:
        found["tied ndcg"][k] = [
            float(
                peer.retrieval_normalized_dcg(
                    torch.tensor(user["estimates"]), torch.tensor(user["grades"]), top_k=k
                )
            )
            for user in tied
        ]
        for role, measure_one in measures.items():
            found[role][k] = [float(measure_one(*dense(user), k)) for user in listed]
    return {"torchmetrics": found}


def dense(user):
    """Return positive scores and labels of all candidates: the list, then what it missed.

    Sixteen items that nobody judged stand between, so that the missed ones are out of reach.
    """
    import torch

    missed = [item for item in user["grades"] if item not in user["items"]]
    order = [*user["items"], *[None] * 16, *missed]
    labels = [int(user["grades"].get(item, 0) > 0) for item in order]
    scores = [float(len(order) - place) for place in range(len(order))]
    return torch.tensor(scores), torch.tensor(labels)


def odd_ndcg(scores, grades):
    return odd_torchmetrics("normalized_dcg", scores, grades)


def odd_ap(scores, grades):
    return odd_torchmetrics("average_precision", scores, grades)


def odd_torchmetrics(name, scores, grades):
    import torch
    from torchmetrics.functional import retrieval as peer

    labels = torch.tensor([grades[item] for item in scores])
    return float(getattr(peer, f"retrieval_{name}")(torch.tensor([*scores.values()]), labels))


WORKERS = [lenskit, torchmetrics]
ODD = {"torchmetrics, 32 bits": odd_ndcg, "torchmetrics, negative scores": odd_ap}
