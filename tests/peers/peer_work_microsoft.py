"""Microsoft's recommenders on the cases, one user at a time; see `peer_work`."""

import pandas as pd

COLUMNS = {"col_user": "userID", "col_item": "itemID", "col_prediction": "prediction"}


def microsoft(tied, listed, cuts):
    from recommenders.evaluation import python_evaluation as peer

    made = {
        "ndcg": lambda true, pred, k: peer.ndcg_at_k(true, pred, k=k, **COLUMNS),
        "precision": lambda true, pred, k: peer.precision_at_k(true, pred, k=k, **COLUMNS),
        "recall": lambda true, pred, k: peer.recall_at_k(true, pred, k=k, **COLUMNS),
        "ap": lambda true, pred, k: peer.map_at_k(true, pred, k=k, **COLUMNS),
        "ap(ties=first, empty=nan)": lambda true, pred, k: peer.map(true, pred, k=k, **COLUMNS),
    }
    graded = {
        "graded ndcg": lambda true, pred, k: peer.ndcg_at_k(
            true, pred, k=k, score_type="exp", **COLUMNS
        ),
        "ndcg(gain=linear, ties=first)": lambda true, pred, k: peer.ndcg_at_k(
            true, pred, k=k, score_type="raw", discfun_type="log2", **COLUMNS
        ),
    }
    found = {role: {k: [] for k in cuts} for role in (*made, *graded)}
    found |= {f"tied {role}": {k: [] for k in cuts} for role in graded}
    for case, users in (("tied ", tied), ("", listed)):
        for user in users:
            grades = user["grades"]
            if case:
                grades = dict(zip(user["items"], grades, strict=True))
            scores = user.get("estimates", [float(-place) for place in range(len(user["items"]))])
            pred = frame(user, user["items"], "prediction", scores)
            true = frame(user, grades, "rating", grades.values())
            positive = true[true["rating"] > 0]
            for k in cuts:
                for role, compute in graded.items():
                    found[case + role][k].append(attempt(compute, true, pred, k))
                if not case:
                    for role, compute in made.items():
                        found[role][k].append(attempt(compute, positive, pred, k))
    return {"microsoft": found}


def frame(user, items, name, values):
    return pd.DataFrame(
        {
            "userID": pd.Series([user["user"]] * len(items), dtype=str),
            "itemID": pd.Series(list(items), dtype=str),
            name: pd.Series(list(values), dtype=float),
        }
    )


def attempt(compute, true, pred, k):
    try:
        return float(compute(true, pred, k))
    except (ValueError, KeyError, ZeroDivisionError):
        return "error"


def odd_zero(scores, grades):
    from recommenders.evaluation import python_evaluation as peer

    pred = frame({"user": "u"}, scores, "prediction", scores.values())
    true = frame({"user": "u"}, grades, "rating", grades.values())
    return float(peer.ndcg_at_k(true, pred, k=1, **COLUMNS))


WORKERS = [microsoft]
ODD = {"microsoft, rating of 0": odd_zero}
