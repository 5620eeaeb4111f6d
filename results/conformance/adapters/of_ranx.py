from common import grades, names
from ranx import Qrels, Run, evaluate


def of(measure):
    def values(relevances, scores, k):
        judged, run = {"v": {"x": 1}}, {"v": {"x": 1.0}}  # a user beside: no run is empty
        for user, (row, score) in enumerate(zip(relevances, scores)):
            items = names(row)
            judged[f"u{user}"] = {
                i: int(g) if g == int(g) else g for i, g in grades(row, items).items()
            }
            listed = {i: float(s) for i, s in zip(items, score) if s is not None}
            if listed:
                run[f"u{user}"] = listed
        asked = [f"{measure}@{k}", "hits"]
        qrels = Qrels(judged)
        found = evaluate(qrels, Run(run), asked, return_mean=False, make_comparable=True)
        of_user = dict(zip(qrels.keys(), found[asked[0]]))
        return [float(of_user[f"u{user}"]) for user in range(len(relevances))]

    def ndcg(relevance, scores, k):
        return values([relevance], [scores], k)[0]

    def mean(relevances, scores, k):
        found = values(relevances, scores, k)
        return sum(found) / len(found)  # as `evaluate` does with return_mean

    ndcg.mean = mean
    return ndcg


ndcg, burges = of("ndcg"), of("ndcg_burges")
