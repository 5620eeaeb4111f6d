import numpy as np
import xgboost as xgb
from common import complete


def of(**more):
    def mean(relevances, scores, k):
        for row, score in zip(relevances, scores):
            complete(row, score)
        labels = np.concatenate(relevances)
        data = xgb.DMatrix(np.zeros((len(labels), 1)), label=labels)
        data.set_group([len(row) for row in relevances])
        data.set_base_margin(np.concatenate(scores))
        params = {"objective": "rank:ndcg", "eval_metric": f"ndcg@{k}", "base_score": 0.0, **more}
        try:
            return float(xgb.train(params, data, 0).eval(data).rpartition(":")[2])
        except xgb.core.XGBoostError as error:  # whose message has the time and a stack
            raise ValueError(str(error).splitlines()[0].rpartition(": ")[2]) from None

    def ndcg(relevance, scores, k):
        return mean([relevance], [scores], k)

    ndcg.mean = mean
    return ndcg


ndcg, linear = of(), of(ndcg_exp_gain=False)
