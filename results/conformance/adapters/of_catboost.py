from catboost.utils import eval_metric
from common import complete


def of(more=""):
    def mean(relevances, scores, k):
        for row, score in zip(relevances, scores):
            complete(row, score)
        groups = [user for user, row in enumerate(relevances) for _ in row]
        labels, approx = sum(relevances, []), sum(scores, [])
        return eval_metric(labels, approx, f"NDCG:top={k}{more}", group_id=groups)[0]

    def ndcg(relevance, scores, k):
        return mean([relevance], [scores], k)

    ndcg.mean = mean
    return ndcg


ndcg, exponential = of(), of(";type=Exp")
