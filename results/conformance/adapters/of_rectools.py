import pandas as pd
from common import names, ranked
from rectools import Columns
from rectools.metrics import NDCG


def of(**options):
    def mean(relevances, scores, k, items=None):
        listed, truth = [], []
        for user, (row, score) in enumerate(zip(relevances, scores)):
            ids = names(row, items)
            listed += [(user, ids[i], n) for n, i in enumerate(ranked(row, score), 1)]
            truth += dict.fromkeys((user, i) for i, g in zip(ids, row) if g is not None and g > 0)
        reco = pd.DataFrame(listed, columns=[Columns.User, Columns.Item, Columns.Rank])
        interactions = pd.DataFrame(truth, columns=[Columns.User, Columns.Item])
        reco = reco.astype({Columns.User: int, Columns.Rank: int})
        return NDCG(k=k, **options).calc(reco, interactions)

    def ndcg(relevance, scores, k, items=None):
        return mean([relevance], [scores], k, items)

    ndcg.mean = mean
    return ndcg


ndcg, achievable = of(), of(divide_by_achievable=True)
