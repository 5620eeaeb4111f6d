import pandas as pd
from common import names
from recommenders.evaluation.python_evaluation import ndcg_at_k

COLUMNS = {"col_user": "user", "col_item": "item", "col_rating": "rating"}


def of(**options):
    def mean(relevances, scores, k, items=None):
        truth, predicted = {}, []
        for user, (row, score) in enumerate(zip(relevances, scores)):
            ids = names(row, items)
            truth |= {(user, i): float(g) for i, g in zip(ids, row) if g is not None}
            predicted += [(user, i, s) for i, s in zip(ids, score) if s is not None]
        rated = [(user, i, grade) for (user, i), grade in truth.items()]
        true = pd.DataFrame(rated, columns=["user", "item", "rating"])
        true = true.astype({"user": "int64", "item": "object", "rating": "float64"})
        pred = pd.DataFrame(predicted, columns=["user", "item", "prediction"])
        pred = pred.astype({"user": "int64", "item": "object", "prediction": "float64"})
        return ndcg_at_k(true, pred, k=k, **COLUMNS, col_prediction="prediction", **options)

    def ndcg(relevance, scores, k, items=None):
        return mean([relevance], [scores], k, items)

    ndcg.mean = mean
    return ndcg


ndcg, exponential = of(), of(score_type="exp")
