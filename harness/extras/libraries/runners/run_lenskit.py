"""Scorers of LensKit."""

from itertools import pairwise

import lenskit.als
import lenskit.basic
import lenskit.knn
import numpy as np
import pandas as pd
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.training import TrainingOptions

HOMES = (lenskit.als, lenskit.basic, lenskit.knn)


def fit(request, users, items, ratings):
    """Train on all ratings; users and items are numbered as the harness numbers them."""
    home = next(module for module in HOMES if hasattr(module, request["model"]))
    frame = pd.DataFrame({"user_id": users, "item_id": items, "rating": ratings})
    model = getattr(home, request["model"])(**request["params"])
    model.train(from_interactions_df(frame), TrainingOptions(rng=request["seed"]))
    order = np.argsort(users, kind="stable")
    edges = np.searchsorted(users[order], np.arange(request["n_users"] + 1))
    rated = [
        ItemList(item_ids=items[rows], rating=ratings[rows])
        for rows in (order[start:stop] for start, stop in pairwise(edges))
    ]
    return model, rated, ItemList(item_ids=np.arange(request["n_items"]))


def scores(fitted, users):
    """Return the scores of all items; NaN where LensKit gives none."""
    model, rated, everything = fitted
    return np.stack(
        [
            model(RecQuery(user_id=user, user_items=rated[user]), everything).scores("numpy")
            for user in users.tolist()
        ]
    )
