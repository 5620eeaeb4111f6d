"""Models of implicit: ratings are confidences of a user for an item."""

import implicit.cpu.als
import implicit.cpu.bpr
import implicit.cpu.lmf
import implicit.nearest_neighbours
import numpy as np
from scipy.sparse import csr_matrix

MODELS = {
    "AlternatingLeastSquares": implicit.cpu.als.AlternatingLeastSquares,
    "BayesianPersonalizedRanking": implicit.cpu.bpr.BayesianPersonalizedRanking,
    "LogisticMatrixFactorization": implicit.cpu.lmf.LogisticMatrixFactorization,
    "CosineRecommender": implicit.nearest_neighbours.CosineRecommender,
    "TFIDFRecommender": implicit.nearest_neighbours.TFIDFRecommender,
    "BM25Recommender": implicit.nearest_neighbours.BM25Recommender,
}


def fit(request, users, items, ratings):
    """Fit on all ratings as counts."""
    params = dict(request["params"])
    if not request["model"].endswith("Recommender"):
        params["random_state"] = request["seed"]
    params["num_threads"] = request["threads"]
    model = MODELS[request["model"]](**params)
    shape = request["n_users"], request["n_items"]
    counts = csr_matrix((ratings.astype(np.float32), (users, items)), shape=shape)
    model.fit(counts, show_progress=False)
    return model, counts


def scores(fitted, users):
    """Return products of factors, or sums of the similarities of a user's items."""
    model, counts = fitted
    if hasattr(model, "similarity"):
        return (counts[users] @ model.similarity).toarray()
    return model.user_factors[users] @ model.item_factors.T
