from common import names, ranked
from lenskit.data import ItemList
from lenskit.metrics import NDCG


def of(**options):
    def ndcg(relevance, scores, k, items=None):
        ids = names(relevance, items)
        listed = [ids[i] for i in ranked(relevance, scores)]
        test = {i: float(g) for i, g in zip(ids, relevance) if g is not None}
        recommended = ItemList(item_ids=listed, ordered=True)
        truth = ItemList(item_ids=list(test), rating=list(test.values()))
        return NDCG(k, **options).measure_list(recommended, truth)

    return ndcg


ndcg, graded = of(), of(gain="rating")
