from common import grades, names, ranked
from recsys_eval import ndcg_at_k


def ndcg(relevance, scores, k, items=None):
    items = names(relevance, items)
    return ndcg_at_k([items[i] for i in ranked(relevance, scores)], grades(relevance, items), k)
