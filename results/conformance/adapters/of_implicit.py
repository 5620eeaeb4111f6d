import numpy as np
from common import ranked
from implicit.evaluation import ranking_metrics_at_k
from scipy.sparse import csr_matrix


class Fixed:
    """A model that recommends given lists, filled with -1."""

    def __init__(self, lists):
        self.lists = lists

    def recommend(self, users, interactions, N, **_):
        rows = [(self.lists[user] + [-1] * N)[:N] for user in users]
        return np.array(rows, dtype=np.int32), np.zeros((len(users), N))


def mean(relevances, scores, k, items=None):
    lists, rows, columns = [], [], []
    for user, (row, score) in enumerate(zip(relevances, scores)):
        codes = [items.index(i) for i in items] if items else list(range(len(row)))
        judged = {code for code, grade in zip(codes, row) if grade is not None and grade > 0}
        lists.append([codes[i] for i in ranked(row, score)])
        rows += [user] * len(judged)
        columns += sorted(judged)
    shape = (len(lists), 40)
    test = csr_matrix((np.ones(len(columns)), (rows, columns)), shape=shape)
    found = ranking_metrics_at_k(Fixed(lists), csr_matrix(shape), test, K=k, show_progress=False)
    return found["ndcg"]


def ndcg(relevance, scores, k, items=None):
    return mean([relevance], [scores], k, items)


ndcg.mean = mean
