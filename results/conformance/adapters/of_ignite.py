import torch
from common import complete
from ignite.metrics.rec_sys import NDCG


def mean(relevances, scores, k):
    complete(sum(relevances, []), sum(scores, []))
    metric = NDCG(top_k=[k])
    for row, score in zip(relevances, scores):
        pair = torch.tensor([score]), torch.tensor([row], dtype=torch.float32)
        metric.update(pair)
    return float(metric.compute()[0])


def ndcg(relevance, scores, k):
    return mean([relevance], [scores], k)


ndcg.mean = mean
