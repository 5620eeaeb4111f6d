import torch
from common import complete
from torchmetrics.retrieval import RetrievalNormalizedDCG


def mean(relevances, scores, k):
    complete(sum(relevances, []), sum(scores, []))
    users = torch.tensor([user for user, row in enumerate(relevances) for _ in row])
    metric = RetrievalNormalizedDCG(top_k=k)
    preds, target = torch.tensor(sum(scores, [])), torch.tensor(sum(relevances, []))
    return float(metric(preds, target, indexes=users))


def ndcg(relevance, scores, k):
    return mean([relevance], [scores], k)


ndcg.mean = mean
