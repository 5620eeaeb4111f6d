"""Models of RecTools: ratings are weights of interactions."""

import numpy as np
import pandas as pd
from rectools import Columns, models
from rectools.dataset import Dataset


def fit(request, users, items, ratings):
    """Fit on all ratings, with one moment for all of them."""
    frame = pd.DataFrame({Columns.User: users, Columns.Item: items, Columns.Weight: ratings})
    frame[Columns.Datetime] = pd.Timestamp("2000-01-01")
    params = dict(request["params"])
    of_model = getattr(models, request["model"])
    if "random_state" in of_model.__init__.__code__.co_varnames:
        params["random_state"] = request["seed"]
    dataset = Dataset.construct(frame)
    model = of_model(**params).fit(dataset)
    return model, dataset, request["n_items"]


def scores(fitted, users):
    """Return the scores of all items; NaN where RecTools does not list an item."""
    model, dataset, n_items = fitted
    listed = model.recommend(users=users, dataset=dataset, k=n_items, filter_viewed=False)
    of_items = np.full((len(users), n_items), np.nan)
    of_items[listed[Columns.User].to_numpy() - users[0], listed[Columns.Item].to_numpy()] = listed[
        Columns.Score
    ]
    return of_items


def notes(fitted):
    """Say where RecTools departs from what it names."""
    if type(fitted[0]).__name__ == "EASEModel":
        return ["RecTools multiplies by the transposed weights of EASE, unlike the paper"]
    return []
