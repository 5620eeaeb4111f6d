"""scikit-learn, rectools, ranx, pytrec-eval and ir-measures on the cases; see `peer_work`."""

import numpy as np
import pandas as pd


def sklearn(tied, listed, cuts):
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

    found = {"tied ndcg": {}, "tied dcg": {}, "tied ap": {}}
    for k in cuts:
        for role, score in (("tied ndcg", ndcg_score), ("tied dcg", dcg_score)):
            found[role][k] = [score([u["grades"]], [u["estimates"]], k=k) for u in tied]
        found["tied ap"][k] = [
            average_precision_score(np.array(u["grades"]) > 0, u["estimates"]) for u in tied
        ]
    return {"sklearn": found}


def rectools(tied, listed, cuts):
    from rectools import Columns
    from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

    rows = [
        (u["user"], item, rank) for u in listed for rank, item in enumerate(u["items"], start=1)
    ]
    truth = [(u["user"], item) for u in listed for item, grade in u["grades"].items() if grade > 0]
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
    found = {role: {} for role in made}
    for role, make in made.items():
        for k in cuts:
            values = make(k=k).calc_per_user(reco, interactions).to_dict()
            found[role][k] = [values.get(u["user"]) for u in listed]
    return {"rectools": found}


def ranx(tied, listed, cuts):
    from ranx import Qrels, Run, evaluate

    names = {
        "precision": "precision",
        "recall": "recall",
        "f1": "f1",
        "ap": "map",
        "rr": "mrr",
        "hit": "hit_rate",
    }
    found = {"ranx": {}, "ranx-burges": {}}
    for case, users in (("tied ", tied), ("", listed)):
        truth = {u["user"]: grades_of(u) for u in users}
        run = {u["user"]: scores_of(u) for u in users if u["items"]}
        for convention, roles in (
            ("ranx", names | {"ndcg": "ndcg"}),
            ("ranx-burges", {"ndcg": "ndcg_burges"}),
        ):
            asked = [f"{name}@{k}" for name in roles.values() for k in cuts]
            qrels = Qrels(truth)
            # Two measures at once: one alone raises a KeyError.
            values = evaluate(qrels, Run(run), asked, return_mean=False, make_comparable=True)
            order = {user: place for place, user in enumerate(qrels.keys())}
            for role, name in roles.items():
                found[convention][case + role] = {
                    k: [float(values[f"{name}@{k}"][order[u["user"]]]) for u in users] for k in cuts
                }
    return found


def trec_eval(tied, listed, cuts):
    import pytrec_eval

    names = {
        "ndcg": "ndcg_cut",
        "precision": "P",
        "recall": "recall",
        "ap": "map_cut",
        "hit": "success",
    }
    found = {}
    for case, users in (("tied ", tied), ("", listed)):
        truth = {u["user"]: grades_of(u) for u in users}
        run = {u["user"]: scores_of(u) for u in users}
        cut = ",".join(map(str, cuts))
        asked = {f"{name}.{cut}" for name in names.values()} | {"recip_rank"}
        values = pytrec_eval.RelevanceEvaluator(truth, asked).evaluate(run)
        for role, name in names.items():
            found[case + role] = {
                k: [values.get(u["user"], {}).get(f"{name}_{k}") for u in users] for k in cuts
            }
        whole = [values.get(u["user"], {}).get("recip_rank") for u in users]
        found[case + "rr"] = dict.fromkeys(cuts, whole)
    return {"trec_eval": found}


def ir_measures(tied, listed, cuts):
    import ir_measures as peer

    names = {"ndcg": peer.nDCG, "precision": peer.P, "recall": peer.R, "ap": peer.AP}
    found = {}
    for case, users in (("tied ", tied), ("", listed)):
        truth = {u["user"]: grades_of(u) for u in users}
        run = {u["user"]: scores_of(u) for u in users}
        asked = {names[role] @ k: (case + role, k) for role in names for k in cuts}
        asked |= {peer.Success @ k: (case + "hit", k) for k in cuts}
        values = {place: {} for place in asked.values()}
        for each in peer.iter_calc(list(asked), truth, run):
            values[asked[each.measure]][each.query_id] = each.value
        for (role, k), by_user in values.items():
            found.setdefault(role, {})[k] = [by_user.get(u["user"]) for u in users]
    return {"ir_measures": found}


def grades_of(user):
    grades = user["grades"]
    if isinstance(grades, dict):
        return grades
    return dict(zip(user["items"], grades, strict=True))


def scores_of(user):
    if "estimates" in user:
        return dict(zip(user["items"], user["estimates"], strict=True))
    return {item: float(-rank) for rank, item in enumerate(user["items"])}


def odd_ranx(scores, grades):
    from ranx import Qrels, Run, evaluate

    return evaluate(Qrels({"u": grades}), Run({"u": scores}), ["mrr@16", "hit_rate@16"])["mrr@16"]


def odd_ir_measures(scores, grades):
    import ir_measures as peer

    (found,) = peer.iter_calc([peer.RR @ 10], {"u": grades}, {"u": scores})
    return found.value


def odd_trec_eval(scores, grades):
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"u": grades}, {"recip_rank"})
    return evaluator.evaluate({"u": scores})["u"]["recip_rank"]


WORKERS = [sklearn, rectools, ranx, trec_eval, ir_measures]
ODD = {
    "ranx, 16 tied": odd_ranx,
    "ir_measures, RR@10": odd_ir_measures,
    "trec_eval, 32 bits": odd_trec_eval,
}
