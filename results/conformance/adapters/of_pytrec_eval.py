import pytrec_eval
from common import grades, names


def ndcg(relevance, scores, k):
    items = names(relevance)[::-1]
    run = {i: s for i, s in zip(items, scores) if s is not None}
    evaluator = pytrec_eval.RelevanceEvaluator({"u": grades(relevance, items)}, {f"ndcg_cut.{k}"})
    return evaluator.evaluate({"u": run}).get("u", {}).get(f"ndcg_cut_{k}")
