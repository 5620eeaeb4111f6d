"""Cornac's metric classes and implicit on the cases, one user at a time; see `peer_work`."""

import numpy as np


def cornac(tied, listed, cuts):
    from cornac import metrics as peer

    classes = {
        "ndcg": peer.NDCG,
        "ncrr": peer.NCRR,
        "precision": peer.Precision,
        "recall": peer.Recall,
        "f1": peer.FMeasure,
        "hit": peer.HitRatio,
    }
    found = {role: {} for role in (*classes, "tied ap")}
    numbers = numbered(listed)
    for k in cuts:
        for role, make in classes.items():
            found[role][k] = [
                float(
                    make(k=k).compute(
                        gt_pos=np.array(relevant, dtype=int), pd_rank=np.array(items, dtype=int)
                    )
                )
                for items, relevant in numbers
            ]
        found["tied ap"][k] = [
            float(
                peer.MAP().compute(
                    item_indices=np.arange(len(user["items"])),
                    pd_scores=np.array(user["estimates"]),
                    gt_pos=np.flatnonzero(np.array(user["grades"]) >= 1),
                )
            )
            for user in tied
        ]
    return {"cornac": found}


def implicit(tied, listed, cuts):
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    names = {"ndcg": "ndcg", "precision": "precision", "ap": "map"}
    found = {role: {k: [] for k in cuts} for role in names}
    for items, relevant in numbered(listed):
        test = csr_matrix(
            (np.ones(len(relevant)), (np.zeros(len(relevant), dtype=int), relevant)), shape=(1, 40)
        )
        for k in cuts:
            try:
                values = ranking_metrics_at_k(
                    Fixed(items), csr_matrix((1, 40)), test, K=k, show_progress=False
                )
            except ZeroDivisionError:
                values = dict.fromkeys(names.values(), "error")
            for role, name in names.items():
                found[role][k].append(values[name])
    return {"implicit": found}


class Fixed:
    """A model that recommends a given list."""

    def __init__(self, items):
        self.items = items

    def recommend(self, users, interactions, N, **_):
        items = (self.items + [-1] * N)[:N]
        return np.array([items] * len(users), dtype=np.int32), np.zeros((len(users), N))


def numbered(listed):
    """Return each user's items and relevant items as numbers."""
    return [
        (
            [int(item[1:]) for item in user["items"]],
            [int(item[1:]) for item, grade in user["grades"].items() if grade > 0],
        )
        for user in listed
    ]


def odd_no_hit(scores, grades):
    from cornac.metrics import MRR

    relevant, ranked = ([int(item) for item in side] for side in (grades, scores))
    try:
        return float(MRR().compute(gt_pos=np.array(relevant), pd_rank=np.array(ranked)))
    except ValueError:
        return "error"


WORKERS = [cornac, implicit]
ODD = {"cornac, no hit": odd_no_hit}
