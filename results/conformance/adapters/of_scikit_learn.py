from common import complete
from sklearn.metrics import ndcg_score


def ndcg(relevance, scores, k):
    complete(relevance, scores)
    return ndcg_score([relevance], [scores], k=k)


def mean(relevances, scores, k):
    if len({len(row) for row in relevances}) > 1:
        raise NotImplementedError("rows have one length")
    complete(sum(relevances, []), sum(scores, []))
    return ndcg_score(relevances, scores, k=k)


ndcg.mean = mean
