"""Models of Cornac: models of ratings take them as they are, others take interactions."""

import cornac
import numpy as np
from cornac.data import Dataset


def fit(request, users, items, ratings):
    """Fit on all ratings; Cornac numbers users and items in the order in which they appear."""
    params = dict(request["params"])
    of_model = getattr(cornac.models, request["model"])
    of_run = {"seed": request["seed"], "num_threads": request["threads"], "verbose": False}
    accepted = of_model.__init__.__code__.co_varnames
    params |= {name: value for name, value in of_run.items() if name in accepted}
    rows = zip(users.tolist(), items.tolist(), ratings.tolist(), strict=True)
    train = Dataset.from_uir(list(rows), seed=request["seed"])
    model = of_model(**params)
    model.fit(train)
    numbers = [
        np.array([ids[code] for code in range(n)])
        for ids, n in ((train.uid_map, request["n_users"]), (train.iid_map, request["n_items"]))
    ]
    return model, *numbers


def scores(fitted, users):
    """Return the scores of all items, in the order of the harness."""
    model, user_numbers, item_numbers = fitted
    return np.stack(
        [np.ravel(model.score(int(user)))[item_numbers] for user in user_numbers[users]]
    )
