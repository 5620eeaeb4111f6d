import numpy as np
from common import ranked
from cornac.metrics import NDCG


def ndcg(relevance, scores, k, items=None):
    codes = [items.index(i) for i in items] if items else list(range(len(relevance)))
    relevant = sorted({i for i, g in zip(codes, relevance) if g is not None and g >= 1})
    listed = [codes[i] for i in ranked(relevance, scores)]
    return NDCG(k=k).compute(np.array(relevant, dtype=int), np.array(listed, dtype=int))
