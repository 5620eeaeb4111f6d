import rankkit
from common import grades, names, ranked
from rankkit.data import extract_runs


def ndcg(relevance, scores, k, items=None):
    items = names(relevance, items)
    ranking = [items[i] for i in ranked(relevance, scores)]
    record = {"qid": "u", "ranking": ranking, "relevance": grades(relevance, items)}
    (run,) = extract_runs([record])
    return rankkit.metrics.ndcg(run, k)
