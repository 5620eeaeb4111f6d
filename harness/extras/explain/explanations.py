"""Why a fitted model estimates what it estimates: the terms of which an estimate is the sum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.base import Algorithm
from harness.algorithms.compiled.matrix import rows_of
from harness.algorithms.compiled.similarities import sides
from harness.algorithms.compiled.svd import FactorModel
from harness.algorithms.trainset import Codes, Floats
from harness.errors import AlgorithmError, joined
from harness.extras.explain.similarities import NEIGHBOUR_METHODS, place_of
from harness.models import estimates as models
from harness.models.new_users import in_columns

FACTOR_METHODS = ("SVD", "SVDpp", "NMF")
RATED_METHODS = ("SlopeOne", "EASE", "PureSVD", "BinaryItemKNN")
"""Whose estimates are sums over the items that the user has rated."""
OTHERS = ("BaselineOnly", "CoClustering", "BinaryUserKNN", "ItemMean", "UserMean", "Popularity")
PAIRS = ("rated", "neighbour")
"""Terms of an item or a user with a rating."""
COLUMNS = ["term", "neighbour", "similarity", "rating", "value", "share"]
Term = tuple[str, float]
Neighbour = tuple[object, float, float, float]
"""A raw id, its similarity (NaN for none), its rating, and what it adds."""


def check_terms(model: surprise.AlgoBase) -> type[Algorithm]:
    """Return the entry of a model's algorithm, or refuse one without terms; before a fit too.

    Raises
    ------
    AlgorithmError
    """
    name, entry = type(model).__name__, registry.entry_of(type(model))
    possible = (*NEIGHBOUR_METHODS, *FACTOR_METHODS, *RATED_METHODS, *OTHERS)
    if entry is None or name not in possible:
        raise AlgorithmError(
            f"explain: {name} has no terms to show; use one of {joined(possible, 'or')}"
        )
    return entry


@checked(AlgorithmError)
def explain(
    model: surprise.AlgoBase, user: object, item: object, *, factors: bool = False
) -> pd.DataFrame:
    """Return the terms whose sum is the estimate of a user's rating of an item.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, by `harness.fit` or by its own ``fit``: any algorithm of Surprise or of this
        package that draws no random numbers.
    user, item : object
        Raw ids of the training set; the user need not have rated the item.
    factors : bool
        Show each factor of SVD, SVDpp and NMF by itself, in place of what they add together.

    Returns
    -------
    DataFrame
        A row for each term. ``value`` is what the term adds, in units of ratings; the sum is the
        estimate of ``predict``. ``term`` is one of:

        - ``mean``, of all ratings; ``user`` and ``item``, the biases, or the mean of the user or
          item with which some algorithms begin; in CoClustering ``cluster``, and how far the user
          and the item are from the mean of their clusters;
        - ``factors``, the product of the factors of user and item, or ``factor 1`` and so on;
        - ``rated``, an item that the user has rated, the one that adds or takes most first: the
          implicit part of SVDpp, the deviations of SlopeOne, and all of EASE, PureSVD and
          BinaryItemKNN;
        - ``neighbour``, nearest first: a user where the method is user-based, else an item that
          the user has rated;
        - ``clipped``, what is lost at the end of the rating scale.

        ``neighbour`` is the raw id of the item or user of a row, ``similarity`` its similarity,
        ``rating`` the rating that it has, or got from the user, and ``share`` the fraction of
        ``value`` without its sign among all such rows; they are empty elsewhere. ``attrs`` has the
        user, the item, the algorithm, and what the neighbours are.

    Raises
    ------
    AlgorithmError
        For an unknown user or item, another model, one that is not fitted, and an estimate that is
        impossible, as of KNNBasic with too few neighbours.

    Notes
    -----
    A neighbour v of u adds ``sim(u, v) d(v) / Σ sim``, where d is the rating (KNNBasic), its
    deviation from the mean of v, divided by the standard deviation of v and multiplied by the one
    for u (KNNWithZScore), or its deviation from the baseline estimate (KNNBaseline). A factor f
    adds ``p_uf q_if``. In SVDpp an item j that u has rated adds ``y_j q_i / √|I_u|``, and with
    `factors` these are part of p. In SlopeOne it adds ``dev_ij / |R_i(u)|``, in EASE ``x_uj B_ji``,
    in PureSVD ``x_uj v_j v_i``, in BinaryItemKNN ``s_ji``.
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
    name, entry = type(model).__name__, check_terms(model)
    fitted = in_columns(model)
    u = place_of(fitted.trainset, "user", user, "explain")
    i = place_of(fitted.trainset, "item", item, "explain")
    kind, by_users = "rated", False
    if name in NEIGHBOUR_METHODS:
        kind, by_users = "neighbour", bool(fitted.sim_options["user_based"])
        terms, neighbours = _neighbour_terms(fitted, name, u, i)
    elif name == "BinaryUserKNN":
        kind, by_users = "neighbour", True
        terms, neighbours = [], _alike_users(fitted, u, i)
    elif name in FACTOR_METHODS:
        terms = _biases(fitted, u, i) if name == "SVDpp" or fitted.biased else []
        neighbours = _implicit(fitted, u, i) if name == "SVDpp" and not factors else []
        scorer = entry(fitted)
        assert isinstance(scorer, FactorModel)
        vector = scorer.user_factors(np.array([u], dtype=np.int32))[0] if factors else fitted.pu[u]
        products = (vector * fitted.qi[i]).tolist()
        terms += (
            [(f"factor {n}", value) for n, value in enumerate(products, 1)]
            if factors
            else [("factors", float(vector @ fitted.qi[i]))]
        )
    else:
        terms, neighbours = _rated_terms(fitted, name, u, i)
    if name == "KNNBasic" and not neighbours:
        raise AlgorithmError(
            f"explain: {name} has fewer than min_k={fitted.min_k} neighbours for this user and "
            "item, so that there is no estimate; ask for another pair, or fit with a lower min_k"
        )
    pull = sum(abs(value) for *_, value in neighbours) or np.nan
    rows: list[tuple[str, object, float, float, float, float]] = [
        (term, None, np.nan, np.nan, value, np.nan) for term, value in terms
    ]
    rows += [(kind, *each, abs(each[-1]) / pull) for each in neighbours]
    total = np.array([sum(row[4] for row in rows)])
    estimate = total.copy()
    models.check_and_clip(fitted, estimate, clip=not getattr(fitted, "is_preference", False))
    if estimate[0] != total[0]:
        lost = float(estimate[0] - total[0])
        rows.append(("clipped", None, np.nan, np.nan, lost, np.nan))
    frame = pd.DataFrame(rows, columns=COLUMNS).astype({"term": object, "neighbour": object})
    frame.attrs = {
        "algorithm": name,
        "user": user,
        "item": item,
        "neighbours": "users" if by_users else "items",
    }
    return frame


def in_words(terms: pd.DataFrame, most: int = 10) -> list[tuple[str, float, float]]:
    """Return a sentence, what it adds and its share for each term that `explain` returns.

    Parameters
    ----------
    terms : DataFrame
        As `explain` returns it.
    most : int
        Items or users that are named; those after them are one line.

    Returns
    -------
    list of tuple
        Texts, values, and shares (NaN for none); the values add up to the estimate.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.BaselineOnly(verbose=False), ratings)
    >>> [text for text, _, _ in in_words(harness.explain(model, "1", "31"))]
    ['mean of all ratings', 'user 1 rates lower than others', 'item 31 is rated lower than others']
    """
    about = {str(key): value for key, value in terms.attrs.items()}
    names = {str(term) for term in terms["term"]}
    rows = [*terms.itertuples(index=False, name=None)]
    named = [
        (_of_rating(about, other, rating), value, share)
        for term, other, _, rating, value, share in rows
        if term in PAIRS
    ]
    left = named[most:]
    if left:
        added, share = sum(line[1] for line in left), sum(line[2] for line in left)
        named[most:] = [(f"{len(left):,} more {about['neighbours']}", added, share)]
    others = [
        (_of_term(term, value, names, about), value, np.nan)
        for term, _, _, _, value, _ in rows
        if term not in PAIRS
    ]
    n_last = int("clipped" in names)
    return [*others[: len(others) - n_last], *named, *others[len(others) - n_last :]]


def _of_rating(about: Mapping[str, object], other: object, rating: float) -> str:
    if about["neighbours"] == "users":
        return f"user {other}, who rated the item {rating:g}"
    return f"item {other}, which the user rated {rating:g}"


def _of_term(term: str, value: float, names: set[str], about: Mapping[str, object]) -> str:
    side = f"{term} {about.get(term)}"
    more = "higher" if value > 0 else "lower"
    if term in ("user", "item") and names & {"mean", "cluster"}:
        others = "others" if "mean" in names else f"the {term}s of the cluster"
        return f"{side} {'rates' if term == 'user' else 'is rated'} {more} than {others}"
    if term == "item" and about["algorithm"] == "Popularity":
        return f"popularity of {side}"
    if term in ("user", "item"):
        return f"mean rating of {side}"
    return {
        "mean": "mean of all ratings",
        "cluster": "mean rating of the clusters of user and item",
        "factors": "factors of user and item together",
        "clipped": "cut off at the end of the rating scale",
    }.get(term, term)


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


def _rated_by(model: surprise.AlgoBase, u: int) -> tuple[Codes, Floats]:
    """Return the inner ids of the items that a user has rated, and the ratings."""
    by_user = model.trainset.by_user
    rows = slice(by_user.offsets[u], by_user.offsets[u + 1])
    return by_user.ids[rows], by_user.ratings[rows]


def _named(
    model: surprise.AlgoBase, items: Codes, ratings: Floats, parts: Floats
) -> list[Neighbour]:
    """Return items by what they add or take, the largest first."""
    order = np.argsort(-np.abs(parts), kind="stable")
    ids = model.trainset.raw_items(model.trainset.item_codes[items[order]])
    nothing = [np.nan] * len(ids)
    columns = (ids, nothing, ratings[order].tolist(), parts[order].tolist())
    return list(zip(*columns, strict=True))


def _implicit(model: surprise.AlgoBase, u: int, i: int) -> list[Neighbour]:
    items, ratings = _rated_by(model, u)
    parts = model.yj[items] @ model.qi[i] / np.sqrt(len(items))
    return _named(model, items, ratings, parts)


def _alike_users(model: surprise.AlgoBase, u: int, i: int) -> list[Neighbour]:
    """Return the users whose similarities BinaryUserKNN adds up."""
    by_item = model.trainset.by_item
    rows = slice(by_item.offsets[i], by_item.offsets[i + 1])
    users, ratings = by_item.ids[rows], by_item.ratings[rows]
    weights = model.weights[[u]].toarray()[0][users]
    near = np.flatnonzero(weights)
    near = near[np.argsort(-weights[near], kind="stable")]
    ids = model.trainset.raw_users(model.trainset.user_codes[users[near]])
    columns = (ids, weights[near].tolist(), ratings[near].tolist(), weights[near].tolist())
    return list(zip(*columns, strict=True))


def _rated_terms(
    model: surprise.AlgoBase, name: str, u: int, i: int
) -> tuple[list[Term], list[Neighbour]]:
    """Return the terms of algorithms that have neither neighbours nor factors."""
    if name == "BaselineOnly":
        return _biases(model, u, i), []
    if name == "CoClustering":
        of_user, of_item = model.cltr_u[u], model.cltr_i[i]
        return [
            ("cluster", float(model.avg_cocltr[of_user, of_item])),
            ("user", float(model.user_mean[u] - model.avg_cltr_u[of_user])),
            ("item", float(model.item_mean[i] - model.avg_cltr_i[of_item])),
        ], []
    if name not in RATED_METHODS:
        of_users = model.of_users
        return [("user" if of_users else "item", float(model.scores[u if of_users else i]))], []
    items, ratings = _rated_by(model, u)
    if name == "SlopeOne":
        row = np.array([i], dtype=np.int32)
        common = rows_of(model.freq, row)[0][items] > 0
        items, ratings = items[common], ratings[common]
        parts = rows_of(model.dev, row)[0][items] / max(len(items), 1)
        return [("user", float(model.user_mean[u]))], _named(model, items, ratings, parts)
    given = np.ones_like(ratings) if model.binary else ratings
    if name == "PureSVD":
        parts = given * (model.qi[items] @ model.qi[i])
    elif name == "EASE":
        parts = given * model.weights[items, i]
    else:
        weights = model.weights[items][:, [i]].toarray()[:, 0]
        items, ratings, parts = (each[weights != 0] for each in (items, ratings, given * weights))
    return [], _named(model, items, ratings, parts)
