"""Runs the libraries of one environment on the cases; called with that environment's Python.

Usage: peer_work.py GROUP CASES.json ANSWERS.json. Writes the values of each convention: for every
role and k one value per user, null where the library has no row, "error" where it raised.
"""

import json
import math
import sys
import warnings
from pathlib import Path

CASES = {}


def table(measures, users, prefix=""):
    """Return the values of measures, each of a user and k, by role and k."""
    return {
        prefix + role: {k: [attempt(measure, user, k) for user in users] for k in CASES["cuts"]}
        for role, measure in measures.items()
    }


def attempt(measure, *arguments):
    try:
        value = measure(*arguments)
    except (ArithmeticError, AttributeError, KeyError, ValueError):
        return "error"
    if value is None or isinstance(value, str):
        return value
    return "nan" if math.isnan(value) else float(value)


def both():
    """Yield both cases: the prefix of their roles, and their users."""
    yield "tied ", CASES["tied"]
    yield "", CASES["listed"]


def relevant(user):
    return [item for item, grade in user["grades"].items() if grade > 0]


def numbers(items):
    return [int(item[1:]) for item in items]


def grades_of(user):
    grades = user["grades"]
    return grades if isinstance(grades, dict) else dict(zip(user["items"], grades, strict=True))


def scores_of(user):
    estimates = user.get("estimates", [-float(rank) for rank in range(len(user["items"]))])
    return dict(zip(user["items"], estimates, strict=True))


# scikit-learn, rectools, ranx, pytrec-eval and ir-measures


def sklearn():
    import numpy as np
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

    measures = {
        "ndcg": lambda u, k: ndcg_score([u["grades"]], [u["estimates"]], k=k),
        "dcg": lambda u, k: dcg_score([u["grades"]], [u["estimates"]], k=k),
        "ap": lambda u, k: average_precision_score(np.array(u["grades"]) > 0, u["estimates"]),
    }
    return {"sklearn": table(measures, CASES["tied"], "tied ")}


def rectools():
    import pandas as pd
    from rectools import Columns
    from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

    listed = CASES["listed"]
    rows = [
        (u["user"], item, rank) for u in listed for rank, item in enumerate(u["items"], start=1)
    ]
    truth = [(u["user"], item) for u in listed for item in relevant(u)]
    reco = pd.DataFrame(rows, columns=[Columns.User, Columns.Item, Columns.Rank])
    interactions = pd.DataFrame(truth, columns=[Columns.User, Columns.Item])
    made = {
        "ndcg": NDCG,
        "precision": Precision,
        "recall": Recall,
        "f1": F1Beta,
        "ap": MAP,
        "rr": MRR,
        "hit": HitRate,
        "ndcg(gain=binary, ties=first)": lambda k: NDCG(k=k, divide_by_achievable=True),
        "ap(denominator=k, ties=first)": lambda k: MAP(k=k, divide_by_k=True),
        "precision(denominator=achievable, ties=first)": lambda k: Precision(k=k, r_precision=True),
    }
    values = {
        (role, k): make(k=k).calc_per_user(reco, interactions).to_dict()
        for role, make in made.items()
        for k in CASES["cuts"]
    }
    measures = {role: lambda u, k, r=role: values[r, k].get(u["user"]) for role in made}
    return {"rectools": table(measures, listed)}


def ranx():
    from ranx import Qrels, Run, evaluate

    names = {"precision": "precision", "recall": "recall", "f1": "f1", "ap": "map", "rr": "mrr"}
    names |= {"hit": "hit_rate", "ndcg": "ndcg"}
    found = {"ranx": {}, "ranx-burges": {}}
    for case, users in both():
        qrels = Qrels({u["user"]: grades_of(u) for u in users})
        run = {u["user"]: scores_of(u) for u in users if u["items"]}
        order = {user: place for place, user in enumerate(qrels.keys())}
        for convention, roles in (("ranx", names), ("ranx-burges", {"ndcg": "ndcg_burges"})):
            # Two measures at once: one alone raises a KeyError.
            asked = [f"{name}@{k}" for name in roles.values() for k in CASES["cuts"]]
            values = evaluate(qrels, Run(run), asked, return_mean=False, make_comparable=True)
            measures = {
                role: lambda u, k, n=name, v=values, o=order: v[f"{n}@{k}"][o[u["user"]]]
                for role, name in roles.items()
            }
            found[convention] |= table(measures, users, case)
    return found


def trec_eval():
    import pytrec_eval

    names = {"ndcg": "ndcg_cut", "precision": "P", "recall": "recall", "ap": "map_cut"}
    names |= {"hit": "success"}
    cuts = ",".join(map(str, CASES["cuts"]))
    found = {}
    for case, users in both():
        truth = {u["user"]: grades_of(u) for u in users}
        asked = {f"{name}.{cuts}" for name in names.values()} | {"recip_rank"}
        run = {u["user"]: scores_of(u) for u in users}
        values = pytrec_eval.RelevanceEvaluator(truth, asked).evaluate(run)
        measures = {
            role: lambda u, k, n=name, v=values: v.get(u["user"], {}).get(f"{n}_{k}")
            for role, name in names.items()
        }
        measures["rr"] = lambda u, k, v=values: v.get(u["user"], {}).get("recip_rank")
        found |= table(measures, users, case)
    return {"trec_eval": found}


def ir_measures():
    import ir_measures as peer

    made = {"ndcg": peer.nDCG, "precision": peer.P, "recall": peer.R, "ap": peer.AP}
    made["hit"] = peer.Success
    found = {}
    for case, users in both():
        truth = {u["user"]: grades_of(u) for u in users}
        run = {u["user"]: scores_of(u) for u in users}
        asked = [make @ k for make in made.values() for k in CASES["cuts"]]
        values = {(e.measure, e.query_id): e.value for e in peer.iter_calc(asked, truth, run)}
        measures = {
            role: lambda u, k, m=make, v=values: v.get((m @ k, u["user"]))
            for role, make in made.items()
        }
        found |= table(measures, users, case)
    return {"ir_measures": found}


# Spark's RankingEvaluator


def mllib():
    from pyspark.ml.evaluation import RankingEvaluator
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    names = {"ndcg": "ndcgAtK", "precision": "precisionAtK", "recall": "recallAtK"}
    names["ap"] = "meanAveragePrecisionAtK"
    frames = [
        session.createDataFrame(
            [([*map(float, numbers(u["items"]))], [*map(float, numbers(relevant(u)))])],
            "prediction array<double>, label array<double>",
        )
        for u in CASES["listed"]
    ]
    measures = {
        role: lambda frame, k, n=name: RankingEvaluator(metricName=n, k=k).evaluate(frame)
        for role, name in names.items()
    }
    found = table(measures, frames)
    session.stop()
    return {"mllib": found}


# LensKit and torchmetrics


def lenskit():
    from lenskit.data import ItemList
    from lenskit.metrics import NDCG, Hit, Precision, Recall, RecipRank
    from lenskit.metrics.ranking import AveragePrecision, LogRankWeight

    users = [
        (
            ItemList(item_ids=u["items"], ordered=True),
            ItemList(item_ids=relevant(u)),
            ItemList(item_ids=list(u["grades"]), rating=[float(g) for g in u["grades"].values()]),
        )
        for u in CASES["listed"]
    ]

    def measure(metric, recommended, test):
        value = metric.measure_list(recommended, test)
        return math.nan if value is None else value

    made = {"ndcg": NDCG, "precision": Precision, "recall": Recall, "ap": AveragePrecision}
    made |= {"rr": RecipRank, "hit": Hit}
    measures = {
        role: lambda user, k, m=make: measure(m(k), user[0], user[1]) for role, make in made.items()
    }
    measures["graded ndcg"] = lambda u, k: measure(NDCG(k, gain="rating"), u[0], u[2])
    measures["ndcg(gain=linear, ties=first)"] = lambda u, k: measure(
        NDCG(k, gain="rating", weight=LogRankWeight(offset=1)), u[0], u[2]
    )
    return {"lenskit": table(measures, users)}


def torchmetrics():
    import torch
    from torchmetrics.functional import retrieval as peer

    names = {"precision": "precision", "recall": "recall", "ap": "average_precision"}
    names |= {"rr": "reciprocal_rank", "hit": "hit_rate"}
    measures = {
        role: lambda user, k, n=name: getattr(peer, f"retrieval_{n}")(*user, top_k=k)
        for role, name in names.items()
    }
    tied = [(torch.tensor(u["estimates"]), torch.tensor(u["grades"])) for u in CASES["tied"]]
    ndcg = {"ndcg": lambda u, k: peer.retrieval_normalized_dcg(*u, top_k=k)}
    return {"torchmetrics": table(ndcg, tied, "tied ") | table(measures, dense_users(torch))}


def dense_users(torch):
    """Return positive scores and labels of all candidates: the list, then what it missed.

    Sixteen items that nobody judged stand between, so that the missed ones are out of reach.
    """
    users = []
    for user in CASES["listed"]:
        missed = [item for item in user["grades"] if item not in user["items"]]
        order = [*user["items"], *[None] * 16, *missed]
        labels = [int(user["grades"].get(item, 0) > 0) for item in order]
        scores = [float(len(order) - place) for place in range(len(order))]
        users.append((torch.tensor(scores), torch.tensor(labels)))
    return users


# Microsoft's recommenders


COLUMNS = {"col_user": "userID", "col_item": "itemID", "col_prediction": "prediction"}


def ratings_frame(name, values):
    import pandas as pd

    return pd.DataFrame(
        {
            "userID": pd.Series(["u"] * len(values), dtype=str),
            "itemID": pd.Series(list(values), dtype=str),
            name: pd.Series(list(values.values()), dtype=float),
        }
    )


def microsoft():
    from recommenders.evaluation import python_evaluation as peer

    def on(compute, positive=True, **options):
        def measure(user, k):
            true, pred = user
            true = true[true["rating"] > 0] if positive else true
            return compute(true, pred, k=k, **COLUMNS, **options)

        return measure

    made = {
        "ndcg": on(peer.ndcg_at_k),
        "precision": on(peer.precision_at_k),
        "recall": on(peer.recall_at_k),
        "ap": on(peer.map_at_k),
        "ap(ties=first, empty=nan)": on(peer.map),
    }
    raw = {"score_type": "raw", "discfun_type": "log2"}
    graded = {
        "graded ndcg": on(peer.ndcg_at_k, positive=False, score_type="exp"),
        "ndcg(gain=linear, ties=first)": on(peer.ndcg_at_k, positive=False, **raw),
    }
    found = {}
    for case, users in both():
        frames = [
            (ratings_frame("rating", grades_of(u)), ratings_frame("prediction", scores_of(u)))
            for u in users
        ]
        found |= table(graded if case else graded | made, frames, case)
    return {"microsoft": found}


# Cornac's metric classes and implicit


def cornac():
    import numpy as np
    from cornac import metrics as peer

    classes = {"ndcg": peer.NDCG, "ncrr": peer.NCRR, "precision": peer.Precision}
    classes |= {"recall": peer.Recall, "f1": peer.FMeasure, "hit": peer.HitRatio}
    measures = {
        role: lambda u, k, make=make: make(k=k).compute(
            gt_pos=np.array(numbers(relevant(u)), dtype=int),
            pd_rank=np.array(numbers(u["items"]), dtype=int),
        )
        for role, make in classes.items()
    }
    whole = {
        "ap": lambda u, k: peer.MAP().compute(
            item_indices=np.arange(len(u["items"])),
            pd_scores=np.array(u["estimates"]),
            gt_pos=np.flatnonzero(np.array(u["grades"]) >= 1),
        )
    }
    return {"cornac": table(measures, CASES["listed"]) | table(whole, CASES["tied"], "tied ")}


def implicit():
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    class Fixed:
        """A model that recommends a given list."""

        def __init__(self, items):
            self.items = items

        def recommend(self, users, interactions, N, **_):
            items = (self.items + [-1] * N)[:N]
            return np.array([items] * len(users), dtype=np.int32), np.zeros((len(users), N))

    def measure(user, k, name):
        columns = numbers(relevant(user))
        test = csr_matrix((np.ones(len(columns)), ([0] * len(columns), columns)), shape=(1, 40))
        model = Fixed(numbers(user["items"]))
        return ranking_metrics_at_k(model, csr_matrix((1, 40)), test, K=k, show_progress=False)[
            name
        ]

    names = {"ndcg": "ndcg", "precision": "precision", "ap": "map"}
    measures = {role: lambda u, k, n=name: measure(u, k, n) for role, name in names.items()}
    return {"implicit": table(measures, CASES["listed"])}


# RecBole's metric classes


def recbole():
    import numpy as np
    import torch
    from recbole.evaluator import metrics as peer

    classes = {"ndcg": peer.NDCG, "precision": peer.Precision, "recall": peer.Recall}
    classes |= {"ap": peer.MAP, "rr": peer.MRR, "hit": peer.Hit}
    listed, deepest = CASES["listed"], max(CASES["cuts"])
    rows = np.zeros((len(listed), deepest + 1), dtype=int)  # hits by rank, then how many relevant
    for row, user in zip(rows, listed, strict=True):
        for place, item in enumerate(user["items"][:deepest]):
            row[place] = item in relevant(user)
        row[-1] = len(relevant(user))
    vars(np)["float"] = float  # RecBole 1.2.1 says so, and NumPy has none since 1.24
    measures = {}
    for role, make in classes.items():
        metric = make({"topk": CASES["cuts"], "metric_decimal_place": 4})
        hits, n_relevant = metric.used_info({"rec.topk": torch.from_numpy(rows)})
        counted = (hits, n_relevant) if role in ("ndcg", "recall", "ap") else (hits,)
        values = metric.metric_info(*counted)
        measures[role] = lambda row, k, v=values: v[row, k - 1]
    return {"recbole": table(measures, range(len(listed)))}


WORKERS = {
    "rank": [sklearn, rectools, ranx, trec_eval, ir_measures],
    "spark": [mllib],
    "torch": [lenskit, torchmetrics],
    "microsoft": [microsoft],
    "cornac": [cornac, implicit],
    "recbole": [recbole],
}


def main(group, cases, answers):
    CASES.update(json.loads(Path(cases).read_text(encoding="utf-8")))
    found = {}
    for worker in WORKERS[group]:
        found |= worker()
    Path(answers).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
