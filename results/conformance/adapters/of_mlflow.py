import warnings

import pandas as pd
from common import names, ranked
from mlflow.metrics import ndcg_at_k

warnings.simplefilter("ignore")


def values(relevances, scores, k, items=None):
    predictions, targets = [], []
    for row, score in zip(relevances, scores):
        ids = names(row, items)
        predictions.append([ids[i] for i in ranked(row, score)])
        targets.append([i for i, grade in zip(ids, row) if grade is not None and grade > 0])
    return ndcg_at_k(k).eval_fn(pd.Series(predictions), pd.Series(targets))


def ndcg(relevance, scores, k, items=None):
    return values([relevance], [scores], k, items).scores[0]


def mean(relevances, scores, k):
    return values(relevances, scores, k).aggregate_results["mean"]


ndcg.mean = mean
