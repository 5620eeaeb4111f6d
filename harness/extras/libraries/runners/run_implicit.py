"""Models of implicit: ratings are confidences of a user for an item."""

import implicit.cpu.als
import implicit.cpu.bpr
import implicit.cpu.lmf
import implicit.nearest_neighbours
import numpy as np
from scipy.sparse import csr_matrix

HOMES = (implicit.cpu.als, implicit.cpu.bpr, implicit.cpu.lmf, implicit.nearest_neighbours)


def fit(request, users, items, ratings):
    """Fit on all ratings as counts."""
    params = dict(request["params"])
    if not request["model"].endswith("Recommender"):
        params["random_state"] = request["seed"]
    params["num_threads"] = request["threads"]
    home = next(module for module in HOMES if hasattr(module, request["model"]))
    model = getattr(home, request["model"])(**params)
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
