import numpy as np
import torch
from common import ranked
from recbole.evaluator.metrics import NDCG

vars(np).setdefault("float", float)  # RecBole 1.2.1 names it, and NumPy has none since 1.24


class Found(dict):
    def get(self, name):
        return self[name]


def mean(relevances, scores, k):
    rows = np.zeros((len(relevances), k + 1), dtype=int)  # hits by rank, then how many relevant
    for out, row, score in zip(rows, relevances, scores):
        for rank, i in enumerate(ranked(row, score)[:k]):
            out[rank] = row[i] is not None and row[i] > 0
        out[-1] = sum(grade is not None and grade > 0 for grade in row)
    metric = NDCG({"topk": [k], "metric_decimal_place": 12})
    return metric.calculate_metric(Found({"rec.topk": torch.from_numpy(rows)}))[f"ndcg@{k}"]


def ndcg(relevance, scores, k):
    return mean([relevance], [scores], k)


ndcg.mean = mean
