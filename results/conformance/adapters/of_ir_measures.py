import ir_measures
from common import grades, names


def mean(relevances, scores, k):
    judged, run = {}, {}
    for user, (row, score) in enumerate(zip(relevances, scores)):
        items = names(row)[::-1]
        judged[f"u{user}"] = grades(row, items)
        run[f"u{user}"] = {i: s for i, s in zip(items, score) if s is not None}
    measure = ir_measures.nDCG @ k
    return ir_measures.calc_aggregate([measure], judged, run)[measure]


def ndcg(relevance, scores, k):
    return mean([relevance], [scores], k)


ndcg.mean = mean
