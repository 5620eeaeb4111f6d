import lightgbm as lgb
import numpy as np
from common import complete


def mean(relevances, scores, k):
    for row, score in zip(relevances, scores):
        complete(row, score)
    labels = np.concatenate(relevances)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [k], "verbosity": -1}
    data = lgb.Dataset(
        np.zeros((len(labels), 1)),
        label=labels,
        group=[len(row) for row in relevances],
        init_score=np.concatenate(scores),
        params=params | {"feature_pre_filter": False},
    )
    return lgb.Booster(params, data).eval_train()[0][2]


def ndcg(relevance, scores, k):
    return mean([relevance], [scores], k)


ndcg.mean = mean
