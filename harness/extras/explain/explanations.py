"""Why a fitted model estimates what it estimates: the terms of which an estimate is the sum."""

from __future__ import annotations

import numpy as np

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.compiled.matrix import rows_of
from harness.algorithms.compiled.similarities import sides
from harness.algorithms.compiled.svd import FactorModel
from harness.errors import AlgorithmError
from harness.extras.explain.similarities import place_of
from harness.models import estimates as models
from harness.models.new_users import in_columns

NEIGHBOUR_METHODS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
FACTOR_METHODS = ("SVD", "SVDpp", "NMF")
Term = tuple[str, float]
Neighbour = tuple[object, float, float, float]


@checked(AlgorithmError)
def explain(model: surprise.AlgoBase, user: object, item: object) -> pd.DataFrame:
    """Return the terms whose sum is the estimate of a user's rating of an item.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, by `harness.fit` or by its own ``fit``: a neighbour method (KNNBasic, KNNWithMeans,
        KNNWithZScore, KNNBaseline), SVD, SVDpp, NMF or BaselineOnly.
    user, item : object
        Raw ids of the training set; the user need not have rated the item.

    Returns
    -------
    DataFrame
        A row for each term. ``term`` is ``mean``, ``user``, ``item`` (biases, or the mean of the
        user or item that KNNWithMeans and KNNWithZScore begin with), ``factor 1`` and so on,
        ``neighbour``, or ``clipped``, what is lost at the end of the rating scale. ``value`` is
        what the term adds, in units of ratings; the sum is the estimate of ``predict``. Of a
        neighbour, nearest first, ``neighbour`` is the raw id (of a user where the method is
        user-based, else of an item), ``similarity`` its similarity and ``rating`` the rating that
        it has, or got from the user; they are empty elsewhere.

    Raises
    ------
    AlgorithmError
        For an unknown user or item, another model, one that is not fitted, and an estimate that is
        impossible, as of KNNBasic with too few neighbours.

    Notes
    -----
    A neighbour v of u adds ``sim(u, v) d(v) / Σ sim``, where d is the rating (KNNBasic), its
    deviation from the mean of v, divided by the standard deviation of v and multiplied by that of
    u (KNNWithZScore), or its deviation from the baseline estimate (KNNBaseline). A factor f adds
    ``p_uf q_if``; in SVDpp, p includes the items that the user has rated.
    Source: Hug 2020, doi:10.21105/joss.02174.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.BaselineOnly(verbose=False), ratings)
    >>> harness.explain(model, "1", "31")[["term", "value"]].round(4)
       term   value
    0  mean  3.5436
    1  user -0.6340
    2  item -0.2031
    """
    name = type(model).__name__
    entry = registry.entry_of(type(model))
    if entry is None or name not in (*NEIGHBOUR_METHODS, *FACTOR_METHODS, "BaselineOnly"):
        possible = ", ".join((*NEIGHBOUR_METHODS, *FACTOR_METHODS))
        raise AlgorithmError(
            f"explain: {name} has no terms to show; use one of {possible}, BaselineOnly"
        )
    fitted = in_columns(model)
    u = place_of(fitted.trainset, "user", user, "explain")
    i = place_of(fitted.trainset, "item", item, "explain")
    neighbours: list[Neighbour] = []
    if name in NEIGHBOUR_METHODS:
        terms, neighbours = _neighbour_terms(fitted, name, u, i)
    elif name == "BaselineOnly":
        terms = _biases(fitted, u, i)
    else:
        terms = _biases(fitted, u, i) if name == "SVDpp" or fitted.biased else []
        scorer = entry(fitted)
        assert isinstance(scorer, FactorModel)
        vector = scorer.user_factors(np.array([u], dtype=np.int32))[0]
        products = (vector * fitted.qi[i]).tolist()
        terms += [(f"factor {n}", value) for n, value in enumerate(products, 1)]
    if name == "KNNBasic" and not neighbours:
        raise AlgorithmError(
            f"explain: {name} has fewer than min_k={fitted.min_k} neighbours for this user and "
            "item, so that there is no estimate; ask for another pair, or fit with a lower min_k"
        )
    rows: list[tuple[str, object, float, float, float]] = [
        (term, None, np.nan, np.nan, value) for term, value in terms
    ]
    rows += [("neighbour", *neighbour) for neighbour in neighbours]
    total = np.array([sum(row[-1] for row in rows)])
    estimate = total.copy()
    models.check_and_clip(fitted, estimate, clip=True)
    if estimate[0] != total[0]:
        rows.append(("clipped", None, np.nan, np.nan, float(estimate[0] - total[0])))
    frame = pd.DataFrame(rows, columns=["term", "neighbour", "similarity", "rating", "value"])
    return frame.astype({"term": object, "neighbour": object})


def _biases(model: surprise.AlgoBase, u: int, i: int) -> list[Term]:
    mean = float(model.trainset.global_mean)
    return [("mean", mean), ("user", float(model.bu[u])), ("item", float(model.bi[i]))]


def _neighbour_terms(
    model: surprise.AlgoBase, name: str, u: int, i: int
) -> tuple[list[Term], list[Neighbour]]:
    """Return what the estimate begins with, and the neighbours from the nearest on."""
    trainset = model.trainset
    x, y = model.switch(u, i)
    y_lists, _ = sides(model, trainset)
    rows = slice(y_lists.offsets[y], y_lists.offsets[y + 1])
    xs, ratings = y_lists.ids[rows], y_lists.ratings[rows]
    similarities = rows_of(model.sim, np.array([x], dtype=np.int32))[0][xs]
    # Of equally similar ones the first in the list, as heapq.nlargest in Surprise.
    nearest = np.argsort(-similarities, kind="stable")[: max(int(model.k), 0)]
    nearest = nearest[similarities[nearest] > 0]
    xs, ratings, similarities = xs[nearest], ratings[nearest], similarities[nearest]
    terms: list[Term] = []
    values = ratings
    if name == "KNNBaseline":
        terms = _biases(model, u, i)
        values = ratings - (float(trainset.global_mean) + model.bx[xs] + model.by[y])
    elif name != "KNNBasic":
        terms = [("user" if model.sim_options["user_based"] else "item", float(model.means[x]))]
        values = ratings - model.means[xs]
    if name == "KNNWithZScore":
        values = values / model.sigmas[xs] * model.sigmas[x]
    if len(xs) < model.min_k:
        return terms, []
    parts = similarities * values / similarities.sum()
    user_based = model.sim_options["user_based"]
    codes = (trainset.user_codes if user_based else trainset.item_codes)[xs]
    ids = trainset.raw_users(codes) if user_based else trainset.raw_items(codes)
    columns = (ids, similarities.tolist(), ratings.tolist(), parts.tolist())
    return terms, list(zip(*columns, strict=True))
